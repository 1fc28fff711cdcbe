//! A report of what was counted: sums by rule, user, account, partition and week, what changes from one
//! policy to another, and what cannot be told.

use std::collections::{BTreeMap, HashSet};

use super::judged::{Lot, Mark, Rules};
use super::report::{ChangeLine, Changes, ExampleLine, Line, Named, Passed, PolicyLine, Report, RuleLine};
use super::tally::{Example, Fate, Sums, Tally, lot};
use super::{NEVER_TOLD, Options};
use crate::date::Date;
use crate::policy::{Mode, Policy};

fn touches(lot: Lot) -> bool {
    complains(lot) || lot == Lot::Edited
}

fn complains(lot: Lot) -> bool {
    matches!(lot, Lot::Refused | Lot::Warned | Lot::Audited)
}

/// Hours of seconds. Beyond 2^53 seconds (2.5 billion hours) the last digits are lost.
fn hours(seconds: u64) -> f64 {
    seconds as f64 / 3600.0
}

/// The marks of a fate that count: the want of GPUs proves nothing where nobody counts them.
fn counted(marks: &[Mark], tally: &Tally) -> Vec<Mark> {
    let mut marks = marks.to_vec();
    if !tally.shows_gpus {
        marks.iter_mut().filter(|m| m.for_want_of_gpus).for_each(|m| m.lot = Lot::CannotTell);
    }
    marks
}

/// A line in the making. Seconds are whole numbers, so that the order in which they are added changes
/// nothing.
#[derive(Default)]
struct Counter {
    line: Line,
    users: HashSet<u32>,
    used: Sums,
    touched: Sums,
}

impl Counter {
    fn add(&mut self, lot: Option<Lot>, user: u32, sums: Sums) {
        self.line.count(lot, sums.jobs);
        self.used.add(sums);
        if lot.is_some_and(touches) {
            self.users.insert(user);
            self.touched.add(sums);
        }
    }

    fn finish(self) -> Line {
        Line {
            users: self.users.len() as u64,
            gpu_hours: hours(self.used.gpu_seconds),
            cpu_hours: hours(self.used.cpu_seconds),
            touched_gpu_hours: hours(self.touched.gpu_seconds),
            touched_cpu_hours: hours(self.touched.cpu_seconds),
            ..self.line
        }
    }
}

/// Makes a report of the counts.
pub fn report(options: &Options<'_>, rules: &Rules, tally: &Tally) -> Report {
    let fates: Vec<Fate> = tally
        .fates
        .iter()
        .map(|f| Fate { now: counted(&f.now, tally), before: counted(&f.before, tally) })
        .collect();
    let mut total = Counter::default();
    let mut by_rule: Vec<Counter> = rules.names.iter().map(|_| Counter::default()).collect();
    let mut users: BTreeMap<u32, Counter> = BTreeMap::new();
    let mut accounts: BTreeMap<u32, Counter> = BTreeMap::new();
    let mut partitions: BTreeMap<u32, Counter> = BTreeMap::new();
    let mut weeks: BTreeMap<Date, Counter> = BTreeMap::new();
    for (key, &sums) in &tally.groups {
        let Some(fate) = fates.get(key.fate) else { continue };
        let whole = lot(&fate.now);
        total.add(whole, key.user, sums);
        for (map, name) in
            [(&mut users, key.user), (&mut accounts, key.account), (&mut partitions, key.partition)]
        {
            map.entry(name).or_default().add(whole, key.user, sums);
        }
        if let Some(week) = key.week {
            weeks.entry(week).or_default().add(whole, key.user, sums);
        }
        for mark in &fate.now {
            if let Some(counter) = by_rule.get_mut(mark.rule) {
                counter.add(Some(mark.lot), key.user, sums);
            }
        }
    }
    let total = total.finish();
    let named = |map: BTreeMap<u32, Counter>| {
        let mut all: Vec<Named> = map
            .into_iter()
            .map(|(n, counter)| Named { name: tally.names.name(n).to_owned(), line: counter.finish() })
            .filter(|n| n.line.complained() > 0)
            .collect();
        all.sort_by(|a, b| {
            let rank = |n: &Named| (n.line.refused, n.line.complained());
            rank(b)
                .cmp(&rank(a))
                .then(b.line.touched_gpu_hours.total_cmp(&a.line.touched_gpu_hours))
                .then_with(|| a.name.cmp(&b.name))
        });
        all
    };
    let rules_now: Vec<RuleLine> = in_policy(options.policy)
        .filter_map(|name| {
            let number = rules.names.iter().position(|n| n == name)?;
            let mut line = std::mem::take(by_rule.get_mut(number)?).finish();
            let never = NEVER_TOLD.iter().find(|(rule, _)| *rule == name);
            if never.is_some() {
                line.cannot_tell = total.jobs;
            }
            // Of a rule it says nothing how many jobs there are in all.
            line.jobs = line.complained().saturating_add(line.edited);
            let why = (line.cannot_tell > 0).then(|| never.map_or_else(|| why(name), |(_, why)| *why));
            let examples = examples(tally, &fates, number, Side::Now, |now, _| now.is_some_and(touches));
            Some(RuleLine { rule: name.to_owned(), line, why, examples })
        })
        .collect();
    let changes = options.against.map(|_| changes(rules, tally, &fates));
    Report {
        policy: PolicyLine::of(options.policy),
        against: options.against.map(PolicyLine::of),
        days: tally.days.map(|(first, last)| (first.to_string(), last.to_string())),
        rules: rules_now,
        users: named(users),
        accounts: named(accounts),
        partitions: named(partitions),
        weeks: without_gaps(weeks),
        changes,
        cannot_tell: cannot_tell(tally, total),
        passed: Passed {
            rows: tally.rows,
            broken: tally.passed.broken,
            first: tally
                .passed
                .first
                .iter()
                .map(|(file, line, why)| format!("{file}:{line}: {why}"))
                .collect(),
            unknown: tally.passed.unknown,
            outside: tally.passed.outside,
            steps: tally.passed.steps,
            repeated: tally.passed.repeated,
            not_submissions: tally.passed.not_submissions,
        },
        total,
    }
}

