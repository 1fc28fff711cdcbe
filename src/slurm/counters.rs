//! How often the hooks were called. What was decided is counted by the helper (`journal`), from the
//! records.

use std::sync::atomic::{AtomicU64, Ordering};

static SUBMISSIONS: AtomicU64 = AtomicU64::new(0);
static UPDATES: AtomicU64 = AtomicU64::new(0);
static FAILURES: AtomicU64 = AtomicU64::new(0);

/// A submission came.
pub fn submission() {
    SUBMISSIONS.fetch_add(1, Ordering::Relaxed);
}

/// An update came.
pub fn update() {
    UPDATES.fetch_add(1, Ordering::Relaxed);
}

/// Sluice failed on a request as a whole.
pub fn failure() {
    FAILURES.fetch_add(1, Ordering::Relaxed);
}

/// Submissions, updates, and failures so far.
pub fn read() -> (u64, u64, u64) {
    let read = |n: &AtomicU64| n.load(Ordering::Relaxed);
    (read(&SUBMISSIONS), read(&UPDATES), read(&FAILURES))
}
