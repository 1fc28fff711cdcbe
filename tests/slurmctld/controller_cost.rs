//! What Sluice costs a real slurmctld: time of a submission as slurmctld itself counts it, with and
//! without, turn by turn, beside a second slurmctld without, which says how far two of the same differ;
//! and memory. `SLUICE_COST_ROUNDS` says how often.

use std::time::Duration;

use serde_json::Value;

use crate::Case;
use crate::shared::Shared;
use crate::soak::resident;
use crate::support::Requirement::{Accounting, Controller};
use crate::support::{Cluster, Plugin, until};

pub const CASES: &[Case] = &[
    ("what Sluice costs slurmctld", Controller, cost),
    ("what Sluice costs slurmctld where it looks up associations", Accounting, look_ups),
];

/// Submissions of one turn.
const TURN: u32 = 20;

fn cost(_: &Shared) {
    let rounds = std::env::var("SLUICE_COST_ROUNDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2_usize);
    let start = |plugin| {
        let cluster = Cluster::builder()
            .policy(sluice::policy::EXAMPLE)
            .partition("gpu", "Nodes=g[1-2] Default=YES")
            .partition("cpu", "Nodes=c1")
            .conf("MaxJobCount=20000")
            .plugin(plugin)
            .start();
        cluster.file_for_everyone("job.sh", "#!/bin/sh\ntrue\n");
        cluster
    };
    let (with, without, control) = (start(Plugin::Sluice), start(Plugin::None), start(Plugin::None));
    assert!(until(Duration::from_secs(20), || with.log().contains(" is in force: ")));
    let [before_with, before_without] = [&with, &without].map(|c| resident(c.controller_pid()));

    let clusters = [&with, &without, &control];
    let mut took = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..rounds {
        // Who begins goes round.
        for which in (0..3).map(|n| (n + round) % 3) {
            let cluster = clusters[which];
            cluster.root("sdiag --reset").run().accepted();
            let line =
                format!("for i in $(seq {TURN}); do sbatch -Q --hold -p cpu -t 60 job.sh || exit 9; done");
            cluster.user("games", &line).within(Duration::from_secs(120)).run().accepted();
            took[which].push(average(&cluster.root("sdiag").run().accepted().stdout));
        }
    }
    let [ours, plain, same] = took.map(|mut all| {
        all.sort_unstable();
        all[all.len() / 2]
    });
    let ratio = |other: u64| plain as f64 / other as f64;
    println!(
        "slurmctld's time for one submission: {ours} us with Sluice, {plain} us without, ratio of submissions a \
         second {:.3}; a second slurmctld without: {same} us, {:.3}; resident at start {before_with} KiB with, \
         {before_without} KiB without ({} KiB added)",
        ratio(ours),
        ratio(same),
        before_with.saturating_sub(before_without)
    );
    assert!(ours <= plain * 2 + 500, "Sluice more than doubles what a submission costs");
}

/// The time of a decision by its own record: each in a thread of slurmctld that has just been made, with
/// nothing of Sluice in any cache. A job with a lineage leaves a record though nothing is said of it.
fn look_ups(_: &Shared) {
    let records = |cluster: &Cluster| cluster.path().join("records");
    let cluster = Cluster::builder()
        .policy(sluice::policy::EXAMPLE)
        .partition("cpu", "Nodes=c1 Default=YES")
        .partition("phys-a100", "Nodes=g[1-2]")
        .conf("MaxJobCount=20000")
        .accounting(&["add cluster sluice", "add account physics", "add user games account=physics"])
        .start();
    cluster.file_for_everyone("job.sh", "#!/bin/sh\ntrue\n");
    let target = format!("records = \"{}\"", records(&cluster).display());
    cluster.write_policy(&sluice::policy::EXAMPLE.replace("records = \"syslog\"", &target));
    let in_force = || cluster.log().matches(" is in force: ").count();
    assert!(until(Duration::from_secs(20), || in_force() >= 2), "{}", cluster.log());
    for (what, options) in
        [("nothing looked up", "-p cpu"), ("the owner of a lent partition, by association", "-p phys-a100")]
    {
        let text = || std::fs::read_to_string(records(&cluster)).unwrap_or_default();
        let before = text().lines().count();
        let line = format!(
            "for i in $(seq 200); do sbatch -Q --hold {options} -t 60 --comment='lineage: n=1' job.sh || exit 9; done"
        );
        cluster.user("games", &line).within(Duration::from_secs(120)).run().accepted();
        assert!(until(Duration::from_secs(20), || text().lines().count() >= before + 200), "{}", text());
        let nanoseconds = |line: &str| {
            let record: Value = serde_json::from_str(line).expect("a record");
            assert_eq!(
                (&record["verdict"], &record["findings"]),
                (&"accepted".into(), &Value::Array(vec![]))
            );
            record["nanoseconds"].as_u64().expect("a number")
        };
        let mut took: Vec<u64> = text().lines().skip(before).map(nanoseconds).collect();
        took.sort_unstable();
        println!("{what}: {} ns within slurmctld, the median of {}", took[took.len() / 2], took.len());
    }
}

/// Microseconds of a batch submission, by `sdiag`.
fn average(text: &str) -> u64 {
    let line = text.lines().find(|l| l.contains("REQUEST_SUBMIT_BATCH_JOB"));
    let number = |l: &str| l.split("ave_time:").nth(1)?.split_whitespace().next()?.parse().ok();
    line.and_then(number).unwrap_or_else(|| panic!("no submissions in sdiag:\n{text}"))
}
