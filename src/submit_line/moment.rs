//! `--begin` and `--deadline`: whether the client reads them as a moment (`parse_time`,
//! parse_time.c). Which moment it is nobody here needs to know.

/// What the client says to a text that is none.
pub fn begin(value: Option<&str>) -> Result<(), String> {
    checked("begin", value)
}

/// Likewise.
pub fn deadline(value: Option<&str>) -> Result<(), String> {
    checked("deadline", value)
}

fn checked(option: &str, value: Option<&str>) -> Result<(), String> {
    let reads = reads(value.unwrap_or("").as_bytes()).is_some();
    if reads { Ok(()) } else { Err(format!("Invalid --{option} specification")) }
}

const WORDS: [&[u8]; 6] = [b"today", b"tomorrow", b"midnight", b"noon", b"fika", b"teatime"];
const UNITS: [&[u8]; 10] =
    [b"seconds", b"second", b"minutes", b"minute", b"hours", b"hour", b"days", b"day", b"weeks", b"week"];

fn starts_with(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
}

fn behind(text: &[u8], len: usize) -> &[u8] {
    text.get(len..).unwrap_or(&[])
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// `None` where it is no moment.
fn reads(text: &[u8]) -> Option<()> {
    if starts_with(text, b"uts") {
        // Seconds since 1970, not too close to it.
        let number = std::str::from_utf8(behind(text, 3)).ok()?;
        return number
            .trim_start()
            .parse::<i64>()
            .ok()
            .filter(|&n| (1_000_000..i64::MAX).contains(&n))
            .map(|_| ());
    }
    let mut rest = text;
    let mut anything = false;
    while let Some(&byte) = rest.first().filter(|&&b| b != b'\n') {
        if is_blank(byte) || byte == b'-' || byte == b'T' {
            rest = behind(rest, 1);
            // `TOMORROW` and its like begin with the separator, and are then no words.
            continue;
        }
        anything = true;
        rest = if let Some(word) = WORDS.iter().find(|word| starts_with(rest, word)) {
            behind(rest, word.len())
        } else if starts_with(rest, b"now") {
            now(behind(rest, 3))?
        } else if !byte.is_ascii_digit() {
            return None;
        } else if rest.get(1) == Some(&b':') || rest.get(2) == Some(&b':') {
            time(rest)?
        } else {
            date(rest)?
        };
    }
    anything.then_some(())
}

/// What follows `now`: nothing, or a sign, a number and a unit.
fn now(text: &[u8]) -> Option<&[u8]> {
    let blanks = text.iter().take_while(|&&b| is_blank(b)).count();
    let rest = behind(text, blanks);
    match rest.first() {
        None | Some(b'\n') => Some(rest),
        Some(b'+' | b'-') => delta(behind(rest, 1)),
        Some(_) => None,
    }
}

fn delta(mut rest: &[u8]) -> Option<&[u8]> {
    let mut digits = 0usize;
    while let Some(&byte) = rest.first().filter(|&&b| b != b'\n') {
        if let Some(unit) = UNITS.iter().find(|unit| starts_with(rest, unit)) {
            rest = behind(rest, unit.len());
            break;
        }
        match byte {
            b'0'..=b'9' => digits = digits.saturating_add(1),
            b if b.is_ascii_whitespace() || b == 0x0b => {}
            _ => return None,
        }
        rest = behind(rest, 1);
    }
    (digits > 0).then_some(rest)
}

/// One or two digits.
fn short(text: &[u8]) -> Option<(u32, &[u8])> {
    let digits = text.iter().take(2).take_while(|b| b.is_ascii_digit()).count();
    let number = std::str::from_utf8(text.get(..digits)?).ok()?.parse().ok()?;
    Some((number, behind(text, digits)))
}

/// Just two digits.
fn two(text: &[u8]) -> Option<(u32, &[u8])> {
    text.get(..2).filter(|head| head.iter().all(u8::is_ascii_digit)).and_then(|_| short(text))
}

/// `HH:MM[:SS] [AM|PM]`.
fn time(text: &[u8]) -> Option<&[u8]> {
    let (hour, rest) = short(text).filter(|&(hour, _)| hour < 24)?;
    let (_, mut rest) = two(rest.strip_prefix(b":")?).filter(|&(minute, _)| minute < 60)?;
    if let Some(seconds) = rest.strip_prefix(b":") {
        (_, rest) = two(seconds).filter(|&(second, _)| second < 60)?;
    }
    let blanks = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
    rest = behind(rest, blanks);
    let half = starts_with(rest, b"am") || starts_with(rest, b"pm");
    if half && hour > 12 {
        return None;
    }
    Some(behind(rest, if half { 2 } else { 0 }))
}

/// `YYYY-MM-DD`, `MM/DD[/YY]`, `MM.DD[.YY]`, `MMDD[YY]`.
fn date(text: &[u8]) -> Option<&[u8]> {
    let month = |text| short(text).filter(|(month, _)| (1..=12).contains(month));
    let day = |text| short(text).filter(|(day, _)| (1..=31).contains(day));
    if text.get(4) == Some(&b'-') && text.get(7) == Some(&b'-') {
        text.get(..4).filter(|year| year.iter().all(u8::is_ascii_digit))?;
        let (_, rest) = month(behind(text, 5))?;
        return day(behind(rest, 1)).map(|(_, rest)| rest);
    }
    let separated = |text| -> &[u8] { behind(text, usize::from(matches!(text.first(), Some(b'.' | b'/')))) };
    let (_, rest) = month(text)?;
    let (_, rest) = day(separated(rest))?;
    let rest = separated(rest);
    match rest.first() {
        Some(b'0'..=b'9') => two(rest).map(|(_, rest)| rest),
        _ => Some(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn moments_are_told_from_what_is_none() {
        for text in [
            "now",
            "now+1hour",
            "now + 10 minutes",
            "NOW+90",
            "now-3days",
            "16:00",
            "9:30 PM",
            "12:00:59",
            "today",
            "tomorrow",
            "midnight",
            "teatime",
            "fika",
            "12/24",
            "1224",
            "122499",
            "12.24.30-16:00",
            "2099-01-01",
            "2099-02-31",
            "2099-01-01T12:30:00",
            "2099-01-01 12:30",
            "uts4102444800",
        ] {
            assert_eq!(begin(Some(text)), Ok(()), "{text}");
        }
        for text in [
            "",
            "bad",
            "-",
            "25:00",
            "12:60",
            "1:2",
            "2099-13-01",
            "13/01",
            "12/32",
            "now+",
            "now+1fortnight",
            "now1hour",
            "uts1",
            "13:00 PM",
            "soon",
            "never",
        ] {
            assert_eq!(begin(Some(text)), Err("Invalid --begin specification".into()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(now|today|[0-9:/.T+ -]|pm|uts|hour|\\PC){0,8}") {
            let _ = deadline(Some(&text));
        }
    }
}
