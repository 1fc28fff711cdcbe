//! A policy set against the cluster: names that do not exist there, partitions of which the policy
//! says nothing, and facts that the cluster contradicts.

use std::collections::BTreeSet;
use std::ops::Range;

use super::written::{self, Kind, Name};
use super::{Live, Node, Partition};
use crate::policy::Policy;
use crate::policy::diagnostic::{Level, Problem, Source, suggestion};
use crate::policy::glob::Glob;
use crate::request::TimeLimit;
use crate::request::memory::Mb;
use crate::request::time::Minutes;

/// Every doubt, in the order of the text; what has no place in it comes last. `name` is what
/// messages call the policy, `text` what `policy` was loaded from.
pub fn compare(name: &str, text: &str, policy: &Policy, live: &Live) -> Vec<Problem> {
    let names = written::names(text);
    let mut comparison = Comparison { source: Source::new(name, text), text, names, doubts: Vec::new() };
    comparison.names(live);
    for partition in &live.partitions {
        comparison.facts(policy, partition, live);
    }
    let mut doubts = comparison.doubts;
    doubts.sort_by_key(|doubt| doubt.offset);
    let without = live.partitions.iter().filter(|p| !policy.facts.partition(&p.name).is_known());
    let without: Vec<&str> = without.map(|p| p.name.as_str()).collect();
    if !without.is_empty() {
        let message = format!("the policy says nothing of {}", partitions(&without));
        let mut doubt =
            Problem::whole_file(name, message).help("add a table such as [partition.NAME] for each");
        doubt.level = Level::Warning;
        doubts.push(doubt);
    }
    doubts
}

struct Comparison<'t> {
    source: Source<'t>,
    text: &'t str,
    names: Vec<Name>,
    doubts: Vec<Problem>,
}

