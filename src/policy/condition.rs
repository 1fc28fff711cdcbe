//! `when`: to which requests a rule, a limit or an exemption applies.
//!
//! All keys must match, any value within a key. What is unknown matches nothing.

use super::names::{Groups, Names, Users};
use crate::case::{Candidate, Case};
use crate::request::Origin;
use crate::request::options::OptionTest;

/// A compiled condition. An absent key always matches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct When {
    /// `partition`.
    pub partition: Option<Names>,
    /// `qos`.
    pub qos: Option<Names>,
    /// `account`.
    pub account: Option<Names>,
    /// `user`.
    pub user: Option<Users>,
    /// `group`.
    pub group: Option<Groups>,
    /// `reservation`.
    pub reservation: Option<Names>,
    /// `gpu_type`.
    pub gpu_type: Option<Names>,
    /// `kind`.
    pub kind: Option<Vec<Kind>>,
    /// `gpus`.
    pub gpus: Option<GpuCount>,
    /// `given`: options stated.
    pub given: Option<Vec<OptionTest>>,
    /// `not`: must not match.
    pub not: Option<Box<When>>,
}

/// `kind`: an array is batch and array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// sbatch and everything else with a script, scrontab too.
    Batch,
    /// srun and salloc.
    Interactive,
    /// A job array.
    Array,
    /// A component of a heterogeneous job.
    Het,
    /// scrontab.
    Cron,
}

/// `gpus`: `true` is `1-`, `false` is `0`, `2`, `"2-3"`, `"5-"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuCount {
    /// At least.
    pub min: u64,
    /// At most.
    pub max: Option<u64>,
}

impl When {
    /// Whether the condition holds for `candidate` of `case`.
    pub fn matches(&self, case: &Case<'_>, candidate: &Candidate<'_>) -> bool {
        let request = case.request;
        let any = |names: &Option<Names>, value: Option<&str>| match names {
            None => true,
            Some(names) => value.is_some_and(|v| names.contains(v)),
        };
        any(&self.partition, candidate.partition())
            && self.reservation.as_ref().is_none_or(|names| {
                let asked = request.reservation.as_deref().unwrap_or("");
                crate::request::partition_list::names(asked).any(|r| names.contains(r))
            })
            && self.kind.as_ref().is_none_or(|kinds| kinds.iter().any(|k| is_kind(*k, case)))
            && self.gpus.is_none_or(|range| candidate.gpus_within(range.min, range.max))
            && self.gpu_type.as_ref().is_none_or(|names| candidate.gpu_types(case).any(|t| names.contains(t)))
            && self.given.as_ref().is_none_or(|tests| tests.iter().any(|t| t.matches(request)))
            && self.user.as_ref().is_none_or(|users| users.contains(request, case.cluster))
            && self.group.as_ref().is_none_or(|groups| groups.contains(request))
            && self
                .account
                .as_ref()
                .is_none_or(|names| case.account().is_some_and(|a| names.contains(&a.name)))
            && self
                .qos
                .as_ref()
                .is_none_or(|names| candidate.qos(case).is_some_and(|q| q.names().any(|q| names.contains(q))))
            && self.not.as_ref().is_none_or(|not| !not.matches(case, candidate))
    }
}

fn is_kind(kind: Kind, case: &Case<'_>) -> bool {
    let request = case.request;
    match kind {
        Kind::Batch => matches!(request.origin, Origin::Batch | Origin::Cron),
        Kind::Interactive => request.origin == Origin::Interactive,
        Kind::Array => request.array.is_some(),
        Kind::Het => request.het_offset.is_some(),
        Kind::Cron => request.origin == Origin::Cron,
    }
}
