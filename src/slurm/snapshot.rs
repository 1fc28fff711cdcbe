//! The policy in force, readable from many threads at once without waiting.
//!
//! One pointer and one count of readers. A reader raises the count, loads the pointer, and lowers the
//! count when it is done: two atomic additions, no lock, nothing allocated. The helper swaps the
//! pointer and keeps the old policy until it sees the count at zero. All operations are sequentially
//! consistent, so they have one order: a reader that loaded the old pointer raised the count before
//! the swap, and a count of zero after the swap says that it has lowered it since. A stream of
//! readers that never pauses only delays that, by the memory of one old policy a change.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};

use crate::policy::Policy;

static CURRENT: AtomicPtr<Policy> = AtomicPtr::new(std::ptr::null_mut());
static READERS: AtomicUsize = AtomicUsize::new(0);

/// A policy that stays as it is, and stays, while this lives.
pub struct Reading(*const Policy);

/// The policy in force; `None` before the first is loaded.
pub fn current() -> Option<Reading> {
    READERS.fetch_add(1, SeqCst);
    // From here on the count is lowered by `Reading`'s drop, also when a panic unwinds.
    let reading = Reading(CURRENT.load(SeqCst));
    (!reading.0.is_null()).then_some(reading)
}

impl std::ops::Deref for Reading {
    type Target = Policy;

    fn deref(&self) -> &Policy {
        // SAFETY: not NULL (see `current`), made by `Box::into_raw` in `Writer::publish`, and not
        // freed while the count that this reader raised before loading it stands.
        unsafe { &*self.0 }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        READERS.fetch_sub(1, SeqCst);
    }
}

/// The one who changes the policy: the helper has the only one.
#[derive(Debug, Default)]
pub struct Writer {
    retired: Vec<Retired>,
}

/// A policy that is no longer in force and may still be read.
#[derive(Debug)]
struct Retired(*mut Policy);

// SAFETY: a Policy may be sent to and dropped on any thread (asserted below); this is the only
// pointer to it besides readers'.
unsafe impl Send for Retired {}
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Policy>();
};

impl Writer {
    /// Puts a policy in force.
    pub fn publish(&mut self, policy: Policy) {
        self.swap(Box::into_raw(Box::new(policy)));
    }

    /// Frees the policies that nobody can read any more. To be called now and then.
    pub fn collect(&mut self) {
        if READERS.load(SeqCst) == 0 {
            for Retired(policy) in self.retired.drain(..) {
                // SAFETY: from `Box::into_raw`, swapped out before the count was seen at zero: see
                // the module's argument.
                drop(unsafe { Box::from_raw(policy) });
            }
        }
    }

    fn swap(&mut self, policy: *mut Policy) {
        let old = CURRENT.swap(policy, SeqCst);
        if !old.is_null() {
            self.retired.push(Retired(old));
        }
        self.collect();
    }
}

impl Drop for Writer {
    /// Takes the policy out of force. What is still being read is leaked: at worst once, when the
    /// plugin goes.
    fn drop(&mut self) {
        self.swap(std::ptr::null_mut());
    }
}
