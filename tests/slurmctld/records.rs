//! What is decided is recorded and counted, whoever reads it; what happens to the policy file
//! meanwhile loses no job.

use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Case;
use crate::shared::Shared;
use crate::submission::reference;
use crate::support::Requirement::Controller;
use crate::support::{Cluster, until};

pub const CASES: &[Case] = &[
    ("the reference in a refusal finds its record, and the counters count it", Controller, found),
    ("a system log that nobody reads costs nobody time, and what is lost is counted", Controller, unread),
    ("the last good policy is in force where the file is broken at a start", Controller, saved),
    ("a policy that is rewritten all the time loses no job and no verdict", Controller, rewritten),
    #[cfg(feature = "test-hooks")]
    ("a panic in one rule or in all of the hook is contained and answered by on_error", Controller, panics),
];

const SOON: Duration = Duration::from_secs(5);

fn policy(name: &str, more: &str) -> String {
    format!(
        "schema = 1\n[site]\nname = \"{name}\"\n{more}\n[partition.cpu]\ndefault = true\ncpus_per_node = 64\n\
         [rule.exclusive]\n[rule.array-logs]\n"
    )
}

fn cluster(policy: &str) -> Cluster {
    let cluster = Cluster::builder()
        .policy(policy)
        .nodes(&["c1"])
        .partition("cpu", "Nodes=c1 Default=YES")
        .conf("MaxArraySize=2001")
        .conf("MaxJobCount=20000")
        .start();
    cluster.file_for_everyone("job.sh", "#!/bin/sh\necho secret-of-the-script\n");
    cluster
}

/// Puts a policy in force and waits for that.
fn put_in_force(cluster: &Cluster, toml: &str) {
    let count = |c: &Cluster| c.log().matches(" is in force: ").count();
    let before = count(cluster);
    cluster.write_policy(toml);
    assert!(until(SOON, || count(cluster) > before), "{}", cluster.log());
}

fn status(cluster: &Cluster) -> Value {
    let path = cluster.path().join("state/sluice.status.json");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

fn records(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|l| serde_json::from_str(l).expect("a line of JSON")).collect()
}

fn found(_: &Shared) {
    let cluster = cluster(&policy("Lab", ""));
    let file = cluster.path().join("records");
    put_in_force(&cluster, &policy("Lab", &format!("records = \"{}\"", file.display())));
    let output = cluster.user("games", "TOKEN=secret sbatch --exclusive job.sh").run().refused();
    let reference = reference(&output.stderr);
    let find = |reference: &str| records(&file).into_iter().find(|r| r["ref"] == reference);
    assert!(until(SOON, || find(&reference).is_some()), "{:?}", records(&file));
    let record = find(&reference).expect("it was there");
    assert_eq!((&record["verdict"], &record["kind"]), (&"refused".into(), &"submit".into()));
    assert_eq!(record["findings"][0]["rule"], "exclusive");
    assert_eq!((&record["user"], &record["request"]["user_id"]), (&5.into(), &5.into()));
    assert!(record["nanoseconds"].as_u64().is_some_and(|n| n > 0), "{record}");
    assert_eq!(record["policy"].as_str().map(str::len), Some(16), "{record}");
    assert!(!record.to_string().contains("secret"), "{record}");

    cluster.user("games", "sbatch --test-only --exclusive job.sh").run().refused();
    cluster.user("games", "sbatch -n 1 : --exclusive job.sh").run().refused();
    let id = cluster.user("games", "sbatch --hold job.sh").run().accepted().job_id();
    cluster.user("games", &format!("scontrol update JobId={id} NumCPUs=64")).run().refused();
    cluster.root(&format!("scontrol update JobId={id} NumCPUs=64")).run().accepted();
    assert!(until(SOON, || records(&file).len() >= 5), "{:?}", records(&file));
    let all = records(&file);
    assert_eq!(all[1]["kind"], "test");
    assert_eq!(all[2]["request"]["het_offset"], 1);
    assert_eq!((&all[3]["kind"], &all[3]["job"]), (&"update".into(), &id.to_string().into()));
    assert_eq!((&all[4]["verdict"], &all[4]["findings"][0]["outcome"]), (&"accepted".into(), &"root".into()));

    // Rotated: what comes next begins a new file.
    std::fs::rename(&file, cluster.path().join("records.1")).expect("the file is there");
    cluster.user("games", "sbatch --exclusive job.sh").run().refused();
    assert!(until(SOON, || records(&file).len() == 1), "{:?}", records(&file));

    let counted = |s: &Value| s["decisions"]["findings"]["exclusive"]["refused"].as_u64();
    assert!(until(SOON, || counted(&status(&cluster)) == Some(5)), "{}", status(&cluster));
    let status = status(&cluster);
    assert_eq!(status["decisions"]["findings"]["exclusive"]["root"], 1, "{status}");
    assert_eq!((&status["records"]["written"], &status["records"]["dropped"]), (&6.into(), &0.into()));
    assert_eq!(status["policy"]["hash"], all[0]["policy"]);
    assert_eq!((&status["submissions"], &status["updates"]), (&6.into(), &2.into()), "{status}");
    assert!(status["build"]["slurm"].as_str().is_some_and(|v| v.contains('.')), "{status}");
}

