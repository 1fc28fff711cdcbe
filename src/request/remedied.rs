//! A request as it would be with a remedy typed: how the judge makes sure that what a message says
//! to type is right, before it is told.

use super::shape::{NodeFacts, Shape};
use super::{ArraySpec, Memory, Request, Sharing, TimeLimit, Tres, WarnSignal, memory, partition_list};
use crate::verdict::Remedy;

impl Request<'_> {
    /// The request with `remedy` in it; `None` where the remedy is nothing to type, or says
    /// something that a request does not hold.
    pub fn remedied(&self, remedy: &Remedy) -> Option<Self> {
        let mut better = self.clone();
        match remedy {
            Remedy::Use { option, value, instead_of, .. } => {
                for other in instead_of {
                    better.clear(other)?;
                }
                better.clear(option)?;
                better.set(option, value)?;
            }
            Remedy::Drop { option } => better.clear(option)?,
            Remedy::DropFromList { option: "partition", names } => {
                let list = better.partition.as_deref().unwrap_or("");
                let left: Vec<&str> =
                    partition_list::names(list).filter(|n| !names.iter().any(|gone| gone == n)).collect();
                better.partition = Some(left.join(",").into());
            }
            Remedy::DropFromList { .. } | Remedy::Change(_) => return None,
        }
        better.count_again(self);
        Some(better)
    }

    /// Whether the options that ask for GPUs contradict each other, so that the client refuses them
    /// before slurmctld sees anything (gres.c, `gres_job_state_validate`).
    pub fn contradicts_itself(&self) -> bool {
        let lists = [&self.tres_per_job, &self.tres_per_node, &self.tres_per_socket, &self.tres_per_task];
        let kinds = || lists.iter().flat_map(|list| list.gpus()).map(|gpu| gpu.kind);
        let mixes_types = kinds().any(|k| k.is_none()) && kinds().any(|k| k.is_some());
        let [job, node, socket, task] = lists.map(|list| list.gpu_count().filter(|&n| n > 0));
        let tasks = self.num_tasks.map(u64::from);
        let (fewest, most) = (self.min_nodes.map_or(0, u64::from), self.max_nodes.map(u64::from));
        let nodes_differ =
            job.is_some_and(|job| {
                let on = |node: u64| {
                    let nodes = job / node;
                    job % node != 0 || nodes < fewest || most.is_some_and(|most| nodes > most)
                };
                job < fewest || node.is_some_and(on)
            }) || self.tres_per_job.gpus().any(|gpu| gpu.count.is_some_and(|n| n > 0 && n < fewest));
        let sockets_differ = node.zip(socket).is_some_and(|(node, socket)| {
            node % socket != 0 || self.sockets_per_node.is_some_and(|n| node / socket != u64::from(n))
        });
        let tasks_differ = task.is_some_and(|task| match (job, tasks) {
            (None, None) => true,
            (Some(job), Some(tasks)) => task.saturating_mul(tasks) != job,
            (Some(job), None) => job % task != 0,
            (None, Some(_)) => false,
        });
        let per_node = self.ntasks_per_node.map(u64::from);
        let tasks_overflow =
            tasks.zip(per_node.zip(most)).is_some_and(|(n, (each, most))| n > each.saturating_mul(most));
        // Of two types that are named by two options each is counted for itself.
        let mut first = lists.iter().filter_map(|list| {
            let some = list.gpu_count().is_some_and(|n| n > 0);
            list.gpus().next().filter(|_| some).map(|gpu| gpu.kind)
        });
        let types_differ = first.next().is_some_and(|kind| first.any(|other| other != kind));
        mixes_types || types_differ || nodes_differ || sockets_differ || tasks_differ || tasks_overflow
    }

    /// Whether numbers of tasks, GPUs and CPUs say the same twice, so that the client works one out
    /// from the other and what was typed cannot be seen: then none of them can be tried.
    pub fn hides_what_was_typed(&self, remedy: &Remedy) -> bool {
        // Tasks that fit the nodes were typed, or counted from them (22.05, 23.11 and later).
        let by_nodes = matches!(remedy, Remedy::Use { option: "nodes" | "ntasks-per-node", .. });
        if by_nodes && self.num_tasks.is_some() && self.ntasks_per_node.is_some() {
            return true;
        }
        let gpus = [&self.tres_per_job, &self.tres_per_node].iter().any(|l| l.gpu_count().is_some());
        (gpus && self.tres_per_task.gpu_count().is_some()) || self.ntasks_per_gpu.is_some() || self.overcommit
    }

    /// Takes an option back.
    fn clear(&mut self, option: &str) -> Option<()> {
        match option {
            "partition" => self.partition = None,
            "qos" => self.qos = None,
            "account" => self.account = None,
            "reservation" => self.reservation = None,
            "constraint" => self.features = None,
            "nodelist" => self.req_nodes = None,
            "exclude" => self.exc_nodes = None,
            "licenses" => self.licenses = None,
            "nodes" => (self.min_nodes, self.max_nodes) = (None, None),
            "ntasks" => self.num_tasks = None,
            "ntasks-per-node" => self.ntasks_per_node = None,
            "ntasks-per-gpu" => self.ntasks_per_gpu = None,
            "cpus-per-task" => self.cpus_per_task = None,
            "mincpus" => self.pn_min_cpus = None,
            "core-spec" | "thread-spec" => self.core_spec = None,
            "gpus" => self.tres_per_job = without_gpus(&self.tres_per_job),
            "gpus-per-node" | "gres" => self.tres_per_node = without_gpus(&self.tres_per_node),
            "gpus-per-socket" => self.tres_per_socket = without_gpus(&self.tres_per_socket),
            "gpus-per-task" | "tres-per-task" => self.tres_per_task = without_gpus(&self.tres_per_task),
            "cpus-per-gpu" => self.cpus_per_tres = Tres::default(),
            "mem-per-gpu" => self.mem_per_tres = Tres::default(),
            "mem" | "mem-per-cpu" => self.memory = Memory::Unset,
            "exclusive" | "oversubscribe" => self.shared = Sharing::Unset,
            "time" => self.time_limit = TimeLimit::Unset,
            "time-min" => self.time_min = TimeLimit::Unset,
            "array" => self.array = None,
            "output" => self.std_out = None,
            "error" => self.std_err = None,
            "requeue" | "no-requeue" => self.requeue = None,
            "signal" => self.signal = None,
            "dependency" => self.dependency = None,
            "comment" => self.comment = None,
            "export" => self.export = None,
            "lineage" => self.lineage = None,
            _ => return None,
        }
        Some(())
    }

    /// Types an option that is not there.
    fn set(&mut self, option: &str, value: &str) -> Option<()> {
        let text = || Some(value.to_owned().into());
        match option {
            "partition" => self.partition = text(),
            "qos" => self.qos = text(),
            "account" => self.account = text(),
            "reservation" => self.reservation = text(),
            "constraint" => self.features = text(),
            "nodes" => {
                let (low, high) = value.split_once('-').unwrap_or((value, value));
                (self.min_nodes, self.max_nodes) = (Some(low.parse().ok()?), Some(high.parse().ok()?));
            }
            "ntasks" => self.num_tasks = Some(value.parse().ok()?),
            "ntasks-per-node" => self.ntasks_per_node = Some(value.parse().ok()?),
            "ntasks-per-gpu" => self.ntasks_per_gpu = Some(value.parse().ok()?),
            "cpus-per-task" => self.cpus_per_task = Some(value.parse().ok()?),
            "mincpus" => self.pn_min_cpus = Some(value.parse().ok()?),
            "gpus" => self.tres_per_job = with_gpus(&self.tres_per_job, value),
            "gpus-per-node" => self.tres_per_node = with_gpus(&self.tres_per_node, value),
            "gpus-per-socket" => self.tres_per_socket = with_gpus(&self.tres_per_socket, value),
            "gpus-per-task" => self.tres_per_task = with_gpus(&self.tres_per_task, value),
            "gres" => self.tres_per_node = Tres::new(value.to_owned()),
            "cpus-per-gpu" => self.cpus_per_tres = Tres::new(format!("gpu:{}", value.parse::<u64>().ok()?)),
            "mem-per-gpu" => self.mem_per_tres = Tres::new(format!("gpu:{}", memory::parse_mb(value)?)),
            "mem" => {
                self.memory = match memory::parse_mb(value)? {
                    0 => Memory::WholeNode,
                    mb => Memory::PerNode(mb),
                }
            }
            "mem-per-cpu" => self.memory = Memory::PerCpu(memory::parse_mb(value)?),
            "time" => self.time_limit = TimeLimit::parse(value)?,
            "time-min" => self.time_min = TimeLimit::parse(value)?,
            "array" => self.array = Some(ArraySpec::new(value.to_owned())),
            "output" => self.std_out = text(),
            "error" => self.std_err = text(),
            "requeue" => self.requeue = Some(true),
            "no-requeue" => self.requeue = Some(false),
            "signal" => {
                self.signal = Some(WarnSignal { signal: 1, time: 60, batch_only: value.starts_with("B:") })
            }
            "dependency" => self.dependency = text(),
            "comment" => self.comment = text(),
            "lineage" => self.lineage = text(),
            "exclusive" if value.is_empty() => self.shared = Sharing::Exclusive,
            "oversubscribe" => self.shared = Sharing::Oversubscribe,
            _ => return None,
        }
        Some(())
    }

    /// What the client works out from tasks and CPUs, which it would work out again.
    fn count_again(&mut self, before: &Request<'_>) {
        // `--ntasks-per-node` times `--nodes` arrives as a number of tasks (slurm_opt.c).
        let derived = |r: &Request<'_>| Some(u32::from(r.ntasks_per_node?).saturating_mul(r.min_nodes?));
        if before.num_tasks == self.num_tasks
            && before.num_tasks.is_some()
            && before.num_tasks == derived(before)
        {
            self.num_tasks = derived(self).or(self.num_tasks);
        }
        // Tasks times CPUs, since 24.05 the CPUs of GPUs too.
        let cpus = |r: &Request<'_>| {
            let uncounted = Request { min_cpus: None, pn_min_cpus: None, ..r.clone() };
            u32::try_from(Shape::of(&uncounted, NodeFacts::default()).cpus.low).unwrap_or(u32::MAX)
        };
        if before.min_cpus.is_some_and(|n| n <= cpus(before).max(1)) {
            self.min_cpus = Some(cpus(self).max(1));
        }
        // `--mincpus` is raised to the CPUs of a task (sbatch/opt.c).
        let is_raised = |n: u16| before.cpus_per_task.is_some_and(|c| n <= c);
        if before.pn_min_cpus == self.pn_min_cpus && before.pn_min_cpus.is_some_and(is_raised) {
            self.pn_min_cpus = self.cpus_per_task;
        }
    }
}

