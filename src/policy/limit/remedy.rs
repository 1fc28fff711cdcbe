//! What to type instead, in the user's own spelling.
//!
//! Nothing is computed by a formula of its own: each option that the request uses is tried with
//! other values until the number is within the limit, so that what is told is what helps.

use super::{Bound, End, Quantity};
use crate::case::Candidate;
use crate::request::memory::Mb;
use crate::request::time::Minutes;
use crate::request::{Memory, Request, Shape, Sharing, TimeLimit, Tres};
use crate::verdict::{Bound as Freedom, Remedy};
use crate::words::count;

/// An option that can be turned.
struct Knob {
    option: &'static str,
    /// Its value; `None` where the request does not use it, or where it is no single number.
    get: fn(&Request<'_>) -> Option<u64>,
    /// Sets it; `None` where the option cannot hold the value.
    set: fn(&mut Request<'_>, u64) -> Option<()>,
    /// The value as typed.
    show: fn(&Request<'_>, u64) -> String,
}

/// At most so many ways out are told.
const WAYS: usize = 2;

/// The ways to bring the request within `bound`.
pub(super) fn remedies(
    bound: &Bound,
    request: &Request<'_>,
    candidate: &Candidate<'_>,
    options: &[&'static str],
) -> Vec<Remedy> {
    match bound.quantity {
        Quantity::ArrayTasks => return vec![smaller_arrays(bound.value)],
        Quantity::ArrayRunning => return cap(request, bound.value).into_iter().collect(),
        _ => {}
    }
    let base = as_typed(request);
    let met = |request: &Request<'_>| {
        let node = candidate.facts.node();
        let shape = Shape::of(request, node);
        bound.quantity.of(request, &shape, node).is_some_and(|amount| bound.excess(amount).is_none())
    };
    let used = bound.quantity.knobs().iter().filter(|k| (k.get)(&base).is_some());
    let mut found: Vec<Remedy> = used.filter_map(|k| k.turn(bound, &base, &met)).take(WAYS).collect();
    if found.is_empty() {
        found.extend(bound.quantity.first_resort(bound.end).and_then(|k| k.turn(bound, &base, &met)));
    }
    let shared = Request { shared: Sharing::Unset, ..base.clone() };
    if request.shared == Sharing::Exclusive && met(&shared) {
        found.truncate(WAYS - 1);
        found.push(Remedy::Drop { option: "exclusive" });
    }
    if found.is_empty() {
        let what = match (bound.end, bound.value) {
            (End::Max, 0) => format!("ask for no {}s", bound.quantity.noun()),
            (End::Max, n) => format!("ask for at most {} in all", bound.quantity.counted(n)),
            (End::Min, n) => format!("ask for at least {} in all", bound.quantity.counted(n)),
        };
        let drop = options.first().filter(|_| bound.end == End::Max && bound.value == 0);
        found.push(match drop {
            Some(option) => Remedy::Drop { option },
            None => Remedy::Change(what),
        });
    }
    found
}

/// The request without what the client computed from other options: it will compute it again.
///
/// A number of tasks that fits `--ntasks-per-node` stays: since 23.11 it may as well have been typed.
fn as_typed<'r>(request: &Request<'r>) -> Request<'r> {
    let mut typed = request.clone();
    let nodes = u64::from(request.min_nodes.unwrap_or(1));
    if let (Some(tasks), Some(_)) = (request.num_tasks, request.ntasks_per_gpu) {
        let without = Request { num_tasks: None, ..request.clone() };
        if Shape::at(&without, nodes).tasks == u64::from(tasks) {
            typed.num_tasks = None;
        }
    }
    let without = Request { min_cpus: None, ..request.clone() };
    if request.min_cpus.is_some_and(|n| u64::from(n) <= Shape::at(&without, nodes).cpus.max(1)) {
        typed.min_cpus = None;
    }
    if request.pn_min_cpus.is_some_and(|n| n <= request.cpus_per_task.unwrap_or(1)) {
        typed.pn_min_cpus = None;
    }
    typed
}

impl Knob {
    /// The value nearest to the present one that meets the bound.
    fn turn(&self, bound: &Bound, base: &Request<'_>, met: &dyn Fn(&Request<'_>) -> bool) -> Option<Remedy> {
        let now = (self.get)(base).unwrap_or(0);
        let meets = |value: u64| {
            let mut request = base.clone();
            (self.set)(&mut request, value).is_some() && met(&request)
        };
        let (value, freedom) = match bound.end {
            End::Max => (largest(1, now.max(bound.value), &meets)?, Freedom::OrLess),
            End::Min => (smallest(1, bound.value, &meets)?, Freedom::OrMore),
        };
        let value = if self.in_mb() {
            whole_gigabytes(value, bound.end).filter(|v| meets(*v)).unwrap_or(value)
        } else {
            value
        };
        let freedom = if value == 1 && freedom == Freedom::OrLess { Freedom::Exactly } else { freedom };
        let value = (self.show)(base, value);
        // The two arrive as one, and the client refuses both together.
        let other = match self.option {
            "gpus-per-node" => Some("gres"),
            "gres" => Some("gpus-per-node"),
            _ => None,
        };
        let instead_of = other.filter(|name| base.wrote(name)).into_iter().collect();
        Some(Remedy::Use { option: self.option, value, bound: freedom, instead_of })
    }

