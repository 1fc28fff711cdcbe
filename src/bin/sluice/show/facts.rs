//! What a policy says of partitions, GPU types and QoS.

use serde_json::{Value, json};
use sluice::policy::facts::{self, Partition};
use sluice::policy::{PerGpu, Policy};
use sluice::request::TimeLimit;
use sluice::request::memory::Mb;
use sluice::request::time::Minutes;

use crate::output::{Style, line, styled};

/// Prints all facts, or those of one partition.
pub fn print(policy: &Policy, only: Option<&str>, written: &Value) {
    let names = names(only, written, "partition");
    if !names.is_empty() {
        line("");
        line(&styled(Style::Bold, if only.is_some() { "Partition" } else { "Partitions" }));
    }
    for name in &names {
        let default = policy.facts.default_partition.as_deref() == Some(name.as_str());
        line(&format!("  {name}{}", if default { " (where jobs go that name none)" } else { "" }));
        let facts = policy.facts.partition(name);
        let lines = partition(&facts, name, written);
        if lines.is_empty() {
            line("    the policy says nothing of it");
        }
        lines.iter().for_each(|text| line(&format!("    {text}")));
    }
    list("GPU types", gpus(policy, only, written));
    let qos = self::names(None, written, "qos").into_iter().map(|name| {
        let layers = policy.facts.qos.get(&name);
        let mut parts = Vec::new();
        parts
            .extend(facts::first(&layers, |q| q.max_time).map(|t| format!("time limit at most {}", time(t))));
        if facts::first(&layers, |q| q.preemptible) == Some(true) {
            parts.push("its jobs may be preempted".to_owned());
        }
        if facts::first(&layers, |q| q.short) == Some(true) {
            parts.push("the place for probes and tests".to_owned());
        }
        (name, parts.join("; "))
    });
    list("QoS", qos.collect());
}

/// What each GPU type brings, or those of one partition.
pub fn gpus(policy: &Policy, only: Option<&str>, written: &Value) -> Vec<(String, String)> {
    let kinds: Option<&[String]> = only.and_then(|p| policy.facts.partition(p).gpu_types());
    let of_partition = |kind: &String| only.is_none() || kinds.is_some_and(|all| all.contains(kind));
    let gpus = names(None, written, "gpu").into_iter().filter(of_partition).map(|kind| {
        let layers = policy.facts.gpus.get(&kind);
        let cpus = facts::first(&layers, |g| g.cpus_per_gpu);
        let memory = facts::first(&layers, |g| g.memory_per_gpu);
        (kind, for_each_gpu(cpus, memory).unwrap_or_default())
    });
    gpus.collect()
}

fn list(heading: &str, items: Vec<(String, String)>) {
    if items.is_empty() {
        return;
    }
    line("");
    line(&styled(Style::Bold, heading));
    for (name, what) in items {
        line(format!("  {name}: {what}").trim_end_matches([' ', ':']));
    }
}

/// The tables of a kind by name, or the one that is asked for.
pub fn names(only: Option<&str>, written: &Value, kind: &str) -> Vec<String> {
    match only {
        Some(name) => vec![name.to_owned()],
        None => {
            let tables = written.get(kind).and_then(Value::as_object);
            tables.into_iter().flatten().map(|(name, _)| name.clone()).collect()
        }
    }
}

