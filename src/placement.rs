//! Whether a job finds room on the nodes that a policy describes. slurmctld refuses what never can,
//! after the policy has accepted it. For the command alone: slurmctld knows its nodes itself.

use crate::case::{Candidate, Case};
use crate::request::Memory;
use crate::request::shape::NodeFacts;
use crate::words::{count, megabytes};

/// What a job asks for in vain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Long names of the options that ask for it, the likeliest first.
    pub options: &'static [&'static str],
    /// slurmctld's words, and what the policy says of the nodes.
    pub message: String,
}

const GPUS: &[&str] = &["gpus-per-node", "gres", "gpus-per-task", "gpus"];
const CPUS: &[&str] = &["cpus-per-task", "mincpus", "ntasks-per-node", "ntasks", "nodes"];
const MEMORY: &[&str] = &["mem", "mem-per-cpu", "mem-per-gpu"];

/// Why the job has room in none of its partitions; `None` where it may have, and where nothing is
/// known.
pub fn misfit(case: &Case<'_>) -> Option<Misfit> {
    let mut all = case.candidates.iter().map(|candidate| of_one(case, candidate));
    let first = all.next()??;
    all.all(|other| other.is_some()).then_some(first)
}

fn of_one(case: &Case<'_>, candidate: &Candidate<'_>) -> Option<Misfit> {
    let (options, asked, has) = lacking(case, candidate)?;
    let partition = candidate.partition()?;
    let message = format!(
        "Requested node configuration is not available ({asked}; each node of partition {partition} has {has})"
    );
    Some(Misfit { options, message })
}

/// The options, what they ask for, what a node has.
fn lacking(case: &Case<'_>, candidate: &Candidate<'_>) -> Option<(&'static [&'static str], String, String)> {
    let NodeFacts { cpus, gpus, memory } = candidate.facts.node();
    let shape = &candidate.shape;
    let nodes = shape.nodes.high;
    let on_nodes = nodes.map(|n| format!(" on {}", count(n, "node"))).unwrap_or_default();
    if let (Some(has), Some(asked)) = (gpus.filter(|&n| n > 0), shape.gpus_per_node) {
        if asked.low > has {
            return Some((GPUS, format!("{} on a node", count(asked.low, "GPU")), count(has, "GPU")));
        }
    }
    if let (Some(has), false) = (cpus, case.request.overcommit) {
        let each = case.request.cpus_per_task.map_or(1, u64::from).max(1);
        let tasks = shape.tasks.low;
        let room = nodes.map(|n| n.saturating_mul(has / each));
        if each > has {
            return Some((CPUS, format!("{} for a task", count(each, "CPU")), count(has, "CPU")));
        }
        if room.is_some_and(|room| tasks > room) {
            let asked = format!("{} of {}{on_nodes}", count(tasks, "task"), count(each, "CPU"));
            return Some((CPUS, asked, count(has, "CPU")));
        }
        if shape.cpus_per_node.low > has {
            return Some((
                CPUS,
                format!("{} on a node", count(shape.cpus_per_node.low, "CPU")),
                count(has, "CPU"),
            ));
        }
    }
    if let (Some(has), Some(asked), true) =
        (memory, shape.memory_per_node, case.request.memory != Memory::Unset)
    {
        if asked.low > has {
            return Some((MEMORY, format!("{} on a node", megabytes(asked.low)), megabytes(has)));
        }
    }
    None
}
