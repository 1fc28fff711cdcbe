//! The SPANK side: the same `.so` in plugstack.conf.
//!
//! Options for users, a check and a record on nodes; nothing here decides, for a user can go around it.
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
mod child;
mod client;
mod compile;
mod job;
mod node;
mod node_policy;
mod options;
mod run_card;

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

/// Called in slurmstepd when a task has ended.
///
/// # Safety
/// As for [`slurm_spank_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slurm_spank_task_exit(
    handle: *mut c_void,
    _argc: c_int,
    _argv: *const *const c_char,
) -> c_int {
    let ended = || {
        // SAFETY: by the interface.
        node::task_ended(&unsafe { Spank::new(handle) });
        SLURM_SUCCESS
    };
    guard::run("slurm_spank_task_exit", || SLURM_SUCCESS, ended)
}

/// Called in srun when it has a job, before it starts anything.
///
/// # Safety
/// As for [`slurm_spank_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slurm_spank_local_user_init(
    handle: *mut c_void,
    _argc: c_int,
    _argv: *const *const c_char,
) -> c_int {
    let granted = || {
        // SAFETY: by the interface.
        client::granted(&unsafe { Spank::new(handle) });
        SLURM_SUCCESS
    };
    guard::run("slurm_spank_local_user_init", || SLURM_SUCCESS, granted)
}

/// Called in clients and in slurmstepd when they end.
///
/// # Safety
/// As for [`slurm_spank_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slurm_spank_exit(
    _handle: *mut c_void,
    _argc: c_int,
    _argv: *const *const c_char,
) -> c_int {
    let exit = || {
        if api::context() == Context::Client {
            client::exit();
        }
        SLURM_SUCCESS
    };
    guard::run("slurm_spank_exit", || SLURM_SUCCESS, exit)
}
