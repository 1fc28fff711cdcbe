//! The policy file as written: one strict struct a table. Every key that is allowed stands here.
//!
//! Values are read (times, memory, patterns), nothing is looked up or compared: `load` does that.

use std::collections::BTreeMap;

use toml::Spanned;

use super::condition::{GpuCount, Kind};
use super::values::{Justification, Memory, Nested, Patterns, PerGpu, Positive, Time};
use super::{Mode, OnError};
use crate::date::Date;

/// Defines a table of the file: a strict struct, and for the tests its JSON schema, from one text.
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        $(#[derive($derive:ident)])?
        pub struct $name:ident $(<$of:ident>)? {
            $($(#[doc = $line:literal])+ $(#[serde($how:ident)])? pub $key:ident: $type:ty,)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, serde::Deserialize)]
        $(#[derive($derive)])?
        #[serde(deny_unknown_fields)]
        pub struct $name $(<$of>)? {
            $($(#[doc = $line])+ $(#[serde($how)])? pub $key: $type,)*
        }

        #[cfg(test)]
        impl $(<$of: super::schema::Described>)? super::schema::Described for $name $(<$of>)? {
            fn schema() -> serde_json::Value {
                super::schema::object(concat!($($about, "\n"),+), &[
                    $((
                        stringify!($key),
                        concat!($($line, "\n"),+),
                        <$type as super::schema::Described>::schema(),
                    ),)*
                ])
            }
        }
    };
}

/// The keys at the top of a file.
pub const TOP: [&str; 10] =
    ["schema", "site", "partition", "gpu", "qos", "rule", "limit", "exempt", "index_vars", "compile"];

table! {
    /// The site: its name, and what holds for the whole policy.
    #[derive(Default)]
    pub struct Site {
        /// The site's name, first in every refusal.
        pub name: Option<Spanned<String>>,
        /// Where the rules are explained; the last line of a refusal.
        pub docs: Option<Spanned<String>>,
        /// Whom to ask; the last line of a refusal.
        pub contact: Option<Spanned<String>>,
        /// The most that any rule does: off < audit < warn < enforce.
        pub mode: Option<Spanned<Mode>>,
        /// What becomes of a job that the plugin itself fails on. Root's are never refused.
        pub on_error: Option<OnError>,
        /// Jobs of root and SlurmUser, and operators' updates, are judged and recorded, never refused.
        pub exempt_root: Option<bool>,
        /// One line with the understood shape of every accepted job.
        pub confirm: Option<bool>,
        /// Where decisions are written: "syslog", or the absolute path of a file.
        pub records: Option<Spanned<String>>,
    }
}

table! {
    /// What a partition is.
    pub struct Partition {
        /// Where jobs go that name no partition, for checks without a cluster. slurmctld knows its own.
        pub default: Option<Spanned<bool>>,
        /// GPU types of its nodes; an empty list says that there are none. Left out: not known.
        pub gpu_types: Option<Spanned<Vec<Spanned<String>>>>,
        /// GPUs of each node.
        pub gpus_per_node: Option<Spanned<u64>>,
        /// CPUs of each node that jobs can have.
        pub cpus_per_node: Option<Spanned<Positive>>,
        /// Memory of each node that jobs can have, such as "500G".
        pub memory_per_node: Option<Spanned<Memory>>,
        /// CPUs for each GPU: a number for both, `{ default = 4, max = 8 }`, or `{ exact = 14 }`.
        pub cpus_per_gpu: Option<Spanned<PerGpu<Positive>>>,
        /// Memory for each GPU: a size for both, `{ default = "60G", max = "120G" }`, or `{ exact = "110G" }`.
        pub memory_per_gpu: Option<Spanned<PerGpu<Memory>>>,
        /// The longest time limit, such as "2-00:00:00"; "UNLIMITED" allows jobs without end.
        pub max_time: Option<Spanned<Time>>,
        /// Gives whole nodes to every job anyhow: nothing of a node can be wasted for others.
        pub whole_node: Option<Spanned<bool>>,
        /// Whom it belongs to. Everyone else uses it under `lent_qos` only.
        pub owner: Option<Spanned<Owner>>,
        /// QoS that others use it under; the first is filled in where a job names none.
        pub lent_qos: Option<Spanned<Patterns>>,
        /// Its jobs may be preempted, those of its owner aside.
        pub preemptible: Option<Spanned<bool>>,
    }
}

table! {
    /// Whom a partition belongs to.
    pub struct Owner {
        /// Accounts; a user owns by an association with one, not by typing its name.
        #[serde(default)]
        pub accounts: Patterns,
        /// Users, by login name.
        #[serde(default)]
        pub users: Patterns,
        /// Groups, by name.
        #[serde(default)]
        pub groups: Patterns,
    }
}

table! {
    /// What a GPU type brings.
    pub struct Gpu {
        /// CPUs for each GPU of this type; beats the partition's.
        pub cpus_per_gpu: Option<Spanned<PerGpu<Positive>>>,
        /// Memory for each GPU of this type; beats the partition's.
        pub memory_per_gpu: Option<Spanned<PerGpu<Memory>>>,
    }
}

table! {
    /// What a QoS is.
    pub struct Qos {
        /// Its jobs may be preempted.
        pub preemptible: Option<Spanned<bool>>,
        /// The longest time limit of its jobs.
        pub max_time: Option<Spanned<Time>>,
        /// The place for probes and tests.
        pub short: Option<Spanned<bool>>,
    }
}

table! {
    /// What every rule takes besides its own options.
    #[derive(Default)]
    pub struct Settings {
        /// How far this goes: off, audit (recorded), warn (told), enforce (refused).
        pub mode: Option<Spanned<Mode>>,
        /// Warns before this day, and says so; enforced from then on.
        pub enforce_from: Option<Spanned<Date>>,
        /// A written reason lifts it, on record: `true`, or `{ min_length = 20 }`.
        pub justify: Option<Spanned<Justification>>,
        /// A sentence of the site's own, under each finding.
        pub help: Option<Spanned<String>>,
        /// Which jobs it is for: all keys, any value of a key.
        pub when: Option<Spanned<When>>,
    }
}

/// The keys of [`Settings`].
pub const SETTINGS: [&str; 5] = ["mode", "enforce_from", "justify", "help", "when"];

/// `when`; what stands under `not` is the same, once.
pub type When = Condition<Spanned<Condition<Nested>>>;

table! {
    /// `when`, with what it takes for `not`.
    pub struct Condition<N> {
        /// In one of these partitions.
        pub partition: Option<Spanned<Patterns>>,
        /// Under one of these QoS.
        pub qos: Option<Spanned<Patterns>>,
        /// For one of these accounts.
        pub account: Option<Spanned<Patterns>>,
        /// By one of these users.
        pub user: Option<Spanned<Patterns>>,
        /// By a member of one of these groups.
        pub group: Option<Spanned<Patterns>>,
        /// In one of these reservations.
        pub reservation: Option<Spanned<Patterns>>,
        /// On GPUs of one of these types.
        pub gpu_type: Option<Spanned<Patterns>>,
        /// Of one of these kinds; an array is batch and array.
        pub kind: Option<Spanned<Vec<Kind>>>,
        /// With so many GPUs: `true`, `false`, a number, "2-3", "5-".
        pub gpus: Option<Spanned<GpuCount>>,
        /// With one of these options stated, or `"option=glob"`.
        pub given: Option<Spanned<Vec<Spanned<String>>>>,
        /// Unless it is this as well; the same keys, once.
        pub not: Option<N>,
    }
}

table! {
    /// A limit of the site's own: per job, per component of a heterogeneous job, per array task.
    pub struct Limit {
        /// Its name in messages.
        pub name: Option<Spanned<String>>,
        /// A reason, told with each finding.
        pub why: Option<Spanned<String>>,
        /// At most so many nodes.
        pub max_nodes: Option<Spanned<Positive>>,
        /// At least so many nodes.
        pub min_nodes: Option<Spanned<Positive>>,
        /// At most so many GPUs.
        pub max_gpus: Option<Spanned<u64>>,
        /// At least so many GPUs.
        pub min_gpus: Option<Spanned<Positive>>,
        /// At most so many CPUs.
        pub max_cpus: Option<Spanned<Positive>>,
        /// At least so many CPUs.
        pub min_cpus: Option<Spanned<Positive>>,
        /// At most so many tasks.
        pub max_tasks: Option<Spanned<Positive>>,
        /// At least so many tasks.
        pub min_tasks: Option<Spanned<Positive>>,
        /// The longest time limit.
        pub max_time: Option<Spanned<Time>>,
        /// The shortest time limit.
        pub min_time: Option<Spanned<Time>>,
        /// At most so much memory.
        pub max_memory: Option<Spanned<Memory>>,
        /// At least so much memory.
        pub min_memory: Option<Spanned<Memory>>,
        /// At most so much memory for each CPU.
        pub max_memory_per_cpu: Option<Spanned<Memory>>,
        /// At least so much memory for each CPU.
        pub min_memory_per_cpu: Option<Spanned<Memory>>,
        /// At most so many tasks in an array.
        pub array_max: Option<Spanned<u64>>,
        /// At most so many tasks of an array at once.
        pub array_running_max: Option<Spanned<Positive>>,
        /// Only these QoS.
        pub allow_qos: Option<Spanned<Patterns>>,
        /// Only these accounts.
        pub allow_account: Option<Spanned<Patterns>>,
        /// Only these partitions.
        pub allow_partition: Option<Spanned<Patterns>>,
        /// Options that must be given, by long name, or `"option=glob"`.
        #[serde(default)]
        pub require: Vec<Spanned<String>>,
        /// Options that must not be given, by long name, or `"option=glob"`.
        #[serde(default)]
        pub forbid: Vec<Spanned<String>>,
    }
}

table! {
    /// Who is exempt from a rule or limit, until when, and why.
    pub struct Exempt {
        /// Rules or limits, by name.
        pub rules: Option<Spanned<Vec<Spanned<String>>>>,
        /// Users, by login name.
        pub users: Option<Spanned<Patterns>>,
        /// Groups, by name.
        pub groups: Option<Spanned<Patterns>>,
        /// Accounts.
        pub accounts: Option<Spanned<Patterns>>,
        /// Partitions.
        pub partitions: Option<Spanned<Patterns>>,
        /// QoS.
        pub qos: Option<Spanned<Patterns>>,
        /// Reservations.
        pub reservations: Option<Spanned<Patterns>>,
        /// The last day on which it holds, the server's.
        pub until: Option<Spanned<Date>>,
        /// Why; it goes into the records.
        pub reason: Option<Spanned<String>>,
    }
}

table! {
    /// What `--compile=off` does.
    #[derive(Default)]
    pub struct Compile {
        /// Variables that `--compile=off` sets, with their values.
        #[serde(default)]
        pub off: BTreeMap<Spanned<String>, Spanned<String>>,
    }
}
