//! What is wrong with a policy file, told as compilers tell it: place, message, the line, a caret.

use std::fmt;
use std::ops::Range;

/// One error or doubt, complete by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Whether the file cannot be used.
    pub level: Level,
    /// The file as the reader knows it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, in lower case, values in back-ticks.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Byte offset in the file, for sorting.
    pub offset: usize,
    excerpt: Option<Excerpt>,
}

/// How grave a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The policy cannot be loaded.
    Error,
    /// It can, and probably does not say what was meant.
    Warning,
}

/// The line as shown, and the columns of the screen that are marked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Excerpt {
    text: String,
    marked: Range<usize>,
}

/// Columns of a line that are shown.
const WIDTH: usize = 120;
/// A tab is shown as so many spaces.
const TAB: usize = 4;

/// The text that spans point into.
#[derive(Debug)]
pub struct Source<'t> {
    name: &'t str,
    text: &'t str,
    lines: Vec<usize>,
}

impl<'t> Source<'t> {
    /// A text under the name that messages give it.
    pub fn new(name: &'t str, text: &'t str) -> Self {
        let starts = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i.saturating_add(1));
        Source { name, text, lines: std::iter::once(0).chain(starts).collect() }
    }

    /// The line that `offset` (bytes) is on, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset).max(1)
    }

    /// The text of `span` (bytes).
    pub fn text(&self, span: &Range<usize>) -> &'t str {
        self.text.get(span.clone()).unwrap_or("")
    }

    /// An error or a doubt about `span` (bytes).
    pub fn problem(&self, level: Level, span: Range<usize>, message: String) -> Problem {
        let start = self.boundary(span.start);
        let end = self.boundary(span.end).max(start);
        let line = self.line(start);
        let from = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(0).min(start);
        let rest = self.text.get(from..).unwrap_or("");
        let text = rest.split('\n').next().unwrap_or("").trim_end_matches('\r');
        // A byte order mark is no column.
        let (text, from) = match text.strip_prefix('\u{feff}') {
            Some(stripped) => (stripped, from.saturating_add('\u{feff}'.len_utf8()).min(start)),
            None => (text, from),
        };
        let before = self.text.get(from..start).unwrap_or("");
        Problem {
            level,
            file: visible(self.name),
            line,
            column: before.chars().count().saturating_add(1),
            message: visible(&message),
            help: None,
            offset: start,
            excerpt: Some(excerpt(text, start.saturating_sub(from), end.saturating_sub(from))),
        }
    }

    fn boundary(&self, offset: usize) -> usize {
        let mut at = offset.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at = at.saturating_sub(1);
        }
        at
    }
}

/// The part of `line` around the bytes `start..end`, fit for any terminal.
fn excerpt(line: &str, start: usize, end: usize) -> Excerpt {
    let mut shown = String::new();
    let mut columns = 0usize;
    let mut marked: Option<(usize, usize)> = None;
    let skip = if start > WIDTH * 2 / 3 { start.saturating_sub(WIDTH / 3) } else { 0 };
    for (at, c) in line.char_indices() {
        if at < skip {
            continue;
        }
        if columns >= WIDTH {
            shown.push_str("...");
            break;
        }
        if shown.is_empty() && skip > 0 {
            shown.push_str("...");
            columns = 3;
        }
        let from = columns;
        if c == '\t' {
            shown.push_str(&" ".repeat(TAB));
            columns += TAB;
        } else {
            shown.push(visible_char(c));
            columns += width(c);
        }
        if at >= start && at < end.max(start.saturating_add(1)) {
            marked = Some((marked.map_or(from, |m| m.0), columns));
        }
    }
    let (from, to) = marked.unwrap_or((columns, columns.saturating_add(1)));
    Excerpt { text: shown.trim_end().to_owned(), marked: from..to }
}

/// Text of a file for a terminal: nothing that moves the cursor or turns the writing direction.
fn visible(text: &str) -> String {
    text.chars().map(visible_char).collect()
}

fn visible_char(c: char) -> char {
    let invisible =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    if c.is_control() || invisible { '\u{fffd}' } else { c }
}

