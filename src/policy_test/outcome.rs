//! What came of a case, and what differs from what was expected.

use std::collections::BTreeSet;
use std::fmt;

use super::file::Case;
use crate::verdict::{Outcome as Judged, Verdict};

/// What came of a case, over all components.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Rules that refuse, in order.
    pub refuses: Vec<String>,
    /// Rules that warn.
    pub warns: Vec<String>,
    /// Rules that are recorded only.
    pub records: Vec<String>,
    /// What is filled in.
    pub edits: Vec<String>,
    /// What the user reads; of several components each line begins with its number, as Slurm
    /// puts it.
    pub message: Vec<String>,
    /// Rules that failed: a bug.
    pub failed: Vec<&'static str>,
    /// Rules and limits that had anything to say or to fill in, whatever followed from it.
    pub touched: BTreeSet<String>,
}

impl Outcome {
    /// Takes over one component's verdict.
    pub fn add(&mut self, verdict: &Verdict, message: Vec<String>, component: Option<usize>) {
        self.touched.extend(verdict.findings.iter().map(|f| f.rule.clone()));
        self.touched.extend(verdict.edits.iter().map(|e| e.rule.to_owned()));
        for finding in &verdict.findings {
            let names = match finding.outcome {
                Judged::Refused => &mut self.refuses,
                Judged::Warned => &mut self.warns,
                Judged::Covered | Judged::Standing => continue,
                Judged::Audited | Judged::Justified | Judged::Root | Judged::Exempt(_) => &mut self.records,
            };
            names.push(finding.rule.clone());
        }
        self.edits.extend(verdict.edits_to_make().map(ToString::to_string));
        self.failed.extend(&verdict.failed);
        match component {
            None => self.message.extend(message),
            Some(index) => self.message.extend(message.iter().map(|line| format!("{index}: {line}"))),
        }
    }

    /// What differs from what `case` expects.
    pub fn differences(&self, case: &Case) -> Vec<Difference> {
        let mut all = Vec::new();
        let mut compare = |what: &'static str, expected: &[String], got: &[String]| {
            if expected != got {
                all.push(Difference::Other { what, expected: expected.to_vec(), got: got.to_vec() });
            }
        };
        compare("refuses", &case.refuses, &self.refuses);
        compare("warns", &case.warns, &self.warns);
        compare("edits", &case.edits, &self.edits);
        if let Some(records) = &case.records {
            compare("records", records, &self.records);
        }
        if let Some(message) = &case.message {
            compare("message", message, &self.message);
        }
        all.extend(self.failed.iter().map(|rule| Difference::Broken(format!("{rule} panicked"))));
        all
    }
}

/// One thing that is not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The case could not be judged, and why.
    Broken(String),
    /// One part of the verdict.
    Other {
        /// The key of the case.
        what: &'static str,
        /// Its value.
        expected: Vec<String>,
        /// What came.
        got: Vec<String>,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Broken(words) => f.write_str(words),
            Difference::Other { what, expected, got } => {
                write!(f, "{what}: expected {}, got {}", list(expected), list(got))
            }
        }
    }
}

fn list(items: &[String]) -> String {
    match items {
        [] => "none".to_owned(),
        items => items.iter().map(|i| format!("{i:?}")).collect::<Vec<_>>().join(", "),
    }
}