fn unread(_: &Shared) {
    let cluster = cluster(&policy("Lab", ""));
    let path = cluster.path().join("log");
    let reader = UnixDatagram::bind(&path).expect("a socket");
    put_in_force(&cluster, &policy("Lab", &format!("records = \"{}\"", path.display())));
    // A thousand refused updates in one request: how long slurmctld takes for them.
    let update = || {
        let line = "sbatch --hold --array=0-999 -o log-%A_%a job.sh";
        let id = cluster.user("games", line).run().accepted().job_id();
        // Each task becomes a job of its own first; that is Slurm's time and not measured.
        cluster.user("games", &format!("scontrol update JobId={id}_1-999 Nice=1")).run().accepted();
        let started = Instant::now();
        cluster.user("games", &format!("scontrol update JobId={id}_1-999 NumCPUs=64")).run().refused();
        started.elapsed()
    };
    reader.set_read_timeout(Some(SOON)).expect("a timeout");
    let read_until_the_end = |reader: UnixDatagram| {
        let mut count = 0;
        let mut bytes = vec![0; 10_000];
        while count < 999 && reader.recv(&mut bytes).is_ok() {
            count += 1;
        }
        (reader, count)
    };
    let reading = std::thread::spawn(move || read_until_the_end(reader));
    let read = update();
    let (reader, count) = reading.join().expect("the reader reads");
    assert_eq!(count, 999, "{}", status(&cluster));

    let unread = update() + update();
    assert!(unread < 2 * read + Duration::from_millis(500), "{read:?} each when read, {unread:?} for two");
    let dropped = || status(&cluster)["records"]["dropped"].as_u64().unwrap_or(0);
    assert!(until(SOON, || dropped() > 0), "{}", status(&cluster));
    assert!(cluster.log().contains("decisions cannot be recorded"), "{}", cluster.log());
    eprintln!("read {read:?}, unread {:?}, dropped {}", unread / 2, dropped());

    // The log daemon is started anew.
    drop(reader);
    std::fs::remove_file(&path).expect("the socket is there");
    let reader = UnixDatagram::bind(&path).expect("a socket");
    reader.set_read_timeout(Some(2 * SOON)).expect("a timeout");
    let mut bytes = [0; 10_000];
    let n = reader.recv(&mut bytes).expect("records come again");
    let text = String::from_utf8_lossy(&bytes[..n]).into_owned();
    assert!(text.starts_with("<29>") && text.contains(" sluice[") && text.ends_with('}'), "{text}");
}

fn saved(_: &Shared) {
    let mut cluster = cluster(&policy("First", ""));
    put_in_force(&cluster, &policy("Second", ""));
    cluster.write_policy("schema = 1\n[rule.exclusiv]\n");
    cluster.restart_controller();
    let output = cluster.user("games", "sbatch --exclusive job.sh").run().refused();
    assert!(output.stderr.contains("Second refuses this job"), "{output}");
    assert!(cluster.log().contains("in its place the last good one is in force"), "{}", cluster.log());
    let source = || status(&cluster)["policy"]["source"].clone();
    assert!(until(SOON, || source() == "saved-copy"), "{}", status(&cluster));

    // What is gone was taken away by someone.
    std::fs::remove_file(cluster.policy_path()).expect("the policy is there");
    cluster.restart_controller();
    cluster.user("games", "sbatch --hold --exclusive job.sh").run().accepted();
    assert!(cluster.log().contains("NO POLICY IS IN FORCE"), "{}", cluster.log());
}

