//! Runs every file of `tests/cases` and tells each case that does not hold, with what was expected,
//! what came, and what the user would have read.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by a panic"
)]

use std::fs;
use std::path::{Path, PathBuf};

use sluice::{policy_test, rules};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    files.sort();
    files
}

#[test]
fn every_case_holds() {
    let mut run = 0;
    let mut failures = Vec::new();
    for path in files() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match policy_test::run(&name, &fs::read_to_string(&path).unwrap()) {
            Err(words) => failures.push(words),
            Ok(cases) => {
                run += cases.len();
                let failed = cases.iter().filter(|case| !case.holds());
                failures.extend(failed.map(|case| format!("{name}: {case}")));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {run} cases fail\n\n{}", failures.len(), failures.join("\n"));
    assert!(run > 0, "no case was run");
}

#[test]
fn every_rule_has_a_case_file() {
    let files = files();
    let has = |rule: &str| files.iter().any(|f| f.file_stem().is_some_and(|stem| stem == rule));
    let without: Vec<&str> = rules::ALL.iter().map(|r| r.name).filter(|name| !has(name)).collect();
    assert!(without.is_empty(), "no tests/cases/RULE.toml for {without:?}");
}

#[test]
fn no_two_cases_of_a_file_have_one_name() {
    for path in files() {
        let file = policy_test::TestFile::read("file", &fs::read_to_string(&path).unwrap()).unwrap();
        let mut names: Vec<&str> = file.cases.iter().map(|c| c.name.as_str()).collect();
        names.sort_unstable();
        let twice: Vec<&str> = names.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]).collect();
        assert!(twice.is_empty(), "{}: {twice:?}", path.display());
    }
}
