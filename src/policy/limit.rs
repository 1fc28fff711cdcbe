//! `[[limit]]`: a site's own numbers.
use super::{Names, Settings};
use crate::case::{Candidate, Case};
use crate::request::options::OptionTest;
use crate::verdict::{Complaint, Topic};

/// One `[[limit]]`.
#[derive(Debug)]
pub struct Limit {
    /// `name`.
    pub name: String,
    /// What every rule has.
    pub settings: Settings,
    /// `why`: ends the sentence that users read.
    pub why: Option<String>,
    /// The numbers.
    pub bounds: Vec<Bound>,
    /// `allow_qos`.
    pub allow_qos: Option<Names>,
    /// `allow_account`.
    pub allow_account: Option<Names>,
    /// `allow_partition`.
    pub allow_partition: Option<Names>,
    /// `require`: options that must be given.
    pub require: Vec<OptionTest>,
    /// `forbid`: options that must not.
    pub forbid: Vec<OptionTest>,
}

/// `max_...` or `min_...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What is counted.
    pub quantity: Quantity,
    /// Whether it is the most or the least.
    pub end: End,
    /// In the quantity's own unit.
    pub value: u64,
}

/// Which end of a range is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At most.
    Max,
    /// At least.
    Min,
}

/// What a limit counts, of each job, het component or array task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Nodes.
    Nodes,
    /// GPUs.
    Gpus,
    /// CPUs.
    Cpus,
    /// Tasks.
    Tasks,
    /// Minutes.
    Time,
    /// Memory of the job, MB.
    Memory,
    /// Memory for each CPU, MB.
    MemoryPerCpu,
    /// Tasks of an array.
    ArrayTasks,
    /// Array tasks that may run at once.
    ArrayRunning,
}

impl Quantity {
    /// Its key in a policy, without `max_` or `min_`.
    pub fn key(self) -> &'static str {
        match self {
            Quantity::Nodes => "nodes",
            Quantity::Gpus => "gpus",
            Quantity::Cpus => "cpus",
            Quantity::Tasks => "tasks",
            Quantity::Time => "time",
            Quantity::Memory => "memory",
            Quantity::MemoryPerCpu => "memory_per_cpu",
            Quantity::ArrayTasks => "array_max",
            Quantity::ArrayRunning => "array_running_max",
        }
    }
}

impl Limit {
    /// Whether it limits nothing at all.
    pub fn is_empty(&self) -> bool {
        self.bounds.is_empty()
            && self.allow_qos.is_none()
            && self.allow_account.is_none()
            && self.allow_partition.is_none()
            && self.require.is_empty()
            && self.forbid.is_empty()
    }
}

/// Judges every limit that applies to one candidate.
pub fn check_all<'p>(
    case: &Case<'p>,
    _candidate: &Candidate<'p>,
    _complain: impl FnMut(&'p Limit, Topic, Complaint),
) {
    for _limit in &case.policy.limits {}
}
