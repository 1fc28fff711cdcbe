//! Counting. Jobs that fare alike, of one user, account, partition and week, are one group: what is
//! kept grows with those, not with jobs. Arrays and heterogeneous jobs alone are kept one by one until
//! the end, for their lines are spread over the file.

use std::collections::HashMap;

use super::Names;
use super::judged::{Judged, Lot, Mark};
use crate::date::Date;

/// How jobs fare under the policy, and under the one that it is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fate {
    /// Under the policy.
    pub now: Vec<Mark>,
    /// Under the other.
    pub before: Vec<Mark>,
}

/// What is common to the jobs of a group. Numbers are those of [`Tally::names`], `fate` of
/// [`Tally::fates`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Place in [`Tally::fates`].
    pub fate: usize,
    /// Login name.
    pub user: u32,
    /// Account.
    pub account: u32,
    /// Partition.
    pub partition: u32,
    /// The Monday of the week of submission.
    pub week: Option<Date>,
}

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Submissions: an array is one, and so is a heterogeneous job.
    pub jobs: u64,
    /// GPUs times seconds.
    pub gpu_seconds: u64,
    /// CPUs times seconds.
    pub cpu_seconds: u64,
}

impl Sums {
    /// Adds others.
    pub fn add(&mut self, other: Sums) {
        self.jobs = self.jobs.saturating_add(other.jobs);
        self.gpu_seconds = self.gpu_seconds.saturating_add(other.gpu_seconds);
        self.cpu_seconds = self.cpu_seconds.saturating_add(other.cpu_seconds);
    }
}

/// A job that shows what a fate means.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Example {
    /// Number of its line among all: the first ones are kept.
    pub order: u64,
    /// Its number as users know it.
    pub job: String,
    /// Login name.
    pub user: String,
    /// What each rule says.
    pub words: Vec<(usize, String)>,
    /// What each rule of the other policy says.
    pub words_before: Vec<(usize, String)>,
}

/// How many are kept of each fate.
const EXAMPLES: usize = 3;

/// A submission whose lines are not all read yet.
#[derive(Clone, Debug)]
struct Open {
    key: Key,
    sums: Sums,
}

/// Lines that were not read, and why.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    /// Lines that cannot be read.
    pub broken: u64,
    /// The first of them: file, line, reason.
    pub first: Vec<(String, u64, String)>,
    /// Neither a command line nor what was asked for is known.
    pub unknown: u64,
    /// Submitted before or after the days asked for.
    pub outside: u64,
    /// Steps of jobs.
    pub steps: u64,
    /// Jobs that stand in the input more than once.
    pub repeated: u64,
    /// Records of updates and of `--test-only`.
    pub not_submissions: u64,
    /// What files lack, in words.
    pub missing: Vec<&'static str>,
    /// Some file has Sluice's records.
    pub has_records: bool,
    /// Some file comes from sacct.
    pub has_accounting: bool,
}

/// How many broken lines are told one by one.
const TOLD: usize = 5;

impl Passed {
    /// Counts a line that cannot be read.
    pub fn broken(&mut self, file: &str, line: u64, reason: String) {
        self.broken = self.broken.saturating_add(1);
        if self.first.len() < TOLD {
            self.first.push((file.to_owned(), line, reason));
        }
    }

    fn merge(&mut self, other: Passed) {
        for (sum, more) in [
            (&mut self.broken, other.broken),
            (&mut self.unknown, other.unknown),
            (&mut self.outside, other.outside),
            (&mut self.steps, other.steps),
            (&mut self.repeated, other.repeated),
            (&mut self.not_submissions, other.not_submissions),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.missing.extend(other.missing);
        self.has_records |= other.has_records;
        self.has_accounting |= other.has_accounting;
        self.first.extend(other.first);
        // Files are told in the order in which they were named only by the caller; lines are here.
        self.first.sort_by_key(|(_, line, _)| *line);
        self.first.truncate(TOLD);
    }
}

/// All counts of one worker, and in the end of all.
#[derive(Debug, Default)]
pub struct Tally {
    /// Users, accounts and partitions.
    pub names: Names,
    /// Every fate that was met.
    pub fates: Vec<Fate>,
    numbers: HashMap<Fate, usize>,
    /// The first jobs of each fate.
    pub examples: Vec<Vec<Example>>,
    /// The counts.
    pub groups: HashMap<Key, Sums>,
    open: HashMap<(u32, u32), Open>,
    /// Lines that were not read.
    pub passed: Passed,
    /// Lines that were.
    pub rows: u64,
    /// First and last day of submission.
    pub days: Option<(Date, Date)>,
    /// Whether any job shows a GPU: the site accounts for them.
    pub shows_gpus: bool,
}

/// One line that was judged.
pub struct Line<'l> {
    /// Cluster and base number of an array or heterogeneous job.
    pub open: Option<(u32, u32)>,
    /// How it fares.
    pub fate: usize,
    /// Login name.
    pub user: &'l str,
    /// Account.
    pub account: &'l str,
    /// Partition.
    pub partition: &'l str,
    /// Day of submission.
    pub day: Option<Date>,
    /// What it used.
    pub used: Sums,
}

