//! What a running cluster says of itself, for comparing a policy with it.
//!
//! Pure: the text of `scontrol` and `sacctmgr` is handed in (`scontrol`, `sacctmgr`). `compare` sets
//! it against a policy, with places in the policy's text (`written`); `draft` makes a policy of it.

mod compare;
mod draft;
pub mod job;
mod sacctmgr;
mod scontrol;
mod written;

use crate::request::TimeLimit;

pub use compare::compare;
pub use draft::draft;
pub use sacctmgr::{accounts, associations, qos};
pub use scontrol::{config_value, nodes, partitions};

/// A cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// `ClusterName`.
    pub name: Option<String>,
    /// In Slurm's order.
    pub partitions: Vec<Partition>,
    /// In Slurm's order.
    pub nodes: Vec<Node>,
    /// `None` where there is no accounting.
    pub qos: Option<Vec<Qos>>,
    /// `None` where there is no accounting.
    pub accounts: Option<Vec<String>>,
}

/// A partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its name.
    pub name: String,
    /// Where jobs go that name none.
    pub default: bool,
    /// `MaxTime`.
    pub max_time: TimeLimit,
    /// `OverSubscribe=EXCLUSIVE`: every job gets whole nodes.
    pub whole_node: bool,
    /// `AllowAccounts`; `None` is everybody.
    pub allow_accounts: Option<Vec<String>>,
    /// `AllowQos`; `None` is every one.
    pub allow_qos: Option<Vec<String>>,
    /// Its jobs give way to those of others: `PreemptMode`, where `PreemptType` asks partitions.
    pub preemptible: bool,
    /// `DefCpuPerGPU` of `JobDefaults`.
    pub cpus_per_gpu: Option<u64>,
    /// `DefMemPerGPU` of `JobDefaults`, MB.
    pub memory_per_gpu: Option<u64>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The partitions that it is in.
    pub partitions: Vec<String>,
    /// CPUs that jobs can have.
    pub cpus: u64,
    /// Memory that jobs can have, MB.
    pub memory: u64,
    /// GPUs by type, the type empty where none is named.
    pub gpus: Vec<(String, u64)>,
}

/// A QoS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qos {
    /// Its name.
    pub name: String,
    /// QoS whose jobs it may push aside.
    pub preempts: Vec<String>,
    /// `MaxWall`.
    pub max_time: TimeLimit,
}

/// What accounting knows of one user in one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Association {
    /// The account.
    pub account: String,
    /// Whether jobs that name no account are charged to it.
    pub default: bool,
    /// The QoS of jobs that name none, where one is set.
    pub default_qos: Option<String>,
    /// QoS that may be used.
    pub qos: Vec<String>,
}

impl Node {
    /// All GPUs.
    pub fn gpu_count(&self) -> u64 {
        self.gpus.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }
}

impl Live {
    /// The nodes of a partition.
    pub fn nodes_of<'l>(&'l self, partition: &'l str) -> impl Iterator<Item = &'l Node> {
        self.nodes.iter().filter(move |node| node.partitions.iter().any(|p| p == partition))
    }
}
