//! What a message tells people to type is right: each remedy, typed, makes its finding go away and
//! brings no other. Random command lines, three policies, every remedy of every finding.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by a panic"
)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use sluice::cluster::Cluster as _;
use sluice::date::Date;
use sluice::judge::judge;
use sluice::policy::Policy;
use sluice::policy::load::load;
use sluice::policy_test::{KnownCluster, TODAY};
use sluice::request::Request;
use sluice::submit_line::{Command, CommandLine, Script, Series, World};
use sluice::verdict::{Finding, Place, Remedy, Verdict};

const DAY: Date = TODAY;

/// Rules of all kinds on shared, mixed, whole-node, CPU and lent partitions.
const UNIVERSITY: &str = r#"
schema = 1
[site]
name = "University"
[partition.gpu]
default = true
gpu_types = ["a100"]
gpus_per_node = 4
cpus_per_node = 64
memory_per_node = "512G"
cpus_per_gpu = { default = 4, max = 8 }
memory_per_gpu = { default = "60G", max = "120G" }
max_time = "2-00:00:00"
[partition.mixed]
gpu_types = ["a100", "h100"]
gpus_per_node = 8
cpus_per_gpu = { default = 6, max = 12 }
memory_per_gpu = "64G"
max_time = "1-00:00:00"
[partition.cpu]
gpu_types = []
cpus_per_node = 128
memory_per_node = "256G"
max_time = "UNLIMITED"
[partition.whole]
whole_node = true
gpu_types = ["a100"]
gpus_per_node = 4
[partition.lent]
gpu_types = ["h100"]
gpus_per_node = 8
owner = { accounts = ["physics"] }
lent_qos = ["scavenger"]
[gpu.h100]
cpus_per_gpu = { default = 8, max = 14 }
memory_per_gpu = { default = "100G", max = "200G" }
[qos.scavenger]
preemptible = true
max_time = "12:00:00"
[qos.debug]
short = true
max_time = "30"
[rule.qos-entitlement]
[rule.gpu-request]
typed = true
[rule.explicit-shape]
require = ["nodes", "time", "partition"]
[rule.exclusive]
[rule.cpus-per-gpu]
[rule.memory-per-gpu]
headroom = "16G"
[rule.time-limit]
[rule.array-logs]
[rule.array-size]
max_tasks = 1000
throttle_from = 100
[rule.preemptible]
[rule.short-job]
[rule.dependency]
[rule.lineage]
keys = ["commit"]
when = { kind = ["array"] }
[[limit]]
name = "two-gpus-32-cpus"
when = { gpus = 2 }
max_cpus = 32
max_memory = "300G"
[[limit]]
name = "few-nodes"
max_nodes = 4
[[limit]]
name = "no-mem-0"
when = { not = { account = ["physics"] } }
forbid = ["mem=0", "core-spec"]
[[limit]]
name = "qos-on-mixed"
when = { partition = ["mixed"] }
allow_qos = ["normal", "scavenger"]
require = ["account"]
"#;

/// Just so many CPUs and so much memory for each GPU, and few facts besides.
const EXACT: &str = r#"
schema = 1
[site]
name = "Exact"
[partition."*"]
cpus_per_gpu = { exact = 6 }
memory_per_gpu = { exact = "48G" }
[partition.gpu]
default = true
gpus_per_node = 4
[partition.mixed]
gpu_types = ["a100", "h100"]
[gpu.h100]
cpus_per_gpu = { exact = 14 }
[partition.cpu]
gpus_per_node = 0
[rule.gpu-request]
[rule.explicit-shape]
[rule.exclusive]
allow = ["user"]
[rule.cpus-per-gpu]
mode = "warn"
[rule.memory-per-gpu]
[rule.time-limit]
required = false
[rule.array-logs]
accept = ["%j"]
[rule.array-size]
max_running = 20
[[limit]]
name = "small"
max_gpus = 4
max_time = "1-00:00:00"
max_memory_per_cpu = "16G"
array_max = 100
"#;

