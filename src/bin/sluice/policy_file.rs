//! Which policy holds: the one that is named, else the one beside slurm.conf, else an example.

use std::path::{Path, PathBuf};

use sluice::date::Date;
use sluice::policy::load::load_bytes;
use sluice::policy::{EXAMPLE, Policy};

use crate::people::System;
use crate::{Failure, output, slurm};

/// Judged by where there is no policy.
const EXAMPLE_NAME: &str = "the built-in example policy";

/// A policy with the name of its file.
pub struct Found {
    /// The policy.
    pub policy: Policy,
    /// Its file; `None` for the built-in example.
    pub path: Option<PathBuf>,
}

impl Found {
    /// What messages call it.
    pub fn name(&self) -> String {
        self.path.as_ref().map_or_else(|| EXAMPLE_NAME.to_owned(), |path| path.display().to_string())
    }
}

/// A policy's text, not yet loaded.
pub struct Text {
    /// What messages call it.
    pub name: String,
    /// As it stands in the file.
    pub bytes: Vec<u8>,
    /// Its file; `None` for the built-in example.
    pub path: Option<PathBuf>,
}

/// Finds and reads the policy.
///
/// # Errors
/// One that is named and cannot be read, and every error in it.
pub fn find(named: Option<&Path>, today: Date) -> Result<Found, Failure> {
    let Text { name, bytes, path } = read(named)?;
    match load_bytes(&name, &bytes, &System, today) {
        Ok(loaded) => Ok(Found { policy: loaded.policy, path }),
        Err(problems) => Err(problems.to_string()),
    }
}

/// Finds the policy and reads its text.
///
/// # Errors
/// One that is named and cannot be read.
pub fn read(named: Option<&Path>) -> Result<Text, Failure> {
    let variable = std::env::var_os("SLUICE_POLICY").filter(|v| !v.is_empty()).map(PathBuf::from);
    let beside = || slurm::conf_dirs().into_iter().map(|dir| dir.join("sluice.toml")).find(|f| f.exists());
    let path = named.map(PathBuf::from).or(variable).or_else(beside);
    let (name, bytes) = match &path {
        Some(path) => {
            let bytes = std::fs::read(path)
                .map_err(|e| format!("cannot read policy {}: {}", path.display(), reason(&e)))?;
            let name = path.display().to_string();
            // The loader would show a line of it.
            if bytes.iter().all(u8::is_ascii_whitespace) {
                return Err(format!("policy {name} is empty: its first line is `schema = 1`"));
            }
            if bytes.contains(&0) {
                return Err(format!("policy {name} is a binary file, no policy"));
            }
            (name, bytes)
        }
        None => {
            output::note(&format!(
                "no policy found (--policy, $SLUICE_POLICY, beside slurm.conf): judged by {EXAMPLE_NAME}"
            ));
            (EXAMPLE_NAME.to_owned(), EXAMPLE.as_bytes().to_vec())
        }
    };
    Ok(Text { name, bytes, path })
}

/// An error in words, without its number.
pub fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        std::io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => error.to_string(),
    }
}

/// The day here.
pub fn today() -> Date {
    let day = jiff::Zoned::now().date();
    Date {
        year: u16::try_from(day.year()).unwrap_or_default(),
        month: day.month().unsigned_abs(),
        day: day.day().unsigned_abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_policy_has_neither_errors_nor_doubts() {
        let today = Date { year: 2026, month: 12, day: 1 };
        let loaded = load_bytes(EXAMPLE_NAME, EXAMPLE.as_bytes(), &System, today).unwrap();
        assert_eq!(loaded.doubts, []);
        assert!(loaded.policy.rules.len() >= 4);
    }
}
