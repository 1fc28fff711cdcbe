//! Numbers for people.

/// `1,234,567`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len().saturating_sub(index)) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `12,345` or, below a hundred, `12.3`.
pub fn hours(hours: f64) -> String {
    if hours < 99.95 { format!("{hours:.1}") } else { grouped(hours.round() as u64) }
}

/// `12.3 %` of a whole; `under 0.1 %` is never told as none.
pub fn share(part: f64, whole: f64) -> String {
    let percent = if whole > 0.0 { 100.0 * part / whole } else { 0.0 };
    if part > 0.0 && percent < 0.1 { "under 0.1 %".to_owned() } else { format!("{percent:.1} %") }
}

/// `1 job`, `2,000 jobs`.
pub fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{} {noun}s", grouped(n)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_small_ones_keep_a_decimal() {
        assert_eq!(
            (grouped(0), grouped(999), grouped(1_234_567)),
            ("0".into(), "999".into(), "1,234,567".into())
        );
        assert_eq!(
            (hours(0.04), hours(99.96), hours(12_345.6)),
            ("0.0".into(), "100".into(), "12,346".into())
        );
        assert_eq!(
            (share(1.0, 5_000.0), share(1.0, 8.0), share(0.0, 0.0)),
            ("under 0.1 %".into(), "12.5 %".into(), "0.0 %".into())
        );
        assert_eq!((count(1, "job"), count(2_000, "job")), ("1 job".into(), "2,000 jobs".into()));
    }
}
