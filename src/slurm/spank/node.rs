//! On nodes, in slurmstepd: a task of an array whose own index contradicts its place is stopped.
//!
//! Two tasks that believe to be the same one write over each other's results and leave another
//! undone. Nothing else happens here, and nothing can fail a node: whatever is not known is let pass.

use std::ffi::{CString, c_int};
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::OnceLock;

use super::api::{self, Spank};
use super::arguments::{Arguments, variable};
use crate::policy::load::LARGEST;
use crate::slurm::{log, policy_file};
use crate::words::shown;

/// The exit code of a task that is stopped.
const STOPPED: c_int = 1;

/// Variables that must not contradict the task's place. Set once, before the tasks are forked.
static INDEX_VARS: OnceLock<Vec<CString>> = OnceLock::new();

/// Finds out which variables count: plugstack.conf's argument, else the policy's where the node has
/// it. Only steps of arrays ask.
pub fn init(spank: &Spank<'_>, arguments: Arguments) {
    if spank.array_task_id().is_some() {
        INDEX_VARS.get_or_init(|| arguments.index_vars.unwrap_or_else(of_policy));
    }
}

/// Does not return where the task must not start.
pub fn task(spank: &Spank<'_>) {
    let Some(task) = spank.array_task_id() else { return };
    for name in INDEX_VARS.get().into_iter().flatten() {
        if let Some(line) = spank.getenv(name).and_then(|v| contradiction(&name.to_string_lossy(), &v, task))
        {
            if let Ok(line) = CString::new(line) {
                api::log(&line);
            }
            // With `optional` in plugstack.conf a returned error would not stop the task.
            // SAFETY: the task's own process, forked to become the user's program.
            unsafe { libc::_exit(STOPPED) };
        }
    }
}

/// What to tell of a variable that means another place than `task`.
fn contradiction(name: &str, value: &str, task: u32) -> Option<String> {
    let value = value.trim();
    // Nothing is claimed by an empty one; `007` is 7.
    if value.is_empty() || value.parse() == Ok(task) {
        return None;
    }
    Some(format!(
        "sluice: this task is not started: {name}={} but SLURM_ARRAY_TASK_ID={task}; do not set {name} for the \
         whole array, set it in the script: {name}=$SLURM_ARRAY_TASK_ID",
        shown(value)
    ))
}

/// `index_vars` of the policy beside slurm.conf; none where nothing can be read.
fn of_policy() -> Vec<CString> {
    let Some(path) = policy_file::path() else { return Vec::new() };
    let read = read(&path).and_then(|text| index_vars(&text));
    read.unwrap_or_else(|why| {
        // Not an error: those reach the job's stderr.
        log::info(&format!("{}: index_vars is not known: {why}", path.display()));
        Vec::new()
    })
}

/// The text; empty where there is no file. Who may write it is of no concern here: it lies beside
/// slurm.conf, and all that it can do is stop a task.
fn read(path: &Path) -> Result<String, String> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(e) => return Err(e.to_string()),
    };
    if !file.metadata().is_ok_and(|m| m.is_file()) {
        return Err("it is not a regular file".to_owned());
    }
    let mut text = String::new();
    file.take(LARGEST as u64).read_to_string(&mut text).map_err(|e| e.to_string())?;
    Ok(text)
}

/// This one key. A policy that is broken elsewhere, or newer than this plugin, still has it.
fn index_vars(text: &str) -> Result<Vec<CString>, String> {
    #[derive(serde::Deserialize)]
    struct Policy {
        #[serde(default)]
        index_vars: Vec<String>,
    }
    let policy: Policy = toml::from_str(text).map_err(|e| e.message().to_owned())?;
    Ok(policy.index_vars.iter().filter_map(|name| variable(name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_number_or_no_number_contradicts() {
        for same in ["3", "003", " 3 ", ""] {
            assert_eq!(contradiction("I", same, 3), None, "{same:?}");
        }
        for other in ["4", "-3", "3x", "three", "99999999999", "\u{1b}[31m"] {
            let said = contradiction("I", other, 3).unwrap();
            assert!(!said.contains('\u{1b}'), "{said:?}");
        }
        assert_eq!(
            contradiction("TASK_INDEX", "4", 3).unwrap(),
            "sluice: this task is not started: TASK_INDEX=4 but SLURM_ARRAY_TASK_ID=3; do not set TASK_INDEX \
             for the whole array, set it in the script: TASK_INDEX=$SLURM_ARRAY_TASK_ID"
        );
    }

    #[test]
    fn one_key_of_the_policy_is_read() {
        let read = |text: &str| index_vars(text).map(|v| v.len()).map_err(|_| ());
        assert_eq!(read(""), Ok(0));
        assert_eq!(read("schema = 9\nindex_vars = [\"A\", \"1\"]\n[unheard.of]\n"), Ok(1));
        assert_eq!(read("index_vars = 3"), Err(()));
        assert_eq!(read("["), Err(()));
    }

    #[test]
    fn a_file_that_is_not_there_is_an_empty_one() {
        assert_eq!(super::read(Path::new("/nonexistent/sluice.toml")), Ok(String::new()));
        assert!(super::read(Path::new("/")).is_err());
        assert!(super::read(Path::new("/dev/zero")).is_err());
    }
}
