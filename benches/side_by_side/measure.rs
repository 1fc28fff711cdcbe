//! The child: one policy, one queue, one plugin or both, one submission; prints nanoseconds a call.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::job::Job;
use crate::plugin::{Daemon, Plugin, folder};
use crate::rows;

/// Rounds of which the median counts.
const ROUNDS: usize = 11;
/// How long one round lasts at least.
const ROUND: Duration = Duration::from_millis(40);

/// `measure lua|sluice|compare ROW JOBS THREADS changed|still`, in an environment that the parent made.
pub fn child(arguments: &[String]) {
    let [what, row, jobs, threads, queue] = arguments else { panic!("measure: {arguments:?}") };
    let daemon = Daemon::start(jobs.parse().unwrap());
    let sluice = std::env::var("SLUICE_SO").expect("SLUICE_SO");
    let plugin = |which: &str| match which {
        "lua" => Plugin::start(&folder().join("job_submit_lua.so"), daemon.stubs),
        _ => Plugin::start(Path::new(&sluice), daemon.stubs),
    };
    match what.as_str() {
        "compare" => compare(&daemon, &plugin("lua"), &plugin("sluice")),
        // For callgrind: so many calls and nothing else.
        "calls" => {
            let plugin = plugin("sluice");
            let mut job = Reset::new(&daemon, row);
            for _ in 0..threads.parse::<u32>().unwrap() {
                plugin.accepts(job.fresh());
            }
        }
        which => {
            let plugin = plugin(which);
            let threads: usize = threads.parse().unwrap();
            println!("{:.1}", time(&daemon, &plugin, row, threads, queue == "changed"));
        }
    }
}

/// A job that is handed in again and again: what was filled in is taken out each time.
struct Reset {
    job: Job,
    edited: [&'static str; 4],
    keep: Vec<&'static str>,
}

impl Reset {
    fn new(daemon: &Daemon, row: &str) -> Reset {
        let (_, fields) = rows::NAMED.iter().find(|(name, _)| *name == row).expect(row);
        let edited = ["cpus_per_tres", "mem_per_tres", "qos", "admin_comment"];
        let keep = edited.into_iter().filter(|f| fields.iter().any(|(name, _)| name == f)).collect();
        Reset { job: rows::named(daemon.stubs, fields), edited, keep }
    }

    fn fresh(&mut self) -> &mut Job {
        for field in self.edited {
            if !self.keep.contains(&field) {
                self.job.clear(field);
            }
        }
        &mut self.job
    }
}

/// What this thread has had of a processor: on a machine that does other things too, the clock on the
/// wall would tell of those.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the struct is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Nanoseconds for each call: of processor time where there is one thread, of time where there are more.
fn time(daemon: &Daemon, plugin: &Plugin, row: &str, threads: usize, changed: bool) -> f64 {
    let mut rounds: Vec<f64> = (0..ROUNDS).map(|_| round(daemon, plugin, row, threads, changed)).collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

fn round(daemon: &Daemon, plugin: &Plugin, row: &str, threads: usize, changed: bool) -> f64 {
    let body = |mut job: Reset| {
        let (mut calls, start, used) = (0_u64, Instant::now(), processor_time());
        while start.elapsed() < ROUND {
            // The clock is asked once in a while only where calls are short.
            for _ in 0..if changed { 1 } else { 64 } {
                if changed {
                    daemon.queue_changes();
                }
                plugin.accepts(job.fresh());
                calls += 1;
            }
        }
        (calls, processor_time().saturating_sub(used))
    };
    if threads == 1 {
        let (calls, took) = body(Reset::new(daemon, row));
        return took.as_nanos() as f64 / calls as f64;
    }
    let started = Instant::now();
    let calls: u64 = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(|| body(Reset::new(daemon, row)).0)).collect();
        running.into_iter().map(|t| t.join().unwrap()).sum()
    });
    started.elapsed().as_nanos() as f64 / calls as f64
}

/// Whether both come to the same verdict, on every recorded and every timed job.
fn compare(daemon: &Daemon, lua: &Plugin, sluice: &Plugin) {
    let of = |_| {
        let named =
            rows::NAMED.iter().map(|(name, fields)| ((*name).to_owned(), rows::named(daemon.stubs, fields)));
        named.chain(rows::recorded(daemon.stubs)).collect::<Vec<_>>()
    };
    let (mut all, mut same, mut refused) = (0, 0, 0);
    for ((name, mut one), (_, mut other)) in of(0).into_iter().zip(of(1)) {
        let (ours, theirs) = (sluice.answer(&mut one), lua.answer(&mut other));
        all += 1;
        refused += i32::from(ours.0 != 0);
        if (ours.0 == 0) == (theirs.0 == 0) {
            same += 1;
        } else {
            println!("differ: {name}\n  sluice {}: {}\n  lua {}: {}", ours.0, ours.1, theirs.0, theirs.1);
        }
    }
    println!("{same} of {all} verdicts are the same, {refused} of them refusals");
}
