//! `export-list`: values in `--export` arrive whole.

use super::{Check, RuleInfo, explained, parse};
use crate::case::{Candidate, Case};
use crate::judge::Report;
use crate::request::export;
use crate::verdict::{Complaint, Errno, Remedy, Topic};
use crate::words::shown;

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "export-list",
    topic: Topic::Habit,
    explanation: EXPLANATION,
    justifiable: true,
    parse: parse::<ExportList>,
};

explained! {
    /// Values in `--export` arrive whole.
    ///
    /// # What it holds
    /// No value in `--export` is cut at a comma. The comma separates variables there, so that
    /// `--export=ALL,LAYERS=1,2,3` sets `LAYERS` to `1` and asks for variables named `2` and `3`.
    /// A cut that leaves behind what could be the name of a variable (`HOSTS=node1,node2`) cannot be
    /// seen in the list. A second `--export` on a command line, which replaces the first, and names
    /// of variables that are not set are for `sluice check` to see. Values are never shown.
    ///
    /// # Why
    /// The job runs, with another value than its user typed, and says nothing of it.
    ///
    /// # Refused
    /// ```text
    /// sbatch --export=ALL,LAYERS=1,2,3 train.sh
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --export='ALL,"LAYERS=1,2,3"' train.sh
    /// LAYERS=1,2,3 sbatch --export=ALL train.sh
    /// ```
    ///
    /// # Options
    /// None of its own.
    pub struct ExportList {}
}

impl Check for ExportList {
    fn check(&self, case: &Case<'_>, _: &Candidate<'_>, report: &mut Report<'_, '_>) {
        let Some(list) = case.request.export.as_deref() else { return };
        let cut = export::cut_values(list);
        let Some(first) = cut.first().map(|name| shown(name)) else { return };
        let asked = match cut.len() {
            1 => format!("--export cuts the value of {first} at its comma"),
            n => format!("--export cuts the values of {first} and {} more at their commas", n - 1),
        };
        let all = if export::elements(list).any(|e| e.eq_ignore_ascii_case("ALL")) { "ALL," } else { "" };
        report.complain(Complaint {
            quantity: "export",
            asked,
            allowed: None,
            excess: cut.len() as u64,
            options: vec!["export"],
            // Values may be secrets: the remedy is told without them.
            remedies: vec![
                Remedy::Change(format!("quote it with its name: --export='{all}\"{first}=...\"'")),
                Remedy::Change(format!("set it before and name it alone: --export={all}{first}")),
            ],
            errno: Errno::AccessDenied,
            told_by: None,
        });
    }
}
