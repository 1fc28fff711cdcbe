//! A first policy for a cluster: its partitions and QoS as facts, rules in audit mode.
//!
//! What the nodes of a partition do not agree on is not stated: unknown is better than wrong.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Live, Node, Partition};
use crate::request::TimeLimit;
use crate::request::memory::Mb;
use crate::request::time::Minutes;
use crate::rules;

/// Rules that every cluster has a use for; the others are named, and off.
const USUAL: [&str; 6] =
    ["gpu-request", "exclusive", "cpus-per-gpu", "memory-per-gpu", "time-limit", "array-logs"];

/// The text of a policy for `live`.
pub fn draft(live: &Live) -> String {
    let mut text = String::from(
        "# A first policy, written by `sluice init` from what the cluster says of itself.\n\
         # It refuses nothing: in audit mode every decision is only recorded. Read on, correct what is\n\
         # wrong, look at what it would have done (`sluice replay`), then turn to \"warn\" and \"enforce\".\n\
         schema = 1\n\n[site]\n",
    );
    row(
        &mut text,
        &format!("name = {}", quoted(live.name.as_deref().unwrap_or("This cluster"))),
        "begins every message",
    );
    row(&mut text, "# docs = \"https://docs.example.org/slurm\"", "ends every refusal");
    row(&mut text, "# contact = \"hpc-help@example.org\"", "ends every refusal");
    row(&mut text, "mode = \"audit\"", "\"off\" < \"audit\" < \"warn\" < \"enforce\"");
    text.push_str("\n# ---- Partitions, as scontrol shows them and their nodes.\n");
    for partition in &live.partitions {
        let nodes: Vec<&Node> = live.nodes_of(&partition.name).collect();
        facts(&mut text, partition, &nodes);
    }
    quality(&mut text, live);
    text.push_str("\n# ---- Rules: `sluice explain RULE` says what each holds, and why.\n");
    for rule in rules::ALL {
        let first = rule.explanation.lines().next().unwrap_or("").trim();
        let off = if USUAL.contains(&rule.name) { "" } else { "# " };
        row(&mut text, &format!("{off}[rule.{}]", rule.name), first);
    }
    text
}

fn facts(text: &mut String, partition: &Partition, nodes: &[&Node]) {
    let _ = writeln!(text, "\n[partition.{}]", key(&partition.name));
    if partition.default {
        row(text, "default = true", "where jobs go that name no partition");
    }
    let gpus = same(nodes, |node| node.gpu_count());
    let cpus = same(nodes, |node| node.cpus);
    let memory = memory(nodes);
    gpu_types(text, nodes);
    number(text, "gpus_per_node", nodes, |node| node.gpu_count(), gpus.filter(|n| *n > 0));
    number(text, "cpus_per_node", nodes, |node| node.cpus, cpus);
    match memory {
        Some(mb) => row(text, &format!("memory_per_node = {}", gigabytes(mb)), ""),
        None => number(text, "memory_per_node", nodes, |node| node.memory, None),
    }
    if let Some(gpus) = gpus.filter(|n| *n > 0 && !partition.whole_node) {
        shares(text, partition, gpus, cpus, memory);
    }
    if let TimeLimit::Minutes(minutes) = partition.max_time {
        row(text, &format!("max_time = {}", quoted(&Minutes(minutes).to_string())), "");
    }
    if partition.whole_node {
        row(text, "whole_node = true", "OverSubscribe=EXCLUSIVE");
    }
    if partition.preemptible {
        row(text, "preemptible = true", "PreemptMode is not OFF");
    }
    if let Some(accounts) = &partition.allow_accounts {
        let owner = format!("# owner = {{ accounts = {} }}", list(accounts));
        row(text, &owner, "AllowAccounts: is it theirs, and lent to others ...");
        let qos = partition.allow_qos.as_deref().unwrap_or(&[]);
        row(text, &format!("# lent_qos = {}", list(qos)), "... under one of these QoS?");
    }
}

