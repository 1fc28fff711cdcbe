//! `job_modify`: the existing job is read, the change laid over it, and what gets worse refused.
//!
//! Called for every `scontrol update`, hold and release, once for each job record that it touches:
//! an array's waiting tasks as one, each task that has been split off, each component of a
//! heterogeneous job. All calls of one update share one description, so that nothing is ever filled
//! in here. slurmctld holds its job and node locks for writing meanwhile.

use std::ffi::{c_char, c_int, c_void};
use std::time::Instant;

use super::cluster::Slurmctld;
use super::decision::{Decision, Kind};
use super::existing_job::{self, ExistingJob};
use super::job_submit::on_error;
use super::reference::Reference;
use super::sys::job_desc_msg_t;
use super::{SLURM_SUCCESS, authority, clock, counters, guard, job_desc, snapshot};
use crate::policy::Policy;
use crate::request::description::Message;
use crate::request::{ArraySpec, Request};
use crate::update::{self, Existing};
use crate::verdict::{Outcome, Verdict};

/// Up to 22.05 there is no message; what a fourth argument would point to is not ours.
///
/// # Safety
/// `desc` and `job` are slurmctld's own, as job_submit's interface has them.
#[cfg(not(slurm_23_02))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn job_modify(desc: *mut job_desc_msg_t, job: *mut c_void, submit_uid: u32) -> c_int {
    // SAFETY: by the interface.
    guard::run("job_modify", || on_error(submit_uid), || unsafe { modify(desc, job, submit_uid, None) })
}

/// From 23.02 on the message reaches the user.
///
/// # Safety
/// `desc`, `job` and `err_msg` are NULL or slurmctld's own, as job_submit's interface has them.
#[cfg(slurm_23_02)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn job_modify(
    desc: *mut job_desc_msg_t,
    job: *mut c_void,
    submit_uid: u32,
    err_msg: *mut *mut c_char,
) -> c_int {
    guard::run(
        "job_modify",
        || on_error(submit_uid),
        // SAFETY: NULL or slurmctld's own, by the interface.
        || unsafe { modify(desc, job, submit_uid, err_msg.as_mut()) },
    )
}

/// Judges one call.
///
/// # Safety
/// `desc` and `job` are NULL or slurmctld's own, complete and unchanged during the call.
unsafe fn modify(
    desc: *mut job_desc_msg_t,
    job: *mut c_void,
    submit_uid: u32,
    err_msg: Option<&mut *mut c_char>,
) -> c_int {
    if desc.is_null() {
        return SLURM_SUCCESS;
    }
    #[cfg(feature = "record-vectors")]
    // SAFETY: by the caller's promise.
    super::vector::log(Message::Update, submit_uid, &unsafe { job_desc::read(desc) });
    let Some(policy) = snapshot::current() else { return SLURM_SUCCESS };
    let started = Instant::now();
    counters::update();
    // SAFETY: by the caller's promise.
    let description = unsafe { job_desc::read(desc) };
    // A cap on running tasks comes as a bare number in the field of `--array`.
    let array = description.array_inx.clone().map(ArraySpec::new);
    let mut change = Request { array, ..description.request(Message::Update, submit_uid, false) };
    #[cfg(feature = "test-hooks")]
    super::job_submit::panic_on_request(&change);
    if change.changes_nothing_judged() {
        return SLURM_SUCCESS;
    }
    // SAFETY: by the caller's promise. No lock of the association cache is held here.
    let existing = unsafe { existing_job::read(job) };
    let info = existing.as_ref().map(ExistingJob::info);
    let label = info.as_ref().map(|i| i.label());
    let before = info.map(|i| i.request());
    change.privileged = authority::is_operator(submit_uid);
    if let Some(before) = before.as_ref().filter(|_| !change.privileged) {
        if !authority::may_change(submit_uid, before) {
            // Up to 22.05 slurmctld asks whose job it is only after this. Its own refusal says
            // nothing of the job, and so must we.
            return SLURM_SUCCESS;
        }
    }
    let verdict = judge(&policy, before.as_ref(), &change);
    if verdict.accepts() && verdict.failed.is_empty() && verdict.findings.iter().all(is_untold) {
        return SLURM_SUCCESS;
    }
    let after = before.as_ref().map(|b| b.merged_with(&change));
    let decision = Decision {
        policy: &policy,
        request: after.as_ref().unwrap_or(&change),
        verdict: &verdict,
        kind: Kind::Update,
        job: label,
        reference: Reference::next(),
        // `scontrol update` takes no options of SPANK's.
        justify_option: false,
        started,
    };
    let (answer, told) = decision.settle(err_msg);
    told.record(verdict);
    answer
}

fn judge<'a>(policy: &Policy, before: Option<&'a Request<'a>>, change: &Request<'a>) -> Verdict {
    let existing = before.map_or(Existing::Unreadable, Existing::Job);
    let partitions = change.partition.as_deref().filter(|p| !p.is_empty());
    let partitions = partitions.or_else(|| before.and_then(|b| b.partition.as_deref()));
    let cluster = Slurmctld::new(partitions, false);
    update::judge(policy, existing, change, &cluster, clock::today())
}

/// Whether a finding leaves things as they are.
fn is_untold(finding: &crate::verdict::Finding) -> bool {
    matches!(finding.outcome, Outcome::Standing | Outcome::Covered)
}
