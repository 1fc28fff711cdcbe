//! Updates of existing jobs: only what gets worse counts.
//!
//! The job is judged as it is and as it would be. A finding is known by (rule, quantity, place);
//! one that the job already has, and that is no further from what is allowed than before, stands
//! and is not told. So a reduction passes, whatever the job was when a rule came into force.
//! A reason that was given for a rule covers that rule on this job from then on, and no other.

use crate::cluster::Cluster;
use crate::date::Date;
use crate::judge::{self, by_mode};
use crate::policy::{Mode, Policy, Settings};
use crate::recorded;
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
    let (before, readable) = match existing {
        Existing::Job(job) => (Request { privileged: change.privileged, ..job.clone() }, true),
        Existing::Unreadable => (nothing_of(change), false),
    };
    let after = before.merged_with(change);
    let known = judge::findings(policy, &before, cluster, today);
    let mut verdict = judge::findings(policy, &after, cluster, today);
    let lifted = |rule: &str| {
        let by_comment =
            known.findings.iter().any(|k| k.rule == rule && matches!(k.outcome, Outcome::Justified));
        by_comment
            || before.admin_comment.as_deref().is_some_and(|c| recorded::justified(c).any(|r| r == rule))
    };
    let new_reason = change.justification().is_some();
    for finding in &mut verdict.findings {
        let told = finding.outcome <= Outcome::Justified;
        if told && known.findings.iter().any(|k| is_no_worse(finding, k)) {
            finding.outcome = Outcome::Standing;
        } else if finding.outcome < Outcome::Justified {
            if finding.justify.is_some() && lifted(&finding.rule) {
                finding.outcome = Outcome::Justified;
            }
        } else if finding.outcome == Outcome::Justified && !new_reason && !lifted(&finding.rule) {
            finding.outcome = by_mode(mode_of(policy, finding, today));
        }
    }
    if !verdict.findings.iter().any(|f| f.outcome == Outcome::Justified) {
        verdict.justification = None;
    }
    verdict.findings.extend(match readable {
        false => half_stated(policy, change, today),
        true => unstated_qos(policy, &known, &verdict, change, today),
    });
    if !verdict.accepts() {
        judge::prove(&mut verdict, policy, &after, cluster, today);
    }
    judge::arrange(&mut verdict);
    // One description serves the calls for all tasks of an array: nothing is filled in.
    verdict.edits.clear();
    verdict
}

