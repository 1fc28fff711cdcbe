//! Sluice in a real slurmctld: what users type and what they read.
//!
//! The cases run one after the other. Most share one of two clusters, one without accounting and
//! one with; what breaks something has a cluster of its own. This test has a main of its own,
//! because what is missing on this machine is only known when it runs, and because the shared
//! clusters have to be stopped at the end.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "nobody depends on a test")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by a panic, and no daemon runs this"
)]

mod clients;
mod controller_cost;
mod cost;
mod differential;
mod doors;
mod entitlement;
mod habits;
mod install;
mod jobs;
mod leftovers;
mod numbers;
mod policy_file;
mod records;
mod replay;
mod run_card;
mod shared;
mod soak;
mod spank;
mod submission;
mod support;
mod updates;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};

use shared::Shared;
use support::Requirement::{self, Accounting};

/// One case: its name, what it needs, the case.
type Case = (&'static str, Requirement, fn(&Shared));

fn main() -> ExitCode {
    leftovers::child();
    let mut args = Arguments::from_args();
    // Two cores are all that a build machine may have, and each case waits for daemons.
    args.test_threads.get_or_insert(1);
    let cases = [
        submission::CASES,
        doors::CASES,
        differential::CASES,
        clients::CASES,
        entitlement::CASES,
        habits::CASES,
        install::CASES,
        numbers::CASES,
        policy_file::CASES,
        spank::CASES,
        run_card::CASES,
        jobs::CASES,
        asked_for("SLUICE_BENCH", cost::CASES),
        leftovers::CASES,
        updates::CASES,
        records::CASES,
        replay::CASES,
        asked_for(soak::VARIABLE, soak::CASES),
        asked_for("SLUICE_BENCH", controller_cost::CASES),
    ];
    let cases = cases.concat();
    let shared = Arc::new(Shared::default());
    let mut trials: Vec<Trial> = cases.into_iter().map(|case| trial(case, &shared)).collect();
    if !args.list {
        trials.extend(requirements());
    }
    let conclusion = libtest_mimic::run(&args, trials);
    drop(shared);
    conclusion.exit_code()
}

/// Cases that measure, or take their time: none where their variable is not set.
fn asked_for(variable: &str, cases: &'static [Case]) -> &'static [Case] {
    if std::env::var_os(variable).is_some() { cases } else { &[] }
}

fn trial((name, needs, case): Case, shared: &Arc<Shared>) -> Trial {
    let shared = Arc::clone(shared);
    let missing = !support::missing(needs).is_empty();
    Trial::test(name, move || shared.run(case)).with_ignored_flag(missing)
}

/// Says what is missing. Where everything has to be there, missing it is a failure of its own.
fn requirements() -> Option<Trial> {
    let missing = support::missing(Accounting);
    if missing.is_empty() {
        return None;
    }
    let text = format!("tests on a real slurmctld are ignored:\n  {}", missing.join("\n  "));
    if std::env::var_os("CI").is_none_or(|v| v != "true") {
        eprintln!("{text}");
        return None;
    }
    Some(Trial::test("everything that a private Slurm needs is there", || Err(Failed::from(text))))
}
