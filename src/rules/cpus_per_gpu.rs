//! `cpus-per-gpu`: each GPU brings so many CPUs and no more.

use super::per_gpu::{self, Share};
use super::{Check, RuleInfo, explained, parse};
use crate::case::{Candidate, Case};
use crate::judge::Report;
use crate::request::shape::{self, Shape};
use crate::request::{Memory, Request, Sharing};
use crate::verdict::{Complaint, Edit, Errno, Remedy, Topic};
use crate::words::{count, ratio};

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "cpus-per-gpu",
    topic: Topic::Cpu,
    explanation: EXPLANATION,
    justifiable: true,
    parse: parse::<CpusPerGpu>,
};

explained! {
    /// CPUs for each GPU.
    ///
    /// # What it holds
    /// A job gets at most so many CPUs for each of its GPUs, counted over the whole job and however
    /// they are asked for: `--cpus-per-task` times tasks, `--cpus-per-gpu`, `--ntasks`,
    /// `--ntasks-per-node`, `--mincpus`. A request that says nothing about CPUs gets the default
    /// filled in. The numbers are facts: `cpus_per_gpu` of the partition, or of the GPU type, which
    /// beats it: `{ default = 4, max = 8 }`, a bare number for both, or `{ exact = 14 }`.
    ///
    /// # Why
    /// GPUs whose node has no CPU left stand idle, and nobody sees why their job waits.
    ///
    /// # Refused
    /// ```text
    /// sbatch --partition=gpu --gpus=1 --cpus-per-task=32 train.sh
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --partition=gpu --gpus=1 --cpus-per-gpu=8 train.sh
    /// sbatch --partition=gpu --gpus=4 train.sh      (the default is filled in)
    /// ```
    ///
    /// # Options
    /// None of its own.
    pub struct CpusPerGpu {}
}

impl Check for CpusPerGpu {
    fn check(&self, case: &Case<'_>, candidate: &Candidate<'_>, report: &mut Report<'_, '_>) {
        let request = case.request;
        if candidate.facts.whole_node() || candidate.shape.gpus.is_none_or(|g| g.high == Some(0)) {
            return;
        }
        let Some(share) = per_gpu::share(case, candidate, &per_gpu::CPUS) else { return };
        let Some(worst) = Load::worst(request, &candidate.shape, &share) else { return };

        if says_nothing(request) {
            if let Some(default) = share.default.filter(|d| worst.tasks <= d.saturating_mul(worst.gpus)) {
                // A whole node has all of its CPUs anyhow.
                if !matches!(request.shared, Sharing::Exclusive) {
                    report.fill_in(&RULE, Edit::CpusPerGpu(default));
                }
                return;
            }
        }
        let too_many = worst.cpus > worst.allowed;
        let too_few = share.exact && worst.cpus < worst.allowed;
        if !too_many && !too_few {
            return;
        }
        report.complain(Complaint {
            quantity: "cpus",
            asked: format!(
                "{} for {} is {} per GPU",
                count(worst.cpus, "CPU"),
                count(worst.gpus, "GPU"),
                ratio(worst.cpus, worst.gpus)
            ),
            allowed: Some(share.allowed(candidate, &share.max_each().unwrap_or(0).to_string())),
            excess: worst.cpus.abs_diff(worst.allowed),
            options: worst.options(request),
            remedies: worst.remedies(request, &share),
            errno: Errno::AccessDenied,
            told_by: None,
        });
    }
}

/// Whether the request leaves the number of CPUs to the site.
fn says_nothing(request: &Request<'_>) -> bool {
    let tasks = u64::from(request.num_tasks.unwrap_or(1));
    request.cpus_per_task.is_none()
        && request.cpus_per_tres.is_empty()
        && !matches!(request.memory, Memory::PerCpu(_))
        && request.sockets_per_node.is_none()
        && request.cores_per_socket.is_none()
        && request.threads_per_core.is_none()
        && request.ntasks_per_core.is_none()
        && request.ntasks_per_socket.is_none()
        && request.core_spec.is_none()
        && request.pn_min_cpus.is_none_or(|n| n <= 1)
        && !request.overcommit
        && !request.tres_per_task.items().any(|i| i.name == "cpu")
        // The client always counts a CPU a task; more than that somebody asked for.
        && request.min_cpus.is_none_or(|n| u64::from(n) <= tasks.max(tasks_per_node(request)))
}

fn tasks_per_node(request: &Request<'_>) -> u64 {
    let nodes = u64::from(request.min_nodes.unwrap_or(1));
    u64::from(request.ntasks_per_node.unwrap_or(1)).saturating_mul(nodes)
}

