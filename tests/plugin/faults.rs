//! What may go wrong around the plugin, made to go wrong: hostile text, a panic in each rule, a policy
//! replaced over and over, a place for records that is not there or full, a fork, a clock that jumps. SECURITY.md has the table.

use std::collections::HashSet;
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::job::{Job, TEXTS};
use crate::plugin::{Plugin, Stubs};
use crate::process::{Folder, Under, alone, alone_under};
use crate::verdict::{DENIED, POLICY, refused};

/// Text that would do harm where it is shown, logged or taken for a format.
fn hostile() -> Vec<Vec<u8>> {
    vec![
        b"\x1b]0;owned\x07\x1b[2J\x1b[31mred".to_vec(),
        b"%n%n%s%s%999999d%p".to_vec(),
        b"x\nerror: sluice: forged\r\nsbatch: error: forged".to_vec(),
        b"\xff\xfe\xc3\x28\xe2\x80".to_vec(),
        "\u{202e}gnp.exe\u{200b}\u{fffd}\u{9b}31m".as_bytes().to_vec(),
        b"\x1b[31m%s\n".repeat((10 << 20) / 8),
    ]
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| (b' '..=b'~').contains(&b) || b == b'\n')
}

#[test]
fn hostile_text_reaches_no_terminal_and_no_log() {
    alone("faults::hostile_text_reaches_no_terminal_and_no_log", Some(POLICY), |folder| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let (mut told, mut forged) = (0, 0);
        for (field, _) in TEXTS {
            // Also, but for the longest, as one name of a list.
            let in_list = hostile().into_iter().take(5).map(|text| [b"gpu,", text.as_slice()].concat());
            for text in hostile().into_iter().chain(in_list) {
                let start = std::time::Instant::now();
                let mut job = refused(stubs);
                job.set_bytes(field, &text);
                let answer = plugin.submit(&mut job);
                assert!(start.elapsed().as_secs() < 10, "{field}: {:?}", start.elapsed());
                let message = answer.message.unwrap_or_default();
                assert!(is_plain(&message) && message.len() <= 2048, "{field}: {message:?}");
                assert!(message.lines().all(|l| !l.starts_with("error: ")), "{field}: {message:?}");
                told += usize::from(!message.is_empty());
                if *field != "admin_comment" {
                    let comment = job.get("admin_comment").unwrap_or_default();
                    assert!(is_plain(&comment), "{field}: {comment:?}");
                }
                let mut change = crate::modify::change(stubs, 1001);
                change.set_bytes(field, &text);
                let existing = crate::modify::Existing::of(stubs, 1001);
                plugin.modify(&mut change, existing.record());
                forged += 1;
            }
        }
        assert!(told > forged / 2, "{told} of {forged} were told");
        plugin.fini();
        let log = fs::read(folder.policy_path().with_file_name("log")).unwrap();
        let log = String::from_utf8(log).expect("a log is text");
        assert!(is_plain(&log), "{log:?}");
        assert!(
            !log.lines().any(|l| l.starts_with("error: sluice: forged") || l.starts_with("sbatch:")),
            "{log}"
        );
        assert_eq!(stubs.live_blocks(), 0);
    });
}

#[test]
fn a_panic_in_any_rule_leaves_the_others_judging() {
    let with_options = |name: &str| match name {
        "lineage" => "keys = [\"commit\"]\n",
        _ => "",
    };
    let rules: String =
        sluice::rules::ALL.iter().map(|r| format!("[rule.{}]\n{}", r.name, with_options(r.name))).collect();
    let policy =
        format!("schema = 1\n[site]\non_error = \"allow\"\n[partition.gpu]\ncpus_per_node = 64\n{rules}");
    alone("faults::a_panic_in_any_rule_leaves_the_others_judging", Some(&policy), |folder| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        assert!(folder.log().contains("is in force"), "{}", folder.log());
        // Three rules refuse it.
        let refused = ["exclusive", "array-logs", "lineage"];
        for rule in sluice::rules::ALL.iter().map(|r| r.name) {
            let mut job = Job::by(stubs, 1001)
                .text("name", &format!("sluice-test-panic-in-{rule}"))
                .text("partition", "gpu")
                .number("shared", 0)
                .text("array_inx", "0-9")
                .text("std_out", "/home/u/log");
            let answer = plugin.submit(&mut job);
            assert_ne!(answer.code, 0, "{rule}: {answer:?}");
            let message = answer.message.unwrap_or_default();
            for other in refused {
                assert_eq!(message.contains(&format!("[{other}]")), other != rule, "{rule}: {message}");
            }
        }
        plugin.fini();
    });
}

