//! Waiting for a condition, with a deadline: the only place that sleeps, and only to ask again. And
//! waiting for many things at once.

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

/// Runs what does not touch each other at the same time: `sbatch --wait` takes seconds to see that a job
/// has ended, and waits well beside others.
pub fn at_once<T: Send>(cases: impl IntoIterator<Item = T>, run: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            let run = &run;
            scope.spawn(move || run(case));
        }
    });
}