impl Comparison<'_> {
    /// Names and globs that match nothing on the cluster.
    fn names(&mut self, live: &Live) {
        let partitions: Vec<&str> = live.partitions.iter().map(|p| p.name.as_str()).collect();
        let qos: Option<Vec<&str>> =
            live.qos.as_ref().map(|all| all.iter().map(|q| q.name.as_str()).collect());
        let accounts: Option<Vec<&str>> =
            live.accounts.as_ref().map(|all| all.iter().map(String::as_str).collect());
        for Name { kind, text, span } in &self.names {
            let (noun, known, fold_case) = match kind {
                Kind::Partition => ("partition", Some(&partitions), false),
                Kind::Qos => ("QoS", qos.as_ref(), true),
                Kind::Account => ("account", accounts.as_ref(), true),
            };
            let (Some(known), Ok(glob)) = (known, Glob::new(text)) else { continue };
            if known.iter().any(|name| glob.matches(name, fold_case)) {
                continue;
            }
            let message = match glob.is_literal() {
                true => format!("the cluster has no {noun} `{text}`"),
                false => format!("the cluster has no {noun} that matches `{text}`"),
            };
            let mut doubt = self.source.problem(Level::Warning, span.clone(), message);
            if let Some(meant) = suggestion(text, known.iter().copied()).filter(|_| glob.is_literal()) {
                doubt = doubt.help(format!("did you mean `{meant}`?"));
            }
            self.doubts.push(doubt);
        }
    }

    /// Facts of one partition that its configuration and its nodes contradict.
    fn facts(&mut self, policy: &Policy, partition: &Partition, live: &Live) {
        let facts = policy.facts.partition(&partition.name);
        let stated = facts.node();
        let nodes: Vec<&Node> = live.nodes_of(&partition.name).collect();
        let name = partition.name.as_str();
        if let Some((stated, actual)) = differs(stated.gpus, &nodes, Node::gpu_count) {
            let actual = list(&actual, |n| n.to_string());
            self.doubt(name, "gpus_per_node", format!("is {stated}, and its nodes have {actual}"));
        }
        if let Some((stated, actual)) = differs(stated.cpus, &nodes, |n| n.cpus) {
            let actual = list(&actual, |n| n.to_string());
            self.doubt(name, "cpus_per_node", format!("is {stated}, and its nodes have {actual}"));
        }
        // Nobody writes memory to the last MB; more than there is fits nowhere.
        let memory: BTreeSet<u64> = nodes.iter().map(|n| n.memory).collect();
        if let (Some(stated), Some(most)) = (stated.memory, memory.last()) {
            let near = |&n: &u64| stated <= n && stated >= n.saturating_sub(n / 10);
            if !memory.iter().any(near) && *most > 0 {
                let actual = list(&memory, |n| Mb(n).to_string());
                let message = format!("is {}, and its nodes have {actual} for jobs", Mb(stated));
                self.doubt(name, "memory_per_node", message);
            }
        }
        if let Some(stated) = facts.gpu_types().filter(|_| !nodes.is_empty()) {
            let actual: BTreeSet<&str> = nodes
                .iter()
                .flat_map(|n| &n.gpus)
                .map(|(k, _)| k.as_str())
                .filter(|k| !k.is_empty())
                .collect();
            let named: BTreeSet<&str> = stated.iter().map(String::as_str).collect();
            let untyped = nodes.iter().any(|n| n.gpus.iter().any(|(k, _)| k.is_empty()));
            let list = |set: &BTreeSet<&str>| match set.is_empty() {
                true => "no GPUs".to_owned(),
                false => set.iter().copied().collect::<Vec<_>>().join(", "),
            };
            if actual != named && !(untyped && actual.is_empty() && !named.is_empty()) {
                let actual = if untyped && actual.is_empty() {
                    "GPUs without a type".to_owned()
                } else {
                    list(&actual)
                };
                self.doubt(name, "gpu_types", format!("says {}, and its nodes have {actual}", list(&named)));
            }
        }
        if let (Some(stated), TimeLimit::Minutes(most)) = (facts.max_time(), partition.max_time) {
            let (longer, stated) = match stated {
                TimeLimit::Minutes(n) => (n > most, Minutes(n).to_string()),
                TimeLimit::Unlimited | TimeLimit::Unset => (true, "UNLIMITED".to_owned()),
            };
            if longer {
                let message = format!("is {stated}, and Slurm allows {}", Minutes(most));
                self.doubt(name, "max_time", message);
            }
        }
        let default = policy.facts.default_partition.as_deref();
        if partition.default && default.is_some_and(|d| d != name) {
            let stated = default.unwrap_or_default().to_owned();
            self.doubt(&stated, "default", format!("is true, and the cluster's default partition is {name}"));
        }
        if partition.whole_node && facts.is_known() && !facts.whole_node() {
            self.doubt(name, "whole_node", "is not true, and Slurm gives whole nodes there".to_owned());
        }
    }

    fn doubt(&mut self, partition: &str, key: &str, what: String) {
        let message = format!("partition {partition}: `{key}` {what}");
        let doubt = self.source.problem(Level::Warning, self.place(partition, key), message);
        if !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }

    /// Where the fact is written: in the partition's own table, else in that of the nearest glob.
    /// Where it is written nowhere, the table that speaks of the partition.
    fn place(&self, partition: &str, key: &str) -> Range<usize> {
        let headers = self.names.iter().filter(|n| n.kind == Kind::Partition);
        let mut tables: Vec<(&Name, Glob)> = headers
            .filter_map(|n| Some((n, Glob::new(&n.text).ok()?)))
            .filter(|(_, glob)| glob.matches(partition, false))
            .collect();
        tables.sort_by_key(|(_, glob)| (!glob.is_literal(), std::cmp::Reverse(glob.literal_len())));
        let written = tables.iter().find_map(|(n, _)| written::partition_key(self.text, &n.text, key));
        written.or_else(|| tables.first().map(|(n, _)| n.span.clone())).unwrap_or(0..0)
    }
}

/// The number that a policy states and those of the nodes, where none of them has it.
fn differs(stated: Option<u64>, nodes: &[&Node], of: impl Fn(&Node) -> u64) -> Option<(u64, BTreeSet<u64>)> {
    let (stated, actual) = (stated?, nodes.iter().map(|n| of(n)).collect::<BTreeSet<u64>>());
    (!actual.is_empty() && !actual.contains(&stated)).then_some((stated, actual))
}

/// `4`, `4 or 8`.
fn list(numbers: &BTreeSet<u64>, show: impl Fn(u64) -> String) -> String {
    numbers.iter().map(|n| show(*n)).collect::<Vec<_>>().join(" or ")
}