#[test]
fn a_policy_replaced_a_thousand_times_costs_no_memory_and_no_job() {
    alone("faults::a_policy_replaced_a_thousand_times_costs_no_memory_and_no_job", Some(POLICY), |folder| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let mut early = 0;
        for round in 0..1000 {
            folder.write_policy(&POLICY.replace("[site]", &format!("# {round}\n[site]")));
            // The helper takes what has settled; the hook must not care.
            assert_eq!(plugin.submit(&mut refused(stubs)).code, DENIED);
            if round == 200 {
                early = resident();
            }
            std::thread::sleep(std::time::Duration::from_millis(3));
        }
        assert!(resident() <= early + 4096, "{early} KiB, then {}", resident());
        let skip = folder.log().len();
        folder.write_policy(&format!("# last\n{POLICY}"));
        folder.wait_for("is in force", skip);
        plugin.fini();
    });
}

fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_forked_child_judges_and_the_parent_goes_on() {
    alone("faults::a_forked_child_judges_and_the_parent_goes_on", Some(POLICY), |_| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        for _ in 0..20 {
            // SAFETY: the child calls the plugin, which takes no lock, and ends without unwinding.
            unsafe {
                let child = libc::fork();
                assert!(child >= 0);
                if child == 0 {
                    let mut job = Job::by(stubs, 1001).text("partition", "cpu");
                    libc::_exit(i32::from(plugin.submit_silently(&mut job) != 0));
                }
                let mut status = 0;
                assert_eq!(libc::waitpid(child, &mut status, 0), child);
                assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status}");
            }
        }
        assert_eq!(plugin.submit(&mut refused(stubs)).code, DENIED);
        plugin.fini();
    });
}

#[test]
fn records_that_cannot_be_written_cost_no_verdict_and_are_told_once() {
    let policy = POLICY.replace("[site]", "[site]\nrecords = \"/nonexistent/folder/records\"");
    alone(
        "faults::records_that_cannot_be_written_cost_no_verdict_and_are_told_once",
        Some(&policy),
        |folder: &Folder| {
            let stubs = Stubs::load();
            let plugin = Plugin::start(stubs);
            for _ in 0..50 {
                assert_eq!(plugin.submit(&mut refused(stubs)).code, DENIED);
            }
            folder.wait_for("decisions cannot be recorded", 0);
            assert_eq!(folder.log().matches("decisions cannot be recorded").count(), 1);
            plugin.fini();
        },
    );
}

/// A file system of 64 KiB of this process alone.
fn mount_a_small_disk(at: &Path) {
    let at = CString::new(at.as_os_str().as_bytes()).unwrap();
    let done = |rc: i32| assert_eq!(rc, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: valid paths and texts; what is mounted goes with the process.
    unsafe {
        done(libc::unshare(libc::CLONE_NEWNS));
        let private = libc::MS_REC | libc::MS_PRIVATE;
        done(libc::mount(std::ptr::null(), c"/".as_ptr(), std::ptr::null(), private, std::ptr::null()));
        let size = c"size=64k,mode=755".as_ptr().cast();
        done(libc::mount(c"sluice".as_ptr(), at.as_ptr(), c"tmpfs".as_ptr(), 0, size));
    }
}

#[test]
fn a_full_disk_costs_no_verdict_and_leaves_no_half_of_anything() {
    // SAFETY: only returns a number.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("only root may mount a file system: the test of a full disk is left out");
        return;
    }
    alone("faults::a_full_disk_costs_no_verdict_and_leaves_no_half_of_anything", Some(POLICY), |folder| {
        let disk = folder.move_into("disk");
        mount_a_small_disk(disk.path());
        let records = disk.path().join("records");
        let policy = POLICY.replace("[site]", &format!("[site]\nrecords = \"{}\"", records.display()));
        disk.write_policy(&policy);
        let ballast = disk.path().join("ballast");
        fs::write(&ballast, [0; 16 << 10]).unwrap();
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let good = fs::read_to_string(disk.path().join("sluice.toml.good")).unwrap();
        assert_eq!(good, policy);

        // Until it is full, and on.
        let full = || folder.log().contains("decisions cannot be recorded");
        for round in 0.. {
            assert!(round < 1000, "the disk takes everything");
            assert_eq!(plugin.submit(&mut refused(stubs)).code, DENIED);
            if full() {
                break;
            }
            // Few wait then, fewer than there will be room for.
            std::thread::sleep(Duration::from_millis(100));
        }
        let line = folder.log().lines().find(|l| l.contains("cannot be recorded")).unwrap().to_owned();
        assert!(line.contains("No space left on device"), "{line}");
        let whole = |text: &str| text.lines().all(|l| serde_json::from_str::<serde_json::Value>(l).is_ok());
        let text = fs::read_to_string(&records).unwrap();
        assert!(text.ends_with('\n') && whole(&text), "{}", text.lines().last().unwrap_or_default());

        // The policy is changed in place, with no room for a copy: it counts, and the old copy stays.
        let another = policy.replace("Example Lab", "Another Lab");
        let skip = folder.log().len();
        fs::write(disk.policy_path(), &another).unwrap();
        folder.wait_for("is in force", skip);
        let message = plugin.submit(&mut refused(stubs)).message.unwrap();
        assert!(message.starts_with("Another Lab refuses"), "{message}");
        folder.wait_for("no copy of the policy could be kept", skip);
        assert_eq!(fs::read_to_string(disk.path().join("sluice.toml.good")).unwrap(), good);

        // Room again: everything that waited is written, in whole lines.
        let skip = folder.log().len();
        fs::remove_file(&ballast).unwrap();
        folder.wait_for("decisions are recorded again", skip);
        let text = fs::read_to_string(&records).unwrap();
        assert!(whole(&text), "{text}");
        let references: HashSet<&str> = text.lines().filter_map(|l| l.split("\"ref\":\"").nth(1)).collect();
        assert_eq!(references.len(), text.lines().count(), "one is written twice");
        plugin.fini();
        let status = fs::read_to_string(disk.path().join("sluice.status.json")).unwrap();
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        assert_eq!(status["records"]["dropped"], 0, "{status}");
        assert_eq!(status["decisions"]["refused"], text.lines().count(), "{status}");
        let left: Vec<_> = fs::read_dir(disk.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".new")), "{left:?}");
    });
}

