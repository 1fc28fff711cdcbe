//! What the plugin says of itself: written by the helper into slurmctld's state folder, read by
//! `sluice status`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::record::Record;

/// Name of the file in StateSaveLocation.
pub const FILE: &str = "sluice.status.json";
/// Version of the file's own form.
pub const SCHEMA: u32 = 1;

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// [`SCHEMA`].
    pub sluice: u32,
    /// When this was written, seconds since 1970. It is written when something has changed.
    pub written: u64,
    /// slurmctld's process.
    pub pid: u32,
    /// When the plugin was loaded, seconds since 1970.
    pub started: u64,
    /// What runs.
    pub build: Build,
    /// What is in force.
    pub policy: PolicyStatus,
    /// Submissions and tests that were judged while a policy was in force.
    pub submissions: u64,
    /// Updates likewise, one for each job record.
    pub updates: u64,
    /// Panics that were caught.
    pub panics: u64,
    /// Requests that Sluice failed on as a whole, answered by `on_error`.
    pub failures: u64,
    /// What the decisions were.
    pub decisions: Decisions,
    /// Where they are recorded.
    pub records: Records,
}

/// The `.so`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Build {
    /// Sluice's version.
    pub version: String,
    /// The Slurm version of the headers that it was built with.
    pub slurm: String,
}

/// The policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicyStatus {
    /// The file that is looked at.
    pub path: String,
    /// Where the policy in force comes from.
    pub source: Source,
    /// Its digest, 16 hex digits; empty where none is in force.
    pub hash: String,
    /// Since when it is in force, seconds since 1970.
    pub since: u64,
    /// Why the file does not count, where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When that was seen, seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_since: Option<u64>,
}

/// Where a policy comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// There is none: every job passes.
    #[default]
    Nowhere,
    /// The file.
    File,
    /// The copy of the last good file.
    SavedCopy,
}

/// Decisions that were no plain accept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Decisions {
    /// Requests that were refused.
    pub refused: u64,
    /// Requests that were accepted with something to record.
    pub accepted: u64,
    /// By rule or limit and by what followed: `{"exclusive": {"refused": 3}}`.
    pub findings: BTreeMap<String, BTreeMap<String, u64>>,
    /// Values filled in, by option.
    pub edits: BTreeMap<String, u64>,
    /// Failures by rule.
    pub failed: BTreeMap<String, u64>,
}

/// How recording goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Records {
    /// Socket or file.
    pub target: String,
    /// Records written.
    pub written: u64,
    /// Records lost.
    pub dropped: u64,
    /// Why records cannot be written at the moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Decisions {
    /// Counts one decision.
    pub fn count(&mut self, record: &Record) {
        let total = if record.verdict == "refused" { &mut self.refused } else { &mut self.accepted };
        *total = total.saturating_add(1);
        for finding in &record.findings {
            let by_outcome = self.findings.entry(finding.rule.clone()).or_default();
            add_one(by_outcome, &finding.outcome);
        }
        for edit in record.edits.iter().filter(|_| record.verdict == "accepted") {
            let option = edit.split('=').next().unwrap_or(edit).trim_start_matches('-');
            add_one(&mut self.edits, option);
        }
        for rule in &record.failed {
            add_one(&mut self.failed, rule);
        }
    }
}

fn add_one(counts: &mut BTreeMap<String, u64>, key: &str) {
    let n = counts.entry(key.to_owned()).or_default();
    *n = n.saturating_add(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_counted_by_rule_and_outcome() {
        let text = r#"{"sluice":1,"ref":"7f3a9c21","time":0,"kind":"submit","verdict":"accepted","user":1,
            "findings":[{"rule":"exclusive","quantity":"memory","outcome":"justified","asked":"a","excess":1}],
            "edits":["--cpus-per-gpu=4","--requeue"],"failed":["wrap"],"policy":"","nanoseconds":0,"request":{}}"#;
        let record: Record = serde_json::from_str(text).expect("a record");
        let mut decisions = Decisions::default();
        decisions.count(&record);
        decisions.count(&Record { verdict: "refused".to_owned(), ..record });
        assert_eq!((decisions.accepted, decisions.refused), (1, 1));
        assert_eq!(decisions.findings["exclusive"]["justified"], 2);
        // Of a refusal nothing is filled in.
        assert_eq!((decisions.edits["cpus-per-gpu"], decisions.edits["requeue"]), (1, 1));
        assert_eq!(decisions.failed["wrap"], 2);
    }

    #[test]
    fn a_newer_or_older_file_is_read_too() {
        let status: Status =
            serde_json::from_str(r#"{"sluice":1,"policy":{"source":"file"},"new":1}"#).expect("");
        assert_eq!((status.policy.source, status.submissions), (Source::File, 0));
    }
}