/// CPUs against GPUs, where the ratio is at its worst within what the request leaves open.
struct Load {
    nodes: u64,
    tasks: u64,
    gpus: u64,
    cpus: u64,
    allowed: u64,
}

impl Load {
    fn worst(request: &Request<'_>, shape: &Shape, share: &Share<'_>) -> Option<Load> {
        let on = |nodes: u64| {
            let at = Shape::at(request, nodes);
            let gpus = at.gpus.filter(|&g| g > 0)?;
            Some(Load { nodes, tasks: at.tasks, gpus, cpus: at.cpus, allowed: share.max_for(gpus)? })
        };
        let ends = [Some(shape.nodes.low), shape.nodes.high];
        // An exact number is also missed from below.
        let distance = |l: &Load| {
            let over = l.cpus.saturating_sub(l.allowed);
            if over == 0 && share.exact { l.allowed.saturating_sub(l.cpus) } else { over }
        };
        ends.into_iter().flatten().filter_map(on).max_by_key(distance)
    }

    /// CPUs of each task.
    fn per_task(request: &Request<'_>) -> u64 {
        u64::from(request.cpus_per_task.unwrap_or(1)).max(1)
    }

    /// The options that made it so many, the most telling first.
    fn options(&self, request: &Request<'_>) -> Vec<&'static str> {
        let mut options = Vec::new();
        if !request.cpus_per_tres.is_empty() {
            options.push("cpus-per-gpu");
        }
        if request.cpus_per_task.is_some() {
            options.push("cpus-per-task");
        }
        if request.ntasks_per_node.is_some() {
            options.push("ntasks-per-node");
        }
        if request.num_tasks.is_some_and(|n| n > 1) {
            options.push("ntasks");
        }
        if request.pn_min_cpus.is_some_and(|n| u64::from(n) > Load::per_task(request)) {
            options.push("mincpus");
        }
        options
    }

    /// What to type instead, in the spelling that the request uses.
    fn remedies(&self, request: &Request<'_>, share: &Share<'_>) -> Vec<Remedy> {
        let bounded = |option, value: u64| {
            if share.exact {
                Remedy::exactly(option, value.to_string())
            } else {
                Remedy::or_less(option, value.to_string())
            }
        };
        let in_all = || vec![Remedy::Change(format!("ask for {} in all", count(self.allowed, "CPU")))];
        let each = share.max_each().unwrap_or(0);
        if each == 0 {
            return in_all();
        }
        let minimum = u64::from(request.pn_min_cpus.unwrap_or(0));
        if minimum > Load::per_task(request) && minimum.saturating_mul(self.nodes) > self.allowed {
            return vec![bounded("mincpus", self.allowed / self.nodes.max(1))];
        }
        let from_tasks = self.tasks.saturating_mul(Load::per_task(request));
        if shape::cpus_per_gpu(request).is_some() && from_tasks <= self.allowed {
            return vec![bounded("cpus-per-gpu", each)];
        }
        if request.cpus_per_task.is_some() && self.tasks > 0 && self.tasks <= self.allowed {
            let value = self.allowed / self.tasks;
            // The user's own option first; counted per GPU it is the same for any number of tasks.
            if request.wrote("tres-per-task=cpu") {
                return vec![Remedy::exactly("tres-per-task", with_cpus(request, value))];
            }
            let per_gpu = bounded("cpus-per-gpu", each).instead_of(&["cpus-per-task"]);
            let whole = !share.exact || value.saturating_mul(self.tasks) == self.allowed;
            return whole.then(|| bounded("cpus-per-task", value)).into_iter().chain([per_gpu]).collect();
        }
        let per_task = Load::per_task(request);
        let tasks = self.allowed / per_task;
        match request.ntasks_per_node {
            _ if tasks == 0 => in_all(),
            Some(_) if tasks >= self.nodes && !share.exact => {
                vec![bounded("ntasks-per-node", tasks / self.nodes.max(1))]
            }
            None if request.num_tasks.is_some() && from_tasks > self.allowed => {
                vec![bounded("ntasks", tasks)]
            }
            None if from_tasks <= self.allowed && share.exact => {
                vec![Remedy::exactly("cpus-per-gpu", each.to_string())]
            }
            _ => in_all(),
        }
    }
}

/// The user's own `--tres-per-task` with another number of CPUs. Slurm keeps that number apart.
fn with_cpus(request: &Request<'_>, cpus: u64) -> String {
    let list = request.tres_per_task.as_str();
    let others = list.split(',').filter(|item| !item.is_empty() && !item.starts_with("cpu"));
    std::iter::once(format!("cpu={cpus}")).chain(others.map(str::to_owned)).collect::<Vec<_>>().join(",")
}