    fn in_mb(&self) -> bool {
        self.option.starts_with("mem")
    }
}

/// The largest value of `low..=high` that is good, where all below a good one are good.
fn largest(low: u64, high: u64, good: &dyn Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (low, high);
    if low > high || !good(low) {
        return None;
    }
    while low < high {
        let middle = high - (high - low) / 2;
        if good(middle) { low = middle } else { high = middle.saturating_sub(1) }
    }
    Some(low)
}

/// The smallest value of `low..=high` that is good, where all above a good one are good.
fn smallest(low: u64, high: u64, good: &dyn Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (low, high);
    if low > high || !good(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if good(middle) { high = middle } else { low = middle.saturating_add(1) }
    }
    Some(low)
}

fn whole_gigabytes(mb: u64, end: End) -> Option<u64> {
    match end {
        End::Max => Some(mb / 1024 * 1024).filter(|mb| *mb > 0),
        End::Min => mb.div_ceil(1024).checked_mul(1024),
    }
}

fn smaller_arrays(most: u64) -> Remedy {
    match most {
        0 => Remedy::Drop { option: "array" },
        n => Remedy::Change(format!("submit it as several arrays of at most {}", count(n, "task"))),
    }
}

/// The user's own array with a cap that holds.
fn cap(request: &Request<'_>, most: u64) -> Option<Remedy> {
    let text = request.array.as_ref()?.as_str();
    let indices = text.split('%').next().unwrap_or(text);
    Some(Remedy::exactly("array", format!("{indices}%{most}")))
}

impl Quantity {
    /// The options that drive the number, the most telling first.
    fn knobs(self) -> &'static [Knob] {
        match self {
            Quantity::Nodes => &[NODES, NTASKS],
            Quantity::Gpus => &[GPUS, GPUS_PER_NODE, GRES, GPUS_PER_TASK, GPUS_PER_SOCKET, NODES, NTASKS],
            Quantity::Cpus => {
                &[CPUS_PER_TASK, CPUS_PER_GPU, MINCPUS, NTASKS_PER_NODE, NTASKS, NODES, GPUS, GPUS_PER_NODE]
            }
            Quantity::Tasks => &[NTASKS, NTASKS_PER_NODE, NTASKS_PER_GPU, NODES],
            Quantity::Time => &[TIME],
            Quantity::Memory => &[MEM, MEM_PER_CPU, MEM_PER_GPU, NODES],
            Quantity::MemoryPerCpu => &[MEM_PER_CPU, MEM, MEM_PER_GPU],
            Quantity::ArrayTasks | Quantity::ArrayRunning => &[],
        }
    }

    /// The option to add where none of those that drive the number is used.
    fn first_resort(self, end: End) -> Option<&'static Knob> {
        match (self, end) {
            (Quantity::Nodes, _) => Some(&NODES),
            (Quantity::Gpus, End::Min) => Some(&GPUS),
            (Quantity::Cpus, End::Min) => Some(&CPUS_PER_TASK),
            (Quantity::Tasks, End::Min) => Some(&NTASKS),
            (Quantity::Memory, End::Min) => Some(&MEM),
            (Quantity::MemoryPerCpu, End::Min) => Some(&MEM_PER_CPU),
            _ => None,
        }
    }

    /// The options of the request that drive the number.
    pub(super) fn options(self, request: &Request<'_>) -> Vec<&'static str> {
        if matches!(self, Quantity::ArrayTasks | Quantity::ArrayRunning) {
            return vec!["array"];
        }
        let base = as_typed(request);
        let whole = matches!(self, Quantity::Gpus | Quantity::Cpus) && request.shared == Sharing::Exclusive;
        let turned = self.knobs().iter().filter(|k| (k.get)(&base).is_some()).map(|k| k.option);
        whole.then_some("exclusive").into_iter().chain(turned).collect()
    }

    fn noun(self) -> &'static str {
        match self {
            Quantity::Nodes => "node",
            Quantity::Gpus => "GPU",
            Quantity::Cpus => "CPU",
            Quantity::Tasks => "task",
            _ => "array task",
        }
    }

    fn counted(self, n: u64) -> String {
        match self {
            Quantity::Memory => format!("{} of memory", Mb(n)),
            Quantity::MemoryPerCpu | Quantity::Time => self.value(n),
            _ => count(n, self.noun()),
        }
    }
}

fn plain(_: &Request<'_>, value: u64) -> String {
    value.to_string()
}

fn megabytes(_: &Request<'_>, value: u64) -> String {
    Mb(value).to_string()
}

fn minutes(_: &Request<'_>, value: u64) -> String {
    u32::try_from(value).map_or_else(|_| value.to_string(), |m| Minutes(m).to_string())
}

