//! `sluice explain SCRIPT` and `sluice explain -- COMMAND`: what would make this job accepted, ready to
//! copy.

use serde_json::json;
use sluice::submit_line::{Problem, Series};

use super::search::{Search, Variant, Way};
use crate::check::job::{Job, Reading};
use crate::check::{Judge, Judged, fix};
use crate::options::{Common, Explain, Format};
use crate::output::{Style, line, styled};
use crate::people::{self, Stated};
use crate::{Exit, Failure, policy_file, slurm};
use sluice::words::shell_word;

/// A way as it is told.
struct Told {
    changes: Vec<String>,
    /// The command to type, where it is another.
    command: Option<String>,
    /// What changes in the script.
    diff: Vec<String>,
    /// A reason of the user's own has to be filled in, of so many characters.
    reason: Option<usize>,
}

/// Tells what would make a job accepted.
///
/// # Errors
/// A policy or a script that cannot be read, a command that submits nothing.
pub fn run(common: &Common, verb: &Explain) -> Result<Exit, Failure> {
    let today = policy_file::today();
    let person = people::person(verb.whom.user.as_deref())?;
    let job = Job::one(verb.names.first().map(std::path::Path::new), &verb.command)?;
    let series = verb.whom.slurm.or_else(slurm::installed_series).unwrap_or(Series::LATEST);
    let reading = job.read(series, &person)?;
    let found = policy_file::find(common.policy.as_deref(), today)?;
    let policy = &found.policy;
    let judge = Judge { policy, cluster: Stated { policy, whom: &verb.whom }, person, today };
    let judged = judge.judge(&reading.submission);
    let accepted = judge.accepts(&reading.submission, &judged);
    let mut problems = reading.submission.problems.clone();
    problems.extend(judge.without_room(&judged));
    let (ways, unsettled) =
        if accepted { Default::default() } else { ways(&reading, &judge, series, &judged) };
    match common.format {
        Format::Text if accepted => {
            line(&styled(Style::Green, &format!("{} accepts this job as it is", policy.site.name)));
        }
        Format::Text => {
            print_refused(&reading, &problems);
            print(&policy.site.name, &ways, &unsettled);
        }
        Format::Json => print_json(accepted, &ways, &unsettled, &problems),
    }
    Ok(if accepted { Exit::Yes } else { Exit::No })
}

/// The ways, and where there is none what no option settles.
fn ways(
    reading: &Reading<'_>,
    judge: &Judge<'_>,
    series: Series,
    judged: &[Judged],
) -> (Vec<Told>, Vec<String>) {
    let search = Search { reading, judge, series };
    let start = Variant { argv: reading.argv().to_vec(), text: reading.text.clone() };
    let told = |way: Way, reason: Option<&str>| {
        // The user's own reason goes where it stands.
        let shown = |text: String| reason.map_or(text.clone(), |reason| text.replace(reason, "..."));
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let diff = fix::diff(&reading.script, &text(&start.text), &text(&way.variant.text));
        Told {
            diff: diff.into_iter().map(shown).collect(),
            command: (way.variant.argv != start.argv).then(|| shown(command(&way.variant.argv))),
            changes: way.changes,
            reason: reason.map(str::len),
        }
    };
    let (found, unsettled) = match search.ways(start.clone()) {
        Ok(found) => (found, Vec::new()),
        Err(unsettled) => (Vec::new(), unsettled),
    };
    let fewest = found.first().map(|way| way.changes.len());
    let mut all: Vec<Told> = found.into_iter().map(|way| told(way, None)).collect();
    let findings = judged.iter().flat_map(|j| &j.verdict.findings);
    let longest = findings.filter_map(|f| f.justify).map(|j| j.min_length).max();
    if let Some(longest) = longest {
        let reason = "x".repeat(longest);
        let way = search.justified(&start, &reason);
        if let Some(way) = way.filter(|way| fewest.is_none_or(|fewest| way.changes.len() < fewest)) {
            all.push(told(way, Some(&reason)));
        }
    }
    (all, unsettled)
}

/// The command line as a shell reads it.
fn command(argv: &[String]) -> String {
    let quoted =
        |word: &String| shlex::try_quote(word).map_or_else(|_| word.clone(), std::borrow::Cow::into_owned);
    let word = |word: &String| match word.split_once('=') {
        // As people type it: the quotes round the value.
        Some((name, value)) if name.starts_with("--") => {
            shell_word(value).map_or_else(|| quoted(word), |value| format!("{name}={value}"))
        }
        _ => shell_word(word).unwrap_or_else(|| quoted(word)),
    };
    argv.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn head(way: &Told) -> String {
    let changes = sluice::words::count(way.changes.len() as u64, "change");
    let reason =
        way.reason.map(|n| format!("a written reason of {}", sluice::words::count(n as u64, "character")));
    match (way.changes.is_empty(), reason) {
        (true, Some(reason)) => format!("with {reason} or more"),
        (false, Some(reason)) => format!("with {changes} and {reason} or more"),
        (_, None) => format!("with {changes}"),
    }
}

/// What the client or slurmctld itself refuses.
fn print_refused(reading: &Reading<'_>, problems: &[Problem]) {
    for problem in problems.iter().filter(|p| p.refuses()) {
        let who =
            if problem.is_the_clients() { reading.command().to_string() } else { "slurmctld".to_owned() };
        line(&format!("{who} itself refuses this job: {}", problem.message));
    }
}

fn print(site: &str, ways: &[Told], unsettled: &[String]) {
    if ways.is_empty() {
        line("no options were found that make this job accepted; `sluice check` says what is wrong with it");
    }
    if let ([], [_, ..]) = (ways, unsettled) {
        line("what no option settles by itself:");
        unsettled.iter().for_each(|words| line(&format!("  {words}")));
    }
    for (index, way) in ways.iter().enumerate() {
        let text = if index == 0 {
            format!("{site} accepts this job {}", head(way))
        } else {
            format!("or {}", head(way))
        };
        if index > 0 {
            line("");
        }
        line(&styled(Style::Bold, &text));
        way.changes.iter().for_each(|change| line(&format!("  {change}")));
        if let Some(command) = &way.command {
            line("");
            line(&format!("  {command}"));
        }
        if !way.diff.is_empty() {
            line("");
            way.diff.iter().for_each(|text| line(&format!("  {text}")));
        }
    }
}

fn print_json(accepted: bool, ways: &[Told], unsettled: &[String], problems: &[Problem]) {
    let way = |way: &Told| json!({ "changes": way.changes, "command": way.command, "diff": way.diff, "reason_of": way.reason });
    let refusals = problems.iter().filter(|p| p.refuses()).map(|p| p.message.as_str());
    let all = json!({
        "verdict": if accepted { "accepted" } else { "refused" },
        "problems": refusals.collect::<Vec<_>>(),
        "ways": ways.iter().map(way).collect::<Vec<_>>(),
        "unsettled": unsettled,
    });
    crate::output::line(&format!("{all:#}"));
}
