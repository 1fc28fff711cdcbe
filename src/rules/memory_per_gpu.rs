//! `memory-per-gpu`: each GPU brings so much memory and no more.

use super::per_gpu::{self, Share};
use super::{Check, RuleInfo, explained, parse};
use crate::case::{Candidate, Case};
use crate::judge::{Report, place};
use crate::policy::values;
use crate::request::memory::Mb;
use crate::request::shape::{self, Shape};
use crate::request::{Amount, Memory, Request, Sharing};
use crate::verdict::{Allowed, Bound, Complaint, Edit, Errno, Remedy, Topic};
use crate::words::{count, megabytes};

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "memory-per-gpu",
    topic: Topic::Memory,
    explanation: EXPLANATION,
    justifiable: true,
    parse: parse::<MemoryPerGpu>,
};

explained! {
    /// Memory for each GPU.
    ///
    /// # What it holds
    /// A job gets at most so much memory for each of its GPUs, counted over the whole job and
    /// however it is asked for: `--mem` times nodes, `--mem-per-cpu` times CPUs (those of tasks,
    /// of `--cpus-per-task` and of `--cpus-per-gpu`), `--mem-per-gpu`. `--mem=0` is all memory of
    /// each node. A request that says nothing about memory gets the default filled in. The numbers
    /// are facts: `memory_per_gpu` of the partition, or of the GPU type, which beats it:
    /// `{ default = "60G", max = "120G" }`, a bare size for both, or `{ exact = "120G" }`.
    ///
    /// # Why
    /// GPUs whose node has no memory left stand idle, and nobody sees why their job waits.
    ///
    /// # Refused
    /// ```text
    /// sbatch --partition=gpu --gpus=1 --mem=400G train.sh
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --partition=gpu --gpus=1 --mem=120G train.sh
    /// sbatch --partition=gpu --gpus=4 train.sh      (the default is filled in)
    /// ```
    ///
    /// # Options
    /// `headroom`: what a node needs for itself, such as `"16G"`: a GPU job that asks for more than
    /// `memory_per_node` less this much may never fit on a node, and is told so. A note, whatever
    /// the rule's mode.
    pub struct MemoryPerGpu {
        /// What a node needs for itself: a job that asks for more than the rest is told that it may never fit.
        headroom: Option<values::Memory>,
    }
}

impl Check for MemoryPerGpu {
    fn check(&self, case: &Case<'_>, candidate: &Candidate<'_>, report: &mut Report<'_, '_>) {
        let request = case.request;
        if candidate.facts.whole_node() || candidate.shape.gpus.is_none_or(|g| g.high == Some(0)) {
            return;
        }
        let share = per_gpu::share(case, candidate, &per_gpu::MEMORY);
        if request.memory == Memory::Unset && shape::memory_per_gpu(request).is_none() {
            // A whole node keeps the memory that the site gives it.
            let whole = request.shared == Sharing::Exclusive || request.core_spec.is_some();
            if let Some(default) = share.and_then(|s| s.default).filter(|_| !whole) {
                report.fill_in(&RULE, Edit::MemoryPerGpu(default));
            }
            return;
        }
        let fits = self.fits(candidate);
        let unfit = share
            .and_then(|share| Some((Load::worst(request, candidate, &share)?, share)))
            .filter(|(load, share)| load.misses(share));
        match unfit {
            Some((load, share)) => report.complain(too_much(request, candidate, &share, &load, fits)),
            None => self.check_headroom(case, candidate, fits, report),
        }
    }
}

impl MemoryPerGpu {
    /// MB that surely fit on a node beside what it needs for itself.
    fn fits(&self, candidate: &Candidate<'_>) -> Option<u64> {
        let headroom = self.headroom?.0;
        Some(candidate.facts.node().memory?.saturating_sub(headroom)).filter(|&mb| mb > 0)
    }

