//! What one decision costs: a plain accept, an edit, and refusals, against the built-in example policy.
//! `cargo bench --bench judge` prints nanoseconds per decision, the median of nine rounds.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench reports and fails loudly"
)]

use std::hint::black_box;
use std::time::Instant;

use sluice::cluster::UnknownCluster;
use sluice::date::Date;
use sluice::judge::judge;
use sluice::policy::EXAMPLE;
use sluice::policy::load::load;
use sluice::policy::resolve::NoDirectory;
use sluice::submit_line::{Command, CommandLine, Script, Series, World};

const TODAY: Date = Date { year: 2026, month: 11, day: 30 };

fn main() {
    let policy = load("example", EXAMPLE, &NoDirectory, TODAY).unwrap().policy;
    for (what, line) in [
        ("plain accept, no GPUs", "sbatch -p cpu -t 60 job.sh"),
        ("plain accept, GPUs", "sbatch -p gpu --gpus=1 --cpus-per-gpu=4 --mem-per-gpu=60G -t 60 job.sh"),
        ("accept with edits", "sbatch -p gpu --gpus=1 -t 60 job.sh"),
        ("refusal, 1 finding", "sbatch -p gpu --gpus=1 -c 32 --mem-per-gpu=60G -t 60 job.sh"),
        (
            "refusal, 4 findings",
            "sbatch -p gpu --exclusive --gpus=4 -c 64 --mem=0 -t 60 --array=0-9 -o x job.sh",
        ),
    ] {
        let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let world = World { environment: &|_| None, directory: "/home/u", user_id: 1001, group_id: 1001 };
        let script = Script { path: "/home/u/job.sh", text: "#!/bin/sh\n" };
        let read = CommandLine::new(Command::Sbatch, Series::V24_11, &argv, &[]).read(&world, Some(script));
        let request = &read.components.first().unwrap().request;
        let findings = judge(&policy, request, &UnknownCluster, TODAY).findings.len();
        let mut rounds: Vec<u128> = (0..9)
            .map(|_| {
                let start = Instant::now();
                for _ in 0..5_000 {
                    let _ = black_box(judge(&policy, black_box(request), &UnknownCluster, TODAY));
                }
                start.elapsed().as_nanos() / 5_000
            })
            .collect();
        rounds.sort_unstable();
        println!("{what:24} {:>8} ns  ({findings} findings)", rounds.get(4).unwrap());
    }
}
