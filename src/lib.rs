//! Sluice: submission policy for Slurm.
//!
//! A [`request`] is what a user submits, typed; slurmctld's side (`slurm`) and the command's grammar
//! ([`submit_line`]) build the same one. A [`policy`] is loaded from one file. [`judge`] lays the
//! [`rules`] over a [`case`]: the request in each partition that it may run in, with what the
//! [`cluster`] knows. The [`verdict`] holds findings and edits, and [`message`] alone puts them into
//! words. ARCHITECTURE.md has the picture and the reasons.
#![deny(unsafe_code)]

pub mod case;
pub mod cluster;
pub mod date;
pub mod digest;
pub mod judge;
#[cfg(feature = "cli")]
pub mod live;
pub mod message;
#[cfg(feature = "cli")]
pub mod placement;
pub mod policy;
#[cfg(feature = "cli")]
pub mod policy_test;
pub mod record;
pub mod recorded;
mod remedy;
#[cfg(feature = "cli")]
pub mod replay;
pub mod request;
pub mod rules;
pub mod run_card;
#[cfg(feature = "plugin")]
#[allow(unsafe_code, reason = "all of C is here")]
pub mod slurm;
pub mod status;
pub mod submit_line;
pub mod update;
pub mod verdict;
pub mod words;
