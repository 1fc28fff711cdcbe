//! A first job script for a partition, which the policy accepts: it is judged before it is shown.

use sluice::case::Case;
use sluice::cluster::{Cluster, UnknownCluster};
use sluice::date::Date;
use sluice::judge::judge;
use sluice::policy::Policy;
use sluice::request::{TimeLimit, time::Minutes};
use sluice::submit_line::{Command, CommandLine, Script, Series, World};

/// How long the job of the example runs, unless the partition gives less (minutes).
const MINUTES: u32 = 240;

/// The script; `None` where no such script is accepted as it stands.
pub fn skeleton(policy: &Policy, partition: &str, today: Date) -> Option<String> {
    let text = text(policy, partition);
    let argv = ["sbatch", "job.sh"].map(str::to_owned);
    let world = World { environment: &|_| None, directory: "/", user_id: NOBODY, group_id: NOBODY };
    let line = CommandLine::new(Command::Sbatch, Series::LATEST, &argv, &[]);
    let submission = line.read(&world, Some(Script { path: "/job.sh", text: &text }));
    let accepted = submission.problems.iter().all(|p| !p.refuses())
        && submission.components.iter().all(|component| {
            let verdict = judge(policy, &component.request, &UnknownCluster, today);
            let case = Case::new(policy, &component.request, &UnknownCluster as &dyn Cluster, today);
            // Nor would it be refused once what is audited now is in force.
            verdict.findings.is_empty() && sluice::placement::misfit(&case).is_none()
        });
    accepted.then_some(text)
}

/// A user of whom nothing is known.
const NOBODY: u32 = 65_534;

fn text(policy: &Policy, name: &str) -> String {
    let facts = policy.facts.partition(name);
    let mut lines = vec!["#!/bin/bash".to_owned(), "#SBATCH --job-name=train".to_owned()];
    let mut add = |option: String| lines.push(format!("#SBATCH {option}"));
    add(format!("--partition={name}"));
    // Guests of a lent partition name its QoS; so does everyone who is not sure to be its owner.
    let lent = facts.owner().and_then(|_| facts.lent_qos()?.literal().next());
    if let Some(qos) = lent {
        add(format!("--qos={qos}"));
    }
    add("--nodes=1".to_owned());
    let kind = match facts.gpu_types() {
        Some([]) => None,
        Some([first, ..]) => Some(format!("{first}:")),
        None => facts.node().gpus.filter(|&n| n > 0).map(|_| String::new()),
    };
    match &kind {
        Some(kind) => {
            add(format!("--gpus-per-node={kind}1"));
            let number = |per_gpu: Option<sluice::policy::PerGpu>| per_gpu.and_then(|n| n.default.or(n.max));
            let of_type = policy.facts.gpus.get(kind.trim_end_matches(':'));
            let cpus = sluice::policy::facts::first(&of_type, |g| g.cpus_per_gpu).or(facts.cpus_per_gpu());
            if let Some(cpus) = number(cpus) {
                add(format!("--cpus-per-task={cpus}"));
            }
        }
        None => add("--cpus-per-task=4".to_owned()),
    }
    let most = |limit: Option<TimeLimit>| match limit {
        Some(TimeLimit::Minutes(minutes)) => minutes,
        _ => u32::MAX,
    };
    let of_qos =
        lent.and_then(|qos| sluice::policy::facts::first(&policy.facts.qos.get(qos), |q| q.max_time));
    add(format!("--time={}", Minutes(MINUTES.min(most(facts.max_time())).min(most(of_qos)))));
    add("--output=%x-%j.out".to_owned());
    lines.push(String::new());
    lines.push("export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}".to_owned());
    lines.push("srun --cpus-per-task=${SLURM_CPUS_PER_TASK:-1} ./train".to_owned());
    lines.push(String::new());
    lines.join("\n")
}
