//! `explicit-shape`: a GPU job states itself what only its user can know.

use super::{Check, RuleInfo, explained, parse};
use crate::case::{Candidate, Case};
use crate::judge::Report;
use crate::request::memory::Mb;
use crate::request::time::Minutes;
use crate::request::{Memory, Request, TimeLimit, shape};
use crate::verdict::{Allowed, Complaint, Errno, Place, Remedy, Topic};
use crate::words::shown;

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "explicit-shape",
    topic: Topic::Gpu,
    explanation: EXPLANATION,
    justifiable: true,
    parse: parse::<ExplicitShape>,
};

explained! {
    /// A GPU job states its shape itself.
    ///
    /// # What it holds
    /// A job that asks for GPUs states each option in `require`. And it says on how many nodes its
    /// GPUs are: `--gpus=4` alone means neither four GPUs on one node nor four GPU nodes. With
    /// `--nodes`, with `--gpus-per-node`, `--gpus-per-task` or `--gpus-per-socket` beside it, or
    /// where a node has one GPU, it does. One GPU is on one node.
    ///
    /// # Why
    /// What is left open Slurm decides, differently from day to day: four GPUs on four nodes train
    /// several times slower than on one, and half of the programs use one node only.
    ///
    /// # Refused
    /// ```text
    /// sbatch --partition=gpu --gpus=4 train.sh
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --partition=gpu --gpus=4 --nodes=1 train.sh
    /// sbatch --partition=gpu --nodes=2 --gpus-per-node=4 train.sh
    /// ```
    ///
    /// # Options
    /// `require`: what must be stated: any of `"nodes"`, `"ntasks"`, `"ntasks-per-node"`,
    /// `"cpus-per-task"`, `"cpus-per-gpu"`, `"mem"` (by any option for memory), `"time"`,
    /// `"partition"`, `"qos"`, `"account"`. None where it is left out.
    pub struct ExplicitShape {
        #[serde(default)]
        require: Vec<Required>,
    }
}

/// An option that may be required.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Required {
    Nodes,
    Ntasks,
    NtasksPerNode,
    CpusPerTask,
    CpusPerGpu,
    Mem,
    Time,
    Partition,
    Qos,
    Account,
}

impl Check for ExplicitShape {
    fn check(&self, case: &Case<'_>, candidate: &Candidate<'_>, report: &mut Report<'_, '_>) {
        if !shape::asks_for_gpus(case.request) {
            return;
        }
        let ambiguous = ambiguous_total(case);
        for required in &self.require {
            // Without nodes the total says more than that they are missing.
            let told = *required == Required::Nodes && ambiguous.is_some();
            if !told && !required.is_stated(case.request) {
                report.complain(missing(*required, case, candidate));
            }
        }
        if let Some(complaint) = ambiguous {
            report.complain(complaint);
        }
    }
}

impl Required {
    /// Long name, without dashes.
    fn option(self) -> &'static str {
        match self {
            Required::Nodes => "nodes",
            Required::Ntasks => "ntasks",
            Required::NtasksPerNode => "ntasks-per-node",
            Required::CpusPerTask => "cpus-per-task",
            Required::CpusPerGpu => "cpus-per-gpu",
            Required::Mem => "mem",
            Required::Time => "time",
            Required::Partition => "partition",
            Required::Qos => "qos",
            Required::Account => "account",
        }
    }

    fn is_stated(self, request: &Request<'_>) -> bool {
        let named = |text: &Option<crate::request::Text<'_>>| text.as_deref().is_some_and(|t| !t.is_empty());
        match self {
            Required::Nodes => request.min_nodes.is_some(),
            Required::Ntasks => request.num_tasks.is_some(),
            Required::NtasksPerNode => request.ntasks_per_node.is_some(),
            Required::CpusPerTask => request.cpus_per_task.is_some(),
            Required::CpusPerGpu => !request.cpus_per_tres.is_empty(),
            Required::Mem => request.memory != Memory::Unset || !request.mem_per_tres.is_empty(),
            Required::Time => request.time_limit != TimeLimit::Unset,
            Required::Partition => named(&request.partition),
            Required::Qos => named(&request.qos),
            Required::Account => named(&request.account),
        }
    }

    /// The option with what Slurm would take anyhow, where that is known.
    fn as_it_is(self, case: &Case<'_>, candidate: &Candidate<'_>) -> Option<String> {
        let shape = &candidate.shape;
        match self {
            Required::Nodes => shape.nodes.fixed().map(|n| n.to_string()),
            Required::Ntasks => shape.tasks.fixed().map(|n| n.to_string()),
            Required::NtasksPerNode if shape.nodes.fixed() == Some(1) => {
                shape.tasks.fixed().map(|n| n.to_string())
            }
            Required::Partition => candidate.partition().map(str::to_owned),
            Required::Qos => candidate.qos(case).map(|q| q.name.clone()),
            Required::Account => case.account().map(|a| a.name.clone()),
            _ => None,
        }
    }

    /// What such an option looks like.
    fn example(self) -> String {
        match self {
            Required::Nodes => "1".to_owned(),
            Required::Mem => Mb(64 << 10).to_string(),
            Required::Time => Minutes(240).to_string(),
            Required::Partition | Required::Qos | Required::Account => "NAME".to_owned(),
            _ => "4".to_owned(),
        }
    }
}

