//! `sluice job`: what a job asked for, what it got, what was recorded of it, and whose doing its state is.

use sluice::live::job::{Job, Source};
use sluice::recorded;
use sluice::run_card::why::{By, Why, why};
use sluice::run_card::{Card, SCHEMA, Shape};
use sluice::words::shown;

use crate::options::{self, Common, Format};
use crate::output::{Style, line, styled, time};
use crate::{Exit, Failure, live, output};

/// Jobs of an array that are shown at most, as text.
const MOST: usize = 20;

/// What is known of one job.
#[derive(serde::Serialize)]
pub struct Report {
    /// The same as a run card.
    #[serde(flatten)]
    pub card: Card,
    /// Where the lineage was found.
    lineage_from: Option<Source>,
    /// Where the justification was found.
    justification_from: Option<Source>,
    /// The rules and limits that the justification lifted.
    lifted: Vec<String>,
    /// The reference of Sluice's decision record.
    decision: Option<String>,
    /// The admin comment as it is.
    admin_comment: Option<String>,
    /// Slurm's reason for the state.
    reason: Option<String>,
    /// Whose doing the state is; `null` while the job runs.
    why: Option<Why>,
}

/// Shows a job.
///
/// # Errors
/// What is no job's id, a job that nobody knows, a cluster that does not answer.
pub fn run(common: &Common, verb: &options::Job) -> Result<Exit, Failure> {
    let reports = find(&verb.job)?;
    match common.format {
        Format::Json => output::line(&serde_json::to_string_pretty(&reports).unwrap_or_default()),
        Format::Text => {
            for (i, report) in reports.iter().take(MOST).enumerate() {
                if i > 0 {
                    line("");
                }
                print(report);
            }
            if let Some(more) = reports.len().checked_sub(MOST).filter(|&n| n > 0) {
                line("");
                line(&format!("and {more} more: ask for one, such as {}_0, or for --format=json", verb.job));
            }
        }
    }
    Ok(Exit::Yes)
}

/// The job of this id; of an array or a heterogeneous job all of its parts.
///
/// # Errors
/// As [`run`].
pub fn find(id: &str) -> Result<Vec<Report>, Failure> {
    if !is_id(id) {
        return Err(format!("{} is no job's id; an id is 123, 123_4 or 123+1", shown(id)));
    }
    Ok(live::jobs(id)?.into_iter().map(report).collect())
}

/// `123`, `123_4`, `123+1`.
pub fn is_id(text: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.len() < 11 && part.bytes().all(|b| b.is_ascii_digit());
    match text.split_once(['_', '+']) {
        Some((job, part)) => number(job) && number(part),
        None => number(text),
    }
}

fn report(mut job: Job) -> Report {
    let (lineage_from, justification_from) = job.find_recorded();
    let admin_comment = job.admin_comment.as_deref().unwrap_or_default();
    Report {
        lineage_from,
        justification_from,
        lifted: recorded::justified(admin_comment).map(str::to_owned).collect(),
        decision: recorded::reference(admin_comment).map(str::to_owned),
        why: why(&job.told),
        reason: job.told.reason,
        admin_comment: job.admin_comment,
        card: Card { run_card: SCHEMA, ..job.card },
    }
}

