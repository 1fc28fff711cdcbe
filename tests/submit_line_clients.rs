//! 735 command lines, scripts and environments that were given to the real sbatch, srun and salloc
//! of 22.05.8, 250 of them thrown together at random, each with the descriptions that slurmctld's
//! hook saw, or with what the client said where it sent none.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod recorded;

use serde_json::{Map, Value};
use sluice::request::Request;
use sluice::request::description::{Description, Message, NO_VAL, digest};
use sluice::submit_line::{Command, CommandLine, ProblemKind, Script, Series, World};

/// Cases that come out otherwise, each with its reason.
const KNOWN: &[(&str, &str)] = &[
    ("sbatch -n99999999999 --wrap=true", "22.05 cuts numbers off at 32 bits, silently"),
    ("sbatch -w node1,node1 --wrap=true", "host lists are counted, not rewritten"),
    ("sbatch --gres=foo:1 --wrap=true", "what GRES there are only slurm.conf says"),
    ("sbatch nope.sh", "files are opened by the command, not here"),
];

/// Cases that come out otherwise by their script.
const KNOWN_SCRIPTS: &[(&str, &str)] =
    &[("#!/bin/sh\n#PBS -l nodes=2\n", "#PBS lines are not translated; a note says so")];

/// The request that a recorded description means.
fn sent(fields: &Map<String, Value>) -> Request<'static> {
    // The recorder did not keep the session, which every submission has and no test.
    let is_test = fields["submit_line"].as_str().is_some_and(|line| line.contains("--test-only"));
    let mut d = Description { alloc_sid: if is_test { NO_VAL } else { 1 }, ..Description::default() };
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("uid" | "arguments", _) => {}
            (name, Value::String(text)) => recorded::set(&mut d, name, text),
            (name, number) => recorded::set(&mut d, name, &number.to_string()),
        }
    }
    let arguments: Vec<&str> = fields
        .get("arguments")
        .map_or(Vec::new(), |a| a.as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect());
    d.arguments = digest(arguments.iter().map(|a| a.as_bytes()));
    d.request(Message::Submit, 0, true)
}

/// Fields in which two requests differ.
fn differences(ours: &Request<'_>, theirs: &Request<'_>) -> Vec<String> {
    let fields = |r: &Request<'_>| match serde_json::to_value(r).unwrap() {
        Value::Object(map) => map,
        other => panic!("{other}"),
    };
    let (a, b) = (fields(ours), fields(theirs));
    let mut all: Vec<String> = a
        .iter()
        .filter(|(k, v)| b.get(*k) != Some(v))
        .map(|(k, v)| format!("{k}: {v}, sent {}", b[k]))
        .collect();
    // Not part of a record, and so not of its JSON.
    for (name, a, b) in [
        ("script", &ours.script, &theirs.script),
        ("export", &ours.export, &theirs.export),
        ("submit_line", &ours.submit_line, &theirs.submit_line),
    ] {
        if a != b {
            all.push(format!("{name}: {a:?}, sent {b:?}"));
        }
    }
    all
}

fn compare(case: &Value) -> Result<(), String> {
    let argv: Vec<String> =
        case["argv"].as_array().unwrap().iter().map(|a| a.as_str().unwrap().to_owned()).collect();
    let line = CommandLine::new(Command::named(&argv[0]).unwrap(), Series::V22_05, &argv, &[]);
    let environment = |name: &str| case["env"][name].as_str().map(str::to_owned);
    let world = World { environment: &environment, directory: "/home/u", user_id: 0, group_id: 99 };
    // Found in the current directory, unless it is named by a path or looked for elsewhere.
    let path = line.script().map(|p| {
        if p.starts_with('.') || line.directory().is_some() { p.to_owned() } else { format!("/home/u/{p}") }
    });
    let empty = line.reads_standard_input().then_some("");
    let text = case["script"].as_str().or(empty);
    let script = text.map(|text| Script { path: path.as_deref().unwrap_or("stdin"), text });
    let read = line.read(&world, script);
    let refusals: Vec<&str> =
        read.problems.iter().filter(|p| p.is_the_clients()).map(|p| p.message.as_str()).collect();
    let all_sent = case["sent"].as_array().unwrap();
    let Some(said) = case["said"].as_array() else {
        if !refusals.is_empty() {
            return Err(format!("sent, but refused here: {refusals:?}"));
        }
        if all_sent.len() > read.components.len() {
            return Err(format!("{} components, sent {}", read.components.len(), all_sent.len()));
        }
        // slurmctld's hook refused the first component of a job, and so saw no other.
        for (component, fields) in read.components.iter().zip(all_sent) {
            let differ = differences(&component.request, &sent(fields.as_object().unwrap()));
            if !differ.is_empty() {
                return Err(differ.join("; "));
            }
        }
        return Ok(());
    };
    let said: Vec<&str> = said.iter().map(|s| s.as_str().unwrap()).collect();
    if said.is_empty() || read.problems.iter().any(|p| p.kind == ProblemKind::NoSubmission) {
        let printed = read.problems.iter().any(|p| p.kind == ProblemKind::NoSubmission);
        return if printed { Ok(()) } else { Err(format!("printed something, read as {refusals:?}")) };
    }
    match refusals.first() {
        None => Err(format!("refused ({said:?}), but not here")),
        Some(first) if in_one(&said).contains(first.trim_end()) => Ok(()),
        Some(first) => Err(format!("says {first:?}, said {said:?}")),
    }
}

/// What was said, in one line with single blanks.
fn in_one(said: &[&str]) -> String {
    let words = said.iter().flat_map(|line| {
        let line =
            ["error: ", "fatal: "].iter().find_map(|e| line.split_once(e)).map_or(*line, |(_, text)| text);
        line.split_whitespace()
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn clients_send_and_refuse_what_is_read() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for text in include_str!("vectors/clients-22.05.8.jsonl").lines() {
        let case: Value = serde_json::from_str(text).unwrap();
        let argv: Vec<&str> = case["argv"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
        let name = argv.join(" ");
        compared += 1;
        let known = KNOWN.iter().any(|(line, _)| *line == name)
            || KNOWN_SCRIPTS.iter().any(|(text, _)| case["script"] == *text);
        match compare(&case) {
            Ok(()) if known => wrong.push(format!("{name}: comes out right now; take it off the list")),
            Err(difference) if !known => {
                wrong.push(format!("{name} {} {}\n    {difference}", case["env"], case["script"]));
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(compared, 735);
}
