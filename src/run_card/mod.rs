//! The run card: what a job asked for, what it got, what it came from and how it ended.
//!
//! The SPANK side writes it as a file, `sluice job` makes the same of accounting, and `sluice compare`
//! sets two of them side by side. Nothing is guessed here: what is not known is `None`, `null` in JSON.

mod compare;
mod shape;
pub mod why;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::request::lineage;

pub use compare::{Difference, differences};
pub use shape::{Shape, gpus_per_node};

/// Version of the card's own form.
pub const SCHEMA: u32 = 1;

/// The name of the file where `--run-card` names none, with Slurm's patterns: of a job, and of a task
/// of an array.
pub const FILE: &str = "run-card-%j.json";
/// See [`FILE`].
pub const ARRAY_FILE: &str = "run-card-%A_%a.json";

/// One job, one task of an array, or one component of a heterogeneous job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Card {
    /// [`SCHEMA`].
    pub run_card: u32,
    /// When it was written: seconds since 1970.
    pub written: Option<u64>,
    /// `ClusterName`.
    pub cluster: Option<String>,
    /// The job as users call it: `7`, `7_3`, `7+1`.
    pub job: Option<String>,
    /// Its own number, which differs for tasks of an array and components.
    pub job_id: Option<u32>,
    /// `--job-name`.
    pub name: Option<String>,
    /// Owner (uid).
    pub user_id: Option<u32>,
    /// Account that is charged.
    pub account: Option<String>,
    /// Where the job runs.
    pub work_dir: Option<String>,
    /// As slurmctld holds the request: with defaults filled in and updates applied.
    pub requested: Shape,
    /// What the job got. Empty while it waits.
    pub actual: Shape,
    /// Its place in an array.
    pub array: Option<Array>,
    /// `--lineage`: what the result comes from. Empty where nothing was given.
    pub lineage: Option<BTreeMap<String, String>>,
    /// `--justify`.
    pub justification: Option<String>,
    /// `on` or `off`: what `--compile`, or a short QoS, made of it.
    pub compile: Option<String>,
    /// Times in seconds since 1970.
    pub times: Times,
    /// How often Slurm has started it anew.
    pub restarts: Option<u32>,
    /// Slurm's word: `RUNNING`, `COMPLETED`, `FAILED`, `TIMEOUT` ...
    pub state: Option<String>,
    /// How the job's script or command ended.
    pub exit: Option<Exit>,
}

/// When what happened, in seconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Times {
    /// Submission; after a requeue that of the requeue, as Slurm has it.
    pub submit: Option<u64>,
    /// Start.
    pub start: Option<u64>,
    /// End.
    pub end: Option<u64>,
}

/// A place in an array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Array {
    /// The array's job id.
    pub job_id: u32,
    /// `SLURM_ARRAY_TASK_ID`.
    pub task: Option<u32>,
    /// Tasks of the array as submitted.
    pub tasks: Option<u32>,
    /// Lowest index.
    pub min: Option<u32>,
    /// Highest index.
    pub max: Option<u32>,
    /// Distance of the indices.
    pub step: Option<u32>,
    /// `--array=...%N`: tasks that may run at once.
    pub at_once: Option<u32>,
}

/// How a process ended: one of both is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// What it returned.
    pub code: u32,
    /// The signal that killed it.
    pub signal: u32,
}

impl Exit {
    /// Of what `wait` says.
    pub fn of_status(status: u32) -> Exit {
        match status & 0x7f {
            0 => Exit { code: status >> 8 & 0xff, signal: 0 },
            signal => Exit { code: 0, signal },
        }
    }

    /// `0:9`, as Slurm prints it.
    pub fn parse(text: &str) -> Option<Exit> {
        let (code, signal) = text.split_once(':')?;
        Some(Exit { code: code.parse().ok()?, signal: signal.parse().ok()? })
    }
}

impl Card {
    /// The text of the file.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// Text that is no card, or a card of another form.
    pub fn parse(text: &str) -> Result<Card, String> {
        // serde takes a list for a struct as well.
        if !text.trim_start().starts_with('{') {
            return Err("it is no run card: it is no JSON object".to_owned());
        }
        let card: Card = serde_json::from_str(text).map_err(|e| format!("it is no run card: {e}"))?;
        match card.run_card {
            SCHEMA => Ok(card),
            0 => Err("it is no run card: it has no run_card number".to_owned()),
            other => Err(format!("it has form {other}, and form {SCHEMA} is what is known here")),
        }
    }
}

/// The pairs of a lineage as users give it; where a key stands twice the first counts.
pub fn lineage_of(text: &str) -> BTreeMap<String, String> {
    let mut map = BTreeMap::new();
    for pair in lineage::pairs(text) {
        map.entry(pair.key).or_insert(pair.value);
    }
    map
}

/// The name of a job's state by its number (slurm.h, `enum job_states`), without its flags.
pub fn state_name(number: u32) -> Option<&'static str> {
    const NAMES: [&str; 12] = [
        "PENDING",
        "RUNNING",
        "SUSPENDED",
        "COMPLETED",
        "CANCELLED",
        "FAILED",
        "TIMEOUT",
        "NODE_FAIL",
        "PREEMPTED",
        "BOOT_FAIL",
        "DEADLINE",
        "OUT_OF_MEMORY",
    ];
    NAMES.get(usize::try_from(number & 0xff).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_read_back_and_other_text_is_told_from_one() {
        let card = Card {
            run_card: SCHEMA,
            job: Some("7_3".to_owned()),
            lineage: Some(lineage_of(r"commit=4f2a,files=a\,b,commit=0")),
            exit: Some(Exit::of_status(0x0300)),
            ..Card::default()
        };
        assert_eq!(Card::parse(&card.to_text()), Ok(card.clone()));
        assert_eq!(card.lineage.unwrap().len(), 2);
        for (text, why) in [
            ("", "it is no run card: it is no JSON object"),
            ("{", "it is no run card: EOF"),
            ("{}", "it is no run card: it has no run_card number"),
            ("{\"run_card\": 2}", "it has form 2, and form 1 is what is known here"),
            ("[1]", "it is no run card: "),
        ] {
            let said = Card::parse(text).unwrap_err();
            assert!(said.starts_with(why), "{said}");
        }
    }

    #[test]
    fn ends_are_read_as_wait_and_slurm_have_them() {
        assert_eq!(Exit::of_status(0x0900), Exit { code: 9, signal: 0 });
        assert_eq!(Exit::of_status(0x0089), Exit { code: 0, signal: 9 });
        assert_eq!(Exit::parse("1:0"), Some(Exit { code: 1, signal: 0 }));
        assert_eq!(Exit::parse("x"), None);
        assert_eq!(
            (state_name(0x8001), state_name(11), state_name(12)),
            (Some("RUNNING"), Some("OUT_OF_MEMORY"), None)
        );
    }
}
