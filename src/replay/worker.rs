//! Judges the rows that it is dealt, and counts. Shares nothing with other workers but what arrays there
//! are.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::mpsc::Receiver;

use super::dealer::{Arrays, Batch, File, Piece};
use super::evidence::{self, Reader};
use super::judged::{Rules, judged};
use super::sacct::{Column as C, Kind, Row};
use super::tally::{Example, Line, Sums, Tally};
use super::{Past, records, time};
use crate::date::Date;
use crate::policy::Policy;
use crate::request::Tres;

/// Most different submissions whose fate is remembered by each worker, 24 bytes each.
const REMEMBERED: usize = 1 << 16;

/// Judges rows.
pub struct Worker<'a> {
    /// The policy in question.
    pub policy: &'a Policy,
    /// The one that it is compared with.
    pub against: Option<&'a Policy>,
    /// Reads command lines.
    pub reader: Reader<'a>,
    /// Login name of a uid, for records.
    pub name: &'a (dyn Fn(u32) -> Option<String> + Sync),
    /// First day, `2026-11-30`.
    pub since: Option<&'a str>,
    /// Last day.
    pub until: Option<&'a str>,
    /// Rules and limits of both policies.
    pub rules: &'a Rules,
    /// Days on which a policy changes by itself.
    pub epochs: &'a [Date],
    /// Jobs that are arrays.
    pub arrays: &'a Arrays,
    /// What was counted so far.
    pub tally: Tally,
    /// Fates by a digest of all that they depend on: users submit the same job again and again.
    pub fates: HashMap<(u64, u64), Option<usize>>,
}

impl Worker<'_> {
    /// Judges what comes until nothing more does.
    pub fn work(mut self, receiver: &Receiver<Batch>) -> Tally {
        for batch in receiver {
            let mut start = 0;
            for piece in &batch.rows {
                let text = batch.text.get(start..piece.end).unwrap_or("");
                start = piece.end;
                match &batch.file.header {
                    Some(header) => match header.row(text) {
                        Ok(row) => self.accounted(&row, piece, &batch.file),
                        Err(why) => self.tally.passed.broken(&batch.file.name, piece.line, why),
                    },
                    None => self.recorded(text, piece, &batch.file),
                }
            }
        }
        self.tally
    }

    fn is_outside(&self, day: Option<Date>) -> bool {
        let Some(day) = day else { return self.since.is_some() || self.until.is_some() };
        let day = day.to_string();
        self.since.is_some_and(|since| day.as_str() < since)
            || self.until.is_some_and(|until| day.as_str() > until)
    }

    fn accounted(&mut self, row: &Row<'_>, piece: &Piece, file: &File) {
        let id = match row.id() {
            Ok(id) => id,
            Err(why) => return self.tally.passed.broken(&file.name, piece.line, why),
        };
        let day = time::day(row.get(C::Submit));
        if self.is_outside(day) {
            self.tally.passed.outside = self.tally.passed.outside.saturating_add(1);
            return;
        }
        let used = used(row);
        self.tally.shows_gpus |= used.gpu_seconds > 0 || row.get(C::ReqTres).contains("gres/gpu");
        let open = (!matches!(id.kind, Kind::Job)).then_some((piece.cluster, id.base));
        if let (Kind::Task(_), Some(open)) = (id.kind, open) {
            if self.tally.known_array(open) {
                self.tally.rows = self.tally.rows.saturating_add(1);
                return self.tally.add_to_array(open, used);
            }
        }
        let epoch = day.map(|day| self.epochs.partition_point(|e| *e <= day));
        let digest = digest(row, id.kind, epoch, day);
        let fate = match self.fates.get(&digest) {
            Some(&fate) if fate.is_none_or(|f| !self.tally.wants_examples(f)) => fate,
            _ => {
                let past = evidence::past(row, &id, self.policy, self.reader);
                let job = match id.kind {
                    Kind::Component(n) => format!("{}+{n}", id.base),
                    _ => id.base.to_string(),
                };
                let fate = past.map(|past| self.judge(&past, day, piece, job, row.get(C::User)));
                if self.fates.len() >= REMEMBERED {
                    self.fates.clear();
                }
                self.fates.insert(digest, fate);
                fate
            }
        };
        let Some(fate) = fate else {
            self.tally.passed.unknown = self.tally.passed.unknown.saturating_add(1);
            return;
        };
        self.tally.rows = self.tally.rows.saturating_add(1);
        let (user, account, partition) = (row.get(C::User), row.get(C::Account), row.get(C::Partition));
        self.tally.count(&Line { open, fate, user, account, partition, day, used });
    }

    fn recorded(&mut self, text: &str, piece: &Piece, file: &File) {
        let (record, past) = match records::read(text) {
            records::Line::Submission(read) => *read,
            records::Line::NoSubmission => {
                self.tally.passed.not_submissions = self.tally.passed.not_submissions.saturating_add(1);
                return;
            }
            records::Line::Broken(why) => return self.tally.passed.broken(&file.name, piece.line, why),
            records::Line::Other => return,
        };
        let day = time::day_of_seconds(record.time);
        if self.is_outside(day) {
            self.tally.passed.outside = self.tally.passed.outside.saturating_add(1);
            return;
        }
        let user = (self.name)(record.user).unwrap_or_else(|| record.user.to_string());
        let mut past = past;
        past.effective.user = Some(user.clone());
        if past.effective.partition.is_none() {
            past.effective.partition.clone_from(&self.policy.facts.default_partition);
        }
        let fate = self.judge(&past, day, piece, format!("ref {}", record.reference), &user);
        self.tally.rows = self.tally.rows.saturating_add(1);
        let account = past.effective.account.as_deref().unwrap_or("");
        let partition = record.partition.as_deref().or(past.effective.partition.as_deref()).unwrap_or("");
        let used = Sums::default();
        self.tally.count(&Line { open: None, fate, user: &user, account, partition, day, used });
    }

    fn judge(&mut self, past: &Past, day: Option<Date>, piece: &Piece, job: String, user: &str) -> usize {
        // Of a job without a day the policy holds as it does in the end.
        let day = day.unwrap_or(Date { year: 9999, month: 12, day: 31 });
        let is_array = |job: u32| {
            let arrays = self.arrays.read().ok()?;
            arrays.get(&piece.cluster).filter(|seen| seen.has(job)).map(|_| true)
        };
        let now = judged(self.policy, self.rules, past, day, &is_array);
        let before = self.against.map(|policy| judged(policy, self.rules, past, day, &is_array));
        let fate = self.tally.fate(&now, before.as_ref());
        if self.tally.wants_examples(fate) {
            let words_before = before.map(|b| b.words).unwrap_or_default();
            let example =
                Example { order: piece.order, job, user: user.to_owned(), words: now.words, words_before };
            self.tally.keep(fate, example);
        }
        fate
    }
}

