//! Scenarios on a whole cluster: what people type on the login node and what they read.
//!
//! A scenario file (test-cluster/scenarios) is a session at a terminal; this program types it into
//! the containers that `test-cluster/run` started and compares. Without a running cluster the
//! scenarios are listed as ignored and only their grammar is checked.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "nobody depends on a test")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by a panic, and no daemon runs this"
)]

mod expect;
mod results;
mod scenario;
mod series;
mod terminal;

use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use libtest_mimic::{Arguments, Failed, Trial};

use results::{Outcome, Results};
use scenario::{File, Scenario};
use series::Series;
use terminal::Terminal;

/// The series whose containers run: `test-cluster/run` sets it.
const SERIES: &str = "SLUICE_CLUSTER";

fn main() -> ExitCode {
    let mut args = Arguments::from_args();
    // One cluster, one session at a time.
    args.test_threads = Some(1);

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-cluster/scenarios");
    let files = match scenario::read_folder(&folder) {
        Ok(files) => files,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::FAILURE;
        }
    };
    let series =
        std::env::var(SERIES).ok().map(|name| Series::parse(&name).expect("SLUICE_CLUSTER is a series"));
    let results = Arc::new(Mutex::new(Results::default()));
    let mut trials = Vec::new();
    for file in &files {
        for scenario in &file.scenarios {
            let name = format!("{}: {}", file.name, scenario.title);
            trials.push(match series {
                None => Trial::test(name, || Ok(())).with_ignored_flag(true),
                Some(series) => trial(name, file, scenario, series, &results),
            });
        }
    }
    trials.extend(expect::self_tests());
    trials.extend(scenario::self_tests());

    let conclusion = libtest_mimic::run(&args, trials);
    if let Some(series) = series {
        let results = results.lock().expect("no trial panics while it writes a result");
        // Three series end when they like, and each writes the table of all.
        let _alone = results::alone();
        results.save(series);
        results::write_table(&files);
    }
    conclusion.exit_code()
}

fn trial(
    name: String,
    file: &File,
    scenario: &Scenario,
    series: Series,
    results: &Arc<Mutex<Results>>,
) -> Trial {
    let (file, scenario, results) = (file.name.clone(), scenario.clone(), Arc::clone(results));
    let left_out = scenario.left_out(series);
    let absent = left_out.is_some();
    if let Some(reason) = left_out {
        results.lock().expect("nobody else holds it").add(&file, &scenario.title, Outcome::NotThere(reason));
    }
    Trial::test(name, move || {
        let outcome = Terminal::new(series).play(&scenario);
        let recorded = if outcome.is_ok() { Outcome::Passed } else { Outcome::Failed };
        results.lock().expect("nobody panics with it").add(&file, &scenario.title, recorded);
        outcome.map_err(Failed::from)
    })
    .with_ignored_flag(absent)
}
