//! Waiting for a condition, with a deadline: the only place that sleeps, and only to ask again.

use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(15);

/// Asks until `holds` says yes. False once `limit` has passed.
#[must_use]
pub fn until(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        if holds() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}
