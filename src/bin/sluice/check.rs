//! `sluice check`: the verdict of slurmctld, or of sbatch before it, on a script or a command.

mod excerpt;
pub mod fix;
pub mod job;
mod json;
mod text;

use sluice::case::Case;
use sluice::cluster::Cluster;
use sluice::date::Date;
use sluice::judge::judge;
use sluice::placement::misfit;
use sluice::policy::Policy;
use sluice::policy::diagnostic::suggestion;
use sluice::request::partition_list;
use sluice::submit_line::{Component, Problem, ProblemKind, Series, Submission};
use sluice::verdict::Verdict;
use sluice::words::shown;

use crate::options::{Check, Common, Format};
use crate::people::{self, Person, Stated};
use crate::{Exit, Failure, output, policy_file, slurm};

use fix::Fixed;
use job::{Job, Reading};

/// One job with everything that was found out about it.
pub struct Checked<'j> {
    /// The job.
    pub job: &'j Job,
    /// As its client reads it.
    pub reading: Reading<'j>,
    /// What the client says of it, and notes.
    pub problems: Vec<Problem>,
    /// Its components with their verdicts; none where the client refuses it.
    pub judged: Vec<Judged>,
    /// What --fix did.
    pub fixed: Option<Fixed>,
}

/// One component of a job.
pub struct Judged {
    /// What was asked.
    pub component: Component,
    /// What comes of it.
    pub verdict: Verdict,
}

impl Checked<'_> {
    /// Whether the client keeps it to itself.
    pub fn client_refuses(&self) -> bool {
        refused_by_client(&self.problems)
    }

    /// Whether the policy refuses it.
    pub fn policy_refuses(&self) -> bool {
        !self.judged.iter().all(|j| j.verdict.accepts())
    }

    /// Whether it would be queued.
    pub fn accepted(&self) -> bool {
        !self.problems.iter().any(Problem::refuses) && self.judged.iter().all(|j| j.verdict.accepts())
    }
}

fn refused_by_client(problems: &[Problem]) -> bool {
    problems.iter().any(Problem::is_the_clients)
}

/// What jobs are judged by.
pub struct Judge<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// What is known of the cluster.
    pub cluster: Stated<'a>,
    /// Whose job it is.
    pub person: Person,
    /// The day.
    pub today: Date,
}

impl Judge<'_> {
    /// The verdict on each component; none where the client refuses the job.
    pub fn judge(&self, submission: &Submission) -> Vec<Judged> {
        if refused_by_client(&submission.problems) {
            return Vec::new();
        }
        let one = |component: &Component| {
            let mut component = component.clone();
            component.request.privileged = self.person.privileged;
            let verdict = judge(self.policy, &component.request, &self.cluster, self.today);
            Judged { component, verdict }
        };
        submission.components.iter().map(one).collect()
    }

    /// What slurmctld refuses although the policy accepts it: what finds no room on the nodes that the
    /// policy describes.
    pub fn without_room(&self, judged: &[Judged]) -> Vec<Problem> {
        if judged.iter().any(|j| !j.verdict.accepts()) {
            return Vec::new();
        }
        let one = |Judged { component, .. }: &Judged| {
            let misfit = misfit(&Case::new(self.policy, &component.request, &self.cluster, self.today))?;
            let (option, place) = component.place_of_any(misfit.options).unzip();
            Some(Problem { kind: ProblemKind::Controller, option, place, message: misfit.message })
        };
        judged.iter().filter_map(one).collect()
    }

    /// Whether a job would be queued.
    pub fn accepts(&self, submission: &Submission, judged: &[Judged]) -> bool {
        !submission.problems.iter().any(Problem::refuses)
            && judged.iter().all(|j| j.verdict.accepts())
            && self.without_room(judged).is_empty()
    }

    /// Notes on partitions of which the policy says nothing: none of its facts hold there, and the
    /// name may be mistyped.
    fn unknown_partitions(&self, judged: &[Judged]) -> Vec<Problem> {
        let partitions = &self.policy.facts.partitions;
        if partitions.is_empty() {
            return Vec::new();
        }
        let of_one = |Judged { component, .. }: &Judged| {
            let asked = component.request.partition.as_deref().unwrap_or("").to_owned();
            let unknown = |name: &&str| !self.policy.facts.partition(name).is_known();
            let note = |name: &str| {
                let meant = suggestion(name, partitions.literal_names());
                let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
                let message = format!("the policy knows no partition {}{meant}", shown(name));
                Problem::advice("partition", component.place("partition"), message)
            };
            partition_list::names(&asked).filter(unknown).map(note).collect::<Vec<_>>()
        };
        judged.iter().flat_map(of_one).collect()
    }
}

/// Judges every job that `verb` names.
///
/// # Errors
/// A policy or a script that cannot be read, a command that submits nothing.
pub fn run(common: &Common, verb: &Check) -> Result<Exit, Failure> {
    let today = policy_file::today();
    let person = people::person(verb.whom.user.as_deref())?;
    if verb.fix && verb.scripts.iter().any(|script| script.as_os_str() == "-") {
        return Err("--fix writes the script, and standard input cannot be written".to_owned());
    }
    let jobs = Job::all(verb)?;
    let series = verb.whom.slurm.or_else(slurm::installed_series).unwrap_or(Series::LATEST);

    // First what is to be judged, so that a wrong name is all that is told.
    let several = jobs.len() > 1;
    let mut exit = Exit::Yes;
    let mut read = Vec::new();
    for job in &jobs {
        match job.read(series, &person) {
            Ok(reading) => read.push((job, reading)),
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
    let judge = Judge { policy, cluster: Stated { policy, whom: &verb.whom }, person, today };
    let mut checked = Vec::new();
    for (job, mut reading) in read {
        let fixed = if verb.fix { Some(fix::fix(&mut reading, series, &judge)?) } else { None };
        let mut problems = reading.submission.problems.clone();
        problems.extend(reading.advice());
        let judged = judge.judge(&reading.submission);
        problems.extend(judge.without_room(&judged));
        problems.extend(judge.unknown_partitions(&judged));
        checked.push(Checked { job, reading, problems, judged, fixed });
    }
    let justify_option = judge.cluster.has_justify_option();
    match common.format {
        Format::Text => text::print(&checked, several, policy, justify_option),
        Format::Json => json::print(&checked, &found, justify_option),
    }
    tell_root(&checked, policy, person.uid, verb);
    let verdict = if checked.iter().all(Checked::accepted) { Exit::Yes } else { Exit::No };
    Ok(exit.max(verdict))
}

/// Root runs checks for others, in containers above all, and is judged like them. What slurmctld
/// would do with root's own job is said, so that nobody is surprised.
fn tell_root(checked: &[Checked<'_>], policy: &Policy, uid: u32, verb: &Check) {
    let refused = checked.iter().any(|c| c.judged.iter().any(|j| !j.verdict.accepts()));
    if refused && uid == 0 && verb.whom.user.is_none() && policy.site.exempt_root {
        output::note("judged as for an ordinary user; root itself is exempt (--user=root)");
    }
}
