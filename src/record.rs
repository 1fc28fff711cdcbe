//! The decision record: one line of JSON for every decision that is not a plain accept, and for every
//! accepted submission that states a lineage.
//!
//! slurmctld writes it, `sluice replay` and `sluice status` read it. It holds what was decided and
//! why, and enough of the request to be judged again; never the script, the environment or the
//! command line.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::request::Request;
use crate::verdict::{Finding, Outcome, Verdict};

/// Version of the record's own form.
pub const SCHEMA: u32 = 1;

/// One decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub sluice: u32,
    /// The reference in the user's message.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Seconds since 1970.
    pub time: u64,
    /// `submit`, `update` or `test` (`--test-only`).
    pub kind: String,
    /// The job of an update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// `accepted` or `refused`.
    pub verdict: String,
    /// Owner of the job (uid).
    pub user: u32,
    /// Account and QoS that Slurm would use, as far as a rule had to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Partitions asked for, or the one that Slurm would use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// Every finding, told or not.
    pub findings: Vec<RecordedFinding>,
    /// Options filled in; in audit mode those that would have been.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<String>,
    /// The reason that lifted findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub justification: Option<String>,
    /// Rules that failed on this request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// What could not be known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Digest of the policy in force, 16 hex digits.
    pub policy: String,
    /// Nanoseconds that the decision took.
    pub nanoseconds: u64,
    /// The request, without what is at its default.
    pub request: Value,
    /// Fields of the request that were too long for a line of the system log, and left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
}

/// One finding of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFinding {
    /// Rule or limit.
    pub rule: String,
    /// What is counted.
    pub quantity: String,
    /// `refused`, `warned`, `audited`, `justified`, `root`, `exempt`, `covered`, `standing`.
    pub outcome: String,
    /// What was asked.
    pub asked: String,
    /// What is allowed, and by whom.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub allowed: String,
    /// How far the one is from the other.
    pub excess: u64,
    /// The exemption's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exempt: Option<String>,
}

/// What the adapter knows of a decision besides the verdict.
#[derive(Clone, Debug)]
pub struct Circumstances {
    /// The reference in the user's message.
    pub reference: String,
    /// Seconds since 1970.
    pub time: u64,
    /// `submit`, `update` or `test`.
    pub kind: &'static str,
    /// The job of an update.
    pub job: Option<String>,
    /// Nanoseconds that the decision took.
    pub nanoseconds: u64,
}

impl Record {
    /// The record of one decision under the policy with this hash.
    pub fn new(circumstances: Circumstances, policy: u64, request: &Request<'_>, verdict: &Verdict) -> Self {
        let text = |names: &[&'static str]| names.iter().map(|&n| n.to_owned()).collect();
        Record {
            sluice: SCHEMA,
            reference: circumstances.reference,
            time: circumstances.time,
            kind: circumstances.kind.to_owned(),
            job: circumstances.job,
            verdict: if verdict.accepts() { "accepted" } else { "refused" }.to_owned(),
            user: request.user_id,
            account: request.account.as_deref().map(str::to_owned),
            partition: request.partition.as_deref().map(str::to_owned),
            findings: verdict.findings.iter().map(RecordedFinding::new).collect(),
            edits: verdict.edits.iter().map(|e| e.edit.to_string()).collect(),
            justification: verdict.justification.clone(),
            failed: text(&verdict.failed),
            unknown: text(&verdict.unknown),
            policy: format!("{policy:016x}"),
            nanoseconds: circumstances.nanoseconds,
            request: brief(request),
            cut: Vec::new(),
        }
    }

    /// One line of JSON.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// One line of JSON of at most so many bytes: the request's longest texts go until it fits, and
    /// are named in `cut`. A line that does not fit even so is longer than asked for.
    pub fn to_line_within(&self, bytes: usize) -> String {
        let mut line = self.to_line();
        let mut short = self.clone();
        while line.len() > bytes {
            let Some(fields) = short.request.as_object_mut() else { break };
            let length = |value: &Value| value.as_str().map_or(0, str::len);
            let longest = fields.iter().max_by_key(|(_, value)| length(value)).map(|(name, _)| name.clone());
            let Some(name) = longest.filter(|n| fields.get(n).is_some_and(|v| length(v) > 0)) else { break };
            fields.remove(&name);
            short.cut.push(name);
            line = short.to_line();
        }
        line
    }

    /// The request, to be judged again, without what was cut. `None` where it is none of ours.
    pub fn request(&self) -> Option<Request<'static>> {
        serde_json::from_value(self.request.clone()).ok()
    }
}

