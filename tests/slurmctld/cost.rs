//! What the plugin in plugstack.conf costs: `make bench-spank`. Not among the tests, for a busy machine
//! measures itself.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::Case;
use crate::shared::Shared;
use crate::support::Requirement::Controller;
use crate::support::{Cluster, until};

pub const CASES: &[Case] = &[("what the plugin in plugstack.conf costs", Controller, cost)];

/// Pairs of runs, one with and one without the plugin.
const PAIRS: usize = 200;
/// The most that a client may take longer.
const CLIENT: Duration = Duration::from_millis(3);

fn cost(_: &Shared) {
    let cluster = crate::spank::builder().start();
    let line = std::fs::read_to_string(cluster.path().join("plugstack.conf")).expect("plugstack.conf");
    println!("\nmedians of {PAIRS} pairs of runs, without and with the plugin in plugstack.conf");
    for command in ["sbatch --help", "srun --help", "sbatch --test-only -n1 --wrap=true"] {
        let (mut without, mut with, mut more) = (Vec::new(), Vec::new(), Vec::new());
        for pair in 0..PAIRS {
            // Neither is always the first.
            let first = run(&cluster, if pair % 2 == 0 { "" } else { &line }, command);
            let second = run(&cluster, if pair % 2 == 0 { &line } else { "" }, command);
            let (plain, loaded) = if pair % 2 == 0 { (first, second) } else { (second, first) };
            without.push(plain);
            with.push(loaded);
            more.push(loaded - plain);
        }
        let more = median(&mut more);
        println!(
            "{command}: {:.2} ms, {:.2} ms, difference {more:.2} ms",
            median(&mut without),
            median(&mut with)
        );
        assert!(more < CLIENT.as_secs_f64() * 1e3, "{command} takes {more:.2} ms longer");
    }
    for (what, text) in [("without", ""), ("with", line.as_str())] {
        plugstack(&cluster, text);
        let (all, own) = stepd(&cluster);
        println!("slurmstepd {what}: {all} kB resident, {own} kB of it its own");
    }
}

fn plugstack(cluster: &Cluster, text: &str) {
    std::fs::write(cluster.path().join("plugstack.conf"), text).expect("it can be written");
}

/// Milliseconds.
fn run(cluster: &Cluster, plugins: &str, command: &str) -> f64 {
    plugstack(cluster, plugins);
    let mut words = command.split(' ');
    let mut command = std::process::Command::new(words.next().unwrap_or_default());
    command.args(words).env("SLURM_CONF", cluster.path().join("slurm.conf"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begin = Instant::now();
    let status = command.status().expect("Slurm's commands are there");
    let took = begin.elapsed().as_secs_f64() * 1e3;
    assert!(status.success());
    took
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Memory of the slurmstepd of a batch job: all that is resident, and what is not shared with others.
fn stepd(cluster: &Cluster) -> (u64, u64) {
    cluster.file_for_everyone(
        "parent.sh",
        "#!/bin/sh\necho $PPID >parent.new; mv parent.new parent; sleep 20\n",
    );
    let output = cluster.user("games", "rm -f parent; sbatch -o /dev/null parent.sh").run().accepted();
    let parent = cluster.home("games").join("parent");
    assert!(until(Duration::from_secs(20), || parent.exists()), "{output}");
    let pid = std::fs::read_to_string(parent).expect("it is there");
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.trim())).expect("it runs");
    assert!(status.starts_with("Name:\tslurmstepd"), "{status}");
    let kilobytes = |key: &str| {
        let line = status.lines().find_map(|l| l.strip_prefix(key)).unwrap_or_default();
        line.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0)
    };
    cluster.root("scancel -u games").run().accepted();
    (kilobytes("VmRSS:"), kilobytes("RssAnon:"))
}
