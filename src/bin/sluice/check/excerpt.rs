//! A place in a script, shown as compilers show it: the line, and carets under the option.

use std::ops::Range;

use sluice::policy::diagnostic::{Level, Source};
use sluice::submit_line::Place;

/// The line of `place` with carets under its word, and under the value behind it.
pub fn excerpt(script: &str, text: &str, place: Place) -> Vec<String> {
    let Place::Script { line, column } = place else { return Vec::new() };
    let Some(span) = span(text, line, column) else { return Vec::new() };
    Source::new(script, text).problem(Level::Error, span, String::new()).excerpt()
}

/// Bytes of the word at a line and column (from 1), with the value of an option that follows it.
fn span(text: &str, line: usize, column: usize) -> Option<Range<usize>> {
    let before: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let rest = text.get(before..)?.split('\n').next()?;
    let start = rest.char_indices().nth(column.checked_sub(1)?).map_or(rest.len(), |(at, _)| at);
    let word = rest.get(start..)?;
    let mut end = word_end(word);
    let option = word.get(..end)?;
    // `-c 64`, and not `--exclusive # all of it`.
    let takes_next =
        option.starts_with('-') && !option.contains('=') && (option.starts_with("--") || end == 2);
    let behind = word.get(end..)?;
    let blanks = behind.len().checked_sub(behind.trim_start().len())?;
    let value = behind.trim_start();
    if takes_next && !value.is_empty() && !value.starts_with(['-', '#']) {
        end = end.checked_add(blanks)?.checked_add(word_end(value))?;
    }
    Some(before.checked_add(start)?..before.checked_add(start)?.checked_add(end)?)
}

/// Where a word ends: at the first blank outside of quotes.
fn word_end(text: &str) -> usize {
    let mut quote = None;
    let end = text.char_indices().find(|&(_, c)| {
        match quote {
            Some(q) if c == q => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            _ => {}
        }
        quote.is_none() && c.is_ascii_whitespace()
    });
    end.map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, column: usize) -> String {
        let text = format!("#!/bin/sh\n{line}\ntrue\n");
        span(&text, 2, column).and_then(|span| text.get(span)).unwrap_or("").to_owned()
    }

    #[test]
    fn an_option_is_marked_with_its_value() {
        assert_eq!(shown("#SBATCH --exclusive -N1", 9), "--exclusive");
        assert_eq!(shown("#SBATCH --exclusive # all", 9), "--exclusive");
        assert_eq!(shown("#SBATCH -c 64 -N1", 9), "-c 64");
        assert_eq!(shown("#SBATCH -N1 x", 9), "-N1");
        assert_eq!(shown("#SBATCH --comment='a b' -N1", 9), "--comment='a b'");
        assert_eq!(shown("#SBATCH --comment 'a b'", 9), "--comment 'a b'");
        assert_eq!(shown("#SBATCH é --mem=4G", 11), "--mem=4G");
        assert_eq!(shown("#SBATCH", 40), "");
    }
}
