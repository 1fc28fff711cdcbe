//! Sluice's own decision records, a line of JSON each, alone or behind the prefix of a system log.
//!
//! A record keeps the request as the hook saw it, without script, environment and command line. Plain
//! accepts are not recorded, and no record says how long a job ran.

use super::{Effective, Past};
use crate::record::Record;
use crate::request::Origin;

/// What a record begins with, wherever in the line.
const MARK: &str = "{\"sluice\":";

/// What a line is.
#[derive(Debug)]
pub enum Line {
    /// None of Sluice's.
    Other,
    /// One of Sluice's that cannot be read, and why.
    Broken(String),
    /// The record of an update or of a question.
    NoSubmission,
    /// The record of a submission.
    Submission(Box<(Record, Past)>),
}

/// Whether a line holds a record.
pub fn is_one(line: &str) -> bool {
    line.contains(MARK)
}

/// Reads a line.
pub fn read(line: &str) -> Line {
    let Some(at) = line.find(MARK) else { return Line::Other };
    let text = line.get(at..).unwrap_or("").trim_end();
    let record: Record = match serde_json::from_str(text) {
        Ok(record) => record,
        Err(error) => return Line::Broken(format!("no whole record: {error}")),
    };
    if record.sluice != crate::record::SCHEMA {
        return Line::Broken(format!("form {} of records is unknown", record.sluice));
    }
    if record.kind != "submit" {
        return Line::NoSubmission;
    }
    match past(&record) {
        Some(past) => Line::Submission(Box::new((record, past))),
        None => Line::Broken("its request cannot be read".to_owned()),
    }
}

fn past(record: &Record) -> Option<Past> {
    let mut least = record.request()?;
    // The script is not kept; that the rule `wrap` spoke is.
    let found = |rule: &str| record.findings.iter().any(|f| f.rule == rule);
    if found("wrap") {
        least.script = Some("#!/bin/sh\n# This script was created by sbatch --wrap.\n".into());
    }
    let mut most = least.clone();
    if !found("wrap") && least.origin != Origin::Interactive {
        most.script = Some("#!/bin/sh\n# This script was created by sbatch --wrap.\n".into());
    }
    most.export = Some("A=1,2".into());
    let effective = Effective {
        user: None,
        partition: record.partition.clone().filter(|p| !p.contains(',')),
        account: record.account.clone(),
        qos: None,
    };
    let mut open_rules = Vec::new();
    if record.cut.iter().any(|c| c == "comment" || c == "lineage") {
        open_rules.push("lineage");
    }
    // Whose partition it is depends on the account, and default ones are in no record. Where the rule
    // spoke or filled in a QoS, the user was a guest.
    let guest = found("qos-entitlement") || record.edits.iter().any(|e| e.starts_with("--qos="));
    if !guest && (least.account.is_none() || least.qos.is_none()) {
        open_rules.push("qos-entitlement");
    }
    Some(Past { least, most: Some(most), effective, partial: false, open_rules, no_gpus_shown: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"sluice":1,"ref":"7f3a9c21","time":1796040000,"kind":"submit","verdict":"refused","user":5,
"findings":[{"rule":"wrap","quantity":"script","outcome":"warned","asked":"--wrap runs an inline command","excess":1}],
"policy":"00","nanoseconds":1,"request":{"user_id":5,"partition":"gpu","origin":"batch"}}"#;

    #[test]
    fn a_record_is_found_behind_the_prefix_of_a_log() {
        let line = LINE.replace('\n', "");
        for text in [line.clone(), format!("Nov 30 12:00:00 ctl sluice[7]: {line}\n")] {
            let Line::Submission(read) = super::read(&text) else { panic!("{text}") };
            assert_eq!((read.0.user, read.1.least.partition.as_deref()), (5, Some("gpu")));
            assert!(read.1.least.is_wrapped());
        }
        assert!(matches!(super::read("Nov 30 12:00:00 ctl kernel: oops"), Line::Other));
        assert!(matches!(super::read(&line.replace("\"submit\"", "\"test\"")), Line::NoSubmission));
        let cut = line.get(..line.len() / 2).unwrap();
        assert!(matches!(super::read(cut), Line::Broken(why) if why.contains("no whole record")));
        assert!(matches!(super::read(&line.replace(":1,\"ref", ":9,\"ref")), Line::Broken(_)));
    }
}
