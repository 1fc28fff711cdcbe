//! Three doors, one verdict: every line of `doors.txt` as it is, with `--test-only`, and through
//! `sluice check --`, with the same findings word for word.

use std::fmt::Write as _;

use crate::Case;
use crate::shared::Shared;
use crate::support::Requirement::Controller;
use crate::support::{Cluster, Output};

pub const CASES: &[Case] = &[("three doors judge alike, word for word", Controller, alike)];

/// Commands that submit.
const COMMANDS: &[&str] = &["sbatch", "srun", "salloc"];

/// How lines begin that a client says by itself.
pub const CLIENTS_OWN: &[&str] = &[
    "Batch job submission failed: ",
    "Unable to allocate resources: ",
    "Job submit/allocate failed: ",
    "Job ",
    "job ",
    "Granted job allocation ",
    "Pending job allocation ",
    "Relinquishing job allocation ",
];

/// One line of the file.
struct Door<'a> {
    user: &'a str,
    accepted: bool,
    told: Vec<&'a str>,
    line: &'a str,
}

/// What one door said.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    accepted: bool,
    text: String,
}

fn alike(shared: &Shared) {
    let cluster = shared.plain();
    let doors: Vec<Door<'_>> = include_str!("doors.txt").lines().filter_map(parse).collect();
    assert!(doors.len() >= 60, "{} lines are too few", doors.len());
    let mut wrong = String::new();
    for door in &doors {
        if let Err(what) = compare(cluster, door) {
            let _ = writeln!(wrong, "{}: {}\n{what}", door.user, door.line);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn parse(line: &str) -> Option<Door<'_>> {
    let mut rest = line.trim();
    if rest.is_empty() || rest.starts_with('#') {
        return None;
    }
    let mut word = || {
        let (word, after) = rest.split_once(' ').expect("four columns");
        rest = after.trim_start();
        word
    };
    let (user, verdict, told) = (word(), word(), word());
    assert!(["accepted", "refused"].contains(&verdict), "{line}");
    let told = if told == "-" { Vec::new() } else { told.split(',').collect() };
    Some(Door { user, accepted: verdict == "accepted", told, line: rest })
}

fn compare(cluster: &Cluster, door: &Door<'_>) -> Result<(), String> {
    let (variables, command, rest) = split(door.line);
    let test_only = format!("{variables}{command} --test-only{rest}");
    let check = format!("{variables}sluice check -- {command}{rest}");
    // salloc has no such option.
    let test_only = if command == "salloc" { door.line } else { &test_only };
    let outputs = [door.line, test_only, &check].map(|line| cluster.user(door.user, line).run());
    let transcript = outputs.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let [submitted, test_only, check] = outputs;
    if submitted.ok() && command == "sbatch" {
        // What it left in the queue would make srun and salloc wait.
        cluster.root(&format!("scancel --user={}", door.user)).run().accepted();
    }
    let first = client(&submitted);
    if first.accepted != door.accepted || told(&first.text) != door.told {
        let verdict = if first.accepted { "accepted" } else { "refused" };
        return Err(format!("{verdict} with {:?}\n{transcript}\n", told(&first.text)));
    }
    let differ = |name: &str, first: &Answer, other: Option<&Answer>| {
        Err(format!("submitted: {first:#?}\n{name}: {other:#?}\n{transcript}\n"))
    };
    let check = checker(&check);
    if check.as_ref() != Some(&first) {
        return differ("sluice check", &first, check.as_ref());
    }
    // A het job is tested one component at a time, and Slurm does not say which one it was.
    let (first, test_only) = (first.without_components(), client(&test_only).without_components());
    if test_only != first {
        return differ("--test-only", &first, Some(&test_only));
    }
    Ok(())
}

/// Splits a line into the variables before its command, the command, and the rest.
pub fn split(line: &str) -> (&str, &str, &str) {
    let found = COMMANDS.iter().find_map(|&c| Some((line.find(&format!("{c} "))?, c)));
    let (at, command) = found.unwrap_or_else(|| panic!("no command in `{line}`"));
    let (variables, rest) = line.split_at(at);
    (variables, command, rest.strip_prefix(command).unwrap_or_default())
}

/// What Sluice said through a client: its lines without the client's prefix and the client's own.
pub fn client(output: &Output) -> Answer {
    let (_, command, _) = split(&output.line);
    let lines = output.lines_after(&[&format!("{command}: error: "), &format!("{command}: ")]);
    let lines = lines.into_iter().filter(|line| !CLIENTS_OWN.iter().any(|own| line.starts_with(own)));
    Answer { accepted: output.ok(), text: normal(lines) }
}

/// What `sluice check` said of the request; `None` where it could not judge. What it adds is left out:
/// that all is well, and where each finding's option stands.
pub fn checker(output: &Output) -> Option<Answer> {
    let accepted = match output.status.code()? {
        0 => true,
        1 => false,
        _ => return None,
    };
    // The place of an option, its line in the script, carets below it.
    let place = |line: &str| {
        let line = line.trim_start();
        let gutter = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        line.starts_with("--> ") || gutter.starts_with("| ")
    };
    let own = |line: &str| line.ends_with(" accepts this job") || place(line);
    Some(Answer { accepted, text: normal(output.stdout.lines().filter(|line| !own(line))) })
}

/// One text of all lines: without the reference, which only a recorded decision has, and with the
/// closing line in one piece, which the reference may have broken.
pub fn normal<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let text = lines.collect::<Vec<_>>().join("\n");
    let (findings, closing) = match text.find("more: ") {
        Some(at) => text.split_at(at),
        None => (text.as_str(), ""),
    };
    let mut closing = closing.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(at) = closing.find(" (ref ") {
        closing.truncate(at);
    }
    format!("{findings}{closing}")
}

/// A line of a het job's component without the number that Slurm puts before it.
pub fn without_component(line: &str) -> &str {
    line.split_once(": ").filter(|(number, _)| number.parse::<u32>().is_ok()).map_or(line, |(_, rest)| rest)
}

impl Answer {
    fn without_components(&self) -> Answer {
        let text = self.text.lines().map(without_component).collect::<Vec<_>>().join("\n");
        Answer { accepted: self.accepted, text }
    }
}

/// The rules that a text names in brackets and the options that it says were filled in, in order.
fn told(text: &str) -> Vec<String> {
    let mut told = Vec::new();
    for line in text.lines() {
        let line = without_component(line);
        let (note, rest) = line.strip_prefix("note: ").map_or(("", line), |rest| ("note:", rest));
        let rule = rest.strip_prefix('[').and_then(|r| r.split(']').next()).map(|r| format!("{note}{r}"));
        let edits = line.split_once(" filled in ").map(|(_, e)| e.split(' ')).into_iter().flatten();
        for item in rule.into_iter().chain(edits.map(str::to_owned)) {
            if !told.contains(&item) {
                told.push(item);
            }
        }
    }
    told
}