impl RecordedFinding {
    fn new(finding: &Finding) -> Self {
        let outcome = match &finding.outcome {
            Outcome::Refused => "refused",
            Outcome::Warned => "warned",
            Outcome::Audited => "audited",
            Outcome::Justified => "justified",
            Outcome::Root => "root",
            Outcome::Exempt(_) => "exempt",
            Outcome::Covered => "covered",
            Outcome::Standing => "standing",
        };
        RecordedFinding {
            rule: finding.rule.clone(),
            quantity: finding.complaint.quantity.to_owned(),
            outcome: outcome.to_owned(),
            asked: finding.complaint.asked.clone(),
            allowed: finding.complaint.allowed.as_ref().map(crate::message::allowed).unwrap_or_default(),
            excess: finding.complaint.excess,
            exempt: match &finding.outcome {
                Outcome::Exempt(reason) => Some(reason.clone()),
                _ => None,
            },
        }
    }
}

/// The request's fields that are not at their default.
fn brief(request: &Request<'_>) -> Value {
    let object = |r: &Request<'_>| match serde_json::to_value(r) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    };
    let unset = object(&Request::default());
    let mut map = object(request);
    map.retain(|key, value| unset.get(key) != Some(value));
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{ArraySpec, Memory, TimeLimit, Tres};

    #[test]
    fn a_recorded_request_is_read_back_as_it_was_without_script_or_environment() {
        let request = Request {
            user_id: 1001,
            partition: Some("gpu".into()),
            tres_per_job: Tres::new("gres/gpu:4"),
            array: Some(ArraySpec::new("0-99%5")),
            memory: Memory::PerCpu(2000),
            time_limit: TimeLimit::Minutes(90),
            comment: Some("justify: needs \"quotes\", and \u{fc}".into()),
            ..Request::default()
        };
        let secret = Request {
            script: Some("#!/bin/sh\nexport TOKEN=1".into()),
            submit_line: Some("sbatch --wrap=secret".into()),
            export: Some("TOKEN=1".into()),
            ..request.clone()
        };
        let brief = brief(&secret);
        let text = brief.to_string();
        assert!(!text.contains("TOKEN") && !text.contains("secret"), "{text}");
        let back: Request<'static> = serde_json::from_value(brief).expect("a request");
        assert_eq!(back, request);
    }

    #[test]
    fn a_line_that_is_too_long_loses_the_longest_texts_and_says_so() {
        let request = Request {
            dependency: Some("afterok:1".repeat(2000).into()),
            comment: Some("x".repeat(1000).into()),
            partition: Some("gpu".into()),
            ..Request::default()
        };
        let record = Record { request: brief(&request), ..empty() };
        let line = record.to_line_within(7800);
        assert!(line.len() <= 7800);
        let back: Record = serde_json::from_str(&line).expect("still JSON");
        assert_eq!(back.cut, ["dependency"]);
        let kept = back.request().expect("a request");
        assert_eq!((kept.partition.as_deref(), kept.comment.map(|c| c.len())), (Some("gpu"), Some(1000)));
        assert_eq!(record.to_line_within(usize::MAX), record.to_line());
        // What cannot get shorter stays whole JSON.
        assert!(serde_json::from_str::<Record>(&record.to_line_within(1)).is_ok());
    }

    fn empty() -> Record {
        let text = r#"{"sluice":1,"ref":"7f3a9c21","time":0,"kind":"submit","verdict":"refused","user":1,
            "findings":[],"policy":"","nanoseconds":0,"request":{}}"#;
        serde_json::from_str(text).expect("a record")
    }
}