impl Tally {
    /// The number of a fate, and whether it is new or has few examples so far.
    pub fn fate(&mut self, now: &Judged, before: Option<&Judged>) -> usize {
        let fate =
            Fate { now: now.marks.clone(), before: before.map(|b| b.marks.clone()).unwrap_or_default() };
        self.number(fate)
    }

    fn number(&mut self, fate: Fate) -> usize {
        if let Some(&number) = self.numbers.get(&fate) {
            return number;
        }
        let number = self.fates.len();
        self.numbers.insert(fate.clone(), number);
        self.fates.push(fate);
        self.examples.push(Vec::new());
        number
    }

    /// Whether a fate wants more examples.
    pub fn wants_examples(&self, fate: usize) -> bool {
        self.examples.get(fate).is_some_and(|e| e.len() < EXAMPLES)
    }

    /// Keeps an example.
    pub fn keep(&mut self, fate: usize, example: Example) {
        if let Some(examples) = self.examples.get_mut(fate) {
            examples.push(example);
        }
    }

    /// The fate of an array of which a line was judged before: its other lines fare alike.
    pub fn known_array(&self, open: (u32, u32)) -> bool {
        self.open.contains_key(&open)
    }

    /// Adds what another line of a known array used.
    pub fn add_to_array(&mut self, open: (u32, u32), used: Sums) {
        if let Some(known) = self.open.get_mut(&open) {
            known.sums.add(used);
        }
    }

    /// Counts a line.
    pub fn count(&mut self, line: &Line<'_>) {
        if let Some(day) = line.day {
            let (first, last) = self.days.unwrap_or((day, day));
            self.days = Some((first.min(day), last.max(day)));
        }
        let key = Key {
            fate: line.fate,
            user: self.names.number(line.user),
            account: self.names.number(line.account),
            partition: self.names.number(line.partition),
            week: line.day.and_then(super::time::monday),
        };
        let sums = Sums { jobs: 1, ..line.used };
        match line.open {
            None => self.groups.entry(key).or_default().add(sums),
            Some(number) => match self.open.get(&number).map(|o| o.key.fate) {
                None => {
                    self.open.insert(number, Open { key, sums });
                }
                // A component of a job that is refused whole.
                Some(fate) => {
                    let both = self.united(fate, line.fate);
                    if let Some(open) = self.open.get_mut(&number) {
                        open.key.fate = both;
                        open.sums.add(Sums { jobs: 0, ..line.used });
                    }
                }
            },
        }
    }

    /// The fate of a job whose components fare differently: by each rule the gravest.
    fn united(&mut self, one: usize, other: usize) -> usize {
        if one == other {
            return one;
        }
        let (Some(a), Some(b)) = (self.fates.get(one), self.fates.get(other)) else { return one };
        let unite = |a: &[Mark], b: &[Mark]| {
            let mut marks: Vec<Mark> = a.iter().chain(b).cloned().collect();
            marks.sort_unstable();
            marks.dedup_by_key(|m| m.rule);
            marks
        };
        let fate = Fate { now: unite(&a.now, &b.now), before: unite(&a.before, &b.before) };
        let mut examples: Vec<Example> =
            [one, other].iter().filter_map(|&f| self.examples.get(f)?.first().cloned()).collect();
        let number = self.number(fate);
        if self.wants_examples(number) {
            examples.truncate(1);
            examples.into_iter().for_each(|e| self.keep(number, e));
        }
        number
    }

    /// Counts what is open.
    pub fn close(&mut self) {
        for (_, Open { key, sums }) in std::mem::take(&mut self.open) {
            self.groups.entry(key).or_default().add(sums);
        }
    }

    /// Takes over the counts of another worker.
    pub fn merge(&mut self, mut other: Tally) {
        other.close();
        self.close();
        let fates: Vec<usize> = other.fates.iter().map(|fate| self.number(fate.clone())).collect();
        for (examples, &fate) in other.examples.into_iter().zip(&fates) {
            if let Some(kept) = self.examples.get_mut(fate) {
                kept.extend(examples);
                kept.sort();
                kept.truncate(EXAMPLES);
            }
        }
        for (key, sums) in other.groups {
            let mut number = |n: u32| self.names.number(other.names.name(n));
            let key = Key {
                fate: fates.get(key.fate).copied().unwrap_or(key.fate),
                user: number(key.user),
                account: number(key.account),
                partition: number(key.partition),
                week: key.week,
            };
            self.groups.entry(key).or_default().add(sums);
        }
        self.passed.merge(other.passed);
        self.rows = self.rows.saturating_add(other.rows);
        self.shows_gpus |= other.shows_gpus;
        self.days = match (self.days, other.days) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
    }
}

/// What becomes of a job as a whole: the gravest of its marks. `None`: no rule speaks of it.
pub fn lot(marks: &[Mark]) -> Option<Lot> {
    marks.iter().map(|m| m.lot).min()
}