fn rewritten(_: &Shared) {
    const SUBMISSIONS: u32 = 2000;
    let good = [policy("First", ""), policy("Second", "")];
    let mut cluster = cluster(&good[0]);
    let (done, next, kept) = (AtomicBool::new(false), AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let texts = [Some(&*good[0]), Some("schema = 1\n[rule.exclusiv]\n"), None, Some(&*good[1])];
            for round in 0.. {
                for text in texts {
                    if done.load(Ordering::Relaxed) {
                        return;
                    }
                    match text {
                        Some(text) => cluster.write_policy(text),
                        None => {
                            let _ = std::fs::remove_file(cluster.policy_path());
                        }
                    }
                    std::thread::sleep(Duration::from_millis(100));
                }
                // Now and then long enough for it to count.
                if round % 3 == 2 {
                    cluster.write_policy(&good[round / 3 % 2]);
                    std::thread::sleep(Duration::from_millis(1300));
                }
            }
        });
        let workers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    while next.fetch_add(10, Ordering::Relaxed) < SUBMISSIONS {
                        // Ten at a time: most of the time of one goes into starting it.
                        let line = "for i in 1 2 3 4 5; do sbatch -Q --hold job.sh || exit 9; \
                                    sbatch --exclusive job.sh; done";
                        let output = cluster.user("games", line).run().refused();
                        assert_eq!(output.stdout.lines().count(), 0, "{output}");
                        let told =
                            |name: &str| output.stderr.matches(&format!("{name} refuses this job")).count();
                        assert_eq!(told("First") + told("Second"), 5, "{output}");
                        kept.fetch_add(5, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let fine = workers.into_iter().all(|w| w.join().is_ok());
        done.store(true, Ordering::Relaxed);
        assert!(fine, "{}", cluster.log());
    });
    assert_eq!(cluster.queue().len(), kept.load(Ordering::Relaxed) as usize);
    assert!(cluster.controller_is_running());
    let changes = cluster.log().matches(" is in force: ").count();
    assert!(changes >= 3, "the policy changed only {changes} times");
    eprintln!("{} kept, {changes} changes of policy", kept.load(Ordering::Relaxed));
}

#[cfg(feature = "test-hooks")]
fn panics(_: &Shared) {
    let mut cluster = cluster(&policy("Lab", ""));
    // One rule fails, the others hold.
    let line = "sbatch -J sluice-test-panic-in-exclusive --exclusive --array=0-1 -o one.log job.sh";
    let output = cluster.user("games", line).run().refused();
    assert!(output.stderr.contains("[array-logs]") && !output.stderr.contains("[exclusive]"), "{output}");
    let told = || cluster.log().contains("FAILED rules=exclusive");
    assert!(until(SOON, told), "{}", cluster.log());
    cluster
        .user("games", "sbatch --hold -J sluice-test-panic-in-exclusive --exclusive job.sh")
        .run()
        .accepted();
    cluster.user("games", "sbatch --hold -J sluice-test-panic job.sh").run().accepted();
    let id = cluster.user("games", "sbatch --hold job.sh").run().accepted().job_id();
    cluster.user("games", &format!("scontrol update JobId={id} JobName=sluice-test-panic")).run().accepted();

    put_in_force(&cluster, &policy("Lab", "on_error = \"refuse\""));
    cluster.user("games", "sbatch -J sluice-test-panic job.sh").run().refused();
    cluster.user("games", "sbatch -J sluice-test-panic-in-exclusive job.sh").run().refused();
    cluster.user("games", &format!("scontrol update JobId={id} JobName=sluice-test-panic")).run().refused();
    cluster.root("sbatch --hold -J sluice-test-panic job.sh").run().accepted();
    cluster.root(&format!("scontrol update JobId={id} JobName=sluice-test-panic")).run().accepted();
    assert!(cluster.controller_is_running());
    let panics = || status(&cluster)["panics"].as_u64().unwrap_or(0);
    assert!(until(SOON, || panics() >= 9), "{}", status(&cluster));
}