fn print(report: &Report) {
    let card = &report.card;
    let text = |value: &Option<String>| value.as_deref().map_or_else(|| "-".to_owned(), shown);
    let owner = card.user_id.map_or_else(|| "an unknown user".to_owned(), user);
    let state = card.state.as_deref().unwrap_or("in an unknown state");
    let label = card.job.as_deref().unwrap_or("-");
    line(&styled(Style::Bold, &format!("Job {label} of {owner}: {state}")));
    if let Some(why) = &report.why {
        let (style, by) = match why.by {
            By::Scheduler => (Style::Bold, "the scheduler's doing"),
            By::Job => (Style::Bold, "the job's own"),
            By::CannotBeTold => (Style::Red, "cannot be told whose doing"),
        };
        line(&format!("  {}: {}", styled(style, by), why.fact));
    }
    row("", "requested", "actual");
    shape(&card.requested, &card.actual);
    let at = |when: Option<u64>| when.map_or_else(|| "-".to_owned(), time);
    let times = &card.times;
    line(&format!("  submitted {}, started {}, ended {}", at(times.submit), at(times.start), at(times.end)));
    if let Some(exit) = card.exit {
        line(&format!("  exit code {}, signal {}", exit.code, exit.signal));
    }
    line(&format!(
        "  name {}, account {}, folder {}",
        text(&card.name),
        text(&card.account),
        text(&card.work_dir)
    ));
    if let Some(array) = &card.array {
        let task = array.task.map_or_else(|| "tasks that wait".to_owned(), |task| format!("task {task}"));
        let cap = array.at_once.map(|n| format!(", {n} at once")).unwrap_or_default();
        line(&format!("  {task} of array {}{cap}", array.job_id));
    }
    let from = |source: Option<Source>| match source {
        Some(Source::AdminComment) => " (admin comment)",
        Some(Source::Comment) => " (comment)",
        Some(Source::SubmitLine) => " (command line)",
        None => "",
    };
    match &card.lineage {
        Some(lineage) => {
            let pairs: Vec<String> =
                lineage.iter().map(|(k, v)| format!("{}={}", shown(k), shown(v))).collect();
            line(&format!("  lineage: {}{}", pairs.join(" "), from(report.lineage_from)));
        }
        None => line("  lineage: none on record; the job's run card has it, if there is one"),
    }
    if let Some(reason) = &card.justification {
        line(&format!("  justified: {}{}", shown(reason), from(report.justification_from)));
    }
    if !report.lifted.is_empty() {
        line(&format!("  lifted by it: {}", report.lifted.join(", ")));
    }
    if let Some(decision) = &report.decision {
        line(&format!("  decision record: ref {}", shown(decision)));
    }
}

fn shape(requested: &Shape, actual: &Shape) {
    let number = |n: Option<u64>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let text = |t: &Option<String>| t.as_deref().map_or_else(|| "-".to_owned(), shown);
    let nodes = |s: &Shape| match &s.node_list {
        Some(list) => format!("{} ({})", number(s.nodes), shown(list)),
        None => number(s.nodes),
    };
    let gpus = |s: &Shape| match &s.gpu_type {
        Some(kind) => format!("{} ({})", number(s.gpus), shown(kind)),
        None => number(s.gpus),
    };
    let memory = |s: &Shape| s.memory_mb.map_or_else(|| "-".to_owned(), sluice::words::megabytes);
    type Field<'f> = (&'f str, &'f dyn Fn(&Shape) -> String);
    let fields: [Field<'_>; 10] = [
        ("partition", &|s| text(&s.partition)),
        ("QoS", &|s| text(&s.qos)),
        ("time limit", &|s| text(&s.time_limit)),
        ("nodes", &nodes),
        ("GPUs", &gpus),
        ("GPUs a node", &|s| number(s.gpus_per_node)),
        ("tasks", &|s| number(s.tasks)),
        ("CPUs a task", &|s| number(s.cpus_per_task)),
        ("CPUs", &|s| number(s.cpus)),
        ("memory", &memory),
    ];
    for (name, value) in fields {
        row(name, &value(requested), &value(actual));
    }
}

fn row(name: &str, requested: &str, actual: &str) {
    line(&format!("  {name:12} {requested:24} {actual}"));
}

/// `ann (uid 1001)`, or the number alone.
fn user(uid: u32) -> String {
    match nix::unistd::User::from_uid(uid.into()) {
        Ok(Some(user)) => format!("{} (uid {uid})", shown(&user.name)),
        _ => format!("uid {uid}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_told_from_other_words() {
        for id in ["7", "123_4", "123+1"] {
            assert!(is_id(id), "{id}");
        }
        for other in ["", "123.0", "123_[1-3]", "-7", "123_", "+1", "run-card-7.json", "99999999999", "1_2_3"]
        {
            assert!(!is_id(other), "{other}");
        }
    }
}
