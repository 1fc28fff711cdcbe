//! What passed where: kept per series under target/, and the table of all in docs/scenarios.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File as OpenFile;
use std::path::PathBuf;

use crate::scenario::File;
use crate::series::Series;

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Passed,
    Failed,
    /// What it needs does not exist in that series.
    NotThere(String),
}

/// By file and title.
#[derive(Default)]
pub struct Results(BTreeMap<(String, String), Outcome>);

impl Results {
    pub fn add(&mut self, file: &str, title: &str, outcome: Outcome) {
        self.0.insert((file.to_owned(), title.to_owned()), outcome);
    }

    /// What was not played this time (a filter was given) keeps what it was last time.
    pub fn save(&self, series: Series) {
        let mut all = load(series);
        all.0.extend(self.0.iter().map(|(key, outcome)| (key.clone(), outcome.clone())));
        let text: String = all
            .0
            .iter()
            .map(|((file, title), outcome)| {
                let outcome = match outcome {
                    Outcome::Passed => "passed",
                    Outcome::Failed => "failed",
                    Outcome::NotThere(reason) => reason,
                };
                format!("{file}\t{title}\t{outcome}\n")
            })
            .collect();
        std::fs::write(results_file(series), text).expect("target/ can be written");
    }
}

/// Keeps other runs away from the results and the table, while it is held.
#[must_use]
pub fn alone() -> OpenFile {
    std::fs::create_dir_all(folder()).expect("target/ can be written");
    let lock = OpenFile::create(folder().join("lock")).expect("target/ can be written");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("it can be waited for");
    lock
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/cluster")
}

fn results_file(series: Series) -> PathBuf {
    folder().join(format!("{series}.results"))
}

fn load(series: Series) -> Results {
    let text = std::fs::read_to_string(results_file(series)).unwrap_or_default();
    let mut results = Results::default();
    for line in text.lines() {
        if let [file, title, outcome] = line.split('\t').collect::<Vec<_>>()[..] {
            let outcome = match outcome {
                "passed" => Outcome::Passed,
                "failed" => Outcome::Failed,
                reason => Outcome::NotThere(reason.to_owned()),
            };
            results.add(file, title, outcome);
        }
    }
    results
}

/// Scenarios by series, in the order of the files.
pub fn write_table(files: &[File]) {
    let all = Series::ALL.map(|series| (series, load(series)));
    let mut text = String::from(
        "# Scenarios by Slurm series\n\n\
         Written by `make test-cluster`; not to be edited. Each line is a session in\n\
         `test-cluster/scenarios/`. An empty cell was not run.\n",
    );
    let mut reasons: Vec<String> = Vec::new();
    for file in files {
        let _ = write!(text, "\n## {}\n\n| scenario |", file.name);
        for (series, _) in &all {
            let _ = write!(text, " {series} |");
        }
        text.push_str("\n|---|---|---|---|\n");
        for scenario in &file.scenarios {
            let _ = write!(text, "| {} |", scenario.title);
            for (_, results) in &all {
                let cell = match results.0.get(&(file.name.clone(), scenario.title.clone())) {
                    None => String::new(),
                    Some(Outcome::Passed) => "passed".to_owned(),
                    Some(Outcome::Failed) => "**failed**".to_owned(),
                    Some(Outcome::NotThere(reason)) => {
                        let at = reasons.iter().position(|r| r == reason).unwrap_or_else(|| {
                            reasons.push(reason.clone());
                            reasons.len() - 1
                        });
                        format!("not there ({})", at + 1)
                    }
                };
                let _ = write!(text, " {cell} |");
            }
            text.push('\n');
        }
    }
    if !reasons.is_empty() {
        text.push('\n');
        for (number, reason) in reasons.iter().enumerate() {
            let _ = writeln!(text, "{}. {reason}", number + 1);
        }
    }
    let docs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs");
    std::fs::create_dir_all(&docs).expect("docs/ can be written");
    std::fs::write(docs.join("scenarios.md"), text).expect("docs/ can be written");
}
