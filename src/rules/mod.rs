//! The rules: one file each, one table. A new rule is one file here, one line in [`ALL`] and in
//! `options`, and one case file in `tests/cases`.

mod array_logs;
mod array_size;
mod cpus_per_gpu;
mod dependency;
mod duplicate_submission;
mod exclusive;
mod explicit_shape;
mod export_list;
mod gpu_request;
mod lineage;
mod memory_per_gpu;
mod owner;
mod per_gpu;
mod preemptible;
mod qos_entitlement;
mod short_job;
mod time_limit;
mod wrap;

use toml::Spanned;
use toml::de::DeValue;

use crate::case::{Candidate, Case};
use crate::judge::Report;
use crate::verdict::Topic;

/// Every rule, in the order in which findings of one topic are told.
pub static ALL: &[&RuleInfo] = &[
    &qos_entitlement::RULE,
    &gpu_request::RULE,
    &explicit_shape::RULE,
    &exclusive::RULE,
    &cpus_per_gpu::RULE,
    &memory_per_gpu::RULE,
    &time_limit::RULE,
    &preemptible::RULE,
    &short_job::RULE,
    &array_logs::RULE,
    &array_size::RULE,
    &wrap::RULE,
    &export_list::RULE,
    &dependency::RULE,
    &duplicate_submission::RULE,
    &lineage::RULE,
];

/// The rule of this name.
pub fn find(name: &str) -> Option<&'static RuleInfo> {
    ALL.iter().copied().find(|r| r.name == name)
}

/// Reads a rule's own options from what is left of `[rule.NAME]`.
pub type Parse = fn(Spanned<DeValue<'_>>) -> Result<Box<dyn Check>, toml::de::Error>;

/// A rule as the table holds it.
#[derive(Debug)]
pub struct RuleInfo {
    /// Its name in policy files and messages.
    pub name: &'static str,
    /// Where its findings stand in a message.
    pub topic: Topic,
    /// What `sluice explain` prints: the doc comment of its options, in Markdown with the headings
    /// What it holds, Why, Refused, Accepted, Options.
    pub explanation: &'static str,
    /// Whether a written reason may lift it.
    pub justifiable: bool,
    /// Reads its own options from what is left of `[rule.NAME]`.
    pub parse: Parse,
}

impl PartialEq for RuleInfo {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// A rule with its options, ready to judge.
pub trait Check: Send + Sync {
    /// Judges `case` in one of the partitions it may run in. Called for each candidate that the
    /// entry's `when` matches; equal findings of several candidates become one.
    fn check(&self, case: &Case<'_>, candidate: &Candidate<'_>, report: &mut Report<'_, '_>);

    /// Where the rule has to know what was accepted before; most rules have not.
    fn memory(&self) -> Option<&dyn Memory> {
        None
    }
}

/// A rule that remembers. Called on the submission path: it must not block, and must bound what it
/// keeps.
pub trait Memory {
    /// Takes note of a submission that was accepted.
    fn accepted(&self, case: &Case<'_>);
}

/// The JSON schema of each rule's own options, in the order of [`ALL`].
#[cfg(test)]
pub fn options() -> Vec<(&'static str, serde_json::Value)> {
    use crate::policy::schema::Described as _;
    vec![
        (qos_entitlement::RULE.name, qos_entitlement::QosEntitlement::schema()),
        (gpu_request::RULE.name, gpu_request::GpuRequest::schema()),
        (explicit_shape::RULE.name, explicit_shape::ExplicitShape::schema()),
        (exclusive::RULE.name, exclusive::Exclusive::schema()),
        (cpus_per_gpu::RULE.name, cpus_per_gpu::CpusPerGpu::schema()),
        (memory_per_gpu::RULE.name, memory_per_gpu::MemoryPerGpu::schema()),
        (time_limit::RULE.name, time_limit::TimeLimitRule::schema()),
        (preemptible::RULE.name, preemptible::Preemptible::schema()),
        (short_job::RULE.name, short_job::ShortJob::schema()),
        (array_logs::RULE.name, array_logs::ArrayLogs::schema()),
        (array_size::RULE.name, array_size::ArraySize::schema()),
        (wrap::RULE.name, wrap::Wrap::schema()),
        (export_list::RULE.name, export_list::ExportList::schema()),
        (dependency::RULE.name, dependency::DependencyRule::schema()),
        (duplicate_submission::RULE.name, duplicate_submission::DuplicateSubmission::schema()),
        (lineage::RULE.name, lineage::Lineage::schema()),
    ]
}

/// Reads a rule's options.
fn parse<T>(table: Spanned<DeValue<'_>>) -> Result<Box<dyn Check>, toml::de::Error>
where
    T: serde::de::DeserializeOwned + Check + 'static,
{
    Ok(Box::new(T::deserialize(toml::de::ValueDeserializer::from(table))?))
}

/// A rule's options and its explanation from one doc comment: defines the struct, strict when read
/// from a policy file, `EXPLANATION`, and for the tests the JSON schema of the options.
macro_rules! explained {
    (
        $(#[doc = $line:literal])+
        pub struct $name:ident {
            $($(#[doc = $about:literal])+ $(#[serde($($how:tt)+)])? $key:ident: $type:ty,)*
        }
    ) => {
        $(#[doc = $line])+
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[doc = $about])+ $(#[serde($($how)+)])? $key: $type,)*
        }

        #[cfg(test)]
        impl crate::policy::schema::Described for $name {
            fn schema() -> serde_json::Value {
                crate::policy::schema::object("", &[
                    $((
                        stringify!($key),
                        concat!($($about, "\n"),+),
                        <$type as crate::policy::schema::Described>::schema(),
                    ),)*
                ])
            }
        }

        /// What `sluice explain` prints.
        pub const EXPLANATION: &str = concat!($($line, "\n"),+);
    };
}
pub(crate) use explained;
