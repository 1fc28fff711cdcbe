//! Remedies are tried before they are told: what a message says to type makes its finding go away
//! and brings no other.
//!
//! A rule knows its own remedies, not what the other rules of a policy, or the client, make of
//! them. So each is typed into the request's own command line, read as the client reads it, and
//! judged again. Only requests with findings come here.

use crate::message;
use crate::request::Request;
use crate::submit_line::{Series, TypedLine};
use crate::verdict::{Finding, Place, Remedy, Verdict};

/// The clients that are asked, the newest first: it refuses most.
const SERIES: [Series; 3] = [Series::V26_05, Series::V24_11, Series::V22_05];

/// Keeps the remedies that are right. One that puts its finding right and brings another is told
/// with the name of that, where there is none better. What cannot be tried stays.
pub fn prove(verdict: &mut Verdict, request: &Request<'_>, judge: impl Fn(&Request<'_>) -> Verdict) {
    let is_typed = |remedy: &Remedy| !matches!(remedy, Remedy::Change(_));
    if !verdict.findings.iter().any(|f| f.complaint.remedies.iter().any(is_typed)) {
        return;
    }
    let Some(variants) = TypedLine::of(request).map(|line| line.variants()) else { return };
    // Which client it was cannot be told, nor what it worked out by itself: a remedy has to be right
    // for every line that makes this request. Where there is none, nothing is proved.
    let mut lines: Vec<(TypedLine<'_>, Series)> = Vec::new();
    // The script is the same, and may be too long to compare so often.
    let request = Request { script: None, ..request.clone() };
    for line in &variants {
        let same = |series: &Series| {
            line.read(*series).is_some_and(|read| Request { script: None, ..read } == request)
        };
        if let Some(series) = SERIES.into_iter().find(same) {
            lines.push((line.clone(), series));
        }
    }
    // What a client narrows down (`--nodes=1-4` for one GPU) reads back otherwise. Then a line that
    // is found guilty of the same will do.
    if lines.is_empty() {
        let same = |line: &TypedLine<'_>, series: Series| {
            let again = line.read(series).map(|r| judge(&r));
            again.is_some_and(|again| is_covered(&again, verdict) && is_covered(verdict, &again))
        };
        let series = |line: &TypedLine<'_>| SERIES.into_iter().find(|&series| same(line, series));
        lines.extend(variants.into_iter().find_map(|line| series(&line).map(|s| (line, s))));
    }
    if lines.is_empty() {
        return;
    }
    let before = verdict.clone();
    for finding in &mut verdict.findings {
        let mut right = Vec::new();
        let mut halves = Vec::new();
        for remedy in std::mem::take(&mut finding.complaint.remedies) {
            match attempt(&remedy, &before, finding, &lines, &judge) {
                Attempt::Right => right.push(remedy),
                Attempt::Useless => {}
                Attempt::Brings(rules) => {
                    let text = message::remedy(&remedy);
                    halves.push(Remedy::Change(format!("{text}, then mind {}", rules.join(", "))));
                }
            }
        }
        finding.complaint.remedies = if right.is_empty() { halves } else { right };
    }
}

/// What comes of a remedy.
enum Attempt {
    /// It puts the finding right, or is nothing that could be typed.
    Right,
    /// The client refuses it, or the finding stays.
    Useless,
    /// It puts the finding right, and these rules find something new.
    Brings(Vec<String>),
}

fn attempt(
    remedy: &Remedy,
    before: &Verdict,
    finding: &Finding,
    lines: &[(TypedLine<'_>, Series)],
    judge: &impl Fn(&Request<'_>) -> Verdict,
) -> Attempt {
    let mut rules: Vec<String> = Vec::new();
    for (line, series) in lines {
        let Some(better) = line.with(remedy) else { continue };
        let Some(after) = better.read(*series).map(|r| judge(&r)) else { return Attempt::Useless };
        if after.findings.iter().any(|f| is_same(f, finding)) {
            return Attempt::Useless;
        }
        for new in after.findings.iter().filter(|f| !was_there(f, before)) {
            if !rules.contains(&new.rule) {
                rules.push(new.rule.clone());
            }
        }
    }
    if rules.is_empty() { Attempt::Right } else { Attempt::Brings(rules) }
}

/// The place whose rule a finding quotes.
fn place(finding: &Finding) -> Option<&Place> {
    finding.complaint.allowed.as_ref().map(|a| &a.place)
}

fn is_same(a: &Finding, b: &Finding) -> bool {
    a.rule == b.rule && a.complaint.quantity == b.complaint.quantity && place(a) == place(b)
}

/// Whether `finding` was there before: for the same partitions, or for more of them.
fn was_there(finding: &Finding, before: &Verdict) -> bool {
    before.findings.iter().any(|known| {
        let within = match (place(finding), place(known)) {
            (Some(Place::Partitions(some)), Some(Place::Partitions(all))) => {
                some.iter().all(|name| all.contains(name))
            }
            (a, b) => a == b,
        };
        known.rule == finding.rule && known.complaint.quantity == finding.complaint.quantity && within
    })
}

fn is_covered(some: &Verdict, all: &Verdict) -> bool {
    some.findings.iter().all(|f| all.findings.iter().any(|g| is_same(f, g)))
}
