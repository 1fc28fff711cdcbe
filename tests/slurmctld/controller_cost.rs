//! What Sluice costs a real slurmctld: time of a submission as slurmctld itself counts it, with and
//! without, turn by turn; memory; and the time that loading takes. `SLUICE_COST_ROUNDS` says how often.

use crate::Case;
use crate::shared::Shared;
use crate::soak::resident;
use crate::support::Requirement::Controller;

use crate::support::{Cluster, Plugin, until};

pub const CASES: &[Case] = &[("what Sluice costs slurmctld", Controller, cost)];

/// Submissions of one turn.
const TURN: u32 = 20;

fn cost(_: &Shared) {
    let rounds = std::env::var("SLUICE_COST_ROUNDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2);
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
    let (with, without) = (start(Plugin::Sluice), start(Plugin::None));
    assert!(until(std::time::Duration::from_secs(20), || with.log().contains(" is in force: ")));
    let [before_with, before_without] = [&with, &without].map(|c| resident(c.controller_pid()));

    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        // Who begins alternates.
        let turns = [(&with, true), (&without, false)];
        for (cluster, has) in if round % 2 == 0 { turns } else { [turns[1], turns[0]] } {
            cluster.root("sdiag --reset").run().accepted();
            let line =
                format!("for i in $(seq {TURN}); do sbatch -Q --hold -p cpu -t 60 job.sh || exit 9; done");
            cluster.user("games", &line).within(std::time::Duration::from_secs(120)).run().accepted();
            let micros = average(&cluster.root("sdiag").run().accepted().stdout);
            if has { ours.push(micros) } else { plain.push(micros) }
        }
    }
    let median = |all: &mut Vec<u64>| {
        all.sort_unstable();
        all[all.len() / 2]
    };
    let (ours, plain) = (median(&mut ours), median(&mut plain));
    println!(
        "slurmctld's time for one submission: {ours} us with Sluice, {plain} us without, ratio of submissions a \
         second {:.3}; resident at start {before_with} KiB with, {before_without} KiB without ({} KiB added)",
        plain as f64 / ours as f64,
        before_with.saturating_sub(before_without)
    );
    assert!(ours <= plain * 2 + 500, "Sluice more than doubles what a submission costs");
}

/// Microseconds of a batch submission, by `sdiag`.
fn average(text: &str) -> u64 {
    let line = text.lines().find(|l| l.contains("REQUEST_SUBMIT_BATCH_JOB"));
    let number = |l: &str| l.split("ave_time:").nth(1)?.split_whitespace().next()?.parse().ok();
    line.and_then(number).unwrap_or_else(|| panic!("no submissions in sdiag:\n{text}"))
}
