//! The result for people: the lines that slurmctld would send, then where each option stands.

use sluice::message::{self, Context};
use sluice::policy::Policy;
use sluice::submit_line::{Place, Problem, ProblemKind};
use sluice::verdict::Finding;

use super::excerpt::excerpt;
use super::fix::Fixed;
use super::{Checked, Judged};
use crate::output::{Style, line, note_line, styled};

/// Prints all results, each under its name where it is `named`: verdicts to standard output, what
/// slurmctld never sees to standard error.
pub fn print(checked: &[Checked<'_>], named: bool, policy: &Policy, justify_option: bool) {
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
        for problem in one.problems.iter().filter(|p| p.kind == ProblemKind::Note) {
            note_line(&format!("note: {}", located(problem, one)));
            marked(problem, one).iter().for_each(|text| note_line(text));
        }
    }
}

fn lines(one: &Checked<'_>, policy: &Policy, justify_option: bool) -> Vec<String> {
    let mut lines = one.fixed.as_ref().map(fixed_lines).unwrap_or_default();
    if one.client_refuses() {
        let refuses = |p: &&Problem| p.is_the_clients();
        lines.extend(problem_lines(&one.job.command.to_string(), refuses, one));
    }
    if one.accepted() {
        lines.push(styled(Style::Green, &format!("{} accepts this job", policy.site.name)));
    }
    let told = told_lines(one, policy, justify_option);
    lines.extend(
        told.into_iter().map(|text| if is_head(&text, policy) { styled(Style::Red, &text) } else { text }),
    );
    let controllers = |p: &&Problem| p.kind == ProblemKind::Controller;
    lines.extend(problem_lines("slurmctld", controllers, one));
    lines
}

fn fixed_lines(fixed: &Fixed) -> Vec<String> {
    let mut lines = fixed.diff.clone();
    lines.extend(fixed.remedies.iter().map(|words| format!("fixed: {words}")));
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// What slurmctld would send, and under each finding's sentence the place that caused it.
fn told_lines(one: &Checked<'_>, policy: &Policy, justify_option: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for judged in &one.judged {
        let prefix = prefix(judged);
        let mut message = message_of(judged, policy, justify_option).into_iter().peekable();
        let mut told = judged.verdict.refusals().chain(judged.verdict.warnings()).peekable();
        while let Some(text) = message.next() {
            let head = text.strip_prefix("note: ").unwrap_or(&text).to_owned();
            lines.push(format!("{prefix}{text}"));
            let Some(finding) = told.next_if(|f| head.starts_with(&format!("[{}] ", f.rule))) else {
                continue;
            };
            // A sentence may take several lines; its remedies stand less deep.
            while let Some(text) = message.next_if(|text| text.starts_with("    ")) {
                lines.push(format!("{prefix}{text}"));
            }
            lines.extend(cause(finding, judged, one));
        }
    }
    lines
}

/// `  --> job.sh:4:9`, the line, and carets under the option.
fn cause(finding: &Finding, judged: &Judged, one: &Checked<'_>) -> Vec<String> {
    let Some((option, at)) = judged.component.place_of_any(&finding.complaint.options) else {
        return Vec::new();
    };
    match place(at, one) {
        Some(place) => {
            let option =
                if matches!(at, Place::Environment(_)) { format!(" (--{option})") } else { String::new() };
            let mut lines = vec![format!("  --> {place}{option}")];
            lines.extend(excerpt(&one.reading.script, one.reading.text.as_deref().unwrap_or(""), at));
            lines
        }
        None => Vec::new(),
    }
}

fn prefix(judged: &Judged) -> String {
    judged.component.request.het_offset.map(|n| format!("{n}: ")).unwrap_or_default()
}

fn message_of(judged: &Judged, policy: &Policy, justify_option: bool) -> Vec<String> {
    let context = Context { site: &policy.site, subject: "job", reference: None, justify_option };
    message::lines(&judged.verdict, &context)
}

/// What slurmctld would send, each line of a component behind its number.
pub fn verdict_lines(one: &Checked<'_>, policy: &Policy, justify_option: bool) -> Vec<String> {
    let of_one = |judged: &Judged| {
        let prefix = prefix(judged);
        let lines = message_of(judged, policy, justify_option).into_iter();
        lines.map(|text| format!("{prefix}{text}")).collect::<Vec<_>>()
    };
    one.judged.iter().flat_map(of_one).collect()
}

/// Whether this is the line that says that a job is refused.
fn is_head(line: &str, policy: &Policy) -> bool {
    line.contains(&format!("{} refuses this job", policy.site.name))
}

/// What the client, or slurmctld without the policy, refuses.
fn problem_lines(who: &str, theirs: impl Fn(&&Problem) -> bool, one: &Checked<'_>) -> Vec<String> {
    let problems: Vec<&Problem> = one.problems.iter().filter(theirs).collect();
    if problems.is_empty() {
        return Vec::new();
    }
    let count =
        if problems.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", problems.len()) };
    let head = format!("{who} itself refuses this job: {count}");
    let mut lines = vec![styled(Style::Red, &head)];
    for problem in problems {
        lines.push(format!("  {}", located(problem, one)));
        lines.extend(marked(problem, one).iter().map(|text| format!("  {text}")));
        lines.extend(super::job::meant(problem).map(|name| format!("    did you mean --{name}?")));
    }
    lines
}

fn located(problem: &Problem, one: &Checked<'_>) -> String {
    match problem.place.and_then(|p| place(p, one)) {
        Some(place) => format!("{place}: {}", problem.message),
        None => problem.message.clone(),
    }
}

/// The line that a problem is on.
fn marked(problem: &Problem, one: &Checked<'_>) -> Vec<String> {
    // What is wrong with a script as a whole is on no line of it.
    let whole = Place::Script { line: 1, column: 1 };
    let Some(place) = problem.place.filter(|p| *p != whole) else { return Vec::new() };
    excerpt(&one.reading.script, one.reading.text.as_deref().unwrap_or(""), place)
}

/// Where an option stands, unless that is on the command line before the reader's eyes.
pub fn place(place: Place, one: &Checked<'_>) -> Option<String> {
    match place {
        Place::Script { line, column } => Some(format!("{}:{line}:{column}", one.reading.script)),
        Place::Environment(name) => Some(format!("environment variable {name}")),
        Place::Argument(_) => None,
    }
}
