//! What judging a request yields: findings, edits, and whether the request is accepted.
//!
//! A rule states a [`Complaint`], pure data; the judge adds what the policy says of it and makes a
//! [`Finding`]; `message` turns findings into words; the adapter applies the [`Edit`]s.

use std::fmt;

use crate::date::Date;
use crate::request::memory::Mb;
use crate::request::{Shape, TimeLimit};

/// One thing that is wrong with a request, as a rule states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// What is counted or checked: `cpus`, `output path`. With the rule and the place it names the
    /// finding, so that an update can be told to make it no worse.
    pub quantity: &'static str,
    /// What was asked, a clause that starts the sentence: `64 CPUs for 4 GPUs is 16 per GPU`.
    pub asked: String,
    /// Who allows what: the second half of the sentence. `None` where `asked` says it all.
    pub allowed: Option<Allowed>,
    /// How far the request is from what is allowed, in the quantity's own unit; 1 where it is a
    /// matter of yes or no.
    pub excess: u64,
    /// Long names of the options that caused it, the most telling first.
    pub options: Vec<&'static str>,
    /// What to type, drop or change instead. Each one alone puts the matter right.
    pub remedies: Vec<Remedy>,
    /// The errno that fits.
    pub errno: Errno,
    /// A rule whose finding on the same quantity of the same request says the same better: where
    /// there is one, this one is recorded and not told.
    pub told_by: Option<&'static str>,
}

/// What `asked` ends with where the complaint is that an option is not there.
const NOT_GIVEN: &str = " is not given";

/// `--time is not given`
pub fn not_given(option: &str) -> String {
    format!("--{option}{NOT_GIVEN}")
}

impl Complaint {
    /// Whether it is that an option is not there.
    pub fn is_of_absence(&self) -> bool {
        self.asked.ends_with(NOT_GIVEN)
    }
}

/// The second half of a finding's sentence: `partition gpu` `gives` `at most 8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Whose rule it is.
    pub place: Place,
    /// The verb for one place and for several: `("gives", "give")`.
    pub verb: (&'static str, &'static str),
    /// What is allowed.
    pub what: String,
}

/// Whose number or rule a finding quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// These partitions.
    Partitions(Vec<String>),
    /// GPUs of this type.
    GpuType(String),
    /// This QoS.
    Qos(String),
    /// The site as a whole.
    Site,
}

/// What puts a finding right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Type this option, in place of others where they are named.
    Use {
        /// Long name, without dashes.
        option: &'static str,
        /// Its value; empty for an option without one.
        value: String,
        /// Whether less or more than the value is right too.
        bound: Bound,
        /// Long names of options that have to go at the same time.
        instead_of: Vec<&'static str>,
    },
    /// Drop this option.
    Drop {
        /// Long name, without dashes.
        option: &'static str,
    },
    /// Take names out of a comma list.
    DropFromList {
        /// Long name of the option that holds the list.
        option: &'static str,
        /// The names to take out.
        names: Vec<String>,
    },
    /// Something that no option does, in words that follow "or".
    Change(String),
}

/// Whether a remedy's value is the only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Just this value.
    Exactly,
    /// This or less.
    OrLess,
    /// This or more.
    OrMore,
}

impl Remedy {
    /// `--option=value`, and nothing else will do.
    pub fn exactly(option: &'static str, value: impl Into<String>) -> Remedy {
        Remedy::Use { option, value: value.into(), bound: Bound::Exactly, instead_of: Vec::new() }
    }

    /// `--option=value or less`.
    pub fn or_less(option: &'static str, value: impl Into<String>) -> Remedy {
        Remedy::Use { option, value: value.into(), bound: Bound::OrLess, instead_of: Vec::new() }
    }

    /// `--option=value or more`.
    pub fn or_more(option: &'static str, value: impl Into<String>) -> Remedy {
        Remedy::Use { option, value: value.into(), bound: Bound::OrMore, instead_of: Vec::new() }
    }

    /// The same, with options that have to go.
    pub fn instead_of(mut self, options: &[&'static str]) -> Remedy {
        if let Remedy::Use { instead_of, .. } = &mut self {
            instead_of.extend_from_slice(options);
        }
        self
    }
}

/// The errno a refusal ends in, by Slurm's names (slurm_errno.h). None of those that clients retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errno {
    /// `ESLURM_ACCESS_DENIED`: "Access/permission denied".
    AccessDenied,
    /// `ESLURM_INVALID_PARTITION_NAME`.
    InvalidPartitionName,
    /// `ESLURM_INVALID_QOS`.
    InvalidQos,
    /// `ESLURM_INVALID_ACCOUNT`.
    InvalidAccount,
    /// `ESLURM_INVALID_GRES`.
    InvalidGres,
    /// `ESLURM_INVALID_TIME_LIMIT`.
    InvalidTimeLimit,
    /// `ESLURM_MISSING_TIME_LIMIT`.
    MissingTimeLimit,
    /// `ESLURM_INVALID_NODE_COUNT`.
    InvalidNodeCount,
    /// `ESLURM_ACCOUNTING_POLICY`.
    AccountingPolicy,
}

