//! What a request's GPUs bring with them, for every rule that counts something per GPU.

use crate::case::{Candidate, Case};
use crate::policy::PerGpu;
use crate::policy::facts::{self, GpuFacts, Partition};
use crate::request::{Request, Tres, shape};
use crate::verdict::Place;

/// The share of a node that comes with the GPUs of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Filled in for each GPU; `None` where GPUs of several kinds disagree.
    pub default: Option<u64>,
    /// At most `max.0` for every `max.1` GPUs of this request.
    pub max: Option<(u64, u64)>,
    /// Just the maximum, no less.
    pub exact: bool,
    /// Whose number it is.
    pub place: Place,
}

impl Share {
    /// The maximum for `gpus` GPUs.
    pub fn max_for(&self, gpus: u64) -> Option<u64> {
        let (max, of) = self.max?;
        Some(max.saturating_mul(gpus) / of.max(1))
    }

    /// The maximum for one GPU, rounded down.
    pub fn max_each(&self) -> Option<u64> {
        self.max_for(1)
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
pub fn share(case: &Case<'_>, candidate: &Candidate<'_>, key: &Key) -> Option<Share> {
    let of_type = |kind: &str| facts::first(&case.policy.facts.gpus.get(kind), |g| (key.gpu)(g));
    let of_partition = (key.partition)(&candidate.facts);
    let partition = crate::judge::place(candidate);

    let mut total: Option<Share> = None;
    // `--ntasks-per-gpu` alone asks for GPUs of whatever type there is.
    let untyped = shape::asks_for_gpus(case.request).then(|| Tres::new("gpu"));
    for item in gpu_list(case.request).or(untyped.as_ref())?.gpus().filter(|i| i.count != Some(0)) {
        let each = match (item.kind, candidate.facts.gpu_types()) {
            (Some(kind), _) => one(of_type(kind), kind, of_partition, &partition)?,
            (None, Some([only])) => one(of_type(only), only, of_partition, &partition)?,
            // Which of several types it will be only Slurm knows: the largest maximum holds.
            (None, Some(kinds)) if !kinds.is_empty() => {
                let shares: Vec<Share> = kinds
                    .iter()
                    .map(|k| one(of_type(k), k, of_partition, &partition))
                    .collect::<Option<_>>()?;
                let same = shares
                    .windows(2)
                    .all(|w| matches!(w, [a, b] if a.default == b.default && a.max == b.max));
                let largest = shares.into_iter().max_by_key(Share::max_each)?;
                if same {
                    largest
                } else {
                    Share { default: None, exact: false, place: partition.clone(), ..largest }
                }
            }
            (None, _) => of_partition.map(|n| from(n, partition.clone()))?,
        };
        let count = item.count.unwrap_or(1);
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
                place: if sum.place == each.place { sum.place } else { partition.clone() },
            },
        });
    }
    total
}

/// The list that says how many GPUs there are.
fn gpu_list<'r, 'a>(request: &'r Request<'a>) -> Option<&'r Tres<'a>> {
    shape::gpu_lists(request).into_iter().find(|t| t.gpus().any(|i| i.count != Some(0)))
}

fn one(
    of_type: Option<PerGpu>,
    kind: &str,
    of_partition: Option<PerGpu>,
    partition: &Place,
) -> Option<Share> {
    match of_type {
        Some(numbers) => Some(from(numbers, Place::GpuType(kind.to_owned()))),
        None => of_partition.map(|n| from(n, partition.clone())),
    }
}

fn from(numbers: PerGpu, place: Place) -> Share {
    Share { default: numbers.default, max: numbers.max.map(|n| (n, 1)), exact: numbers.exact, place }
}
