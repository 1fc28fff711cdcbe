//! What a request adds up to: nodes, tasks, GPUs, CPUs and memory, per job and per node.
//!
//! Whatever the user fixes is a number, whatever a range leaves open is a range, and what only
//! Slurm decides stays open. All of it follows from one function, [`Shape::at`], which says what
//! the request means on a given number of nodes.

use super::{Memory, Request, Tres};

/// A number that the request fixes, bounds, or leaves to Slurm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// At least this many.
    pub low: u64,
    /// At most this many; `None` where only Slurm decides.
    pub high: Option<u64>,
}

impl Amount {
    /// A fixed number.
    pub const fn exactly(n: u64) -> Amount {
        Amount { low: n, high: Some(n) }
    }

    /// A lower bound; the rest is Slurm's to decide.
    pub const fn at_least(low: u64) -> Amount {
        Amount { low, high: None }
    }

    /// The number where it is fixed.
    pub fn fixed(self) -> Option<u64> {
        self.high.filter(|&high| high == self.low)
    }
}

/// What one node of a partition has, as far as the policy says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeFacts {
    /// `cpus_per_node`.
    pub cpus: Option<u64>,
    /// `gpus_per_node`.
    pub gpus: Option<u64>,
    /// `memory_per_node`, MB.
    pub memory: Option<u64>,
}

/// What a request means on a given number of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Tasks of the job.
    pub tasks: u64,
    /// GPUs of the job. `None`: Slurm decides (sockets).
    pub gpus: Option<u64>,
    /// CPUs of the job, from tasks, CPUs per GPU and every minimum.
    pub cpus: u64,
}

/// The derived amounts of one request on one kind of node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Nodes.
    pub nodes: Amount,
    /// Tasks.
    pub tasks: Amount,
    /// GPUs asked for by any option, `None` when no option names them; zero of them is zero.
    pub gpus: Option<Amount>,
    /// GPUs on each node, likewise.
    pub gpus_per_node: Option<Amount>,
    /// CPUs of the job.
    pub cpus: Amount,
    /// CPUs on each node.
    pub cpus_per_node: Amount,
    /// Memory of the job in MB, `None` when no option states it.
    pub memory: Option<Amount>,
    /// Memory on each node in MB, likewise.
    pub memory_per_node: Option<Amount>,
}

impl Shape {
    /// Derives all amounts.
    pub fn of(request: &Request<'_>, node: NodeFacts) -> Shape {
        let stated = Stated::of(request);
        let nodes = stated.nodes(request, node);
        let low = stated.at(nodes.low);
        // Where the number of nodes is open it may not matter: the same amount on one node more.
        let (high, is_open) = match nodes.high {
            Some(high) if high == nodes.low => (low, false),
            Some(high) => (stated.at(high), false),
            None => (stated.at(nodes.low.saturating_add(1)), true),
        };
        let range = |f: fn(At) -> u64| match (f(low), f(high)) {
            (a, b) if a == b => Amount::exactly(a),
            (a, _) if is_open => Amount::at_least(a),
            (a, b) => Amount { low: a.min(b), high: Some(a.max(b)) },
        };
        let tasks = range(|at| at.tasks);
        let cpus = range(|at| at.cpus);
        let gpus = gpus_are_stated(request).then(|| match low.gpus {
            Some(_) => range(|at| at.gpus.unwrap_or(0)),
            None => Amount::at_least(request.tres_per_socket.gpu_count().unwrap_or(0)),
        });
        let gpus_per_node = gpus.map(|total| match stated.gpus_per_node {
            Some(n) => Amount::exactly(n),
            None => spread(total, nodes),
        });
        let cpus_per_node = cpus_per_node(request, cpus, gpus_per_node, nodes);
        let (memory, memory_per_node) =
            memory(request, node, nodes, cpus, cpus_per_node, gpus, gpus_per_node);
        Shape { nodes, tasks, gpus, gpus_per_node, cpus, cpus_per_node, memory, memory_per_node }
    }

