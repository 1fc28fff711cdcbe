//! `[partition.*]`, `[gpu.*]`, `[qos.*]`: facts, and whether they contradict each other.

use std::collections::HashMap;
use std::ops::Range;

use toml::Spanned;

use super::super::facts::{Facts, GpuFacts, Index, Owner, PartitionFacts, PerGpu, QosFacts};
use super::super::glob::Glob;
use super::super::raw;
use super::super::values::{self, PerGpuTable};
use super::{Entry, Loader, any_case, header};

/// One table: its pattern, its facts, and where it stands.
struct Named<T> {
    glob: Glob,
    facts: T,
    span: Range<usize>,
}

/// Which keys of two tables differ, for a tie between globs.
trait Keys {
    fn differ(&self, other: &Self) -> Vec<&'static str>;
}

/// The names of the given keys that both state, and state differently.
macro_rules! differing {
    ($type:ty: $($key:ident)+) => {
        impl Keys for $type {
            fn differ(&self, other: &Self) -> Vec<&'static str> {
                let mut keys = Vec::new();
                $(if self.$key.is_some() && other.$key.is_some() && self.$key != other.$key {
                    keys.push(stringify!($key));
                })+
                keys
            }
        }
    };
}
differing!(PartitionFacts: default gpu_types gpus_per_node cpus_per_node memory_per_node cpus_per_gpu
    memory_per_gpu max_time whole_node owner lent_qos preemptible);
differing!(GpuFacts: cpus_per_gpu memory_per_gpu);
differing!(QosFacts: preemptible max_time short);

