//! `sluice`: the offline door. One file per verb.
//!
//! Exit codes: 0 accepted or holds, 1 refused or fails, 2 the command could not do it.
#![forbid(unsafe_code)]

mod check;
mod compare;
mod explain;
#[cfg(test)]
mod generated;
mod init;
mod job;
mod live;
mod options;
mod output;
mod people;
mod policy_file;
mod replay;
mod show;
mod site_note;
mod slurm;
mod status;
mod test;
mod validate;

use std::process::ExitCode;

use clap::Parser;

use options::{Options, Verb};

/// What a verb comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Accepted, or it holds.
    Yes = 0,
    /// Refused, or it fails.
    No = 1,
    /// One of several could not be done, which has been said.
    Failed = 2,
}

/// Why a verb could not be done: one line, or what is wrong with a file.
pub type Failure = String;

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match &options.verb {
        Verb::Check(verb) => check::run(&options.common, verb),
        Verb::Test(verb) => test::run(&options.common, verb),
        Verb::Validate(verb) => validate::run(&options.common, verb),
        Verb::Show(verb) => show::run(&options.common, verb),
        Verb::Init(verb) => init::run(verb),
        Verb::Replay(verb) => replay::run(&options.common, verb),
        Verb::SiteNote(verb) => site_note::run(&options.common, verb),
        Verb::Status(verb) => status::run(&options.common, verb),
        Verb::Job(verb) => job::run(&options.common, verb),
        Verb::Compare(verb) => compare::run(&options.common, verb),
        Verb::Explain(verb) => explain::run(&options.common, verb),
    };
    match result {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(failure) => {
            output::complain(&failure);
            ExitCode::from(2)
        }
    }
}
