//! A day of a busy site in less time: many users submit, change and cancel, the policy is rewritten and
//! slurmctld reconfigured all the while. Every verdict is known beforehand, every job is counted, and
//! slurmctld must not grow. `SOAK_SECONDS` says how long; `make soak` takes an hour.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Case;
use crate::shared::Shared;
use crate::support::Requirement::Controller;
use crate::support::{Cluster, Output, until};

pub const CASES: &[Case] = &[("a soak: no verdict wrong, nothing lost, memory flat", Controller, soak)];
/// Says for how long, and that it is asked for.
pub const VARIABLE: &str = "SOAK_SECONDS";

/// The shortest run, in seconds, after which memory says something.
const FORGETS: u64 = 600;
const USERS: [&str; 4] = ["games", "man", "news", "backup"];
/// Growth between the second quarter and the last that is no leak, KiB: slurmctld's threads each take from
/// a heap of their own.
const GROWTH: u64 = 6 * 1024;
const SOON: Duration = Duration::from_secs(30);

/// A submission, and the rule that refuses it.
const LINES: &[(&str, Option<&str>)] = &[
    ("sbatch --hold -p cpu -t 60 job.sh", None),
    ("sbatch --hold -p gpu --gpus=1 -t 60 job.sh", None),
    ("sbatch --hold -p gpu --gres=gpu:a100:2 --cpus-per-gpu=8 -t 60 job.sh", None),
    ("sbatch --hold -p cpu --array=0-9%2 -o logs/%A_%a.out job.sh", None),
    ("sbatch --hold -p gpu --gpus=1 --exclusive job.sh", Some("exclusive")),
    ("sbatch --hold -p cpu --mem=0 job.sh", Some("exclusive")),
    ("sbatch --hold -p gpu --gpus=1 -c 32 job.sh", Some("cpus-per-gpu")),
    ("sbatch --hold -p cpu --array=0-9 -o logs/%j.out job.sh", Some("array-logs")),
    ("sbatch --test-only -p gpu --gpus=1 --exclusive job.sh", Some("exclusive")),
    ("srun --immediate=1 -p cpu -t 5:00:00 true", Some("sessions")),
];

/// The same rules under two names: whichever is in force, the verdicts are the same.
fn policy(name: &str, records: &str) -> String {
    format!(
        "schema = 1\n[site]\nname = \"{name}\"\nrecords = \"{records}\"\n\
         [partition.gpu]\ndefault = true\ngpu_types = [\"a100\"]\ngpus_per_node = 4\ncpus_per_node = 64\n\
         cpus_per_gpu = {{ default = 4, max = 8 }}\n[partition.cpu]\ngpu_types = []\ncpus_per_node = 64\n\
         [rule.exclusive]\n[rule.cpus-per-gpu]\n[rule.array-logs]\n\
         [[limit]]\nname = \"sessions\"\nwhen = {{ kind = [\"interactive\"] }}\nmax_time = \"4:00:00\"\n"
    )
}

#[derive(Default)]
struct Counts {
    submitted: AtomicU64,
    accepted: AtomicU64,
    refused: AtomicU64,
    updates: AtomicU64,
    refused_updates: AtomicU64,
    reloads: AtomicU64,
    reconfigures: AtomicU64,
    unanswered: AtomicU64,
    wrong: Mutex<Vec<String>>,
}

fn soak(_: &Shared) {
    let seconds = std::env::var(VARIABLE).expect("a soak is asked for");
    let seconds = seconds.parse().expect("SOAK_SECONDS is a number");
    let cluster = Cluster::builder()
        .policy(&policy("First", "syslog"))
        .partition("gpu", "Nodes=g[1-2] Default=YES")
        .partition("cpu", "Nodes=c1")
        .conf("MinJobAge=5")
        .conf("MaxJobCount=20000")
        .conf("MaxArraySize=2001")
        .start();
    cluster.file_for_everyone("job.sh", "#!/bin/sh\ntrue\n");
    let records = cluster.path().join("records").display().to_string();
    cluster.write_policy(&policy("First", &records));
    assert!(until(SOON, || cluster.log().matches(" is in force: ").count() >= 2), "{}", cluster.log());

    let (counts, done) = (Counts::default(), AtomicBool::new(false));
    let started = Instant::now();
    let memory = std::thread::scope(|scope| {
        for (seed, user) in USERS.iter().enumerate() {
            let (cluster, counts, done) = (&cluster, &counts, &done);
            scope.spawn(move || busy(cluster, user, seed, counts, done));
        }
        scope.spawn(|| unrest(&cluster, &records, &counts, &done));
        let memory = watch(&cluster, started, Duration::from_secs(seconds));
        done.store(true, Relaxed);
        memory
    });

    let of = |n: &AtomicU64| n.load(Relaxed);
    let (submitted, refused) = (of(&counts.submitted), of(&counts.refused));
    let unanswered = of(&counts.unanswered);
    println!(
        "soak: {seconds} s, {submitted} submissions ({} accepted, {refused} refused), {} updates ({} refused), \
         {} policies, {} reconfigures, {unanswered} requests without an answer; VmRSS KiB: {memory:?}",
        of(&counts.accepted),
        of(&counts.updates),
        of(&counts.refused_updates),
        of(&counts.reloads),
        of(&counts.reconfigures)
    );
    let wrong = counts.wrong.lock().unwrap_or_else(|e| e.into_inner());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(submitted > 20 && refused > 5 && of(&counts.refused_updates) > 0, "too little was done");

    assert!(unanswered * 20 <= submitted, "{unanswered} of {submitted} requests were not answered");

    // Nothing is lost: what users saw is what Sluice counted and wrote down. Whether a request without an
    // answer was judged, nobody knows.
    let all = refused + of(&counts.refused_updates);
    let seen = |key: &str| status(&cluster)[key].as_u64().unwrap_or(0);
    let about = |n: u64, of: u64| (of..=of + unanswered).contains(&n);
    assert!(until(SOON, || about(seen("submissions"), submitted)), "{submitted}: {}", status(&cluster));
    let decided = || status(&cluster)["decisions"]["refused"].as_u64().unwrap_or(0);
    assert!(until(SOON, || about(decided(), all)), "{all}: {}", status(&cluster));
    let written = || std::fs::read_to_string(&records).unwrap_or_default();
    let refusals = || written().lines().filter(|l| l.contains("\"verdict\":\"refused\"")).count() as u64;
    assert!(until(SOON, || refusals() == decided()), "{} refusals, {} recorded", decided(), refusals());
    assert_eq!(status(&cluster)["records"]["dropped"], Value::from(0));
    assert_eq!(status(&cluster)["panics"], Value::from(0));

    // slurmctld forgets jobs once a minute: a shorter run only sees how many there have been.
    if seconds < FORGETS {
        return;
    }
    // The first quarter warms up. Of each of the others the least counts: how many jobs slurmctld has not
    // forgotten yet at an instant is chance.
    let quarter = memory.len() / 4;
    let least = |from: usize| memory.iter().skip(from).take(quarter).min().copied().unwrap_or(0);
    let (early, late) = (least(quarter), least(memory.len() - quarter));
    assert!(late <= early + GROWTH, "slurmctld grew from {early} to {late} KiB: {memory:?}");
}

