//! Where decision records go: the system log, or a file that the policy names.
//!
//! Only for the helper. A system log that nobody reads makes it wait a moment, never longer; one that
//! is not there is looked for again after a while.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::policy::Records;

/// The system log's socket.
const SYSLOG: &str = "/dev/log";
/// How long one message may wait for a system log that is busy.
const PATIENCE: Duration = Duration::from_millis(50);
/// How soon something that could not be opened is tried again.
const RETRY: Duration = Duration::from_secs(2);
/// Bytes of the longest message that system logs keep whole (rsyslog's `MaxMessageSize` is 8 KiB).
const MESSAGE: usize = 7800;
/// Facility `daemon`, severity `notice` and `info` (RFC 3164).
const REFUSED: u8 = 3 << 3 | 5;
const ACCEPTED: u8 = 3 << 3 | 6;

/// An open target.
enum Open {
    Socket(UnixDatagram),
    File(File),
}

/// The target that the policy names.
pub struct Sink {
    target: PathBuf,
    open: Option<Open>,
    /// When to try again.
    retry: Option<Instant>,
    error: Option<String>,
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is written.
    Written,
    /// Not now; the same record may be tried later.
    Later,
    /// This record cannot be written at all.
    Never,
}

impl Default for Sink {
    fn default() -> Sink {
        Sink { target: SYSLOG.into(), open: None, retry: None, error: None }
    }
}

impl Sink {
    /// Takes the policy's word for where records go.
    pub fn point_to(&mut self, records: &Records) {
        let target = match records {
            Records::Syslog => Path::new(SYSLOG),
            Records::File(path) => path,
        };
        if target != self.target {
            *self = Sink { target: target.to_owned(), ..Sink::default() };
        }
    }

    /// Where records go.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Why they cannot at the moment.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// The bytes that one record may have.
    pub fn limit(&self) -> usize {
        if matches!(self.open, Some(Open::File(_))) { usize::MAX } else { MESSAGE }
    }

    /// Looks whether the target is still the one that is open. To be called before each batch.
    pub fn check(&mut self) {
        if let Some(Open::File(file)) = &self.open {
            let same =
                |a: &std::fs::Metadata, b: &std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
            let there = file.metadata().ok().zip(self.target.symlink_metadata().ok());
            // Somebody moved it away, to begin a new one.
            if !there.is_some_and(|(a, b)| same(&a, &b)) {
                self.open = None;
            }
        }
        if self.open.is_none() && self.retry.is_none_or(|at| Instant::now() >= at) {
            match open(&self.target) {
                Ok(open) => {
                    (self.open, self.retry, self.error) = (Some(open), None, None);
                }
                Err(e) => self.fail(&e),
            }
        }
    }

    /// Writes one record.
    pub fn send(&mut self, line: &str, refused: bool, stamp: &str) -> Sent {
        let written = match &mut self.open {
            None => return Sent::Later,
            Some(Open::File(file)) => add(file, &format!("{line}\n")),
            Some(Open::Socket(socket)) => {
                let priority = if refused { REFUSED } else { ACCEPTED };
                let pid = std::process::id();
                let message = format!("<{priority}>{stamp} sluice[{pid}]: {line}");
                socket.send(message.as_bytes()).map(|_| ())
            }
        };
        match written {
            Ok(()) => {
                self.error = None;
                Sent::Written
            }
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                self.error = Some("nobody reads it".to_owned());
                Sent::Later
            }
            Err(e) if e.raw_os_error() == Some(libc::EMSGSIZE) => Sent::Never,
            Err(e) => {
                self.open = None;
                self.fail(&e);
                Sent::Later
            }
        }
    }

    fn fail(&mut self, e: &io::Error) {
        self.error = Some(e.to_string());
        self.retry = Instant::now().checked_add(RETRY);
    }
}

