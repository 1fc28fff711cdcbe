//! Time limits in Slurm's grammar, in policy files and options alike.

use std::fmt;

/// A limit on run time. Slurm counts it in minutes and rounds seconds up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeLimit {
    /// Not stated: the partition's default will be used.
    #[default]
    Unset,
    /// Minutes.
    Minutes(u32),
    /// `UNLIMITED`, `INFINITE`, `-1`, and 0 (slurm_opt.c makes `INFINITE` of it).
    Unlimited,
}

impl TimeLimit {
    /// Reads an option's text (`time_str2mins`, sbatch(1)): `minutes`, `minutes:seconds`,
    /// `hours:minutes:seconds`, `days-hours`, `days-hours:minutes`, `days-hours:minutes:seconds`,
    /// `UNLIMITED`, `INFINITE`, `-1`. `None` where sbatch would say "Invalid time limit".
    pub fn parse(text: &str) -> Option<TimeLimit> {
        if text == "-1" || text.eq_ignore_ascii_case("UNLIMITED") || text.eq_ignore_ascii_case("INFINITE") {
            return Some(TimeLimit::Unlimited);
        }
        match parse_minutes(text)? {
            0 => Some(TimeLimit::Unlimited),
            n => Some(TimeLimit::Minutes(n)),
        }
    }
}

/// Minutes in `text` by the same grammar, for durations that have a zero of their own.
pub fn parse_minutes(text: &str) -> Option<u32> {
    let numbers =
        |text: &str| -> Option<Vec<u64>> {
            text.split(':')
                .map(|n| {
                    if n.is_empty() || !n.bytes().all(|b| b.is_ascii_digit()) { None } else { n.parse().ok() }
                })
                .collect()
        };
    let seconds = match text.split_once('-') {
        Some((days, rest)) => {
            let &[days] = numbers(days)?.as_slice() else { return None };
            let rest = numbers(rest)?;
            if rest.len() > 3 {
                return None;
            }
            let mut rest = rest.into_iter().chain(std::iter::repeat(0));
            let (h, m, s) = (rest.next()?, rest.next()?, rest.next()?);
            sum(days, h, m, s)?
        }
        None => match *numbers(text)?.as_slice() {
            [m] => sum(0, 0, m, 0)?,
            [m, s] => sum(0, 0, m, s)?,
            [h, m, s] => sum(0, h, m, s)?,
            _ => return None,
        },
    };
    u32::try_from(seconds.div_ceil(60)).ok().filter(|&m| m < 0xffff_fffe)
}

fn sum(days: u64, hours: u64, minutes: u64, seconds: u64) -> Option<u64> {
    let hours = days.checked_mul(24)?.checked_add(hours)?;
    let minutes = hours.checked_mul(60)?.checked_add(minutes)?;
    minutes.checked_mul(60)?.checked_add(seconds)
}

/// Writes minutes as Slurm does: `4:00:00`, `2-00:00:00`.
#[derive(Clone, Copy, Debug)]
pub struct Minutes(pub u32);

impl fmt::Display for Minutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, hours, minutes) = (self.0 / 1440, self.0 / 60 % 24, self.0 % 60);
        match days {
            0 => write!(f, "{hours}:{minutes:02}:00"),
            _ => write!(f, "{days}-{hours:02}:{minutes:02}:00"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_grammar_is_slurms_own() {
        for (text, minutes) in [
            ("30", 30),
            ("4:00", 4),
            ("4:01", 5),
            ("0:240:0", 240),
            ("1:00:00", 60),
            ("2-12", 60 * 60),
            ("2-12:30", 60 * 60 + 30),
            ("1-0:0:1", 1441),
            ("90", 90),
            ("0:30", 1),
        ] {
            assert_eq!(TimeLimit::parse(text), Some(TimeLimit::Minutes(minutes)), "{text}");
        }
        for text in ["0", "UNLIMITED", "infinite", "-1", "0:00"] {
            assert_eq!(TimeLimit::parse(text), Some(TimeLimit::Unlimited), "{text}");
        }
        for text in ["", "1:2:3:4", "1-2:3:4:5", "a", "1h", "--1", "1--2", "1:", "99999999999"] {
            assert_eq!(TimeLimit::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(m in 1u32..10_000_000) {
            prop_assert_eq!(parse_minutes(&Minutes(m).to_string()), Some(m));
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "[0-9:\\-a-z]{0,24}") {
            let _ = TimeLimit::parse(&text);
        }
    }
}
