//! From the hook to the helper: a queue of fixed length that nobody waits at.
//!
//! The hook puts a decision in without a lock and goes on; where there is no room the decision is
//! dropped and counted. What is slow, to write it somewhere, is the helper's (`journal`).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};

use once_cell::sync::OnceCell;

use crate::record::{Circumstances, Record};
use crate::request::Request;
use crate::verdict::Verdict;

/// Decisions that wait at most. The helper empties the queue twice a second, so that this many have
/// to be refused or edited within half a second before one is lost.
const LENGTH: usize = 4096;

/// One decision on its way.
#[derive(Debug)]
pub struct Event {
    /// What slurmctld's log gets.
    pub line: Option<Line>,
    /// What the record is made of; the helper makes it, for that takes longer than to judge.
    pub circumstances: Circumstances,
    /// Hash of the policy that was in force.
    pub policy: u64,
    /// What was judged.
    pub request: Request<'static>,
    /// What was decided.
    pub verdict: Verdict,
}

impl Event {
    /// The record.
    pub fn record(self) -> Record {
        Record::new(self.circumstances, self.policy, &self.request, &self.verdict)
    }
}

/// A line for slurmctld's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Whose job: lines are rationed by user.
    pub uid: u32,
    /// The text.
    pub text: String,
    /// Whether Sluice failed.
    pub is_error: bool,
}

struct Queue {
    hand_in: SyncSender<Box<Event>>,
    /// Only the helper takes this lock.
    take_out: Mutex<Receiver<Box<Event>>>,
}

static DROPPED: AtomicU64 = AtomicU64::new(0);

fn queue() -> &'static Queue {
    static QUEUE: OnceCell<Queue> = OnceCell::new();
    QUEUE.get_or_init(|| {
        let (hand_in, take_out) = sync_channel(LENGTH);
        Queue { hand_in, take_out: Mutex::new(take_out) }
    })
}

/// Makes the queue, so that the hook need not.
pub fn prepare() {
    queue();
}

/// Hands a decision in. Never waits.
pub fn hand_in(event: Event) {
    if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) =
        queue().hand_in.try_send(Box::new(event))
    {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Takes out what is there, oldest first. Only for the helper.
pub fn take_out(mut each: impl FnMut(Event)) {
    let queue = queue().take_out.lock().unwrap_or_else(PoisonError::into_inner);
    // Not more than there is room for: the hook may be quicker than the helper.
    for event in queue.try_iter().take(LENGTH) {
        each(*event);
    }
}

/// Decisions that found no room since the `.so` was loaded.
pub fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}