/// Opens what lies at the path: a socket, or a file to add to. Nothing else, and never blocking.
fn open(path: &Path) -> io::Result<Open> {
    let kind = path.metadata().map(|m| m.file_type());
    if path == Path::new(SYSLOG) || kind.as_ref().is_ok_and(FileTypeExt::is_socket) {
        let socket = UnixDatagram::unbound()?;
        socket.connect(path)?;
        socket.set_write_timeout(Some(PATIENCE))?;
        return Ok(Open::Socket(socket));
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o640);
    // A FIFO would block, a terminal would become ours, a link may lead anywhere.
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_NOFOLLOW | libc::O_CLOEXEC);
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is neither a regular file nor a socket"));
    }
    Ok(Open::File(file))
}

/// Adds a line, whole or not at all: half of one, left by a disk that is full, would spoil the next.
fn add(file: &mut File, line: &str) -> io::Result<()> {
    let written = file.write(line.as_bytes())?;
    if written == line.len() {
        return Ok(());
    }
    let len = file.metadata()?.len();
    file.set_len(len.saturating_sub(u64::try_from(written).unwrap_or(0)))?;
    Err(io::Error::from_raw_os_error(libc::ENOSPC))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn folder(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("sluice-sink-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    fn sink(path: &Path) -> Sink {
        let mut sink = Sink::default();
        sink.point_to(&Records::File(path.to_owned()));
        sink.check();
        sink
    }

    #[test]
    fn a_file_is_added_to_and_begun_anew_when_it_was_moved_away() {
        let dir = folder("file");
        let path = dir.join("records");
        let mut sink = sink(&path);
        assert_eq!(sink.send("{1}", true, ""), Sent::Written);
        fs::rename(&path, dir.join("records.1")).unwrap();
        sink.check();
        assert_eq!(sink.send("{2}", true, ""), Sent::Written);
        assert_eq!(fs::read_to_string(dir.join("records.1")).unwrap(), "{1}\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{2}\n");
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_fifo_a_link_and_a_folder_are_no_files() {
        let dir = folder("kinds");
        let fifo = dir.join("fifo");
        let name = std::ffi::CString::new(fifo.as_os_str().as_encoded_bytes()).unwrap();
        // SAFETY: a valid path.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let link = dir.join("link");
        std::os::unix::fs::symlink(dir.join("elsewhere"), &link).unwrap();
        for path in [&fifo, &link, &dir] {
            let mut sink = sink(path);
            assert!(sink.error().is_some(), "{}", path.display());
            assert_eq!(sink.send("{}", true, ""), Sent::Later);
        }
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_socket_that_nobody_reads_costs_a_moment_and_one_that_comes_back_is_found() {
        let dir = folder("socket");
        let path = dir.join("log");
        let reader = UnixDatagram::bind(&path).unwrap();
        let mut sink = sink(&path);
        let started = Instant::now();
        let mut written = 0;
        while sink.send("{}", true, "Nov 30 12:00:00") == Sent::Written {
            written += 1;
            assert!(written < 10_000, "a queue without end");
        }
        assert!(written > 0 && started.elapsed() < Duration::from_secs(2));

        let mut bytes = [0; 100];
        let read = reader.recv(&mut bytes).unwrap();
        let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
        assert!(text.starts_with("<29>Nov 30 12:00:00 sluice[") && text.ends_with("]: {}"), "{text}");
        assert_eq!(sink.send("{}", false, "Nov 30 12:00:00"), Sent::Written);

        // Another test may have forked just now, and hold it a while.
        reader.shutdown(std::net::Shutdown::Both).unwrap();
        drop(reader);
        fs::remove_file(&path).unwrap();
        assert_eq!(sink.send("{}", true, ""), Sent::Later);
        let reader = UnixDatagram::bind(&path).unwrap();
        sink.retry = None;
        sink.check();
        assert_eq!(sink.send("{}", true, ""), Sent::Written);
        drop(reader);
        fs::remove_dir_all(dir).unwrap();
    }
}
