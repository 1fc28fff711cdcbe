//! Facts that can be loaded and cannot all be meant.

use std::ops::Range;

use super::super::facts::{self, Facts, Partition, PerGpu};
use super::super::glob::Glob;
use super::{Loader, header};
use crate::request::TimeLimit;
use crate::request::memory::Mb;
use crate::request::shape::NodeFacts;

/// A fact per GPU, what a node has of it, and how it is written.
struct Shared {
    key: &'static str,
    of_partition: Option<PerGpu>,
    of_type: fn(&Facts, &str) -> Option<PerGpu>,
    of_node: Option<u64>,
    show: fn(u64) -> String,
}

impl Loader<'_> {
    /// Facts of one partition that contradict each other once they are merged.
    pub(super) fn doubt_partition(&mut self, facts: &Facts, glob: &Glob, span: &Range<usize>) {
        // A glob is no name to merge for, but matches itself: its own table is what is compared.
        let merged = facts.partition(glob.as_str());
        // A glob may leave the owners to the exact names that it covers.
        let owned = |name: &str| glob.matches(name, false) && facts.partition(name).owner().is_some();
        let left_open = !glob.is_literal() && merged.owner().is_none();
        let lent_by_name = left_open && facts.partitions.literal_names().into_iter().any(owned);
        let owner = owner(&merged).filter(|_| !lent_by_name);
        let doubts = [owner, lent_time(facts, &merged), gpus(&merged)];
        let place = header("partition", glob.as_str());
        for doubt in doubts.into_iter().flatten().map(str::to_owned).chain(per_gpu(facts, &merged)) {
            self.doubt(span.clone(), format!("{place}: {doubt}"));
        }
    }

    /// A GPU type that no partition has, where all of them say what they have.
    pub(super) fn doubt_gpu_type(
        &mut self,
        facts: &Facts,
        partitions: &[(Glob, Range<usize>)],
        glob: &Glob,
        span: &Range<usize>,
    ) {
        let types: Option<Vec<&[String]>> =
            partitions.iter().map(|(p, _)| facts.partition(p.as_str()).gpu_types()).collect();
        let Some(types) = types.filter(|t| !t.is_empty()) else { return };
        if !types.iter().any(|list| list.iter().any(|t| glob.matches(t, false))) {
            let place = header("gpu", glob.as_str());
            self.doubt(span.clone(), format!("{place}: no partition lists this type in its `gpu_types`"));
        }
    }
}

fn owner(partition: &Partition<'_>) -> Option<&'static str> {
    match (partition.owner(), partition.lent_qos()) {
        (Some(_), None) => Some("it has an `owner` and no `lent_qos`: everyone but the owner is kept out"),
        (Some(_), Some(lent)) if lent.is_empty() => {
            Some("its `lent_qos` is empty: everyone but the owner is kept out")
        }
        (None, Some(_)) => Some("it has a `lent_qos` and no `owner`: nothing is lent"),
        _ => None,
    }
}

fn lent_time(facts: &Facts, partition: &Partition<'_>) -> Option<&'static str> {
    let name = partition.lent_qos()?.literal().next()?;
    let of_qos = facts::first(&facts.qos.get(name), |q| q.max_time)?;
    match (of_qos, partition.max_time()?) {
        (TimeLimit::Minutes(of_qos), TimeLimit::Minutes(own)) if of_qos > own => {
            Some("the `max_time` of its lent QoS is longer than its own, which holds")
        }
        (TimeLimit::Unlimited, TimeLimit::Minutes(_)) => {
            Some("the `max_time` of its lent QoS is longer than its own, which holds")
        }
        _ => None,
    }
}

fn gpus(partition: &Partition<'_>) -> Option<&'static str> {
    match (partition.gpu_types(), partition.node().gpus) {
        (Some([]), Some(1..)) => Some("it has GPUs per node and an empty `gpu_types`, which means no GPUs"),
        (Some([_, ..]), Some(0)) => Some("it has `gpu_types` and no GPUs per node"),
        _ => None,
    }
}

fn per_gpu(facts: &Facts, partition: &Partition<'_>) -> Vec<String> {
    let node = partition.node();
    let cpus = Shared {
        key: "cpus_per_gpu",
        of_partition: partition.cpus_per_gpu(),
        of_type: |facts, kind| facts::first(&facts.gpus.get(kind), |g| g.cpus_per_gpu),
        of_node: node.cpus,
        show: |n| n.to_string(),
    };
    let memory = Shared {
        key: "memory_per_gpu",
        of_partition: partition.memory_per_gpu(),
        of_type: |facts, kind| facts::first(&facts.gpus.get(kind), |g| g.memory_per_gpu),
        of_node: node.memory,
        show: |mb| Mb(mb).to_string(),
    };
    [cpus, memory].iter().flat_map(|shared| shared.doubts(facts, partition, node)).collect()
}

impl Shared {
    fn doubts(&self, facts: &Facts, partition: &Partition<'_>, node: NodeFacts) -> Vec<String> {
        let key = self.key;
        let types = partition.gpu_types();
        let mut doubts = Vec::new();
        if self.of_partition.is_some() {
            if types.is_some_and(<[String]>::is_empty) || node.gpus == Some(0) {
                doubts.push(format!("it states `{key}` and has no GPUs"));
            } else if partition.whole_node() {
                doubts.push(format!("it states `{key}`, which is not used where `whole_node` is true"));
            }
        }
        let by_type = types.unwrap_or_default().iter().map(|t| (t, (self.of_type)(facts, t)));
        let mut all_typed = types.is_some_and(|t| !t.is_empty());
        for (kind, numbers) in by_type {
            all_typed &= numbers.is_some();
            let whose = format!("`{key}` of {}", header("gpu", kind));
            doubts.extend(numbers.and_then(|n| self.too_much(n, &whose, node)));
        }
        // Where every type has a number of its own, the partition's is not used.
        if let Some(numbers) = self.of_partition.filter(|_| !all_typed) {
            doubts.extend(self.too_much(numbers, &format!("`{key}`"), node));
        }
        doubts
    }

    /// More for all GPUs of a node than the node has.
    fn too_much(&self, numbers: PerGpu, whose: &str, node: NodeFacts) -> Option<String> {
        let (gpus, all) = (node.gpus.unwrap_or(1), self.of_node?);
        let beyond = |n: Option<u64>| n.map(|n| n.saturating_mul(gpus)).filter(|sum| *sum > all);
        let (which, sum) = match (beyond(numbers.default), beyond(numbers.max)) {
            (Some(sum), _) => ("default", sum),
            (None, Some(sum)) => ("maximum", sum),
            (None, None) => return None,
        };
        let (sum, all) = ((self.show)(sum), (self.show)(all));
        Some(format!("the {which} of {whose} for all GPUs of a node is {sum}, and the node has {all}"))
    }
}
