//! `sluice validate`: every error and doubt of a policy.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::{Uid, User};
use serde_json::{Value, json};
use sluice::live;
use sluice::policy::diagnostic::{Level, Problem};
use sluice::policy::load::load_bytes;

use crate::options::{Common, Format, Validate};
use crate::output::{Style, line, styled};
use crate::people::System;
use crate::policy_file::{self, Text, reason};
use crate::{Exit, Failure, output, slurm};

/// Says what is wrong with a policy, and what probably is not meant.
///
/// # Errors
/// A policy that cannot be read, a cluster that does not answer.
pub fn run(common: &Common, verb: &Validate) -> Result<Exit, Failure> {
    let text = policy_file::read(verb.file.as_deref().or(common.policy.as_deref()))?;
    if let Some(path) = &text.path {
        warn_of_owner(path);
    }
    let problems = match load_bytes(&text.name, &text.bytes, &System, policy_file::today()) {
        Err(errors) => errors.0,
        Ok(loaded) => {
            let mut doubts = loaded.doubts;
            if verb.cluster {
                let live = crate::live::ask()?;
                let policy = String::from_utf8_lossy(&text.bytes);
                doubts.extend(live::compare(&text.name, &policy, &loaded.policy, &live));
                doubts.sort_by_key(|doubt| (doubt.line == 0, doubt.offset));
            }
            doubts
        }
    };
    let errors = problems.iter().filter(|p| p.level == Level::Error).count();
    match common.format {
        Format::Text => print(&text, &problems, errors),
        Format::Json => print_json(&text, &problems, errors),
    }
    Ok(if errors == 0 { Exit::Yes } else { Exit::No })
}

fn print(text: &Text, problems: &[Problem], errors: usize) {
    for problem in problems {
        line(&problem.to_string());
        line("");
    }
    let count = |n: usize, one: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") };
    let doubts = problems.len().saturating_sub(errors);
    let sum = match (errors, doubts) {
        (0, 0) => "no errors, no doubts".to_owned(),
        (0, doubts) => format!("no errors, {}", count(doubts, "doubt")),
        (errors, _) => count(errors, "error"),
    };
    let style = if errors == 0 { Style::Green } else { Style::Red };
    line(&styled(style, &format!("{}: {sum}", text.name)));
}

fn print_json(text: &Text, problems: &[Problem], errors: usize) {
    let all = json!({
        "policy": text.path.as_ref().map(|p| p.display().to_string()),
        "valid": errors == 0,
        "problems": problems.iter().map(problem).collect::<Vec<_>>(),
    });
    output::line(&format!("{all:#}"));
}

fn problem(problem: &Problem) -> Value {
    let place = (problem.line > 0).then(|| json!({ "line": problem.line, "column": problem.column }));
    json!({
        "level": match problem.level { Level::Error => "error", Level::Warning => "doubt" },
        "place": place,
        "message": problem.message,
        "help": problem.help,
    })
}

/// slurmctld takes no policy that somebody else may write. Here it is only said: a draft is its
/// author's.
fn warn_of_owner(path: &Path) {
    let meta = match path.metadata() {
        Ok(meta) => meta,
        Err(e) => return output::note(&format!("cannot look at {}: {}", path.display(), reason(&e))),
    };
    let mode = meta.mode() & 0o7777;
    let in_force = slurm::conf_dirs().iter().any(|dir| path.parent() == Some(dir));
    let ours = [0, Uid::current().as_raw()].contains(&meta.uid()) || slurm_user() == Some(meta.uid());
    let why = if !meta.is_file() {
        "it is not a regular file".to_owned()
    } else if mode & 0o002 != 0 || (mode & 0o020 != 0 && meta.gid() != 0) {
        format!("others may write it (mode {mode:o}): chmod go-w")
    } else if !ours || (in_force && meta.uid() != 0 && slurm_user() != Some(meta.uid())) {
        format!("its owner is uid {}, neither root nor SlurmUser", meta.uid())
    } else {
        return;
    };
    output::note(&format!("slurmctld would not read {}: {why}", path.display()));
}

/// SlurmUser of slurm.conf, where that can be read; the user `slurm` elsewhere.
fn slurm_user() -> Option<u32> {
    let name = slurm::conf_dirs().iter().find_map(|dir| {
        let text = std::fs::read_to_string(dir.join("slurm.conf")).ok()?;
        let mut pairs = text.lines().filter_map(|line| line.trim().split_once('='));
        let value = pairs.rfind(|(key, _)| key.trim().eq_ignore_ascii_case("SlurmUser"))?.1;
        Some(value.split('#').next().unwrap_or("").trim().to_owned())
    });
    let name = name.unwrap_or_else(|| "slurm".to_owned());
    User::from_name(&name).ok().flatten().map(|user| user.uid.as_raw())
}
