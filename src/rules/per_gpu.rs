//! What a request's GPUs bring with them, for every rule that counts something per GPU.

use smallvec::SmallVec;

use crate::case::{Candidate, Case};
use crate::judge;
use crate::policy::PerGpu;
use crate::policy::facts::{self, GpuFacts, Partition};
use crate::request::{Request, Tres, shape};
use crate::verdict::{Allowed, Place};

/// The share of a node that comes with the GPUs of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share<'c> {
    /// Filled in for each GPU; `None` where GPUs of several kinds disagree.
    pub default: Option<u64>,
    /// At most `max.0` for every `max.1` GPUs of this request.
    pub max: Option<(u64, u64)>,
    /// Just the maximum, no less.
    pub exact: bool,
    /// The GPU type whose number it is; `None` where it is the partition's.
    gpu: Option<&'c str>,
}

impl Share<'_> {
    /// The maximum for `gpus` GPUs.
    pub fn max_for(&self, gpus: u64) -> Option<u64> {
        let (max, of) = self.max?;
        Some(max.saturating_mul(gpus) / of.max(1))
    }

    /// The maximum for one GPU, rounded down.
    pub fn max_each(&self) -> Option<u64> {
        self.max_for(1)
    }

    /// The second half of a finding's sentence; `each` is [`Share::max_each`] as it is told.
    pub fn allowed(&self, candidate: &Candidate<'_>, each: &str) -> Allowed {
        let what = if self.exact { format!("exactly {each}") } else { format!("at most {each}") };
        match self.gpu {
            Some(kind) => {
                Allowed { place: Place::GpuType(kind.to_owned()), verb: ("comes with", "come with"), what }
            }
            None => Allowed { place: judge::place(candidate), verb: ("gives", "give"), what },
        }
    }
}

/// One of the two per-GPU facts: of a partition, and of a GPU type, which beats it.
pub struct Key {
    partition: fn(&Partition<'_>) -> Option<PerGpu>,
    gpu: fn(&GpuFacts) -> Option<PerGpu>,
}

/// `cpus_per_gpu`.
pub const CPUS: Key = Key { partition: |p| p.cpus_per_gpu(), gpu: |g| g.cpus_per_gpu };
/// `memory_per_gpu`, MB.
pub const MEMORY: Key = Key { partition: |p| p.memory_per_gpu(), gpu: |g| g.memory_per_gpu };

/// The share of this request's GPUs on this candidate; `None` where the policy gives no number.
pub fn share<'c>(case: &'c Case<'_>, candidate: &'c Candidate<'_>, key: &Key) -> Option<Share<'c>> {
    let of_partition = (key.partition)(&candidate.facts);
    let of_type = |kind: &'c str| {
        let numbers = facts::first(&case.policy.facts.gpus.get(kind), |g| (key.gpu)(g));
        numbers.map(|n| from(n, Some(kind))).or_else(|| of_partition.map(|n| from(n, None)))
    };

    let mut total: Option<Share<'c>> = None;
    for (kind, count) in items(case.request) {
        let each = match (kind, candidate.facts.gpu_types()) {
            (Some(kind), _) => of_type(kind)?,
            (None, Some([only])) => of_type(only)?,
            // Which of several types it will be only Slurm knows: the largest maximum holds.
            (None, Some(kinds)) if !kinds.is_empty() => {
                let shares: SmallVec<[Share<'c>; 4]> =
                    kinds.iter().map(|k| of_type(k)).collect::<Option<_>>()?;
                let same = shares
                    .windows(2)
                    .all(|w| matches!(w, [a, b] if a.default == b.default && a.max == b.max));
                let largest = shares.into_iter().max_by_key(Share::max_each)?;
                if same { largest } else { Share { default: None, exact: false, gpu: None, ..largest } }
            }
            (None, _) => of_partition.map(|n| from(n, None))?,
        };
        total = Some(match total {
            None => Share {
                max: each.max.map(|(n, of)| (n.saturating_mul(count), of.saturating_mul(count))),
                ..each
            },
            Some(sum) => Share {
                default: sum.default.filter(|d| each.default == Some(*d)),
                max: sum.max.zip(each.max).map(|(a, b)| {
                    (
                        a.0.saturating_add(b.0.saturating_mul(count)),
                        a.1.saturating_add(b.1.saturating_mul(count)),
                    )
                }),
                exact: sum.exact && each.exact,
                gpu: sum.gpu.filter(|kind| each.gpu == Some(*kind)),
            },
        });
    }
    total
}

/// The GPUs that are asked for, by type and number.
fn items<'r>(request: &'r Request<'_>) -> impl Iterator<Item = (Option<&'r str>, u64)> {
    let list = gpu_list(request);
    // `--ntasks-per-gpu` alone asks for GPUs of whatever type there is.
    let untyped = (list.is_none() && shape::asks_for_gpus(request)).then_some((None, 1));
    let listed = list.into_iter().flat_map(Tres::gpus).filter(|i| i.count != Some(0));
    listed.map(|i| (i.kind, i.count.unwrap_or(1))).chain(untyped)
}

/// The list that says how many GPUs there are.
fn gpu_list<'r, 'a>(request: &'r Request<'a>) -> Option<&'r Tres<'a>> {
    shape::gpu_lists(request).into_iter().find(|t| t.gpus().any(|i| i.count != Some(0)))
}

fn from(numbers: PerGpu, gpu: Option<&str>) -> Share<'_> {
    Share { default: numbers.default, max: numbers.max.map(|n| (n, 1)), exact: numbers.exact, gpu }
}
