//! What a policy would have done to past jobs, from `sacct` output and from Sluice's own records.
//!
//! A source ([`sacct`], [`records`]) yields a [`Past`]: the request as far as it is known, twice. Once
//! with what is proved, and what is left open at its most harmless; once with what is left open at its
//! worst. What the policy says of the first it would have said; what it says of the second alone,
//! nobody can tell. [`run`] reads in one thread and judges in the others, [`tally`] counts, and a
//! [`Report`] is what remains. Jobs that were refused at the time are in no accounting.

mod dealer;
mod evidence;
mod judged;
mod read;
mod records;
mod report;
mod run;
mod sacct;
mod submit_line;
mod summary;
mod tally;
mod time;
mod worker;

use std::collections::HashMap;

use crate::policy::Policy;
use crate::request::Request;
use crate::submit_line::Series;

pub use report::{ChangeLine, Changes, ExampleLine, Line, Named, Passed, PolicyLine, Report, RuleLine};
pub use run::{Failure, Source, run};
pub use sacct::FORMAT;

/// What a replay is made with.
pub struct Options<'a> {
    /// The policy in question.
    pub policy: &'a Policy,
    /// The policy that it is compared with.
    pub against: Option<&'a Policy>,
    /// Whose clients read command lines.
    pub series: Series,
    /// First day of submission, `2026-11-30`; days compare as text.
    pub since: Option<String>,
    /// Last day of submission, inclusive.
    pub until: Option<String>,
    /// Threads that judge; at least one.
    pub workers: usize,
    /// uid of a login name, where a source does not tell it.
    pub uid: &'a (dyn Fn(&str) -> Option<u32> + Sync),
    /// Login name of a uid, for records.
    pub name: &'a (dyn Fn(u32) -> Option<String> + Sync),
    /// Told of each piece that was read, in bytes.
    pub progress: &'a dyn Fn(u64),
}

/// One submission of the past.
#[derive(Clone, Debug)]
pub struct Past {
    /// What is proved, and what is left open at its most harmless.
    pub least: Request<'static>,
    /// What is left open at its worst; `None` where nothing is open.
    pub most: Option<Request<'static>>,
    /// What Slurm used where the request names nothing.
    pub effective: Effective,
    /// The line may be followed by a script's options, so that what is not stated may have been.
    pub partial: bool,
    /// Rules that ask for what is not known of this submission, and at no time can be told.
    pub open_rules: Vec<&'static str>,
    /// No GPU is shown. Where the site does not account for GPUs that proves nothing.
    pub no_gpus_shown: bool,
}

/// What accounting says that a job got.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effective {
    /// Login name.
    pub user: Option<String>,
    /// Partition.
    pub partition: Option<String>,
    /// Account.
    pub account: Option<String>,
    /// QoS.
    pub qos: Option<String>,
}

/// A rule that asks for what no source tells, with the reason.
pub const NEVER_TOLD: [(&str, &str); 1] =
    [("duplicate-submission", "scripts and arguments of earlier jobs are not in accounting")];

/// Small numbers for names, so that counting a job copies no text.
#[derive(Clone, Debug, Default)]
pub struct Names {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    /// The number of a name.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The name of a number.
    pub fn name(&self, number: u32) -> &str {
        usize::try_from(number).ok().and_then(|n| self.names.get(n)).map_or("", String::as_str)
    }
}
