//! What may go wrong around the plugin, made to go wrong: hostile text, a panic in each rule, a policy
//! replaced over and over, a place for records that is not there, a fork. SECURITY.md has the table.

use std::fs;

use crate::job::{Job, TEXTS};
use crate::plugin::{Plugin, Stubs};
use crate::process::{Folder, alone};
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
            for text in hostile() {
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
    let rules: String = sluice::rules::ALL
        .iter()
        .map(|r| r.name)
        // These have options that must be given; the guard round each rule is the same.
        .filter(|name| !["lineage", "exclusive"].contains(name))
        .map(|name| format!("[rule.{name}]\n"))
        .collect();
    let policy = format!(
        "schema = 1\n[site]\non_error = \"allow\"\n[partition.gpu]\ncpus_per_node = 64\n[rule.exclusive]\n{rules}"
    );
    alone("faults::a_panic_in_any_rule_leaves_the_others_judging", Some(&policy), |folder| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        assert!(folder.log().contains("is in force"), "{}", folder.log());
        for rule in
            sluice::rules::ALL.iter().map(|r| r.name).filter(|n| !["lineage", "exclusive"].contains(n))
        {
            let name = format!("sluice-test-panic-in-{rule}");
            let mut job =
                Job::by(stubs, 1001).text("name", &name).text("partition", "gpu").number("shared", 0);
            let answer = plugin.submit(&mut job);
            assert_ne!(answer.code, 0, "{rule}: {answer:?}");
            assert!(answer.message.is_some_and(|m| m.contains("[exclusive]")), "{rule}");
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
