//! Keeps the policy in force that the file says, and the last good one where it says none.
//!
//! A file is read when it has looked the same twice in a row, so that one being written is left
//! alone, and what is broken, gone or untrustworthy never replaces what works. Each change on disk is
//! reported once.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::policy_file::{self, Found};
use super::snapshot::Writer;
use super::users::System;
use super::{clock, log};
use crate::policy::load::{Loaded, load};

/// How often names of users and groups are resolved again.
const RESOLVE: Duration = Duration::from_secs(300);
/// How soon, after a look-up failed.
const RETRY: Duration = Duration::from_secs(30);

/// The file, and the policy made of it.
pub struct Store {
    path: PathBuf,
    writer: Writer,
    /// What was seen last, and what has been dealt with.
    seen: Option<Found>,
    settled: Option<Found>,
    /// What is in force.
    text: Option<Text>,
}

/// The text of the policy in force.
struct Text {
    text: String,
    /// When its names are to be resolved again.
    resolve: Instant,
}

impl Store {
    /// For the policy at `path`.
    pub fn new(path: PathBuf) -> Store {
        Store { path, writer: Writer::default(), seen: None, settled: None, text: None }
    }

    /// Looks for the first time: what is there counts at once.
    pub fn start(&mut self) {
        let found = policy_file::look(&self.path);
        self.seen = Some(found.clone());
        self.settle(found);
    }

    /// Looks again. To be called every now and then.
    pub fn tick(&mut self) {
        self.writer.collect();
        let found = policy_file::look(&self.path);
        let stands = self.seen.as_ref() == Some(&found);
        if self.settled.as_ref() == Some(&found) {
            self.resolve_again();
        } else if stands {
            self.settle(found.clone());
        }
        self.seen = Some(found);
    }

    /// Acts on a change.
    fn settle(&mut self, found: Found) {
        match &found {
            Found::File(_) => match policy_file::read(&self.path) {
                Ok((text, stamp)) if Found::File(stamp) == found => self.take(text),
                // Another file since: the next look will tell.
                Ok(_) => return,
                Err(why) => self.keep(&why),
            },
            Found::Absent | Found::Unfit(_) => self.keep(&found.to_string()),
        }
        self.settled = Some(found);
    }

    /// A new text: in force if it is a policy.
    fn take(&mut self, text: String) {
        let name = self.path.to_string_lossy().into_owned();
        let directory = System::default();
        match load(&name, &text, &directory, clock::today()) {
            Ok(Loaded { policy, doubts }) => {
                log::info(&format!(
                    "policy {name} is in force: {} rules, {} limits, hash {:016x}",
                    policy.rules.len(),
                    policy.limits.len(),
                    policy.hash
                ));
                for doubt in &doubts {
                    log::info(&doubt.to_string());
                }
                if directory.has_failed() {
                    log::error(&format!(
                        "policy {name}: names of users or groups could not be looked up yet"
                    ));
                }
                self.writer.publish(policy);
                self.text = Some(Text { text, resolve: next(&directory) });
            }
            Err(problems) => self.keep(&problems.to_string()),
        }
    }

    /// The same text with users and groups as they are now. Where the directory does not answer,
    /// they stay as they were: nobody loses a partition by an outage.
    fn resolve_again(&mut self) {
        let Some(Text { text, resolve }) = &mut self.text else { return };
        if Instant::now() < *resolve {
            return;
        }
        let directory = System::default();
        let loaded = load(&self.path.to_string_lossy(), text, &directory, clock::today());
        *resolve = next(&directory);
        if let (Ok(loaded), false) = (loaded, directory.has_failed()) {
            self.writer.publish(loaded.policy);
        }
    }

    /// Says once why what is on disk does not count.
    fn keep(&self, why: &str) {
        let stands = if self.text.is_some() {
            "the policy in force stays"
        } else {
            "NO POLICY IS IN FORCE, every job passes"
        };
        log::error(&format!("policy {}: {stands}: {why}", self.path.display()));
    }
}

/// When names are to be resolved again.
fn next(directory: &System) -> Instant {
    let now = Instant::now();
    now.checked_add(if directory.has_failed() { RETRY } else { RESOLVE }).unwrap_or(now)
}