/// Maxima without defaults, no types, headroom.
const LOOSE: &str = r#"
schema = 1
[site]
name = "Loose"
mode = "warn"
[partition.gpu]
default = true
gpus_per_node = 2
cpus_per_node = 32
memory_per_node = "128G"
cpus_per_gpu = { max = 16 }
memory_per_gpu = { max = "64G" }
[partition.lent]
owner = { accounts = ["physics"] }
lent_qos = ["scavenger", "debug"]
[partition.cpu]
gpu_types = []
[rule.qos-entitlement]
[rule.gpu-request]
[rule.explicit-shape]
require = ["account", "qos", "ntasks", "mem"]
[rule.exclusive]
allow = ["mem=0"]
[rule.cpus-per-gpu]
[rule.memory-per-gpu]
headroom = "8G"
[rule.time-limit]
[rule.array-logs]
[rule.array-size]
throttle_from = 10
max_running = 4
"#;

const CLUSTER: &str = r#"
arrays = [4711]
reservations = { maint = "cpu" }
[users.alice]
uid = 1001
accounts = ["bio", "physics"]
default_account = "bio"
default_qos = "normal"
qos = ["normal", "scavenger", "debug"]
"#;

/// Options with the values that are tried. An empty value is a flag without one.
const OPTIONS: &[(&str, &[&str])] = &[
    (
        "partition",
        &[
            "gpu",
            "mixed",
            "cpu",
            "whole",
            "lent",
            "gpu,cpu",
            "gpu,mixed",
            "gpu,lent",
            "mixed,cpu,lent",
            "other",
        ],
    ),
    ("gpus", &["0", "1", "2", "4", "8", "a100:1", "a100:4", "h100:2", "v100:1", "a100:1,h100:1"]),
    ("gpus-per-node", &["0", "1", "4", "a100:2", "h100:1", "v100:4"]),
    ("gres", &["gpu", "gpu:0", "gpu:2", "gpu:a100:1", "gpu:v100:1", "nvme:1", "nvme:1,gpu:2", "shard:1"]),
    ("gpus-per-task", &["0", "1", "2", "a100:1"]),
    ("tres-per-task", &["gres/gpu:1", "gres/gpu:h100:1"]),
    ("gpus-per-socket", &["1", "2"]),
    ("sockets-per-node", &["1", "2"]),
    ("nodes", &["1", "2", "1-4", "8"]),
    ("ntasks", &["1", "2", "3", "4", "16", "64"]),
    ("ntasks-per-node", &["1", "2", "4", "32"]),
    ("ntasks-per-gpu", &["1", "4"]),
    ("cpus-per-task", &["1", "2", "6", "16", "64", "128"]),
    ("cpus-per-gpu", &["2", "6", "8", "14", "16", "32"]),
    ("mincpus", &["8", "40", "64"]),
    ("mem", &["0", "1G", "48G", "100G", "120G", "250G", "500G", "600G"]),
    ("mem-per-cpu", &["0", "1G", "4G", "30G"]),
    ("mem-per-gpu", &["0", "10G", "48G", "64G", "121G", "300G"]),
    ("exclusive", &["", "user", "mcs"]),
    ("core-spec", &["2"]),
    ("overcommit", &[""]),
    ("time", &["0", "UNLIMITED", "20", "1:00:00", "13:00:00", "2-0", "2-00:01:00", "30-0"]),
    ("time-min", &["10", "3-0"]),
    ("qos", &["normal", "scavenger", "high", "scavenger,high", "debug"]),
    ("account", &["bio", "physics", "PHYSICS"]),
    ("reservation", &["maint"]),
    ("array", &["0-3", "0-9%2", "0-99", "0-999%100", "0-1999", "1-500:3%0", "1,3,5-60"]),
    ("output", &["train-%j.out", "logs/%A_%a.out", "out.log", "/dev/null", "o_%a", "a b_%A"]),
    ("error", &["err", "%A_%4a.err"]),
    ("requeue", &[""]),
    ("no-requeue", &[""]),
    ("signal", &["USR1@60", "B:TERM@120"]),
    ("dependency", &["afterok:4711", "afterok:12_3,afterany:4711", "singleton"]),
    ("lineage", &["commit=abc", "seed=1"]),
    ("export", &["NONE", "A=1,B"]),
];

/// A command line: options by long name.
type Line = Vec<(String, String)>;

