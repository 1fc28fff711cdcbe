//! `--compile=on|off`: whether programs may compile themselves first, by variables that the policy
//! names.
//!
//! Unlike a reason this may be handed on to what runs inside the job, as variables are: Slurm's own
//! way for options is the right one.

use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicU8, Ordering};

use super::api::{self, Spank};
use super::node_policy::NodePolicy;
use crate::slurm::guard;
use crate::slurm::log;
use crate::slurm::sys::spank_option;
use crate::words::shown;

/// `val` of the option.
const INDEX: c_int = 100;
/// The variable in which Slurm hands the option on; where `--export` leaves out its other copy, it is
/// the only one that reaches the node.
pub const HANDED_ON: &CStr = c"SLURM_SPANK__SLURM_SPANK_OPTION_sluice_compile";

/// What was given: [`Choice`] as a number, 0 for nothing.
static GIVEN: AtomicU8 = AtomicU8::new(0);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    On = 1,
    Off = 2,
}

impl Choice {
    fn of(text: &str) -> Option<Choice> {
        match text {
            "on" => Some(Choice::On),
            "off" => Some(Choice::Off),
            _ => None,
        }
    }

    fn given() -> Option<Choice> {
        [Choice::On, Choice::Off].into_iter().find(|c| *c as u8 == GIVEN.load(Ordering::Relaxed))
    }
}

/// Adds the option; in clients, and in slurmstepd, where Slurm tells what was given.
pub fn register(spank: &Spank<'_>) {
    spank.register(spank_option {
        name: c"compile".as_ptr().cast_mut(),
        arginfo: c"on|off".as_ptr().cast_mut(),
        usage: c"off: without just-in-time compilers (the default in a short QoS)".as_ptr().cast_mut(),
        has_arg: 1,
        val: INDEX,
        cb: Some(take),
    });
}

/// Called for each `--compile`; with `remote` on a node.
unsafe extern "C" fn take(_: c_int, text: *const c_char, remote: c_int) -> c_int {
    let take = || {
        // SAFETY: NULL or NUL-terminated text, by SPANK's interface.
        let text = unsafe { crate::slurm::strings::read(text) }.unwrap_or_default();
        if remote == 0 && !api::has_job_environment() {
            api::error("this command does not hand --compile on; set the variables in the script");
            return -1;
        }
        match Choice::of(&text) {
            Some(choice) => GIVEN.store(choice as u8, Ordering::Relaxed),
            None if remote == 0 => {
                api::error(&format!("--compile is on or off, not {}", shown(&text)));
                return -1;
            }
            None => {}
        }
        0
    };
    guard::run("--compile", || 0, take)
}

/// What it comes to, for the run card: `on` or `off` where it was said or the QoS says it. `handed_on`
/// is what Slurm handed on where it kept the option itself.
pub fn mode(handed_on: Option<&str>, qos: Option<&str>, policy: &NodePolicy) -> Option<&'static str> {
    match Choice::given().or_else(|| Choice::of(handed_on?)) {
        Some(Choice::On) => Some("on"),
        Some(Choice::Off) => Some("off"),
        None => qos.is_some_and(|qos| policy.is_short(qos)).then_some("off"),
    }
}

/// In slurmstepd, before the tasks start: sets the variables. What is asked for goes before what
/// the user has set by hand, and that before what a short QoS does by itself.
pub fn set(spank: &Spank<'_>, policy: &NodePolicy) {
    let given = Choice::given().or_else(|| Choice::of(&spank.getenv(HANDED_ON)?));
    let asked = given == Some(Choice::Off);
    let short = || spank.getenv(c"SLURM_JOB_QOS").is_some_and(|qos| policy.is_short(&qos));
    if !asked && (given.is_some() || !short()) {
        return;
    }
    let variables = policy.compile_off();
    if asked && variables.is_empty() {
        log::info("--compile=off sets nothing: this node knows no [compile] of the policy");
    }
    for (name, value) in variables {
        spank.setenv(&name, &value, asked);
    }
}
