//! A user at a terminal: one command line, and what comes back.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::wait::until;

/// Where commands are looked for; the session's own folder comes before.
pub const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// How long one command may take unless the test says otherwise.
const LIMIT: Duration = Duration::from_secs(30);
/// How long its pipes may stay open after its end.
const PIPES: Duration = Duration::from_secs(5);

/// A command line about to be typed.
#[must_use = "nothing is typed before `run`"]
pub struct Command {
    line: String,
    user: Option<String>,
    cwd: PathBuf,
    env: Vec<(OsString, OsString)>,
    limit: Duration,
}

/// What a command said and how it ended.
#[derive(Debug)]
pub struct Output {
    /// The line as typed.
    pub line: String,
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Command {
    /// `line` is read by `sh`, as a user would type it.
    pub fn new(line: impl Into<String>, cwd: &Path) -> Command {
        Command { line: line.into(), user: None, cwd: cwd.to_owned(), env: Vec::new(), limit: LIMIT }
    }

    /// By a user that the system has. Without it: by root.
    pub fn by_user(mut self, name: &str) -> Command {
        self.user = (name != "root").then(|| name.to_owned());
        self
    }

    /// In this folder.
    pub fn in_dir(mut self, path: &Path) -> Command {
        path.clone_into(&mut self.cwd);
        self
    }

    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Command {
        self.env.push((name.into(), value.into()));
        self
    }

    pub fn within(mut self, limit: Duration) -> Command {
        self.limit = limit;
        self
    }

    /// Types it and waits for the end.
    ///
    /// # Panics
    /// Where it cannot be started, or is not done in time: then it and all its children are killed.
    pub fn run(self) -> Output {
        self.try_run().unwrap_or_else(|e| panic!("{e}"))
    }

    /// The same without a panic.
    pub fn try_run(self) -> Result<Output, String> {
        let mut command = std::process::Command::new("setpriv");
        if let Some(user) = &self.user {
            let (uid, gid) = ids(user).ok_or_else(|| format!("there is no user {user} on this system"))?;
            // A change of user forgets the death signal, so that comes after.
            command.args(["--reuid", &uid, "--regid", &gid, "--clear-groups", "setpriv"]);
        }
        command.args(["--pdeathsig", "KILL", "sh", "-c", &self.line]);
        command.env_clear().env("PATH", PATH).env("LANG", "C.UTF-8").env("HOME", &self.cwd);
        command
            .env("USER", self.user.as_deref().unwrap_or("root"))
            .envs(self.env.iter().map(|(k, v)| (k, v)));
        command.current_dir(&self.cwd).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("cannot run `{}`: {e}", self.line))?;
        let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
        let mut status = None;
        let done = until(self.limit, || {
            status = child.try_wait().ok().flatten();
            status.is_some()
        });
        // Also after an orderly end: nothing that it left behind may keep the pipes open.
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let last = child.wait().map_err(|e| format!("cannot wait for `{}`: {e}", self.line))?;
        let text = |from: mpsc::Receiver<String>| {
            from.recv_timeout(PIPES).map_err(|_| format!("something holds the output of `{}`", self.line))
        };
        let (stdout, stderr) = (text(stdout)?, text(stderr)?);
        let output = Output { line: self.line.clone(), status: status.unwrap_or(last), stdout, stderr };
        if done { Ok(output) } else { Err(format!("not done after {:?}\n{output}", self.limit)) }
    }
}

impl Output {
    pub fn ok(&self) -> bool {
        self.status.success()
    }

    /// Itself, where the command succeeded.
    ///
    /// # Panics
    /// Where it did not.
    #[track_caller]
    pub fn accepted(self) -> Output {
        assert!(self.ok(), "should have succeeded:\n{self}");
        self
    }

    /// Itself, where the command failed with exit code 1.
    ///
    /// # Panics
    /// Where it did not.
    #[track_caller]
    pub fn refused(self) -> Output {
        assert!(self.status.code() == Some(1), "should have ended with 1:\n{self}");
        self
    }

    /// The lines of stderr.
    pub fn errors(&self) -> Vec<&str> {
        self.stderr.lines().collect()
    }

    /// The lines of stderr with any of these beginnings, without it.
    pub fn lines_after<'a>(&'a self, prefixes: &[&str]) -> Vec<&'a str> {
        let strip = |line: &'a str| prefixes.iter().find_map(|p| line.strip_prefix(p));
        self.stderr.lines().filter_map(strip).collect()
    }

    /// The job id in `Submitted batch job 7`.
    ///
    /// # Panics
    /// Where there is none.
    #[track_caller]
    pub fn job_id(&self) -> u32 {
        let id = self.stdout.split_whitespace().last().and_then(|w| w.parse().ok());
        id.unwrap_or_else(|| panic!("no job id in:\n{self}"))
    }
}

impl std::fmt::Display for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "$ {}", self.line)?;
        f.write_str(&self.stdout)?;
        f.write_str(&self.stderr)?;
        match self.status.code() {
            Some(code) => write!(f, "(exit {code})"),
            None => write!(f, "({})", self.status),
        }
    }
}

/// User and group id by the system's own list, as text for `setpriv`.
fn ids(user: &str) -> Option<(String, String)> {
    let list = std::fs::read_to_string("/etc/passwd").ok()?;
    let mut fields = list.lines().find(|l| l.split(':').next() == Some(user))?.split(':').skip(2);
    Some((fields.next()?.to_owned(), fields.next()?.to_owned()))
}

/// User and group id as numbers.
pub fn numeric_ids(user: &str) -> Option<(u32, u32)> {
    let (uid, gid) = ids(user)?;
    Some((uid.parse().ok()?, gid.parse().ok()?))
}

/// Reads a pipe to its end, beside the caller: a program that fills one pipe must not wait for the
/// other to be read.
fn collect<R: Read + Send + 'static>(from: Option<R>) -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            let _ = from.read_to_end(&mut bytes);
        }
        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receive
}
