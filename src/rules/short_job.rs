//! `short-job`: probes of a few minutes go where there is room for them.

use super::{Check, RuleInfo, explained, owner, parse};
use crate::case::{Candidate, Case};
use crate::judge::Report;
use crate::policy::duration::Duration;
use crate::policy::facts;
use crate::request::time::Minutes;
use crate::request::{Origin, TimeLimit};
use crate::verdict::{Allowed, Complaint, Errno, Place, Remedy, Topic};
use crate::words::shown;

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "short-job",
    topic: Topic::Time,
    explanation: EXPLANATION,
    justifiable: true,
    parse: parse::<ShortJob>,
};

explained! {
    /// Probes go to the QoS that is meant for them.
    ///
    /// # What it holds
    /// A job with a time limit under `under` runs in a QoS with `short = true`, where the policy
    /// names one, its `max_time` leaves room for the job, every partition of the request takes it,
    /// and slurmctld knows that the user may use it. Where any of that is not known nothing is
    /// said, for the advice might be wrong. Arrays, recurring jobs and jobs in a reservation are
    /// no probes. It is meant as a warning: `mode = "warn"`.
    ///
    /// # Why
    /// A test of five minutes that waits for hours behind long jobs is a day lost.
    ///
    /// # Refused
    /// ```text
    /// sbatch --partition=gpu --gpus=1 --time=5 test.sh
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --partition=gpu --gpus=1 --time=5 --qos=debug test.sh
    /// sbatch --partition=gpu --gpus=1 --time=1:00:00 train.sh
    /// ```
    ///
    /// # Options
    /// `under`: jobs with a shorter time limit are probes; default `"10:00"`, ten minutes.
    pub struct ShortJob {
        /// Jobs with a shorter time limit are probes; ten minutes where it is left out.
        #[serde(default = "ten_minutes")]
        under: Duration,
    }
}

fn ten_minutes() -> Duration {
    Duration::minutes(10)
}

impl Check for ShortJob {
    fn check(&self, case: &Case<'_>, candidate: &Candidate<'_>, report: &mut Report<'_, '_>) {
        let request = case.request;
        let TimeLimit::Minutes(minutes) = request.time_limit else { return };
        let no_probe =
            request.array.is_some() || request.reservation.is_some() || request.origin == Origin::Cron;
        if minutes >= self.under.minutes || no_probe {
            return;
        }
        let Some(qos) = candidate.qos(case) else { return };
        if qos.names().any(|name| is_short(case, name)) {
            return;
        }
        let Some(short) = place_for(case, minutes) else { return };
        let current = qos.described("qos", "QoS").replace(&qos.name, &shown(&qos.name));
        report.complain(Complaint {
            quantity: "qos",
            asked: format!("--time={} with {current}", Minutes(minutes)),
            allowed: Some(Allowed {
                place: Place::Qos(short.to_owned()),
                verb: ("is", "are"),
                what: format!("for jobs under {}", self.under),
            }),
            excess: 1,
            options: vec!["time", "qos"],
            remedies: vec![Remedy::exactly("qos", short)],
            errno: Errno::InvalidQos,
            told_by: None,
        });
    }
}

fn is_short(case: &Case<'_>, qos: &str) -> bool {
    facts::first(&case.policy.facts.qos.get(qos), |q| q.short).unwrap_or(false)
}

/// A short QoS for a job of so many minutes that is known to be open to this user everywhere the
/// job may run.
fn place_for<'p>(case: &Case<'p>, minutes: u32) -> Option<&'p str> {
    let has_room = |qos: &str| match facts::first(&case.policy.facts.qos.get(qos), |q| q.max_time) {
        Some(TimeLimit::Minutes(max)) => minutes <= max,
        _ => true,
    };
    let account = case.account().map(|a| a.name.as_str());
    let is_open = |qos: &str| {
        case.candidates.iter().all(|c| {
            owner::takes_qos(case, c, qos)
                && case.cluster.may_use_qos(case.request.user_id, account, c.partition(), qos) == Some(true)
        })
    };
    let names = case.policy.facts.qos.literal_names();
    names.into_iter().find(|qos| is_short(case, qos) && has_room(qos) && is_open(qos))
}
