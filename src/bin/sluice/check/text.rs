//! The result for people: the lines that slurmctld would send, then where each option stands.

use sluice::message::{self, Context};
use sluice::policy::Policy;
use sluice::submit_line::{Place, Problem, ProblemKind};
use sluice::verdict::Outcome;

use super::{Checked, Judged};
use crate::output::{Style, line, styled};

/// Prints all results, each under its name where it is `named`.
pub fn print(checked: &[Checked], named: bool, policy: &Policy, justify_option: bool) {
    for (index, one) in checked.iter().enumerate() {
        if named {
            if index > 0 {
                line("");
            }
            line(&styled(Style::Bold, &format!("{}:", one.job.name)));
        }
        for text in lines(one, policy, justify_option) {
            line(&if named && !text.is_empty() { format!("  {text}") } else { text });
        }
    }
}

fn lines(one: &Checked, policy: &Policy, justify_option: bool) -> Vec<String> {
    let mut lines = if one.client_refuses() { client_lines(one) } else { Vec::new() };
    if one.accepted() {
        lines.push(styled(Style::Green, &format!("{} accepts this job", policy.site.name)));
    }
    let told = verdict_lines(one, policy, justify_option);
    lines.extend(
        told.into_iter().map(|text| if is_head(&text, policy) { styled(Style::Red, &text) } else { text }),
    );
    lines.extend(places(one));
    let notes = one.problems.iter().filter(|p| p.kind == ProblemKind::Note);
    lines.extend(notes.map(|p| format!("note: {}", located(p, one))));
    lines
}

/// What slurmctld would send, each line of a component behind its number.
pub fn verdict_lines(one: &Checked, policy: &Policy, justify_option: bool) -> Vec<String> {
    let context = Context { site: &policy.site, subject: "job", reference: None, justify_option };
    let mut lines = Vec::new();
    for judged in &one.judged {
        let prefix = judged.component.request.het_offset.map(|n| format!("{n}: ")).unwrap_or_default();
        lines.extend(
            message::lines(&judged.verdict, &context).into_iter().map(|text| format!("{prefix}{text}")),
        );
    }
    lines
}

/// Whether this is the line that says that a job is refused.
fn is_head(line: &str, policy: &Policy) -> bool {
    line.contains(&format!("{} refuses this job", policy.site.name))
}

fn client_lines(one: &Checked) -> Vec<String> {
    let problems: Vec<&Problem> = one.problems.iter().filter(|p| p.refuses()).collect();
    let count =
        if problems.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", problems.len()) };
    let head = format!("{} itself refuses this job: {count}", one.job.command);
    let mut lines = vec![styled(Style::Red, &head)];
    for problem in problems {
        lines.push(format!("  {}", located(problem, one)));
        lines.extend(super::job::meant(problem).map(|name| format!("    did you mean --{name}?")));
    }
    lines
}

fn located(problem: &Problem, one: &Checked) -> String {
    match problem.place.and_then(|p| place(p, one)) {
        Some(place) => format!("{place}: {}", problem.message),
        None => problem.message.clone(),
    }
}

/// Where an option stands, unless that is on the command line before the reader's eyes.
pub fn place(place: Place, one: &Checked) -> Option<String> {
    match place {
        Place::Script { line, column } => Some(format!("{}:{line}:{column}", one.script)),
        Place::Environment(name) => Some(format!("environment variable {name}")),
        Place::Argument(_) => None,
    }
}

/// The places of all options that the findings name.
fn places(one: &Checked) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for Judged { component, verdict } in &one.judged {
        for finding in &verdict.findings {
            if !matches!(finding.outcome, Outcome::Refused | Outcome::Warned) {
                continue;
            }
            let Some((option, at)) = component.place_of_any(&finding.complaint.options) else { continue };
            let Some(at) = place(at, one) else { continue };
            let text = format!("{at}: [{}] --{option}", finding.rule);
            if !lines.contains(&text) {
                lines.push(text);
            }
        }
    }
    lines
}