    /// What the request means on `nodes` nodes.
    pub fn at(request: &Request<'_>, nodes: u64) -> At {
        Stated::of(request).at(nodes)
    }
}

/// The numbers that [`Shape::at`] works with.
struct Stated {
    gpus_per_job: Option<u64>,
    gpus_per_node: Option<u64>,
    gpus_per_task: Option<u64>,
    /// On all sockets of a node, where their number is stated.
    gpus_by_sockets: Option<u64>,
    /// See [`gpus_for_tasks`].
    gpus_for_tasks: Option<u64>,
    asks_for_gpus: bool,
    tasks: Option<u64>,
    tasks_per_node: Option<u64>,
    tasks_per_gpu: Option<u64>,
    cpus_per_task: u64,
    cpus_per_gpu: Option<u64>,
    overcommit: bool,
    min_cpus: u64,
    min_cpus_per_node: u64,
}

impl Stated {
    fn of(request: &Request<'_>) -> Stated {
        let sockets = request.sockets_per_node.map(u64::from);
        let gpus_by_sockets =
            some_gpus(&request.tres_per_socket).zip(sockets).map(|(n, sockets)| n.saturating_mul(sockets));
        Stated {
            gpus_per_job: some_gpus(&request.tres_per_job),
            gpus_per_node: some_gpus(&request.tres_per_node),
            gpus_per_task: some_gpus(&request.tres_per_task),
            gpus_by_sockets,
            gpus_for_tasks: gpus_for_tasks(request),
            asks_for_gpus: asks_for_gpus(request),
            tasks: request.num_tasks.map(u64::from),
            tasks_per_node: request.ntasks_per_node.map(u64::from),
            tasks_per_gpu: request.ntasks_per_gpu.map(u64::from),
            cpus_per_task: cpus_per_task(request),
            cpus_per_gpu: cpus_per_gpu(request),
            overcommit: request.overcommit,
            min_cpus: request.min_cpus.map_or(0, u64::from),
            min_cpus_per_node: request.pn_min_cpus.map_or(0, u64::from),
        }
    }

    fn at(&self, nodes: u64) -> At {
        // GPUs that do not depend on the number of tasks.
        let gpus_without_tasks = self.gpus_per_job.or_else(|| {
            let per_node = self.gpus_per_node.or(self.gpus_by_sockets)?;
            Some(per_node.saturating_mul(nodes))
        });
        let tasks = match (self.tasks, self.tasks_per_node, self.tasks_per_gpu) {
            (Some(n), _, _) => n,
            (None, Some(per_node), _) => per_node.saturating_mul(nodes),
            (None, None, Some(per_gpu)) => {
                gpus_without_tasks.map_or(nodes, |gpus| per_gpu.saturating_mul(gpus).max(1))
            }
            // One task a node is Slurm's default (sbatch(1), --ntasks).
            (None, None, None) => nodes,
        };
        let gpus = match (self.gpus_per_job, self.gpus_per_task) {
            (None, Some(n)) => Some(n.saturating_mul(tasks)),
            _ => gpus_without_tasks.or(self.gpus_for_tasks),
        };
        let gpus = gpus.or((!self.asks_for_gpus).then_some(0));
        let from_tasks = if self.overcommit { nodes } else { tasks.saturating_mul(self.cpus_per_task) };
        let from_gpus = self.cpus_per_gpu.zip(gpus).map_or(0, |(n, gpus)| n.saturating_mul(gpus));
        let cpus =
            from_tasks.max(from_gpus).max(self.min_cpus).max(self.min_cpus_per_node.saturating_mul(nodes));
        At { tasks, gpus, cpus }
    }