impl Loader<'_> {
    pub(super) fn facts(
        &mut self,
        partitions: Vec<Entry<'_>>,
        gpus: Vec<Entry<'_>>,
        qos: Vec<Entry<'_>>,
    ) -> Facts {
        let partitions = self.table(partitions, "partition", false, Loader::partition);
        let gpus = self.table(gpus, "gpu", false, Loader::gpu);
        let qos = self.table(qos, "qos", true, Loader::qos);
        let default_partition = self.default_partition(&partitions);
        let places: Vec<_> = partitions.iter().map(|p| (p.glob.clone(), p.span.clone())).collect();
        let types: Vec<_> = gpus.iter().map(|g| (g.glob.clone(), g.span.clone())).collect();
        let facts = Facts {
            partitions: index(partitions, false),
            gpus: index(gpus, false),
            qos: index(qos, true),
            default_partition,
        };
        for (glob, span) in &places {
            self.doubt_partition(&facts, glob, span);
        }
        for (glob, span) in &types {
            self.doubt_gpu_type(&facts, &places, glob, span);
        }
        facts
    }

    /// The tables of one kind: patterns compiled, none twice, no tie that matters.
    fn table<'i, T: Keys>(
        &mut self,
        entries: Vec<Entry<'i>>,
        kind: &str,
        fold_case: bool,
        read: impl Fn(&mut Self, Entry<'i>) -> Option<T>,
    ) -> Vec<Named<T>> {
        let mut tables: Vec<Named<T>> = Vec::new();
        let mut seen: HashMap<String, String> = HashMap::new();
        for entry in entries {
            let span = entry.span.clone();
            let glob = match Glob::new(&entry.name) {
                Ok(glob) => glob,
                Err(message) => {
                    self.error(span, format!("invalid name in {}: {message}", header(kind, &entry.name)));
                    continue;
                }
            };
            if fold_case {
                let folded = entry.name.to_ascii_lowercase();
                if let Some(first) = seen.insert(folded, entry.name.clone()) {
                    let (this, first) = (header(kind, &entry.name), header(kind, &first));
                    self.error(span.clone(), format!("{this} is {first}: Slurm makes no difference of case"));
                }
            }
            let name = entry.name.clone();
            let Some(facts) = read(self, entry) else { continue };
            for other in tables.iter().filter(|t| !t.glob.is_literal() && !glob.is_literal()) {
                if other.glob.literal_len() != glob.literal_len() || !other.glob.overlaps(&glob, fold_case) {
                    continue;
                }
                let keys = other.facts.differ(&facts);
                if let Some(key) = keys.first() {
                    let (this, first) = (header(kind, &name), header(kind, other.glob.as_str()));
                    let message = format!(
                        "{this} and {first} can match one name, are equally specific, and disagree on `{key}`"
                    );
                    self.error_with_help(span.clone(), message, "make one of the two patterns longer");
                }
            }
            tables.push(Named { glob, facts, span });
        }
        tables
    }

    fn partition(&mut self, entry: Entry<'_>) -> Option<PartitionFacts> {
        let place = header("partition", &entry.name);
        let raw = self.read::<raw::Partition>(entry.value, &place, &[])?.value;
        let gpu_types = raw.gpu_types.map(|types| self.gpu_types(types));
        let owner = raw.owner.map(|owner| self.owner(owner));
        Some(PartitionFacts {
            default: raw.default.map(Spanned::into_inner),
            gpu_types,
            gpus_per_node: raw.gpus_per_node.map(Spanned::into_inner),
            cpus_per_node: raw.cpus_per_node.map(|n| n.into_inner().0),
            memory_per_node: raw.memory_per_node.map(|n| n.into_inner().0),
            cpus_per_gpu: raw.cpus_per_gpu.and_then(|n| self.per_gpu(n, "cpus_per_gpu", |c| c.0)),
            memory_per_gpu: raw.memory_per_gpu.and_then(|n| self.per_gpu(n, "memory_per_gpu", |m| m.0)),
            max_time: raw.max_time.map(|t| t.into_inner().0),
            whole_node: raw.whole_node.map(Spanned::into_inner),
            owner,
            lent_qos: raw.lent_qos.map(any_case),
            preemptible: raw.preemptible.map(Spanned::into_inner),
        })
    }

    fn gpu(&mut self, entry: Entry<'_>) -> Option<GpuFacts> {
        let place = header("gpu", &entry.name);
        let raw = self.read::<raw::Gpu>(entry.value, &place, &[])?.value;
        Some(GpuFacts {
            cpus_per_gpu: raw.cpus_per_gpu.and_then(|n| self.per_gpu(n, "cpus_per_gpu", |c| c.0)),
            memory_per_gpu: raw.memory_per_gpu.and_then(|n| self.per_gpu(n, "memory_per_gpu", |m| m.0)),
        })
    }

    fn qos(&mut self, entry: Entry<'_>) -> Option<QosFacts> {
        let place = header("qos", &entry.name);
        let raw = self.read::<raw::Qos>(entry.value, &place, &[])?.value;
        Some(QosFacts {
            preemptible: raw.preemptible.map(Spanned::into_inner),
            max_time: raw.max_time.map(|t| t.into_inner().0),
            short: raw.short.map(Spanned::into_inner),
        })
    }

    fn gpu_types(&mut self, types: Spanned<Vec<Spanned<String>>>) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in types.into_inner() {
            let text = name.get_ref().as_str();
            if text.is_empty() || text.contains(|c: char| !c.is_ascii_graphic() || "*?[]:,=".contains(c)) {
                self.error(name.span(), format!("`{text}` is no GPU type as gres.conf names it"));
            } else if names.iter().any(|n| n == text) {
                self.error(name.span(), format!("GPU type `{text}` is listed twice"));
            } else {
                names.push(text.to_owned());
            }
        }
        names
    }

    fn owner(&mut self, owner: Spanned<raw::Owner>) -> Owner {
        let span = owner.span();
        let raw::Owner { accounts, users, groups } = owner.into_inner();
        let nobody = accounts.is_empty() && users.is_empty() && groups.is_empty();
        if nobody && !self.is_wrong(&span) {
            self.error_with_help(
                span.clone(),
                "`owner` names nobody",
                "name `accounts`, `users` or `groups`",
            );
        }
        let accounts = any_case(Spanned::new(span, accounts));
        Owner { accounts, users: self.users(users), groups: self.groups(groups) }
    }

    /// `{ default, max }`, `{ exact }`, or one number for both.
    fn per_gpu<T: Copy>(
        &mut self,
        value: Spanned<values::PerGpu<T>>,
        key: &str,
        number: impl Fn(T) -> u64,
    ) -> Option<PerGpu> {
        let span = value.span();
        let table = match value.into_inner() {
            values::PerGpu::Both(n) => {
                let n = Some(number(n));
                return Some(PerGpu { default: n, max: n, exact: false });
            }
            values::PerGpu::Table(PerGpuTable { default, max, exact }) => {
                (default.map(&number), max.map(&number), exact.map(&number))
            }
        };
        match table {
            (None, None, None) => {
                if self.is_wrong(&span) {
                    return None;
                }
                self.error(span, format!("`{key}` states neither `default` nor `max` nor `exact`"));
                None
            }
            (None, None, Some(n)) => Some(PerGpu { default: Some(n), max: Some(n), exact: true }),
            (_, _, Some(_)) => {
                self.error(span, format!("`{key}`: `exact` stands alone, without `default` and `max`"));
                None
            }
            (Some(default), Some(max), None) if default > max => {
                self.error(span, format!("`{key}`: the default is more than the maximum"));
                None
            }
            (default, max, None) => Some(PerGpu { default, max, exact: false }),
        }
    }

    fn default_partition(&mut self, partitions: &[Named<PartitionFacts>]) -> Option<String> {
        let mut default: Option<&Named<PartitionFacts>> = None;
        for partition in partitions.iter().filter(|p| p.facts.default == Some(true)) {
            let place = header("partition", partition.glob.as_str());
            if !partition.glob.is_literal() {
                self.error(
                    partition.span.clone(),
                    format!("{place} is a glob; one partition is the default, by its exact name"),
                );
            } else if let Some(first) = default {
                let first = header("partition", first.glob.as_str());
                self.error(
                    partition.span.clone(),
                    format!("{place} is a second default partition; the first is {first}"),
                );
            } else {
                default = Some(partition);
            }
        }
        default.map(|p| p.glob.as_str().to_owned())
    }
}

fn index<T>(tables: Vec<Named<T>>, fold_case: bool) -> Index<T> {
    Index::new(tables.into_iter().map(|t| (t.glob, t.facts)).collect(), fold_case)
}
