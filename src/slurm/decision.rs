//! What becomes of a verdict: the user's message, the errno, and the record that the helper writes.

use std::ffi::{c_char, c_int};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::records::{self, Event, Line};
use super::reference::Reference;
use super::{SLURM_SUCCESS, strings, sys};
use crate::message::{self, Context};
use crate::policy::{Policy, Site};
use crate::record::Circumstances;
use crate::request::Request;
use crate::verdict::{Errno, Verdict};
use crate::words;

/// What was decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A submission.
    Submit,
    /// `--test-only`, or a program that asks when a job would run.
    Test,
    /// `scontrol update`.
    Update,
}

/// A verdict that is not a plain accept, with what it was given on.
pub struct Decision<'a> {
    /// The policy in force.
    pub policy: &'a Policy,
    /// What was judged; for an update the job as it would be.
    pub request: &'a Request<'a>,
    /// What was decided.
    pub verdict: &'a Verdict,
    /// What was decided on.
    pub kind: Kind,
    /// The job of an update, as users call it.
    pub job: Option<String>,
    /// Names the decision.
    pub reference: Reference,
    /// Whether `--justify` is there for the user to type.
    pub justify_option: bool,
    /// When the hook was called.
    pub started: Instant,
}

/// A decision that has been told, and is still to be recorded.
#[must_use]
pub struct Told {
    line: Option<Line>,
    circumstances: Circumstances,
    policy: u64,
    request: Request<'static>,
}

impl Told {
    /// Hands it to the helper, with the verdict that it came to.
    pub fn record(self, verdict: Verdict) {
        let Told { line, circumstances, policy, request } = self;
        records::hand_in(Event { line, circumstances, policy, request, verdict });
    }
}

impl Decision<'_> {
    /// Tells the user, and returns what slurmctld gets and what is to be recorded.
    pub fn settle(self, err_msg: Option<&mut *mut c_char>) -> (c_int, Told) {
        let reference = self.reference.to_string();
        if let Some(err_msg) = err_msg {
            let lines = message::lines(self.verdict, &self.context(&reference));
            if !lines.is_empty() {
                // SAFETY: the message is slurmctld's: NULL, or what an earlier plugin wrote with
                // Slurm's allocator.
                unsafe { strings::append(err_msg, c"\n", &lines.join("\n")) };
            }
        }
        let line = self.line(&reference);
        let answer = self.verdict.errno().map_or(SLURM_SUCCESS, code);
        let (policy, request) = (self.policy.hash, self.request.kept());
        (answer, Told { line, circumstances: self.circumstances(reference), policy, request })
    }

    fn context<'c>(&'c self, reference: &'c str) -> Context<'c> {
        Context {
            site: &self.policy.site,
            subject: if self.kind == Kind::Update { "change" } else { "job" },
            reference: Some(reference),
            justify_option: self.justify_option,
        }
    }

    fn circumstances(self, reference: String) -> Circumstances {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Circumstances {
            reference,
            time: since_1970.as_secs(),
            kind: match self.kind {
                Kind::Submit => "submit",
                Kind::Test => "test",
                Kind::Update => "update",
            },
            job: self.job,
            nanoseconds: u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX),
        }
    }

    /// The line in slurmctld's log: for refusals and failures only. Of a refused update up to 22.05
    /// it is all that anybody is told.
    fn line(&self, reference: &str) -> Option<Line> {
        let (uid, verdict) = (self.request.user_id, self.verdict);
        if verdict.accepts() && verdict.failed.is_empty() {
            return None;
        }
        let what = match (self.kind, &self.job) {
            (Kind::Update, Some(job)) => format!("update of job {job}"),
            (Kind::Update, None) => "update of a job that cannot be read".to_owned(),
            (Kind::Test, _) => "test".to_owned(),
            (Kind::Submit, _) => "submission".to_owned(),
        };
        let partition = self.request.partition.as_deref().map_or_else(|| "-".to_owned(), words::shown);
        let by = match self.request.submit_uid {
            by if by == uid => String::new(),
            by => format!(" by={by}"),
        };
        let failed = match verdict.failed.as_slice() {
            [] => String::new(),
            rules => format!(" FAILED rules={}", rules.join(",")),
        };
        let (word, told) = match (verdict.accepts(), cfg!(slurm_23_02)) {
            (true, _) => ("accepted", String::new()),
            (false, false) if self.kind == Kind::Update => {
                ("refused", format!(": {}", message::one_line(verdict)))
            }
            (false, _) => {
                let mut rules: Vec<&str> = verdict.refusals().map(|f| f.rule.as_str()).collect();
                rules.dedup();
                ("refused", format!(" rules={}", rules.join(",")))
            }
        };
        let text = format!("{word} {what} uid={uid}{by} partition={partition} ref={reference}{failed}{told}");
        Some(Line { uid, text, is_error: !verdict.failed.is_empty() })
    }
}

/// Tells what is told of a plain accept, which leaves no record: its shape, where the site wants that.
pub fn confirm(verdict: &Verdict, site: &Site, err_msg: Option<&mut *mut c_char>) {
    if let Some(err_msg) = err_msg.filter(|_| verdict.understood.is_some()) {
        let context = Context { site, subject: "job", reference: None, justify_option: false };
        // SAFETY: the message is slurmctld's: NULL, or what an earlier plugin wrote with Slurm's
        // allocator.
        unsafe { strings::append(err_msg, c"\n", &message::lines(verdict, &context).join("\n")) };
    }
}

/// The errno by Slurm's number for it.
pub fn code(errno: Errno) -> c_int {
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
pub fn number(errno: sys::slurm_err_t) -> c_int {
    c_int::try_from(errno).unwrap_or(-1)
}
