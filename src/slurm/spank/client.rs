//! In sbatch, salloc, srun and scrontab: options for the user, carried to the hook.
//!
//! Slurm hands a plugin's options on to the commands that run inside the job, where they would be
//! given again without anybody typing them. A justification is for one job. So the option is renamed
//! on its way: what Slurm would hand on is taken away, and the text travels under a name that no
//! client reads as an option.

use std::ffi::CString;

use super::api::{self, Spank};
use super::compile;
use super::options::{self, Carried, OPTIONS};
use super::run_card;
use crate::request::description::SPANK_ENV;

/// What sbatch and salloc put before an entry when they copy it into the job's environment, and
/// what srun takes away again where it finds one.
const COPY: &str = "SLURM_SPANK_";

/// Forgets what an outer job left behind, and adds the options.
pub fn init(spank: &Spank<'_>) {
    let inside = std::env::var_os("SLURM_JOB_ID").is_some();
    for option in &OPTIONS {
        forget(&format!("{COPY}{}", option.entry()));
        if inside {
            // The user's own default, set where the outer job was submitted.
            forget(&default_of(option));
        }
    }
    options::register(spank);
    forget(&format!("{COPY}{SPANK_ENV}"));
    compile::register(spank);
    run_card::before_submission();
}

/// When srun has a job.
pub fn granted(spank: &Spank<'_>) {
    run_card::start_of_srun(spank);
}

/// When the client ends.
pub fn exit() {
    run_card::end_of_client();
}

/// Puts what was given where the hook reads it. Once for each component of the job.
pub fn post_opt(spank: &Spank<'_>) {
    for (option, value) in options::given() {
        forget(&option.handed_on());
        forget(&default_of(option));
        unset(spank, &option.handed_on());
        // srun has read it from the environment before any plugin was loaded.
        unset(spank, option.entry());
        if let Some(value) = value {
            let set = CString::new(option.entry()).is_ok_and(|entry| spank.set_job_entry(&entry, &value));
            if !set {
                api::error(&format!("could not hand {} on", option.entry()));
            }
        }
    }
    if let Ok(entry) = CString::new(SPANK_ENV) {
        spank.set_job_entry(&entry, c"1");
    }
}

/// The variable in which a user may set an option for all commands of a shell
/// (`spank_process_env_options`, plugstack.c).
fn default_of(option: &Carried) -> String {
    format!("{COPY}{}", option.handed_on())
}

fn unset(spank: &Spank<'_>, entry: &str) {
    if let Ok(entry) = CString::new(entry) {
        spank.unset_job_entry(&entry);
    }
}

/// Takes a variable out of this process's environment, and so out of its job's.
fn forget(variable: &str) {
    if std::env::var_os(variable).is_some() {
        // SAFETY: Slurm itself sets variables without a lock right before and after both callbacks
        // (`_option_setenv`, `_set_spank_env`); nothing else in a client reads them meanwhile. Where
        // there is none to take away, nothing is touched.
        unsafe { std::env::remove_var(variable) };
    }
}