fn missing(required: Required, case: &Case<'_>, candidate: &Candidate<'_>) -> Complaint {
    let option = required.option();
    let remedy = match required.as_it_is(case, candidate) {
        Some(value) => Remedy::exactly(option, value),
        None => Remedy::Change(format!("state it, such as --{option}={}", required.example())),
    };
    Complaint {
        // The name by which time-limit knows it, which says the same better.
        quantity: if required == Required::Time { "time limit" } else { option },
        asked: format!("--{option} is not given"),
        allowed: Some(Allowed {
            place: Place::Site,
            verb: ("wants", "want"),
            what: "every GPU job to state it".to_owned(),
        }),
        excess: 1,
        options: vec![option],
        remedies: vec![remedy],
        errno: match required {
            Required::Time => Errno::MissingTimeLimit,
            Required::Partition => Errno::InvalidPartitionName,
            Required::Qos => Errno::InvalidQos,
            Required::Account => Errno::InvalidAccount,
            Required::Nodes => Errno::InvalidNodeCount,
            _ => Errno::AccessDenied,
        },
        told_by: (required == Required::Time).then_some("time-limit"),
    }
}

/// A total of GPUs that may be on any number of nodes.
fn ambiguous_total(case: &Case<'_>) -> Option<Complaint> {
    let request = case.request;
    let total = request.tres_per_job.gpu_count().filter(|&n| n > 1)?;
    let [_, per_node, per_task, per_socket] = shape::gpu_lists(request);
    let divided = [per_node, per_task, per_socket].iter().any(|l| l.gpu_count().is_some_and(|n| n > 0));
    let by_tasks = request.num_tasks.is_some() && request.ntasks_per_node.is_some();
    let one_each = case.candidates.iter().all(|c| c.facts.node().gpus == Some(1));
    if request.min_nodes.is_some() || divided || by_tasks || one_each {
        return None;
    }
    // On no fewer nodes can they be in any of the partitions.
    let nodes = case.candidates.iter().map(|c| c.shape.nodes.low).max()?;
    let fewest = if nodes == 1 { "on one node".to_owned() } else { format!("on {nodes} nodes") };
    let option = "nodes";
    Some(Complaint {
        quantity: "GPUs of the job",
        asked: format!("--gpus={} may be {fewest} or on {total}", shown(&typed(request))),
        allowed: Some(Allowed {
            place: Place::Site,
            verb: ("wants", "want"),
            what: "GPU jobs to say how many".to_owned(),
        }),
        excess: 1,
        options: vec!["gpus", option],
        remedies: vec![
            Remedy::exactly(option, nodes.to_string()),
            Remedy::Change("state --nodes and --gpus-per-node".to_owned()),
        ],
        errno: Errno::InvalidNodeCount,
        told_by: None,
    })
}

/// The value of `--gpus` as the user typed it: without the prefix that the client puts before it.
fn typed(request: &Request<'_>) -> String {
    let one = |item: crate::request::tres::Item<'_>| {
        let count = item.count.unwrap_or(1);
        item.kind.map_or(count.to_string(), |kind| format!("{kind}:{count}"))
    };
    request.tres_per_job.gpus().map(one).collect::<Vec<_>>().join(",")
}
