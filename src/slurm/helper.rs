//! The one thread of Sluice, in slurmctld only: everything slow happens here, nothing of it in the
//! hook. It keeps the policy up to date and works out the day.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::journal::Journal;
use super::policy_store::Store;
use super::reference::Reference;
use super::{api, clock, guard, log, policy_file, records, state_dir};

/// How often the thread looks at the policy file. A change counts when it has looked the same twice,
/// so it is in force after two of these, well within the two seconds that are promised.
const TICK: Duration = Duration::from_millis(500);
/// How long `init` waits for the first policy. It is not there any later because of Slurm's own
/// start, only because of a directory server that hangs; then jobs pass until it is.
const FIRST_LOAD: Duration = Duration::from_secs(20);

static HELPER: Mutex<Option<Helper>> = Mutex::new(None);

/// The running thread.
struct Helper {
    thread: JoinHandle<()>,
    shared: Arc<Shared>,
}

/// What both sides wait on.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// The first look at the policy is done.
    looked: bool,
    /// The thread is to end.
    stop: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits for `what`, at most this long, and says whether it came.
    fn wait(&self, what: impl Fn(&State) -> bool, timeout: Duration) -> bool {
        let waiting = self.changed.wait_timeout_while(self.lock(), timeout, |s| !what(s));
        what(&waiting.unwrap_or_else(PoisonError::into_inner).0)
    }
}

/// Starts the thread and waits, within bounds, for the first policy. Doing it twice does it once:
/// a plugin list that is spelled differently makes Slurm call `init` again.
pub fn start() {
    let mut helper = HELPER.lock().unwrap_or_else(PoisonError::into_inner);
    if helper.is_some() {
        return;
    }
    if let Some(missing) = api::get().missing() {
        log::error(&format!("this slurmctld lacks {missing}"));
    }
    Reference::seed();
    records::prepare();
    clock::tick();
    let Some(path) = policy_file::path() else {
        log::error(
            "this slurmctld does not say where slurm.conf is: NO POLICY IS IN FORCE, every job passes",
        );
        return;
    };
    let shared = Arc::new(Shared::default());
    let of_thread = Arc::clone(&shared);
    let body = move || work(&of_thread, Store::new(path));
    match with_signals_blocked(|| thread::Builder::new().name("sluice".to_owned()).spawn(body)) {
        Ok(thread) => {
            if !shared.wait(|s| s.looked, FIRST_LOAD) {
                log::error("the policy is still being loaded (user and group names?): jobs pass until it is");
            }
            *helper = Some(Helper { thread, shared });
        }
        Err(e) => log::error(&format!("no thread ({e}): NO POLICY IS IN FORCE, every job passes")),
    }
}

/// Ends the thread and waits for that. The policy is no longer in force then.
pub fn stop() {
    let helper = HELPER.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(Helper { thread, shared }) = helper {
        shared.set(|s| s.stop = true);
        // A panic of the thread has been logged where it was caught.
        let _ = thread.join();
    }
}

fn work(shared: &Shared, mut store: Store) {
    let state = guard::run("finding the state folder", || None, state_dir::find);
    if state.is_none() {
        log::error("StateSaveLocation is not known: no copy of the policy is kept, no status is written");
    }
    guard::run("the first look at the policy", || (), || store.start(state.as_deref()));
    shared.set(|s| s.looked = true);
    let mut journal = Journal::new(state.as_deref());
    loop {
        // Each by itself: what one fails on does not keep the other from its work.
        guard::run("recording decisions", || (), || journal.tick(store.status()));
        if shared.wait(|s| s.stop, TICK) {
            break;
        }
        guard::run(
            "keeping the policy",
            || (),
            || {
                clock::tick();
                store.tick();
            },
        );
    }
    guard::run("recording decisions", || (), || journal.end(store.status()));
}

/// Runs `spawn` with all signals blocked, which its thread inherits: slurmctld's signals are for
/// slurmctld's threads.
fn with_signals_blocked<T>(spawn: impl FnOnce() -> T) -> T {
    // SAFETY: plain C sets, each initialised by the call that is given it; the mask of this thread is
    // put back as it was.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut old: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        let blocked = libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut old) == 0;
        let result = spawn();
        if blocked {
            libc::pthread_sigmask(libc::SIG_SETMASK, &old, std::ptr::null_mut());
        }
        result
    }
}
