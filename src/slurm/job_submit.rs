//! `job_submit` and `job_modify`: read, judge, write.
//!
//! slurmctld holds locks of its own during these calls, and from 23.02 on several run at once. They
//! do no I/O but the lines in slurmctld's log, take no lock of Sluice's, and touch nothing but the job
//! description and the message.

use std::ffi::{c_char, c_int, c_void};

use super::cluster::Slurmctld;
use super::reference::Reference;
use super::sys::{self, job_desc_msg_t};
use super::{SLURM_SUCCESS, admin_comment, clock, guard, job_desc, log, snapshot, strings};
use crate::cluster::Cluster;
use crate::judge::{accepted, judge};
use crate::message::{self, Context};
use crate::policy::{OnError, Policy};
use crate::request::Request;
use crate::request::description::Message;
use crate::verdict::{Edit, Errno, Verdict};
use crate::words;

/// Called for every submission: sbatch, srun, salloc, `--test-only`, scrontab, slurmrestd; for each
/// component of a heterogeneous job.
///
/// # Safety
/// `desc` and `err_msg` are NULL or slurmctld's own, as job_submit's interface has them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn job_submit(
    desc: *mut job_desc_msg_t,
    submit_uid: u32,
    err_msg: *mut *mut c_char,
) -> c_int {
    guard::run(
        "job_submit",
        || on_error(submit_uid),
        // SAFETY: NULL or slurmctld's own, by the interface.
        || unsafe { submit(desc, submit_uid, err_msg.as_mut()) },
    )
}

/// Called for every `scontrol update`, hold and release, for each job record that it touches.
/// Up to 22.05 there is no message; what a fourth argument would point to is not ours.
///
/// # Safety
/// `desc` and `job` are slurmctld's own, as job_submit's interface has them.
#[cfg(not(slurm_23_02))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn job_modify(desc: *mut job_desc_msg_t, job: *mut c_void, submit_uid: u32) -> c_int {
    guard::run("job_modify", || SLURM_SUCCESS, || modify(desc, job, submit_uid, None))
}

/// Called for every `scontrol update`, hold and release, for each job record that it touches.
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
        || SLURM_SUCCESS,
        // SAFETY: NULL or slurmctld's own, by the interface.
        || modify(desc, job, submit_uid, unsafe { err_msg.as_mut() }),
    )
}

/// Judges one submission.
///
/// # Safety
/// As for [`job_submit`], with `err_msg` made a reference.
unsafe fn submit(desc: *mut job_desc_msg_t, submit_uid: u32, err_msg: Option<&mut *mut c_char>) -> c_int {
    if desc.is_null() {
        return SLURM_SUCCESS;
    }
    let Some(policy) = snapshot::current() else { return SLURM_SUCCESS };
    let reference = Reference::next();
    let verdict = {
        // SAFETY: slurmctld's own, complete and unchanged while this block lasts.
        let description = unsafe { job_desc::read(desc) };
        if let Some(field) = description.too_long() {
            // As slurmctld will answer: said here, it costs nothing to find out.
            log::info(&format!("refused uid={} for the length of {field}", description.user_id));
            return number(sys::ESLURM_PATHNAME_TOO_LONG);
        }
        let privileged = is_privileged(description.user_id) && is_privileged(submit_uid);
        let request = description.request(Message::Submit, submit_uid, privileged);
        #[cfg(feature = "test-hooks")]
        panic_on_request(&request);
        let cluster = Slurmctld::new(request.partition.as_deref());
        let verdict = judge(&policy, &request, &cluster, clock::today());
        if verdict.accepts() {
            accepted(&policy, &request, &cluster, clock::today());
        }
        if verdict.is_plain() {
            return SLURM_SUCCESS;
        }
        tell(&verdict, &policy, &request, &cluster, reference, err_msg);
        verdict
    };
    match verdict.errno() {
        Some(errno) => code(errno),
        None => {
            // SAFETY: everything borrowed from the description ended with the block above.
            unsafe { write_edits(&mut *desc, &verdict, reference) };
            SLURM_SUCCESS
        }
    }
}

/// Judges one update: for now every update passes.
fn modify(
    _desc: *mut job_desc_msg_t,
    _job: *mut c_void,
    _submit_uid: u32,
    _err_msg: Option<&mut *mut c_char>,
) -> c_int {
    SLURM_SUCCESS
}

