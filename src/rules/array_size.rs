//! `array-size`: how many tasks an array has, and how many of them run at once.

use super::{Check, RuleInfo, explained, parse};
use crate::case::{Candidate, Case};
use crate::judge::Report;
use crate::policy::values::Positive;
use crate::request::ArraySpec;
use crate::verdict::{Allowed, Complaint, Errno, Place, Remedy, Topic};
use crate::words::{count, shown};

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "array-size",
    topic: Topic::Habit,
    explanation: EXPLANATION,
    justifiable: true,
    parse: parse::<ArraySize>,
};

explained! {
    /// Arrays of a size that the cluster can take, with a running cap where they are large.
    ///
    /// # What it holds
    /// An array has at most `max_tasks` tasks, each index counted once however the ranges are
    /// written. From `throttle_from` tasks on it says how many run at once (`%N` at the end of
    /// `--array`; `%0` is no cap). With `max_running` at most so many run at once, be it by the cap
    /// or because the array has no more tasks.
    ///
    /// # Why
    /// Slurm keeps a record of every task, and an array without a cap takes every node that falls
    /// free.
    ///
    /// # Refused
    /// ```text
    /// sbatch --array=0-9999 train.sh
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --array=0-999%50 train.sh
    /// ```
    ///
    /// # Options
    /// `max_tasks`: tasks of one array. `throttle_from`: tasks from which on a cap is needed.
    /// `max_running`: the largest cap; together with `throttle_from` it holds from so many tasks on.
    pub struct ArraySize {
        /// Tasks of one array, at most.
        max_tasks: Option<Positive>,
        /// Tasks from which on a running cap is needed.
        throttle_from: Option<Positive>,
        /// The largest running cap.
        max_running: Option<Positive>,
    }
}

impl Check for ArraySize {
    fn check(&self, case: &Case<'_>, _: &Candidate<'_>, report: &mut Report<'_, '_>) {
        let Some(array) = &case.request.array else { return };
        // A text that Slurm will not read has no number of tasks to judge.
        let Some(tasks) = array.tasks else { return };
        if let Some(Positive(max)) = self.max_tasks.filter(|max| tasks > max.0) {
            report.complain(Complaint {
                quantity: "tasks",
                asked: format!("--array={} has {}", shown(array.as_str()), count(tasks, "task")),
                allowed: Some(site(("takes", "take"), format!("at most {max} in one array"))),
                excess: tasks - max,
                options: vec!["array"],
                remedies: vec![Remedy::Change(format!(
                    "split it into arrays of {} or less",
                    count(max, "task")
                ))],
                errno: Errno::AccessDenied,
                told_by: None,
            });
        }
        self.check_running(array, tasks, report);
    }
}

impl ArraySize {
    fn check_running(&self, array: &ArraySpec<'_>, tasks: u64, report: &mut Report<'_, '_>) {
        let (from, max) = (self.throttle_from.map(|n| n.0), self.max_running.map(|n| n.0));
        if from.is_some_and(|from| tasks < from) {
            return;
        }
        let cap = array.running_max.map(u64::from);
        let running = cap.unwrap_or(tasks).min(tasks);
        let over = max.filter(|&max| running > max);
        let (allowed, cap) = match (over, from) {
            (Some(max), _) => (format!("at most {max} at once"), max),
            // As many as an array that needs no cap could run.
            (None, Some(from)) if cap.is_none() => {
                (format!("a cap from {} on", count(from, "task")), from.saturating_sub(1).clamp(1, running))
            }
            _ => return,
        };
        let text = with_cap(array.as_str(), cap);
        // An array text may be as long as 4096 letters; what no line holds is told in words.
        const LONGEST: usize = 60;
        let remedy = if text.len() <= LONGEST {
            Remedy::exactly("array", text)
        } else {
            Remedy::Change(format!("end --array with %{} or less", cap))
        };
        report.complain(Complaint {
            quantity: "running tasks",
            asked: format!("--array={} runs {} at once", shown(array.as_str()), count(running, "task")),
            allowed: Some(site(("wants", "want"), allowed)),
            excess: over.map_or(1, |max| running - max),
            options: vec!["array"],
            remedies: vec![remedy],
            errno: Errno::AccessDenied,
            told_by: None,
        });
    }
}

/// The user's own indices with this cap.
fn with_cap(text: &str, cap: u64) -> String {
    let indices = text.split('%').next().unwrap_or(text);
    format!("{indices}%{cap}")
}

fn site(verb: (&'static str, &'static str), what: String) -> Allowed {
    Allowed { place: Place::Site, verb, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_indices_stay_as_they_are() {
        assert_eq!(with_cap("0-999", 50), "0-999%50");
        assert_eq!(with_cap("1,3,5-7:2%0", 2), "1,3,5-7:2%2");
    }
}
