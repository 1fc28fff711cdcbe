//! `sluice explain`: what a rule holds, or what would make a job accepted.

mod rules;
mod search;
mod ways;

use crate::options::{Common, Explain};
use crate::{Exit, Failure};

/// Explains rules by name, scripts, or a command.
///
/// # Errors
/// A name that is neither a rule's nor a file's; whatever keeps a job from being judged.
pub fn run(common: &Common, verb: &Explain) -> Result<Exit, Failure> {
    let names = &verb.names;
    let is_file = |name: &&String| sluice::rules::find(name).is_none() && is_path(name);
    match names.iter().find(is_file) {
        None if verb.command.is_empty() => rules::run(names),
        Some(file) if names.len() > 1 => {
            Err(format!("{file} is a script: one is explained at a time, and no rule beside it"))
        }
        _ => ways::run(common, verb),
    }
}

/// Whether a name is meant to be a file's.
fn is_path(name: &str) -> bool {
    name == "-" || name.contains(['/', '.']) || std::path::Path::new(name).exists()
}
