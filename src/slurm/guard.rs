//! The one way into every function that C calls: a panic ends here, never in Slurm.
//!
//! What a guard cannot catch: a stack overflow (slurmctld's RPC threads have 1 MiB; so nothing here
//! recurses on input) and a failed allocation (Rust aborts).

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use super::log;

static FAILURES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static INSIDE: Cell<u32> = const { Cell::new(0) };
}

/// Panics that were caught since the `.so` was loaded.
pub fn failures() -> u64 {
    FAILURES.load(Ordering::Relaxed)
}

/// Runs `body`; where it panics, `fallback` answers.
pub fn run<T>(entry: &'static str, fallback: impl FnOnce() -> T, body: impl FnOnce() -> T) -> T {
    let inside = Inside::enter();
    let result = catch_unwind(AssertUnwindSafe(body));
    drop(inside);
    match result {
        Ok(value) => value,
        Err(payload) => {
            // A payload could panic in its own destructor; a few bytes are the cheaper loss.
            std::mem::forget(payload);
            log::error(&format!("internal error in {entry}, caught ({} so far)", failures()));
            fallback()
        }
    }
}

/// Replaces the printing of panics, which would go to a daemon's closed stderr or into a user's
/// terminal, by one line in the log. The hook is this `.so`'s own: its copy of std is private.
pub fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if INSIDE.with(Cell::get) == 0 {
                print(info);
            } else {
                count(info);
            }
        }));
    });
}

/// Counts a panic. The first ten are logged in full, then ever fewer: a user can repeat one at will.
fn count(info: &PanicHookInfo<'_>) {
    let n = FAILURES.fetch_add(1, Ordering::Relaxed).saturating_add(1);
    if n <= 10 || n.is_power_of_two() {
        let text = info.to_string();
        log::error(&format!("internal error: {}", text.lines().collect::<Vec<_>>().join(" ")));
    }
}

/// Marks the thread as being inside an entry point.
struct Inside;

impl Inside {
    fn enter() -> Inside {
        INSIDE.with(|n| n.set(n.get().saturating_add(1)));
        Inside
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.with(|n| n.set(n.get().saturating_sub(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_caught_counted_and_answered() {
        silence_panics();
        let before = failures();
        assert_eq!(run("test", || 7, || -> i32 { panic!("oh") }), 7);
        assert_eq!(run("test", || 7, || 1), 1);
        assert!(failures() > before);
    }
}
