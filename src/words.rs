//! Small pieces of text that rules share: counts with their noun, ratios, and users' text made safe.

use crate::request::memory::Mb;

/// `1 CPU`, `64 CPUs`.
pub fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// `16`, `2.5`, `0.33`: at most two decimals, never rounded to a whole number that it is not.
pub fn ratio(of: u64, to: u64) -> String {
    if to == 0 {
        return of.to_string();
    }
    if of % to == 0 {
        return (of / to).to_string();
    }
    let hundredths = (u128::from(of) * 100).div_ceil(u128::from(to));
    let (whole, part) = (hundredths / 100, hundredths % 100);
    match part {
        0 => format!("{whole}.01"),
        p if p % 10 == 0 => format!("{whole}.{}", p / 10),
        p => format!("{whole}.{p:02}"),
    }
}

/// `120G`, `1500M`, `341.34G`: MB for people to read; [`Mb`] is for options.
pub fn megabytes(mb: u64) -> String {
    const GB: u64 = 1 << 10;
    if mb % GB == 0 || mb < 10 * GB { Mb(mb).to_string() } else { format!("{}G", ratio(mb, GB)) }
}

/// Longest piece of a user's text that a message repeats.
const SHOWN: usize = 60;

/// A user's text for a message: ASCII, without control characters, shortened in the middle, and in
/// quotes where it holds anything but plain characters of names and paths.
pub fn shown(text: &str) -> String {
    let safe: Vec<char> =
        text.chars().filter(|c| !c.is_control()).map(|c| if c.is_ascii() { c } else { '?' }).collect();
    let cut = if safe.len() <= SHOWN {
        safe.iter().collect::<String>()
    } else {
        let half = (SHOWN - 3) / 2;
        let head = safe.iter().take(half);
        let tail = safe.iter().skip(safe.len().saturating_sub(half));
        head.chain(['.', '.', '.'].iter()).chain(tail).collect()
    };
    if !cut.is_empty() && cut.chars().all(is_plain) { cut } else { format!("'{}'", cut.replace('\'', "?")) }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "%._-+/:=,@[]*".contains(c)
}

/// `value` as a word that a shell reads back unchanged; `None` where it cannot be typed on one
/// line of plain text.
pub fn shell_word(value: &str) -> Option<String> {
    if value.chars().any(|c| c.is_control() || !c.is_ascii()) {
        return None;
    }
    let bare = |c: char| c.is_ascii_alphanumeric() || "%._-+/:=,@".contains(c);
    if !value.is_empty() && value.chars().all(bare) {
        return Some(value.to_owned());
    }
    Some(format!("'{}'", value.replace('\'', "'\\''")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ratios_never_look_allowed_when_they_are_not() {
        assert_eq!(ratio(64, 4), "16");
        assert_eq!(ratio(17, 2), "8.5");
        assert_eq!(ratio(25, 3), "8.34");
        assert_eq!(ratio(8_000_001, 1_000_000), "8.01");
    }

    #[test]
    fn users_text_cannot_write_lines_or_escapes_of_its_own() {
        assert_eq!(shown("logs/train-%j.out"), "logs/train-%j.out");
        assert_eq!(shown("a\nb\x1b[31m"), "ab[31m");
        assert_eq!(shown("two words"), "'two words'");
        assert_eq!(shown(""), "''");
        assert!(shown(&"x".repeat(10_000)).len() <= SHOWN + 2);
    }

    proptest! {
        #[test]
        fn any_text_is_shown_as_printable_ascii(text in "\\PC*|.*") {
            let shown = shown(&text);
            prop_assert!(shown.len() <= SHOWN + 2 && shown.bytes().all(|b| (32..127).contains(&b)));
        }
    }
}
