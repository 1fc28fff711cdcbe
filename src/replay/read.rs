//! Lines of a file in order, with those that a line break in a column has torn apart put together.

use std::collections::HashMap;
use std::io::{BufRead, ErrorKind};

use super::sacct::{Header, Width};

/// Longest line that is kept: slurmctld takes no larger script by default (4 MiB), and `--wrap` is part
/// of a command line.
const LONGEST: usize = 8 << 20;

/// Lines with their numbers.
pub struct Lines<R> {
    reader: R,
    bytes: Vec<u8>,
    /// Number of the line last read, from 1.
    pub number: u64,
    /// Bytes read.
    pub read: u64,
}

impl<R: BufRead> Lines<R> {
    /// The lines of a reader.
    pub fn new(reader: R) -> Lines<R> {
        Lines { reader, bytes: Vec::new(), number: 0, read: 0 }
    }

    /// The next line without its end, what is not UTF-8 replaced; `false` at the end.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn next(&mut self, line: &mut String) -> Result<bool, std::io::Error> {
        self.bytes.clear();
        line.clear();
        loop {
            match self.reader.read_until(b'\n', &mut self.bytes) {
                Ok(0) => return Ok(false),
                Ok(n) => {
                    self.read = self.read.saturating_add(n as u64);
                    break;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.number = self.number.saturating_add(1);
        let mut bytes = self.bytes.as_slice();
        bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        bytes = bytes.get(..LONGEST).unwrap_or(bytes);
        match std::str::from_utf8(bytes) {
            Ok(text) => line.push_str(text),
            Err(_) => line.push_str(&String::from_utf8_lossy(bytes)),
        }
        Ok(true)
    }
}

/// Puts together lines with fewer columns than the header: a column has a line break in it.
#[derive(Debug, Default)]
pub struct Assembler {
    /// A whole row, whose last column may go on.
    whole: Option<(String, u64)>,
    /// A row that is not whole yet.
    part: String,
    start: u64,
}

/// What to do with a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// A whole row that begins on this line.
    Row(String, u64),
    /// A row that is not whole, and begins on this line.
    Broken(u64),
}

impl Assembler {
    /// Takes a line; yields what is complete before it.
    pub fn take(&mut self, header: &Header, line: &str, number: u64) -> Option<Step> {
        let columns = match header.width_of(line) {
            Width::Short(columns) => columns,
            // A whole line: what came before it is over, be it whole or not.
            Width::Right | Width::Long => {
                let before = self.rest();
                self.whole = Some((line.to_owned(), number));
                return before;
            }
        };
        if let Some((row, _)) = &mut self.whole {
            if columns == 1 && header.ends_in_text() && row.len() < LONGEST {
                row.push('\n');
                row.push_str(line);
                return None;
            }
        }
        if self.part.is_empty() {
            let before = self.rest();
            (self.part, self.start) = (line.to_owned(), number);
            return before;
        }
        self.part.push('\n');
        self.part.push_str(line);
        match header.width_of(&self.part) {
            Width::Short(_) if self.part.len() < LONGEST => None,
            Width::Right => {
                self.whole = Some((std::mem::take(&mut self.part), self.start));
                None
            }
            Width::Short(_) | Width::Long => {
                let broken = Step::Broken(self.start);
                (self.part, self.start) = (line.to_owned(), number);
                Some(broken)
            }
        }
    }

    /// What is left over.
    pub fn rest(&mut self) -> Option<Step> {
        if let Some((row, number)) = self.whole.take() {
            return Some(Step::Row(row, number));
        }
        let part = std::mem::take(&mut self.part);
        (!part.trim().is_empty()).then_some(Step::Broken(self.start))
    }
}

/// Which jobs were seen: a bit each, for Slurm's numbers are dense. 8 KiB for each 65,536 numbers of
/// which one was seen.
#[derive(Debug, Default)]
pub struct Seen {
    pages: HashMap<u32, Box<[u64; 1024]>>,
}

impl Seen {
    /// Whether it was seen.
    pub fn has(&self, number: u32) -> bool {
        let word = ((number & 0xffff) >> 6) as usize;
        let page = self.pages.get(&(number >> 16)).and_then(|p| p.get(word));
        page.is_some_and(|word| word & (1 << (number & 63)) != 0)
    }

    /// Whether this is the first time.
    pub fn first(&mut self, number: u32) -> bool {
        let page = self.pages.entry(number >> 16).or_insert_with(|| Box::new([0; 1024]));
        let (word, bit) = (((number & 0xffff) >> 6) as usize, 1u64 << (number & 63));
        let Some(word) = page.get_mut(word) else { return true };
        let first = *word & bit == 0;
        *word |= bit;
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(lines: &[&str]) -> Vec<Step> {
        let header = Header::parse("JobID|User|Comment").unwrap();
        let mut assembler = Assembler::default();
        let mut all = Vec::new();
        for (line, number) in lines.iter().zip(1..) {
            all.extend(assembler.take(&header, line, number));
        }
        all.extend(assembler.rest());
        all
    }

    #[test]
    fn a_line_break_in_a_column_tears_no_row() {
        assert_eq!(
            steps(&["1|a|x", "2|b", "c|y", "", "more", "3|d|z"]),
            [
                Step::Row("1|a|x".to_owned(), 1),
                Step::Row("2|b\nc|y\n\nmore".to_owned(), 2),
                Step::Row("3|d|z".to_owned(), 6)
            ]
        );
    }

    #[test]
    fn a_line_that_was_cut_off_takes_no_other_with_it() {
        assert_eq!(
            steps(&["1|a", "2|b|c", "3|d"]),
            [Step::Broken(1), Step::Row("2|b|c".to_owned(), 2), Step::Broken(3)]
        );
        assert_eq!(steps(&["", "1|a|x"]), [Step::Row("1|a|x".to_owned(), 2)]);
    }

    #[test]
    fn a_job_is_seen_once() {
        let mut seen = Seen::default();
        assert!(seen.first(7) && seen.first(u32::MAX) && seen.first(65_543));
        assert!(seen.has(7) && !seen.has(8));
        assert!(!seen.first(7) && !seen.first(u32::MAX));
    }

    #[test]
    fn what_is_no_text_is_read_and_lines_keep_their_numbers() {
        let mut lines = Lines::new(&b"a\r\n\xff\nb"[..]);
        let mut line = String::new();
        let mut all = Vec::new();
        while lines.next(&mut line).unwrap() {
            all.push((line.clone(), lines.number));
        }
        assert_eq!(all, [("a".to_owned(), 1), ("\u{fffd}".to_owned(), 2), ("b".to_owned(), 3)]);
        assert_eq!(lines.read, 6);
    }
}
