//! Remedies are tried before they are told: what a message says to type makes its finding go away
//! and brings no other.
//!
//! A rule knows its own remedies, not what the other rules of a policy make of them. So each is laid
//! into the request, and the request is judged again. Only requests with findings come here, and a
//! judgement costs about a microsecond.

use crate::message;
use crate::request::{Request, partition_list};
use crate::verdict::{Finding, Outcome, Place, Remedy, Verdict};

/// Findings whose remedies are tried: twice as many as a message tells.
const TRIED: usize = 16;
/// Partitions of a request whose remedies are tried. Each try judges all of them again, and a user may
/// name hundreds.
const PARTITIONS: usize = 8;

/// Keeps the remedies that are right. One that puts its finding right and brings another is told
/// with the name of that, where there is none better. What cannot be tried stays.
pub fn prove(verdict: &mut Verdict, request: &Request<'_>, judge: impl Fn(&Request<'_>) -> Vec<Finding>) {
    let list = request.partition.as_deref().unwrap_or("");
    if verdict.findings.is_empty() || partition_list::names(list).count() > PARTITIONS {
        return;
    }
    let mut tried = 0;
    for index in 0..verdict.findings.len() {
        let finding = verdict.findings.get(index).filter(|f| f.outcome <= Outcome::Warned && tried < TRIED);
        let Some(finding) = finding else { continue };
        let remedies = proved(finding, &verdict.findings, request, &judge);
        tried += 1;
        if let Some(finding) = verdict.findings.get_mut(index) {
            finding.complaint.remedies = remedies;
        }
    }
}

/// The remedies of one of the findings `before` that are told.
fn proved(
    finding: &Finding,
    before: &[Finding],
    request: &Request<'_>,
    judge: impl Fn(&Request<'_>) -> Vec<Finding>,
) -> Vec<Remedy> {
    let (mut right, mut halves) = (Vec::new(), Vec::new());
    let half = |remedy: &Remedy, rest: &str| Remedy::Change(format!("{}, {rest}", message::remedy(remedy)));
    for remedy in &finding.complaint.remedies {
        let Some(better) = request.remedied(remedy) else {
            right.push(remedy.clone());
            continue;
        };
        if counts(remedy) && better.contradicts_itself() {
            halves.push(half(remedy, "and GPUs to go with it"));
            continue;
        }
        if counts(remedy) && request.hides_what_was_typed(remedy) {
            halves.push(half(remedy, "and what goes with it"));
            continue;
        }
        let after = judge(&better);
        if after.iter().any(|f| is_same(f, finding)) {
            continue;
        }
        let mut brings: Vec<&str> =
            after.iter().filter(|f| !was_there(f, before)).map(|f| f.rule.as_str()).collect();
        brings.dedup();
        if brings.is_empty() {
            right.push(remedy.clone());
        } else {
            halves.push(half(remedy, &format!("then mind {}", brings.join(", "))));
        }
    }
    let tried = !finding.complaint.remedies.is_empty();
    match right.is_empty() {
        // No single option is enough.
        true if tried && halves.is_empty() => {
            vec![Remedy::Change("change what is asked to keep to that".to_owned())]
        }
        true => halves,
        false => right,
    }
}

/// Whether the client works other numbers out from the one that a remedy types.
fn counts(remedy: &Remedy) -> bool {
    const COUNTED: [&str; 11] = [
        "nodes",
        "ntasks",
        "ntasks-per-node",
        "ntasks-per-gpu",
        "cpus-per-task",
        "cpus-per-gpu",
        "mincpus",
        "gpus",
        "gpus-per-node",
        "gpus-per-task",
        "gpus-per-socket",
    ];
    match remedy {
        Remedy::Use { option, .. } | Remedy::Drop { option } => COUNTED.contains(option),
        Remedy::DropFromList { .. } | Remedy::Change(_) => false,
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
fn was_there(finding: &Finding, before: &[Finding]) -> bool {
    before.iter().any(|known| {
        let within = match (place(finding), place(known)) {
            (Some(Place::Partitions(some)), Some(Place::Partitions(all))) => {
                some.iter().all(|name| all.contains(name))
            }
            (a, b) => a == b,
        };
        known.rule == finding.rule && known.complaint.quantity == finding.complaint.quantity && within
    })
}