/// What the policy says of a partition, a line each.
pub fn partition(facts: &Partition<'_>, name: &str, written: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let node = facts.node();
    let types = facts.gpu_types();
    let gpus = match (types, node.gpus) {
        (Some([]), _) | (_, Some(0)) => Some("no GPUs".to_owned()),
        (Some(types), Some(n)) => Some(format!("{n} GPUs ({})", types.join(", "))),
        (Some(types), None) => Some(format!("GPUs ({})", types.join(", "))),
        (None, Some(n)) => Some(format!("{n} GPUs")),
        (None, None) => None,
    };
    let cpus = node.cpus.map(|n| format!("{n} CPUs"));
    let memory = node.memory.map(|mb| Mb(mb).to_string());
    let each: Vec<String> = [gpus, cpus, memory].into_iter().flatten().collect();
    if !each.is_empty() {
        lines.push(format!("each node: {}", each.join(", ")));
    }
    lines.extend(
        for_each_gpu(facts.cpus_per_gpu(), facts.memory_per_gpu()).map(|text| format!("each GPU: {text}")),
    );
    lines.extend(facts.max_time().map(|limit| format!("time limit: at most {}", time(limit))));
    if facts.whole_node() {
        lines.push("jobs get whole nodes anyhow".to_owned());
    }
    if facts.owner().is_some() {
        let lent =
            facts.lent_qos().map(|names| names.iter().map(|g| g.as_str()).collect::<Vec<_>>().join(", "));
        let others = match lent {
            Some(names) if !names.is_empty() => format!("everyone else runs under QoS {names}"),
            _ => "everyone else is kept out".to_owned(),
        };
        lines.push(format!("belongs to {}; {others}", owner(name, written)));
    }
    if facts.preemptible() {
        let others = if facts.owner().is_some() { "guests' jobs" } else { "its jobs" };
        lines.push(format!("{others} may be preempted"));
    }
    lines
}

/// The owner as written: in the partition's own table, else in the first that has any.
fn owner(name: &str, written: &Value) -> String {
    let tables = written.get("partition").and_then(Value::as_object);
    let own = tables.and_then(|t| t.get(name)).and_then(|t| t.get("owner"));
    let globbed = || {
        let all = tables.into_iter().flatten();
        let glob = |pattern: &str| sluice::policy::glob::Glob::new(pattern).ok();
        all.filter(|(pattern, _)| glob(pattern).is_some_and(|g| g.matches(name, false)))
            .find_map(|(_, table)| table.get("owner"))
    };
    own.or_else(globbed).and_then(Value::as_object).map(super::words::whom).unwrap_or_default()
}

fn for_each_gpu(cpus: Option<PerGpu>, memory: Option<PerGpu>) -> Option<String> {
    let cpus = cpus.map(|n| per_gpu(n, |n| if n == 1 { "1 CPU".to_owned() } else { format!("{n} CPUs") }));
    let memory = memory.map(|n| per_gpu(n, |mb| Mb(mb).to_string()));
    let parts: Vec<String> = [cpus, memory].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn per_gpu(numbers: PerGpu, show: impl Fn(u64) -> String) -> String {
    match (numbers.default, numbers.max) {
        (Some(n), _) if numbers.exact => format!("just {}", show(n)),
        (Some(default), Some(max)) if default == max => format!("{}, and no more", show(max)),
        (Some(default), Some(max)) => format!("{} unless asked for, at most {}", show(default), show(max)),
        (Some(default), None) => format!("{} unless asked for", show(default)),
        (None, Some(max)) => format!("at most {}", show(max)),
        (None, None) => "nothing".to_owned(),
    }
}

/// A time limit as Slurm writes it.
pub fn time(limit: TimeLimit) -> String {
    match limit {
        TimeLimit::Minutes(minutes) => Minutes(minutes).to_string(),
        TimeLimit::Unlimited | TimeLimit::Unset => "UNLIMITED".to_owned(),
    }
}

/// The merged facts by partition, for programs.
pub fn json(policy: &Policy, only: Option<&str>, written: &Value) -> Value {
    let one = |name: String| {
        let facts = policy.facts.partition(&name);
        let node = facts.node();
        let per_gpu = |n: PerGpu| json!({ "default": n.default, "max": n.max, "exact": n.exact });
        let value = json!({
            "default": policy.facts.default_partition.as_deref() == Some(name.as_str()),
            "gpu_types": facts.gpu_types(),
            "gpus_per_node": node.gpus,
            "cpus_per_node": node.cpus,
            "memory_per_node_mb": node.memory,
            "cpus_per_gpu": facts.cpus_per_gpu().map(per_gpu),
            "memory_per_gpu_mb": facts.memory_per_gpu().map(per_gpu),
            "max_time": facts.max_time().map(time),
            "whole_node": facts.whole_node(),
            "preemptible": facts.preemptible(),
            "words": partition(&facts, &name, written),
        });
        (name, value)
    };
    Value::Object(names(only, written, "partition").into_iter().map(one).collect())
}
