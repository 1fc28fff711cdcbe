//! `gpu-request`: GPU jobs on GPU partitions, other jobs elsewhere.

use super::{Check, RuleInfo, explained, parse};
use crate::case::{Candidate, Case};
use crate::judge::{Report, place};
use crate::request::shape;
use crate::request::tres::Item;
use crate::request::{Request, Sharing, Tres};
use crate::verdict::{Allowed, Complaint, Errno, Remedy, Topic};
use crate::words::{count, shown};

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "gpu-request",
    topic: Topic::Gpu,
    explanation: EXPLANATION,
    justifiable: true,
    parse: parse::<GpuRequest>,
};

explained! {
    /// GPU jobs on GPU partitions, other jobs elsewhere.
    ///
    /// # What it holds
    /// A job on a partition with GPUs asks for at least one, by any option: `--gpus`,
    /// `--gpus-per-node`, `--gres`, `--gpus-per-task`, `--gpus-per-socket`, `--tres-per-task`. Zero
    /// of them is none. A share of a GPU (`gres/shard`, `gres/mps`) will do, and so will
    /// `--exclusive` and partitions with `whole_node = true`, which bring all GPUs of a node. A job
    /// that asks for GPUs names no partition without any, and no GPU type that the partition does
    /// not have. Other generic resources do not matter. The facts are `gpu_types` and
    /// `gpus_per_node`; of a partition with neither nothing is known, and nothing is refused.
    ///
    /// # Why
    /// A job without a GPU on a GPU node takes CPUs and memory from GPUs, which then stand idle. A
    /// list that mixes both kinds of partition runs the job in the wrong one.
    ///
    /// # Refused
    /// ```text
    /// sbatch --partition=gpu train.sh
    /// sbatch --partition=gpu --gres=gpu:0 train.sh
    /// sbatch --partition=gpu,cpu --gpus=1 train.sh
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --partition=gpu --gpus-per-node=1 train.sh
    /// ```
    ///
    /// # Options
    /// `typed`: whether GPUs must be asked for by type, as in `--gpus=a100:2`; `false` where it is
    /// left out.
    pub struct GpuRequest {
        /// Whether GPUs must be asked for by type.
        #[serde(default)]
        typed: bool,
    }
}

/// Whether a partition has GPUs, as far as the policy says.
pub fn has_gpus(candidate: &Candidate<'_>) -> Option<bool> {
    match (candidate.facts.gpu_types(), candidate.facts.node().gpus) {
        (Some(types), _) => Some(!types.is_empty()),
        (None, Some(n)) => Some(n > 0),
        (None, None) => None,
    }
}

impl Check for GpuRequest {
    fn check(&self, case: &Case<'_>, candidate: &Candidate<'_>, report: &mut Report<'_, '_>) {
        let request = case.request;
        let asks = shape::asks_for_gpus(request);
        // In a list of both kinds only leaving one out helps, which the judge says by itself.
        let mixed = case
            .candidates
            .iter()
            .any(|c| has_gpus(c).zip(has_gpus(candidate)).is_some_and(|(other, this)| other != this));
        match has_gpus(candidate) {
            Some(true) if !asks && !brings_gpus(request, candidate) => {
                let remedies = if mixed { Vec::new() } else { self.some_gpus(request, candidate) };
                report.complain(none_asked(request, candidate, remedies));
            }
            Some(false) if asks => {
                let remedies = if mixed { Vec::new() } else { no_gpus(case) };
                report.complain(none_there(candidate, remedies));
            }
            Some(true) | None if asks => self.check_types(request, candidate, report),
            _ => {}
        }
    }
}

