//! Sluice: submission policy for Slurm.
#![cfg_attr(not(feature = "plugin"), forbid(unsafe_code))]

pub mod case;
pub mod cluster;
pub mod date;
pub mod judge;
#[cfg(feature = "cli")]
pub mod live;
pub mod message;
pub mod policy;
#[cfg(feature = "cli")]
pub mod policy_test;
pub mod record;
pub mod recorded;
mod remedy;
pub mod request;
pub mod rules;
#[cfg(feature = "plugin")]
pub mod slurm;
pub mod status;
pub mod submit_line;
pub mod update;
pub mod verdict;
pub mod words;