fn without_gpus<'a>(list: &Tres<'a>) -> Tres<'a> {
    if list.gpus().next().is_none() {
        return list.clone();
    }
    let is_gpu = |text: &str| Tres::new(text).gpus().next().is_some();
    Tres::new(list.as_str().split(',').filter(|t| !is_gpu(t)).collect::<Vec<_>>().join(","))
}

fn with_gpus<'a>(list: &Tres<'_>, value: &str) -> Tres<'a> {
    let gpus = value.split(',').map(|one| format!("gpu:{one}"));
    let rest = list.as_str().split(',').filter(|t| !t.is_empty()).map(str::to_owned);
    Tres::new(gpus.chain(rest).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_takes_the_place_of_itself_and_of_others() {
        let request = Request {
            num_tasks: Some(2),
            cpus_per_task: Some(16),
            min_cpus: Some(32),
            pn_min_cpus: Some(16),
            tres_per_node: Tres::new("gres:gpu:a100:2,gres:nvme:1"),
            ..Request::default()
        };
        let fewer = request.remedied(&Remedy::or_less("cpus-per-task", "4")).unwrap();
        assert_eq!((fewer.cpus_per_task, fewer.min_cpus, fewer.pn_min_cpus), (Some(4), Some(8), Some(4)));
        let per_gpu = Remedy::or_less("cpus-per-gpu", "4").instead_of(&["cpus-per-task"]);
        let per_gpu = request.remedied(&per_gpu).unwrap();
        assert_eq!((per_gpu.cpus_per_task, per_gpu.min_cpus, per_gpu.pn_min_cpus), (None, Some(8), None));
        let one = request.remedied(&Remedy::or_less("gpus-per-node", "a100:1")).unwrap();
        assert_eq!(one.tres_per_node.as_str(), "gpu:a100:1,gres:nvme:1");
        assert_eq!(request.remedied(&Remedy::Change("think again".to_owned())), None);
    }

    #[test]
    fn tasks_that_the_client_counted_are_counted_again() {
        let request = Request {
            min_nodes: Some(2),
            max_nodes: Some(2),
            ntasks_per_node: Some(8),
            num_tasks: Some(16),
            min_cpus: Some(16),
            ..Request::default()
        };
        let fewer = request.remedied(&Remedy::or_less("ntasks-per-node", "4")).unwrap();
        assert_eq!((fewer.num_tasks, fewer.min_cpus), (Some(8), Some(8)));
    }
}
