//! Daemons as children that never outlive us.
//!
//! Each one asks the kernel for a signal when its parent dies (`setpriv --pdeathsig`), so that even
//! a test run that was killed leaves none behind. For the kernel the parent is the *thread* that
//! started the child, and threads of tests come and go: all daemons are started by one thread that
//! lives as long as the process.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, mpsc};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::wait::until;

type Started = std::io::Result<Child>;
type Order = (Command, mpsc::Sender<Started>);

/// A running daemon with the file that its words go to.
pub struct Daemon {
    name: String,
    log: PathBuf,
    child: Child,
}

impl Daemon {
    /// Starts `program` in the foreground, in a process group of its own.
    pub fn start(
        name: &str,
        log: &Path,
        program: &str,
        args: &[&str],
        env: &[(&str, &str)],
    ) -> Result<Daemon, String> {
        let failed = |what: &str, e: std::io::Error| format!("{name}: cannot {what}: {e}");
        let out = File::create(log).map_err(|e| failed("make its log", e))?;
        let err = out.try_clone().map_err(|e| failed("make its log", e))?;
        let mut command = Command::new("setpriv");
        // SIGTERM, so that slurmctld can take its own helper processes with it.
        command.args(["--pdeathsig", "TERM", program]).args(args);
        command
            .env_clear()
            .env("PATH", super::session::PATH)
            .env("LANG", "C.UTF-8")
            .envs(env.iter().copied());
        command.stdin(Stdio::null()).stdout(out).stderr(err).process_group(0);
        if let Some(folder) = log.parent() {
            command.current_dir(folder);
        }
        let child = spawn(command).map_err(|e| failed("start", e))?;
        Ok(Daemon { name: name.to_owned(), log: log.to_owned(), child })
    }

    /// Waits until `ready` says so; gives up when the daemon ends or `limit` has passed.
    pub fn wait_until(&mut self, limit: Duration, mut ready: impl FnMut() -> bool) -> Result<(), String> {
        let mut ended = None;
        let ok = until(limit, || {
            ended = self.child.try_wait().ok().flatten();
            ended.is_some() || ready()
        });
        match ended {
            Some(status) => Err(format!("{} ended: {status}\n{}", self.name, self.tail())),
            None if ok => Ok(()),
            None => Err(format!("{} is not ready after {limit:?}\n{}", self.name, self.tail())),
        }
    }

    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// All that it wrote.
    pub fn log(&self) -> String {
        std::fs::read(&self.log).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default()
    }

    /// The last lines of that, for a person.
    pub fn tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        let from = lines.len().saturating_sub(30);
        format!("--- {} ({})\n{}", self.name, self.log.display(), lines[from..].join("\n"))
    }

    /// Asks it to end, then makes it.
    pub fn stop(&mut self) {
        if !self.is_running() {
            return;
        }
        let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) else { return };
        let _ = kill_process_group(group, Signal::TERM);
        let child = &mut self.child;
        if !until(Duration::from_secs(10), || !matches!(child.try_wait(), Ok(None))) {
            let _ = kill_process_group(group, Signal::KILL);
            let _ = child.wait();
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop();
    }
}

fn spawn(command: Command) -> Started {
    static NURSERY: OnceLock<Mutex<mpsc::Sender<Order>>> = OnceLock::new();
    let nursery = NURSERY.get_or_init(|| {
        let (orders, inbox) = mpsc::channel::<Order>();
        std::thread::spawn(move || {
            for (mut command, reply) in inbox {
                let _ = reply.send(command.spawn());
            }
        });
        Mutex::new(orders)
    });
    let gone = || std::io::Error::other("the thread that starts daemons is gone");
    let (reply, answer) = mpsc::channel();
    nursery.lock().map_err(|_| gone())?.send((command, reply)).map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}
