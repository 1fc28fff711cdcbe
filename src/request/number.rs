//! Numbers as C's library reads them, which clients and slurmctld leave most of their reading to.

/// C's `strtol` in base 10: the number and what stands behind it; `None` where there is no number.
/// Numbers too large are cut off at `i64`'s ends, as C does.
pub fn leading_number(text: &str) -> Option<(i64, &str)> {
    let start = text.trim_start_matches(is_space);
    let (negative, digits) = match start.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, start.strip_prefix('+').unwrap_or(start)),
    };
    let end = digits.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = digits.split_at(end);
    if digits.is_empty() {
        return None;
    }
    let number = digits.bytes().fold(0i64, |n, b| n.saturating_mul(10).saturating_add(i64::from(b - b'0')));
    Some((if negative { number.saturating_neg() } else { number }, rest))
}

/// C's `isspace` in the C locale.
pub fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}
