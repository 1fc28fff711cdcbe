//! Lines in slurmctld's log.

use std::ffi::CString;

use super::api::{self, LogFunction};

/// Bytes of one line; what is longer is cut.
const LINE: usize = 2000;

/// One line, or several for text of several lines.
pub fn info(text: &str) {
    write(api::get().info, text);
}

/// One line marked `error:`.
pub fn error(text: &str) {
    write(api::get().error, text);
}

fn write(function: Option<LogFunction>, text: &str) {
    let Some(function) = function else { return };
    for line in text.lines() {
        if let Ok(line) = CString::new(format!("sluice: {}", plain(line))) {
            // SAFETY: printf's grammar under a constant format with one text; Slurm's log functions
            // may be called from any thread and copy what they are given.
            unsafe { function(c"%s".as_ptr(), line.as_ptr()) };
        }
    }
}

/// The line without anything that could end it, hide it or start another.
fn plain(line: &str) -> String {
    let mut plain: String = line.chars().take(LINE).map(|c| if c.is_control() { '?' } else { c }).collect();
    plain.truncate(plain.floor_char_boundary_at(LINE));
    plain
}

/// What `str::floor_char_boundary` does in newer Rust.
trait FloorCharBoundary {
    fn floor_char_boundary_at(&self, index: usize) -> usize;
}

impl FloorCharBoundary for str {
    fn floor_char_boundary_at(&self, index: usize) -> usize {
        (0..=index.min(self.len())).rev().find(|&i| self.is_char_boundary(i)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cannot_forge_another() {
        assert_eq!(plain("a\nb\x1b[31m\u{0}"), "a?b?[31m?");
        assert!(plain(&"\u{20ac}".repeat(5000)).len() <= LINE);
    }
}
