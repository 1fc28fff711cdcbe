//! `sluice status`: what the plugin in slurmctld says of itself.

use std::path::{Path, PathBuf};

use sluice::live;
use sluice::status::{self, Source, Status};

use crate::options::{self, Common, Format};
use crate::output::{Style, line, styled, time};
use crate::policy_file::reason;
use crate::{Exit, Failure, output};

/// Shows the status file.
///
/// # Errors
/// A folder that cannot be told, a file that is not there or none of ours.
pub fn run(common: &Common, verb: &options::Status) -> Result<Exit, Failure> {
    let folder = match &verb.state_dir {
        Some(folder) => folder.clone(),
        None => state_folder()?,
    };
    let path = folder.join(status::FILE);
    let text = std::fs::read_to_string(&path).map_err(|e| failure(&path, &e))?;
    let status: Status =
        serde_json::from_str(&text).map_err(|e| format!("{} is no status of Sluice: {e}", path.display()))?;
    if status.sluice != status::SCHEMA {
        return Err(format!(
            "{} has form {}, and this command reads form {}: is the plugin of another version?",
            path.display(),
            status.sluice,
            status::SCHEMA
        ));
    }
    let problem = status.policy.error.is_some() || status.policy.source != Source::File;
    match common.format {
        // The file as it is: it is an interface of its own.
        Format::Json => output::line(text.trim_end()),
        Format::Text => print(&status),
    }
    Ok(if problem { Exit::No } else { Exit::Yes })
}

fn state_folder() -> Result<PathBuf, Failure> {
    let config = crate::live::config()?;
    let folder = live::config_value(&config, "StateSaveLocation")
        .ok_or("scontrol names no StateSaveLocation: give --state-dir")?;
    Ok(PathBuf::from(folder))
}

fn failure(path: &Path, error: &std::io::Error) -> Failure {
    let hint = match error.kind() {
        std::io::ErrorKind::NotFound => ": Sluice has not run in this slurmctld",
        std::io::ErrorKind::PermissionDenied => ": ask as root or SlurmUser",
        _ => "",
    };
    format!("cannot read {}: {}{hint}", path.display(), reason(error))
}

fn print(status: &Status) {
    let build = &status.build;
    let head = format!("Sluice {} for Slurm {}, in slurmctld {}", build.version, build.slurm, status.pid);
    line(&styled(Style::Bold, &head));
    line(&format!("running since {}, as of {}", time(status.started), time(status.written)));
    if !Path::new("/proc").join(status.pid.to_string()).exists() {
        line("no such process runs on this machine: slurmctld is down, or runs elsewhere");
    }
    line("");
    let policy = &status.policy;
    match policy.source {
        Source::Nowhere => line(&styled(Style::Red, &format!("no policy is in force: {}", policy.path))),
        Source::File => {
            line(&format!("policy {}, {}, in force since {}", policy.path, policy.hash, time(policy.since)));
        }
        Source::SavedCopy => {
            let words = format!(
                "the saved copy of policy {}, {}, is in force since {}",
                policy.path,
                policy.hash,
                time(policy.since)
            );
            line(&styled(Style::Red, &words));
        }
    }
    if let Some(error) = &policy.error {
        let since = policy.error_since.map(|at| format!(" since {}", time(at))).unwrap_or_default();
        line(&styled(Style::Red, &format!("the file does not count{since}:")));
        error.lines().for_each(|text| line(&format!("  {text}")));
    }
    line("");
    line(&format!("{} submissions and {} updates judged", status.submissions, status.updates));
    let decisions = &status.decisions;
    line(&format!("{} refused, {} accepted with something to record", decisions.refused, decisions.accepted));
    let edits = decisions.edits.keys().map(|option| option.len().saturating_add(2));
    let width = decisions.findings.keys().map(String::len).chain(edits).max().unwrap_or(0);
    for (rule, outcomes) in &decisions.findings {
        let outcomes: Vec<String> = outcomes.iter().map(|(what, n)| format!("{n} {what}")).collect();
        line(&format!("  {rule:width$} {}", outcomes.join(", ")));
    }
    for (option, n) in &decisions.edits {
        line(&format!("  --{option:width$} {n} filled in", width = width.saturating_sub(2)));
    }
    for (rule, n) in &decisions.failed {
        line(&styled(Style::Red, &format!("  {rule} failed ({n}): this is a bug of Sluice")));
    }
    if status.panics > 0 || status.failures > 0 {
        let words = format!("panics caught: {}, requests not judged: {}", status.panics, status.failures);
        line(&styled(Style::Red, &words));
    }
    let records = &status.records;
    line(&format!("{} records to {}, {} lost", records.written, records.target, records.dropped));
    if let Some(error) = &records.error {
        line(&styled(Style::Red, &format!("records cannot be written: {error}")));
    }
}
