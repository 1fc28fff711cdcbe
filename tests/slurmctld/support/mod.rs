//! A private Slurm for one test: its own keys, ports and folder, gone when the test is.
//!
//! As PostgreSQL's suites run against a server of their own, so do these: `munged`, `slurmctld` and
//! what else a case needs are started from the installed packages, waited for by asking them, and
//! stopped by their process ids. Nothing here knows what Sluice should answer.
#![allow(dead_code, unused_imports, reason = "the tests and the demo each use a part")]
#![allow(missing_docs, reason = "nobody depends on a test")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by a panic, and no daemon runs this"
)]

mod accounting;
mod cluster;
mod conf;
mod folder;
mod nursery;
mod requirements;
mod session;
mod wait;

pub use cluster::{Builder, Cluster, Node, Plugin};
pub use folder::Folder;
pub use requirements::{Requirement, command, missing, plugin};
pub use session::{Command, Output, PATH};
pub use wait::{at_once, until};