/// Columns that a terminal gives to a character; near enough for a caret.
fn width(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036f | 0xfe00..=0xfe0f | 0x20d0..=0x20ff => 0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

impl Problem {
    /// A problem of the file as a whole, without a place in it.
    pub fn whole_file(name: &str, message: String) -> Problem {
        Problem {
            level: Level::Error,
            file: visible(name),
            line: 0,
            column: 0,
            message: visible(&message),
            help: None,
            offset: 0,
            excerpt: None,
        }
    }

    /// The line, and the carets under it; empty where there is no place.
    pub fn excerpt(&self) -> Vec<String> {
        let Some(Excerpt { text, marked }) = &self.excerpt else { return Vec::new() };
        let number = self.line.to_string();
        let (pad, skip) = (" ".repeat(number.len()), " ".repeat(marked.start));
        let carets = "^".repeat(marked.len().max(1));
        vec![format!(" {number} | {text}"), format!(" {pad} | {skip}{carets}")]
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(visible(&help.into()));
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Error => "error",
            Level::Warning => "warning",
        };
        if self.line > 0 {
            write!(f, "{}:{}:{}: {level}: {}", self.file, self.line, self.column, self.message)?;
        } else {
            write!(f, "{}: {level}: {}", self.file, self.message)?;
        }
        for line in self.excerpt() {
            write!(f, "\n{line}")?;
        }
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

/// Every error of a file, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let gap = if index > 0 { "\n\n" } else { "" };
            write!(f, "{gap}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// The candidate that was probably meant by `word`.
pub fn suggestion<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let plain = |text: &str| -> Vec<char> {
        text.chars().take(64).filter(|c| *c != '_' && *c != '-').map(|c| c.to_ascii_lowercase()).collect()
    };
    let word = plain(word);
    let tolerated = (word.len() / 3).clamp(1, 4);
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, &plain(candidate)), candidate))
        .filter(|(distance, _)| *distance <= tolerated && *distance < word.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours between two words.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let cell = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX / 2);
    for (i, ca) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, cb) in b.iter().enumerate() {
            let mut cost =
                (cell(&last, j) + usize::from(ca != cb)).min(cell(&last, j + 1) + 1).min(cell(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(cb) && b.get(j - 1) == Some(ca);
            if swapped {
                cost = cost.min(cell(&before, j - 1) + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    cell(&last, b.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str, span: Range<usize>) -> String {
        Source::new("sluice.toml", text).problem(Level::Error, span, "wrong".to_owned()).to_string()
    }

    #[test]
    fn a_problem_is_told_with_its_place_its_line_and_a_caret() {
        let problem = Source::new("sluice.toml", "a = 1\ncpu_per_gpu = 4\n")
            .problem(Level::Error, 6..17, "unknown key `cpu_per_gpu` in [partition.gpu]".to_owned())
            .help("did you mean `cpus_per_gpu`?");
        assert_eq!(
            problem.to_string(),
            "sluice.toml:2:1: error: unknown key `cpu_per_gpu` in [partition.gpu]\n 2 | cpu_per_gpu = 4\n   | ^^^^^^^^^^^\nhelp: did you mean `cpus_per_gpu`?"
        );
    }

    #[test]
    fn tabs_wide_and_accented_characters_do_not_shift_the_caret() {
        assert_eq!(shown("\tx = 1", 1..2), "sluice.toml:1:2: error: wrong\n 1 |     x = 1\n   |     ^");
        assert_eq!(shown("\u{e9} x", 3..4), "sluice.toml:1:3: error: wrong\n 1 | \u{e9} x\n   |   ^");
        assert_eq!(shown("\u{6f22} x", 4..5), "sluice.toml:1:3: error: wrong\n 1 | \u{6f22} x\n   |    ^");
        assert_eq!(shown("\u{feff}x", 3..4), "sluice.toml:1:1: error: wrong\n 1 | x\n   | ^");
        assert_eq!(shown("a\r\nb\r\n", 3..4), "sluice.toml:2:1: error: wrong\n 2 | b\n   | ^");
    }

    #[test]
    fn the_end_of_a_line_and_of_the_file_can_be_pointed_at() {
        assert_eq!(shown("abc", 3..3), "sluice.toml:1:4: error: wrong\n 1 | abc\n   |    ^");
        assert_eq!(shown("abc\n", 4..4), "sluice.toml:2:1: error: wrong\n 2 | \n   | ^");
        assert_eq!(shown("ab\ncd", 1..5), "sluice.toml:1:2: error: wrong\n 1 | ab\n   |  ^");
    }

    #[test]
    fn a_long_line_is_shown_around_its_place() {
        let text = format!("{}here{}", "x".repeat(5000), "y".repeat(5000));
        let shown = shown(&text, 5000..5004);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines.iter().all(|l| l.len() < 140), "{shown}");
        let at = lines[2].find('^').unwrap();
        assert_eq!(&lines[1][at..at + 4], "here");
    }

    #[test]
    fn what_was_meant_is_found() {
        let keys = ["cpus_per_gpu", "memory_per_gpu", "max_time", "default"];
        for (word, meant) in [
            ("cpu_per_gpu", Some("cpus_per_gpu")),
            ("cpus-per-gpu", Some("cpus_per_gpu")),
            ("mem_per_gpu", Some("memory_per_gpu")),
            ("MaxTime", Some("max_time")),
            ("defualt", Some("default")),
            ("owner", None),
            ("", None),
        ] {
            assert_eq!(suggestion(word, keys), meant, "{word}");
        }
    }

    proptest! {
        #[test]
        fn no_text_can_write_lines_or_escapes_of_its_own(text in "(.|\\PC|\n|\r|\t|\u{1b}){0,200}", a in 0usize..300, n in 0usize..300) {
            let problem = Source::new("a\u{1b}b", &text).problem(Level::Error, a..a + n, text.clone()).help(text.as_str());
            let shown = problem.to_string();
            prop_assert_eq!(shown.lines().count(), 4);
            prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}
