//! One thread reads, the others judge. All lines of an array or a heterogeneous job go to one of them,
//! so that they share nothing until the end.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, RwLock};
use std::thread;

use super::evidence::{self, Reader};
use super::judged::{Rules, judged};
use super::read::{Assembler, Lines, Seen, Step};
use super::records;
use super::report::{self, Report};
use super::sacct::{Column as C, Header, Kind, Row};
use super::tally::{Example, Line, Passed, Sums, Tally};
use super::{Names, Options, Past, time};
use crate::date::Date;
use crate::policy::Policy;
use crate::request::Tres;

/// A file to read.
pub struct Source {
    /// What messages call it.
    pub name: String,
    /// Its text.
    pub reader: Box<dyn Read>,
}

/// Why there is no report, in words.
pub type Failure = String;

/// Rows that are sent to a worker at once, in bytes of text.
const BATCH: usize = 128 << 10;

/// Batches that may wait for a worker.
const WAITING: usize = 4;

/// Lines of one file for one worker.
struct Batch {
    file: Arc<File>,
    text: String,
    rows: Vec<Piece>,
}

/// One row of a batch.
struct Piece {
    end: usize,
    /// Number of its line in its file.
    line: u64,
    /// Number among all rows.
    order: u64,
    /// Number of its cluster.
    cluster: u32,
}

/// A file as its rows need it.
struct File {
    name: String,
    /// `None`: records.
    header: Option<Header>,
}

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
    Ok(report::report(options, &rules, &tally))
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

/// The jobs that are arrays, by cluster: known before a later job that waits for one is judged.
type Arrays = RwLock<HashMap<u32, Seen>>;

/// Reads files and deals their rows out.
struct Dealer<'a> {
    senders: Vec<SyncSender<Batch>>,
    arrays: &'a Arrays,
    /// The array that was met last: most tasks follow one of their own.
    last_array: Option<(u32, u32)>,
    batches: Vec<Batch>,
    seen: HashMap<u32, Seen>,
    clusters: Names,
    passed: Passed,
    order: u64,
    progress: &'a dyn Fn(u64),
    told: u64,
}

impl<'a> Dealer<'a> {
    fn new(senders: Vec<SyncSender<Batch>>, arrays: &'a Arrays, progress: &'a dyn Fn(u64)) -> Self {
        let file = Arc::new(File { name: String::new(), header: None });
        let batch =
            |_: &SyncSender<Batch>| Batch { file: Arc::clone(&file), text: String::new(), rows: Vec::new() };
        let batches = senders.iter().map(batch).collect();
        Dealer {
            senders,
            arrays,
            last_array: None,
            batches,
            seen: HashMap::new(),
            clusters: Names::default(),
            passed: Passed::default(),
            order: 0,
            progress,
            told: 0,
        }
    }

    /// Reads one file; its first line that is not empty says what it is.
    fn file(&mut self, source: Source) -> Result<(), Failure> {
        let failed = |e: std::io::Error| format!("cannot read {}: {}", source.name, reason(&e));
        let mut lines = Lines::new(BufReader::with_capacity(256 << 10, source.reader));
        let mut line = String::new();
        let mut any = false;
        while lines.next(&mut line).map_err(failed)? {
            any = !line.trim().is_empty();
            if any {
                break;
            }
        }
        if !any {
            return Err(format!("{} is empty", source.name));
        }
        self.told = 0;
        let header = Header::parse(&line);
        let missing = header.as_ref().map(Header::missing).unwrap_or_default();
        self.passed
            .missing
            .extend(missing.into_iter().filter(|m| !self.passed.missing.contains(m)).collect::<Vec<_>>());
        self.passed.has_records |= header.is_none();
        self.passed.has_accounting |= header.is_some();
        let file = Arc::new(File { name: source.name.clone(), header });
        self.batches.iter_mut().for_each(|b| b.file = Arc::clone(&file));
        match &file.header {
            Some(header) => self.accounting(&file, header, &mut lines).map_err(failed)?,
            None => {
                let found = self.records(line, &mut lines).map_err(failed)?;
                if !found {
                    return Err(format!(
                        "{} is neither sacct --parsable2 output with its header line nor has it records of Sluice",
                        source.name
                    ));
                }
            }
        }
        (self.progress)(lines.read.saturating_sub(self.told));
        (0..self.batches.len()).for_each(|worker| self.send(worker));
        Ok(())
    }

    fn tell(&mut self, read: u64) {
        let more = read.saturating_sub(self.told);
        if more >= BATCH as u64 {
            (self.progress)(more);
            self.told = read;
        }
    }

