//! The policy file as written: one strict struct a table. Every key that is allowed stands here.
//!
//! Values are read (times, memory, patterns), nothing is looked up or compared: `load` does that.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::condition::{GpuCount, Kind};
use super::values::{Justification, Memory, Nested, Patterns, PerGpu, Positive, Time};
use super::{Mode, OnError};
use crate::date::Date;

/// The keys at the top of a file.
pub const TOP: [&str; 10] =
    ["schema", "site", "partition", "gpu", "qos", "rule", "limit", "exempt", "index_vars", "compile"];

/// `[site]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    pub name: Option<Spanned<String>>,
    pub docs: Option<Spanned<String>>,
    pub contact: Option<Spanned<String>>,
    pub mode: Option<Spanned<Mode>>,
    pub on_error: Option<OnError>,
    pub exempt_root: Option<bool>,
    pub confirm: Option<bool>,
    pub records: Option<Spanned<String>>,
}

/// `[partition.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    pub default: Option<Spanned<bool>>,
    pub gpu_types: Option<Spanned<Vec<Spanned<String>>>>,
    pub gpus_per_node: Option<Spanned<u64>>,
    pub cpus_per_node: Option<Spanned<Positive>>,
    pub memory_per_node: Option<Spanned<Memory>>,
    pub cpus_per_gpu: Option<Spanned<PerGpu<Positive>>>,
    pub memory_per_gpu: Option<Spanned<PerGpu<Memory>>>,
    pub max_time: Option<Spanned<Time>>,
    pub whole_node: Option<Spanned<bool>>,
    pub owner: Option<Spanned<Owner>>,
    pub lent_qos: Option<Spanned<Patterns>>,
    pub preemptible: Option<Spanned<bool>>,
}

/// `owner` of a partition.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    #[serde(default)]
    pub accounts: Patterns,
    #[serde(default)]
    pub users: Patterns,
    #[serde(default)]
    pub groups: Patterns,
}

/// `[gpu.TYPE]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gpu {
    pub cpus_per_gpu: Option<Spanned<PerGpu<Positive>>>,
    pub memory_per_gpu: Option<Spanned<PerGpu<Memory>>>,
}

/// `[qos.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Qos {
    pub preemptible: Option<Spanned<bool>>,
    pub max_time: Option<Spanned<Time>>,
    pub short: Option<Spanned<bool>>,
}

/// What every rule takes besides its own options.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub mode: Option<Spanned<Mode>>,
    pub enforce_from: Option<Spanned<Date>>,
    pub justify: Option<Spanned<Justification>>,
    pub help: Option<Spanned<String>>,
    pub when: Option<Spanned<When>>,
}

/// The keys of [`Settings`].
pub const SETTINGS: [&str; 5] = ["mode", "enforce_from", "justify", "help", "when"];

/// `when`; what stands under `not` is the same, once.
pub type When = Condition<Spanned<Condition<Nested>>>;

/// `when`, with what it takes for `not`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition<N> {
    pub partition: Option<Spanned<Patterns>>,
    pub qos: Option<Spanned<Patterns>>,
    pub account: Option<Spanned<Patterns>>,
    pub user: Option<Spanned<Patterns>>,
    pub group: Option<Spanned<Patterns>>,
    pub reservation: Option<Spanned<Patterns>>,
    pub gpu_type: Option<Spanned<Patterns>>,
    pub kind: Option<Spanned<Vec<Kind>>>,
    pub gpus: Option<Spanned<GpuCount>>,
    pub given: Option<Spanned<Vec<Spanned<String>>>>,
    pub not: Option<N>,
}

/// `[[limit]]`, without the keys of [`Settings`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    pub name: Option<Spanned<String>>,
    pub why: Option<Spanned<String>>,
    pub max_nodes: Option<Spanned<Positive>>,
    pub min_nodes: Option<Spanned<Positive>>,
    pub max_gpus: Option<Spanned<u64>>,
    pub min_gpus: Option<Spanned<Positive>>,
    pub max_cpus: Option<Spanned<Positive>>,
    pub min_cpus: Option<Spanned<Positive>>,
    pub max_tasks: Option<Spanned<Positive>>,
    pub min_tasks: Option<Spanned<Positive>>,
    pub max_time: Option<Spanned<Time>>,
    pub min_time: Option<Spanned<Time>>,
    pub max_memory: Option<Spanned<Memory>>,
    pub min_memory: Option<Spanned<Memory>>,
    pub max_memory_per_cpu: Option<Spanned<Memory>>,
    pub min_memory_per_cpu: Option<Spanned<Memory>>,
    pub array_max: Option<Spanned<u64>>,
    pub array_running_max: Option<Spanned<Positive>>,
    pub allow_qos: Option<Spanned<Patterns>>,
    pub allow_account: Option<Spanned<Patterns>>,
    pub allow_partition: Option<Spanned<Patterns>>,
    #[serde(default)]
    pub require: Vec<Spanned<String>>,
    #[serde(default)]
    pub forbid: Vec<Spanned<String>>,
}

/// `[[exempt]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exempt {
    pub rules: Option<Spanned<Vec<Spanned<String>>>>,
    pub users: Option<Spanned<Patterns>>,
    pub groups: Option<Spanned<Patterns>>,
    pub accounts: Option<Spanned<Patterns>>,
    pub partitions: Option<Spanned<Patterns>>,
    pub qos: Option<Spanned<Patterns>>,
    pub reservations: Option<Spanned<Patterns>>,
    pub until: Option<Spanned<Date>>,
    pub reason: Option<Spanned<String>>,
}

/// `[compile]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compile {
    #[serde(default)]
    pub off: BTreeMap<Spanned<String>, Spanned<String>>,
}
