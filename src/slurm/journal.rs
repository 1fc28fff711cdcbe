//! The helper's side of decisions: counts them, gives slurmctld's log its lines, writes the records,
//! and keeps the status file that `sluice status` reads.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::record_sink::{Sent, Sink};
use super::records::{self, Event, Line};
use super::{clock, counters, guard, log, snapshot, sys};
use crate::record::Record;
use crate::status::{self, Build, Decisions, PolicyStatus, Status};

/// Records that wait for a target which does not take them. What comes after is dropped.
const BACKLOG: usize = 1024;
/// Lines that one user gets in slurmctld's log within [`WINDOW`].
const LINES: u32 = 30;
/// The time after which a user's lines are counted anew.
const WINDOW: Duration = Duration::from_secs(60);
/// Users whose lines are counted at a time.
const USERS: usize = 4096;
/// How often the status file is written, at most.
const STATUS: Duration = Duration::from_secs(3);

/// Everything about decisions that is not the hook's.
pub struct Journal {
    sink: Sink,
    backlog: VecDeque<Record>,
    written: u64,
    dropped: u64,
    /// Why records could not be written, as last told.
    told: Option<String>,
    decisions: Decisions,
    rations: BTreeMap<u32, Ration>,
    status_path: Option<PathBuf>,
    started: u64,
    last: Status,
    next_status: Option<Instant>,
}

/// One user's share of slurmctld's log.
struct Ration {
    since: Instant,
    lines: u32,
    more: u64,
}

impl Journal {
    /// With the folder that the status file goes to.
    pub fn new(state: Option<&Path>) -> Journal {
        Journal {
            sink: Sink::default(),
            backlog: VecDeque::new(),
            written: 0,
            dropped: 0,
            told: None,
            decisions: Decisions::default(),
            rations: BTreeMap::new(),
            status_path: state.map(|dir| dir.join(status::FILE)),
            started: now(),
            last: Status::default(),
            next_status: None,
        }
    }

    /// Does what there is to do. To be called every now and then.
    pub fn tick(&mut self, policy: &PolicyStatus) {
        records::take_out(|event| self.take(event));
        self.end_windows();
        if let Some(policy) = snapshot::current() {
            self.sink.point_to(&policy.site.records);
        }
        self.write_records();
        if self.next_status.is_none_or(|at| Instant::now() >= at) {
            self.write_status(policy);
            self.next_status = Instant::now().checked_add(STATUS);
        }
    }

    /// The same for the last time: nothing is left for later.
    pub fn end(&mut self, policy: &PolicyStatus) {
        self.next_status = None;
        self.tick(policy);
    }

