//! Reads files, takes from each line no more than whose it is, and deals the lines out: all of an array
//! or a heterogeneous job to one worker, each job once. Judges nothing.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, RwLock};

use super::read::{Assembler, Lines, Seen, Step};
use super::run::{Failure, Source};
use super::sacct::{Header, Kind};
use super::tally::Passed;
use super::{Names, records};

/// Rows that are sent to a worker at once, in bytes of text.
const BATCH: usize = 128 << 10;

/// Batches that may wait for a worker.
pub const WAITING: usize = 4;

/// Lines of one file for one worker.
pub struct Batch {
    /// Their file.
    pub file: Arc<File>,
    /// The rows one after the other.
    pub text: String,
    /// Where each ends.
    pub rows: Vec<Piece>,
}

/// One row of a batch.
pub struct Piece {
    /// Where it ends in the text of its batch.
    pub end: usize,
    /// Number of its line in its file.
    pub line: u64,
    /// Number among all rows.
    pub order: u64,
    /// Number of its cluster.
    pub cluster: u32,
}

/// A file as its rows need it.
pub struct File {
    /// What messages call it.
    pub name: String,
    /// `None`: records.
    pub header: Option<Header>,
}

/// The jobs that are arrays, by cluster: known before a later job that waits for one is judged.
pub type Arrays = RwLock<HashMap<u32, Seen>>;

/// Reads files and deals their rows out.
pub struct Dealer<'a> {
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
    /// With a way to each worker.
    pub fn new(senders: Vec<SyncSender<Batch>>, arrays: &'a Arrays, progress: &'a dyn Fn(u64)) -> Self {
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
    ///
    /// # Errors
    /// What cannot be read, in words.
    pub fn file(&mut self, source: Source) -> Result<(), Failure> {
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

    /// Ends the workers' work; what was not dealt out.
    pub fn finish(self) -> Passed {
        self.passed
    }
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => error.to_string(),
    }
}
