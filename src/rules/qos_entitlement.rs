//! `qos-entitlement`: on a lent partition everyone but the owner runs under its lent QoS.

use super::owner::is_guest;
use super::{Check, RuleInfo, explained, parse};
use crate::case::{Candidate, Case, Source};
use crate::judge::{Report, place};
use crate::policy::Names;
use crate::verdict::{Allowed, Complaint, Edit, Errno, Remedy, Topic};
use crate::words::shown;

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "qos-entitlement",
    topic: Topic::Entitlement,
    explanation: EXPLANATION,
    justifiable: false,
    parse: parse::<QosEntitlement>,
};

explained! {
    /// Guests of a lent partition run under its lent QoS.
    ///
    /// # What it holds
    /// A partition with an `owner` is lent to everyone else, and under its `lent_qos` only. The
    /// owner is known by an account with an association of that user, by name, or by group; typing
    /// `--account` makes nobody an owner. Every partition of a list and every QoS of a list counts,
    /// and a default QoS counts like a typed one. Where a request names no QoS and all of its
    /// partitions take the same lent QoS, that is filled in.
    ///
    /// # Why
    /// Whoever bought the nodes gets them back when they need them. That Slurm would accept a
    /// higher QoS on them is no entitlement to it.
    ///
    /// # Refused
    /// ```text
    /// sbatch --partition=phys-h100 --qos=high train.sh
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --partition=phys-h100 --qos=scavenger train.sh
    /// sbatch --partition=phys-h100 train.sh         (the lent QoS is filled in)
    /// ```
    ///
    /// # Options
    /// None of its own.
    pub struct QosEntitlement {}
}

impl Check for QosEntitlement {
    fn check(&self, case: &Case<'_>, candidate: &Candidate<'_>, report: &mut Report<'_, '_>) {
        if !is_guest(case, candidate) {
            return;
        }
        let none = Names::default();
        let lent = candidate.facts.lent_qos().unwrap_or(&none);
        let qos = candidate.qos(case);
        if qos.is_some_and(|q| q.names().next().is_some() && q.names().all(|name| lent.contains(name))) {
            return;
        }
        let asked = qos.filter(|q| q.source == Source::Asked);
        if asked.is_none() {
            if let Some(name) = lent_everywhere(case) {
                report.fill_in(&RULE, Edit::Qos(name.to_owned()));
                return;
            }
        }
        let asked = match (asked, qos) {
            (Some(q), _) => {
                let high: Vec<String> = q.names().filter(|n| !lent.contains(n)).map(shown).collect();
                format!("QoS {} is not for guests", high.join(", "))
            }
            (None, Some(q)) => {
                format!("no QoS is named, and the default {} is not for guests", shown(&q.name))
            }
            (None, None) => "no QoS is named".to_owned(),
        };
        let names: Vec<&str> = lent.iter().map(|g| g.as_str()).collect();
        let (verb, what) = if names.is_empty() {
            (("takes", "take"), "no guests".to_owned())
        } else {
            (("takes", "take"), format!("guests only under {}", names.join(" or ")))
        };
        let own = own_account(case, candidate).map(|a| Remedy::exactly("account", a));
        let named = lent.literal().next().map(|name| Remedy::exactly("qos", name));
        let elsewhere = (lent.is_empty() && case.candidates.len() == 1)
            .then(|| Remedy::Change("name another partition".to_owned()));
        report.complain(Complaint {
            quantity: "qos",
            asked,
            allowed: Some(Allowed { place: place(candidate), verb, what }),
            excess: 1,
            options: vec!["qos", "partition"],
            remedies: named.into_iter().chain(own).chain(elsewhere).collect(),
            errno: Errno::InvalidQos,
            told_by: None,
        });
    }
}

/// The QoS to fill in: the first lent one that every candidate takes from this user as a guest.
fn lent_everywhere<'p>(case: &Case<'p>) -> Option<&'p str> {
    let first = case.candidates.first()?;
    let takes = |name: &str| {
        case.candidates
            .iter()
            .all(|c| is_guest(case, c) && c.facts.lent_qos().is_some_and(|lent| lent.contains(name)))
    };
    first.facts.lent_qos()?.literal().find(|name| takes(name))
}

/// An account of the owner's that the user has an association with, and did not use.
fn own_account<'p>(case: &Case<'_>, candidate: &Candidate<'p>) -> Option<&'p str> {
    let uid = case.request.user_id;
    let accounts = &candidate.facts.owner()?.accounts;
    accounts.literal().find(|a| case.cluster.has_association(uid, a) == Some(true))
}
