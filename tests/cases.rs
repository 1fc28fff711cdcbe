//! Runs every case file: those of the rules in `tests/cases`, those of whole sites in `tests/sites`,
//! and those beside the examples. Tells each case that does not hold, with what was expected, what
//! came, and what the user would have read.
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

/// The files of a folder whose names end so, in order.
fn files(folder: &str, end: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(end));
    files.sort();
    files
}

/// Each file with the number of its cases; fails where one does not hold.
fn run(files: Vec<PathBuf>) -> Vec<(PathBuf, usize)> {
    let mut run = Vec::new();
    let mut failures = Vec::new();
    for path in files {
        match policy_test::run(&path) {
            Err(words) => failures.push(words),
            Ok(cases) => {
                let name = path.file_name().unwrap().to_string_lossy();
                let failed = cases.iter().filter(|case| !case.holds());
                failures.extend(failed.map(|case| format!("{name}: {case}")));
                run.push((path, cases.len()));
            }
        }
    }
    let all: usize = run.iter().map(|(_, cases)| cases).sum();
    assert!(failures.is_empty(), "{} of {all} cases fail\n\n{}", failures.len(), failures.join("\n"));
    assert!(all > 0, "no case was run");
    run
}

#[test]
fn every_case_holds() {
    run(files("tests/cases", ".toml"));
}

#[test]
fn every_site_can_write_its_rules_down() {
    let sites = run(files("tests/sites", ".test.toml"));
    assert_eq!(sites.len(), 12);
    let few: Vec<_> = sites.iter().filter(|(_, cases)| *cases < 8).collect();
    assert!(few.is_empty(), "less than 8 cases: {few:?}");
}

#[test]
fn every_example_does_what_its_tests_say() {
    let tested = run(files("examples", ".test.toml"));
    assert_eq!(tested.len(), 3);
}

/// Findings of every case of a file when the whole site is in `mode`, in no order: a message's order
/// is a matter of mode.
fn found(path: &Path, mode: &str) -> Vec<(String, Vec<String>)> {
    let mut file = policy_test::TestFile::open(path).unwrap();
    let policy = file.policy.take().unwrap();
    let site = format!("[site]\nmode = \"{mode}\"\n");
    file.policy = Some(policy.replace("\nmode = \"enforce\"", "\n").replacen("[site]\n", &site, 1));
    let all = |ran: policy_test::Ran| {
        let outcome = ran.outcome.unwrap();
        let seen = !outcome.refuses.is_empty() || !outcome.warns.is_empty() || !outcome.edits.is_empty();
        assert!(mode != "audit" || !seen && outcome.message.is_empty(), "audit shows nothing: {}", ran.name);
        assert!(mode != "warn" || outcome.refuses.is_empty(), "a warning refuses nothing: {}", ran.name);
        let mut found = [outcome.refuses, outcome.warns, outcome.records].concat();
        found.sort_unstable();
        (ran.name, found)
    };
    file.run(&path.to_string_lossy()).unwrap().into_iter().map(all).collect()
}

#[test]
fn a_mode_changes_what_users_see_and_never_what_is_found() {
    let mut findings = 0;
    for path in [files("tests/sites", ".test.toml"), files("examples", ".test.toml")].concat() {
        let enforced = found(&path, "enforce");
        assert_eq!(enforced, found(&path, "warn"), "{}", path.display());
        assert_eq!(enforced, found(&path, "audit"), "{}", path.display());
        findings += enforced.iter().map(|(_, found)| found.len()).sum::<usize>();
    }
    assert!(findings > 100, "{findings} findings show little");
}

#[test]
fn every_rule_has_a_case_file() {
    let files = files("tests/cases", ".toml");
    let has = |rule: &str| files.iter().any(|f| f.file_stem().is_some_and(|stem| stem == rule));
    let without: Vec<&str> = rules::ALL.iter().map(|r| r.name).filter(|name| !has(name)).collect();
    assert!(without.is_empty(), "no tests/cases/RULE.toml for {without:?}");
}

#[test]
fn no_two_cases_of_a_file_have_one_name() {
    let folders = [("tests/cases", ".toml"), ("tests/sites", ".test.toml"), ("examples", ".test.toml")];
    for path in folders.into_iter().flat_map(|(folder, end)| files(folder, end)) {
        let file = policy_test::TestFile::open(&path).unwrap();
        let mut names: Vec<&str> = file.cases.iter().map(|c| c.name.as_str()).collect();
        names.sort_unstable();
        let twice: Vec<&str> = names.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]).collect();
        assert!(twice.is_empty(), "{}: {twice:?}", path.display());
    }
}
