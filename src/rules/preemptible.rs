//! `preemptible`: a job that may be preempted can start again, and loses little.

use super::owner::{Standing, standing};
use super::{Check, RuleInfo, explained, parse};
use crate::case::{Candidate, Case};
use crate::judge::{Report, place};
use crate::policy::duration::Duration;
use crate::policy::facts;
use crate::request::time::Minutes;
use crate::request::{Origin, TimeLimit};
use crate::verdict::{Allowed, Complaint, Edit, Errno, Place, Remedy, Topic};
use crate::words::shown;

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "preemptible",
    topic: Topic::Time,
    explanation: EXPLANATION,
    justifiable: true,
    parse: parse::<Preemptible>,
};

explained! {
    /// Jobs that may be preempted can start again and lose little.
    ///
    /// # What it holds
    /// Under a QoS with `preemptible = true`, and on such a partition unless it is the user's own, a
    /// job does not say `--no-requeue`; where it says nothing, `--requeue` is filled in (batch jobs
    /// alone: Slurm requeues no others, and components of a heterogeneous job are left as they are,
    /// for they have to agree). A job with a time limit over `checkpoint_over` asks for a signal to
    /// write a checkpoint on, `--signal`, where Slurm sends that on preemption
    /// (`send_user_signal = true`); elsewhere it stays below, or a written reason says how it copes
    /// (`justify = true`). The `max_time` of the QoS and of the partition hold.
    ///
    /// # Why
    /// With `--no-requeue` Slurm cancels a preempted job instead of starting it again, and without a
    /// checkpoint every preemption throws away all that was computed.
    ///
    /// # Refused
    /// ```text
    /// sbatch --partition=phys-h100 --qos=scavenger --no-requeue train.sh
    /// sbatch --partition=phys-h100 --qos=scavenger --time=12:00:00 train.sh
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --partition=phys-h100 --qos=scavenger --time=4:00:00 train.sh   (--requeue is filled in)
    /// sbatch --partition=phys-h100 --qos=scavenger --time=12:00:00 --signal=B:USR1@120 train.sh
    /// ```
    ///
    /// # Options
    /// `checkpoint_over`: time limit from which on a checkpoint is asked for; default `"4:00:00"`.
    /// `send_user_signal`: `true` where Slurm sends the user's signal on preemption
    /// (`PreemptParameters=send_user_signal` of slurm.conf; `SlurmctldParameters=
    /// preempt_send_user_signal` up to 22.05); default `false`.
    pub struct Preemptible {
        /// Time limit from which on a checkpoint is asked for; four hours where it is left out.
        #[serde(default = "four_hours")]
        checkpoint_over: Duration,
        /// Whether Slurm sends the user's signal on preemption.
        #[serde(default)]
        send_user_signal: bool,
    }
}

fn four_hours() -> Duration {
    Duration::minutes(240)
}

/// Where a job may be preempted, and how long it may run there.
struct Risk {
    place: Place,
    max_time: Option<TimeLimit>,
}

impl Check for Preemptible {
    fn check(&self, case: &Case<'_>, candidate: &Candidate<'_>, report: &mut Report<'_, '_>) {
        let risks = risks(case, candidate);
        let Some(first) = risks.first() else { return };
        check_requeue(case, first, report);
        self.check_checkpoint(case, first, report);
        for risk in &risks {
            check_max_time(case, risk, report);
        }
    }
}

/// The QoS first, which is the same on every partition of a list.
fn risks(case: &Case<'_>, candidate: &Candidate<'_>) -> Vec<Risk> {
    let mut risks = Vec::new();
    // A default QoS is looked up only where the policy says anything about QoS.
    let qos = if case.policy.facts.qos.is_empty() { None } else { candidate.qos(case) };
    for name in qos.into_iter().flat_map(|q| q.names()) {
        let known = case.policy.facts.qos.get(name);
        if facts::first(&known, |q| q.preemptible) == Some(true) {
            let max_time = facts::first(&known, |q| q.max_time);
            risks.push(Risk { place: Place::Qos(shown(name)), max_time });
        }
    }
    if candidate.facts.preemptible() && standing(case, candidate) != Standing::Owner {
        risks.push(Risk { place: place(candidate), max_time: candidate.facts.max_time() });
    }
    risks
}

