//! `exclusive`: no whole node without a reason.

use super::per_gpu::{self, Key};
use super::{Check, RuleInfo, explained, parse};
use crate::case::{Candidate, Case};
use crate::judge::{Report, place};
use crate::request::memory::Mb;
use crate::request::shape::Amount;
use crate::request::{Memory, Sharing};
use crate::verdict::{Allowed, Complaint, Errno, Remedy, Topic};
use crate::words::count;

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "exclusive",
    topic: Topic::Cpu,
    explanation: EXPLANATION,
    justifiable: true,
    parse: parse::<Exclusive>,
};

explained! {
    /// No whole node without a reason.
    ///
    /// # What it holds
    /// A job does not take a whole node of a partition whose nodes are shared: not by `--exclusive`
    /// in any variant, not by `--mem=0` or `--mem-per-cpu=0`, not by `--core-spec` or `--thread-spec` (Slurm makes such
    /// jobs exclusive), and not by asking for all CPUs or all memory of a node. Asking for all GPUs
    /// of a node is no reason to take all of the node; CPUs and memory within the GPUs' own share
    /// are no whole node. Partitions with `whole_node = true` are left alone.
    ///
    /// # Why
    /// A job of one GPU on an exclusive node keeps the other GPUs from everyone.
    ///
    /// # Refused
    /// ```text
    /// sbatch --partition=gpu --gpus=1 --exclusive train.sh
    /// sbatch --partition=gpu --gpus=1 --mem=0 train.sh
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --partition=gpu --gpus=1 --cpus-per-gpu=8 --mem-per-gpu=60G train.sh
    /// ```
    ///
    /// # Options
    /// `allow`: variants that are tolerated: `"user"`, `"mcs"`, `"topo"`, `"mem=0"`.
    pub struct Exclusive {
        /// Variants that are tolerated.
        #[serde(default)]
        allow: Vec<Variant>,
    }
}

/// A way to take a whole node that a site may tolerate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
enum Variant {
    #[serde(rename = "user")]
    User,
    #[serde(rename = "mcs")]
    Mcs,
    #[serde(rename = "topo")]
    Topo,
    #[serde(rename = "mem=0")]
    AllMemory,
}

#[cfg(test)]
impl crate::policy::schema::Described for Variant {
    fn schema() -> serde_json::Value {
        serde_json::json!({ "type": "string", "enum": ["user", "mcs", "topo", "mem=0"] })
    }
}

impl Check for Exclusive {
    fn check(&self, case: &Case<'_>, candidate: &Candidate<'_>, report: &mut Report<'_, '_>) {
        if candidate.facts.whole_node() {
            return;
        }
        self.check_sharing(case, candidate, report);
        if case.request.memory.takes_all() && !self.allow.contains(&Variant::AllMemory) {
            let option = if case.request.memory == Memory::WholeNode { "mem" } else { "mem-per-cpu" };
            report.complain(whole_node(
                candidate,
                "memory",
                format!("--{option}=0 takes all memory of each node"),
                &[option],
                vec![Remedy::Drop { option }],
                None,
            ));
        }
        check_cpus(case, candidate, report);
        check_memory(case, candidate, report);
    }
}

impl Exclusive {
    fn check_sharing(&self, case: &Case<'_>, candidate: &Candidate<'_>, report: &mut Report<'_, '_>) {
        let (option, variant) = match case.request.shared {
            Sharing::Exclusive => ("--exclusive", None),
            Sharing::User => ("--exclusive=user", Some(Variant::User)),
            Sharing::Mcs => ("--exclusive=mcs", Some(Variant::Mcs)),
            Sharing::Topo => ("--exclusive=topo", Some(Variant::Topo)),
            Sharing::Unset | Sharing::Oversubscribe | Sharing::Other(_) => ("", None),
        };
        if !option.is_empty() && variant.is_none_or(|v| !self.allow.contains(&v)) {
            let asked = match variant {
                None => format!("{option} takes {}", all_of_a_node(case, candidate)),
                Some(_) => format!("{option} keeps other users off the nodes"),
            };
            let remedies = vec![Remedy::Drop { option: "exclusive" }];
            report.complain(whole_node(candidate, "sharing", asked, &["exclusive"], remedies, None));
        }
        if let Some(n) = case.request.core_spec {
            // The two arrive as one number.
            let option = if case.request.wrote("thread-spec") { "thread-spec" } else { "core-spec" };
            let asked = format!("--{option}={n} makes Slurm take whole nodes");
            let options = &["core-spec", "thread-spec"];
            let remedies = vec![Remedy::Drop { option }];
            report.complain(whole_node(candidate, "core specialization", asked, options, remedies, None));
        }
    }
}

