//! Updates of existing jobs: only what gets worse counts.
//!
//! The job is judged as it is and as it would be. A finding is known by (rule, quantity, place);
//! one that the job already has, and that is no further from what is allowed than before, stands
//! and is not told. So a reduction passes, whatever the job was when a rule came into force.

use crate::cluster::Cluster;
use crate::date::Date;
use crate::judge;
use crate::policy::{Mode, Policy};
use crate::request::Request;
use crate::verdict::{Complaint, Edit, Errno, Finding, Outcome, Place, Remedy, Topic, Verdict};

/// The job that an update changes.
#[derive(Clone, Copy, Debug)]
pub enum Existing<'a> {
    /// Read from slurmctld.
    Job(&'a Request<'a>),
    /// It could not be read: only what the change states can be judged.
    Unreadable,
}

/// Judges an update: `change` holds only what it states.
pub fn judge<'a>(
    policy: &Policy,
    existing: Existing<'a>,
    change: &Request<'a>,
    cluster: &dyn Cluster,
    today: Date,
) -> Verdict {
    if change.changes_nothing_judged() {
        return Verdict::default();
    }
    let nothing = Request {
        user_id: change.user_id,
        group_id: change.group_id,
        submit_uid: change.submit_uid,
        privileged: change.privileged,
        ..Request::default()
    };
    let (before, readable) = match existing {
        Existing::Job(job) => (Request { privileged: change.privileged, ..job.clone() }, true),
        Existing::Unreadable => (nothing, false),
    };
    let after = before.merged_with(change);
    let known = judge::judge(policy, &before, cluster, today);
    let mut verdict = judge::judge(policy, &after, cluster, today);
    for finding in &mut verdict.findings {
        if finding.outcome <= Outcome::Audited && known.findings.iter().any(|k| is_no_worse(finding, k)) {
            finding.outcome = Outcome::Standing;
        }
    }
    verdict.findings.extend(match readable {
        false => half_stated(policy, change, today),
        true => unstated_qos(policy, &known, &verdict, change, today),
    });
    judge::in_order(&mut verdict.findings);
    // One description serves the calls for all tasks of an array: nothing is filled in.
    verdict.edits.clear();
    verdict
}

/// A QoS that a submission would get filled in, and that an update has to state.
fn unstated_qos(
    policy: &Policy,
    known: &Verdict,
    verdict: &Verdict,
    change: &Request<'_>,
    today: Date,
) -> Option<Finding> {
    let filled_in = |verdict: &Verdict| {
        verdict.edits.iter().find_map(|e| match &e.edit {
            Edit::Qos(name) => Some(name.clone()),
            _ => None,
        })
    };
    let name = filled_in(verdict).filter(|_| filled_in(known).is_none())?;
    let asked = "no QoS is named, and the partition is lent to guests".to_owned();
    entitlement(policy, change, today, "partition", asked, format!("state QOS={name} in the same update"))
}

fn is_no_worse(finding: &Finding, known: &Finding) -> bool {
    finding.rule == known.rule
        && finding.complaint.quantity == known.complaint.quantity
        && place(&finding.complaint) == place(&known.complaint)
        && finding.complaint.excess <= known.complaint.excess
}

fn place(complaint: &Complaint) -> Option<&Place> {
    complaint.allowed.as_ref().map(|a| &a.place)
}

/// QoS or partition alone, of a job that cannot be read: together they decide who may run where,
/// and half of it proves nothing.
fn half_stated(policy: &Policy, change: &Request<'_>, today: Date) -> Option<Finding> {
    let (option, other) = match (&change.partition, &change.qos) {
        (Some(_), None) => ("partition", "QOS"),
        (None, Some(_)) => ("qos", "Partition"),
        _ => return None,
    };
    let asked = format!("--{option} is changed alone, and the job cannot be read");
    entitlement(policy, change, today, option, asked, format!("state {other}= in the same update"))
}

/// A finding of `qos-entitlement` that only an update can have.
fn entitlement(
    policy: &Policy,
    change: &Request<'_>,
    today: Date,
    option: &'static str,
    asked: String,
    remedy: String,
) -> Option<Finding> {
    let set = policy.rules.iter().find(|set| set.info.name == "qos-entitlement")?;
    let settings = &set.entries.first()?.settings;
    let (mode, enforce_from) = settings.effective(policy.site.mode, today);
    let outcome = match mode {
        Mode::Off => return None,
        _ if change.privileged && policy.site.exempt_root => Outcome::Root,
        Mode::Audit => Outcome::Audited,
        Mode::Warn => Outcome::Warned,
        Mode::Enforce => Outcome::Refused,
    };
    Some(Finding {
        rule: set.info.name.to_owned(),
        topic: Topic::Entitlement,
        complaint: Complaint {
            quantity: "qos",
            asked,
            allowed: None,
            excess: 1,
            options: vec![option],
            remedies: vec![Remedy::Change(remedy)],
            errno: Errno::InvalidQos,
            told_by: None,
        },
        outcome,
        policy_line: settings.line,
        enforce_from,
        help: settings.help.clone(),
        justify: None,
    })
}
