//! Two doors, one answer: hundreds of command lines and scripts, valid, odd and broken, through
//! `sbatch --test-only` with the plugin in slurmctld, and through `sluice check`. What the two say of
//! each is the same, word for word, or stands in `differential/known.txt` with the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::Case;
use crate::doors::{CLIENTS_OWN, normal, split, without_component};
use crate::shared::Shared;
use crate::support::Requirement::Controller;
use crate::support::{Builder, Cluster, Output};

pub const CASES: &[Case] = &[("hundreds of lines and scripts are answered alike", Controller, alike)];

/// What a client puts before slurmctld's reason.
const SLURMS: &[&str] = &["allocation failure: "];

/// How lines begin that are no part of an answer.
const ASIDES: &[&str] =
    &["warning: ", "Warning: ", "Change from #SLURM to #SBATCH", "cluster configuration lacks support for"];

/// The policy, with every rule and a limit of each kind.
const POLICY: &str = include_str!("differential/policy.toml");

/// Rules that need what only slurmctld has: its queue, or its accounting.
const IN_THE_QUEUE: &[&str] = &["dependency", "duplicate-submission", "short-job"];

/// Something to submit.
struct Submission {
    /// As `known.txt` calls it.
    name: String,
    user: String,
    line: String,
}

/// Who refuses, and in which words.
#[derive(Debug, PartialEq, Eq, Hash, Clone, PartialOrd, Ord)]
enum Answer {
    /// Accepted, with what Sluice says.
    Accepted(String),
    /// Sluice refuses.
    Policy(String),
    /// The command refuses, and slurmctld hears nothing of it.
    Client(String),
    /// slurmctld refuses what Sluice would accept.
    Slurm(String),
}

impl Answer {
    fn kind(&self) -> &'static str {
        match self {
            Answer::Accepted(_) => "accepted",
            Answer::Policy(_) => "policy",
            Answer::Client(_) => "client",
            Answer::Slurm(_) => "slurmctld",
        }
    }
}

fn builder() -> Builder {
    let nodes = "Nodes=g[1-2]";
    let builder = Cluster::builder()
        .policy(POLICY)
        .conf("AllowSpecResourcesUsage=YES")
        .partition("cpu", "Nodes=c1,g[1-2] Default=YES")
        .partition("whole", "Nodes=g[1-2] OverSubscribe=EXCLUSIVE");
    ["gpu", "exact", "strict", "soft", "own", "lent"]
        .iter()
        .fold(builder, |b, name| b.partition(name, nodes))
        .slurmd()
}

fn alike(_: &Shared) {
    let cluster = builder().start();
    cluster.file_for_everyone("job.sh", "#!/bin/sh\ntrue\n");
    let mut submissions = lines();
    submissions.extend(scripts(&cluster));
    let mut known = known();
    let mut wrong = String::new();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rules = BTreeSet::new();
    for one in &submissions {
        let (variables, command, rest) = split(&one.line);
        let typed = cluster.user(&one.user, &format!("{variables}{command} --test-only{rest}")).run();
        let check = format!("{variables}sluice check --format=json -- {command}{rest}");
        let check = cluster.user(&one.user, &check).run();
        let (real, offline) = (typed_answer(&typed, command), checked_answer(&check));
        *kinds.entry(real.kind()).or_default() += 1;
        rules.extend(rules_told(&real));
        match (is_same(&real, &offline), known.remove(&one.name)) {
            (true, None) | (false, Some(_)) => {}
            (true, Some(_)) => {
                let _ =
                    writeln!(wrong, "{}: is answered alike, and known.txt says that it is not\n", one.name);
            }
            (false, None) => {
                let _ = writeln!(wrong, "{}\n  real  {real:?}\n  check {offline:?}\n", one.name);
            }
        }
    }
    for name in known.keys() {
        let _ = writeln!(wrong, "{name}: stands in known.txt and nowhere else\n");
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    // The data are worth something: each kind of answer often, and each rule and limit told.
    for (kind, least) in [("accepted", 150), ("policy", 120), ("client", 100), ("slurmctld", 30)] {
        assert!(kinds.get(kind).is_some_and(|&n| n >= least), "too few are {kind}: {kinds:?}");
    }
    let named: BTreeSet<&str> = POLICY
        .lines()
        .filter_map(|l| l.split_once("rule.").or(l.split_once("name = \"")))
        .map(|(_, rest)| rest.trim_end_matches([']', '"']))
        .filter(|name| !name.contains(' '))
        .collect();
    let silent: Vec<_> = named.iter().filter(|name| !rules.contains(**name)).collect();
    assert_eq!(silent, IN_THE_QUEUE.iter().collect::<Vec<_>>(), "rules and limits that no line touches");
}

fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slurmctld/differential").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn lines() -> Vec<Submission> {
    let text = data("lines.txt");
    let one = |line: &str| {
        let (user, typed) = match line.split_once(": ") {
            Some((user, typed)) if !user.contains(' ') => (user, typed),
            _ => ("games", line),
        };
        Submission { name: line.to_owned(), user: user.to_owned(), line: typed.to_owned() }
    };
    text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')).map(one).collect()
}

