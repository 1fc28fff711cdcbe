//! Facts about partitions, GPU types and QoS, merged key by key: the exact name first, then the
//! glob with the longest literal part.

use smallvec::SmallVec;

use super::glob::Glob;
use super::names::{Groups, Names, Users};
use crate::request::TimeLimit;
use crate::request::shape::NodeFacts;

/// `[partition.NAME]` as written. Every key is optional: absent is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionFacts {
    /// `default`, for offline checks; slurmctld knows its own.
    pub default: Option<bool>,
    /// `gpu_types`; empty is "no GPUs".
    pub gpu_types: Option<Vec<String>>,
    /// `gpus_per_node`.
    pub gpus_per_node: Option<u64>,
    /// `cpus_per_node`.
    pub cpus_per_node: Option<u64>,
    /// `memory_per_node`, MB.
    pub memory_per_node: Option<u64>,
    /// `cpus_per_gpu`.
    pub cpus_per_gpu: Option<PerGpu>,
    /// `memory_per_gpu`, MB.
    pub memory_per_gpu: Option<PerGpu>,
    /// `max_time`.
    pub max_time: Option<TimeLimit>,
    /// `whole_node`.
    pub whole_node: Option<bool>,
    /// `owner`: the partition is lent to everyone else.
    pub owner: Option<Owner>,
    /// `lent_qos`, in file order.
    pub lent_qos: Option<Names>,
    /// `preemptible`.
    pub preemptible: Option<bool>,
}

/// `[gpu.TYPE]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuFacts {
    /// `cpus_per_gpu`; beats the partition's.
    pub cpus_per_gpu: Option<PerGpu>,
    /// `memory_per_gpu`, MB; beats the partition's.
    pub memory_per_gpu: Option<PerGpu>,
}

/// `[qos.NAME]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QosFacts {
    /// `preemptible`.
    pub preemptible: Option<bool>,
    /// `max_time`.
    pub max_time: Option<TimeLimit>,
    /// `short`: the place for probes and tests.
    pub short: Option<bool>,
}

/// What one GPU brings: `{ default = 4, max = 8 }`, a bare number for both, or `{ exact = N }`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerGpu {
    /// Filled in when the request says nothing.
    pub default: Option<u64>,
    /// At most this many.
    pub max: Option<u64>,
    /// Just this many; then `default` and `max` are the same number.
    pub exact: bool,
}

/// `owner`: who a lent partition belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// Accounts.
    pub accounts: Names,
    /// Users.
    pub users: Users,
    /// Groups.
    pub groups: Groups,
}

/// Facts by name or glob.
#[derive(Clone, Debug)]
pub struct Index<T> {
    /// Sorted by name.
    exact: Vec<(String, T)>,
    /// Longest literal part first.
    globs: Vec<(Glob, T)>,
    fold_case: bool,
}

/// Everything that is known of one name, most specific first.
pub type Layers<'p, T> = SmallVec<[&'p T; 4]>;

impl<T> Index<T> {
    /// An index over `entries`; names are compared without regard to case where `fold_case`.
    pub fn new(entries: Vec<(Glob, T)>, fold_case: bool) -> Self {
        let (literal, mut globs): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(g, _)| g.is_literal());
        globs.sort_by_key(|(g, _)| std::cmp::Reverse(g.literal_len()));
        let key = |g: &Glob| if fold_case { g.as_str().to_ascii_lowercase() } else { g.as_str().to_owned() };
        let mut exact: Vec<(String, T)> = literal.into_iter().map(|(g, t)| (key(&g), t)).collect();
        exact.sort_by(|(a, _), (b, _)| a.cmp(b));
        Index { exact, globs, fold_case }
    }

    /// What is known of `name`, most specific first.
    pub fn get(&self, name: &str) -> Layers<'_, T> {
        let mut layers = Layers::new();
        let exact = if self.fold_case && name.bytes().any(|b| b.is_ascii_uppercase()) {
            self.exact(&name.to_ascii_lowercase())
        } else {
            self.exact(name)
        };
        if let Some(exact) = exact {
            layers.push(exact);
        }
        for (glob, facts) in &self.globs {
            if glob.matches(name, self.fold_case) {
                layers.push(facts);
            }
        }
        layers
    }

    fn exact(&self, name: &str) -> Option<&T> {
        let at = self.exact.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()?;
        self.exact.get(at).map(|(_, facts)| facts)
    }

    /// The names that are no glob, sorted.
    pub fn literal_names(&self) -> Vec<&str> {
        self.exact.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Whether nothing at all is known.
    pub fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.globs.is_empty()
    }
}

/// The first layer that says anything about a key.
pub fn first<'p, T, V>(layers: &Layers<'p, T>, key: impl Fn(&'p T) -> Option<V>) -> Option<V> {
    layers.iter().find_map(|layer| key(layer))
}

/// All facts of a policy.
#[derive(Clone, Debug)]
pub struct Facts {
    /// `[partition.*]`.
    pub partitions: Index<PartitionFacts>,
    /// `[gpu.*]`.
    pub gpus: Index<GpuFacts>,
    /// `[qos.*]`.
    pub qos: Index<QosFacts>,
    /// The partition with `default = true`.
    pub default_partition: Option<String>,
}

/// The merged facts of one partition.
#[derive(Clone, Debug, Default)]
pub struct Partition<'p>(pub Layers<'p, PartitionFacts>);

impl<'p> Partition<'p> {
    /// Whether the policy says anything about this partition.
    pub fn is_known(&self) -> bool {
        !self.0.is_empty()
    }

    /// `gpu_types`: `None` is unknown, empty is "no GPUs".
    pub fn gpu_types(&self) -> Option<&'p [String]> {
        first(&self.0, |p| p.gpu_types.as_deref())
    }

    /// What one node has.
    pub fn node(&self) -> NodeFacts {
        NodeFacts {
            cpus: first(&self.0, |p| p.cpus_per_node),
            gpus: first(&self.0, |p| p.gpus_per_node),
            memory: first(&self.0, |p| p.memory_per_node),
        }
    }

    /// `cpus_per_gpu` of the partition itself.
    pub fn cpus_per_gpu(&self) -> Option<PerGpu> {
        first(&self.0, |p| p.cpus_per_gpu)
    }

    /// `memory_per_gpu` of the partition itself.
    pub fn memory_per_gpu(&self) -> Option<PerGpu> {
        first(&self.0, |p| p.memory_per_gpu)
    }

    /// `max_time`.
    pub fn max_time(&self) -> Option<TimeLimit> {
        first(&self.0, |p| p.max_time)
    }

    /// `whole_node`; false where nothing is said.
    pub fn whole_node(&self) -> bool {
        first(&self.0, |p| p.whole_node).unwrap_or(false)
    }

    /// `owner`.
    pub fn owner(&self) -> Option<&'p Owner> {
        first(&self.0, |p| p.owner.as_ref())
    }

    /// `lent_qos`.
    pub fn lent_qos(&self) -> Option<&'p Names> {
        first(&self.0, |p| p.lent_qos.as_ref())
    }

    /// `preemptible`; false where nothing is said.
    pub fn preemptible(&self) -> bool {
        first(&self.0, |p| p.preemptible).unwrap_or(false)
    }
}

impl Facts {
    /// The merged facts of a partition.
    pub fn partition(&self, name: &str) -> Partition<'_> {
        Partition(self.partitions.get(name))
    }
}
