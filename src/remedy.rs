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
    let Some(line) = TypedLine::of(request) else { return };
    // Which client it was cannot be told: one that makes the same of the line. Where none does, the
    // line proves nothing.
    let same = |series: &Series| {
        let again = judge(&line.read(*series)?);
        (is_covered(&again, verdict) && is_covered(verdict, &again)).then_some((*series, again))
    };
    let Some((series, again)) = SERIES.iter().find_map(same) else { return };
    for finding in &mut verdict.findings {
        let mut right = Vec::new();
        let mut halves = Vec::new();
        for remedy in std::mem::take(&mut finding.complaint.remedies) {
            let Some(better) = line.with(&remedy) else {
                right.push(remedy);
                continue;
            };
            // A line that the client refuses is no remedy at all.
            let Some(after) = better.read(series).map(|r| judge(&r)) else { continue };
            if after.findings.iter().any(|f| is_same(f, finding)) {
                continue;
            }
            let new = after.findings.iter().filter(|f| !was_there(f, &again));
            let mut rules: Vec<&str> = Vec::new();
            for rule in new.map(|f| f.rule.as_str()) {
                if !rules.contains(&rule) {
                    rules.push(rule);
                }
            }
            if rules.is_empty() {
                right.push(remedy);
            } else {
                let text = message::remedy(&remedy);
                halves.push(Remedy::Change(format!("{text}, then mind {}", rules.join(", "))));
            }
        }
        finding.complaint.remedies = if right.is_empty() { halves } else { right };
    }
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
