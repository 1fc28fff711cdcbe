//! `sluice check`: the verdict of slurmctld, or of sbatch before it, on a script or a command.

mod job;
mod json;
mod text;

use sluice::cluster::Cluster;
use sluice::judge::judge;
use sluice::policy::Policy;
use sluice::submit_line::{Component, Problem, Series};
use sluice::verdict::Verdict;

use crate::options::{Check, Common, Format};
use crate::people::{self, Stated};
use crate::{Exit, Failure, output, policy_file, slurm};

use job::Job;

/// One job with everything that was found out about it.
pub struct Checked {
    /// The job.
    pub job: Job,
    /// How messages call its script.
    pub script: String,
    /// What the client says of it.
    pub problems: Vec<Problem>,
    /// Its components with their verdicts; none where the client refuses it.
    pub judged: Vec<Judged>,
}

/// One component of a job.
pub struct Judged {
    /// What was asked.
    pub component: Component,
    /// What comes of it.
    pub verdict: Verdict,
}

impl Checked {
    /// Whether the client keeps it to itself.
    pub fn client_refuses(&self) -> bool {
        self.problems.iter().any(Problem::refuses)
    }

    /// Whether it would be queued.
    pub fn accepted(&self) -> bool {
        !self.client_refuses() && self.judged.iter().all(|j| j.verdict.accepts())
    }
}

/// Judges every job that `verb` names.
///
/// # Errors
/// A policy or a script that cannot be read, a command that submits nothing.
pub fn run(common: &Common, verb: &Check) -> Result<Exit, Failure> {
    let today = policy_file::today();
    let person = people::person(verb.user.as_deref())?;
    let jobs = Job::all(verb)?;
    let series = verb.slurm.or_else(slurm::installed_series).unwrap_or(Series::LATEST);

    // First what is to be judged, so that a wrong name is all that is told.
    let several = jobs.len() > 1;
    let mut exit = Exit::Yes;
    let mut read = Vec::new();
    for job in jobs {
        match job.read(series, &person) {
            Ok(submission) => read.push((job, submission)),
            // One script that cannot be read keeps no other from being judged.
            Err(failure) if several => {
                output::complain(&failure);
                exit = Exit::Failed;
            }
            Err(failure) => return Err(failure),
        }
    }
    let found = policy_file::find(common.policy.as_deref(), today)?;
    let policy = &found.policy;
    let cluster = Stated { policy, check: verb };
    let mut checked = Vec::new();
    for (job, (submission, script)) in read {
        let mut one = Checked { job, script, problems: submission.problems, judged: Vec::new() };
        if !one.client_refuses() {
            for mut component in submission.components {
                component.request.privileged = person.privileged;
                let verdict = judge(policy, &component.request, &cluster, today);
                one.judged.push(Judged { component, verdict });
            }
        }
        checked.push(one);
    }
    match common.format {
        Format::Text => text::print(&checked, several, policy, cluster.has_justify_option()),
        Format::Json => json::print(&checked, &found, cluster.has_justify_option()),
    }
    tell_root(&checked, policy, person.uid, verb);
    let verdict = if checked.iter().all(Checked::accepted) { Exit::Yes } else { Exit::No };
    Ok(exit.max(verdict))
}

/// Root runs checks for others, in containers above all, and is judged like them. What slurmctld
/// would do with root's own job is said, so that nobody is surprised.
fn tell_root(checked: &[Checked], policy: &Policy, uid: u32, verb: &Check) {
    let refused = checked.iter().any(|c| c.judged.iter().any(|j| !j.verdict.accepts()));
    if refused && uid == 0 && verb.user.is_none() && policy.site.exempt_root {
        output::note("judged as for an ordinary user; root itself is exempt (--user=root)");
    }
}