    /// Says so where what is certain of the memory on one node is more than surely fits.
    fn check_headroom(
        &self,
        case: &Case<'_>,
        candidate: &Candidate<'_>,
        fits: Option<u64>,
        report: &mut Report<'_, '_>,
    ) {
        let (Some(fits), Some(asked)) = (fits, candidate.shape.memory_per_node.map(|m| m.low)) else {
            return;
        };
        let Some(all) = candidate.facts.node().memory else { return };
        if asked <= fits || case.request.memory.takes_all() {
            return;
        }
        let spelling = Spelling::of(case.request);
        report.note(Complaint {
            quantity: "memory on a node",
            asked: format!("{} on one node may never fit", megabytes(asked)),
            allowed: Some(Allowed {
                place: place(candidate),
                verb: ("has", "have"),
                what: format!("{} a node, and the node itself needs some of it", megabytes(all)),
            }),
            excess: asked - fits,
            options: vec![spelling.option()],
            remedies: spelling.within(case.request, &candidate.shape, fits).into_iter().collect(),
            errno: Errno::AccessDenied,
            told_by: None,
        });
    }
}

fn too_much(
    request: &Request<'_>,
    candidate: &Candidate<'_>,
    share: &Share<'_>,
    load: &Load,
    fits: Option<u64>,
) -> Complaint {
    let spelling = Spelling::of(request);
    let whole_node =
        if request.memory.takes_all() { format!("--{}=0, ", spelling.option()) } else { String::new() };
    Complaint {
        quantity: "memory",
        asked: format!(
            "{whole_node}{} for {} is {} per GPU",
            megabytes(load.memory),
            count(load.gpus, "GPU"),
            megabytes(load.memory.div_ceil(load.gpus.max(1)))
        ),
        allowed: Some(share.allowed(candidate, &megabytes(share.max_each().unwrap_or(0)))),
        excess: load.memory.abs_diff(load.allowed),
        options: vec![spelling.option()],
        remedies: remedies(request, candidate, share, spelling, fits),
        errno: Errno::AccessDenied,
        // Where all of a node is the matter, that is the better thing to say.
        told_by: request.memory.takes_all().then_some("exclusive"),
    }
}

/// Memory against GPUs on one number of nodes that the request leaves open. MB.
#[derive(Clone, Copy)]
struct Load {
    gpus: u64,
    memory: u64,
    allowed: u64,
    /// How often the option's number counts: nodes, CPUs or GPUs.
    times: u64,
}

impl Load {
    /// Every end of the range of nodes; where Slurm decides the number, what is certain.
    fn ends(
        request: &Request<'_>,
        candidate: &Candidate<'_>,
        share: &Share<'_>,
    ) -> impl Iterator<Item = Load> {
        let on = |nodes: u64| {
            let at = Shape::at(request, nodes);
            // Per GPU it is the same for any number of them.
            let per_gpu = shape::memory_per_gpu(request).filter(|_| request.memory == Memory::Unset);
            let gpus = at.gpus.or(per_gpu.map(|_| 1)).filter(|&g| g > 0)?;
            let (each, times) = match (request.memory, per_gpu) {
                (Memory::WholeNode | Memory::PerCpu(0), _) => (candidate.facts.node().memory?, nodes),
                (Memory::PerNode(mb), _) => (mb, nodes),
                (Memory::PerCpu(mb), _) => (mb, at.cpus),
                (Memory::Unset, mb) => (mb?, gpus),
            };
            Some(Load { gpus, memory: each.saturating_mul(times), allowed: share.max_for(gpus)?, times })
        };
        let nodes = candidate.shape.nodes;
        [Some(nodes.low), nodes.high].into_iter().flatten().filter_map(on)
    }

    fn worst(request: &Request<'_>, candidate: &Candidate<'_>, share: &Share<'_>) -> Option<Load> {
        Load::ends(request, candidate, share).max_by_key(|load| {
            let over = load.memory.saturating_sub(load.allowed);
            if over == 0 && share.exact { load.allowed.saturating_sub(load.memory) } else { over }
        })
    }