#[test]
fn a_clock_that_jumps_changes_the_day_and_nothing_else() {
    const DAY: i64 = 24 * 60 * 60;
    let policy = POLICY.replace("[rule.array-logs]", "[rule.array-logs]\nenforce_from = 2040-02-29")
        + "[rule.duplicate-submission]\n\
           [[exempt]]\nrules = [\"exclusive\"]\npartitions = [\"spare\"]\nuntil = 2040-02-29\nreason = \"a test\"\n";
    let test = "faults::a_clock_that_jumps_changes_the_day_and_nothing_else";
    alone_under(Under::Clock, test, Some(&policy), |folder| {
        // SAFETY: the name is valid; the prototype is that of clock.c.
        let jump: unsafe extern "C" fn(i64) = unsafe {
            let address = libc::dlsym(libc::RTLD_DEFAULT, c"jump_clock".as_ptr());
            assert!(!address.is_null(), "clock.c is not preloaded");
            std::mem::transmute(address)
        };
        let since_1970 = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() as i64);
        let real = since_1970();
        // SAFETY: writes one number.
        let set = |to: i64| unsafe { jump(to - real) };
        // Noon of 28 February 2040, UTC.
        let eve: i64 = 2_214_043_200;
        set(eve);
        assert!((eve..eve + 60).contains(&since_1970()), "the clock does not jump");
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        assert!(folder.log().contains("is in force"), "{}", folder.log());
        let array = || {
            Job::by(stubs, 1001)
                .text("partition", "gpu")
                .text("array_inx", "0-9")
                .text("std_out", "/home/u/log")
        };
        let exempt = || {
            Job::by(stubs, 1002)
                .text("partition", "spare")
                .text("tres_per_job", "gres/gpu:4")
                .number("shared", 0)
        };
        let becomes = |mut job: Box<dyn FnMut() -> Job>, code: i32, when: &str| {
            let started = Instant::now();
            while plugin.submit(&mut job()).code != code {
                assert!(started.elapsed() < Duration::from_secs(20), "{when}: not {code}");
                std::thread::sleep(Duration::from_millis(50));
            }
        };
        let days = [
            (eve, 0, 0, "the day before"),
            (eve + DAY, DENIED, 0, "the leap day itself"),
            (eve + 2 * DAY, DENIED, DENIED, "the day after"),
            (eve, 0, 0, "back again"),
            (0, 0, 0, "1970"),
            (4_300_000_000, DENIED, DENIED, "2106, beyond 32 bits"),
            (253_402_300_799, DENIED, DENIED, "the last day of 9999"),
            (real, 0, 0, "today"),
        ];
        for (at, of_array, of_exempt, when) in days {
            set(at);
            becomes(Box::new(array), of_array, when);
            becomes(Box::new(exempt), of_exempt, when);
            // A policy counts as soon as ever, whatever the file's time is.
            let skip = folder.log().len();
            folder.write_policy(&format!("# {when}\n{policy}"));
            folder.wait_for("is in force", skip);
        }

        // What is remembered of the future is forgotten, not warned of.
        let warns = |partition: &str| {
            let mut job = Job::by(stubs, 1003)
                .text("partition", partition)
                .text("script", "#!/bin/sh\ntrue\n")
                .text("name", "twice");
            plugin.submit(&mut job).message.is_some_and(|m| m.contains("[duplicate-submission]"))
        };
        set(real);
        assert!(!warns("gpu") && warns("cpu"), "a second copy is warned of");
        for at in [real - 30 * DAY, real + 30 * DAY] {
            set(at);
            assert!(!warns("debug"), "at {at}");
        }
        plugin.fini();
        assert!(!folder.log().contains("internal error"), "{}", folder.log());
    });
}
