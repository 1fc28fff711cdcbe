//! `sluice replay`: what a policy would have done to past jobs.

mod html;
mod numbers;
mod text;

use std::collections::HashMap;
use std::fs::File;
use std::hash::Hash;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use nix::unistd::{Uid, User};
use sluice::policy::resolve::Directory;
use sluice::replay::{self, Passed, Report, Source};
use sluice::submit_line::Series;

use crate::options::{Common, Format, Replay};
use crate::people::System;
use crate::policy_file::{self, reason};
use crate::{Exit, Failure, output, slurm};

/// Judges every job of the files.
///
/// # Errors
/// A policy or a file that cannot be read, files without any job, a page that cannot be written.
pub fn run(common: &Common, verb: &Replay) -> Result<Exit, Failure> {
    let today = policy_file::today();
    let sources = sources(&verb.files)?;
    let found = policy_file::find(common.policy.as_deref(), today)?;
    let against = verb.against.as_deref().map(|path| policy_file::find(Some(path), today)).transpose()?;
    let bar = bar(&verb.files);
    let (uids, names) = (Remembered::default(), Remembered::default());
    let options = replay::Options {
        policy: &found.policy,
        against: against.as_ref().map(|f| &f.policy),
        series: verb.slurm.or_else(slurm::installed_series).unwrap_or(Series::LATEST),
        since: verb.since.clone(),
        until: verb.until.clone(),
        workers: std::thread::available_parallelism().map_or(1, usize::from),
        uid: &|name| uids.get(name.to_owned(), |name| System.user(name)),
        name: &|uid| names.get(uid, |uid| User::from_uid(Uid::from_raw(*uid)).ok().flatten().map(|u| u.name)),
        progress: &|bytes| bar.inc(bytes),
    };
    let result = replay::run(&options, sources);
    bar.finish_and_clear();
    let mut report = result?;
    report.policy.file = found.name();
    if let (Some(line), Some(found)) = (&mut report.against, &against) {
        line.file = found.name();
    }
    if let Some(path) = &verb.html {
        let page = html::page(&report, verb.top);
        output::replace(path, &page)
            .map_err(|e| format!("cannot write {}: {}", path.display(), reason(&e)))?;
    }
    match common.format {
        Format::Text => text::print(&report, verb.top),
        Format::Json => {
            let json = serde_json::to_string_pretty(&report).map_err(|e| format!("no JSON: {e}"))?;
            output::line(&json);
        }
    }
    Ok(exit(&report))
}

/// Answers of the name service, which may take long, by question.
struct Remembered<Q, A>(Mutex<HashMap<Q, Option<A>>>);

impl<Q, A> Default for Remembered<Q, A> {
    fn default() -> Self {
        Remembered(Mutex::default())
    }
}

impl<Q: Eq + Hash, A: Clone> Remembered<Q, A> {
    fn get(&self, question: Q, ask: impl FnOnce(&Q) -> Option<A>) -> Option<A> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = known.get(&question) {
            return answer.clone();
        }
        let answer = ask(&question);
        known.insert(question, answer.clone());
        answer
    }
}

/// Whether a job would be refused, or with another policy beside it newly refused.
fn exit(report: &Report) -> Exit {
    let refused = report.changes.as_ref().map_or(report.total.refused, |c| c.newly_refused);
    if refused == 0 { Exit::Yes } else { Exit::No }
}

/// On which days the jobs were submitted.
fn days(report: &Report) -> String {
    match &report.days {
        Some((first, last)) if first == last => format!(" submitted on {first}"),
        Some((first, last)) => format!(" submitted from {first} to {last}"),
        None => String::new(),
    }
}

/// What was read and not judged.
fn passed_over(passed: &Passed) -> impl Iterator<Item = (u64, &'static str)> {
    [
        (passed.unknown, "jobs with neither command line nor request"),
        (passed.outside, "jobs of other days"),
        (passed.steps, "steps"),
        (passed.repeated, "lines of jobs that were read before"),
        (passed.not_submissions, "records of updates and of --test-only"),
        (passed.broken, "lines that cannot be read"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
}

fn sources(files: &[PathBuf]) -> Result<Vec<Source>, Failure> {
    let source = |path: &PathBuf| {
        if path.as_os_str() == "-" {
            let reader: Box<dyn Read> = Box::new(std::io::stdin());
            return Ok(Source { name: "standard input".to_owned(), reader });
        }
        let failed = |e: std::io::Error| format!("cannot read {}: {}", path.display(), reason(&e));
        let file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.is_dir() {
            return Err(format!("cannot read {}: it is a directory", path.display()));
        }
        Ok(Source { name: path.display().to_string(), reader: Box::new(file) })
    };
    files.iter().map(source).collect()
}

/// How far it is, on standard error where that is a terminal.
fn bar(files: &[PathBuf]) -> ProgressBar {
    let size =
        |path: &PathBuf| std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|m| m.len());
    let sizes: Option<u64> = files.iter().map(size).sum();
    let (bar, template) = match sizes {
        Some(all) => (ProgressBar::new(all), "{bar:40} {bytes} of {total_bytes}, {eta} left"),
        None => (ProgressBar::new_spinner(), "{spinner} {bytes} read"),
    };
    bar.enable_steady_tick(Duration::from_millis(200));
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
