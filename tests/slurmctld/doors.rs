//! Three doors, one verdict: every line of `doors.txt` through `sbatch`, `sbatch --test-only` and
//! `sluice check -- sbatch`, with the same findings word for word.

use std::fmt::Write as _;

use crate::Case;
use crate::shared::Shared;
use crate::support::Requirement::Controller;
use crate::support::{Cluster, Output};

pub const CASES: &[Case] = &[("three doors judge alike, word for word", Controller, alike)];

/// One line of the file.
struct Door<'a> {
    user: &'a str,
    accepted: bool,
    told: Vec<&'a str>,
    line: &'a str,
}

/// What one door said.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
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
    cluster.root("scancel --state=pending").run().accepted();
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
    let type_with = |command: &str| {
        let (before, after) = split_at_sbatch(door.line);
        cluster.user(door.user, &format!("{before}{command}{after}")).run()
    };
    let outputs = [type_with("sbatch"), type_with("sbatch --test-only"), type_with("sluice check -- sbatch")];
    let transcript = outputs.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let [sbatch, test_only, check] = outputs;
    let first = client(&sbatch);
    if first.accepted != door.accepted || told(&first.text) != door.told {
        let verdict = if first.accepted { "accepted" } else { "refused" };
        return Err(format!("{verdict} with {:?}\n{transcript}\n", told(&first.text)));
    }
    let differ = |name: &str, first: &Answer, other: Option<&Answer>| {
        Err(format!("sbatch: {first:#?}\n{name}: {other:#?}\n{transcript}\n"))
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

/// Splits a line around its `sbatch`, which variables may stand before.
fn split_at_sbatch(line: &str) -> (&str, &str) {
    let at = line.find("sbatch ").expect("a line that calls sbatch");
    line.split_at_checked(at).map(|(before, rest)| (before, &rest["sbatch".len()..])).expect("an ASCII line")
}

/// What Sluice said through sbatch: its lines without the client's prefix and the client's own.
fn client(output: &Output) -> Answer {
    let own = ["Batch job submission failed: ", "Job ", "Submitted "];
    let lines = output.lines_after(&["sbatch: error: ", "sbatch: "]);
    let lines = lines.into_iter().filter(|line| !own.iter().any(|o| line.starts_with(o)));
    Answer { accepted: output.ok(), text: normal(lines) }
}

/// What `sluice check` said of the request; `None` where it could not judge. What it adds is left out:
/// that all is well, and where each finding's option stands.
fn checker(output: &Output) -> Option<Answer> {
    let accepted = match output.status.code()? {
        0 => true,
        1 => false,
        _ => return None,
    };
    let place = |line: &str| line.contains(".sh:") || line.starts_with("environment variable ");
    let own = |line: &str| line.ends_with(" accepts this job") || place(line);
    Some(Answer { accepted, text: normal(output.stdout.lines().filter(|line| !own(line))) })
}

/// One text of all lines: without the reference, which only a recorded decision has, and with the
/// closing line in one piece, which the reference may have broken.
fn normal<'a>(lines: impl Iterator<Item = &'a str>) -> String {
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
fn without_component(line: &str) -> &str {
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
