//! `array-logs`: each task of each array writes a log of its own.

use super::{Check, RuleInfo, explained, parse};
use crate::case::{Candidate, Case};
use crate::judge::Report;
use crate::request::{ArraySpec, LogPath};
use crate::verdict::{Complaint, Errno, Remedy, Topic};
use crate::words::shown;

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "array-logs",
    topic: Topic::Habit,
    explanation: EXPLANATION,
    justifiable: true,
    parse: parse::<ArrayLogs>,
};

explained! {
    /// A log of its own for each array task.
    ///
    /// # What it holds
    /// The `--output` and `--error` paths of a job array contain `%A` (the array's job id) and `%a`
    /// (the task's index), in any order and with any width (`%4a`). Not giving a path is right:
    /// Slurm's default is `slurm-%A_%a.out`. So is `/dev/null`. A backslash in a path makes Slurm
    /// fill in nothing at all.
    ///
    /// # Why
    /// With neither, all tasks write over each other; with `%a` alone, the next array writes over
    /// this one; with `%j`, nobody can tell which file belongs to which index.
    ///
    /// # Refused
    /// ```text
    /// sbatch --array=0-99 --output=logs/train-%j.out train.sh
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --array=0-99 --output=logs/train-%A_%a.out train.sh
    /// ```
    ///
    /// # Options
    /// `accept`: further patterns that will do, such as `["%j"]`: a path that contains every `%`
    /// part of one of them passes.
    pub struct ArrayLogs {
        /// Further patterns that will do, such as `["%j"]`.
        #[serde(default)]
        accept: Vec<Pattern>,
    }
}

/// The letters of one accepted pattern.
#[derive(Debug)]
struct Pattern(Vec<char>);

#[cfg(test)]
impl crate::policy::schema::Described for Pattern {
    fn schema() -> serde_json::Value {
        serde_json::json!({ "type": "string", "pattern": "%" })
    }
}

impl<'de> serde::Deserialize<'de> for Pattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let letters: Vec<char> = LogPath::new(&text, None).filled_in().collect();
        if letters.is_empty() {
            return Err(D::Error::custom("a pattern such as `%j`: it names nothing that Slurm fills in"));
        }
        Ok(Pattern(letters))
    }
}

impl Check for ArrayLogs {
    fn check(&self, case: &Case<'_>, _: &Candidate<'_>, report: &mut Report<'_, '_>) {
        let request = case.request;
        let Some(array) = &request.array else { return };
        let streams = [
            ("output path", "output", "", &request.std_out),
            ("error path", "error", " errors", &request.std_err),
        ];
        for (quantity, option, what, path) in streams {
            let Some(path) = path.as_deref().filter(|p| !p.is_empty()) else { continue };
            let path = LogPath::new(path, request.work_dir.as_deref());
            if path.is_null_device() || self.accepts(path) {
                continue;
            }
            let why = if path.is_literal() { ", and its backslash switches % off" } else { "" };
            report.complain(Complaint {
                quantity,
                asked: format!("{}{what} to {}{why}", tasks(array), shown(path.as_str())),
                allowed: None,
                excess: 1,
                options: vec![option],
                remedies: vec![remedy(option, &path.for_array())],
                errno: Errno::AccessDenied,
                told_by: None,
            });
        }
    }
}

impl ArrayLogs {
    fn accepts(&self, path: LogPath<'_>) -> bool {
        let has = |letters: &[char]| letters.iter().all(|&l| path.fills_in(l));
        has(&['A', 'a']) || self.accept.iter().any(|p| has(&p.0))
    }
}

fn tasks(array: &ArraySpec<'_>) -> String {
    match array.tasks {
        Some(1) => "1 array task writes".to_owned(),
        Some(n) => format!("{n} array tasks write"),
        None => "all array tasks write".to_owned(),
    }
}

/// The corrected path to type. One that no message line holds is told by its file name.
fn remedy(option: &'static str, path: &str) -> Remedy {
    const LONGEST: usize = 60;
    if path.len() <= LONGEST {
        return Remedy::exactly(option, path);
    }
    match path.rsplit('/').next() {
        Some(file) if file.len() <= LONGEST => {
            Remedy::Change(format!("call the file {} in --{option}", shown(file)))
        }
        _ => Remedy::Change(format!("put %A and %a into the file name of --{option}")),
    }
}