fn scripts(cluster: &Cluster) -> Vec<Submission> {
    let text = data("scripts.txt");
    let one = |(index, script): (usize, &str)| {
        let (head, body) = script.split_once('\n').expect("a script has a head");
        let (name, before) = head.split_once(" | ").unwrap_or((head, ""));
        let file = format!("script-{}.sh", index + 1);
        let body = body.strip_suffix("␃\n").unwrap_or(body).replace('␍', "\r").replace('␀', "\0");
        cluster.file_for_everyone(&file, &body);
        let line = match before.contains("=") && !before.starts_with('-') {
            true => format!("{before} sbatch {file}"),
            false => format!("sbatch {before} {file}"),
        };
        Submission { name: format!("=== {name}"), user: "games".to_owned(), line }
    };
    text.split("=== ").skip(1).enumerate().map(one).collect()
}

/// Differences that are known: name and reason.
fn known() -> BTreeMap<String, String> {
    let text = data("known.txt");
    let mut known = BTreeMap::new();
    let mut reason = String::new();
    for line in text.lines() {
        match line.strip_prefix("# ") {
            Some(words) => reason = words.to_owned(),
            None if line.is_empty() => reason.clear(),
            None => {
                assert!(!reason.is_empty(), "{line} has no reason");
                known.insert(line.to_owned(), reason.clone());
            }
        }
    }
    known
}

/// What a command answered that was typed with `--test-only`.
fn typed_answer(output: &Output, command: &str) -> Answer {
    let error = format!("{command}: error: ");
    let lines = output.lines_after(&[&error, &format!("{command}: ")]);
    // A fatal error of the client, or of slurmctld behind a colon.
    // Said without the command's name in front.
    let slurms = output.stderr.lines().find_map(|line| SLURMS.iter().find_map(|own| line.strip_prefix(own)));
    let own = |line: &str| CLIENTS_OWN.iter().chain(SLURMS).chain(ASIDES).any(|own| line.starts_with(own));
    let told = lines.iter().copied().filter(|line| !own(line));
    let text = without_components(&normal(told.clone()));
    match slurms {
        _ if output.ok() => Answer::Accepted(text),
        Some(_) if text.contains(" refuses this job: ") => Answer::Policy(text),
        Some(words) => Answer::Slurm(words.to_owned()),
        None => {
            let words: Vec<&str> = told.flat_map(str::split_whitespace).collect();
            Answer::Client(words.join(" ").trim_start_matches("fatal: ").to_owned())
        }
    }
}

/// What `sluice check --format=json` answered.
fn checked_answer(output: &Output) -> Answer {
    let Ok(json) = serde_json::from_str::<Value>(&output.stdout) else {
        return Answer::Client(format!("exit {:?}: {}", output.status.code(), output.stderr.trim()));
    };
    let job = &json["jobs"][0];
    let strings = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
    };
    // Of the components of a job slurmctld hears one after the other, up to the first that is refused.
    let components = job["components"].as_array().into_iter().flatten();
    let first_refused =
        components.filter(|c| c["verdict"] == "refused").find_map(|c| c["component"].as_u64());
    let is_heard = |line: &String| match (first_refused, line.split_once(": ").map(|(n, _)| n.parse::<u64>()))
    {
        (Some(last), Some(Ok(component))) => component <= last,
        _ => true,
    };
    let message: Vec<String> = strings(&job["message"]).into_iter().filter(is_heard).collect();
    let text = without_components(&normal(message.iter().map(String::as_str)));
    let problems = job["problems"].as_array().into_iter().flatten();
    let first = problems.filter(|p| p["refuses"] == true).find_map(|p| p["message"].as_str()).unwrap_or("");
    match job["refused_by"].as_str() {
        None => Answer::Accepted(text),
        Some("policy") => Answer::Policy(text),
        Some("slurmctld") => Answer::Slurm(first.to_owned()),
        Some(_) => Answer::Client(first.to_owned()),
    }
}

/// A client ends at the first thing that it refuses and may say more of it; slurmctld's words are
/// explained by the check in parentheses.
fn is_same(real: &Answer, offline: &Answer) -> bool {
    match (real, offline) {
        (Answer::Client(said), Answer::Client(words)) => {
            let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            !words.is_empty() && said.starts_with(&words)
        }
        (Answer::Slurm(said), Answer::Slurm(words)) => words.split(" (").next() == Some(said),
        _ => real == offline,
    }
}

fn without_components(text: &str) -> String {
    text.lines().map(without_component).collect::<Vec<_>>().join("\n")
}

fn rules_told(answer: &Answer) -> Vec<String> {
    let (Answer::Accepted(text) | Answer::Policy(text)) = answer else { return Vec::new() };
    text.lines()
        .filter_map(|line| line.strip_prefix("note: ").unwrap_or(line).strip_prefix('['))
        .filter_map(|rest| rest.split_once("] "))
        .map(|(rule, _)| rule.to_owned())
        .collect()
}
