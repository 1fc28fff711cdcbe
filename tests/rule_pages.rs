//! docs/rules.md is what `sluice explain` says of each rule, in the order of the rule table.
//! `SLUICE_WRITE=1 cargo test --test rule_pages` writes it.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::fmt::Write as _;
use std::fs;

const PAGE: &str = "docs/rules.md";

#[test]
fn the_page_of_rules_is_what_the_command_explains() {
    let mut page = String::from(
        "# Rules\n\nWhat `sluice explain` says of each rule; written from the rules themselves, not to be \
         edited.\nEvery rule also takes `mode`, `when`, `enforce_from`, `help`, and `justify` where it says \
         so.\n",
    );
    for rule in sluice::rules::ALL {
        write!(page, "\n## `{}`\n\n", rule.name).unwrap();
        for line in rule.explanation.lines() {
            // Doc comments begin with a space; headings go below the rule's own.
            let line = line.strip_prefix(' ').unwrap_or(line);
            let line = line.strip_prefix("# ").map_or_else(|| line.to_owned(), |h| format!("### {h}"));
            writeln!(page, "{}", line.trim_end()).unwrap();
        }
        if rule.justifiable {
            page.push_str("\nA written reason may lift it, where the policy says `justify`.\n");
        }
    }
    if std::env::var_os("SLUICE_WRITE").is_some() {
        fs::write(PAGE, &page).unwrap();
    }
    assert!(
        fs::read_to_string(PAGE).unwrap_or_default() == page,
        "{PAGE} is out of date: see the top of this test"
    );
}
