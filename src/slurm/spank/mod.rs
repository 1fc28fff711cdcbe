//! The SPANK side: the same `.so` in plugstack.conf.

use std::ffi::{c_char, c_int, c_void};

use super::{SLURM_SUCCESS, guard};

/// Called in sbatch, srun, salloc, scrontab, slurmd and slurmstepd. A plugin without any callback is
/// not loaded, so that this one has to be there; it does nothing, and on nodes it never will.
#[unsafe(no_mangle)]
pub extern "C" fn slurm_spank_init(_spank: *mut c_void, _argc: c_int, _argv: *mut *mut c_char) -> c_int {
    guard::run("slurm_spank_init", || SLURM_SUCCESS, || SLURM_SUCCESS)
}