/// What each GPU brings: an equal share of its node, or what Slurm gives already.
fn shares(text: &mut String, partition: &Partition, gpus: u64, cpus: Option<u64>, memory: Option<u64>) {
    let share = |all: Option<u64>| all.and_then(|n| n.checked_div(gpus)).filter(|n| *n > 0);
    if let Some(max) = share(cpus) {
        let default = partition.cpus_per_gpu.filter(|n| *n > 0).unwrap_or(max).min(max);
        let line = format!("cpus_per_gpu = {{ default = {default}, max = {max} }}");
        row(text, &line, "at most an equal share of the node");
    }
    if let Some(max) = share(memory) {
        let default = partition.memory_per_gpu.filter(|n| *n > 0).unwrap_or(max).min(max);
        let (default, max) = (gigabytes(default), gigabytes(max));
        let line = format!("memory_per_gpu = {{ default = {default}, max = {max} }}");
        row(text, &line, "likewise");
    }
}

fn gpu_types(text: &mut String, nodes: &[&Node]) {
    let types: BTreeSet<&str> = nodes.iter().flat_map(|n| &n.gpus).map(|(kind, _)| kind.as_str()).collect();
    if nodes.is_empty() || types.contains("") {
        row(
            text,
            "# gpu_types = []",
            if nodes.is_empty() { "it has no nodes" } else { "Gres names no type" },
        );
        return;
    }
    let types: Vec<String> = types.into_iter().map(str::to_owned).collect();
    row(text, &format!("gpu_types = {}", list(&types)), if types.is_empty() { "no GPUs" } else { "" });
}

/// A number that all nodes have; where they differ, what they have.
fn number(text: &mut String, key: &str, nodes: &[&Node], of: impl Fn(&Node) -> u64, value: Option<u64>) {
    let all: BTreeSet<u64> = nodes.iter().map(|n| of(n)).collect();
    match value {
        Some(n) => row(text, &format!("{key} = {n}"), ""),
        None if all.len() > 1 => {
            let all: Vec<String> = all.iter().map(u64::to_string).collect();
            row(text, &format!("# {key}"), &format!("its nodes differ: {}", all.join(", ")));
        }
        None => {}
    }
}

fn quality(text: &mut String, live: &Live) {
    let Some(all) = live.qos.as_ref().filter(|all| !all.is_empty()) else { return };
    text.push_str("\n# ---- QoS, as sacctmgr shows them.\n");
    for qos in all {
        let _ = writeln!(text, "\n[qos.{}]", key(&qos.name));
        let preempted_by: Vec<&str> = all
            .iter()
            .filter(|other| other.preempts.iter().any(|name| name.eq_ignore_ascii_case(&qos.name)))
            .map(|other| other.name.as_str())
            .collect();
        if !preempted_by.is_empty() {
            row(text, "preemptible = true", &format!("by {}", preempted_by.join(", ")));
        }
        if let TimeLimit::Minutes(minutes) = qos.max_time {
            row(text, &format!("max_time = {}", quoted(&Minutes(minutes).to_string())), "");
            if minutes <= 120 {
                row(text, "# short = true", "is it the place for probes and tests?");
            }
        }
    }
}

/// The number that all nodes have.
fn same(nodes: &[&Node], of: impl Fn(&Node) -> u64) -> Option<u64> {
    let first = nodes.first().map(|n| of(n))?;
    nodes.iter().all(|n| of(n) == first).then_some(first)
}

/// The memory of the smallest node, where the largest has little more: nodes of one kind are rarely
/// the same to the last MB.
fn memory(nodes: &[&Node]) -> Option<u64> {
    let all = || nodes.iter().map(|node| node.memory);
    let (least, most) = (all().min()?, all().max()?);
    (least > 0 && most.saturating_sub(least) <= most / 10).then_some(least)
}

/// MB as people write it: whole gigabytes, rounded down.
fn gigabytes(mb: u64) -> String {
    let whole = if mb >= 10 << 10 { mb.saturating_sub(mb % (1 << 10)) } else { mb };
    quoted(&Mb(whole).to_string())
}