/// What is known of a job that cannot be read: whose it is.
fn nothing_of(change: &Request<'_>) -> Request<'static> {
    Request {
        user_id: change.user_id,
        group_id: change.group_id,
        submit_uid: change.submit_uid,
        privileged: change.privileged,
        ..Request::default()
    }
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
        // Who may use what has no degrees: another QoS is another finding.
        && (finding.topic != Topic::Entitlement || finding.complaint.asked == known.complaint.asked)
}

fn place(complaint: &Complaint) -> Option<&Place> {
    complaint.allowed.as_ref().map(|a| &a.place)
}

/// The mode of the policy's entry that a finding comes from.
fn mode_of(policy: &Policy, finding: &Finding, today: Date) -> Mode {
    let rules = policy.rules.iter().filter(|set| set.info.name == finding.rule);
    let rules = rules.flat_map(|set| set.entries.iter().map(|e| &e.settings));
    let limits = policy.limits.iter().filter(|l| l.name == finding.rule).map(|l| &l.settings);
    let entry = rules.chain(limits).find(|s: &&Settings| s.line == finding.policy_line);
    // Every finding has an entry; were there none, the strictest answer is the safe one.
    entry.map_or(Mode::Enforce, |s| s.effective(policy.site.mode, today).0)
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
        mode => by_mode(mode),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::UnknownCluster;
    use crate::policy::load::load;
    use crate::policy::resolve::NoDirectory;
    use crate::request::{Memory, Sharing, Tres};

    const TODAY: Date = Date { year: 2026, month: 11, day: 30 };

    fn policy() -> Policy {
        let text = r#"
            schema = 1
            [partition.gpu]
            gpus_per_node = 4
            cpus_per_node = 64
            memory_per_node = "500G"
            cpus_per_gpu = 8
            [partition.lent]
            owner = { users = ["olga"] }
            lent_qos = ["scavenger"]
            [rule.exclusive]
            justify = true
            [rule.cpus-per-gpu]
            [rule.qos-entitlement]
        "#;
        load("test", text, &NoDirectory, TODAY).expect("a policy").policy
    }

    fn outcomes<'a>(existing: Existing<'a>, change: &Request<'a>) -> Vec<(String, Outcome)> {
        let verdict = judge(&policy(), existing, change, &UnknownCluster, TODAY);
        verdict.findings.iter().map(|f| (f.rule.clone(), f.outcome.clone())).collect()
    }

    fn job() -> Request<'static> {
        Request {
            user_id: 1001,
            partition: Some("gpu".into()),
            tres_per_node: Tres::new("gres:gpu:1"),
            ..Request::default()
        }
    }

    #[test]
    fn of_an_unreadable_job_half_of_where_and_under_what_is_refused() {
        for (change, other) in [
            (Request { partition: Some("gpu".into()), ..Request::default() }, "state QOS="),
            (Request { qos: Some("high".into()), ..Request::default() }, "state Partition="),
        ] {
            let verdict = judge(&policy(), Existing::Unreadable, &change, &UnknownCluster, TODAY);
            let told = crate::message::one_line(&verdict);
            assert!(!verdict.accepts() && told.contains(other), "{told}");
        }
        let both = Request { partition: Some("gpu".into()), qos: Some("high".into()), ..Request::default() };
        assert_eq!(outcomes(Existing::Unreadable, &both), []);
        let wrong =
            Request { partition: Some("lent".into()), qos: Some("high".into()), ..Request::default() };
        assert_eq!(
            outcomes(Existing::Unreadable, &wrong),
            [("qos-entitlement".to_owned(), Outcome::Refused)]
        );
        let operator = Request { partition: Some("gpu".into()), privileged: true, ..Request::default() };
        assert_eq!(
            outcomes(Existing::Unreadable, &operator),
            [("qos-entitlement".to_owned(), Outcome::Root)]
        );
    }

    #[test]
    fn of_an_unreadable_job_what_the_change_states_is_judged() {
        let change = Request { memory: Memory::WholeNode, ..Request::default() };
        assert_eq!(outcomes(Existing::Unreadable, &change), [("exclusive".to_owned(), Outcome::Refused)]);
    }

    #[test]
    fn an_operators_change_passes_and_is_recorded() {
        let change = Request { cpus_per_task: Some(64), privileged: true, ..Request::default() };
        let found = outcomes(Existing::Job(&job()), &change);
        assert!(!found.is_empty() && found.iter().all(|(_, o)| *o >= Outcome::Root), "{found:?}");
    }

    #[test]
    fn a_reason_that_came_by_spank_is_known_by_the_admin_comment() {
        let change = Request { memory: Memory::WholeNode, ..Request::default() };
        let exclusive = Request { shared: Sharing::Exclusive, ..job() };
        assert!(
            outcomes(Existing::Job(&exclusive), &change)
                .contains(&("exclusive".to_owned(), Outcome::Refused))
        );
        let noted = Request {
            admin_comment: Some("sluice: exclusive justified: timing (ref 7f3a9c21)".into()),
            ..exclusive
        };
        assert!(
            outcomes(Existing::Job(&noted), &change).contains(&("exclusive".to_owned(), Outcome::Justified))
        );
        let for_another = Request {
            admin_comment: Some("sluice: array-logs justified: timing (ref 7f3a9c21)".into()),
            ..noted
        };
        assert!(
            outcomes(Existing::Job(&for_another), &change)
                .contains(&("exclusive".to_owned(), Outcome::Refused))
        );
    }

    #[test]
    fn nothing_is_filled_in() {
        let change = Request { tres_per_node: Tres::new("gres:gpu:2"), ..Request::default() };
        let verdict = judge(&policy(), Existing::Job(&job()), &change, &UnknownCluster, TODAY);
        assert!(verdict.is_plain(), "{verdict:?}");
    }
}
