//! Past submissions in 32 KiB of atomics: never locked, never full, never wrong for long.
//!
//! One number holds one submission: 28 bits of the job's digest, 12 of the partition's, and the time
//! in steps of eight seconds. Ten more bits of the job's digest say in which row it stands. Two
//! threads that write at once may lose one of the two, which costs a warning and nothing else.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

const ROWS: usize = 1024;
const WAYS: usize = 4;
const JOB_BITS: u32 = 28;
const PARTITION_BITS: u32 = 12;
const TIME_BITS: u32 = 24;
/// Seconds in one step of the clock: it goes round in four years.
const STEP: u64 = 8;

/// The table. An empty entry is 0.
pub struct Table(Box<[[AtomicU64; WAYS]]>);

/// A submission that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    partition: u64,
    /// Seconds since.
    pub age: u64,
}

impl Seen {
    /// Whether it went to the partition of this digest.
    pub fn is_in(&self, partition: u64) -> bool {
        self.partition == low(partition, PARTITION_BITS)
    }
}

impl Default for Table {
    fn default() -> Self {
        Table((0..ROWS).map(|_| Default::default()).collect())
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Table")
    }
}

impl Table {
    /// Every submission of the job in the last `window` seconds before `now`.
    pub fn seen(&self, job: u64, now: u64, window: u64) -> impl Iterator<Item = Seen> {
        self.row(job)
            .iter()
            .map(|entry| entry.load(Ordering::Relaxed))
            .filter(move |&entry| entry != 0 && entry >> (PARTITION_BITS + TIME_BITS) == low(job, JOB_BITS))
            .map(move |entry| Seen {
                partition: low(entry >> TIME_BITS, PARTITION_BITS),
                age: age(entry, now).saturating_mul(STEP),
            })
            .filter(move |seen| seen.age <= window)
    }

    /// Remembers a submission, in place of the same one or else of the oldest in its row.
    pub fn note(&self, job: u64, partition: u64, now: u64) {
        let what = low(job, JOB_BITS) << PARTITION_BITS | low(partition, PARTITION_BITS);
        let stale = |entry: &&AtomicU64| match entry.load(Ordering::Relaxed) {
            entry if entry >> TIME_BITS == what => u64::MAX,
            0 => u64::MAX - 1,
            entry => age(entry, now),
        };
        if let Some(entry) = self.row(job).iter().max_by_key(stale) {
            entry.store(what << TIME_BITS | low(now / STEP, TIME_BITS), Ordering::Relaxed);
        }
    }

    fn row(&self, job: u64) -> &[AtomicU64] {
        let row = usize::try_from(job >> JOB_BITS).unwrap_or(usize::MAX) % ROWS;
        self.0.get(row).map(|r| r.as_slice()).unwrap_or_default()
    }
}

/// Steps since the entry was written.
fn age(entry: u64, now: u64) -> u64 {
    low((now / STEP).wrapping_sub(entry), TIME_BITS)
}

fn low(n: u64, bits: u32) -> u64 {
    n & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: u64 = 1_796_000_000;

    fn ages(table: &Table, job: u64, now: u64, window: u64) -> Vec<u64> {
        table.seen(job, now, window).map(|s| s.age).collect()
    }

    #[test]
    fn a_submission_is_found_within_the_window_and_not_after() {
        let table = Table::default();
        table.note(7, 1, NOW);
        assert_eq!(ages(&table, 7, NOW + 600, 3600), [600]);
        assert!(ages(&table, 7, NOW + 3608, 3600).is_empty());
        assert!(ages(&table, 8, NOW, 3600).is_empty());
        assert!(table.seen(7, NOW, 60).all(|s| s.is_in(1) && !s.is_in(2)));
    }

    #[test]
    fn the_same_submission_is_kept_once_and_the_oldest_goes_first() {
        let table = Table::default();
        for partition in 0..4 {
            table.note(7, partition, NOW + partition * 80);
            table.note(7, partition, NOW + partition * 80);
        }
        assert_eq!(table.seen(7, NOW + 320, 3600).count(), 4);
        table.note(7, 9, NOW + 400);
        let seen: Vec<Seen> = table.seen(7, NOW + 400, 3600).collect();
        assert!(seen.len() == 4 && seen.iter().any(|s| s.is_in(9)) && !seen.iter().any(|s| s.is_in(0)));
    }

    #[test]
    fn a_clock_that_goes_back_finds_nothing() {
        let table = Table::default();
        table.note(7, 1, NOW);
        assert!(ages(&table, 7, NOW - 60, 3600).is_empty());
    }

    proptest! {
        #[test]
        fn what_was_noted_last_is_found(jobs in prop::collection::vec((any::<u64>(), any::<u64>()), 1..200)) {
            let table = Table::default();
            for (i, &(job, partition)) in jobs.iter().enumerate() {
                table.note(job, partition, NOW + 8 * i as u64);
                let found = table.seen(job, NOW + 8 * i as u64, 0).any(|s| s.is_in(partition));
                prop_assert!(found);
            }
        }
    }
}