/// Order of findings in a message: who may, where, what, for how long, and habits last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Who may use what.
    Entitlement,
    /// Where it runs.
    Partition,
    /// GPUs.
    Gpu,
    /// CPUs and whole nodes.
    Cpu,
    /// Memory.
    Memory,
    /// Time.
    Time,
    /// Habits: logs, exports, dependencies.
    Habit,
}

/// A complaint with what the policy makes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Name of the rule or limit.
    pub rule: String,
    /// Where it stands in a message.
    pub topic: Topic,
    /// What is wrong.
    pub complaint: Complaint,
    /// What follows from it.
    pub outcome: Outcome,
    /// Line of the policy file that the rule stands on, from 1; 0 where there is none.
    pub policy_line: usize,
    /// A warning that will be a refusal from this day on.
    pub enforce_from: Option<Date>,
    /// The site's own sentence.
    pub help: Option<String>,
    /// Whether, and with how long a reason, a justification would lift it.
    pub justify: Option<Justify>,
}

/// What a written reason must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Justify {
    /// Characters it has at least.
    pub min_length: usize,
}

/// What follows from a finding, the gravest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The request is refused.
    Refused,
    /// The user reads it, the request passes.
    Warned,
    /// Recorded only: the rule is in audit mode.
    Audited,
    /// Lifted by the user's written reason.
    Justified,
    /// Lifted because root or SlurmUser asks.
    Root,
    /// Lifted by an exemption: its written reason.
    Exempt(String),
    /// Told by another rule's finding, no milder than this one would be.
    Covered,
    /// An update that leaves things no worse than the job already is.
    Standing,
}

/// A value that Sluice fills in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// `--cpus-per-gpu`.
    CpusPerGpu(u64),
    /// `--mem-per-gpu`, MB.
    MemoryPerGpu(u64),
    /// `--requeue`.
    Requeue,
    /// `--qos`.
    Qos(String),
}

impl Edit {
    /// The option that would have said the same.
    pub fn option(&self) -> &'static str {
        match self {
            Edit::CpusPerGpu(_) => "cpus-per-gpu",
            Edit::MemoryPerGpu(_) => "mem-per-gpu",
            Edit::Requeue => "requeue",
            Edit::Qos(_) => "qos",
        }
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Edit::CpusPerGpu(n) => write!(f, "--cpus-per-gpu={n}"),
            Edit::MemoryPerGpu(mb) => write!(f, "--mem-per-gpu={}", Mb(*mb)),
            Edit::Requeue => write!(f, "--requeue"),
            Edit::Qos(name) => write!(f, "--qos={name}"),
        }
    }
}

/// An edit with the rule that wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedEdit {
    /// Name of the rule.
    pub rule: &'static str,
    /// The value.
    pub edit: Edit,
    /// False in audit mode: recorded, not made.
    pub made: bool,
}

/// The whole judgement of one request.
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// All findings, in the order of a message.
    pub findings: Vec<Finding>,
    /// What Sluice fills in, if the request is accepted.
    pub edits: Vec<PlannedEdit>,
    /// The written reason that lifted findings.
    pub justification: Option<String>,
    /// What could not be known and was asked for: `account`, `qos`, `partition`.
    pub unknown: Vec<&'static str>,
    /// Rules that failed on this request (a bug of ours): caught, told, and answered by `on_error`.
    pub failed: Vec<&'static str>,
    /// Whether a failure refuses, by `on_error`.
    pub failure_refuses: bool,
    /// How an accepted request is understood, where the site wants that told (`confirm`).
    pub understood: Option<Box<Understood>>,
}

/// The shape of an accepted request, with what was filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Understood {
    /// The partitions that it may run in.
    pub partitions: Vec<String>,
    /// What it adds up to in the first of them.
    pub shape: Shape,
    /// Whether it takes whole nodes.
    pub whole_nodes: bool,
    /// Its time limit.
    pub time_limit: TimeLimit,
    /// Tasks of its array.
    pub array: Option<u64>,
}

impl Verdict {
    /// Whether the request is accepted.
    pub fn accepts(&self) -> bool {
        !self.failure_refuses && !self.refusals().any(|_| true)
    }

    /// The findings that refuse.
    pub fn refusals(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|f| f.outcome == Outcome::Refused)
    }

    /// The findings that the user only reads.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|f| f.outcome == Outcome::Warned)
    }

    /// The edits to make; none on a refusal.
    pub fn edits_to_make(&self) -> impl Iterator<Item = &Edit> {
        let accepts = self.accepts();
        self.edits.iter().filter(move |e| accepts && e.made).map(|e| &e.edit)
    }

    /// The errno of a refusal: that of the first finding.
    pub fn errno(&self) -> Option<Errno> {
        match self.refusals().next() {
            Some(finding) => Some(finding.complaint.errno),
            None => self.failure_refuses.then_some(Errno::AccessDenied),
        }
    }

    /// Whether nothing at all is to be told or recorded.
    pub fn is_plain(&self) -> bool {
        self.findings.is_empty() && self.edits.is_empty() && self.failed.is_empty()
    }
}
