//! `--justify`, `--lineage` and `--run-card`: what they take, and what was given.

use std::ffi::{CStr, CString, c_char, c_int};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::api::{self, Spank};
use crate::request::description::{JUSTIFY_ENV, LINEAGE_ENV};
use crate::request::lineage;
use crate::run_card;
use crate::slurm::guard;
use crate::slurm::sys::spank_option;

/// Bytes of a value. slurmctld keeps it for the life of the job.
pub const MOST: usize = 4096;

/// The entry in which `--run-card` travels; the hook has no use for it.
pub const RUN_CARD_ENV: &str = "SLUICE_RUN_CARD";

/// An option whose text travels with the job.
pub struct Carried {
    /// `--NAME`.
    name: &'static CStr,
    argument: &'static CStr,
    /// What is meant where the option stands alone; `None` where it must not.
    alone: Option<&'static str>,
    usage: &'static CStr,
    /// The entry in which the hook reads it.
    entry: &'static str,
    /// What else is wrong with a line of text.
    check: fn(&str) -> Result<(), String>,
    /// What to do without the option.
    instead: &'static str,
}

/// In the order of [`VALUES`].
pub static OPTIONS: [Carried; 3] = [
    Carried {
        name: c"justify",
        argument: c"TEXT",
        alone: None,
        usage: c"why this job has to ask for what the policy refuses; the reason is recorded",
        entry: JUSTIFY_ENV,
        check: |_| Ok(()),
        instead: "use --comment='justify: ...'",
    },
    Carried {
        name: c"lineage",
        argument: c"KEY=VALUE,...",
        alone: None,
        usage: c"what the result comes from: commit, config, seed ...",
        entry: LINEAGE_ENV,
        check: lineage::check,
        instead: "use --comment='lineage: KEY=VALUE,...'",
    },
    Carried {
        name: c"run-card",
        argument: c"PATH",
        alone: Some(run_card::FILE),
        usage: c"what the job asked for, got and came to, as JSON (run-card-%j.json)",
        entry: RUN_CARD_ENV,
        check: |_| Ok(()),
        instead: "sluice job tells the same",
    },
];

/// What was given last of each option. It holds for the components that follow, as Slurm's own
/// memory of plugins' options does.
static VALUES: Mutex<[Option<CString>; OPTIONS.len()]> = Mutex::new([const { None }; OPTIONS.len()]);

fn values() -> MutexGuard<'static, [Option<CString>; OPTIONS.len()]> {
    VALUES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was given of the option that travels in this entry.
pub fn value(entry: &str) -> Option<String> {
    let given = given();
    let (_, value) = given.iter().find(|(option, _)| option.entry == entry)?;
    value.as_ref()?.to_str().ok().map(str::to_owned)
}

/// The options with what was given of them.
pub fn given() -> Vec<(&'static Carried, Option<CString>)> {
    OPTIONS.iter().zip(values().iter().cloned()).collect()
}

/// Adds the options; on nodes as well, where they mean nothing: srun sends what was given along, and
/// slurmstepd warns of what it does not know.
pub fn register(spank: &Spank<'_>) {
    for (index, option) in OPTIONS.iter().enumerate() {
        spank.register(option.spank_option(c_int::try_from(index).unwrap_or(c_int::MAX)));
    }
}

impl Carried {
    /// As SPANK has it; `index` tells the option from its kin.
    fn spank_option(&self, index: c_int) -> spank_option {
        spank_option {
            name: self.name.as_ptr().cast_mut(),
            arginfo: self.argument.as_ptr().cast_mut(),
            usage: self.usage.as_ptr().cast_mut(),
            has_arg: if self.alone.is_some() { 2 } else { 1 },
            val: index,
            cb: Some(take),
        }
    }

