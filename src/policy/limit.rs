//! `[[limit]]`: a site's own numbers.
use super::Settings;
use crate::case::{Candidate, Case};
use crate::verdict::{Complaint, Topic};

/// One `[[limit]]`.
#[derive(Debug)]
pub struct Limit {
    /// `name`.
    pub name: String,
    /// What every rule has.
    pub settings: Settings,
}

/// Judges every limit that applies to one candidate.
pub fn check_all<'p>(
    case: &Case<'p>,
    _candidate: &Candidate<'p>,
    _complain: impl FnMut(&'p Limit, Topic, Complaint),
) {
    for _limit in &case.policy.limits {}
}