/// The message for the user, and the line for the log.
fn tell(
    verdict: &Verdict,
    policy: &Policy,
    request: &Request<'_>,
    cluster: &dyn Cluster,
    reference: Reference,
    err_msg: Option<&mut *mut c_char>,
) {
    let reference = reference.to_string();
    let context = Context {
        site: &policy.site,
        subject: "job",
        reference: Some(&reference),
        justify_option: cluster.has_justify_option(),
    };
    let lines = message::lines(verdict, &context);
    if let Some(err_msg) = err_msg.filter(|_| !lines.is_empty()) {
        // SAFETY: the message is slurmctld's: NULL, or what an earlier plugin wrote with Slurm's
        // allocator.
        unsafe { strings::append(err_msg, c"\n", &lines.join("\n")) };
    }
    if !verdict.failed.is_empty() {
        log::error(&format!(
            "failed on uid={} rules={} ref={reference}",
            request.user_id,
            verdict.failed.join(",")
        ));
    }
    if !verdict.accepts() {
        let mut rules: Vec<&str> = verdict.refusals().map(|f| f.rule.as_str()).collect();
        rules.dedup();
        log::info(&format!(
            "refused uid={} partition={} rules={} ref={reference}",
            request.user_id,
            request.partition.as_deref().map_or_else(|| "-".to_owned(), words::shown),
            rules.join(",")
        ));
    }
}

/// Writes what an accepted submission gets filled in.
///
/// # Safety
/// The description is slurmctld's own and nothing borrows from it.
unsafe fn write_edits(desc: &mut job_desc_msg_t, verdict: &Verdict, reference: Reference) {
    let edits: Vec<&Edit> = verdict.edits_to_make().collect();
    for edit in edits {
        // SAFETY: by the caller's promise.
        if !unsafe { job_desc::apply(desc, edit) } {
            log::error(&format!("could not fill in {edit} ref={reference}"));
        }
    }
    if let Some(text) = admin_comment::text(verdict, reference) {
        // SAFETY: by the caller's promise.
        unsafe { admin_comment::append(&mut desc.admin_comment, &text) };
    }
}

/// What a submission gets that Sluice itself fails on.
fn on_error(submit_uid: u32) -> c_int {
    let refuse = || snapshot::current().is_some_and(|p| p.site.on_error == OnError::Refuse);
    let refused = !is_privileged(submit_uid) && guard::run("on_error", || false, refuse);
    if refused { code(Errno::AccessDenied) } else { SLURM_SUCCESS }
}

/// Root or SlurmUser, as whom slurmctld runs.
fn is_privileged(uid: u32) -> bool {
    // SAFETY: geteuid only returns a number.
    uid == 0 || uid == unsafe { libc::geteuid() }
}

/// The errno by Slurm's number for it.
fn code(errno: Errno) -> c_int {
    number(match errno {
        Errno::AccessDenied => sys::ESLURM_ACCESS_DENIED,
        Errno::InvalidPartitionName => sys::ESLURM_INVALID_PARTITION_NAME,
        Errno::InvalidQos => sys::ESLURM_INVALID_QOS,
        Errno::InvalidAccount => sys::ESLURM_INVALID_ACCOUNT,
        Errno::InvalidGres => sys::ESLURM_INVALID_GRES,
        Errno::InvalidTimeLimit => sys::ESLURM_INVALID_TIME_LIMIT,
        Errno::MissingTimeLimit => sys::ESLURM_MISSING_TIME_LIMIT,
        Errno::InvalidNodeCount => sys::ESLURM_INVALID_NODE_COUNT,
        Errno::AccountingPolicy => sys::ESLURM_ACCOUNTING_POLICY,
    })
}

/// An errno as a function returns it; `SLURM_ERROR` were it too large for that.
fn number(errno: sys::slurm_err_t) -> c_int {
    c_int::try_from(errno).unwrap_or(-1)
}

/// A panic on demand, to prove the guard: only in builds made for tests.
#[cfg(feature = "test-hooks")]
#[expect(clippy::panic, reason = "this is what it is for")]
fn panic_on_request(request: &Request<'_>) {
    if request.name.as_deref() == Some("sluice-test-panic") {
        panic!("asked for by a test");
    }
}
