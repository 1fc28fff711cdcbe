//! Whole policies are loaded: the reference of every table and key, and the examples.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by a panic"
)]

use std::fs;
use std::path::Path;

use sluice::date::Date;
use sluice::policy::load::{Loaded, load};
use sluice::policy::resolve::NoDirectory;

const TODAY: Date = Date { year: 2026, month: 11, day: 30 };

fn loaded(path: &Path) -> Loaded {
    let text = fs::read_to_string(path).unwrap();
    load(&path.to_string_lossy(), &text, &NoDirectory, TODAY).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn the_reference_policy_holds_every_table_and_loads_without_an_error() {
    let loaded = loaded(Path::new("tests/policies/reference.toml"));
    let policy = loaded.policy;
    assert_eq!(policy.rules.len(), 4);
    assert_eq!(policy.limits.len(), 4);
    assert_eq!(policy.exempts.len(), 1);
    let h100 = policy.facts.partition("phys-h100");
    assert!(h100.preemptible() && h100.owner().is_some());
    assert!(policy.facts.partition("standard-g").whole_node());
}

#[test]
fn every_example_and_every_site_loads_without_a_doubt() {
    for folder in ["examples", "tests/sites"] {
        let mut policies = 0;
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_string_lossy();
            if name.ends_with(".toml") && !name.ends_with(".test.toml") {
                let doubts: Vec<String> = loaded(&path).doubts.iter().map(|d| d.to_string()).collect();
                assert!(doubts.is_empty(), "{name}: {doubts:?}");
                policies += 1;
            }
        }
        assert!(policies > 0);
    }
}
