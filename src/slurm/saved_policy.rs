//! The last good policy, kept in StateSaveLocation for a start at which the file is broken.

use std::io;
use std::path::{Path, PathBuf};

use super::journal::replace;
use super::policy_file;

/// Name of the copy.
const NAME: &str = "sluice.toml.good";

/// Where the copy is.
pub fn path(state: &Path) -> PathBuf {
    state.join(NAME)
}

/// Keeps this text, which a policy was made of.
///
/// # Errors
/// Where it cannot be written.
pub fn save(state: &Path, text: &str) -> io::Result<()> {
    replace(&path(state), text, 0o600)
}

/// The text that was kept, checked as the policy file itself is.
///
/// # Errors
/// In words, where there is none or it is not to be trusted.
pub fn load(state: &Path) -> Result<String, String> {
    policy_file::read(&path(state)).map(|(text, _)| text)
}