fn line() -> impl Strategy<Value = Line> {
    let one = prop::sample::select(OPTIONS)
        .prop_flat_map(|(name, values)| (Just(name.to_owned()), prop::sample::select(values)));
    let options = prop::collection::vec(one, 0..9);
    // Most of the time with GPUs on a partition that has some: there is most to go wrong.
    let gpus = prop::option::of(prop::sample::select(
        &[("gpus", "1"), ("gpus", "a100:2"), ("gpus-per-node", "2"), ("gres", "gpu:a100:4"), ("gpus", "4")][..],
    ));
    let partition = prop::option::of(prop::sample::select(&["gpu", "gpu", "mixed", "gpu,mixed"][..]));
    (gpus, partition, options).prop_map(|(gpus, partition, options)| {
        let mut line = Line::new();
        line.extend(partition.map(|p| ("partition".to_owned(), p.to_owned())));
        line.extend(gpus.map(|(name, value)| (name.to_owned(), value.to_owned())));
        for (name, value) in options {
            line.retain(|(n, _)| *n != name);
            line.push((name, value.to_owned()));
        }
        line
    })
}

fn typed(line: &Line) -> Vec<String> {
    let option = |(name, value): &(String, String)| match value.as_str() {
        "" => format!("--{name}"),
        value => format!("--{name}={value}"),
    };
    let words = line.iter().map(option);
    std::iter::once("sbatch".to_owned()).chain(words).chain(["job.sh".to_owned()]).collect()
}

/// What slurmctld would be sent; what the client says where it refuses.
fn read(line: &Line, series: Series) -> Result<Request<'static>, String> {
    let words = typed(line);
    let world = World { environment: &|_| None, directory: "/home/alice", user_id: 1001, group_id: 1001 };
    let script = Script { path: "/home/alice/job.sh", text: "#!/bin/sh\ntrue\n" };
    let submission = CommandLine::new(Command::Sbatch, series, &words, &[]).read(&world, Some(script));
    if let Some(problem) = submission.problems.iter().find(|p| p.refuses()) {
        return Err(problem.message.clone());
    }
    submission.components.into_iter().next().map(|c| c.request).ok_or_else(|| "nothing is sent".to_owned())
}

/// The line with a remedy typed; `None` where it is no option.
fn remedied(line: &Line, remedy: &Remedy) -> Option<Line> {
    let without = |names: &[&str]| -> Line {
        line.iter().filter(|(name, _)| !names.contains(&name.as_str())).cloned().collect()
    };
    match remedy {
        Remedy::Use { option, value, instead_of, .. } => {
            let gone: Vec<&str> = std::iter::once(*option).chain(instead_of.iter().copied()).collect();
            let mut line = without(&gone);
            line.push(((*option).to_owned(), value.clone()));
            Some(line)
        }
        Remedy::Drop { option } => Some(without(&[option])),
        Remedy::DropFromList { option, names } => {
            let left = |value: &str| {
                value.split(',').filter(|n| !names.iter().any(|gone| gone == n)).collect::<Vec<_>>().join(",")
            };
            let change = |(name, value): &(String, String)| match name == option {
                true => (name.clone(), left(value)),
                false => (name.clone(), value.clone()),
            };
            Some(line.iter().map(change).collect())
        }
        Remedy::Change(_) => None,
    }
}

fn place(finding: &Finding) -> Option<&Place> {
    finding.complaint.allowed.as_ref().map(|a| &a.place)
}

fn is_same(a: &Finding, b: &Finding) -> bool {
    a.rule == b.rule && a.complaint.quantity == b.complaint.quantity && place(a) == place(b)
}

/// Whether `after` is one that was there: on the same partitions or on some of them.
fn was_there(after: &Finding, before: &Verdict) -> bool {
    before.findings.iter().any(|known| {
        let within = match (place(after), place(known)) {
            (Some(Place::Partitions(some)), Some(Place::Partitions(all))) => {
                some.iter().all(|p| all.contains(p))
            }
            (a, b) => a == b,
        };
        known.rule == after.rule && known.complaint.quantity == after.complaint.quantity && within
    })
}

/// The client raises `--mincpus` to the CPUs of a task, and nobody sees the smaller number behind it
/// any more: what is typed against the larger one may meet it.
fn hides_a_minimum(line: &Line) -> bool {
    let number =
        |option: &str| line.iter().find(|(n, _)| n == option).and_then(|(_, v)| v.parse::<u32>().ok());
    number("mincpus").zip(number("cpus-per-task")).is_some_and(|(min, task)| min <= task)
}