/// GPU and CPU seconds of a line.
fn used(row: &Row<'_>) -> Sums {
    let seconds = row.text(C::ElapsedRaw).and_then(|t| t.parse().ok());
    let seconds: u64 = seconds.or_else(|| time::seconds(row.get(C::Elapsed))).unwrap_or(0);
    if seconds == 0 {
        return Sums::default();
    }
    let list = row.get(C::AllocTres);
    let cpus = Tres::new(list).count("cpu");
    let cpus = cpus.or_else(|| row.text(C::AllocCpus)?.parse().ok()).unwrap_or(0);
    Sums {
        jobs: 0,
        gpu_seconds: evidence::gpu_count(list).saturating_mul(seconds),
        cpu_seconds: cpus.saturating_mul(seconds),
    }
}

/// A digest of all that a verdict depends on: two times 64 bits, so that two jobs that differ do not meet.
fn digest(row: &Row<'_>, kind: Kind<'_>, epoch: Option<usize>, day: Option<Date>) -> (u64, u64) {
    let mut one = DefaultHasher::new();
    let work_dir = row.get(C::WorkDir);
    // Where a job runs matters to what a path in it means, and else to nothing.
    let work_dir = if work_dir.contains(['%', '\\']) || row.get(C::SubmitLine).contains(work_dir) {
        work_dir
    } else {
        ""
    };
    let columns = [
        C::User,
        C::Uid,
        C::Gid,
        C::Account,
        C::Partition,
        C::Qos,
        C::QosReq,
        C::Timelimit,
        C::TimelimitRaw,
        C::ReqCpus,
        C::ReqMem,
        C::ReqNodes,
        C::NNodes,
        C::AllocCpus,
        C::ReqTres,
        C::AllocTres,
        C::Reservation,
        C::Constraints,
        C::JobName,
        C::Comment,
        C::AdminComment,
        C::SubmitLine,
        C::StdOut,
        C::StdErr,
    ];
    for column in columns {
        row.get(column).hash(&mut one);
    }
    work_dir.hash(&mut one);
    let kind = match kind {
        Kind::Job => (0, 0),
        Kind::Task(_) => (1, 0),
        Kind::Component(n) => (2, n),
        Kind::Step => (3, 0),
    };
    (kind, epoch, day.is_some()).hash(&mut one);
    let first = one.finish();
    0x5c.hash(&mut one);
    (first, one.finish())
}
