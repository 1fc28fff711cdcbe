//! Accepting a plain job allocates nothing and asks the kernel nothing. Looking up associations is
//! slurmctld's own work, and apart.

use std::io::Error;

use sluice::policy::EXAMPLE;

use crate::job::Job;
use crate::plugin::{Plugin, Stubs};
use crate::process::{Under, alone, alone_under};

/// Jobs that the example policy has nothing to say of.
fn plain(stubs: Stubs) -> [Job; 3] {
    let job = || Job::by(stubs, 1001).text("work_dir", "/home/u").text("name", "train.sh");
    let gpu = || {
        job()
            .text("partition", "gpu")
            .number("time_limit", 60)
            .text("cpus_per_tres", "gres:gpu:4")
            .text("mem_per_tres", "gres:gpu:61440")
    };
    [
        job().text("partition", "cpu").number("time_limit", 60).number("num_tasks", 4),
        gpu().text("tres_per_job", "gres:gpu:a100:1"),
        gpu()
            .text("tres_per_node", "gres:gpu:2")
            .number("min_nodes", 2)
            .number("max_nodes", 2)
            .text("qos", "normal")
            .text("account", "bio")
            .text("array_inx", "0-99%5")
            .text("std_out", "/home/u/%A_%a.out"),
    ]
}

fn whole_node(stubs: Stubs) -> Job {
    Job::by(stubs, 1001).text("partition", "gpu").text("tres_per_job", "gres:gpu:1").number("shared", 0)
}

#[test]
fn a_plain_accept_allocates_nothing() {
    let test = "cost::a_plain_accept_allocates_nothing";
    alone_under(Under::Counter, test, Some(EXAMPLE), |_| {
        // SAFETY: the name is valid; the prototype is that of count.c.
        let count: unsafe extern "C" fn() -> u64 = unsafe {
            let address = libc::dlsym(libc::RTLD_DEFAULT, c"count_allocations".as_ptr());
            assert!(!address.is_null(), "count.c is not preloaded");
            std::mem::transmute(address)
        };
        // SAFETY: only reads a counter of this thread.
        let count = || unsafe { count() };
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        for mut job in plain(stubs) {
            // The first call of a process looks up what every later one finds.
            assert_eq!(plugin.submit_silently(&mut job), 0);
            let before = count();
            let code = plugin.submit_silently(&mut job);
            let allocated = count() - before;
            assert_eq!((code, allocated), (0, 0), "{:?}", job.get("partition"));
        }
        // That the counter counts at all.
        let mut refused = whole_node(stubs);
        let before = count();
        assert_ne!(plugin.submit_silently(&mut refused), 0);
        assert!(count() > before);
        assert_eq!(plugin.fini(), 0);
    });
}

#[test]
fn a_plain_accept_makes_no_system_call() {
    alone("cost::a_plain_accept_makes_no_system_call", Some(EXAMPLE), |_| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        for mut job in plain(stubs) {
            assert_eq!(plugin.submit_silently(&mut job), 0);
            let ended = without_system_calls(|| plugin.submit_silently(&mut job) == 0);
            assert_eq!(ended, Ended::Well, "{:?}", job.get("partition"));
        }
        // That a system call is noticed at all.
        // SAFETY: only returns a number.
        assert_eq!(without_system_calls(|| unsafe { libc::getppid() } > 0), Ended::BySystemCall);
        assert_eq!(plugin.fini(), 0);
    });
}

/// How a process without system calls ended.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    Well,
    BySystemCall,
    Otherwise(i32),
}

/// Runs `body` in a forked process that the kernel kills at its first system call but the last.
fn without_system_calls(body: impl FnOnce() -> bool) -> Ended {
    const WELL: i32 = 7;
    // SAFETY: the child runs nothing but the body, which takes no lock that another thread may have
    // held when it was forked, and `exit_group`.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0, "{}", Error::last_os_error());
        if child == 0 {
            forbid_system_calls();
            let code = if body() { WELL } else { 1 };
            libc::syscall(libc::SYS_exit_group, code);
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        match status {
            s if libc::WIFEXITED(s) && libc::WEXITSTATUS(s) == WELL => Ended::Well,
            s if libc::WIFSIGNALED(s) && libc::WTERMSIG(s) == libc::SIGSYS => Ended::BySystemCall,
            s => Ended::Otherwise(s),
        }
    }
}

/// From here on any system call but `exit_group` kills the process (seccomp(2)).
///
/// # Safety
/// Only in a process that is about to end.
unsafe fn forbid_system_calls() {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let load_number = statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0);
    let is_exit = libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: 0,
        jf: 1,
        k: libc::SYS_exit_group as u32,
    };
    let give = |answer: u32| statement(libc::BPF_RET | libc::BPF_K, answer);
    let mut filter =
        [load_number, is_exit, give(libc::SECCOMP_RET_ALLOW), give(libc::SECCOMP_RET_KILL_PROCESS)];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program lives during the call.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program), 0);
    }
}