    /// The number of nodes. Where `--nodes` is not given, Slurm takes "enough nodes to satisfy the
    /// requested resources" (sbatch(1)): at least what the facts prove, at most one a task.
    fn nodes(&self, request: &Request<'_>, node: NodeFacts) -> Amount {
        if let Some(low) = request.min_nodes.map(u64::from).filter(|&n| n > 0) {
            let high = request.max_nodes.map(u64::from).filter(|&n| n >= low);
            return Amount { low, high };
        }
        if let (Some(total), Some(per_node)) = (self.gpus_per_job, self.gpus_per_node) {
            if total % per_node == 0 {
                return Amount::exactly(total / per_node);
            }
        }
        let one = self.at(1);
        let enough = |needed: u64, per_node: Option<u64>| {
            per_node.filter(|&n| n > 0).map_or(1, |n| needed.div_ceil(n))
        };
        let tasks_fit = match (self.tasks, self.tasks_per_node) {
            (Some(n), Some(per_node)) if per_node > 0 => n.div_ceil(per_node),
            _ => 1,
        };
        let gpus_needed = self
            .gpus_per_job
            .or(one.gpus.filter(|_| self.tasks.is_some() && request.tres_per_node.is_empty()));
        let low = tasks_fit
            .max(enough(gpus_needed.unwrap_or(0), node.gpus))
            .max(if self.tasks.is_some() { enough(one.cpus, node.cpus) } else { 1 })
            .max(1);
        let high = match (self.tasks, self.gpus_per_job) {
            // GPUs per job may be spread whatever the tasks are.
            (_, Some(2..)) => None,
            // A task is never spread over nodes; several are, as Slurm sees fit.
            (Some(1), _) => Some(low),
            (Some(_), _) => None,
            (None, _) => Some(low),
        };
        Amount { low, high }
    }
}

/// Whether any option names GPUs, be it zero of them.
pub fn gpus_are_stated(request: &Request<'_>) -> bool {
    gpu_lists(request).iter().any(|t| t.gpu_count().is_some()) || gpus_for_tasks(request).is_some()
}

/// Whether any option asks for at least one GPU.
pub fn asks_for_gpus(request: &Request<'_>) -> bool {
    gpu_lists(request).iter().any(|t| some_gpus(t).is_some()) || gpus_for_tasks(request).is_some()
}

/// The GPUs of `--ntasks-per-gpu` with `--ntasks` and no other option that names GPUs: so many that the
/// tasks fit (sbatch(1); gres.c, `gres_job_state_validate`).
fn gpus_for_tasks(request: &Request<'_>) -> Option<u64> {
    if gpu_lists(request).iter().any(|t| some_gpus(t).is_some()) {
        return None;
    }
    let per_gpu = request.ntasks_per_gpu.map(u64::from).filter(|&n| n > 0)?;
    request.num_tasks.map(|n| u64::from(n).div_ceil(per_gpu))
}

/// The lists in which GPUs may be asked for.
pub fn gpu_lists<'r, 'a>(request: &'r Request<'a>) -> [&'r Tres<'a>; 4] {
    [&request.tres_per_job, &request.tres_per_node, &request.tres_per_task, &request.tres_per_socket]
}

/// GPUs of a list. Slurm passes over zero of them (gres.c), and so the other options count.
fn some_gpus(list: &Tres<'_>) -> Option<u64> {
    list.gpu_count().filter(|&n| n > 0)
}

/// `--cpus-per-gpu`.
pub fn cpus_per_gpu(request: &Request<'_>) -> Option<u64> {
    request.cpus_per_tres.gpu_count()
}

/// `--mem-per-gpu`, MB. Slurm takes 0 for "not stated" (gres.c: the partition's default applies).
pub fn memory_per_gpu(request: &Request<'_>) -> Option<u64> {
    request.mem_per_tres.gpu_count().filter(|&mb| mb > 0)
}

/// `--cpus-per-task`, or the `cpu=` of `--tres-per-task`, else 1.
fn cpus_per_task(request: &Request<'_>) -> u64 {
    let tres = || request.tres_per_task.items().find(|i| i.name == "cpu").and_then(|i| i.count);
    request.cpus_per_task.map(u64::from).or_else(tres).unwrap_or(1)
}

