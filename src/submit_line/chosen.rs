//! The options that count: of several that set the same, the last.

use std::collections::{BTreeMap, BTreeSet};

use super::getopt::Found;
use super::options::{Arity, Opt, Value};
use super::{Place, Problem, ProblemKind, value};

/// One option as it was given last.
#[derive(Clone, Debug)]
pub struct Given {
    /// Which spelling of it.
    pub opt: &'static Opt,
    /// Its value.
    pub value: Option<String>,
    /// Where it stands.
    pub place: Place,
    /// Given later than everything with a smaller number.
    order: usize,
}

/// All options that are set.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    given: BTreeMap<&'static str, Given>,
    /// Set last by a variable, or by sbatch's first pass. The client forgets options between
    /// components, but not this of them.
    marks: BTreeSet<&'static str>,
    /// Some `--signal` so far said `B:`, which a later one does not take back.
    pub signal_batch: bool,
    count: usize,
}

impl Chosen {
    /// Takes an option from a script or a command line.
    pub fn take(&mut self, found: Found) -> Result<(), Problem> {
        self.set(found, false)
    }

    /// Takes an option from sbatch's first pass, which counts no more than a variable.
    pub fn take_first(&mut self, found: Found) -> Result<(), Problem> {
        self.set(found, true)
    }

    /// Takes an option from a variable. For a flag the value says whether it is set at all: empty,
    /// `yes` and any number but 0 set it, everything else takes it back.
    pub fn take_variable(
        &mut self,
        opt: &'static Opt,
        name: &'static str,
        text: String,
    ) -> Result<(), Problem> {
        let place = Place::Environment(name);
        let value = match opt.arity {
            Arity::No => {
                let number = value::leading_number(&text).is_some_and(|(n, rest)| n != 0 && rest.is_empty());
                if !(text.is_empty() || text.eq_ignore_ascii_case("yes") || number) {
                    self.forget(opt.key);
                    self.marks.remove(opt.key);
                    return Ok(());
                }
                None
            }
            Arity::Optional if text.is_empty() => None,
            Arity::Required | Arity::Optional => Some(text),
        };
        self.set(Found { opt, value, place }, true)
    }

    fn set(&mut self, found: Found, by_environment: bool) -> Result<(), Problem> {
        let Found { opt, value, place } = found;
        if let Err(words) = check(opt, value.as_deref()) {
            return Err(Problem::client(ProblemKind::BadValue, Some(opt.name), place, words));
        }
        self.count += 1;
        if opt.key == "signal" {
            self.signal_batch |= value.as_deref().and_then(super::value::signal_option).is_some_and(|s| s.2);
        }
        if by_environment {
            self.marks.insert(opt.key);
        } else {
            self.marks.remove(opt.key);
        }
        self.given.insert(opt.key, Given { opt, value, place, order: self.count });
        Ok(())
    }

    /// Takes an option back.
    pub fn forget(&mut self, key: &str) {
        self.given.remove(key);
    }

    /// What does not carry over from one component to the next is forgotten.
    pub fn next_component(&mut self) {
        self.given.retain(|_, g| !g.opt.each_component);
    }

    /// The option as given.
    pub fn get(&self, key: &str) -> Option<&Given> {
        self.given.get(key)
    }

    /// Whether it is set by a script or a command line. Both count alike.
    pub fn by_user(&self, key: &str) -> bool {
        self.is_set(key) && !self.marks.contains(key)
    }

    /// Whether the client takes it for set by a variable, even if it has been taken back since.
    pub fn by_environment(&self, key: &str) -> bool {
        self.marks.contains(key)
    }

    /// Whether it is set.
    pub fn is_set(&self, key: &str) -> bool {
        self.given.contains_key(key)
    }

    /// Its value as text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.value.as_deref()
    }

    /// Its value as a whole number.
    pub fn int(&self, key: &str) -> Option<i64> {
        value::int(key, self.text(key)?, false).ok()
    }

    /// Its value in MB.
    pub fn mb(&self, key: &str) -> Option<u64> {
        value::mb(self.text(key)?)
    }

    /// Whether `one` was given after `other`, or `other` not at all.
    pub fn is_later(&self, one: &str, other: &str) -> bool {
        let order = |key| self.get(key).map_or(0, |g: &Given| g.order);
        order(one) > order(other)
    }

    /// Every option with its place.
    pub fn places(&self) -> Vec<(&'static str, Place)> {
        self.given.values().map(|g| (g.opt.name, g.place)).collect()
    }
}

/// What the client says to a value that it does not take.
fn check(opt: &Opt, value: Option<&str>) -> Result<(), String> {
    let text = value.unwrap_or("");
    match opt.value {
        Value::Flag | Value::Text => Ok(()),
        Value::Positive => value::int(&format!("--{}", opt.key), text, true).map(|_| ()),
        Value::Count => value::int(&format!("--{}", opt.key), text, false).map(|_| ()),
        Value::Memory if value::mb(text).is_none() => Err(format!("Invalid --{} specification", opt.name)),
        Value::Memory => Ok(()),
        Value::Check(check) => check(value),
    }
}
