//! Series of Slurm, and which of them a line of a scenario is for.

use std::fmt;

/// `22.05`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Series(u32, u32);

impl Series {
    pub const ALL: [Series; 3] = [Series(22, 5), Series(24, 11), Series(26, 5)];

    pub fn parse(text: &str) -> Option<Series> {
        let (major, minor) = text.split_once('.')?;
        Some(Series(major.parse().ok()?, minor.parse().ok()?))
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0, self.1)
    }
}

/// `22.05` that one, `24.11+` from there on, `22.05-24.11` both ends included.
#[derive(Clone, Copy, Debug)]
pub struct Range(Series, Option<Series>);

impl Range {
    pub fn parse(text: &str) -> Option<Range> {
        if let Some(from) = text.strip_suffix('+') {
            return Some(Range(Series::parse(from)?, None));
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Some(Range(Series::parse(first)?, Some(Series::parse(last)?)))
    }

    pub fn contains(self, series: Series) -> bool {
        self.0 <= series && self.1.is_none_or(|last| series <= last)
    }
}