impl GpuRequest {
    /// Options that ask for one GPU: of each type where the type has to be named.
    fn some_gpus(&self, request: &Request<'_>, candidate: &Candidate<'_>) -> Vec<Remedy> {
        let zero =
            shape::gpu_lists(request).into_iter().zip(OPTIONS).find(|(l, _)| l.gpus().next().is_some());
        let (option, instead_of) = match zero {
            Some((list, option)) if only_gpus(list) => (option.name, option.replaced(request)),
            _ => ("gpus-per-node", &[][..]),
        };
        let types = candidate.facts.gpu_types().filter(|_| self.typed).unwrap_or(&[]);
        if types.is_empty() {
            let value = if self.typed { "TYPE:1" } else { "1" };
            return vec![Remedy::or_more(option, value).instead_of(instead_of)];
        }
        let typed = |kind: &String| Remedy::or_more(option, format!("{kind}:1")).instead_of(instead_of);
        types.iter().take(MOST_TYPES).map(typed).collect()
    }

    /// Each type that is named is there, and each GPU has one where it must.
    fn check_types(&self, request: &Request<'_>, candidate: &Candidate<'_>, report: &mut Report<'_, '_>) {
        let types = candidate.facts.gpu_types().unwrap_or(&[]);
        let asked = || {
            let lists = shape::gpu_lists(request).into_iter().zip(OPTIONS);
            lists.flat_map(|(list, option)| list.gpus().map(move |item| (option, item)))
        };
        let some = || asked().filter(|(_, item)| item.count != Some(0));
        // Types that are named more than once have to agree, so that no single option is enough.
        let several = some().count() > 1;
        let in_each = || vec![Remedy::Change("name a type that it has in each of them".to_owned())];
        let lacking = |kind: &str| !types.is_empty() && !types.iter().any(|t| t == kind);
        for (option, item) in some() {
            let Some(kind) = item.kind.filter(|k| lacking(k)) else { continue };
            report.complain(Complaint {
                quantity: "GPU type",
                asked: format!("GPUs of type {} are asked for", shown(kind)),
                remedies: if several { in_each() } else { typed_as(request, option, item, types) },
                ..of_types(candidate, option, types)
            });
        }
        if !self.typed {
            return;
        }
        // Types may be named by one option and counts by another.
        let named = some().any(|(_, item)| item.kind.is_some());
        let Some((option, item)) = some().find(|(_, item)| item.kind.is_none()).filter(|_| !named) else {
            return;
        };
        report.complain(Complaint {
            quantity: "GPU type named",
            asked: format!("{} asks for GPUs of no type", option.spelled()),
            remedies: if several { in_each() } else { typed_as(request, option, item, types) },
            ..of_types(candidate, option, types)
        });
    }
}

/// Most types that one message proposes.
const MOST_TYPES: usize = 3;

/// An option that asks for GPUs, in the order of [`shape::gpu_lists`].
#[derive(Clone, Copy)]
struct GpuOption {
    name: &'static str,
    /// What arrives in the same place and has to go when `name` is typed.
    other: &'static [&'static str],
}

const OPTIONS: [GpuOption; 4] = [
    GpuOption { name: "gpus", other: &[] },
    GpuOption { name: "gpus-per-node", other: &["gres"] },
    GpuOption { name: "gpus-per-task", other: &["tres-per-task"] },
    GpuOption { name: "gpus-per-socket", other: &[] },
];

