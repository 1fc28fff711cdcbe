//! `wrap`: a script that is kept, not an inline command.

use super::{Check, RuleInfo, explained, parse};
use crate::case::{Candidate, Case};
use crate::judge::Report;
use crate::verdict::{Allowed, Complaint, Errno, Place, Remedy, Topic};

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "wrap",
    topic: Topic::Habit,
    explanation: EXPLANATION,
    justifiable: true,
    parse: parse::<Wrap>,
};

explained! {
    /// A script that is kept instead of an inline command.
    ///
    /// # What it holds
    /// A batch job is submitted from a script file, not with `sbatch --wrap`. The rule knows the
    /// script that sbatch itself writes for `--wrap` by its first lines; it never shows the
    /// command. It is meant as a warning: `mode = "warn"`.
    ///
    /// # Why
    /// A result whose command stood in somebody's shell cannot be made again, and nobody can be
    /// helped with a job that nobody can read.
    ///
    /// # Refused
    /// ```text
    /// sbatch --partition=gpu --gpus=1 --wrap="python train.py"
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --partition=gpu --gpus=1 train.sh
    /// ```
    ///
    /// # Options
    /// None of its own.
    pub struct Wrap {}
}

impl Check for Wrap {
    fn check(&self, case: &Case<'_>, _: &Candidate<'_>, report: &mut Report<'_, '_>) {
        if !case.request.is_wrapped() {
            return;
        }
        report.complain(Complaint {
            quantity: "script",
            // What was wrapped is the job's script, and scripts are never told or recorded.
            asked: "--wrap runs an inline command".to_owned(),
            allowed: Some(Allowed {
                place: Place::Site,
                verb: ("asks for", "ask for"),
                what: "a script that is kept".to_owned(),
            }),
            excess: 1,
            options: vec!["wrap"],
            remedies: vec![Remedy::Change("put the command into a script and submit that".to_owned())],
            errno: Errno::AccessDenied,
            told_by: None,
        });
    }
}
