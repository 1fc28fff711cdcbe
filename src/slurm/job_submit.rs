//! `job_submit`: read, judge, write.
//!
//! slurmctld holds locks of its own during this call, and from 23.02 on several run at once. It does
//! no I/O, takes no lock of Sluice's, and touches nothing but the job description and the message.

use std::ffi::{c_char, c_int};
use std::time::Instant;

use super::authority::{is_operator, is_root};
use super::cluster::Slurmctld;
use super::decision::{Decision, Kind, code, number};
use super::reference::Reference;
use super::sys::{self, job_desc_msg_t};
use super::{SLURM_SUCCESS, admin_comment, clock, counters, decision, guard, job_desc, log, snapshot};
use crate::cluster::Cluster;
use crate::judge::{accepted, judge};
use crate::policy::OnError;
#[cfg(feature = "test-hooks")]
use crate::request::Request;
use crate::request::description::Message;
use crate::verdict::{Edit, Errno, Verdict};

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

/// Judges one submission.
///
/// # Safety
/// As for [`job_submit`], with `err_msg` made a reference.
unsafe fn submit(desc: *mut job_desc_msg_t, submit_uid: u32, err_msg: Option<&mut *mut c_char>) -> c_int {
    if desc.is_null() {
        return SLURM_SUCCESS;
    }
    #[cfg(feature = "record-vectors")]
    // SAFETY: slurmctld's own, complete and unchanged during the call.
    super::vector::log(Message::Submit, submit_uid, &unsafe { job_desc::read(desc) });
    let Some(policy) = snapshot::current() else { return SLURM_SUCCESS };
    let started = Instant::now();
    counters::submission();
    let (verdict, lineage, reference, answer, told) = {
        // SAFETY: slurmctld's own, complete and unchanged while this block lasts.
        let description = unsafe { job_desc::read(desc) };
        if let Some(field) = description.too_long() {
            // As slurmctld will answer: said here, it costs nothing to find out.
            log::info(&format!("refused uid={} for the length of {field}", description.user_id));
            return number(sys::ESLURM_PATHNAME_TOO_LONG);
        }
        let privileged = is_root(description.user_id) && is_root(submit_uid);
        let justify_option = description.spank;
        let request = description.request(Message::Submit, submit_uid, privileged);
        #[cfg(feature = "test-hooks")]
        panic_on_request(&request);
        let cluster = Slurmctld::new(request.partition.as_deref(), justify_option);
        let verdict = judge(&policy, &request, &cluster, clock::today());
        if verdict.accepts() {
            accepted(&policy, &request, &cluster, clock::today());
        }
        let lineage = admin_comment::lineage(&request);
        // A lineage is there to be found again, also of a job that nothing else is to be said of.
        if verdict.is_plain() && (lineage.is_none() || request.test_only) {
            decision::confirm(&verdict, &policy.site, err_msg);
            return SLURM_SUCCESS;
        }
        let reference = Reference::next();
        let decision = Decision {
            policy: &policy,
            request: &request,
            verdict: &verdict,
            kind: if request.test_only { Kind::Test } else { Kind::Submit },
            job: None,
            reference,
            justify_option: cluster.has_justify_option(),
            started,
        };
        let (answer, told) = decision.settle(err_msg);
        (verdict, lineage, reference, answer, told)
    };
    if verdict.accepts() {
        // SAFETY: everything borrowed from the description ended with the block above.
        unsafe { write_edits(&mut *desc, &verdict, lineage.as_deref(), reference) };
    }
    told.record(verdict);
    answer
}

/// Writes what an accepted submission gets filled in.
///
/// # Safety
/// The description is slurmctld's own and nothing borrows from it.
unsafe fn write_edits(
    desc: &mut job_desc_msg_t,
    verdict: &Verdict,
    lineage: Option<&str>,
    reference: Reference,
) {
    let edits: Vec<&Edit> = verdict.edits_to_make().collect();
    for edit in edits {
        // SAFETY: by the caller's promise.
        if !unsafe { job_desc::apply(desc, edit) } {
            log::error(&format!("could not fill in {edit} ref={reference}"));
        }
    }
    if let Some(text) = admin_comment::text(verdict, lineage, reference) {
        // SAFETY: by the caller's promise.
        unsafe { admin_comment::append(&mut desc.admin_comment, &text) };
    }
}

/// What a request gets that Sluice itself fails on. Never a refusal for root, SlurmUser or operators.
pub(super) fn on_error(submit_uid: u32) -> c_int {
    counters::failure();
    let refuse = || {
        snapshot::current().is_some_and(|p| p.site.on_error == OnError::Refuse) && !is_operator(submit_uid)
    };
    let refused = guard::run("on_error", || false, refuse);
    if refused { code(Errno::AccessDenied) } else { SLURM_SUCCESS }
}

/// A panic on demand, to prove the guard: only in builds made for tests.
#[cfg(feature = "test-hooks")]
#[expect(clippy::panic, reason = "this is what it is for")]
pub(super) fn panic_on_request(request: &Request<'_>) {
    if request.name.as_deref() == Some("sluice-test-panic") {
        panic!("asked for by a test");
    }
}
