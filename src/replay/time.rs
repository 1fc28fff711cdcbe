//! Days and run times as sacct writes them.

use crate::date::Date;

/// The day of `2026-11-30T12:00:00`; `None` for `Unknown`, `None` and what is no date.
pub fn day(stamp: &str) -> Option<Date> {
    let mut parts = stamp.get(..10)?.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let date = Date { year: year.parse().ok()?, month: month.parse().ok()?, day: day.parse().ok()? };
    ((1970..=9999).contains(&date.year) && (1..=12).contains(&date.month) && (1..=31).contains(&date.day))
        .then_some(date)
}

/// The day of so many seconds since 1970, by the clock on the wall here.
pub fn day_of_seconds(seconds: u64) -> Option<Date> {
    let stamp = jiff::Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?;
    of_civil(stamp.to_zoned(jiff::tz::TimeZone::system()).date())
}

/// The Monday on or before a day.
pub fn monday(date: Date) -> Option<Date> {
    let civil = civil(date)?;
    later(civil, -i64::from(civil.weekday().to_monday_zero_offset()))
}

/// The same day of the next week.
pub fn week_after(date: Date) -> Option<Date> {
    later(civil(date)?, 7)
}

fn civil(date: Date) -> Option<jiff::civil::Date> {
    let (month, day) = (i8::try_from(date.month).ok()?, i8::try_from(date.day).ok()?);
    jiff::civil::Date::new(i16::try_from(date.year).ok()?, month, day).ok()
}

fn later(day: jiff::civil::Date, days: i64) -> Option<Date> {
    let day = day.checked_add(jiff::Span::new().try_days(days).ok()?).ok()?;
    of_civil(day)
}

fn of_civil(day: jiff::civil::Date) -> Option<Date> {
    let year = u16::try_from(day.year()).ok()?;
    Some(Date { year, month: day.month().unsigned_abs(), day: day.day().unsigned_abs() })
}

/// Seconds of `1-02:03:04`, `02:03:04`, `03:04`, `03:04.567`.
pub fn seconds(elapsed: &str) -> Option<u64> {
    let (days, clock) = match elapsed.split_once('-') {
        Some((days, clock)) => (days.parse::<u64>().ok()?, clock),
        None => (0, elapsed),
    };
    let clock = clock.split('.').next()?;
    let mut sum = 0u64;
    for part in clock.split(':') {
        sum = sum.checked_mul(60)?.checked_add(part.parse().ok()?)?;
    }
    days.checked_mul(86_400)?.checked_add(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_run_times_are_read_as_sacct_writes_them() {
        let date = Date { year: 2026, month: 11, day: 30 };
        assert_eq!(day("2026-11-30T12:00:00"), Some(date));
        assert_eq!((day("Unknown"), day("2026-13-01T00:00:00"), day("")), (None, None, None));
        assert_eq!((seconds("1-02:03:04"), seconds("03:04"), seconds("")), (Some(93_784), Some(184), None));
        assert_eq!((seconds("00:00:01.250"), seconds("INVALID")), (Some(1), None));
        assert_eq!(monday(Date { day: 29, ..date }), Some(Date { day: 23, ..date }));
        assert_eq!(monday(date), Some(date));
    }
}