/// `all 64 CPUs and 4 GPUs of each node`, as far as the facts say, and say the same of every
/// partition of the request.
fn all_of_a_node(case: &Case<'_>, candidate: &Candidate<'_>) -> String {
    let node = candidate.facts.node();
    if case.candidates.iter().any(|c| c.facts.node() != node) {
        return "whole nodes".to_owned();
    }
    match (node.cpus, node.gpus.filter(|&n| n > 0)) {
        (Some(cpus), Some(gpus)) => {
            format!("all {} and {} of each node", count(cpus, "CPU"), count(gpus, "GPU"))
        }
        (Some(cpus), None) => format!("all {} of each node", count(cpus, "CPU")),
        (None, _) => "whole nodes".to_owned(),
    }
}

fn check_cpus(case: &Case<'_>, candidate: &Candidate<'_>, report: &mut Report<'_, '_>) {
    let Some(all) = candidate.facts.node().cpus.filter(|&n| n > 0) else { return };
    let asked = upper(candidate.shape.cpus_per_node);
    // One CPU is all of a node only on machines that nobody shares.
    if asked < all || all == 1 || within_share(case, candidate, &per_gpu::CPUS, asked) {
        return;
    }
    let request = case.request;
    let mut options = Vec::new();
    if !request.cpus_per_tres.is_empty() {
        options.push("cpus-per-gpu");
    }
    if request.cpus_per_task.is_some() {
        options.push("cpus-per-task");
    }
    options.extend(request.ntasks_per_node.map(|_| "ntasks-per-node"));
    options.extend(request.num_tasks.filter(|&n| n > 1).map(|_| "ntasks"));
    let text = format!("{} on each node are all that it has", count(asked, "CPU"));
    let remedies = vec![Remedy::Change(format!("ask for less than {} a node", count(all, "CPU")))];
    report.complain(whole_node(candidate, "cpus", text, &options, remedies, Some("cpus-per-gpu")));
}

fn check_memory(case: &Case<'_>, candidate: &Candidate<'_>, report: &mut Report<'_, '_>) {
    let (Some(all), Some(asked)) = (candidate.facts.node().memory, candidate.shape.memory_per_node) else {
        return;
    };
    let asked = upper(asked);
    if case.request.memory.takes_all() || asked < all || all == 0 {
        return;
    }
    if within_share(case, candidate, &per_gpu::MEMORY, asked) {
        return;
    }
    let option = match case.request.memory {
        Memory::PerCpu(_) => "mem-per-cpu",
        Memory::PerNode(_) => "mem",
        Memory::Unset | Memory::WholeNode => "mem-per-gpu",
    };
    let text = format!("{} on each node is all of its memory", Mb(asked));
    let remedies = vec![Remedy::Change(format!("ask for less than {} a node", Mb(all)))];
    report.complain(whole_node(candidate, "memory", text, &[option], remedies, Some("memory-per-gpu")));
}

/// Whether `asked` on one node is what the GPUs on that node bring with them.
fn within_share(case: &Case<'_>, candidate: &Candidate<'_>, key: &Key, asked: u64) -> bool {
    let Some(gpus) = candidate.shape.gpus_per_node.map(upper).filter(|&n| n > 0) else { return false };
    per_gpu::share(case, candidate, key).and_then(|s| s.max_for(gpus)).is_some_and(|max| asked <= max)
}

/// The upper end of a range; what Slurm decides counts by what is certain.
fn upper(amount: Amount) -> u64 {
    amount.high.unwrap_or(amount.low)
}

fn whole_node(
    candidate: &Candidate<'_>,
    quantity: &'static str,
    asked: String,
    options: &[&'static str],
    remedies: Vec<Remedy>,
    told_by: Option<&'static str>,
) -> Complaint {
    Complaint {
        quantity,
        asked,
        allowed: Some(Allowed {
            place: place(candidate),
            verb: ("shares its nodes", "share their nodes"),
            what: String::new(),
        }),
        excess: 1,
        options: options.to_vec(),
        remedies,
        errno: Errno::AccessDenied,
        told_by,
    }
}
