//! The result for programs.

use serde_json::{Value, json};
use sluice::submit_line::{Place, Problem};
use sluice::verdict::{Bound, Finding, Outcome, PlannedEdit, Remedy};

use super::{Checked, Judged, text};
use crate::output;
use crate::policy_file::Found;

/// Prints one object with all results.
pub fn print(checked: &[Checked<'_>], found: &Found, justify_option: bool) {
    let jobs: Vec<Value> = checked.iter().map(|one| job(one, found, justify_option)).collect();
    let all = json!({
        "policy": found.path.as_ref().map(|p| p.display().to_string()),
        "verdict": verdict(checked.iter().all(Checked::accepted)),
        "jobs": jobs,
    });
    output::line(&format!("{all:#}"));
}

fn verdict(accepted: bool) -> &'static str {
    if accepted { "accepted" } else { "refused" }
}

fn job(one: &Checked<'_>, found: &Found, justify_option: bool) -> Value {
    let refused_by = if one.client_refuses() {
        Some(one.job.command.to_string())
    } else if one.policy_refuses() {
        Some("policy".to_owned())
    } else {
        (!one.accepted()).then(|| "slurmctld".to_owned())
    };
    json!({
        "name": one.job.name,
        "verdict": verdict(one.accepted()),
        "refused_by": refused_by,
        "problems": one.problems.iter().map(problem).collect::<Vec<_>>(),
        "components": one.judged.iter().map(component).collect::<Vec<_>>(),
        "message": text::verdict_lines(one, &found.policy, justify_option),
        "fixes": one.fixed.as_ref().map(|fixed| &fixed.remedies),
    })
}

fn problem(problem: &Problem) -> Value {
    json!({
        "refuses": problem.refuses(),
        "message": problem.message,
        "option": problem.option,
        "place": problem.place.map(place),
    })
}

fn component(judged: &Judged) -> Value {
    json!({
        "component": judged.component.request.het_offset,
        "verdict": verdict(judged.verdict.accepts()),
        "findings": judged.verdict.findings.iter().map(|f| finding(f, judged)).collect::<Vec<_>>(),
        "edits": judged.verdict.edits.iter().map(edit).collect::<Vec<_>>(),
    })
}

fn finding(finding: &Finding, judged: &Judged) -> Value {
    let complaint = &finding.complaint;
    let options: Vec<&str> = complaint.options.to_vec();
    let at = judged.component.place_of_any(&options).map(|(_, at)| place(at));
    json!({
        "rule": finding.rule,
        "outcome": outcome(&finding.outcome),
        "quantity": complaint.quantity,
        "asked": complaint.asked,
        "allowed": complaint.allowed.as_ref().map(sluice::message::allowed),
        "excess": complaint.excess,
        "options": options,
        "remedies": complaint.remedies.iter().map(remedy).collect::<Vec<_>>(),
        "enforce_from": finding.enforce_from.map(|d| d.to_string()),
        "policy_line": finding.policy_line,
        "place": at,
    })
}

fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Refused => "refused",
        Outcome::Warned => "warned",
        Outcome::Audited => "audited",
        Outcome::Justified => "justified",
        Outcome::Root => "root",
        Outcome::Exempt(_) => "exempt",
        Outcome::Covered => "covered",
        Outcome::Standing => "standing",
    }
}

fn remedy(remedy: &Remedy) -> Value {
    let words = sluice::message::remedy(remedy);
    match remedy {
        Remedy::Use { option, value, bound, instead_of } => {
            let bound = match bound {
                Bound::Exactly => "exactly",
                Bound::OrLess => "or-less",
                Bound::OrMore => "or-more",
            };
            json!({ "words": words, "use": option, "value": value, "bound": bound, "instead_of": instead_of })
        }
        Remedy::Drop { option } => json!({ "words": words, "drop": option }),
        Remedy::DropFromList { option, names } => {
            json!({ "words": words, "drop_from": option, "names": names })
        }
        Remedy::Change(_) => json!({ "words": words }),
    }
}

fn edit(edit: &PlannedEdit) -> Value {
    json!({ "rule": edit.rule, "option": edit.edit.to_string(), "made": edit.made })
}

fn place(place: Place) -> Value {
    match place {
        Place::Script { line, column } => json!({ "line": line, "column": column }),
        Place::Argument(index) => json!({ "argument": index }),
        Place::Environment(name) => json!({ "environment": name }),
    }
}
