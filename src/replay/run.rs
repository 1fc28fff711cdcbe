//! One thread reads, the others judge. All lines of an array or a heterogeneous job go to one of them,
//! so that they share nothing until the end.

use std::collections::HashMap;
use std::io::Read;
use std::sync::mpsc::sync_channel;
use std::thread;

use super::Options;
use super::dealer::{Arrays, Dealer, WAITING};
use super::evidence::Reader;
use super::judged::Rules;
use super::report::Report;
use super::summary;
use super::tally::{Passed, Tally};
use super::worker::Worker;
use crate::date::Date;
use crate::policy::Policy;

/// A file to read.
pub struct Source {
    /// What messages call it.
    pub name: String,
    /// Its text.
    pub reader: Box<dyn Read>,
}

/// Why there is no report, in words.
pub type Failure = String;

/// Reads all sources, judges every submission in them, and counts.
///
/// # Errors
/// A file that cannot be read, or in which there is nothing to judge.
pub fn run(options: &Options<'_>, sources: Vec<Source>) -> Result<Report, Failure> {
    let policies: Vec<&Policy> = std::iter::once(options.policy).chain(options.against).collect();
    let rules = Rules::of(&policies);
    let epochs = epochs(&policies);
    let arrays = Arrays::default();
    let (mut tally, read) = thread::scope(|scope| {
        let mut senders = Vec::new();
        let mut workers = Vec::new();
        let (policy, against, series) = (options.policy, options.against, options.series);
        let (since, until) = (options.since.as_deref(), options.until.as_deref());
        let (uid, name) = (options.uid, options.name);
        for _ in 0..options.workers.max(1) {
            let (sender, receiver) = sync_channel(WAITING);
            let worker = Worker {
                policy,
                against,
                reader: Reader { series, uid },
                name,
                since,
                until,
                rules: &rules,
                epochs: &epochs,
                arrays: &arrays,
                tally: Tally::default(),
                fates: HashMap::new(),
            };
            senders.push(sender);
            workers.push(scope.spawn(move || worker.work(&receiver)));
        }
        let mut dealer = Dealer::new(senders, &arrays, options.progress);
        let read = sources.into_iter().try_for_each(|source| dealer.file(source));
        let mut tally = Tally::default();
        tally.passed = dealer.finish();
        for worker in workers {
            match worker.join() {
                Ok(counts) => tally.merge(counts),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        (tally, read)
    });
    read?;
    tally.close();
    if tally.rows == 0 {
        return Err(nothing(&tally.passed));
    }
    Ok(summary::report(options, &rules, &tally))
}

fn nothing(passed: &Passed) -> String {
    match passed.first.first() {
        Some((file, line, why)) => format!("{file}:{line}: {why}; there is no other job to judge"),
        None if passed.outside > 0 => "no job was submitted on the days asked for".to_owned(),
        None if passed.unknown > 0 => {
            "accounting has neither SubmitLine nor ReqTRES of any job: ask sacct for them (--help)".to_owned()
        }
        None => "there is no job to judge".to_owned(),
    }
}

/// The days on which a policy changes by itself. Between two of them it judges all days alike.
fn epochs(policies: &[&Policy]) -> Vec<Date> {
    let mut days: Vec<Date> = Vec::new();
    for policy in policies {
        let settings = policy.rules.iter().flat_map(|r| r.entries.iter().map(|e| &e.settings));
        let settings = settings.chain(policy.limits.iter().map(|l| &l.settings));
        days.extend(settings.filter_map(|s| s.enforce_from));
        // The day after; that it may be a 32nd does not matter to the order of days.
        days.extend(policy.exempts.iter().map(|e| Date { day: e.until.day.saturating_add(1), ..e.until }));
    }
    days.sort_unstable();
    days.dedup();
    days
}