impl PolicyLine {
    fn of(policy: &Policy) -> PolicyLine {
        let mode = match policy.site.mode {
            Mode::Off => "off",
            Mode::Audit => "audit",
            Mode::Warn => "warn",
            Mode::Enforce => "enforce",
        };
        PolicyLine {
            file: String::new(),
            site: policy.site.name.clone(),
            mode,
            hash: format!("{:016x}", policy.hash),
        }
    }
}

/// Rules and limits by name, in the order of the policy.
fn in_policy(policy: &Policy) -> impl Iterator<Item = &str> {
    policy.rules.iter().map(|r| r.info.name).chain(policy.limits.iter().map(|l| l.name.as_str()))
}

/// Most weeks that are shown without a gap: twenty years. A wrong clock makes no page of millions.
const MOST_WEEKS: usize = 1040;

fn without_gaps(weeks: BTreeMap<Date, Counter>) -> Vec<Named> {
    let first = weeks.keys().next().copied();
    let last = weeks.keys().next_back().copied();
    let mut all: Vec<Named> = Vec::new();
    let mut weeks = weeks;
    let mut next = first;
    while let Some(week) = next.filter(|w| Some(*w) <= last && all.len() < MOST_WEEKS) {
        let line = weeks.remove(&week).unwrap_or_default().finish();
        all.push(Named { name: week.to_string(), line });
        next = super::time::week_after(week);
    }
    all.extend(weeks.into_iter().map(|(w, counter)| Named { name: w.to_string(), line: counter.finish() }));
    all
}

/// Which policy's words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Now,
    Before,
}

/// How many examples a rule has.
const EXAMPLES: usize = 3;

/// The first jobs whose lot by one rule, under both policies, is wanted.
fn examples(
    tally: &Tally,
    fates: &[Fate],
    rule: usize,
    side: Side,
    wanted: impl Fn(Option<Lot>, Option<Lot>) -> bool,
) -> Vec<ExampleLine> {
    let by = |marks: &[Mark]| marks.iter().find(|m| m.rule == rule).map(|m| m.lot);
    let mut found: Vec<_> = fates
        .iter()
        .zip(&tally.examples)
        .filter(|(fate, _)| wanted(by(&fate.now), by(&fate.before)))
        .flat_map(|(_, examples)| examples)
        .collect();
    found.sort();
    found.dedup_by(|a, b| a.job == b.job);
    let line = |example: &&Example| {
        let words = if side == Side::Now { &example.words } else { &example.words_before };
        ExampleLine {
            job: example.job.clone(),
            user: example.user.clone(),
            words: words.iter().find(|(r, _)| *r == rule).map(|(_, w)| w.clone()).unwrap_or_default(),
        }
    };
    found.iter().take(EXAMPLES).map(line).collect()
}

