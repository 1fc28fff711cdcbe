//! `dependency`: no job that one failed array task strands.

use super::{Check, RuleInfo, explained, parse};
use crate::case::{Candidate, Case};
use crate::judge::Report;
use crate::request::dependency::{self, Dependency};
use crate::verdict::{Allowed, Complaint, Errno, Place, Remedy, Topic};
use crate::words::count;

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "dependency",
    topic: Topic::Habit,
    explanation: EXPLANATION,
    justifiable: true,
    parse: parse::<DependencyRule>,
};

explained! {
    /// No `afterok` on a whole array.
    ///
    /// # What it holds
    /// `--dependency=afterok:JOB` does not name a job array as a whole, neither as `JOB` nor as
    /// `JOB_*`. `aftercorr` counts as well where the job that waits is no array itself, for then
    /// Slurm treats it as `afterok`. One task (`JOB_3`) is fine, and so is a job of which slurmctld
    /// does not know that it is an array. With `?`, where any one condition releases the job, it
    /// counts only if every condition is of this kind. It is meant as a warning: `mode = "warn"`.
    ///
    /// # Why
    /// One failed task of a thousand, and the job that was to gather their results never starts:
    /// it waits for ever with `DependencyNeverSatisfied`. With `afterany` it starts when all are
    /// done, and can see for itself which results are there.
    ///
    /// # Refused
    /// ```text
    /// sbatch --dependency=afterok:4711 gather.sh        (4711 is an array)
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --dependency=afterany:4711 gather.sh
    /// ```
    ///
    /// # Options
    /// None of its own.
    pub struct DependencyRule {}
}

impl Check for DependencyRule {
    fn check(&self, case: &Case<'_>, _: &Candidate<'_>, report: &mut Report<'_, '_>) {
        // The same on every partition, and the text may name thousands of jobs.
        if let Some(complaint) = case.dependency.get_or_init(|| stranded(case)) {
            report.complain(complaint.clone());
        }
    }
}

fn stranded(case: &Case<'_>) -> Option<Complaint> {
    let text = case.request.dependency.as_deref()?;
    if !dependency::jobs(text).any(|d| needs_success(case, d.kind)) {
        return None;
    }
    let mut arrays: Vec<u32> =
        dependency::jobs(text).filter(|d| strands(case, d)).map(|d| d.job_id).collect();
    arrays.dedup();
    let first = arrays.first()?;
    if text.contains('?') && !every_condition_strands(case, text) {
        return None;
    }
    let which = match arrays.len() {
        1 => format!("array {first}"),
        n => format!("{} such as {first}", count(n as u64, "array")),
    };
    Some(Complaint {
        quantity: "dependency",
        asked: format!("once a task of {which} fails, this job never starts"),
        allowed: Some(Allowed {
            place: Place::Site,
            verb: ("asks for", "ask for"),
            what: "afterany and a check of the results".to_owned(),
        }),
        excess: arrays.len() as u64,
        options: vec!["dependency"],
        remedies: vec![remedy(case, text)],
        errno: Errno::AccessDenied,
        told_by: None,
    })
}

/// Whether a condition of this kind wants every task to succeed (job_scheduler.c compares without
/// regard to case, and `aftercorr` of a job that is no array like `afterok`).
fn needs_success(case: &Case<'_>, kind: &str) -> bool {
    kind.eq_ignore_ascii_case("afterok")
        || (case.request.array.is_none() && kind.eq_ignore_ascii_case("aftercorr"))
}

fn strands(case: &Case<'_>, on: &Dependency<'_>) -> bool {
    on.whole_job && needs_success(case, on.kind) && case.cluster.is_array(on.job_id) == Some(true)
}

/// Whether no alternative is left that a failed task leaves alone.
fn every_condition_strands(case: &Case<'_>, text: &str) -> bool {
    let parts = || text.split('?').map(str::trim).filter(|p| !p.is_empty());
    parts().all(|part| {
        let named = part.split(':').count().saturating_sub(1);
        named > 0 && dependency::jobs(part).filter(|d| strands(case, d)).count() == named
    })
}

/// The user's own conditions with `afterany` where an array is named.
fn remedy(case: &Case<'_>, text: &str) -> Remedy {
    const LONGEST: usize = 60;
    let separator = if text.contains('?') { "?" } else { "," };
    let mut parts: Vec<String> = Vec::new();
    for part in text.split([',', '?']).map(str::trim).filter(|p| !p.is_empty()) {
        let (kind, jobs) = part.split_once(':').unwrap_or((part, ""));
        let is_array = |job: &&str| dependency::jobs(&format!("{kind}:{job}")).any(|d| strands(case, &d));
        let (arrays, rest): (Vec<&str>, Vec<&str>) = jobs.split(':').partition(is_array);
        if arrays.is_empty() {
            parts.push(part.to_owned());
            continue;
        }
        if !rest.is_empty() {
            parts.push(format!("{kind}:{}", rest.join(":")));
        }
        let arrays: Vec<&str> = arrays.iter().map(|a| a.split('(').next().unwrap_or(a)).collect();
        parts.push(format!("afterany:{}", arrays.join(":")));
    }
    let corrected = parts.join(separator);
    if corrected.len() <= LONGEST {
        Remedy::exactly("dependency", corrected)
    } else {
        Remedy::Change("write afterany for afterok where --dependency names an array".to_owned())
    }
}
