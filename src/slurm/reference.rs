//! The reference that a user quotes and the log names: eight hex digits.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Names one decision; unique until four thousand million decisions later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference(u32);

impl Reference {
    /// The next one. Counting by an odd step visits every number before any comes again, and looks
    /// less like a counter.
    pub fn next() -> Reference {
        Reference(NEXT.fetch_add(0x9e37_79b1, Ordering::Relaxed))
    }

    /// Starts somewhere else in each run of the daemon.
    pub fn seed() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let start = (now.as_secs() as u32).rotate_left(16) ^ now.subsec_nanos() ^ std::process::id();
        NEXT.store(start, Ordering::Relaxed);
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_eight_digits_and_differ() {
        let seen: std::collections::HashSet<String> =
            (0..10_000).map(|_| Reference::next().to_string()).collect();
        assert_eq!(seen.len(), 10_000);
        assert!(seen.iter().all(|r| r.len() == 8));
    }
}