/// What went wrong, by kind: the shortest line that shows it.
#[derive(Default)]
struct Failures(BTreeMap<String, String>);

impl Failures {
    fn note(&mut self, kind: String, text: String) {
        let known = self.0.entry(kind).or_insert_with(|| text.clone());
        if text.len() < known.len() {
            *known = text;
        }
    }
}

/// Tries every remedy and says how many there were.
fn check(
    policy: &Policy,
    cluster: &KnownCluster,
    line: &Line,
    series: Series,
    failures: &mut Failures,
) -> usize {
    let Ok(request) = read(line, series) else { return 0 };
    if hides_a_minimum(line) {
        return 0;
    }
    let before = judge(policy, &request, cluster, DAY);
    let mut tried = 0;
    for finding in &before.findings {
        for remedy in &finding.complaint.remedies {
            let Some(better) = remedied(line, remedy) else { continue };
            tried += 1;
            let option = match remedy {
                Remedy::Use { option, .. } => format!("use {option}"),
                Remedy::Drop { option } => format!("drop {option}"),
                _ => "drop from list".to_owned(),
            };
            let mut fails = |how: String| {
                let text = format!(
                    "  {}\n  [{}] {}\n  {}\n  {}\n  {how}\n",
                    typed(line).join(" "),
                    finding.rule,
                    finding.complaint.asked,
                    sluice::message::remedy(remedy),
                    typed(&better).join(" ")
                );
                let brings = how.split(']').next().unwrap_or("");
                failures.note(format!("{} {option} {brings}", finding.rule), text);
            };
            match read(&better, series) {
                Err(words) => fails(format!("sbatch refuses it: {words}")),
                Ok(request) => {
                    let after = judge(policy, &request, cluster, DAY);
                    if after.findings.iter().any(|f| is_same(f, finding)) {
                        fails("the finding is still there".to_owned());
                    }
                    if let Some(new) = after.findings.iter().find(|f| !was_there(f, &before)) {
                        fails(format!("brings [{}] {}", new.rule, new.complaint.asked));
                    }
                }
            }
        }
    }
    tried
}

fn policy(text: &str) -> Policy {
    match load("policy", text, &sluice::policy::resolve::NoDirectory, DAY) {
        Ok(loaded) => loaded.policy,
        Err(problems) => panic!("{problems}"),
    }
}

fn cluster(policy: &Policy) -> KnownCluster {
    let cluster: KnownCluster = toml::from_str(CLUSTER).unwrap();
    let cluster = cluster.with_defaults_of(policy);
    assert!(cluster.default_partition().is_some());
    cluster
}

/// Random lines against one policy, over the series of Slurm.
fn holds(text: &str) {
    let policy = policy(text);
    let cluster = cluster(&policy);
    // The same lines each time; REMEDY_LINES=10000 looks for new ones.
    let more: Option<usize> = std::env::var("REMEDY_LINES").ok().and_then(|n| n.parse().ok());
    let lines = more.unwrap_or(1500);
    let series = prop::sample::select(&[Series::V22_05, Series::V24_11, Series::V26_05][..]);
    let strategy = (line(), series);
    let mut runner = if more.is_some() { TestRunner::default() } else { TestRunner::deterministic() };
    let mut failures = Failures::default();
    let mut tried = 0;
    for _ in 0..lines {
        let (line, series) = strategy.new_tree(&mut runner).unwrap().current();
        tried += check(&policy, &cluster, &line, series, &mut failures);
    }
    let texts: Vec<String> = failures.0.into_values().collect();
    assert!(texts.is_empty(), "{} kinds of remedies are wrong\n\n{}", texts.len(), texts.join("\n"));
    assert!(tried > lines / 2, "only {tried} remedies were tried");
}

#[test]
fn remedies_are_right_at_a_university() {
    holds(UNIVERSITY);
}

#[test]
fn remedies_are_right_where_numbers_are_exact() {
    holds(EXACT);
}

#[test]
fn remedies_are_right_where_little_is_said() {
    holds(LOOSE);
}
