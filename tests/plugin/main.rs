//! The plugin as slurmctld meets it: the `.so` is loaded and called, without a daemon, against
//! `slurm-stubs`. Each test has a process of its own, for the `.so` is one of a kind in a process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod associations;
mod cost;
mod faults;
mod garbage;
mod job;
mod lifecycle;
mod modify;
mod plugin;
mod policy_file;
mod process;
mod spank;
mod symbols;
mod verdict;