fn check_requeue(case: &Case<'_>, risk: &Risk, report: &mut Report<'_, '_>) {
    let request = case.request;
    match (request.requeue, request.origin) {
        // Slurm starts neither srun nor salloc again, whatever they say.
        (_, Origin::Interactive) | (Some(true), _) => {}
        (Some(false), _) => report.complain(Complaint {
            quantity: "requeue",
            asked: "--no-requeue has Slurm cancel this job when it is preempted".to_owned(),
            allowed: Some(Allowed {
                place: risk.place.clone(),
                verb: ("asks for", "ask for"),
                what: "jobs that start again".to_owned(),
            }),
            excess: 1,
            options: vec!["no-requeue"],
            remedies: vec![Remedy::exactly("requeue", "").instead_of(&["no-requeue"])],
            errno: Errno::AccessDenied,
            told_by: None,
        }),
        (None, Origin::Batch) if request.het_offset.is_none() => report.fill_in(&RULE, Edit::Requeue),
        (None, _) => {}
    }
}

impl Preemptible {
    fn check_checkpoint(&self, case: &Case<'_>, risk: &Risk, report: &mut Report<'_, '_>) {
        let request = case.request;
        let Some(over) = excess(request.time_limit, self.checkpoint_over.minutes) else { return };
        if self.send_user_signal && request.signal.is_some() {
            return;
        }
        let (asked, verb, what) = if self.send_user_signal {
            (
                "without --signal for a checkpoint",
                ("asks for", "ask for"),
                format!("one over {}", self.checkpoint_over),
            )
        } else {
            (
                "for a job that may be preempted",
                ("asks for", "ask for"),
                format!("a checkpoint within {}", self.checkpoint_over),
            )
        };
        // Only sbatch has a batch shell to signal.
        let signal = if request.origin == Origin::Batch { "B:USR1@120" } else { "USR1@120" };
        let signal = self.send_user_signal.then(|| Remedy::exactly("signal", signal));
        let shorter = Remedy::or_less("time", self.checkpoint_over.to_string());
        report.complain(Complaint {
            quantity: "checkpoint",
            asked: format!("{} {asked}", stated(request.time_limit)),
            allowed: Some(Allowed { place: risk.place.clone(), verb, what }),
            excess: over,
            options: vec!["time", "signal"],
            remedies: signal.into_iter().chain([shorter]).collect(),
            errno: Errno::InvalidTimeLimit,
            told_by: None,
        });
    }
}

fn check_max_time(case: &Case<'_>, risk: &Risk, report: &mut Report<'_, '_>) {
    let Some(TimeLimit::Minutes(max)) = risk.max_time else { return };
    let Some(over) = excess(case.request.time_limit, max) else { return };
    report.complain(Complaint {
        quantity: "time limit",
        asked: stated(case.request.time_limit),
        allowed: Some(Allowed {
            place: risk.place.clone(),
            verb: ("gives", "give"),
            what: format!("at most {} and may preempt the job before", Minutes(max)),
        }),
        excess: over,
        options: vec!["time"],
        remedies: vec![Remedy::or_less("time", Minutes(max).to_string())],
        errno: Errno::InvalidTimeLimit,
        told_by: Some("time-limit"),
    });
}

/// Minutes over the limit. A time limit that is not stated is the partition's default, which is not
/// known here.
fn excess(asked: TimeLimit, max: u32) -> Option<u64> {
    match asked {
        TimeLimit::Minutes(minutes) => minutes.checked_sub(max).filter(|&n| n > 0).map(u64::from),
        TimeLimit::Unlimited => Some(u64::MAX),
        TimeLimit::Unset => None,
    }
}

fn stated(asked: TimeLimit) -> String {
    match asked {
        TimeLimit::Minutes(minutes) => format!("--time={}", Minutes(minutes)),
        TimeLimit::Unlimited | TimeLimit::Unset => "--time=UNLIMITED".to_owned(),
    }
}
