//! Keeps the policy in force that the file says, and the last good one where it says none.
//!
//! A file is read when it has looked the same twice in a row, so that one being written is left
//! alone, and what is broken, gone or untrustworthy never replaces what works. Each change on disk is
//! reported once.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::policy_file::{self, Found};
use super::snapshot::Writer;
use super::users::System;
use super::{clock, journal, log, saved_policy};
use crate::policy::Policy;
use crate::policy::load::{Loaded, load};
use crate::status::{PolicyStatus, Source};

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
    /// Where the last good copy is kept; `None` where no place is known.
    state: Option<PathBuf>,
    status: PolicyStatus,
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
        let status = PolicyStatus { path: path.display().to_string(), ..PolicyStatus::default() };
        Store { path, writer: Writer::default(), seen: None, settled: None, text: None, state: None, status }
    }

    /// How things stand.
    pub fn status(&self) -> &PolicyStatus {
        &self.status
    }

    /// Looks for the first time: what is there counts at once. `state` is slurmctld's own folder.
    pub fn start(&mut self, state: Option<&Path>) {
        self.state = state.map(Path::to_owned);
        let found = policy_file::look(&self.path);
        self.seen = Some(found.clone());
        self.settle(found.clone());
        // A file that is gone was taken away by someone; one that is broken happens to people.
        if self.text.is_none() && found != Found::Absent {
            self.take_saved();
        }
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
                if let Some(Err(e)) = self.state.as_deref().map(|state| saved_policy::save(state, &text)) {
                    log::error(&format!("no copy of the policy could be kept: {e}"));
                }
                self.put_in_force(policy, text, &directory, Source::File);
                (self.status.error, self.status.error_since) = (None, None);
            }
            Err(problems) => self.keep(&problems.to_string()),
        }
    }

    /// At start, without a file that will do: the copy of the last one that did.
    fn take_saved(&mut self) {
        let Some(state) = self.state.as_deref() else { return };
        let path = saved_policy::path(state);
        let directory = System::default();
        let loaded = saved_policy::load(state).and_then(|text| {
            let loaded = load(&path.to_string_lossy(), &text, &directory, clock::today());
            loaded.map(|l| (l.policy, text)).map_err(|problems| problems.to_string())
        });
        match loaded {
            Ok((policy, text)) => {
                log::error(&format!(
                    "policy {}: in its place the last good one is in force ({}, hash {:016x})",
                    self.path.display(),
                    path.display(),
                    policy.hash
                ));
                self.put_in_force(policy, text, &directory, Source::SavedCopy);
            }
            Err(why) => {
                log::error(&format!("{}: there is no last good policy either: {why}", path.display()))
            }
        }
    }

    fn put_in_force(&mut self, policy: Policy, text: String, directory: &System, source: Source) {
        self.status.source = source;
        self.status.hash = format!("{:016x}", policy.hash);
        self.status.since = journal::now();
        self.writer.publish(policy);
        self.text = Some(Text { text, resolve: next(directory) });
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
    fn keep(&mut self, why: &str) {
        let stands = if self.text.is_some() {
            "the policy in force stays"
        } else {
            "NO POLICY IS IN FORCE, every job passes"
        };
        log::error(&format!("policy {}: {stands}: {why}", self.path.display()));
        self.status.error = Some(why.to_owned());
        self.status.error_since = Some(journal::now());
    }
}

/// When names are to be resolved again.
fn next(directory: &System) -> Instant {
    let now = Instant::now();
    now.checked_add(if directory.has_failed() { RETRY } else { RESOLVE }).unwrap_or(now)
}