/// A total over nodes: known for each node only where there is one node, or nothing to spread.
fn spread(total: Amount, nodes: Amount) -> Amount {
    match (nodes.fixed(), total.fixed()) {
        (Some(1), _) => total,
        (_, Some(0)) => Amount::exactly(0),
        _ => Amount::at_least(nodes.high.map_or(0, |n| total.low.div_ceil(n.max(1)))),
    }
}

fn cpus_per_node(
    request: &Request<'_>,
    cpus: Amount,
    gpus_per_node: Option<Amount>,
    nodes: Amount,
) -> Amount {
    let stated = [
        request
            .ntasks_per_node
            .filter(|_| !request.overcommit)
            .map(|n| u64::from(n).saturating_mul(cpus_per_task(request))),
        request.pn_min_cpus.map(u64::from),
        cpus_per_gpu(request)
            .zip(gpus_per_node.and_then(Amount::fixed))
            .map(|(n, gpus)| n.saturating_mul(gpus)),
    ];
    let stated = stated.into_iter().flatten().max().unwrap_or(0);
    let rest = spread(cpus, nodes);
    Amount {
        low: rest.low.max(stated),
        high: match rest.high {
            Some(high) => Some(high.max(stated)),
            // One task a node: each node holds exactly what was stated for it.
            None => (request.ntasks_per_node.is_some() && stated > 0 && request.num_tasks.is_none())
                .then_some(stated),
        },
    }
}

