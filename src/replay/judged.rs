//! What one policy makes of one past submission: a mark for each rule that speaks.

use std::borrow::Cow;

use super::{Effective, Past};
use crate::cluster::Cluster;
use crate::date::Date;
use crate::judge::judge_past;
use crate::message;
use crate::policy::{Mode, Policy};
use crate::verdict::{Finding, Outcome, Verdict};

/// What becomes of a job by one rule, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lot {
    /// Refused.
    Refused,
    /// Warned.
    Warned,
    /// Only recorded: the rule, or the site, is in audit mode.
    Audited,
    /// Lifted by a written reason.
    Justified,
    /// Lifted because it is root's.
    Root,
    /// Lifted by an exemption.
    Exempt,
    /// Something is filled in.
    Edited,
    /// The rule may speak of it: accounting cannot tell.
    CannotTell,
}

/// One rule on one job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// Number of the rule or limit in [`Rules`].
    pub rule: usize,
    /// What becomes of the job by it.
    pub lot: Lot,
    /// For want of GPUs: proves nothing where the site does not account for them.
    pub for_want_of_gpus: bool,
}

/// The rules and limits of both policies.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Their names, in the order of the policy.
    pub names: Vec<String>,
}

impl Rules {
    /// Those of the policies.
    pub fn of(policies: &[&Policy]) -> Rules {
        let mut rules = Rules::default();
        for policy in policies {
            let named =
                policy.rules.iter().map(|r| r.info.name).chain(policy.limits.iter().map(|l| &*l.name));
            for name in named {
                rules.number(name);
            }
        }
        rules
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    fn number(&mut self, name: &str) -> usize {
        self.find(name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len().saturating_sub(1)
        })
    }
}

/// What the policy makes of a submission, and in its words.
pub struct Judged {
    /// At most one for each rule, by rule.
    pub marks: Vec<Mark>,
    /// Rule by rule what was asked and what is allowed, where that is told of the job.
    pub words: Vec<(usize, String)>,
}

/// Judges a submission as of the day it was made. `is_array`: whether a job is known as an array.
pub fn judged(
    policy: &Policy,
    rules: &Rules,
    past: &Past,
    day: Date,
    is_array: &dyn Fn(u32) -> Option<bool>,
) -> Judged {
    let cluster = Accounted { effective: &past.effective, is_array, at_worst: false };
    let proved = judge_past(policy, &past.least, &cluster, day);
    let mut all = Judged { marks: Vec::new(), words: Vec::new() };
    for finding in &proved.findings {
        let Some(rule) = rules.find(&finding.rule) else { continue };
        let Some(lot) = lot(&finding.outcome) else { continue };
        if depends(finding, past) {
            all.add(rule, Lot::CannotTell, false, None);
            continue;
        }
        let for_want_of_gpus =
            past.no_gpus_shown && matches!(finding.complaint.quantity, "GPUs" | "min_gpus");
        all.add(rule, lot, for_want_of_gpus, Some(finding));
    }
    for edit in &proved.edits {
        let Some(rule) = rules.find(edit.rule) else { continue };
        // What fills a gap fills none that a script has filled.
        let open = past.partial || past.open_rules.contains(&edit.rule);
        let lot = if open { Lot::CannotTell } else { Lot::Edited };
        all.add(rule, lot, false, None);
    }
    let asks_for_qos = || policy.rules.iter().any(|r| r.info.name == "short-job");
    if past.most.is_some() || asks_for_qos() {
        let most = past.most.as_ref().unwrap_or(&past.least);
        let cluster = Accounted { at_worst: true, ..cluster };
        all.take_possible(rules, &judge_past(policy, most, &cluster, day));
    }
    if past.partial {
        for limit in policy.limits.iter().filter(|l| !l.forbid.is_empty()) {
            let off = limit.settings.effective(policy.site.mode, day).0 == Mode::Off;
            if let Some(rule) = rules.find(&limit.name).filter(|_| !off) {
                all.add(rule, Lot::CannotTell, false, None);
            }
        }
    }
    for failed in &proved.failed {
        if let Some(rule) = rules.find(failed) {
            all.add(rule, Lot::CannotTell, false, None);
        }
    }
    all.marks.sort_unstable();
    all
}

impl Judged {
    /// Takes a mark; of several of a rule the gravest stays.
    fn add(&mut self, rule: usize, lot: Lot, for_want_of_gpus: bool, finding: Option<&Finding>) {
        match self.marks.iter_mut().find(|m| m.rule == rule) {
            Some(mark) if mark.lot <= lot => return,
            Some(mark) => (mark.lot, mark.for_want_of_gpus) = (lot, for_want_of_gpus),
            None => self.marks.push(Mark { rule, lot, for_want_of_gpus }),
        }
        self.words.retain(|(r, _)| *r != rule);
        self.words.extend(finding.map(|f| (rule, message::complaint(&f.complaint))));
    }

    /// What the rules would say if all that is open were at its worst.
    fn take_possible(&mut self, rules: &Rules, verdict: &Verdict) {
        let speaking = verdict.findings.iter().filter(|f| lot(&f.outcome).is_some()).map(|f| f.rule.as_str());
        let filling = verdict.edits.iter().map(|e| e.rule);
        for name in speaking.chain(filling) {
            let Some(rule) = rules.find(name) else { continue };
            self.add(rule, Lot::CannotTell, false, None);
        }
    }
}

/// Whether a finding stands or falls with what is not known: that something is not given, which a script
/// may give, or what no source tells of this submission.
fn depends(finding: &Finding, past: &Past) -> bool {
    (past.partial && finding.complaint.is_of_absence()) || past.open_rules.contains(&finding.rule.as_str())
}

fn lot(outcome: &Outcome) -> Option<Lot> {
    match outcome {
        Outcome::Refused => Some(Lot::Refused),
        Outcome::Warned => Some(Lot::Warned),
        Outcome::Audited => Some(Lot::Audited),
        Outcome::Justified => Some(Lot::Justified),
        Outcome::Root => Some(Lot::Root),
        Outcome::Exempt(_) => Some(Lot::Exempt),
        Outcome::Covered | Outcome::Standing => None,
    }
}

/// What accounting knows of the cluster: that this job ran as it did.
struct Accounted<'a> {
    effective: &'a Effective,
    is_array: &'a dyn Fn(u32) -> Option<bool>,
    /// What is unknown is as a rule would have it to complain.
    at_worst: bool,
}

impl Cluster for Accounted<'_> {
    fn default_partition(&self) -> Option<Cow<'_, str>> {
        self.effective.partition.as_deref().map(Into::into)
    }
    fn reservation_partition(&self, _: &str) -> Option<String> {
        self.effective.partition.clone()
    }
    fn user_name(&self, _: u32) -> Option<String> {
        self.effective.user.clone()
    }
    fn default_account(&self, _: u32) -> Option<String> {
        self.effective.account.clone()
    }
    // Slurm charged the account, so the user had an association with it.
    fn has_association(&self, _: u32, account: &str) -> Option<bool> {
        self.effective.account.as_deref().filter(|a| a.eq_ignore_ascii_case(account)).map(|_| true)
    }
    fn default_qos(&self, _: u32, _: Option<&str>, _: Option<&str>) -> Option<String> {
        self.effective.qos.clone()
    }
    fn may_use_qos(&self, _: u32, _: Option<&str>, _: Option<&str>, _: &str) -> Option<bool> {
        self.at_worst.then_some(true)
    }
    fn is_array(&self, job_id: u32) -> Option<bool> {
        (self.is_array)(job_id)
    }
}
