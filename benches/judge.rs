//! What one decision costs: a plain accept, an edit, and refusals, against the built-in example policy;
//! and what the most costly requests cost, against one with every rule and many limits.
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

const REFUSED: &str = "sbatch -p gpu --exclusive --gpus=4 -c 64 --mem=0 -t 60 --array=0-9 -o x job.sh";

/// Every rule and a limit on everything; `limits` more, of which a request like [`REFUSED`] keeps none.
fn hard(limits: u32) -> String {
    let mut text = include_str!("../fuzz/all-rules.toml").to_owned();
    for i in 0..limits {
        let key = ["max_gpus", "max_cpus", "max_tasks", "min_nodes", "array_max"]
            .get(i as usize % 5)
            .copied()
            .unwrap_or_default();
        let value = if key == "min_nodes" { 100 + i } else { 1 };
        text += &format!("\n[[limit]]\nname = \"hard-{i}\"\n{key} = {value}\n");
    }
    text
}

fn letter(i: u8) -> char {
    char::from(b'a' + i)
}

fn main() {
    let eight = REFUSED.replace("-p gpu", "-p gpu,cpu,lent-a,lent-b,lent-c,lent-d,lent-e,lent-f");
    let nine = eight.replace("lent-f", "lent-f,lent-g");
    // As many as the longest text has room for.
    let names: Vec<String> =
        (0..340_u16).map(|i| format!("{}{}", letter((i / 26) as u8), letter((i % 26) as u8))).collect();
    let many = REFUSED.replace("-p gpu", &format!("-p {}", names.join(",")));
    let jobs: Vec<String> = (1_000_000..1_016_000).map(|id| id.to_string()).collect();
    let dependency = format!("sbatch -p cpu -t 60 --dependency=afterok:{} job.sh", jobs.join(":"));
    let both = dependency.replace("-p cpu", &format!("-p {}", names.join(",")));
    let indices: Vec<String> = (0..1000).map(|i| (2 * i).to_string()).collect();
    let array = format!("sbatch -p cpu -t 60 --array={} job.sh", indices.join(",").get(..4000).unwrap());
    let path = format!("sbatch -p cpu -t 60 --array=0-9 -o {} job.sh", "/%j".repeat(1360));
    for (what, text, line, calls) in [
        ("plain accept, no GPUs", EXAMPLE.to_owned(), "sbatch -p cpu -t 60 job.sh", 5_000_u32),
        (
            "plain accept, GPUs",
            EXAMPLE.to_owned(),
            "sbatch -p gpu --gpus=1 --cpus-per-gpu=4 --mem-per-gpu=60G -t 60 job.sh",
            5_000,
        ),
        ("accept with edits", EXAMPLE.to_owned(), "sbatch -p gpu --gpus=1 -t 60 job.sh", 5_000),
        (
            "refusal, 1 finding",
            EXAMPLE.to_owned(),
            "sbatch -p gpu --gpus=1 -c 32 --mem-per-gpu=60G -t 60 job.sh",
            5_000,
        ),
        ("refusal, 4 findings", EXAMPLE.to_owned(), REFUSED, 5_000),
        ("refusal, every rule", hard(0), REFUSED, 500),
        ("the same, 100 limits", hard(100), REFUSED, 50),
        ("the same, 8 partitions", hard(100), &eight, 5),
        ("the same, 9 partitions", hard(100), &nine, 5),
        ("the same, 1000 limits", hard(1000), &eight, 1),
        ("4 findings, 340 partitions", EXAMPLE.to_owned(), &many, 5),
        ("dependency of 128 KiB", hard(0), &dependency, 5),
        ("and 340 partitions", hard(0), &both, 1),
        ("array text of 4 KiB", hard(0), &array, 50),
        ("output path of 4 KiB", hard(0), &path, 50),
    ] {
        let policy = load("bench", &text, &NoDirectory, TODAY).unwrap().policy;
        let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let world = World { environment: &|_| None, directory: "/home/u", user_id: 1001, group_id: 1001 };
        let script = Script { path: "/home/u/job.sh", text: "#!/bin/sh\n" };
        let read = CommandLine::new(Command::Sbatch, Series::V24_11, &argv, &[]).read(&world, Some(script));
        let request = &read.components.first().unwrap().request;
        let findings = judge(&policy, request, &UnknownCluster, TODAY).findings.len();
        let mut rounds: Vec<u128> = (0..9)
            .map(|_| {
                let start = Instant::now();
                for _ in 0..calls {
                    let _ = black_box(judge(&policy, black_box(request), &UnknownCluster, TODAY));
                }
                start.elapsed().as_nanos() / u128::from(calls)
            })
            .collect();
        rounds.sort_unstable();
        println!("{what:26} {:>10} ns  ({findings} findings)", rounds.get(4).unwrap());
    }
}