fn memory(
    request: &Request<'_>,
    node: NodeFacts,
    nodes: Amount,
    cpus: Amount,
    cpus_per_node: Amount,
    gpus: Option<Amount>,
    gpus_per_node: Option<Amount>,
) -> (Option<Amount>, Option<Amount>) {
    let times = |a: Amount, n: u64| Amount {
        low: a.low.saturating_mul(n),
        high: a.high.map(|h| h.saturating_mul(n)),
    };
    match (request.memory, memory_per_gpu(request)) {
        (Memory::WholeNode | Memory::PerCpu(0), _) => match node.memory {
            Some(mb) => (Some(times(nodes, mb)), Some(Amount::exactly(mb))),
            None => (Some(Amount::at_least(0)), Some(Amount::at_least(0))),
        },
        (Memory::PerNode(mb), _) => (Some(times(nodes, mb)), Some(Amount::exactly(mb))),
        (Memory::PerCpu(mb), _) => (Some(times(cpus, mb)), Some(times(cpus_per_node, mb))),
        (Memory::Unset, Some(mb)) => (gpus.map(|g| times(g, mb)), gpus_per_node.map(|g| times(g, mb))),
        (Memory::Unset, None) => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: NodeFacts = NodeFacts { cpus: Some(64), gpus: Some(4), memory: Some(512_000) };

    fn gpus(text: &str) -> Request<'_> {
        Request { tres_per_job: Tres::new(text), ..Request::default() }
    }

    fn per_node(text: &str) -> Request<'_> {
        Request { tres_per_node: Tres::new(text), ..Request::default() }
    }

    #[test]
    fn a_request_that_says_nothing_is_one_task_on_one_node() {
        let shape = Shape::of(&Request::default(), NODE);
        assert_eq!(shape.nodes, Amount::exactly(1));
        assert_eq!(shape.tasks, Amount::exactly(1));
        assert_eq!(shape.cpus, Amount::exactly(1));
        assert_eq!((shape.gpus, shape.memory), (None, None));
    }

    #[test]
    fn gpus_per_job_leave_the_nodes_to_slurm_and_still_have_a_total() {
        let shape = Shape::of(&gpus("gres/gpu:4"), NODE);
        assert_eq!(shape.gpus, Some(Amount::exactly(4)));
        assert_eq!(shape.nodes, Amount::at_least(1));
        assert_eq!(shape.gpus_per_node.and_then(Amount::fixed), None);
        assert_eq!(Shape::of(&gpus("gres/gpu:8"), NODE).nodes.low, 2);
        assert_eq!(Shape::of(&gpus("gres/gpu:1"), NODE).gpus_per_node, Some(Amount::exactly(1)));
        assert_eq!(Shape::of(&gpus("gres/gpu:0"), NODE).gpus, Some(Amount::exactly(0)));
    }

    #[test]
    fn zero_gpus_of_one_option_do_not_hide_those_of_another() {
        let request = Request { tres_per_job: Tres::new("gres/gpu:0"), ..per_node("gres/gpu:2") };
        assert_eq!(Shape::of(&request, NODE).gpus, Some(Amount::exactly(2)));
        let request = Request { tres_per_node: Tres::new("gres/gpu:0"), ..gpus("gres/gpu:1") };
        assert_eq!(Shape::of(&request, NODE).gpus_per_node, Some(Amount::exactly(1)));
    }

    #[test]
    fn every_spelling_of_two_gpus_on_one_node_is_the_same_shape() {
        let two = Some(Amount::exactly(2));
        let one_node = |r: Request<'static>| Request { min_nodes: Some(1), max_nodes: Some(1), ..r };
        let per_task =
            Request { tres_per_task: Tres::new("gres/gpu=1"), num_tasks: Some(2), ..Request::default() };
        let per_socket = Request {
            tres_per_socket: Tres::new("gres:gpu:2"),
            sockets_per_node: Some(1),
            ..Request::default()
        };
        for request in [one_node(gpus("gpu:2")), per_node("gres:gpu:2"), one_node(per_task), per_socket] {
            let shape = Shape::of(&request, NODE);
            assert_eq!((shape.gpus, shape.gpus_per_node), (two, two), "{request:?}");
        }
    }

    #[test]
    fn a_range_of_nodes_is_a_range_of_gpus_and_cpus() {
        let request = Request {
            min_nodes: Some(1),
            max_nodes: Some(4),
            ntasks_per_node: Some(2),
            cpus_per_task: Some(3),
            ..per_node("gres/gpu:a100:2")
        };
        let shape = Shape::of(&request, NODE);
        assert_eq!(shape.gpus, Some(Amount { low: 2, high: Some(8) }));
        assert_eq!(shape.cpus, Amount { low: 6, high: Some(24) });
        assert_eq!(shape.cpus_per_node.low, 6);
    }

    #[test]
    fn tasks_follow_from_gpus_and_from_nodes() {
        let by_gpu = Request { ntasks_per_gpu: Some(2), ..gpus("gres/gpu:3") };
        assert_eq!(Shape::at(&by_gpu, 1).tasks, 6);
        let by_node = Request {
            min_nodes: Some(2),
            max_nodes: Some(2),
            ntasks_per_node: Some(4),
            ..Request::default()
        };
        assert_eq!(Shape::of(&by_node, NODE).tasks, Amount::exactly(8));
        let overcommitted = Request { num_tasks: Some(64), overcommit: true, ..Request::default() };
        assert_eq!(Shape::at(&overcommitted, 1).cpus, 1);
    }

    #[test]
    fn sockets_that_are_not_stated_leave_the_gpus_open() {
        let request = Request { tres_per_socket: Tres::new("gres/gpu:2"), ..Request::default() };
        assert_eq!(Shape::of(&request, NODE).gpus, Some(Amount::at_least(2)));
    }

    #[test]
    fn memory_is_counted_from_whichever_option_states_it() {
        let per_cpu = Request {
            memory: Memory::PerCpu(2000),
            num_tasks: Some(1),
            cpus_per_task: Some(8),
            ..Request::default()
        };
        assert_eq!(Shape::of(&per_cpu, NODE).memory_per_node, Some(Amount::exactly(16_000)));
        let per_gpu = Request { mem_per_tres: Tres::new("gres:gpu:10240"), ..per_node("gres:gpu:2") };
        assert_eq!(Shape::of(&per_gpu, NODE).memory, Some(Amount::exactly(20_480)));
        let whole = Request { memory: Memory::WholeNode, ..Request::default() };
        assert_eq!(Shape::of(&whole, NODE).memory_per_node, Some(Amount::exactly(512_000)));
    }
}
