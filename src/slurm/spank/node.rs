//! On nodes, in slurmstepd: `--compile`, the run card of a batch job, and a task of an array whose own
//! index contradicts its place is stopped.
//!
//! Two tasks that believe to be the same one write over each other's results and leave another
//! undone. Nothing here can fail a node: whatever is not known is let pass.

use once_cell::sync::OnceCell;
use std::ffi::{CString, c_int};

use super::api::{self, Spank};
use super::arguments::Arguments;
use super::node_policy::NodePolicy;
use super::{compile, options, run_card};
use crate::words::shown;

/// The exit code of a task that is stopped.
const STOPPED: c_int = 1;

/// Variables that must not contradict the task's place, and the policy. Set once, before the tasks
/// are forked.
static STEP: OnceCell<(Vec<CString>, NodePolicy)> = OnceCell::new();

/// Finds out what this node knows. plugstack.conf's argument goes before the policy's `index_vars`:
/// where slurmd has its files from slurmctld, plugstack.conf comes along and the policy does not.
pub fn init(spank: &Spank<'_>, arguments: Arguments) {
    STEP.get_or_init(|| {
        let policy = NodePolicy::find();
        (arguments.index_vars.unwrap_or_else(|| policy.index_vars()), policy)
    });
    options::register(spank);
    compile::register(spank);
}

/// When the step's options are known.
pub fn post_opt(spank: &Spank<'_>) {
    if let Some((_, policy)) = STEP.get() {
        compile::set(spank, policy);
    }
}

/// Does not return where the task must not start.
pub fn task(spank: &Spank<'_>) {
    stop(spank);
    if let Some((_, policy)) = STEP.get() {
        run_card::start_of_batch(spank, policy);
    }
}

/// When a task has ended.
pub fn task_ended(spank: &Spank<'_>) {
    if let Some((_, policy)) = STEP.get() {
        run_card::end_of_batch(spank, policy);
    }
}

fn stop(spank: &Spank<'_>) {
    let Some(task) = spank.array_task_id() else { return };
    for name in STEP.get().into_iter().flat_map(|(names, _)| names) {
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
}
