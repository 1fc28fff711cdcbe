//! Everything of Slurm, and the only unsafe code: the plugin's entry points, Slurm's types and
//! functions, and the helper thread that keeps the policy up to date.
//!
//! No rule is known here. An entry point reads C into the typed request, has it judged, and writes
//! the verdict back. Who runs where:
//!
//! | process | what happens |
//! |---|---|
//! | slurmctld | `init` starts [`helper`], `job_submit` and `job_modify` judge by [`snapshot`] |
//! | every other | `init` does nothing; SPANK callbacks (`spank`) |

pub mod admin_comment;
pub mod api;
pub mod authority;
pub mod clock;
pub mod cluster;
pub mod counters;
pub mod decision;
pub mod existing_job;
pub mod guard;
pub mod helper;
pub mod job_desc;
pub mod job_modify;
pub mod job_submit;
pub mod journal;
pub mod log;
pub mod packed;
pub mod policy_file;
pub mod policy_store;
pub mod record_sink;
pub mod records;
pub mod reference;
#[cfg(slurm_show_resv)]
pub mod reservations;
pub mod saved_policy;
pub mod snapshot;
pub mod spank;
pub mod state_dir;
pub mod strings;
pub mod sys;
pub mod users;
#[cfg(feature = "record-vectors")]
mod vector;

use std::ffi::c_int;

/// What every entry point returns when all is well.
pub const SLURM_SUCCESS: c_int = 0;

/// Name of the plugin: `JobSubmitPlugins=sluice`. An array, not a pointer: Slurm reads the symbol
/// itself as text.
#[unsafe(no_mangle)]
pub static plugin_name: [u8; 7] = *b"sluice\0";

/// With this type Slurm compares major and minor version only, so that one build serves a whole
/// series, and loads the same file for both doors (plugin.c; job_submit's own loader never compares
/// the type).
#[unsafe(no_mangle)]
pub static plugin_type: [u8; 6] = *b"spank\0";

/// The Slurm version of the headers that this was built with.
#[unsafe(no_mangle)]
pub static plugin_version: u32 = sys::SLURM_VERSION_NUMBER;

/// The same as text, major and minor: `tools/check-plugin` finds it with grep alone, on a machine
/// that has no reader of object files. Exported so that the linker keeps it.
#[unsafe(no_mangle)]
pub static sluice_built_for: [u8; 30] = built_for(sys::SLURM_VERSION_NUMBER);

const fn built_for(version: u32) -> [u8; 30] {
    let mut text = *b"sluice plugin for Slurm 00.00\0";
    let [_, major, minor, _] = version.to_be_bytes();
    text[24] += major / 10;
    text[25] += major % 10;
    text[27] += minor / 10;
    text[28] += minor % 10;
    text
}

/// Called by Slurm's loader in every process that loads the `.so`: slurmctld, and through SPANK
/// sbatch, srun, salloc, scrontab, slurmd, slurmstepd. Starts the helper in slurmctld, does nothing
/// elsewhere, and never fails: a failing `init` would keep slurmctld from starting.
#[unsafe(no_mangle)]
pub extern "C" fn init() -> c_int {
    guard::silence_panics();
    guard::run(
        "init",
        || SLURM_SUCCESS,
        || {
            if api::get().is_slurmctld() {
                helper::start();
            }
            SLURM_SUCCESS
        },
    )
}

/// Called before the `.so` is unloaded; slurmctld does not call it when it ends. Ends the helper, so
/// that no thread runs in memory that is about to go.
#[unsafe(no_mangle)]
pub extern "C" fn fini() -> c_int {
    guard::run(
        "fini",
        || SLURM_SUCCESS,
        || {
            helper::stop();
            SLURM_SUCCESS
        },
    )
}
