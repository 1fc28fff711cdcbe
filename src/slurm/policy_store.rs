//! Keeps the policy in force that the file says, and the last good one where it says none.
//!
//! A file is read when it has looked the same twice in a row, so that one being written is left
//! alone, and what is broken, gone or untrustworthy never replaces what works. Each change on disk is
//! reported once.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::loader::{self, Loaded};
use super::policy_file::{self, Found};
use super::snapshot::Writer;
use super::{clock, log};

/// How often names of users and groups are resolved again.
const RESOLVE: Duration = Duration::from_secs(300);

/// The file, and the policy made of it.
pub struct Store {
    path: PathBuf,
    writer: Writer,
    /// What was seen last, and what has been dealt with.
    seen: Option<Found>,
    settled: Option<Found>,
    /// The text in force, and when its names were resolved.
    text: Option<(String, Instant)>,
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
        let name = self.path.to_string_lossy();
        match loader::load(&name, &text, clock::today()) {
            Ok(loaded) => {
                let (hash, rules, limits) =
                    (loaded.policy.hash, loaded.policy.rules.len(), loaded.policy.limits.len());
                log::info(&format!(
                    "policy {name} is in force: {rules} rules, {limits} limits, hash {hash:016x}"
                ));
                for doubt in &loaded.doubts {
                    log::info(&format!("policy {name}: {doubt}"));
                }
                self.put_in_force(loaded, text);
            }
            Err(problems) => self.keep(&problems),
        }
    }

    /// The same text with users and groups as they are now.
    fn resolve_again(&mut self) {
        let Some((text, resolved)) = &self.text else { return };
        if resolved.elapsed() < RESOLVE {
            return;
        }
        let text = text.clone();
        match loader::load(&self.path.to_string_lossy(), &text, clock::today()) {
            Ok(loaded) => self.put_in_force(loaded, text),
            Err(_) => self.text = Some((text, Instant::now())),
        }
    }

    fn put_in_force(&mut self, loaded: Loaded, text: String) {
        self.writer.publish(loaded.policy);
        self.text = Some((text, Instant::now()));
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
