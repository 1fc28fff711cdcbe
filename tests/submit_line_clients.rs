//! 735 command lines, scripts and environments that were given to the real sbatch, srun and salloc
//! of 22.05.8, 250 of them thrown together at random, each with the descriptions that slurmctld's
//! hook saw, or with what the client said where it sent none.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

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
        let text = || value.as_str().map(|t| t.to_owned().into());
        let n = value.as_u64().unwrap_or_default();
        let (n16, n32) = (n as u16, n as u32);
        match name.as_str() {
            "uid" => {}
            "user_id" => d.user_id = n32,
            "partition" => d.partition = text(),
            "qos" => d.qos = text(),
            "account" => d.account = text(),
            "reservation" => d.reservation = text(),
            "features" => d.features = text(),
            "prefer" => d.prefer = text(),
            "req_nodes" => d.req_nodes = text(),
            "exc_nodes" => d.exc_nodes = text(),
            "licenses" => d.licenses = text(),
            "min_nodes" => d.min_nodes = n32,
            "max_nodes" => d.max_nodes = n32,
            "num_tasks" => d.num_tasks = n32,
            "ntasks_per_node" => d.ntasks_per_node = n16,
            "ntasks_per_socket" => d.ntasks_per_socket = n16,
            "ntasks_per_core" => d.ntasks_per_core = n16,
            "ntasks_per_tres" => d.ntasks_per_tres = n16,
            "cpus_per_task" => d.cpus_per_task = n16,
            "min_cpus" => d.min_cpus = n32,
            "pn_min_cpus" => d.pn_min_cpus = n16,
            "overcommit" => d.overcommit = n as u8,
            "sockets_per_node" => d.sockets_per_node = n16,
            "cores_per_socket" => d.cores_per_socket = n16,
            "threads_per_core" => d.threads_per_core = n16,
            "core_spec" => d.core_spec = n16,
            "tres_per_job" => d.tres_per_job = text(),
            "tres_per_node" => d.tres_per_node = text(),
            "tres_per_socket" => d.tres_per_socket = text(),
            "tres_per_task" => d.tres_per_task = text(),
            "cpus_per_tres" => d.cpus_per_tres = text(),
            "mem_per_tres" => d.mem_per_tres = text(),
            "pn_min_memory" => d.pn_min_memory = n,
            "pn_min_tmp_disk" => d.pn_min_tmp_disk = n32,
            "shared" => d.shared = n16,
            "time_limit" => d.time_limit = n32,
            "time_min" => d.time_min = n32,
            "array_inx" => d.array_inx = text(),
            "std_out" => d.std_out = text(),
            "std_err" => d.std_err = text(),
            "std_in" => d.std_in = text(),
            "work_dir" => d.work_dir = text(),
            "requeue" => d.requeue = n16,
            "warn_flags" => d.warn_flags = n16,
            "warn_signal" => d.warn_signal = n16,
            "warn_time" => d.warn_time = n16,
            "dependency" => d.dependency = text(),
            "comment" => d.comment = text(),
            "name" => d.name = text(),
            "nice" => d.nice = n32,
            "priority" => d.priority = n32,
            "container" => d.container = text(),
            "wckey" => d.wckey = text(),
            "mail_user" => d.mail_user = text(),
            "x11" => d.x11 = n16,
            "script" => d.script = text(),
            "submit_line" => d.submit_line = text(),
            "command" => d.command = text(),
            "arguments" => {}
            "het" => d.het_job_offset = n32,
            "env_size" => d.env_size = n32,
            "ENV" => {
                d.export =
                    value.as_str().unwrap().strip_prefix("SLURM_EXPORT_ENV=").map(|v| v.to_owned().into())
            }
            "alloc_resp_port" => d.alloc_resp_port = n16,
            "other_port" => d.other_port = n16,
            name => panic!("field {name} is not compared"),
        }
    }
    {
        let arguments: Vec<&str> = fields
            .get("arguments")
            .map_or(Vec::new(), |a| a.as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect());
        d.arguments = digest(arguments.iter().map(|a| a.as_bytes()));
    }
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