impl GpuOption {
    /// What has to go, where the user wrote it.
    fn replaced(self, request: &Request<'_>) -> &'static [&'static str] {
        if self.other.iter().any(|name| request.wrote(name)) { self.other } else { &[] }
    }

    /// `--gpus`, `--gpus-per-node or --gres`: by which of two it came cannot be seen.
    fn spelled(self) -> String {
        let names = std::iter::once(&self.name).chain(self.other);
        names.map(|n| format!("--{n}")).collect::<Vec<_>>().join(" or ")
    }
}

/// Whether the list holds nothing else that a new option would have to say again.
fn only_gpus(list: &Tres<'_>) -> bool {
    list.items().all(|item| item.name == "gpu")
}

/// Whether GPUs come without being asked for by number.
fn brings_gpus(request: &Request<'_>, candidate: &Candidate<'_>) -> bool {
    let shares = |item: Item<'_>| matches!(item.name, "shard" | "mps") && item.count != Some(0);
    candidate.facts.whole_node()
        || request.shared == Sharing::Exclusive
        || request.core_spec.is_some()
        || shape::gpu_lists(request).iter().any(|list| list.items().any(shares))
}

fn none_asked(request: &Request<'_>, candidate: &Candidate<'_>, remedies: Vec<Remedy>) -> Complaint {
    let asked = if shape::gpus_are_stated(request) {
        "the job requests 0 GPUs".to_owned()
    } else {
        "the job requests no GPU".to_owned()
    };
    Complaint {
        quantity: "GPUs",
        asked,
        allowed: Some(Allowed {
            place: place(candidate),
            verb: ("is", "are"),
            what: "for GPU jobs".to_owned(),
        }),
        excess: 1,
        options: vec!["gpus", "gpus-per-node", "gres", "partition"],
        remedies,
        errno: Errno::InvalidGres,
        told_by: None,
    }
}

fn none_there(candidate: &Candidate<'_>, remedies: Vec<Remedy>) -> Complaint {
    let asked = match candidate.shape.gpus.and_then(|g| g.fixed()) {
        Some(n) => format!("the job requests {}", count(n, "GPU")),
        None => "the job requests GPUs".to_owned(),
    };
    Complaint {
        quantity: "no GPUs",
        asked,
        allowed: Some(Allowed { place: place(candidate), verb: ("has", "have"), what: "none".to_owned() }),
        excess: 1,
        options: vec!["partition", "gpus", "gpus-per-node", "gres"],
        remedies,
        errno: Errno::InvalidGres,
        told_by: None,
    }
}

/// Ways out of a partition without GPUs: another one, or no GPUs.
fn no_gpus(case: &Case<'_>) -> Vec<Remedy> {
    let request = case.request;
    let facts = &case.policy.facts;
    let open = |name: &&str| {
        let partition = facts.partition(name);
        partition.owner().is_none() && partition.gpu_types().is_some_and(|types| !types.is_empty())
    };
    let mut names = facts.partitions.literal_names();
    names.retain(open);
    names.truncate(MOST_TYPES);
    let elsewhere = if names.is_empty() {
        "name a partition with GPUs".to_owned()
    } else {
        format!("name a partition with GPUs, such as {}", names.join(" or "))
    };

    let mut remedies = vec![Remedy::Change(elsewhere)];
    let stated: Vec<_> = shape::gpu_lists(request)
        .into_iter()
        .zip(OPTIONS)
        .filter(|(list, _)| list.gpus().next().is_some())
        .collect();
    // What counts by GPUs makes no sense without them.
    let per_gpu = !request.cpus_per_tres.is_empty()
        || !request.mem_per_tres.is_empty()
        || request.ntasks_per_gpu.is_some();
    match stated.as_slice() {
        [(list, option)] if option.other.is_empty() && only_gpus(list) && !per_gpu => {
            remedies.push(Remedy::Drop { option: option.name });
        }
        _ => remedies.push(Remedy::Change("ask for no GPUs".to_owned())),
    }
    remedies
}

fn of_types(candidate: &Candidate<'_>, option: GpuOption, types: &[String]) -> Complaint {
    let allowed = (!types.is_empty()).then(|| Allowed {
        place: place(candidate),
        verb: ("has", "have"),
        what: types.join(", "),
    });
    Complaint {
        quantity: "GPU type",
        asked: String::new(),
        allowed,
        excess: 1,
        options: std::iter::once(option.name).chain(option.other.iter().copied()).collect(),
        remedies: Vec::new(),
        errno: Errno::InvalidGres,
        told_by: None,
    }
}

/// The same number of GPUs of each type that there is.
fn typed_as(request: &Request<'_>, option: GpuOption, item: Item<'_>, types: &[String]) -> Vec<Remedy> {
    let number = item.count.unwrap_or(1);
    if types.is_empty() {
        return vec![Remedy::Change(format!("name the type, as in --{}=TYPE:{number}", option.name))];
    }
    let typed = |kind: &String| {
        Remedy::exactly(option.name, format!("{kind}:{number}")).instead_of(option.replaced(request))
    };
    types.iter().take(MOST_TYPES).map(typed).collect()
}