fn partitions(names: &[&str]) -> String {
    let noun = if names.len() == 1 { "partition" } else { "partitions" };
    format!("{noun} {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::{accounts, nodes, partitions, qos};
    use super::*;
    use crate::date::Date;
    use crate::policy::load::load;
    use crate::policy::resolve::NoDirectory;

    fn live() -> Live {
        Live {
            name: None,
            partitions: partitions(include_str!("../../tests/vectors/scontrol-partitions-22.05.8.txt"), ""),
            nodes: nodes(include_str!("../../tests/vectors/scontrol-nodes-22.05.8.txt")),
            qos: Some(qos("normal||\nscavenger||1-00:00:00\n")),
            accounts: Some(accounts("root\nphysics\n")),
        }
    }

    fn doubts(policy: &str) -> Vec<String> {
        let text = format!("schema = 1\n{policy}\n[partition.\"*\"]\n");
        let today = Date { year: 2026, month: 11, day: 30 };
        let loaded = load("sluice.toml", &text, &NoDirectory, today).unwrap();
        compare("sluice.toml", &text, &loaded.policy, &live())
            .into_iter()
            .map(|p| format!("{}:{}: {}", p.line, p.column, p.message))
            .collect()
    }

    #[test]
    fn a_policy_that_fits_its_cluster_gives_no_doubt() {
        let policy = r#"
[partition.gpu]
default = true
gpu_types = ["a100"]
gpus_per_node = 4
cpus_per_node = 64
memory_per_node = "500G"
max_time = "1-00:00:00"
[partition.phys-h100]
gpus_per_node = 8
memory_per_node = "1900G"
owner = { accounts = ["Physics"] }
lent_qos = ["SCAVENGER"]
[partition.cpu]
gpu_types = []
[rule.exclusive]
when = { partition = ["phys-*", "gpu"] }
"#;
        assert_eq!(doubts(policy), [""; 0]);
    }

    #[test]
    fn names_that_the_cluster_has_not_are_told_with_what_was_meant() {
        let policy = r#"
[partition.gpus]
[rule.exclusive]
when = { qos = ["scavanger"], account = ["chem*"] }
"#;
        assert_eq!(
            doubts(policy),
            [
                "3:12: the cluster has no partition `gpus`",
                "5:17: the cluster has no QoS `scavanger`",
                "5:42: the cluster has no account that matches `chem*`",
            ]
        );
        let silent = Live { qos: None, accounts: None, ..live() };
        let text = "schema = 1\n[qos.none]\n[partition.\"*\"]\n";
        let today = Date { year: 2026, month: 11, day: 30 };
        let loaded = load("p", text, &NoDirectory, today).unwrap();
        assert_eq!(compare("p", text, &loaded.policy, &silent), []);
    }

    #[test]
    fn facts_that_the_cluster_contradicts_are_told_where_they_are_written() {
        let policy = r#"
[partition.cpu]
default = true
cpus_per_node = 64
max_time = "UNLIMITED"
[partition."phys-*"]
gpu_types = ["a100"]
gpus_per_node = 4
memory_per_node = "1T"
"#;
        assert_eq!(
            doubts(policy),
            [
                "4:1: partition cpu: `default` is true, and the cluster's default partition is gpu",
                "5:1: partition cpu: `cpus_per_node` is 64, and its nodes have 128",
                "6:1: partition cpu: `max_time` is UNLIMITED, and Slurm allows 7-00:00:00",
                "8:1: partition phys-h100: `gpu_types` says a100, and its nodes have h100",
                "9:1: partition phys-h100: `gpus_per_node` is 4, and its nodes have 8",
                "10:1: partition phys-h100: `memory_per_node` is 1T, and its nodes have 2046000M for jobs",
            ]
        );
    }

    #[test]
    fn partitions_without_facts_are_named() {
        let text = "schema = 1\n[partition.gpu]\n";
        let today = Date { year: 2026, month: 11, day: 30 };
        let loaded = load("p", text, &NoDirectory, today).unwrap();
        let doubts = compare("p", text, &loaded.policy, &live());
        assert_eq!(doubts.len(), 1);
        assert_eq!(doubts[0].message, "the policy says nothing of partitions cpu, phys-h100, all, empty");
    }
}