/// A line with its comment.
fn row(text: &mut String, line: &str, comment: &str) {
    let _ = match comment {
        "" => writeln!(text, "{line}"),
        comment => writeln!(text, "{line:<31} # {comment}"),
    };
}

/// A key of a table, in quotes where it has to be.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    let escape = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => " ".to_owned(),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

fn list(names: &[String]) -> String {
    format!("[{}]", names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::{accounts, compare, nodes, partitions, qos};
    use super::*;
    use crate::date::Date;
    use crate::policy::load::load;
    use crate::policy::resolve::NoDirectory;
    use crate::policy::{Loaded, Mode};

    const TODAY: Date = Date { year: 2026, month: 11, day: 30 };

    fn live() -> Live {
        Live {
            name: Some("lab".to_owned()),
            partitions: partitions(
                include_str!("../../tests/vectors/scontrol-partitions-22.05.8.txt"),
                "PreemptType = preempt/partition_prio",
            ),
            nodes: nodes(include_str!("../../tests/vectors/scontrol-nodes-22.05.8.txt")),
            qos: Some(qos("normal|scavenger|\nscavenger||1-00:00:00\ndebug||30:00\nodd.name||\n")),
            accounts: Some(accounts("root\nphysics\n")),
        }
    }

    fn loaded(text: &str) -> Loaded {
        load("sluice.toml", text, &NoDirectory, TODAY).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    #[test]
    fn a_draft_is_valid_and_fits_its_cluster() {
        let text = draft(&live());
        let Loaded { policy, doubts } = loaded(&text);
        assert_eq!(doubts, [], "{text}");
        assert_eq!(compare("sluice.toml", &text, &policy, &live()), [], "{text}");
        assert_eq!((policy.site.name.as_str(), policy.site.mode), ("lab", Mode::Audit));
        assert_eq!(policy.facts.default_partition.as_deref(), Some("gpu"));
        let gpu = policy.facts.partition("gpu");
        assert_eq!((gpu.node().gpus, gpu.node().cpus, gpu.node().memory), (Some(4), Some(64), Some(512_000)));
        assert_eq!(gpu.cpus_per_gpu().and_then(|n| n.default.zip(n.max)), Some((4, 16)));
        assert!(policy.facts.partition("phys-h100").preemptible());
        let mixed = policy.facts.partition("empty");
        assert_eq!((mixed.node().gpus, mixed.node().cpus), (None, None));
        let names: Vec<&str> = policy.rules.iter().map(|set| set.info.name).collect();
        assert!(USUAL.iter().all(|name| names.contains(name)) && names.len() == USUAL.len(), "{names:?}");
        // Every rule that is off can be switched on as it stands, but for the one that needs keys.
        loaded(&text.replace("# [rule.lineage]", "").replace("# [rule.", "[rule."));
    }

    #[test]
    fn names_of_any_kind_are_written_as_they_are() {
        let odd = |name: &str| Partition { name: name.to_owned(), ..live().partitions[1].clone() };
        let live = Live {
            partitions: ["a.b", "a b", "q\"q", "b\\s"].iter().map(|name| odd(name)).collect(),
            ..Live::default()
        };
        let policy = loaded(&draft(&live)).policy;
        assert!(live.partitions.iter().all(|p| policy.facts.partition(&p.name).is_known()));
    }

    #[test]
    fn gpus_without_a_type_are_counted_and_not_named() {
        let live = Live {
            partitions: partitions("PartitionName=a Default=NO MaxTime=UNLIMITED", ""),
            nodes: nodes("NodeName=n CPUTot=8 RealMemory=1000 Gres=gpu:2 Partitions=a"),
            ..Live::default()
        };
        let policy = loaded(&draft(&live)).policy;
        let facts = policy.facts.partition("a");
        assert_eq!((facts.gpu_types(), facts.node().gpus), (None, Some(2)));
    }
}
