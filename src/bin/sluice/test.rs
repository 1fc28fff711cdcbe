//! `sluice test`: a policy's own tests, kept as data.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};
use sluice::policy_test::{Difference, Given, Ran, Report, TestFile};

use crate::options::{Common, Format, Test};
use crate::output::{Style, line, styled};
use crate::policy_file::{self, Text, reason};
use crate::{Exit, Failure, output};

/// A file of cases, run.
struct Tested {
    name: String,
    report: Report,
}

/// Runs every case of every file.
///
/// # Errors
/// A policy that cannot be read or loaded; the only file that cannot.
pub fn run(common: &Common, verb: &Test) -> Result<Exit, Failure> {
    let mut exit = Exit::Yes;
    let mut tested = Vec::new();
    let mut policy: Option<Text> = None;
    for path in &verb.files {
        match one(path, common, &mut policy) {
            Ok(report) => tested.push(Tested { name: path.display().to_string(), report }),
            // One file that cannot be read keeps no other from being run.
            Err(failure) if verb.files.len() > 1 => {
                output::complain(&failure);
                exit = Exit::Failed;
            }
            Err(failure) => return Err(failure),
        }
    }
    let untouched = verb.coverage.then(|| untouched(&tested));
    let holds = tested.iter().all(|t| t.report.cases.iter().all(Ran::holds));
    match common.format {
        Format::Text => print(&tested, untouched.as_deref()),
        Format::Json => print_json(&tested, holds && exit == Exit::Yes, untouched.as_deref()),
    }
    Ok(exit.max(if holds { Exit::Yes } else { Exit::No }))
}

/// Runs one file. The policy is looked for only when a file needs it.
fn one(path: &Path, common: &Common, policy: &mut Option<Text>) -> Result<Report, Failure> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {name}: {}", reason(&e)))?;
    if bytes.contains(&0) || std::str::from_utf8(&bytes).is_err() {
        return Err(format!("{name} is no text file"));
    }
    let file = TestFile::open(path)?;
    if file.cases.is_empty() {
        return Err(format!("{name} holds no [[case]]"));
    }
    let needed = file.policy.is_none() && file.cases.iter().any(|case| case.policy.is_none());
    if !needed {
        if common.policy.is_some() {
            output::note(&format!("{name} has a policy of its own: --policy is not for it"));
        }
        return file.report(&name, None);
    }
    let found = match policy {
        Some(found) => found,
        None => policy.insert(policy_file::read(common.policy.as_deref())?),
    };
    let policy = String::from_utf8_lossy(&found.bytes);
    file.report(&name, Some(Given { name: &found.name, text: &policy }))
}

/// Rules and limits that no case touches; files that share a policy count together.
fn untouched(tested: &[Tested]) -> Vec<String> {
    let mut policies: BTreeMap<u64, (&[String], BTreeSet<&str>)> = BTreeMap::new();
    for shared in tested.iter().filter_map(|t| t.report.shared.as_ref()) {
        let (_, touched) = policies.entry(shared.hash).or_insert((&shared.rules, BTreeSet::new()));
        touched.extend(shared.touched.iter().map(String::as_str));
    }
    let left = policies
        .values()
        .flat_map(|(rules, touched)| rules.iter().filter(|rule| !touched.contains(rule.as_str())).cloned());
    let mut names: Vec<String> = Vec::new();
    left.for_each(|name| {
        if !names.contains(&name) {
            names.push(name);
        }
    });
    names
}

fn print(tested: &[Tested], untouched: Option<&[String]>) {
    for Tested { name, report } in tested {
        let failed: Vec<&Ran> = report.cases.iter().filter(|case| !case.holds()).collect();
        for case in &failed {
            line(&styled(Style::Red, &format!("{name}: {}", case.name)));
            for text in case.to_string().lines().skip(1) {
                line(text);
            }
        }
        let all = report.cases.len();
        match failed.len() {
            0 if all == 1 => line(&styled(Style::Green, &format!("{name}: the case holds"))),
            0 => line(&styled(Style::Green, &format!("{name}: all {all} cases hold"))),
            n => line(&format!("{name}: {n} of {all} cases {}", if n == 1 { "fails" } else { "fail" })),
        }
    }
    match untouched {
        None => (),
        Some([]) => line("every rule and limit is touched by a case"),
        Some(names) => line(&format!("touched by no case: {}", names.join(", "))),
    }
}

fn print_json(tested: &[Tested], holds: bool, untouched: Option<&[String]>) {
    let files: Vec<Value> = tested
        .iter()
        .map(|t| json!({ "file": t.name, "cases": t.report.cases.iter().map(case).collect::<Vec<_>>() }))
        .collect();
    output::line(&format!("{:#}", json!({ "holds": holds, "files": files, "untouched": untouched })));
}

fn case(ran: &Ran) -> Value {
    let outcome = ran.outcome.as_ref().map(|o| {
        json!({
            "refuses": o.refuses,
            "warns": o.warns,
            "records": o.records,
            "edits": o.edits,
            "message": o.message,
        })
    });
    json!({
        "name": ran.name,
        "holds": ran.holds(),
        "differences": ran.differences.iter().map(difference).collect::<Vec<_>>(),
        "outcome": outcome,
    })
}

fn difference(difference: &Difference) -> Value {
    match difference {
        Difference::Broken(words) => json!({ "broken": words }),
        Difference::Other { what, expected, got } => {
            json!({ "what": what, "expected": expected, "got": got })
        }
    }
}
