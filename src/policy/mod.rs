//! The compiled policy: immutable, indexed, nothing left to parse when a job is submitted.
//!
//! `raw` is the file as written, `load` turns one into the other and reports every error at once,
//! this module and its children are what the rules read.

pub mod condition;
pub mod diagnostic;
pub mod duration;
pub mod facts;
pub mod glob;
pub mod limit;
pub mod load;
pub mod names;
pub mod raw;
pub mod resolve;
#[cfg(test)]
pub mod schema;
mod strict;
pub mod values;

use std::fmt;
use std::path::PathBuf;

use crate::date::Date;
use crate::rules::{Check, RuleInfo};
use crate::verdict::Justify;

pub use condition::When;
pub use facts::{Facts, GpuFacts, Owner, PartitionFacts, PerGpu, QosFacts};
pub use limit::Limit;
pub use load::{Loaded, load, load_bytes};
pub use names::{Groups, Names, Users};

/// The example that the command judges by where no policy is found.
pub const EXAMPLE: &str = include_str!("../../examples/example.toml");

/// A whole policy.
#[derive(Debug)]
pub struct Policy {
    /// `[site]`.
    pub site: Site,
    /// Partitions, GPU types and QoS.
    pub facts: Facts,
    /// The rules that the file names, in the order of the rule table.
    pub rules: Vec<RuleSet>,
    /// The limits in file order.
    pub limits: Vec<Limit>,
    /// The exemptions in file order.
    pub exempts: Vec<Exempt>,
    /// `index_vars`: variables that must not contradict a task's place in its array.
    pub index_vars: Vec<String>,
    /// `off` of `[compile]`: the variables that `--compile=off` sets, sorted by name.
    pub compile_off: Vec<(String, String)>,
    /// A digest of the file's text: says which policy was in force.
    pub hash: u64,
}

/// `[site]`.
#[derive(Clone, Debug)]
pub struct Site {
    /// Begins every refusal.
    pub name: String,
    /// Ends every refusal.
    pub docs: Option<String>,
    /// Ends every refusal.
    pub contact: Option<String>,
    /// Ceiling for every rule.
    pub mode: Mode,
    /// What happens to a job that Sluice itself fails on.
    pub on_error: OnError,
    /// Root and SlurmUser are judged and recorded, never refused.
    pub exempt_root: bool,
    /// Tell the understood shape of every accepted job.
    pub confirm: bool,
    /// Where decisions are recorded.
    pub records: Records,
}

/// `records`: `"syslog"` or the absolute path of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Records {
    /// The system log.
    #[default]
    Syslog,
    /// A file of one record a line.
    File(PathBuf),
}

/// How far a rule goes; ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Not judged.
    Off,
    /// Judged and recorded.
    Audit,
    /// Told to the user.
    Warn,
    /// Refused.
    #[default]
    Enforce,
}

/// `on_error`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// The job passes.
    #[default]
    Allow,
    /// The job is refused, unless it is root's.
    Refuse,
}

/// What the policy says of one rule or limit, whatever it checks.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `mode`.
    pub mode: Mode,
    /// `enforce_from`: until the day before, a warning at most.
    pub enforce_from: Option<Date>,
    /// `justify`.
    pub justify: Option<Justify>,
    /// `help`.
    pub help: Option<String>,
    /// `when`.
    pub when: Option<When>,
    /// Line in the policy file, from 1.
    pub line: usize,
}

impl Settings {
    /// The mode in force today under the site's ceiling, and the day from which a warning becomes
    /// a refusal where that is why it is one.
    pub fn effective(&self, ceiling: Mode, today: Date) -> (Mode, Option<Date>) {
        let mode = self.mode.min(ceiling);
        match self.enforce_from {
            Some(from) if today < from && mode == Mode::Enforce => (Mode::Warn, Some(from)),
            _ => (mode, None),
        }
    }
}

/// All entries of one rule. The first whose `when` matches applies.
pub struct RuleSet {
    /// The rule.
    pub info: &'static RuleInfo,
    /// `[rule.NAME]`, or each `[[rule.NAME]]` in file order.
    pub entries: Vec<RuleEntry>,
}

/// One `[rule.NAME]`.
pub struct RuleEntry {
    /// What every rule has.
    pub settings: Settings,
    /// The rule with its own options.
    pub check: Box<dyn Check>,
}

impl fmt::Debug for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings: Vec<_> = self.entries.iter().map(|e| &e.settings).collect();
        f.debug_struct("RuleSet").field("name", &self.info.name).field("entries", &settings).finish()
    }
}

/// `[[exempt]]`.
#[derive(Clone, Debug)]
pub struct Exempt {
    /// Rule and limit names.
    pub rules: Vec<String>,
    /// Whom or what it covers; every key that is given must match.
    pub when: When,
    /// The last day, inclusive.
    pub until: Date,
    /// Why.
    pub reason: String,
    /// Line in the policy file, from 1.
    pub line: usize,
}