/// A knob over a plain number of the request.
macro_rules! number {
    ($name:ident, $option:literal, $field:ident: $type:ty) => {
        const $name: Knob = Knob {
            option: $option,
            get: |r| r.$field.map(u64::from),
            set: |r, n| <$type>::try_from(n).ok().map(|n| r.$field = Some(n)),
            show: plain,
        };
    };
}
number!(CPUS_PER_TASK, "cpus-per-task", cpus_per_task: u16);
number!(MINCPUS, "mincpus", pn_min_cpus: u16);
number!(NTASKS, "ntasks", num_tasks: u32);
number!(NTASKS_PER_NODE, "ntasks-per-node", ntasks_per_node: u16);
number!(NTASKS_PER_GPU, "ntasks-per-gpu", ntasks_per_gpu: u16);

const NODES: Knob = Knob {
    option: "nodes",
    get: |r| r.min_nodes.max(r.max_nodes).map(u64::from),
    set: |r, n| {
        let nodes = u32::try_from(n).ok()?;
        (r.min_nodes, r.max_nodes) = (Some(nodes), Some(nodes));
        Some(())
    },
    show: plain,
};

const TIME: Knob = Knob {
    option: "time",
    get: |r| match r.time_limit {
        TimeLimit::Unset => None,
        TimeLimit::Minutes(minutes) => Some(u64::from(minutes)),
        TimeLimit::Unlimited => Some(0),
    },
    set: |r, n| {
        r.time_limit = TimeLimit::Minutes(u32::try_from(n).ok()?);
        Some(())
    },
    show: minutes,
};

const MEM: Knob = Knob {
    option: "mem",
    get: |r| match r.memory {
        Memory::PerNode(mb) => Some(mb),
        Memory::WholeNode => Some(0),
        Memory::PerCpu(_) | Memory::Unset => None,
    },
    set: |r, n| {
        r.memory = Memory::PerNode(n);
        Some(())
    },
    show: megabytes,
};

const MEM_PER_CPU: Knob = Knob {
    option: "mem-per-cpu",
    get: |r| match r.memory {
        Memory::PerCpu(mb) => Some(mb),
        _ => None,
    },
    set: |r, n| {
        r.memory = Memory::PerCpu(n);
        Some(())
    },
    show: megabytes,
};

/// A knob over the GPUs of a list, whose other items and types stay.
macro_rules! gpus {
    ($name:ident, $option:literal, $field:ident, $all:expr, $show:expr) => {
        const $name: Knob = Knob {
            option: $option,
            get: |r| only_gpus(&r.$field, $all),
            set: |r, n| {
                // Several types at once have no one number.
                let single = r.$field.gpus().nth(1).is_none();
                single.then(|| r.$field = Tres::new(with_gpus(&r.$field, n)))
            },
            show: $show,
        };
    };
}
gpus!(GPUS, "gpus", tres_per_job, false, |r, n| typed_gpus(&r.tres_per_job, n));
gpus!(GPUS_PER_NODE, "gpus-per-node", tres_per_node, false, |r, n| typed_gpus(&r.tres_per_node, n));
gpus!(GRES, "gres", tres_per_node, true, |r, n| with_gpus(&r.tres_per_node, n));
gpus!(GPUS_PER_TASK, "gpus-per-task", tres_per_task, false, |r, n| typed_gpus(&r.tres_per_task, n));
gpus!(GPUS_PER_SOCKET, "gpus-per-socket", tres_per_socket, false, |r, n| typed_gpus(&r.tres_per_socket, n));
gpus!(CPUS_PER_GPU, "cpus-per-gpu", cpus_per_tres, false, |r, n| typed_gpus(&r.cpus_per_tres, n));
gpus!(MEM_PER_GPU, "mem-per-gpu", mem_per_tres, false, megabytes);

/// The number of GPUs, where one item of the list says it. `with_others`: beside other resources,
/// which only `--gres` can write; else alone.
fn only_gpus(list: &Tres<'_>, with_others: bool) -> Option<u64> {
    let mut gpus = list.gpus();
    let count = gpus.next()?.count?;
    let others = list.items().any(|i| i.name != "gpu");
    (gpus.next().is_none() && others == with_others).then_some(count)
}

/// The list with another number of GPUs: `gpu:a100:2,nvme:4`.
fn with_gpus(list: &Tres<'_>, n: u64) -> String {
    let item = |name: &str, kind: Option<&str>, count: Option<u64>| match (kind, count) {
        (Some(kind), Some(count)) => format!("{name}:{kind}:{count}"),
        (Some(kind), None) => format!("{name}:{kind}"),
        (None, Some(count)) => format!("{name}:{count}"),
        (None, None) => name.to_owned(),
    };
    if list.gpus().next().is_none() {
        return item("gpu", None, Some(n));
    }
    let items: Vec<String> =
        list.items().map(|i| item(i.name, i.kind, if i.name == "gpu" { Some(n) } else { i.count })).collect();
    items.join(",")
}

/// The number as an option for GPUs alone takes it: `a100:2`, or `2`.
fn typed_gpus(list: &Tres<'_>, n: u64) -> String {
    match list.gpus().next().and_then(|i| i.kind) {
        Some(kind) => format!("{kind}:{n}"),
        None => n.to_string(),
    }
}