    fn misses(&self, share: &Share<'_>) -> bool {
        self.memory > self.allowed || (share.exact && self.memory < self.allowed)
    }
}

/// The option by which a request states its memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// `--mem`, per node.
    Node,
    /// `--mem-per-cpu`.
    Cpu,
    /// `--mem-per-gpu`.
    Gpu,
}

impl Spelling {
    fn of(request: &Request<'_>) -> Spelling {
        match request.memory {
            Memory::PerNode(_) | Memory::WholeNode => Spelling::Node,
            Memory::PerCpu(_) => Spelling::Cpu,
            Memory::Unset => Spelling::Gpu,
        }
    }

    fn option(self) -> &'static str {
        match self {
            Spelling::Node => "mem",
            Spelling::Cpu => "mem-per-cpu",
            Spelling::Gpu => "mem-per-gpu",
        }
    }

    /// The largest value that puts at most `mb` on a node.
    fn at_most(self, shape: &Shape, mb: u64) -> u64 {
        let upper = |amount: Amount| amount.high.unwrap_or(amount.low).max(1);
        match self {
            Spelling::Node => mb,
            Spelling::Cpu => mb / upper(shape.cpus_per_node),
            Spelling::Gpu => mb / shape.gpus_per_node.map_or(1, upper),
        }
    }

    /// The option with such a value; `None` where no such value is any.
    fn within(self, request: &Request<'_>, shape: &Shape, mb: u64) -> Option<Remedy> {
        debug_assert!(!request.memory.takes_all());
        let value = self.at_most(shape, mb);
        (value > 0).then(|| Remedy::or_less(self.option(), Mb(value).to_string()))
    }
}

/// What to type instead, in the spelling that the request uses, with the converted value; per GPU
/// beside it, or where no number in that spelling is right.
fn remedies(
    request: &Request<'_>,
    candidate: &Candidate<'_>,
    share: &Share<'_>,
    spelling: Spelling,
    fits: Option<u64>,
) -> Vec<Remedy> {
    let bound = if share.exact { Bound::Exactly } else { Bound::OrLess };
    let typed = |option, value: u64, instead_of| Remedy::Use {
        option,
        value: Mb(value).to_string(),
        bound,
        instead_of,
    };
    let fits = fits.filter(|_| !share.exact);

    let mut remedies = Vec::new();
    // All of a node is stated per node whatever the option: `--mem-per-cpu=0` is `--mem=0`.
    let own = if request.memory.takes_all() { Spelling::Node } else { spelling };
    let ends = || Load::ends(request, candidate, share).filter(|load| load.times > 0);
    let value = ends().map(|load| load.allowed / load.times).min();
    let value = value.map(|v| fits.map_or(v, |mb| v.min(own.at_most(&candidate.shape, mb))));
    let right = |value: u64| {
        value > 0 && (!share.exact || ends().all(|l| value.saturating_mul(l.times) == l.allowed))
    };
    if let Some(value) = value.filter(|&v| right(v)) {
        let replaced = if own == spelling { Vec::new() } else { vec![spelling.option()] };
        remedies.push(typed(own.option(), value, replaced));
    }
    let each = share.max_each().filter(|&mb| mb > 0 && own != Spelling::Gpu);
    let each = each.map(|v| fits.map_or(v, |mb| v.min(Spelling::Gpu.at_most(&candidate.shape, mb))));
    // Several types with numbers of their own have no common number per GPU.
    let uniform = |each: u64| !share.exact || ends().all(|l| each.saturating_mul(l.gpus) == l.allowed);
    if let Some(each) = each.filter(|&mb| mb > 0 && uniform(mb)) {
        remedies.push(typed("mem-per-gpu", each, vec![spelling.option()]));
    }
    if remedies.is_empty() {
        let allowed = ends().map(|load| load.allowed).min().unwrap_or(0);
        remedies.push(Remedy::Change(format!("ask for {} in all", megabytes(allowed))));
    }
    remedies
}
