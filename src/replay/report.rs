//! The result of a replay, as text, JSON and a page show it.

use serde::Serialize;

use super::judged::Lot;

/// Everything that a replay found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The policy in question.
    pub policy: PolicyLine,
    /// The policy that it is compared with.
    pub against: Option<PolicyLine>,
    /// First and last day of submission.
    pub days: Option<(String, String)>,
    /// What all jobs come to.
    pub total: Line,
    /// Each rule and limit of the policy, in its order.
    pub rules: Vec<RuleLine>,
    /// Users of whose jobs some rule complains, the most refused first.
    pub users: Vec<Named>,
    /// Accounts, likewise.
    pub accounts: Vec<Named>,
    /// Partitions, likewise.
    pub partitions: Vec<Named>,
    /// Weeks by their Monday, in order, without gaps.
    pub weeks: Vec<Named>,
    /// What is another under the other policy.
    pub changes: Option<Changes>,
    /// What cannot be told, in sentences.
    pub cannot_tell: Vec<String>,
    /// What was read and not judged.
    pub passed: Passed,
}

/// Which policy.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyLine {
    /// Its file, or what stands for one.
    pub file: String,
    /// The site's name.
    pub site: String,
    /// `off`, `audit`, `warn`, `enforce`.
    pub mode: &'static str,
    /// Digest of its text, 16 hex digits.
    pub hash: String,
}

/// Jobs by what becomes of them. Of several findings on a job the gravest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Line {
    /// All of them.
    pub jobs: u64,
    /// Refused.
    pub refused: u64,
    /// Warned.
    pub warned: u64,
    /// Only recorded.
    pub audited: u64,
    /// Lifted by a written reason.
    pub justified: u64,
    /// Lifted because they are root's.
    pub root: u64,
    /// Lifted by an exemption.
    pub exempt: u64,
    /// Accepted, with something filled in.
    pub edited: u64,
    /// Nobody can tell.
    pub cannot_tell: u64,
    /// Users of jobs that are refused, warned, audited or edited.
    pub users: u64,
    /// GPU-hours of all jobs.
    pub gpu_hours: f64,
    /// CPU-hours of all jobs.
    pub cpu_hours: f64,
    /// GPU-hours of jobs that are refused, warned, audited or edited.
    pub touched_gpu_hours: f64,
    /// CPU-hours of those.
    pub touched_cpu_hours: f64,
}

/// A rule or limit.
#[derive(Clone, Debug, Serialize)]
pub struct RuleLine {
    /// Its name.
    pub rule: String,
    /// What it comes to.
    #[serde(flatten)]
    pub line: Line,
    /// Why it cannot be told of jobs, where it cannot.
    pub why: Option<&'static str>,
    /// Jobs that show it.
    pub examples: Vec<ExampleLine>,
}

/// A job that shows what a rule does.
#[derive(Clone, Debug, Serialize)]
pub struct ExampleLine {
    /// Its number as users know it; `ref ...` for a record.
    pub job: String,
    /// Login name.
    pub user: String,
    /// What the rule says.
    pub words: String,
}

/// A user, account, partition or week.
#[derive(Clone, Debug, Serialize)]
pub struct Named {
    /// Which.
    pub name: String,
    /// What it comes to.
    #[serde(flatten)]
    pub line: Line,
}

/// What changes from the other policy to this one.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Changes {
    /// Jobs refused that were not.
    pub newly_refused: u64,
    /// GPU-hours of those.
    pub newly_refused_gpu_hours: f64,
    /// Jobs no longer refused.
    pub no_longer_refused: u64,
    /// GPU-hours of those.
    pub no_longer_refused_gpu_hours: f64,
    /// By rule.
    pub rules: Vec<ChangeLine>,
}

/// What changes by one rule.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ChangeLine {
    /// Its name.
    pub rule: String,
    /// Jobs that it refuses and did not.
    pub newly_refused: u64,
    /// Jobs that it refused and does not.
    pub no_longer_refused: u64,
    /// Jobs that it warns of or records, and passed over before.
    pub newly_noted: u64,
    /// Jobs that it warned of or recorded, and passes over.
    pub no_longer_noted: u64,
    /// Jobs newly refused or noted.
    pub examples: Vec<ExampleLine>,
    /// Jobs no longer refused or noted.
    pub examples_before: Vec<ExampleLine>,
}

/// What was read and not judged.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Passed {
    /// Lines of jobs that were judged.
    pub rows: u64,
    /// Lines that cannot be read.
    pub broken: u64,
    /// The first of them: file:line: why.
    pub first: Vec<String>,
    /// Jobs of which neither command line nor request is known.
    pub unknown: u64,
    /// Jobs of other days.
    pub outside: u64,
    /// Steps.
    pub steps: u64,
    /// Jobs read before.
    pub repeated: u64,
    /// Records of updates and of `--test-only`.
    pub not_submissions: u64,
}

impl Line {
    /// Counts jobs that fare alike.
    pub(super) fn count(&mut self, lot: Option<Lot>, jobs: u64) {
        self.jobs = self.jobs.saturating_add(jobs);
        let count = match lot {
            None => return,
            Some(Lot::Refused) => &mut self.refused,
            Some(Lot::Warned) => &mut self.warned,
            Some(Lot::Audited) => &mut self.audited,
            Some(Lot::Justified) => &mut self.justified,
            Some(Lot::Root) => &mut self.root,
            Some(Lot::Exempt) => &mut self.exempt,
            Some(Lot::Edited) => &mut self.edited,
            Some(Lot::CannotTell) => &mut self.cannot_tell,
        };
        *count = count.saturating_add(jobs);
    }

    /// Jobs that a rule complains of, whatever follows from it.
    pub fn complained(&self) -> u64 {
        self.refused.saturating_add(self.warned).saturating_add(self.audited)
    }
}
