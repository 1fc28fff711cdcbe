//! Sluice against job_submit/lua in one process: the same recorded job descriptions, the same rules.
//!
//! `make bench` runs it. Both plugins are the ones that a daemon loads; libslurmfull is the installed
//! one, and daemon.c has the few variables that slurmctld itself would bring. Each row is measured in a
//! process of its own, so that queues and policies of one do not warm or slow another.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench reports and fails loudly"
)]

#[allow(dead_code, reason = "tests use the rest")]
#[path = "../../tests/plugin/job.rs"]
mod job;
mod measure;
mod plugin;
mod report;
mod rows;

fn main() {
    // Cargo hands `--bench` to every bench.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match arguments.first().map(String::as_str) {
        Some("measure") => measure::child(&arguments[1..]),
        _ => report::all(),
    }
}
