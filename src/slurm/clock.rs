//! The server's day. The helper works it out every second; the hook only reads it, for local time
//! takes a lock and may read a file.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::date::Date;

static TODAY: AtomicU32 = AtomicU32::new(0);

/// The day as of the last [`tick`].
pub fn today() -> Date {
    unpack(TODAY.load(Ordering::Relaxed))
}

/// The time as system logs have it: `Nov 30 09:05:00`. Only for the helper.
pub fn stamp() -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let Some(t) = local_time() else { return "Jan  1 00:00:00".to_owned() };
    let month = usize::try_from(t.tm_mon).ok().and_then(|m| MONTHS.get(m)).unwrap_or(&"Jan");
    format!("{month} {:2} {:02}:{:02}:{:02}", t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec)
}

fn local_time() -> Option<libc::tm> {
    let mut parts: libc::tm =
        // SAFETY: a plain C struct for which zeros are valid.
        unsafe { std::mem::zeroed() };
    // SAFETY: both take valid pointers; localtime_r is the thread-safe form.
    let known = unsafe {
        let now = libc::time(std::ptr::null_mut());
        !libc::localtime_r(&now, &mut parts).is_null()
    };
    known.then_some(parts)
}

/// Works out the day.
pub fn tick() {
    if let Some(parts) = local_time() {
        let number = |n: i32| u32::try_from(n).unwrap_or(0);
        let (year, month) = (parts.tm_year.saturating_add(1900), parts.tm_mon.saturating_add(1));
        TODAY.store(pack(number(year), number(month), number(parts.tm_mday)), Ordering::Relaxed);
    }
}

fn pack(year: u32, month: u32, day: u32) -> u32 {
    (year & 0xffff) << 16 | (month & 0xff) << 8 | day & 0xff
}

fn unpack(packed: u32) -> Date {
    let [year_high, year_low, month, day] = packed.to_be_bytes();
    Date { year: u16::from_be_bytes([year_high, year_low]), month, day }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_kept_as_it_is() {
        assert_eq!(stamp().len(), "Nov 30 09:05:00".len());
        assert_eq!(unpack(pack(2027, 1, 31)), Date { year: 2027, month: 1, day: 31 });
        tick();
        assert!(today().year >= 2024 && (1..=12).contains(&today().month));
    }
}
