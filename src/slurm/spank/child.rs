//! Work that may hang or fail, done by a child process as the job's user, for a limited time.
//!
//! slurmstepd is root and must not wait: a path that a user chose is only ever touched by a process that
//! is that user and nothing else, and one that a dead file server holds is left behind.

use std::ffi::c_int;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::time::{Duration, Instant};

use crate::slurm::guard;

/// How long the child may take. A job starts later by so much at most.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked after; the first look comes after a tenth of that.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes of what it has to say.
const WORDS: usize = 400;

/// Whom the child becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// User id.
    pub uid: u32,
    /// Primary group.
    pub gid: u32,
    /// All other groups.
    pub groups: Vec<u32>,
}

/// Runs `work` in a child, as `user`, and waits for it within limits.
///
/// # Errors
/// What `work` says, or why it could not be done.
pub fn run(user: &User, work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let (mut ear, mouth) = pipe()?;
    // SAFETY: the child runs `tell` alone and ends in there. Of what other threads held at this moment
    // libc's own locks are made free by libc; should any other lock be held for ever, the child's time
    // is up some day.
    match unsafe { libc::fork() } {
        -1 => Err(last("fork")),
        0 => tell(mouth, user, work),
        child => {
            drop(mouth);
            wait(child)?;
            let mut words = [0; WORDS];
            // What it wrote is in the pipe, and it is gone. A process that a thread of this one forked
            // meanwhile may hold the other end: so no waiting for the end of the pipe.
            let n = ear.read(&mut words).unwrap_or(0);
            match words.get(..n) {
                None | Some([]) => Err("it ended without a word".to_owned()),
                Some([b'+']) => Ok(()),
                Some(words) => Err(String::from_utf8_lossy(words).into_owned()),
            }
        }
    }
}

/// The child: it never comes back.
fn tell(mut mouth: File, user: &User, work: impl FnOnce() -> Result<(), String>) -> ! {
    let result = guard::run(
        "run card",
        || Err("internal error".to_owned()),
        || become_user(user).and_then(|()| work()),
    );
    let words = result.err().unwrap_or_else(|| "+".to_owned());
    let _ = mouth.write_all(words.as_bytes().get(..WORDS).unwrap_or(words.as_bytes()));
    // SAFETY: ends this process at once, without what its parent has registered for its own end.
    unsafe { libc::_exit(0) }
}

/// Waits until the child is gone; ends it when its time is up.
fn wait(child: libc::pid_t) -> Result<(), String> {
    let begin = Instant::now();
    let gone = || {
        let mut status: c_int = 0;
        // SAFETY: our own child; never blocks. An error is a child that somebody has waited for.
        unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) != 0 }
    };
    let mut look = LOOK / 10;
    while !gone() {
        if begin.elapsed() > PATIENCE {
            // SAFETY: our own child, not waited for yet: the number is nobody else's.
            unsafe { libc::kill(child, libc::SIGKILL) };
            // One that a file server holds does not even die: it is left behind.
            std::thread::sleep(LOOK);
            gone();
            return Err(format!("not done within {} seconds", PATIENCE.as_secs()));
        }
        std::thread::sleep(look);
        look = LOOK;
    }
    Ok(())
}

/// Gives up everything that is not the user's, for good.
fn become_user(user: &User) -> Result<(), String> {
    // SAFETY: plain system calls; the list of groups is as long as is said.
    unsafe {
        if libc::geteuid() == user.uid && libc::getuid() == user.uid {
            return Ok(());
        }
        // An effective user that is not root: back to what the process really is.
        if libc::geteuid() != 0 && libc::seteuid(libc::getuid()) != 0 {
            return Err(last("seteuid"));
        }
        if libc::setgroups(user.groups.len(), user.groups.as_ptr()) != 0 {
            return Err(last("setgroups"));
        }
        // From root both set the real, the effective and the saved one.
        if libc::setgid(user.gid) != 0 || libc::setuid(user.uid) != 0 {
            return Err(last("setuid"));
        }
        // What this process still has of root's, memory and open files, is not the user's to look at.
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        let mine = libc::getuid() == user.uid && libc::geteuid() == user.uid && libc::getgid() == user.gid;
        let back = user.uid != 0 && libc::setuid(0) == 0;
        if mine && !back { Ok(()) } else { Err("could not become the job's user".to_owned()) }
    }
}

/// A pipe that no program inherits; its reading end never blocks.
fn pipe() -> Result<(File, File), String> {
    let mut ends: [c_int; 2] = [-1; 2];
    // SAFETY: room for two descriptors, which are then owned once each.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) != 0 {
            return Err(last("pipe"));
        }
        let [ear, mouth] = ends;
        Ok((File::from_raw_fd(ear), File::from_raw_fd(mouth)))
    }
}

fn last(call: &str) -> String {
    format!("{call}: {}", std::io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn me() -> User {
        // SAFETY: plain system calls.
        unsafe { User { uid: libc::getuid(), gid: libc::getgid(), groups: Vec::new() } }
    }

    #[test]
    fn the_child_says_how_it_went() {
        assert_eq!(run(&me(), || Ok(())), Ok(()));
        assert_eq!(run(&me(), || Err("no space".to_owned())), Err("no space".to_owned()));
        guard::silence_panics();
        assert_eq!(run(&me(), || panic!("oh")), Err("internal error".to_owned()));
        let long = "x".repeat(10_000);
        assert_eq!(run(&me(), || Err(long.clone())).unwrap_err().len(), WORDS);
    }

    #[test]
    fn a_child_that_hangs_is_left_behind() {
        let begin = Instant::now();
        let hangs = || {
            std::thread::sleep(Duration::from_secs(60));
            Ok(())
        };
        assert_eq!(run(&me(), hangs), Err("not done within 5 seconds".to_owned()));
        assert!(begin.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn root_becomes_the_user_for_good() {
        // SAFETY: a plain system call.
        if unsafe { libc::getuid() } != 0 {
            return;
        }
        let user = User { uid: 12_345, gid: 12_346, groups: vec![12_347] };
        let folder = std::env::temp_dir().join(format!("sluice-child-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = || std::fs::write(folder.join("x"), "").map_err(|e| e.to_string());
        assert_eq!(run(&user, write), Err("Permission denied (os error 13)".to_owned()));
        let whole = || {
            let status = std::fs::read_to_string("/proc/self/status").map_err(|e| e.to_string())?;
            let line = |key: &str| {
                let line = status.lines().find_map(|l| l.strip_prefix(key)).unwrap_or_default();
                line.split_whitespace().collect::<Vec<_>>().join(" ")
            };
            Err([line("Uid:"), line("Gid:"), line("Groups:"), line("CapEff:"), line("CapPrm:")].join("/"))
        };
        let everywhere = |id: u32| [id; 4].map(|n| n.to_string()).join(" ");
        let zeros = "0".repeat(16);
        assert_eq!(
            run(&user, whole),
            Err(format!("{}/{}/12347/{zeros}/{zeros}", everywhere(12_345), everywhere(12_346)))
        );
        std::fs::remove_dir_all(folder).unwrap();
    }
}