fn changes(rules: &Rules, tally: &Tally, fates: &[Fate]) -> Changes {
    let mut all = Changes::default();
    let (mut newly_seconds, mut no_longer_seconds) = (0u64, 0u64);
    let mut lines: Vec<ChangeLine> =
        rules.names.iter().map(|rule| ChangeLine { rule: rule.clone(), ..ChangeLine::default() }).collect();
    let refuses = |lot: Option<Lot>| lot == Some(Lot::Refused);
    let notes = |lot: Option<Lot>| matches!(lot, Some(Lot::Warned | Lot::Audited));
    let speaks = |lot: Option<Lot>| lot.is_some_and(complains);
    let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
    for (key, sums) in &tally.groups {
        let Some(fate) = fates.get(key.fate) else { continue };
        let (now, before) = (lot(&fate.now), lot(&fate.before));
        if refuses(now) && !refuses(before) {
            add(&mut all.newly_refused, sums.jobs);
            add(&mut newly_seconds, sums.gpu_seconds);
        }
        if refuses(before) && !refuses(now) {
            add(&mut all.no_longer_refused, sums.jobs);
            add(&mut no_longer_seconds, sums.gpu_seconds);
        }
        for (number, line) in lines.iter_mut().enumerate() {
            let by = |marks: &[Mark]| marks.iter().find(|m| m.rule == number).map(|m| m.lot);
            let (now, before) = (by(&fate.now), by(&fate.before));
            for (is, sum) in [
                (refuses(now) && !refuses(before), &mut line.newly_refused),
                (refuses(before) && !refuses(now), &mut line.no_longer_refused),
                (notes(now) && !speaks(before), &mut line.newly_noted),
                (notes(before) && !speaks(now), &mut line.no_longer_noted),
            ] {
                if is {
                    add(sum, sums.jobs);
                }
            }
        }
    }
    for (number, line) in lines.iter_mut().enumerate() {
        let newly = |now, before| (refuses(now) && !refuses(before)) || (notes(now) && !speaks(before));
        line.examples = examples(tally, fates, number, Side::Now, newly);
        line.examples_before = examples(tally, fates, number, Side::Before, |now, before| newly(before, now));
    }
    let changed = |l: &ChangeLine| {
        [l.newly_refused, l.no_longer_refused, l.newly_noted, l.no_longer_noted].iter().any(|&n| n > 0)
    };
    lines.retain(changed);
    all.newly_refused_gpu_hours = hours(newly_seconds);
    all.no_longer_refused_gpu_hours = hours(no_longer_seconds);
    all.rules = lines;
    all
}

/// Why a rule cannot be told of some jobs.
fn why(rule: &str) -> &'static str {
    match rule {
        "array-logs" => "log paths in a script; sacct of 24.11 and later tells them: StdOut,StdErr",
        "array-size" => "the indices and the cap of an array in a script",
        "cpus-per-gpu" => "whether the script says anything of CPUs; else they would be filled in",
        "exclusive" => "--exclusive or memory of a whole node in a script",
        "explicit-shape" => "whether the script states it",
        "export-list" => "--export in a script",
        "gpu-request" => "GPUs in a script, where the site does not account for them",
        "lineage" => "--lineage in a script",
        "memory-per-gpu" => "whether memory was asked for in a script or is the site's default",
        "preemptible" => "--requeue and --signal in a script",
        "qos-entitlement" => {
            "whose default account or QoS it is, or whether that was asked for (24.11 and later: QOSREQ)"
        }
        "short-job" => "whether the user may use the short QoS",
        "time-limit" => "whether --time was given or the partition's default came of it",
        "wrap" => "whether it was --wrap",
        _ => "options in a script",
    }
}

/// What holds for all jobs.
fn cannot_tell(tally: &Tally, total: Line) -> Vec<String> {
    let mut all = Vec::new();
    let passed = &tally.passed;
    if passed.has_accounting {
        all.push(
            "accounting has what was typed and what came of it, not the #SBATCH lines of scripts nor variables \
             such as SBATCH_PARTITION: what may have stood there is left open"
                .to_owned(),
        );
        all.push(
            "jobs that were refused at the time are not in accounting; what scontrol changed later counts as \
             asked for"
                .to_owned(),
        );
        if !tally.shows_gpus {
            all.push(
                "no job shows a GPU: AccountingStorageTRES may lack gres/gpu, so that no job is taken for one \
                 without GPUs"
                    .to_owned(),
            );
        } else if total.gpu_hours <= 0.0 {
            all.push("no job has used a GPU: hours count from AllocTRES and ElapsedRaw".to_owned());
        }
    }
    if passed.has_records {
        all.push(
            "records have no run times, and no plain accepts: their jobs count without hours".to_owned(),
        );
    }
    all.extend(passed.missing.iter().map(|&words| words.to_owned()));
    all
}
