//! `sluice init`: a first policy in audit mode, from the live cluster or from a template.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use sluice::live;
use sluice::policy::EXAMPLE;

use crate::options::Init;
use crate::policy_file::reason;
use crate::{Exit, Failure, output};

/// Writes a policy to its file, or to standard output.
///
/// # Errors
/// A cluster that does not answer, a file that is there already or cannot be written.
pub fn run(verb: &Init) -> Result<Exit, Failure> {
    // What is there already is said before anybody waits for a cluster.
    if let Some(path) = verb.file.as_deref().filter(|path| path.exists()) {
        return Err(there_already(path));
    }
    let text = if verb.template { template() } else { from_cluster()? };
    match &verb.file {
        None => text.lines().for_each(output::line),
        Some(path) => {
            write(path, &text)?;
            output::note(&format!("{} is written: sluice validate {0}", path.display()));
        }
    }
    Ok(Exit::Yes)
}

fn from_cluster() -> Result<String, Failure> {
    let hint = |failure| format!("{failure} (--template writes a policy without a cluster)");
    Ok(live::draft(&crate::live::ask().map_err(hint)?))
}

/// The tour of the format, with nothing refused.
fn template() -> String {
    EXAMPLE.replacen("mode = \"enforce\" ", "mode = \"audit\"   ", 1)
}

/// Never over a file that is there: it may be in force.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| {
        // Half a policy would be in the way of the next attempt.
        file.write_all(text.as_bytes()).inspect_err(|_| drop(std::fs::remove_file(path)))
    });
    written.map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => there_already(path),
        _ => format!("cannot write {}: {}", path.display(), reason(&e)),
    })
}

fn there_already(path: &Path) -> Failure {
    format!("{} is there already, and is not written over", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice::date::Date;
    use sluice::policy::load::load;
    use sluice::policy::{Loaded, Mode};

    #[test]
    fn the_template_refuses_nothing_and_has_no_doubts() {
        let today = Date { year: 2026, month: 12, day: 1 };
        let Loaded { policy, doubts } = load("template", &template(), &crate::people::System, today).unwrap();
        assert_eq!((policy.site.mode, doubts), (Mode::Audit, vec![]));
    }
}
