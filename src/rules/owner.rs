//! Whose partition it is: what every rule needs to know that treats owners and guests differently.

use crate::case::{Candidate, Case};

/// How a user stands to a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It belongs to nobody.
    Open,
    /// It is the user's own.
    Owner,
    /// It is lent to the user.
    Guest,
}

/// How the owner of the job stands to the candidate. An account proves an owner only where the user
/// has an association with it: typing `--account` makes nobody one.
pub fn standing(case: &Case<'_>, candidate: &Candidate<'_>) -> Standing {
    let Some(owner) = candidate.facts.owner() else { return Standing::Open };
    let uid = case.request.user_id;
    let by_account = || {
        !owner.accounts.is_empty()
            && case.account().is_some_and(|a| {
                owner.accounts.contains(&a.name) && case.cluster.has_association(uid, &a.name) == Some(true)
            })
    };
    if owner.users.contains(case.request, case.cluster) || owner.groups.contains(case.request) || by_account()
    {
        Standing::Owner
    } else {
        Standing::Guest
    }
}

/// Whether the candidate is lent to this user.
pub fn is_guest(case: &Case<'_>, candidate: &Candidate<'_>) -> bool {
    standing(case, candidate) == Standing::Guest
}

/// Whether the candidate takes a job of this user's under `qos`, as far as lending goes.
pub fn takes_qos(case: &Case<'_>, candidate: &Candidate<'_>, qos: &str) -> bool {
    !is_guest(case, candidate) || candidate.facts.lent_qos().is_some_and(|lent| lent.contains(qos))
}