    fn take(&mut self, event: Event) {
        if let Some(line) = &event.line {
            self.ration(line);
        }
        let record = event.record();
        self.decisions.count(&record);
        if self.backlog.len() < BACKLOG {
            self.backlog.push_back(record);
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    /// Logs a line unless its user has had his share.
    fn ration(&mut self, line: &Line) {
        if line.is_error {
            log::error(&line.text);
            return;
        }
        let new = Ration { since: Instant::now(), lines: 0, more: 0 };
        if !self.rations.contains_key(&line.uid) && self.rations.len() >= USERS {
            return;
        }
        let ration = self.rations.entry(line.uid).or_insert(new);
        if ration.lines < LINES {
            ration.lines = ration.lines.saturating_add(1);
            log::info(&line.text);
        } else {
            ration.more = ration.more.saturating_add(1);
        }
    }

    fn end_windows(&mut self) {
        self.rations.retain(|uid, ration| {
            let over = ration.since.elapsed() >= WINDOW;
            if over && ration.more > 0 {
                log::info(&format!("and {} more from uid {uid} in the last minute", ration.more));
            }
            !over
        });
    }

    fn write_records(&mut self) {
        if self.backlog.is_empty() {
            return;
        }
        self.sink.check();
        let stamp = clock::stamp();
        while let Some(record) = self.backlog.front() {
            let line = record.to_line_within(self.sink.limit());
            match self.sink.send(&line, record.verdict == "refused", &stamp) {
                Sent::Written => self.written = self.written.saturating_add(1),
                Sent::Never => self.dropped = self.dropped.saturating_add(1),
                Sent::Later => break,
            }
            self.backlog.pop_front();
        }
        let error = self.sink.error().map(str::to_owned);
        if error != self.told {
            match &error {
                Some(why) => log::error(&format!(
                    "decisions cannot be recorded: {}: {why} ({} lost so far)",
                    self.sink.target().display(),
                    self.lost()
                )),
                None => log::info(&format!("decisions are recorded again ({} lost so far)", self.lost())),
            }
            self.told = error;
        }
    }

    fn lost(&self) -> u64 {
        self.dropped.saturating_add(records::dropped())
    }

    fn status(&self, policy: &PolicyStatus) -> Status {
        let (submissions, updates, failures) = counters::read();
        let slurm = sys::SLURM_VERSION_NUMBER;
        Status {
            sluice: status::SCHEMA,
            written: 0,
            pid: std::process::id(),
            started: self.started,
            build: Build {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                slurm: format!("{}.{:02}.{}", slurm >> 16, slurm >> 8 & 0xff, slurm & 0xff),
            },
            policy: policy.clone(),
            submissions,
            updates,
            panics: guard::failures(),
            failures,
            decisions: self.decisions.clone(),
            records: status::Records {
                target: self.sink.target().display().to_string(),
                written: self.written,
                dropped: self.lost(),
                error: self.sink.error().map(str::to_owned),
            },
        }
    }

    /// Writes the status file where anything in it has changed.
    fn write_status(&mut self, policy: &PolicyStatus) {
        let Some(path) = &self.status_path else { return };
        let status = self.status(policy);
        if status == self.last {
            return;
        }
        let text = serde_json::to_string_pretty(&Status { written: now(), ..status.clone() });
        let result = text.map_err(std::io::Error::from).and_then(|t| replace(path, &format!("{t}\n"), 0o644));
        if let Err(e) = result {
            log::error(&format!("{}: {e}: `sluice status` will be out of date", path.display()));
        }
        // Also after a failure: it is tried again, and told again, when there is something new.
        self.last = status;
    }
}

/// Puts a file of this text in the place of the one at `path`, in one step. Where that fails nothing is
/// left behind, and the old file stays.
pub fn replace(path: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!("{name}.new"));
    // What an earlier attempt left behind.
    let _ = fs::remove_file(&new);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(mode).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
    let mut file = options.open(&new)?;
    // The mode that was given went through slurmctld's umask.
    let set = std::os::unix::fs::PermissionsExt::from_mode(mode);
    let written = file
        .set_permissions(set)
        .and_then(|()| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(uid: u32) -> Line {
        Line { uid, text: "refused".to_owned(), is_error: false }
    }

    #[test]
    fn a_user_gets_so_many_lines_and_the_rest_is_counted() {
        let mut journal = Journal::new(None);
        for _ in 0..LINES + 120 {
            journal.ration(&line(1001));
        }
        journal.ration(&line(1002));
        let share = |journal: &Journal, uid| journal.rations.get(&uid).map(|r| (r.lines, r.more));
        assert_eq!(share(&journal, 1001), Some((LINES, 120)));
        assert_eq!(share(&journal, 1002), Some((1, 0)));
        // A minute later the user begins anew.
        journal.rations.get_mut(&1001).unwrap().since = Instant::now().checked_sub(WINDOW).unwrap();
        journal.end_windows();
        assert_eq!(share(&journal, 1001), None);
        assert_eq!(share(&journal, 1002), Some((1, 0)));
    }

    #[test]
    fn a_file_is_replaced_in_one_step_with_the_mode_that_it_should_have() {
        use std::os::unix::fs::PermissionsExt;
        let dir = std::env::temp_dir().join(format!("sluice-journal-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("status.json");
        fs::write(dir.join("status.json.new"), "left behind").unwrap();
        for text in ["{1}\n", "{2}\n"] {
            replace(&path, text, 0o644).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        }
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
        fs::remove_dir_all(dir).unwrap();
    }
}
