//! `time-limit`: a run time is stated, and within what the partition and the QoS give.

use super::{Check, RuleInfo, explained, parse};
use crate::case::{Candidate, Case};
use crate::judge::{Report, place};
use crate::policy::facts;
use crate::request::TimeLimit;
use crate::request::time::Minutes;
use crate::verdict::{Allowed, Complaint, Errno, Place, Remedy, Topic, not_given};

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "time-limit",
    topic: Topic::Time,
    explanation: EXPLANATION,
    justifiable: true,
    parse: parse::<TimeLimitRule>,
};

explained! {
    /// A time limit that is stated and allowed.
    ///
    /// # What it holds
    /// `--time` is given, is not unlimited, and is within the `max_time` of the partition and of
    /// the QoS, the smaller of the two; of a list of QoS each counts. `--time=0`, `UNLIMITED` and
    /// `INFINITE` are all unlimited, and right only where a `max_time = "UNLIMITED"` says so.
    /// `--time-min` lets Slurm shorten a job, no more: it takes the place of neither.
    ///
    /// # Why
    /// Slurm fills gaps with jobs whose end it knows. A job without a limit waits longer and keeps
    /// others waiting; a job with too long a limit may wait for ever.
    ///
    /// # Refused
    /// ```text
    /// sbatch --partition=gpu --gpus=1 train.sh
    /// sbatch --partition=gpu --gpus=1 --time=30-00:00:00 train.sh
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --partition=gpu --gpus=1 --time=4:00:00 train.sh
    /// ```
    ///
    /// # Options
    /// `required`: whether `--time` must be given; `true` where it is left out. The maxima hold
    /// either way.
    pub struct TimeLimitRule {
        /// Whether `--time` must be given; it must where this is left out.
        #[serde(default = "yes")]
        required: bool,
    }
}

fn yes() -> bool {
    true
}

/// The unit and the name of what is measured here.
const QUANTITY: &str = "time limit";

impl Check for TimeLimitRule {
    fn check(&self, case: &Case<'_>, candidate: &Candidate<'_>, report: &mut Report<'_, '_>) {
        match case.request.time_limit {
            TimeLimit::Unset if self.required => report.complain(missing(case)),
            TimeLimit::Unset => {}
            TimeLimit::Minutes(asked) => {
                if let Some((Most::Minutes(max), from)) = most(case, candidate) {
                    if asked > max {
                        let text = format!("--time={}", Minutes(asked));
                        let excess = u64::from(asked - max);
                        report.complain(too_long(case, text, excess, Some((max, from))));
                    }
                }
            }
            TimeLimit::Unlimited => match most(case, candidate) {
                Some((Most::Unlimited, _)) => {}
                Some((Most::Minutes(max), from)) => {
                    report.complain(too_long(
                        case,
                        "--time is unlimited".to_owned(),
                        u64::MAX,
                        Some((max, from)),
                    ));
                }
                None => report.complain(too_long(case, "--time is unlimited".to_owned(), u64::MAX, None)),
            },
        }
    }
}

/// The longest time that a job may state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Most {
    Minutes(u32),
    /// The policy says that there is no limit.
    Unlimited,
}

/// The smaller of the limits of the partition and of each QoS, and whose it is. `None` where the
/// policy names none.
fn most(case: &Case<'_>, candidate: &Candidate<'_>) -> Option<(Most, Place)> {
    let as_most = |limit: TimeLimit| match limit {
        TimeLimit::Unset => None,
        TimeLimit::Minutes(m) => Some(Most::Minutes(m)),
        TimeLimit::Unlimited => Some(Most::Unlimited),
    };
    let partition = candidate.facts.max_time().and_then(as_most).map(|most| (most, place(candidate)));
    let of_qos = |name: &str| {
        let limit = facts::first(&case.policy.facts.qos.get(name), |q| q.max_time).and_then(as_most)?;
        Some((limit, Place::Qos(name.to_owned())))
    };
    let qos = candidate.qos(case).into_iter().flat_map(|q| q.names()).filter_map(of_qos);
    // Of equal limits the partition's is told.
    partition.into_iter().chain(qos).min_by_key(|(most, _)| *most)
}

/// One complaint for all partitions: a time that the tightest of them gives is right for each.
fn missing(case: &Case<'_>) -> Complaint {
    let tightest = case.candidates.iter().filter_map(|c| most(case, c)).min_by_key(|(most, _)| *most);
    let limit = match tightest {
        Some((Most::Minutes(max), from)) => Some((max, from)),
        _ => None,
    };
    Complaint {
        allowed: Some(wanted()),
        errno: Errno::MissingTimeLimit,
        ..too_long(case, not_given("time"), 1, limit)
    }
}

/// What holds whatever the partition.
fn wanted() -> Allowed {
    Allowed { place: Place::Site, verb: ("wants", "want"), what: "a limit for every job".to_owned() }
}

fn too_long(case: &Case<'_>, asked: String, excess: u64, limit: Option<(u32, Place)>) -> Complaint {
    let remedy = match &limit {
        Some((max, _)) => {
            // Slurm refuses a --time-min that is over --time.
            let too_high = match case.request.time_min {
                TimeLimit::Unset => false,
                TimeLimit::Minutes(min) => min > *max,
                TimeLimit::Unlimited => true,
            };
            let replaced: &[&'static str] = if too_high { &["time-min"] } else { &[] };
            Remedy::or_less("time", Minutes(*max).to_string()).instead_of(replaced)
        }
        None => Remedy::Change("say how long the job runs at most, such as --time=4:00:00".to_owned()),
    };
    Complaint {
        quantity: QUANTITY,
        asked,
        allowed: Some(match limit {
            Some((max, place)) => {
                Allowed { place, verb: ("gives", "give"), what: format!("at most {}", Minutes(max)) }
            }
            None => wanted(),
        }),
        excess,
        options: vec!["time"],
        remedies: vec![remedy],
        errno: Errno::InvalidTimeLimit,
        told_by: None,
    }
}
