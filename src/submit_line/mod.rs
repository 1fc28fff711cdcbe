//! What sbatch, srun and salloc make of a command line: the request that slurmctld would be sent,
//! and what the client itself refuses. Pure: files, users and the environment are handed in.
//!
//! The clients' own steps, in their own order: the script's `#SBATCH` lines, then environment
//! variables, then the command line (`passes`); then what they check and fill in themselves
//! (`conflict`, `describe`, `gres`). The result is a job description in Slurm's own terms,
//! so that from there on every door reads the same.
//!
//! Not done, because it needs the cluster's configuration or other files: `--nodefile` and
//! `SLURM_HOSTFILE`, `#PBS` lines, cli_filter plugins, GRES names that slurm.conf does not know,
//! DefCpuPerGPU. Not done, because nobody would miss it: host lists are counted and not rewritten
//! (22.05 cuts a list that is longer than the nodes asked for), an arbitrary distribution sets no
//! number of tasks, `--hint` of one component does not reach the next by `SLURM_HINT`, and numbers
//! beyond 32 bits are not cut off.

mod advice;
mod binding;
mod chosen;
mod conflict;
mod controller;
mod describe;
pub mod environment;
pub mod fix;
mod getopt;
mod gres;
mod hostlist;
mod moment;
pub mod options;
mod passes;
mod script;
mod value;

use std::fmt;

use crate::request::Request;

pub use advice::of_script as script_advice;
pub use passes::{CommandLine, Script, World};
pub use script::refusal as script_refusal;

/// The commands that submit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// A script for later.
    Sbatch,
    /// A command now.
    Srun,
    /// An allocation now.
    Salloc,
}

impl Command {
    /// By its name, or by a path that ends in it.
    pub fn named(path: &str) -> Option<Command> {
        match path.rsplit('/').next() {
            Some("sbatch") => Some(Command::Sbatch),
            Some("srun") => Some(Command::Srun),
            Some("salloc") => Some(Command::Salloc),
            _ => None,
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Command::Sbatch => "sbatch",
            Command::Srun => "srun",
            Command::Salloc => "salloc",
        })
    }
}

/// The series of Slurm whose clients are known. What lies between reads like the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Series {
    /// 22.05.
    V22_05,
    /// 24.11.
    V24_11,
    /// 26.05.
    V26_05,
}

impl Series {
    /// The newest.
    pub const LATEST: Series = Series::V26_05;

    /// The one after it.
    pub fn next(self) -> Option<Series> {
        match self {
            Series::V22_05 => Some(Series::V24_11),
            Series::V24_11 => Some(Series::V26_05),
            Series::V26_05 => None,
        }
    }

    /// The series that a version such as `24.11.5` or `23.02` reads like: the newest that is not
    /// newer; `None` where the text is no version, or one before 22.05.
    pub fn of_version(version: &str) -> Option<Series> {
        let mut numbers = version.split('.').map(str::parse::<u32>);
        let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        match (major, minor) {
            (major, minor) if (major, minor) >= (26, 5) => Some(Series::V26_05),
            (major, minor) if (major, minor) >= (24, 11) => Some(Series::V24_11),
            (major, minor) if (major, minor) >= (22, 5) => Some(Series::V22_05),
            _ => None,
        }
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Series::V22_05 => "22.05",
            Series::V24_11 => "24.11",
            Series::V26_05 => "26.05",
        })
    }
}

/// Where an option was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the script.
    Script {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
    },
    /// On the command line: index in `argv`, where 0 is the command.
    Argument(usize),
    /// In the environment.
    Environment(&'static str),
}

/// What the client says of a submission before slurmctld hears of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind.
    pub kind: ProblemKind,
    /// Long name of the option concerned, where it is known.
    pub option: Option<&'static str>,
    /// Where it is written.
    pub place: Option<Place>,
    /// In the client's own words, without its name in front.
    pub message: String,
}

/// Kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The client has no such option.
    Unknown,
    /// An abbreviation of several options.
    Ambiguous,
    /// A value is needed and not there.
    MissingValue,
    /// A value is there and not wanted.
    UnwantedValue,
    /// The client does not take the value.
    BadValue,
    /// Options that the client does not take together.
    Conflict,
    /// The script as a whole.
    Script,
    /// slurmctld refuses it, whatever a policy says.
    Controller,
    /// The command prints something and submits nothing.
    NoSubmission,
    /// Not refused, but worth knowing.
    Note,
}

impl Problem {
    fn client(kind: ProblemKind, option: Option<&'static str>, place: Place, message: String) -> Problem {
        Problem { kind, option, place: Some(place), message }
    }

    fn note(place: Place, message: String) -> Problem {
        Problem { kind: ProblemKind::Note, option: None, place: Some(place), message }
    }

    /// Whether the submission is refused for it.
    pub fn refuses(&self) -> bool {
        !matches!(self.kind, ProblemKind::Note | ProblemKind::NoSubmission)
    }

    /// Whether it is the client that refuses, so that slurmctld never hears of the submission.
    pub fn is_the_clients(&self) -> bool {
        self.refuses() && self.kind != ProblemKind::Controller
    }
}

/// One submission: a job, or the components of a heterogeneous one.
#[derive(Clone, Debug, Default)]
pub struct Submission {
    /// The components in order, at least one. Where a problem refuses, as far as they were
    /// understood.
    pub components: Vec<Component>,
    /// What the client says, in the order in which it would come to it.
    pub problems: Vec<Problem>,
}

/// One component.
#[derive(Clone, Debug)]
pub struct Component {
    /// What slurmctld's hook would see.
    pub request: Request<'static>,
    places: Vec<(&'static str, Place)>,
}

impl Component {
    /// Where the option that counts was written; of several, the last. `None` where it was not.
    pub fn place(&self, option: &str) -> Option<Place> {
        self.places.iter().find(|(name, _)| *name == option).map(|&(_, place)| place)
    }

    /// Every option that was written, by long name, with the place that counts.
    pub fn places(&self) -> &[(&'static str, Place)] {
        &self.places
    }

    /// The first of `options` that was written, with its place: for a finding to point at.
    pub fn place_of_any<'o>(&self, options: &[&'o str]) -> Option<(&'o str, Place)> {
        options.iter().find_map(|name| self.place(name).map(|place| (*name, place)))
    }
}

#[cfg(test)]
mod tests;
