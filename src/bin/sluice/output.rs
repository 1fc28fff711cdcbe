//! Where text goes: results to standard output, everything about the command itself to standard
//! error. Colour only on a terminal that wants it.

use std::io::{IsTerminal, Seek, Write};
use std::path::Path;

/// An emphasis, where the terminal has any.
#[derive(Clone, Copy, Debug)]
pub enum Style {
    /// A heading.
    Bold,
    /// Something that refuses.
    Red,
    /// Something that passes.
    Green,
}

/// `text` in `style` on a terminal, plain elsewhere.
pub fn styled(style: Style, text: &str) -> String {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
        && std::env::var_os("TERM").is_none_or(|t| t != "dumb");
    if !wanted || !std::io::stdout().is_terminal() {
        return text.to_owned();
    }
    let code = match style {
        Style::Bold => "1",
        Style::Red => "1;31",
        Style::Green => "1;32",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// Prints a line of the result. Whoever reads it may have closed the pipe: then there is nobody
/// left to tell.
pub fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Seconds since 1970 by the clock on the wall here.
pub fn time(seconds: u64) -> String {
    let stamp = i64::try_from(seconds).ok().and_then(|s| jiff::Timestamp::from_second(s).ok());
    match stamp {
        Some(stamp) => stamp.to_zoned(jiff::tz::TimeZone::system()).strftime("%F %T %Z").to_string(),
        None => seconds.to_string(),
    }
}

/// Puts a file of this text in the place of the one at `path`, in one step. Where that fails nothing is left
/// behind, and the old file stays.
///
/// # Errors
/// A folder that is not there or cannot be written.
pub fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// Writes over the text of a file, which stays whose it is, and what it is linked to. Where there is no room
/// the old text is put back: it needs none that it has not had.
///
/// # Errors
/// A file that cannot be written, or no room; also for the old text, should that ever be.
pub fn overwrite(path: &Path, old: &str, new: &str) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).open(path)?;
    let mut put = |text: &str| {
        file.rewind()?;
        file.write_all(text.as_bytes())?;
        file.set_len(u64::try_from(text.len()).map_err(std::io::Error::other)?)
    };
    let Err(why) = put(new) else { return Ok(()) };
    match put(old) {
        Ok(()) => Err(why),
        Err(e) => Err(std::io::Error::other(format!("{why}, and the old text could not be put back ({e})"))),
    }
}

/// Says something about the command itself.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "sluice: {text}");
}

/// Says something that is no part of the result, in words of its own.
pub fn note_line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Says why the command could not do it. A policy's errors carry their own place.
pub fn complain(text: &str) {
    let prefix = if text.contains(": error: ") { "" } else { "sluice: error: " };
    let _ = writeln!(std::io::stderr(), "{prefix}{text}");
}