fn status(cluster: &Cluster) -> Value {
    let text = std::fs::read_to_string(cluster.path().join("state/sluice.status.json")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

/// One user: submits what comes next, changes it, and takes it back.
fn busy(cluster: &Cluster, user: &str, seed: usize, counts: &Counts, done: &AtomicBool) {
    let add = |n: &AtomicU64| n.fetch_add(1, Relaxed);
    let wrong = |text: String| counts.wrong.lock().unwrap_or_else(|e| e.into_inner()).push(text);
    for (line, rule) in LINES.iter().cycle().skip(seed * 3) {
        if done.load(Relaxed) {
            return;
        }
        let output = match cluster.user(user, line).try_run() {
            Ok(output) => output,
            Err(e) => {
                wrong(e);
                continue;
            }
        };
        if unanswered(&output) {
            add(&counts.unanswered);
            continue;
        }
        add(&counts.submitted);
        match rule {
            Some(rule) => {
                add(&counts.refused);
                if output.ok() || !output.stderr.contains(&format!("[{rule}]")) {
                    wrong(format!("should be refused by {rule}:\n{output}"));
                }
            }
            None if !output.ok() => wrong(format!("should be accepted:\n{output}")),
            None => {
                add(&counts.accepted);
                let id = output.job_id();
                // Two hours are as good as one; a whole node is not, be it by all of its memory.
                let changes =
                    [("TimeLimit=120", true), ("OverSubscribe=no", false), ("MinMemoryNode=0", false)];
                for (change, passes) in changes {
                    add(&counts.updates);
                    let typed = format!("scontrol update job={id} {change}");
                    match cluster.user(user, &typed).try_run() {
                        Ok(output) if unanswered(&output) => _ = add(&counts.unanswered),
                        Ok(output) if output.ok() != passes => wrong(format!("update of {line}:\n{output}")),
                        Ok(_) if passes => {}
                        Ok(_) => _ = add(&counts.refused_updates),
                        Err(e) => wrong(e),
                    }
                }
                let _ = cluster.user(user, &format!("scancel {id}")).try_run();
            }
        }
    }
}

/// Whether slurmctld said nothing: one that reconfigures drops a connection now and then, before or after
/// the hook was asked, or answers something else (22.05, with Sluice and without).
fn unanswered(output: &Output) -> bool {
    let words = [
        "Zero Bytes were transmitted",
        "missing socket",
        "Unable to contact",
        "timed out",
        "Connection reset by peer",
        "Unexpected message received",
    ];
    !output.ok() && words.iter().any(|w| output.stderr.contains(w))
}

/// What an admin does meanwhile: edits the policy, breaks it, and reconfigures.
fn unrest(cluster: &Cluster, records: &str, counts: &Counts, done: &AtomicBool) {
    let texts =
        [policy("Second", records), "schema = 1\n[rule.exclusiv]\n".to_owned(), policy("First", records)];
    for text in texts.iter().cycle() {
        cluster.write_policy(text);
        counts.reloads.fetch_add(1, Relaxed);
        if until(Duration::from_millis(1500), || done.load(Relaxed)) {
            return;
        }
        if cluster.root("scontrol reconfigure").try_run().is_ok_and(|o| o.ok()) {
            counts.reconfigures.fetch_add(1, Relaxed);
        }
    }
}

/// Resident memory of slurmctld, KiB, at even times until the end.
fn watch(cluster: &Cluster, started: Instant, length: Duration) -> Vec<u64> {
    let mut samples = Vec::new();
    while started.elapsed() < length {
        std::thread::sleep(length / 16);
        samples.push(resident(cluster.controller_pid()));
    }
    samples
}

/// VmRSS, KiB.
pub fn resident(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
