//! `when`: to which requests a rule, a limit or an exemption applies.
//!
//! All keys must match, any value within a key. What is unknown matches nothing.

use smallvec::SmallVec;

use super::names::{Groups, Names, Users};
use crate::case::{Candidate, Case};
use crate::request::options::OptionTest;
use crate::request::{Origin, partition_list};

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

/// One QoS and one reservation of the lists that a request may name: the job will run under one of
/// each, and which only Slurm decides.
#[derive(Clone, Copy, Debug, Default)]
struct Choice<'c> {
    qos: Option<&'c str>,
    reservation: Option<&'c str>,
}

/// What conditions look at of which a request may name several.
#[derive(Clone, Copy, Debug, Default)]
struct Asks {
    qos: bool,
    reservation: bool,
}

impl Asks {
    fn or(self, other: Asks) -> Asks {
        Asks { qos: self.qos || other.qos, reservation: self.reservation || other.reservation }
    }
}

/// Calls `each` for every choice that conditions which ask for QoS or reservation have to look at: once
/// at least, and until it says `true`. Returns whether it did.
fn any_choice<'c>(
    case: &'c Case<'_>,
    candidate: &'c Candidate<'_>,
    asks: Asks,
    mut each: impl FnMut(Choice<'c>) -> bool,
) -> bool {
    if !asks.qos && !asks.reservation {
        return each(Choice::default());
    }
    let named = |list: Option<&'c str>| -> SmallVec<[Option<&'c str>; 2]> {
        let names: SmallVec<_> = partition_list::names(list.unwrap_or("")).map(Some).collect();
        if names.is_empty() { SmallVec::from_elem(None, 1) } else { names }
    };
    let qos = named(if asks.qos { candidate.qos(case).map(|q| q.name.as_str()) } else { None });
    let reservations = named(if asks.reservation { case.request.reservation.as_deref() } else { None });
    qos.iter().any(|&qos| reservations.iter().any(|&reservation| each(Choice { qos, reservation })))
}

/// Calls `each` with the entries that apply to one candidate: for each choice the first whose condition
/// holds.
pub fn applying<'e, E>(
    entries: &'e [E],
    when: impl Fn(&E) -> Option<&When>,
    case: &Case<'_>,
    candidate: &Candidate<'_>,
    mut each: impl FnMut(&'e E),
) {
    let asks = entries.iter().filter_map(&when).fold(Asks::default(), |asks, w| asks.or(w.asks()));
    let first = |choice| entries.iter().find(|e| when(e).is_none_or(|w| w.holds(case, candidate, choice)));
    if !asks.qos && !asks.reservation {
        return first(Choice::default()).map_or((), each);
    }
    let mut found: SmallVec<[&'e E; 2]> = SmallVec::new();
    any_choice(case, candidate, asks, |choice| {
        if let Some(entry) = first(choice).filter(|e| !found.iter().any(|f| std::ptr::eq(*f, *e))) {
            found.push(entry);
            each(entry);
        }
        false
    });
}

impl When {
    /// Whether the condition holds for `candidate` of `case`, under any QoS and reservation that the
    /// request names.
    pub fn matches(&self, case: &Case<'_>, candidate: &Candidate<'_>) -> bool {
        any_choice(case, candidate, self.asks(), |c| self.holds(case, candidate, c))
    }

    /// Whether the condition holds under every QoS and reservation that the request names: what lifts
    /// a rule has to.
    pub fn covers(&self, case: &Case<'_>, candidate: &Candidate<'_>) -> bool {
        !any_choice(case, candidate, self.asks(), |c| !self.holds(case, candidate, c))
    }

    fn asks(&self) -> Asks {
        let own = Asks { qos: self.qos.is_some(), reservation: self.reservation.is_some() };
        self.not.as_ref().map_or(own, |not| own.or(not.asks()))
    }

    fn holds(&self, case: &Case<'_>, candidate: &Candidate<'_>, choice: Choice<'_>) -> bool {
        let request = case.request;
        let any = |names: &Option<Names>, value: Option<&str>| match names {
            None => true,
            Some(names) => value.is_some_and(|v| names.contains(v)),
        };
        any(&self.partition, candidate.partition())
            && any(&self.reservation, choice.reservation)
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
            && any(&self.qos, choice.qos)
            && self.not.as_ref().is_none_or(|not| !not.holds(case, candidate, choice))
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
