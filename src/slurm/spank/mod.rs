//! The SPANK side: the same `.so` in plugstack.conf.
//!
//! Options for users and one check on nodes; nothing here decides, for a user can go around it.
//! Whatever goes wrong, each entry point answers "all is well": a failing one keeps clients from
//! submitting and drains nodes. Who runs where:
//!
//! | context | process | file |
//! |---|---|---|
//! | allocator, local | sbatch, salloc, scrontab; srun | [`client`] |
//! | remote | slurmstepd, its tasks | [`node`] |
//! | slurmd | slurmd | only [`arguments`] |

mod api;
mod arguments;
mod client;
mod compile;
mod node;
mod node_policy;
mod options;

use std::ffi::{c_char, c_int, c_void};

use super::{SLURM_SUCCESS, guard};
use api::{Context, Spank};
use arguments::Arguments;

/// Called in sbatch, srun, salloc, scrontab, slurmd and slurmstepd when the plugin is loaded.
///
/// # Safety
/// As SPANK has it: a handle that lives during the call, `argc` arguments in `argv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slurm_spank_init(
    handle: *mut c_void,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    // SAFETY: by the interface.
    let init = move || unsafe {
        let spank = Spank::new(handle);
        let arguments = Arguments::read(argc, argv);
        match api::context() {
            Context::Client => {
                arguments.complain();
                client::init(&spank);
            }
            Context::Node => node::init(&spank, arguments),
            Context::Slurmd => arguments.complain(),
            Context::Other => {}
        }
        SLURM_SUCCESS
    };
    guard::run("slurm_spank_init", || SLURM_SUCCESS, init)
}

/// Called in clients when the options of one component have been read, and in slurmstepd.
///
/// # Safety
/// As for [`slurm_spank_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slurm_spank_init_post_opt(
    handle: *mut c_void,
    _argc: c_int,
    _argv: *const *const c_char,
) -> c_int {
    let post_opt = || {
        // SAFETY: by the interface.
        let spank = unsafe { Spank::new(handle) };
        match api::context() {
            Context::Client => client::post_opt(&spank),
            Context::Node => node::post_opt(&spank),
            Context::Slurmd | Context::Other => {}
        }
        SLURM_SUCCESS
    };
    guard::run("slurm_spank_init_post_opt", || SLURM_SUCCESS, post_opt)
}

/// Called in each task as the job's user, right before its program starts.
///
/// # Safety
/// As for [`slurm_spank_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slurm_spank_task_init(
    handle: *mut c_void,
    _argc: c_int,
    _argv: *const *const c_char,
) -> c_int {
    let task = || {
        // SAFETY: by the interface.
        node::task(&unsafe { Spank::new(handle) });
        SLURM_SUCCESS
    };
    guard::run("slurm_spank_task_init", || SLURM_SUCCESS, task)
}
