//! The policy file while slurmctld runs: replaced, broken, gone, or no file at all.

use std::ffi::CString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::job::Job;
use crate::plugin::{Plugin, Stubs};
use crate::process::alone;
use crate::verdict::{DENIED, POLICY};

fn code(plugin: &Plugin, stubs: Stubs) -> i32 {
    let job = Job::by(stubs, 1001).text("tres_per_job", "gres/gpu:4").text("partition", "gpu");
    plugin.submit(&mut job.number("shared", 0)).code
}

#[test]
fn without_a_policy_jobs_pass_loudly_until_there_is_one() {
    alone("policy_file::without_a_policy_jobs_pass_loudly_until_there_is_one", None, |folder| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        assert_eq!(code(&plugin, stubs), 0);
        assert!(folder.log().contains("NO POLICY IS IN FORCE"), "{}", folder.log());
        folder.write_policy(POLICY);
        let written = Instant::now();
        while code(&plugin, stubs) != DENIED {
            assert!(written.elapsed() < Duration::from_secs(10), "{}", folder.log());
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(written.elapsed() < Duration::from_secs(2), "in force within two seconds");
        plugin.fini();
    });
}

#[test]
fn a_broken_policy_at_start_lets_jobs_pass_and_is_told_with_its_place() {
    let test = "policy_file::a_broken_policy_at_start_lets_jobs_pass_and_is_told_with_its_place";
    alone(test, Some("schema = 1\n[rule.exclusiv]\n"), |folder| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        assert_eq!(code(&plugin, stubs), 0);
        let log = folder.log();
        assert!(log.contains("NO POLICY IS IN FORCE") && log.contains("sluice.toml:2:7"), "{log}");
        plugin.fini();
    });
}

#[test]
fn what_is_no_policy_never_replaces_one_and_is_told_once() {
    let test = "policy_file::what_is_no_policy_never_replaces_one_and_is_told_once";
    alone(test, Some(POLICY), |folder| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let path = folder.policy_path();
        let stays = |why: &str, change: &dyn Fn()| {
            let skip = folder.log().len();
            change();
            folder.wait_for(why, skip);
            assert_eq!(code(&plugin, stubs), DENIED, "{why}");
            // Several looks later it has not been told again.
            std::thread::sleep(Duration::from_millis(1600));
            assert_eq!(folder.log()[skip..].matches("stays").count(), 1, "{}", folder.log());
        };
        let gone = || fs::remove_file(&path).unwrap();
        stays("unknown key", &|| folder.write_policy("schema = 1\nnonsense = 2\n"));
        stays("no such file", &gone);
        stays("FIFO", &|| {
            let name = CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
            // SAFETY: a valid path.
            assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        });
        gone();
        stays("directory", &|| fs::create_dir(&path).unwrap());
        fs::remove_dir(&path).unwrap();
        stays("device", &|| std::os::unix::fs::symlink("/dev/zero", &path).unwrap());
        gone();
        stays("others may write", &|| {
            fs::write(&path, "schema = 1\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        });
        stays("UTF-8", &|| {
            fs::remove_file(&path).unwrap();
            fs::write(&path, [0xff, 0xfe, 0xfd]).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        });

        // And a good one counts again.
        let skip = folder.log().len();
        folder.write_policy("schema = 1\n");
        folder.wait_for("is in force", skip);
        assert_eq!(code(&plugin, stubs), 0);
        plugin.fini();
    });
}
