//! `duplicate-submission`: one submission with a list of partitions, not one for each.

mod table;

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

use self::table::{Seen, Table};
use super::{Check, Memory, RuleInfo, explained, parse};
use crate::case::{Candidate, Case};
use crate::judge::Report;
use crate::policy::duration::Duration;
use crate::request::{Origin, Request, partition_list};
use crate::verdict::{Complaint, Errno, Remedy, Topic};
use crate::words::{count, shown};

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "duplicate-submission",
    topic: Topic::Habit,
    explanation: EXPLANATION,
    justifiable: true,
    parse: parse::<DuplicateSubmission>,
};

explained! {
    /// One submission with a list of partitions, not one submission for each.
    ///
    /// # What it holds
    /// A user does not submit the same job to another partition within `window`: the same script,
    /// arguments and directory, asked for in the same way (name, QoS, account, shape, array,
    /// dependency, exports, comment). It warns at most, whatever its mode, and only slurmctld can:
    /// it alone sees what was accepted before. Refused submissions and `--test-only` do not count,
    /// nor do interactive, recurring and heterogeneous jobs, nor scripts over 256 KiB. The table of
    /// past submissions is bounded; what falls out of it, or was there before the policy was last
    /// loaded, is forgotten.
    ///
    /// # Why
    /// Of two copies in the queue the second starts as well, unless somebody watches and cancels
    /// it. Slurm takes a list and starts the job wherever it can start first.
    ///
    /// # Refused
    /// ```text
    /// sbatch --partition=gpu train.sh; sbatch --partition=phys-h100 train.sh
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --partition=gpu,phys-h100 train.sh
    /// ```
    ///
    /// # Options
    /// `window`: how long a submission is remembered; default `"1:00:00"`, at most 365 days.
    pub struct DuplicateSubmission {
        /// How long a submission is remembered; an hour where it is left out.
        #[serde(default = "one_hour", deserialize_with = "at_most_a_year")]
        window: Duration,
        /// What was submitted.
        #[serde(skip)]
        table: Table,
    }
}

#[cfg(test)]
impl crate::policy::schema::Described for Table {
    fn schema() -> serde_json::Value {
        serde_json::Value::Bool(false)
    }
}

fn one_hour() -> Duration {
    Duration::minutes(60)
}

/// The table's clock goes round in four years.
fn at_most_a_year<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    use serde::Deserialize as _;
    use serde::de::Error as _;
    let window = Duration::deserialize(deserializer)?;
    let year = Duration::minutes(365 * 24 * 60);
    if window > year { Err(D::Error::custom("at most 365 days")) } else { Ok(window) }
}

impl Check for DuplicateSubmission {
    fn check(&self, case: &Case<'_>, _: &Candidate<'_>, report: &mut Report<'_, '_>) {
        let Some(now) = case.cluster.now() else { return };
        let Some(job) = digest(case.request) else { return };
        let here: Vec<u64> = partitions(case).map(of_name).collect();
        let age = u64::from(self.window.minutes).saturating_mul(60);
        // Where one of the candidates is unknown it may be just the one that was seen.
        if here.len() < case.candidates.len() {
            return;
        }
        let elsewhere: Vec<Seen> =
            self.table.seen(job, now, age).filter(|seen| !here.iter().any(|&p| seen.is_in(p))).collect();
        let Some(latest) = elsewhere.iter().min_by_key(|seen| seen.age) else { return };
        let name = |seen: &Seen| {
            let names = case.policy.facts.partitions.literal_names();
            let mut fitting = names.into_iter().filter(|n| seen.is_in(of_name(n)));
            fitting.next().filter(|_| fitting.next().is_none())
        };
        let place = name(latest).map_or("another partition".to_owned(), |n| format!("partition {n}"));
        let ago = match latest.age / 60 {
            0 => "less than a minute".to_owned(),
            minutes => count(minutes, "minute"),
        };
        report.note(Complaint {
            quantity: "submission",
            asked: format!("the same job went to {place} {ago} ago"),
            allowed: None,
            excess: 1,
            options: vec!["partition"],
            remedies: vec![remedy(case, &elsewhere.iter().map(name).collect::<Vec<_>>())],
            errno: Errno::AccessDenied,
            told_by: None,
        });
    }

    fn memory(&self) -> Option<&dyn Memory> {
        Some(self)
    }
}

impl Memory for DuplicateSubmission {
    fn accepted(&self, case: &Case<'_>) {
        let (Some(now), Some(job)) = (case.cluster.now(), digest(case.request)) else { return };
        for partition in partitions(case) {
            self.table.note(job, of_name(partition), now);
        }
    }
}

/// The list to type. Lent partitions want a QoS of their own, and a list that holds one may not
/// take what each partition alone took.
fn remedy(case: &Case<'_>, elsewhere: &[Option<&str>]) -> Remedy {
    let in_words = || Remedy::Change("submit once, with a list of partitions in --partition".to_owned());
    let Some(elsewhere) = elsewhere.iter().copied().collect::<Option<Vec<&str>>>() else { return in_words() };
    let all: Vec<&str> = elsewhere.into_iter().chain(partitions(case)).collect();
    let plain = |name: &&str| case.policy.facts.partition(name).owner().is_none() && shown(name) == *name;
    if all.iter().all(plain) { Remedy::exactly("partition", all.join(",")) } else { in_words() }
}

fn partitions<'c>(case: &'c Case<'_>) -> impl Iterator<Item = &'c str> {
    case.candidates.iter().filter_map(|c| c.partition()).flat_map(partition_list::names)
}

fn of_name(partition: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    partition.hash(&mut hasher);
    hasher.finish()
}

/// Longest script that is hashed: the hook has microseconds.
const LONGEST: usize = 256 << 10;

/// What makes two submissions the same job but for where it runs; `None` for what is not counted.
fn digest(request: &Request<'_>) -> Option<u64> {
    let counts = request.origin == Origin::Batch && request.het_offset.is_none() && !request.test_only;
    let script = request.script.as_deref().filter(|s| counts && s.len() <= LONGEST)?;
    let r = request;
    let mut hasher = Digest(DefaultHasher::new());
    (r.user_id, script, &r.command, r.arguments, &r.work_dir, &r.name).hash(&mut hasher.0);
    (&r.qos, &r.account, &r.reservation, &r.features).hash(&mut hasher.0);
    (&r.export, &r.dependency, &r.comment, &r.lineage).hash(&mut hasher.0);
    (r.min_nodes, r.max_nodes, r.num_tasks, r.ntasks_per_node, r.cpus_per_task).hash(&mut hasher.0);
    for tres in [&r.tres_per_job, &r.tres_per_node, &r.tres_per_socket, &r.tres_per_task] {
        tres.as_str().hash(&mut hasher.0);
    }
    r.array.as_ref().map(|a| a.as_str()).hash(&mut hasher.0);
    // Writing into a hasher cannot fail.
    let _ = write!(hasher, "{:?}{:?}", r.memory, r.shared);
    Some(hasher.0.finish())
}

/// Hashes what is written.
struct Digest(DefaultHasher);

impl std::fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        text.hash(&mut self.0);
        Ok(())
    }
}