    fn accounting<R: BufRead>(
        &mut self,
        file: &File,
        header: &Header,
        lines: &mut Lines<R>,
    ) -> Result<(), std::io::Error> {
        let mut assembler = Assembler::default();
        let mut line = String::new();
        loop {
            let more = lines.next(&mut line)?;
            if more && header.is_repeated(&line) {
                continue;
            }
            let step = if more { assembler.take(header, &line, lines.number) } else { assembler.rest() };
            match step {
                Some(Step::Row(text, number)) => self.row(file, header, &text, number),
                Some(Step::Broken(number)) => {
                    let why = "columns are missing: the line is cut off".to_owned();
                    self.passed.broken(&file.name, number, why);
                }
                None => {}
            }
            if !more {
                return Ok(());
            }
            self.tell(lines.read);
        }
    }

    /// Sends a row to the worker that has the rest of its job, unless it was read before.
    fn row(&mut self, file: &File, header: &Header, text: &str, number: u64) {
        let key = header.key(text);
        let (id, raw, cluster) = match &key {
            Ok(key) => (key.id, key.has_raw, key.cluster),
            Err(why) => {
                self.passed.broken(&file.name, number, why.clone());
                return;
            }
        };
        if id.kind == Kind::Step {
            self.passed.steps = self.passed.steps.saturating_add(1);
            return;
        }
        let cluster = self.clusters.number(cluster);
        // Tasks without a number of their own cannot be told from one another here.
        let told = raw || !matches!(id.kind, Kind::Task(_));
        if told && !self.seen.entry(cluster).or_default().first(id.raw) {
            self.passed.repeated = self.passed.repeated.saturating_add(1);
            return;
        }
        if matches!(id.kind, Kind::Task(_)) && self.last_array != Some((cluster, id.base)) {
            self.last_array = Some((cluster, id.base));
            if let Ok(mut arrays) = self.arrays.write() {
                arrays.entry(cluster).or_default().first(id.base);
            }
        }
        self.deal(id.base as usize, text, number, cluster);
    }

    fn records<R: BufRead>(
        &mut self,
        mut line: String,
        lines: &mut Lines<R>,
    ) -> Result<bool, std::io::Error> {
        let mut found = false;
        loop {
            if records::is_one(&line) {
                found = true;
                let worker = usize::try_from(self.order).unwrap_or(0);
                self.deal(worker, &line, lines.number, 0);
            }
            self.tell(lines.read);
            if !lines.next(&mut line)? {
                return Ok(found);
            }
        }
    }

    fn deal(&mut self, number: usize, text: &str, line: u64, cluster: u32) {
        let worker = number.checked_rem(self.batches.len()).unwrap_or(0);
        let order = self.order;
        self.order = order.saturating_add(1);
        let Some(batch) = self.batches.get_mut(worker) else { return };
        batch.text.push_str(text);
        batch.rows.push(Piece { end: batch.text.len(), line, order, cluster });
        if batch.text.len() >= BATCH {
            self.send(worker);
        }
    }

    fn send(&mut self, worker: usize) {
        let (Some(batch), Some(sender)) = (self.batches.get_mut(worker), self.senders.get(worker)) else {
            return;
        };
        if batch.rows.is_empty() {
            return;
        }
        let next =
            Batch { file: Arc::clone(&batch.file), text: String::with_capacity(BATCH), rows: Vec::new() };
        // A worker is only gone if it panicked, which is told when it is joined.
        let _ = sender.send(std::mem::replace(batch, next));
    }

    fn finish(self) -> Passed {
        self.passed
    }
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => error.to_string(),
    }
}

/// Most different submissions whose fate is remembered by each worker, 24 bytes each.
const REMEMBERED: usize = 1 << 16;

/// Judges rows.
struct Worker<'a> {
    policy: &'a Policy,
    against: Option<&'a Policy>,
    reader: Reader<'a>,
    name: &'a (dyn Fn(u32) -> Option<String> + Sync),
    since: Option<&'a str>,
    until: Option<&'a str>,
    rules: &'a Rules,
    epochs: &'a [Date],
    arrays: &'a Arrays,
    tally: Tally,
    /// Fates by a digest of all that they depend on: users submit the same job again and again.
    fates: HashMap<(u64, u64), Option<usize>>,
}

impl Worker<'_> {
    fn work(mut self, receiver: &Receiver<Batch>) -> Tally {
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
    let cpus = evidence::count(&Tres::new(list), "cpu");
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
