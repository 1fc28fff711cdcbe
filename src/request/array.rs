//! `--array`: how many tasks, how many at once. slurmctld parses it only after the hook
//! (`array_bitmap` is NULL there), so the text is counted here.

use std::borrow::Cow;

use super::number::leading_number;

/// An array specification, kept as typed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ArraySpec<'a> {
    text: Cow<'a, str>,
    /// Number of tasks; `None` where the text is none that Slurm would accept.
    pub tasks: Option<u64>,
    /// Tasks that may run at once, the `N` of `%N`; `None` where there is no cap
    /// (`%0` is none either, job_mgr.c).
    pub running_max: Option<u32>,
}

/// Largest index that is ever counted; slurmctld's MaxArraySize is at most 4,000,001.
const MAX_INDEX: u64 = 4_000_001;

impl<'a> ArraySpec<'a> {
    /// The same with text of its own.
    pub(super) fn to_owned(&self) -> ArraySpec<'static> {
        ArraySpec { text: self.text.to_string().into(), ..*self }
    }

    /// Reads `0-31`, `1,3,5-7`, `0-99:4`, `0-99%10`, `[0-9]` (sbatch(1), `_parse_array_tok`).
    pub fn new(text: impl Into<Cow<'a, str>>) -> Self {
        let text = text.into();
        let tasks = count(&text);
        // Wherever it stands, the first one counts, as C's atoi reads it.
        let cap = text.split_once('%').and_then(|(_, cap)| leading_number(cap));
        let running_max = cap.and_then(|(n, _)| u32::try_from(n).ok()).filter(|&n| n > 0);
        ArraySpec { text, tasks, running_max }
    }

    /// The text as typed.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same array with another cap; `None` is no cap.
    pub fn capped(&self, running_max: Option<u32>) -> ArraySpec<'a> {
        let indices = tokens(&self.text).map(|token| token.split('%').next().unwrap_or(token));
        let indices = indices.collect::<Vec<_>>().join(",");
        let text = match running_max {
            Some(cap) => format!("{indices}%{cap}"),
            None => indices,
        };
        ArraySpec { text: text.into(), tasks: self.tasks, running_max }
    }
}

/// Indices that are marked one by one, at most; a tenth of a millisecond.
const MOST_MARKED: u64 = 100_000;

/// What stands between commas. Slurm passes over what is empty.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|token| !token.is_empty())
}

/// Number of distinct indices. Ranges that overlap are counted once, as Slurm's bitmap does.
fn count(text: &str) -> Option<u64> {
    let mut ranges: smallvec::SmallVec<[(u64, u64, u64); 8]> = smallvec::SmallVec::new();
    for token in tokens(text) {
        ranges.push(range(token)?);
    }
    if ranges.is_empty() {
        return None;
    }
    if let [(first, last, step)] = ranges[..] {
        return Some((last - first) / step + 1);
    }
    let disjoint = {
        let mut bounds: smallvec::SmallVec<[(u64, u64); 8]> = ranges.iter().map(|r| (r.0, r.1)).collect();
        bounds.sort_unstable();
        bounds.windows(2).all(|w| matches!(w, [a, b] if a.1 < b.0))
    };
    if disjoint {
        return Some(ranges.iter().map(|&(first, last, step)| (last - first) / step + 1).sum());
    }
    let sum = ranges.iter().fold(0u64, |sum, r| sum.saturating_add((r.1 - r.0) / r.2 + 1));
    // Overlapping ranges are rare, and anybody may type thousands of them: the exact count is worked
    // out only where that is little work. Beyond it the sum stands, which counts some tasks twice.
    if sum > MOST_MARKED {
        return Some(sum);
    }
    let last = ranges.iter().map(|r| r.1).max()?;
    let mut bits = vec![0u64; usize::try_from(last / 64 + 1).ok()?];
    for (first, last, step) in ranges {
        let mut index = first;
        while index <= last {
            if let Some(word) = bits.get_mut(usize::try_from(index / 64).ok()?) {
                *word |= 1 << (index % 64);
            }
            index += step;
        }
    }
    Some(bits.iter().map(|w| u64::from(w.count_ones())).sum())
}

/// First and last index and step. Brackets may stand around any part, and what follows a `%` is not
/// looked at, in each token for itself.
fn range(token: &str) -> Option<(u64, u64, u64)> {
    let number = |text| {
        let (number, rest) = leading_number(text).unwrap_or((0, text));
        (number, rest.strip_prefix(']').unwrap_or(rest))
    };
    let index = |n: i64| u64::try_from(n).ok().filter(|&n| n <= MAX_INDEX);
    let ends = |rest: &str| rest.is_empty() || rest.starts_with('%');
    let (first, rest) = number(token.strip_prefix('[').unwrap_or(token));
    let first = index(first)?;
    let Some(rest) = rest.strip_prefix('-') else {
        return ends(rest).then_some((first, first, 1));
    };
    let (last, rest) = number(rest);
    let last = index(last)?;
    let (step, rest) = match rest.strip_prefix(':') {
        Some(step) => number(step),
        None => (1, rest),
    };
    let step = index(step).filter(|&n| n > 0)?;
    (ends(rest) && first <= last).then_some((first, last, step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tasks(text: &str) -> Option<u64> {
        ArraySpec::new(text).tasks
    }

    #[test]
    fn ranges_lists_steps_and_caps_are_counted() {
        for (text, n) in [
            ("0-99", 100),
            ("7", 1),
            ("1,3,5-7", 5),
            ("0-99:4", 25),
            ("0-9%2", 10),
            ("[1-3]", 3),
            ("1-3,2-4", 4),
            ("0-10:5,5", 3),
            ("0-0", 1),
            (" 1-2", 2),
            ("0-9%2,20-29", 20),
            ("1,,2,", 2),
            ("0-4]", 5),
            ("[0-4", 5),
            ("0-", 1),
        ] {
            assert_eq!(tasks(text), Some(n), "{text}");
        }
        for text in
            ["", ",", "a", "3-1", "1-", "-1", "1-3:0", "1 - 2", "1-2 ", "1-2-3", "0x3", "1-99999999999"]
        {
            assert_eq!(tasks(text), None, "{text}");
        }
    }

    #[test]
    fn many_overlapping_ranges_are_no_work_and_never_counted_short() {
        let text = vec!["0-4000000"; 400].join(",");
        assert!(tasks(&text) >= Some(4_000_001));
    }

    #[test]
    fn the_cap_is_read_apart() {
        assert_eq!(ArraySpec::new("0-9%2").running_max, Some(2));
        assert_eq!(ArraySpec::new("0-9").running_max, None);
        assert_eq!(ArraySpec::new("0-9%0").running_max, None);
        assert_eq!(ArraySpec::new("0-9%x").running_max, None);
        assert_eq!(ArraySpec::new("0-9%2,20-29%7").running_max, Some(2));
        assert_eq!(ArraySpec::new("0-9%2,20-29").capped(Some(5)).as_str(), "0-9,20-29%5");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[0-9,:%\\-\\[\\] a]{0,30}") {
            let _ = tasks(&text);
        }

        #[test]
        fn the_count_is_that_of_a_set(parts in prop::collection::vec((0u64..60, 0u64..20, 1u64..5), 1..6)) {
            let text = parts.iter().map(|(a, n, s)| format!("{a}-{}:{s}", a + n)).collect::<Vec<_>>().join(",");
            let set: std::collections::BTreeSet<u64> =
                parts.iter().flat_map(|&(a, n, s)| (a..=a + n).step_by(s as usize)).collect();
            prop_assert_eq!(tasks(&text), Some(set.len() as u64));
        }
    }
}
