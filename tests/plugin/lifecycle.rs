//! Loading, unloading, and many threads at once.

use std::fs;

use crate::job::Job;
use crate::modify::{Existing, change};
use crate::plugin::{Plugin, Stubs};
use crate::process::alone;
use crate::verdict::{DENIED, POLICY};

fn threads() -> Vec<String> {
    let comm = |entry: fs::DirEntry| fs::read_to_string(entry.path().join("comm")).ok();
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    tasks.filter_map(comm).filter(|name| name.trim() == "sluice").collect()
}

fn refused(stubs: Stubs) -> Job {
    Job::by(stubs, 1001).text("tres_per_job", "gres/gpu:4").text("partition", "gpu").number("shared", 0)
}

#[test]
fn init_twice_is_init_once() {
    alone("lifecycle::init_twice_is_init_once", Some(POLICY), |folder| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        assert_eq!(plugin.init(), 0);
        assert_eq!(threads().len(), 1);
        assert_eq!(folder.log().matches("is in force").count(), 1);
        assert_eq!(plugin.submit(&mut refused(stubs)).code, DENIED);
        assert_eq!((plugin.fini(), plugin.fini()), (0, 0));
        assert_eq!(threads().len(), 0, "fini waits for the helper");
    });
}

#[test]
fn the_so_is_unloaded_and_loaded_again() {
    alone("lifecycle::the_so_is_unloaded_and_loaded_again", Some(POLICY), |_| {
        let stubs = Stubs::load();
        for _ in 0..3 {
            let plugin = Plugin::start(stubs);
            assert_eq!(plugin.submit(&mut refused(stubs)).code, DENIED);
            assert_eq!(threads().len(), 1);
            plugin.fini();
            assert_eq!(threads().len(), 0);
            plugin.unload();
        }
        assert_eq!(stubs.live_blocks(), 0);
    });
}

#[test]
fn the_helper_takes_no_signal() {
    alone("lifecycle::the_helper_takes_no_signal", Some(POLICY), |_| {
        let plugin = Plugin::start(Stubs::load());
        let blocked = |task: &fs::DirEntry| {
            let status = fs::read_to_string(task.path().join("status")).unwrap();
            let mask = status.lines().find_map(|l| l.strip_prefix("SigBlk:")).unwrap().trim();
            u64::from_str_radix(mask, 16).unwrap()
        };
        let tasks: Vec<_> = fs::read_dir("/proc/self/task").unwrap().flatten().collect();
        let name = |t: &fs::DirEntry| fs::read_to_string(t.path().join("comm")).unwrap();
        let helper = tasks.iter().find(|t| name(t).trim() == "sluice").unwrap();
        for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT, libc::SIGCHLD, libc::SIGUSR1] {
            assert_ne!(blocked(helper) & 1 << (signal - 1), 0, "signal {signal}");
        }
        plugin.fini();
    });
}

/// As slurmctld from 23.02 on: submissions and updates in many threads at once. What each gets is a
/// policy's answer, and nothing of what Slurm lent or gave is left over.
#[test]
fn many_threads_judge_while_the_policy_changes() {
    alone("lifecycle::many_threads_judge_while_the_policy_changes", Some(POLICY), |folder| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let stop = std::sync::atomic::AtomicBool::new(false);
        let calls = std::sync::atomic::AtomicU64::new(0);
        let relaxed = std::sync::atomic::Ordering::Relaxed;
        std::thread::scope(|scope| {
            for thread in 0..16 {
                let (plugin, stop, calls) = (&plugin, &stop, &calls);
                scope.spawn(move || {
                    let existing = Existing::of(stubs, 1001);
                    while !stop.load(relaxed) {
                        let answer = match thread % 4 {
                            0 => plugin
                                .modify(&mut change(stubs, 1001).number("min_cpus", 64), existing.record()),
                            1 => plugin.submit(&mut Job::by(stubs, 1001).text("partition", "lent")),
                            _ => plugin.submit(&mut refused(stubs)),
                        };
                        let expected = answer.code == DENIED || answer.code == 0;
                        assert!(expected, "{thread}: {answer:?}");
                        calls.fetch_add(1, relaxed);
                    }
                });
            }
            for round in 0..8 {
                let skip = folder.log().len();
                let mode = if round % 2 == 0 { "audit" } else { "enforce" };
                folder.write_policy(&POLICY.replace("[site]", &format!("[site]\nmode = \"{mode}\"")));
                folder.wait_for("is in force", skip);
                folder.write_policy("schema = 1\n[rule.exclusiv]\n");
                folder.wait_for("stays", skip);
            }
            stop.store(true, relaxed);
        });
        plugin.fini();
        assert_eq!(stubs.live_blocks(), 0);
        eprintln!("{} calls", calls.load(relaxed));
    });
}
