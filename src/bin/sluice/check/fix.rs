//! `--fix`: remedies laid into a script, each proved by judging the script again.

use std::path::Path;

use sluice::message;
use sluice::submit_line::{Component, Series, Submission, fix};
use sluice::verdict::{Finding, Outcome, Remedy};

use super::job::Reading;
use super::{Judge, Judged, refused_by_client};
use crate::policy_file::reason;
use crate::{Failure, output};

/// What became of a script.
pub struct Fixed {
    /// What was done, in words.
    pub remedies: Vec<String>,
    /// The lines that changed, as a unified diff.
    pub diff: Vec<String>,
}

/// More than any script needs; every round settles a finding.
const ROUNDS: usize = 64;

/// Nobody gives one option more often.
const SAME_OPTION: usize = 4;

/// Lays remedies into the script of `reading` while any helps, and writes the script.
///
/// # Errors
/// A script that is no file, is no UTF-8, or cannot be written.
pub fn fix(reading: &mut Reading<'_>, series: Series, judge: &Judge<'_>) -> Result<Fixed, Failure> {
    let Some(original) = reading.text.clone() else {
        return Err("--fix changes the #SBATCH lines of a script: name one".to_owned());
    };
    let mut text = original.clone();
    let mut remedies = Vec::new();
    for _ in 0..ROUNDS {
        match round(&text, reading, series, judge) {
            Some((new, words)) => {
                text = new;
                remedies.push(words);
            }
            None => break,
        }
    }
    if text != original {
        write(&reading.path, &original, &text).map_err(|e| format!("cannot fix {}: {e}", reading.script))?;
        reading.submission = reading.submit(Some(&text));
    }
    let diff = diff(&reading.script, &original, &text);
    reading.text = Some(text);
    Ok(Fixed { remedies, diff })
}

/// The first remedy that settles a finding and brings no other, with the script that has it.
fn round(text: &str, reading: &Reading<'_>, series: Series, judge: &Judge<'_>) -> Option<(String, String)> {
    let judged = judge.judge(&reading.submit(Some(text)));
    for (index, Judged { component, verdict }) in judged.iter().enumerate() {
        for finding in verdict.findings.iter().filter(|f| is_told(f)) {
            for remedy in &finding.complaint.remedies {
                if let Some(new) = lay(text, index, component, remedy, &judged, (reading, series, judge)) {
                    return Some((new, format!("[{}] {}", finding.rule, message::remedy(remedy))));
                }
            }
        }
    }
    None
}

/// The script with a remedy that settles something. An option may be given several times, and what
/// goes leaves the one before it in force.
fn lay(
    text: &str,
    index: usize,
    component: &Component,
    remedy: &Remedy,
    before: &[Judged],
    (reading, series, judge): (&Reading<'_>, Series, &Judge<'_>),
) -> Option<String> {
    let mut text = text.to_owned();
    let mut component = component.clone();
    for _ in 0..SAME_OPTION {
        text = fix::apply(&text, index, &component, remedy, series)?;
        let changed = reading.submit(Some(&text));
        if settles(before, &changed, judge) {
            return Some(text);
        }
        component = changed.components.get(index)?.clone();
    }
    None
}

fn is_told(finding: &Finding) -> bool {
    matches!(finding.outcome, Outcome::Refused | Outcome::Warned)
}

/// Whether a changed script has fewer findings, and none that was not there before.
fn settles(before: &[Judged], changed: &Submission, judge: &Judge<'_>) -> bool {
    if refused_by_client(&changed.problems) {
        return false;
    }
    let names = |judged: &[Judged]| {
        let told = judged.iter().enumerate().flat_map(|(index, j)| {
            let told = j.verdict.findings.iter().filter(|f| is_told(f));
            told.map(move |f| (index, f.rule.clone(), f.complaint.quantity))
        });
        told.collect::<Vec<_>>()
    };
    let (before, after) = (names(before), names(&judge.judge(changed)));
    after.len() < before.len() && after.iter().all(|finding| before.contains(finding))
}

/// Writes the script in place. Not where somebody else has changed it meanwhile.
fn write(path: &str, old: &str, new: &str) -> Result<(), String> {
    let now = std::fs::read(path).map_err(|e| reason(&e))?;
    if now != old.as_bytes() {
        return Err("it is no UTF-8 text, or was changed meanwhile".to_owned());
    }
    output::overwrite(Path::new(path), old, new).map_err(|e| reason(&e))
}

/// A unified diff without context: what a few changed directives need.
pub fn diff(name: &str, old: &str, new: &str) -> Vec<String> {
    if old == new {
        return Vec::new();
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let mut lines = vec![format!("--- {name}"), format!("+++ {name}")];
    let (mut i, mut j) = (0usize, 0usize);
    while i < old.len() || j < new.len() {
        if i < old.len() && old.get(i) == new.get(j) {
            (i, j) = (i.saturating_add(1), j.saturating_add(1));
            continue;
        }
        let (removed, added) = hunk(old.get(i..).unwrap_or(&[]), new.get(j..).unwrap_or(&[]));
        lines.push(format!("@@ -{} +{} @@", range(i, removed), range(j, added)));
        lines.extend(old.iter().skip(i).take(removed).map(|line| format!("-{line}")));
        lines.extend(new.iter().skip(j).take(added).map(|line| format!("+{line}")));
        (i, j) = (i.saturating_add(removed), j.saturating_add(added));
    }
    lines
}

/// How many lines to take from each, so that what follows is the same on both sides: the fewest.
fn hunk(old: &[&str], new: &[&str]) -> (usize, usize) {
    let most = old.len().saturating_add(new.len());
    for sum in 1..=most {
        for removed in 0..=sum.min(old.len()) {
            let added = sum.saturating_sub(removed);
            let (rest_old, rest_new) = (old.get(removed..), new.get(added..));
            let same = match (rest_old, rest_new) {
                (Some([]), Some([])) => true,
                (Some([a, ..]), Some([b, ..])) => a == b,
                _ => false,
            };
            if same {
                return (removed, added);
            }
        }
    }
    (old.len(), new.len())
}

/// `3`, `3,2`, `2,0`: lines from 1; of an empty range the line before it.
fn range(start: usize, len: usize) -> String {
    match len {
        1 => start.saturating_add(1).to_string(),
        0 => format!("{start},0"),
        n => format!("{},{n}", start.saturating_add(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_names_the_lines_that_changed() {
        assert_eq!(diff("a", "x\n", "x\n"), [""; 0]);
        assert_eq!(
            diff("job.sh", "a\nb\nc\nd\n", "a\nB\nc\n"),
            ["--- job.sh", "+++ job.sh", "@@ -2 +2 @@", "-b", "+B", "@@ -4 +3,0 @@", "-d"]
        );
        assert_eq!(diff("j", "a\nb\n", "a\nn\nb\n"), ["--- j", "+++ j", "@@ -1,0 +2 @@", "+n"]);
    }
}
