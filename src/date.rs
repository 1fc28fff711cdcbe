//! A day of the calendar, for `until` and `enforce_from`.

use std::fmt;

/// Year, month, day; ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// Year.
    pub year: u16,
    /// Month, from 1.
    pub month: u8,
    /// Day, from 1.
    pub day: u8,
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl<'de> serde::Deserialize<'de> for Date {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let full = toml::value::Datetime::deserialize(deserializer)
            .map_err(|_| D::Error::custom("expected a date such as 2027-01-31, without quotes"))?;
        match full {
            toml::value::Datetime { date: Some(d), time: None, offset: None } => {
                Ok(Date { year: d.year, month: d.month, day: d.day })
            }
            _ => Err(D::Error::custom("expected a date without a time of day, such as 2027-01-31")),
        }
    }
}
