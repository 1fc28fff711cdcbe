//! `explicit-shape`: a GPU job states itself what only its user can know.

use super::{Check, RuleInfo, explained, parse};
use crate::case::{Candidate, Case};
use crate::judge::Report;
use crate::request::options::OptionTest;
use crate::request::{Memory, Origin, Request, shape};
use crate::verdict::{Allowed, Complaint, Errno, Place, Remedy, Topic, not_given};
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
    /// `require`: options that must be stated, by long name, such as
    /// `["nodes", "time", "partition"]`. Any that slurmctld can see; `"mem"` is stated by any option
    /// for memory, `"gpus"` by any option for GPUs, `"ntasks"` by tasks per node too. None where it
    /// is left out.
    pub struct ExplicitShape {
        /// Options that must be stated, by long name.
        #[serde(default)]
        require: Vec<Required>,
    }
}

/// An option that must be stated.
#[derive(Debug)]
struct Required(OptionTest);

#[cfg(test)]
impl crate::policy::schema::Described for Required {
    fn schema() -> serde_json::Value {
        serde_json::json!({ "type": "string", "minLength": 1 })
    }
}

impl<'de> serde::Deserialize<'de> for Required {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let text = String::deserialize(deserializer)?;
        let test = OptionTest::new(&text).map_err(|bad| {
            let help = bad.help.map(|help| format!("; {help}")).unwrap_or_default();
            D::Error::custom(format!("{}{help}", bad.message))
        })?;
        match test.value() {
            None => Ok(Required(test)),
            Some(_) => Err(D::Error::custom("an option without a value: what it is set to is the job's own")),
        }
    }
}

impl Check for ExplicitShape {
    fn check(&self, case: &Case<'_>, _: &Candidate<'_>, report: &mut Report<'_, '_>) {
        if !shape::asks_for_gpus(case.request) {
            return;
        }
        let ambiguous = ambiguous_total(case);
        for required in &self.require {
            // Without nodes the total says more than that they are missing.
            let told = required.name() == "nodes" && ambiguous.is_some();
            if !told && !required.is_stated(case.request) {
                report.complain(missing(required, case));
            }
        }
        if let Some(complaint) = ambiguous {
            report.complain(complaint);
        }
    }
}

impl Required {
    /// Long name, without dashes.
    fn name(&self) -> &'static str {
        self.0.option().name
    }

    /// Whether the request states it, for memory and GPUs by any option of its kind.
    fn is_stated(&self, request: &Request<'_>) -> bool {
        match self.name() {
            "mem" => request.memory != Memory::Unset || shape::memory_per_gpu(request).is_some(),
            "gpus" => shape::asks_for_gpus(request),
            "ntasks" => request.num_tasks.is_some() || request.ntasks_per_node.is_some(),
            // srun and salloc keep it to themselves.
            _ if self.0.option().batch_only && request.origin == Origin::Interactive => true,
            _ => self.0.is_given(request),
        }
    }

    /// The option with what Slurm would take anyhow, where that is known and the same everywhere.
    fn as_it_is(&self, case: &Case<'_>) -> Option<String> {
        let on = |candidate: &Candidate<'_>| {
            let shape = &candidate.shape;
            match self.name() {
                "nodes" => shape.nodes.fixed().map(|n| n.to_string()),
                "ntasks" => shape.tasks.fixed().map(|n| n.to_string()),
                "partition" => candidate.partition().map(str::to_owned),
                "qos" => candidate.qos(case).map(|q| q.name.clone()),
                "account" => case.account().map(|a| a.name.clone()),
                _ => None,
            }
        };
        let value = on(case.candidates.first()?)?;
        case.candidates.iter().all(|c| on(c).as_ref() == Some(&value)).then_some(value)
    }
}

fn missing(required: &Required, case: &Case<'_>) -> Complaint {
    let option = required.name();
    let remedy = match required.as_it_is(case) {
        Some(value) => Remedy::exactly(option, value),
        None => Remedy::Change(format!("state --{option}")),
    };
    Complaint {
        // The name by which time-limit knows it, which says the same better.
        quantity: if option == "time" { "time limit" } else { option },
        asked: not_given(option),
        allowed: Some(Allowed {
            place: Place::Site,
            verb: ("wants", "want"),
            what: "every GPU job to state it".to_owned(),
        }),
        excess: 1,
        options: vec![option],
        remedies: vec![remedy],
        errno: match option {
            "time" => Errno::MissingTimeLimit,
            "partition" => Errno::InvalidPartitionName,
            "qos" => Errno::InvalidQos,
            "account" => Errno::InvalidAccount,
            "nodes" => Errno::InvalidNodeCount,
            _ => Errno::AccessDenied,
        },
        told_by: (option == "time").then_some("time-limit"),
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