    /// The entry in which the hook reads the value.
    pub fn entry(&self) -> &'static str {
        self.entry
    }

    /// The variable, and the entry, in which Slurm hands the option on: to commands within the job
    /// as well (`_opt_env_name`, plugstack.c).
    pub fn handed_on(&self) -> String {
        format!("_SLURM_SPANK_OPTION_sluice_{}", self.name().replace('-', "_"))
    }

    fn name(&self) -> &'static str {
        self.name.to_str().unwrap_or_default()
    }

    /// The text, where it is one to carry.
    fn accept(&self, text: &CStr) -> Result<CString, String> {
        let name = self.name();
        let text = match self.alone {
            // Slurm gives an empty text, or none, where there is no argument.
            Some(alone) if text.is_empty() => &CString::new(alone).unwrap_or_default(),
            _ => text,
        };
        let Ok(line) = text.to_str() else { return Err(format!("--{name} is not UTF-8 text")) };
        if line.trim().is_empty() {
            let argument = self.argument.to_string_lossy();
            return Err(format!("--{name} is empty; it takes --{name}={argument}"));
        }
        if line.len() > MOST {
            return Err(format!("--{name} has {} bytes; at most {MOST} are taken", line.len()));
        }
        if let Some(at) = line.chars().position(char::is_control) {
            let at = at.saturating_add(1);
            return Err(format!("--{name} is one line of plain text; character {at} is a control character"));
        }
        (self.check)(line).map_err(|why| format!("--{name}: {why}"))?;
        Ok(text.to_owned())
    }
}

/// Called while a client reads its options; in slurmstepd for steps of an srun that had them.
unsafe extern "C" fn take(index: c_int, text: *const c_char, remote: c_int) -> c_int {
    let take = || {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let Some(option) = OPTIONS.get(index).filter(|_| remote == 0) else { return 0 };
        let text = match text.is_null() {
            // SAFETY: NUL-terminated text, by SPANK's interface.
            false => unsafe { CStr::from_ptr(text) },
            true if option.alone.is_some() => c"",
            true => return 0,
        };
        let accepted = if api::has_job_environment() {
            option.accept(text)
        } else {
            let (name, instead) = (option.name(), option.instead);
            Err(format!("this command does not hand --{name} on; {instead}"))
        };
        match accepted {
            Ok(text) => {
                if let Some(value) = values().get_mut(index) {
                    *value = Some(text);
                }
                0
            }
            Err(why) => {
                api::error(&why);
                -1
            }
        }
    };
    guard::run("option", || 0, take)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(option: &str, text: &[u8]) -> String {
        let option = OPTIONS.iter().find(|o| o.name() == option).unwrap();
        match option.accept(&CString::new(text).unwrap()) {
            Ok(taken) => {
                assert_eq!(taken.as_bytes(), text);
                "ok".to_owned()
            }
            Err(why) => why,
        }
    }

    #[test]
    fn a_reason_is_one_line_of_text() {
        let justify = |text: &str| said("justify", text.as_bytes());
        assert_eq!(justify("a, b; 'c' \"d\" e=f \u{fc} \u{1f600}"), "ok");
        assert_eq!(justify(&"x".repeat(4096)), "ok");
        assert_eq!(justify(&"x".repeat(4097)), "--justify has 4097 bytes; at most 4096 are taken");
        assert_eq!(justify(" "), "--justify is empty; it takes --justify=TEXT");
        assert_eq!(
            justify("a\nb"),
            "--justify is one line of plain text; character 2 is a control character"
        );
        assert_eq!(said("justify", b"\xff"), "--justify is not UTF-8 text");
    }

    #[test]
    fn a_lineage_is_a_list_of_keys_with_values() {
        let lineage = |text: &str| said("lineage", text.as_bytes());
        assert_eq!(lineage(r"commit=4f2a,config=a\,b.yaml,seed=7"), "ok");
        assert_eq!(lineage(""), "--lineage is empty; it takes --lineage=KEY=VALUE,...");
        assert!(lineage("commit").starts_with("--lineage: commit is no KEY=VALUE"));
    }

    #[test]
    fn a_run_card_needs_no_path() {
        let run_card = |text: &str| {
            let option = OPTIONS.iter().find(|o| o.name() == "run-card").unwrap();
            option.accept(&CString::new(text).unwrap()).map(|t| t.into_string().unwrap())
        };
        assert_eq!(run_card(""), Ok("run-card-%j.json".to_owned()));
        assert_eq!(run_card("cards/%A_%a.json"), Ok("cards/%A_%a.json".to_owned()));
        assert_eq!(run_card(" "), Err("--run-card is empty; it takes --run-card=PATH".to_owned()));
        assert!(run_card("a\n").is_err());
        let option = OPTIONS.iter().find(|o| o.name() == "run-card").unwrap();
        assert_eq!(option.handed_on(), "_SLURM_SPANK_OPTION_sluice_run_card");
    }

    #[test]
    fn texts_for_slurm_fit_its_limits() {
        for option in &OPTIONS {
            assert!(option.name.to_bytes().len() <= 75, "SPANK_OPTION_MAXLEN");
            assert!(option.usage.to_bytes().len() < 80, "one line of --help where it can be");
        }
    }
}
