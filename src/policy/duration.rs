//! Spans of time in a policy, for options that are no limit of a job.

use std::fmt;

use crate::request::time;

/// A span of time in Slurm's own grammar (`"4:00:00"`, `"2-12"`), or a number of minutes. Whole
/// minutes: seconds round up, as Slurm rounds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration {
    /// Its length.
    pub minutes: u32,
}

impl Duration {
    /// So many minutes.
    pub const fn minutes(minutes: u32) -> Duration {
        Duration { minutes }
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        time::Minutes(self.minutes).fmt(f)
    }
}

impl<'de> serde::Deserialize<'de> for Duration {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Duration;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time such as `4:00:00` or `2-12`, or a number of minutes")
            }

            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<Duration, E> {
                let minutes = u32::try_from(n).ok().filter(|&n| n < 0xffff_fffe);
                minutes
                    .map(Duration::minutes)
                    .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Signed(n), &self))
            }

            fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Duration, E> {
                self.visit_i64(i64::try_from(n).unwrap_or(i64::MAX))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Duration, E> {
                let minutes = time::parse_minutes(text.trim());
                minutes
                    .map(Duration::minutes)
                    .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::Duration;

    fn read(value: &str) -> Option<u32> {
        #[derive(serde::Deserialize)]
        struct Table {
            at: Duration,
        }
        toml::from_str::<Table>(&format!("at = {value}")).ok().map(|t| t.at.minutes)
    }

    #[test]
    fn a_span_is_text_in_slurms_grammar_or_minutes() {
        assert_eq!(read("\"4:00:00\""), Some(240));
        assert_eq!(read("\"1-0\""), Some(1440));
        assert_eq!(read("\"10:00\""), Some(10));
        assert_eq!(read("90"), Some(90));
        for wrong in ["\"4h\"", "\"\"", "-1", "1.5", "\"UNLIMITED\"", "4294967295"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
