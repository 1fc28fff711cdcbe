//! The fewest changes that make a job accepted: remedies laid into its command line and its script,
//! each time judged again, breadth first. What is found is proven; what is not found may still be.

use std::collections::{BTreeSet, VecDeque};

use sluice::message;
use sluice::submit_line::{Component, Series, Submission, fix};
use sluice::verdict::{Finding, Outcome, Remedy};

use crate::check::job::Reading;
use crate::check::{Judge, Judged};

/// Jobs judged before the search is given up: a tenth of a second at most.
const JUDGED: usize = 4000;
/// Changes of one way; nobody reads on.
const CHANGES: usize = 8;
/// Ways that are told.
const WAYS: usize = 3;

/// A job as it might have been written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Variant {
    /// The command line.
    pub argv: Vec<String>,
    /// The script.
    pub text: Option<String>,
}

/// Changes that make a job accepted.
pub struct Way {
    /// The rule and what to do, in words.
    pub changes: Vec<String>,
    /// What comes of it.
    pub variant: Variant,
}

/// What is needed to judge a variant.
pub struct Search<'s> {
    /// The job.
    pub reading: &'s Reading<'s>,
    /// Its judge.
    pub judge: &'s Judge<'s>,
    /// Slurm's series.
    pub series: Series,
}

/// A finding that is left, with what its message says to do.
fn in_words(finding: &Finding) -> String {
    let remedies: Vec<String> = finding.complaint.remedies.iter().map(message::remedy).collect();
    let what = if remedies.is_empty() { finding.complaint.asked.clone() } else { remedies.join(", or ") };
    format!("[{}] {what}", finding.rule)
}

impl Search<'_> {
    /// All ways with the fewest changes, at most three; where there is none, what no option settles.
    pub fn ways(&self, start: Variant) -> Result<Vec<Way>, Vec<String>> {
        let mut found: Vec<Way> = Vec::new();
        let mut unsettled: Vec<String> = Vec::new();
        let mut seen = BTreeSet::from([start.clone()]);
        let mut queue = VecDeque::from([Way { changes: Vec::new(), variant: start }]);
        let mut judged = 0usize;
        while let Some(way) = queue.pop_front() {
            let enough = found.first().is_some_and(|w| w.changes.len() < way.changes.len());
            if enough || found.len() >= WAYS || judged >= JUDGED {
                break;
            }
            judged = judged.saturating_add(1);
            let submission = self.submit(&way.variant);
            let verdicts = self.judge.judge(&submission);
            if self.judge.accepts(&submission, &verdicts) {
                found.push(way);
                continue;
            }
            if way.changes.len() >= CHANGES {
                continue;
            }
            let next = self.next(&way.variant, &verdicts);
            if next.is_empty() {
                let left = verdicts
                    .iter()
                    .flat_map(|j| &j.verdict.findings)
                    .filter(|f| f.outcome == Outcome::Refused);
                let words = left.take(1).map(in_words).filter(|words| !unsettled.contains(words));
                unsettled.extend(words.collect::<Vec<_>>());
            }
            for (variant, words) in next {
                if seen.insert(variant.clone()) {
                    let changes = way.changes.iter().cloned().chain([words]).collect();
                    queue.push_back(Way { changes, variant });
                }
            }
        }
        // A way without changes is no way: the job is accepted as it is.
        found.retain(|way| !way.changes.is_empty());
        if found.is_empty() { Err(unsettled) } else { Ok(found) }
    }

    /// The way of a written reason, which stands there as `reason`, then the fewest changes. `None`
    /// where there is none, and where the comment is taken.
    pub fn justified(&self, start: &Variant, reason: &str) -> Option<Way> {
        let submission = self.submit(start);
        let first = submission.components.first()?;
        if submission.components.iter().any(|c| c.request.comment.is_some() || c.request.justify.is_some()) {
            return None;
        }
        let remedy = Remedy::exactly("comment", format!("justify: {reason}"));
        let variant = self.lay(start, 0, first, &remedy, submission.components.len() == 1)?;
        let submission = self.submit(&variant);
        if self.judge.accepts(&submission, &self.judge.judge(&submission)) {
            return Some(Way { changes: Vec::new(), variant });
        }
        self.ways(variant).ok()?.into_iter().next()
    }

    fn submit(&self, variant: &Variant) -> Submission {
        self.reading.submit_as(&variant.argv, variant.text.as_deref())
    }

    /// The variants that a remedy of the first refusal makes. Whatever settles all has to settle it.
    fn next(&self, variant: &Variant, judged: &[Judged]) -> Vec<(Variant, String)> {
        let first = judged.iter().enumerate().find_map(|(index, j)| {
            let refused = j.verdict.findings.iter().find(|f| f.outcome == Outcome::Refused)?;
            Some((index, j, refused))
        });
        let Some((index, Judged { component, .. }, finding)) = first else { return Vec::new() };
        let alone = judged.len() == 1;
        let one = |remedy: &Remedy| {
            let changed = self.lay(variant, index, component, remedy, alone)?;
            Some((changed, format!("[{}] {}", finding.rule, message::remedy(remedy))))
        };
        finding.complaint.remedies.iter().filter_map(one).collect()
    }

    /// A remedy in the command line, else in the script.
    fn lay(
        &self,
        variant: &Variant,
        index: usize,
        component: &Component,
        remedy: &Remedy,
        alone: bool,
    ) -> Option<Variant> {
        let in_script = || {
            let text = fix::apply(variant.text.as_deref()?, index, component, remedy, self.series)?;
            Some(Variant { argv: variant.argv.clone(), text: Some(text) })
        };
        let end = self.reading.end_of_options(&variant.argv);
        let in_line = |insert: bool| {
            let end = Some(end).filter(|_| insert && alone);
            let argv = fix::apply_to_line(&variant.argv, end, component, remedy, self.series)?;
            Some(Variant { argv, text: variant.text.clone() })
        };
        // A script is put right where it says what is wrong; nothing is typed beside one that was given
        // without options.
        if self.reading.is_script() {
            in_script()
        } else {
            in_line(false).or_else(in_script).or_else(|| in_line(true))
        }
    }
}
