//! Remedies are tried before they are told: what a message says to type makes its finding go away
//! and brings no other.
//!
//! A rule knows its own remedies, not what the other rules of a policy make of them. So each is laid
//! into the request, and the request is judged again. Only requests with findings come here; what that
//! may cost is bounded, for slurmctld waits: whoever names many partitions under many limits has some of
//! his remedies told untried.

use crate::message;
use crate::request::{Request, partition_list};
use crate::verdict::{Finding, Outcome, Place, Remedy, Verdict};

/// Findings whose remedies are tried: twice as many as a message tells.
const TRIED: usize = 16;
/// What all tries of one request may cost, in steps of about a microsecond. The same at every door, so
/// that all tell the same: not measured, but counted ([`step`]).
const PATIENCE: usize = 1024;
/// Limits that hold nothing against a request, in one step.
const LIMITS: usize = 64;
/// Bytes of a text that rules read through, in one step.
const BYTES: usize = 128;

/// What one judgement of a request like this costs: each finding is made on each of its partitions.
pub fn step(request: &Request<'_>, findings: usize, limits: usize) -> usize {
    let partitions = partition_list::names(request.partition.as_deref().unwrap_or("")).count().max(1);
    let paths = [&request.std_out, &request.std_err].map(|p| p.as_ref().map_or(0, |p| p.len()));
    let on_each = [findings.saturating_mul(2), limits / LIMITS, paths.iter().sum::<usize>() / BYTES, 2];
    let once = request.dependency.as_ref().map_or(0, |d| d.len()) / BYTES;
    on_each.into_iter().fold(0, usize::saturating_add).saturating_mul(partitions).saturating_add(once)
}

/// Keeps the remedies that are right. One that puts its finding right and brings another is told
/// with the name of that, where there is none better. What cannot be tried stays, and so does what is
/// left when tries of this `cost` have used up [`PATIENCE`].
pub fn prove(
    verdict: &mut Verdict,
    request: &Request<'_>,
    cost: usize,
    judge: impl Fn(&Request<'_>) -> Vec<Finding>,
) {
    let mut left = PATIENCE / cost.max(1);
    let mut tried = 0;
    for index in 0..verdict.findings.len() {
        let finding = verdict.findings.get(index).filter(|f| f.outcome <= Outcome::Warned && tried < TRIED);
        let Some(finding) = finding else { continue };
        let remedies = proved(finding, &verdict.findings, request, &mut left, &judge);
        tried += 1;
        if let Some(finding) = verdict.findings.get_mut(index) {
            finding.complaint.remedies = remedies;
        }
    }
}

/// The remedies of one of the findings `before` that are told; `left` tries may be made.
fn proved(
    finding: &Finding,
    before: &[Finding],
    request: &Request<'_>,
    left: &mut usize,
    judge: impl Fn(&Request<'_>) -> Vec<Finding>,
) -> Vec<Remedy> {
    let (mut right, mut halves) = (Vec::new(), Vec::new());
    let half = |remedy: &Remedy, rest: &str| Remedy::Change(format!("{}, {rest}", message::remedy(remedy)));
    for remedy in &finding.complaint.remedies {
        let better = if *left > 0 { request.remedied(remedy) } else { None };
        let Some(better) = better else {
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
        *left = left.saturating_sub(1);
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::verdict::{Complaint, Errno, Topic};

    fn finding(n: usize) -> Finding {
        Finding {
            rule: format!("limit-{n}"),
            topic: Topic::Time,
            complaint: Complaint {
                quantity: "max_time",
                asked: "--time=2:00:00".to_owned(),
                allowed: None,
                excess: 1,
                options: vec!["time"],
                remedies: vec![Remedy::or_less("time", "1:00:00"), Remedy::Drop { option: "time" }],
                errno: Errno::InvalidTimeLimit,
                told_by: None,
            },
            outcome: Outcome::Refused,
            policy_line: 0,
            enforce_from: None,
            help: None,
            justify: None,
        }
    }

    /// How often a request with so many findings is judged again, each remedy bringing a finding of its own.
    fn tries(findings: usize, partitions: &str) -> (usize, Verdict) {
        let request = Request { partition: Some(partitions.into()), ..Request::default() };
        let mut verdict = Verdict { findings: (0..findings).map(finding).collect(), ..Verdict::default() };
        let calls = Cell::new(0);
        prove(&mut verdict, &request, step(&request, findings, 0), |_| {
            calls.set(calls.get() + 1);
            vec![finding(findings)]
        });
        (calls.get(), verdict)
    }

    #[test]
    fn no_request_is_tried_for_long() {
        let list = |n: usize| vec!["p"; n].join(",");
        assert_eq!(tries(4, "p").0, 8, "each remedy of each finding");
        assert_eq!(tries(16, "p").0, 30);
        for (findings, partitions) in [(16, 8), (100, 1), (100, 8), (1, 340), (1000, 340)] {
            let (calls, _) = tries(findings, &list(partitions));
            let most = PATIENCE / (partitions * (2 * findings + 2));
            assert!(calls <= most, "{findings} findings on {partitions} partitions: {calls} tries");
        }
    }

    #[test]
    fn what_takes_long_to_read_is_tried_less_often() {
        let plain = Request { dependency: Some("afterok:1".into()), ..Request::default() };
        let long = Request { dependency: Some("afterok:1,".repeat(13_000).into()), ..plain.clone() };
        assert_eq!(step(&plain, 1, 0), 4);
        assert!(step(&long, 1, 0) > PATIENCE / 2);
    }

    #[test]
    fn what_is_left_untried_is_told_as_it_is() {
        let (calls, verdict) = tries(16, "p");
        assert_eq!(calls, 30);
        let told = |n: usize| verdict.findings.get(n).map(|f| f.complaint.remedies.clone()).unwrap();
        assert!(
            matches!(told(0).as_slice(), [Remedy::Change(text), _] if text.ends_with("then mind limit-16"))
        );
        assert_eq!(told(15), finding(15).complaint.remedies);
    }
}
