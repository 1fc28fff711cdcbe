//! The one way from a request to a verdict, for every door.

use std::panic::{AssertUnwindSafe, catch_unwind};

use smallvec::SmallVec;

use crate::case::{Candidate, Case};
use crate::cluster::Cluster;
use crate::date::Date;
use crate::policy::{Mode, OnError, Policy, RuleEntry, RuleSet, Settings};
use crate::policy::{condition, limit};
use crate::remedy;
use crate::request::shape::NodeFacts;
use crate::request::{Request, Shape, Sharing};
use crate::rules::RuleInfo;
use crate::verdict::{
    Complaint, Edit, Finding, Outcome, Place, PlannedEdit, Remedy, Topic, Understood, Verdict,
};

/// What rules write their findings and wishes into.
pub struct Report<'r, 'p> {
    book: &'r mut Book<'p>,
    source: Source<'p>,
    candidate: usize,
}

/// Everything that was said of one request so far.
#[derive(Default)]
struct Book<'p> {
    entries: Vec<Entry<'p>>,
    wishes: Vec<Wish>,
}

/// A complaint, who made it, and on which candidates.
struct Entry<'p> {
    source: Source<'p>,
    /// Told as a warning at most.
    note: bool,
    candidates: SmallVec<[usize; 4]>,
    complaint: Complaint,
}

/// The entry of the policy that speaks.
#[derive(Clone, Copy)]
struct Source<'p> {
    rule: &'p str,
    topic: Topic,
    settings: &'p Settings,
}

/// An edit that a rule wants for one candidate.
struct Wish {
    rule: &'static str,
    mode: Mode,
    candidate: usize,
    edit: Edit,
}

impl Report<'_, '_> {
    /// States what is wrong. Equal but for the partition, several complaints are one finding.
    pub fn complain(&mut self, complaint: Complaint) {
        self.enter(complaint, false);
    }

    /// States what may well be wrong: a warning at most, whatever the rule's mode.
    pub fn note(&mut self, complaint: Complaint) {
        self.enter(complaint, true);
    }

    fn enter(&mut self, complaint: Complaint, note: bool) {
        // Entries of one rule that differ in what becomes of a finding each have their own: on a list
        // of partitions a warning of the first would else swallow a refusal of the second.
        let ours = |e: &&mut Entry<'_>| {
            // Names lie in the policy, once for each limit.
            std::ptr::eq(e.source.rule, self.source.rule)
                && e.note == note
                && has_like_end(e.source.settings, self.source.settings)
        };
        let known = self.book.entries.iter_mut().filter(ours);
        for entry in known {
            if merge(&mut entry.complaint, &complaint) {
                if !entry.candidates.contains(&self.candidate) {
                    entry.candidates.push(self.candidate);
                }
                return;
            }
        }
        let candidates = SmallVec::from_slice(&[self.candidate]);
        self.book.entries.push(Entry { source: self.source, note, candidates, complaint });
    }

    /// Asks for a value to be filled in. It is, where every candidate agrees.
    pub fn fill_in(&mut self, rule: &'static RuleInfo, edit: Edit) {
        let mode = self.source.settings.mode;
        self.book.wishes.push(Wish { rule: rule.name, mode, candidate: self.candidate, edit });
    }
}

/// Whether the same becomes of a finding under either entry of a rule.
fn has_like_end(one: &Settings, other: &Settings) -> bool {
    std::ptr::eq(one, other)
        || (one.mode == other.mode
            && one.enforce_from == other.enforce_from
            && one.justify == other.justify
            && one.help == other.help)
}

/// Takes `other` into `known` where they differ in nothing but the partitions they quote.
/// What remains as a remedy is what puts both right.
fn merge(known: &mut Complaint, other: &Complaint) -> bool {
    let same = known.quantity == other.quantity
        && known.asked == other.asked
        && known.excess == other.excess
        && known.errno == other.errno;
    if !same {
        return false;
    }
    let shared: Vec<_> = known.remedies.iter().filter(|r| other.remedies.contains(r)).cloned().collect();
    if shared.is_empty() && !known.remedies.is_empty() {
        return false;
    }
    let more = match (&mut known.allowed, &other.allowed) {
        (None, None) => None,
        (Some(a), Some(b)) if a.verb == b.verb && a.what == b.what => match (&mut a.place, &b.place) {
            (Place::Partitions(names), Place::Partitions(more)) => Some((names, more)),
            (a, b) if a == b => None,
            _ => return false,
        },
        _ => return false,
    };
    if let Some((names, more)) = more {
        for name in more {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    known.remedies = shared;
    true
}

/// Judges a request. Never panics: a rule that does is named in [`Verdict::failed`].
pub fn judge(policy: &Policy, request: &Request<'_>, cluster: &dyn Cluster, today: Date) -> Verdict {
    let mut verdict = judged(policy, request, cluster, today);
    if !verdict.findings.is_empty() {
        prove(&mut verdict, policy, request, cluster, today);
    }
    if policy.site.confirm && verdict.accepts() {
        let guarded = || understood(&verdict, policy, request, cluster, today);
        verdict.understood = catch_unwind(AssertUnwindSafe(guarded)).ok().map(Box::new);
    }
    verdict
}

/// Judges one of many past requests: as [`judge`], but whether its remedies help is not tried, for nobody
/// reads them.
pub fn judge_past(policy: &Policy, request: &Request<'_>, cluster: &dyn Cluster, day: Date) -> Verdict {
    judged(policy, request, cluster, day)
}

/// How an accepted request is understood, with what is filled in.
fn understood(
    verdict: &Verdict,
    policy: &Policy,
    request: &Request<'_>,
    cluster: &dyn Cluster,
    today: Date,
) -> Understood {
    let mut edited = request.clone();
    verdict.edits_to_make().for_each(|edit| edited.apply(edit));
    let case = Case::new(policy, &edited, cluster, today);
    let partitions = case.candidates.iter().filter_map(|c| c.partition().map(str::to_owned)).collect();
    let shape = case.candidates.first().map(|c| c.shape);
    Understood {
        partitions,
        shape: shape.unwrap_or_else(|| Shape::of(&edited, NodeFacts::default())),
        whole_nodes: edited.shared == Sharing::Exclusive || edited.core_spec.is_some(),
        time_limit: edited.time_limit,
        array: edited.array.as_ref().and_then(|a| a.tasks),
    }
}

/// Tries the remedies of a verdict on `request`.
pub(crate) fn prove(
    verdict: &mut Verdict,
    policy: &Policy,
    request: &Request<'_>,
    cluster: &dyn Cluster,
    today: Date,
) {
    let again = |request: &Request<'_>| tried(policy, request, cluster, today);
    let cost = remedy::step(request, verdict.findings.len(), policy.limits.len());
    let guarded = || remedy::prove(verdict, request, cost, again);
    // What is told of a finding is worth no failure: the verdict stands without it.
    let _ = catch_unwind(AssertUnwindSafe(guarded));
}

/// The findings of a request with a remedy in it: as [`judged`], less what is not looked at.
fn tried(policy: &Policy, request: &Request<'_>, cluster: &dyn Cluster, today: Date) -> Vec<Finding> {
    let mut verdict = findings(policy, request, cluster, today);
    // Of all edits only a QoS brings findings of its own to light.
    verdict.edits.retain(|e| matches!(e.edit, Edit::Qos(_)));
    arrange(&mut verdict);
    keep_harmless_edits(&mut verdict, policy, request, cluster, today);
    verdict.findings
}

/// The verdict with the remedies that the rules propose.
fn judged(policy: &Policy, request: &Request<'_>, cluster: &dyn Cluster, today: Date) -> Verdict {
    let mut verdict = findings(policy, request, cluster, today);
    if !verdict.is_plain() {
        arrange(&mut verdict);
        keep_harmless_edits(&mut verdict, policy, request, cluster, today);
    }
    verdict
}

/// Tells the rules that remember that a request was submitted and accepted. For real submissions
/// alone: not for updates, nor for tests. Never panics and never blocks.
pub fn accepted(policy: &Policy, request: &Request<'_>, cluster: &dyn Cluster, today: Date) {
    let remembering = |set: &&RuleSet| set.entries.iter().any(|e| e.check.memory().is_some());
    if request.test_only || !policy.rules.iter().any(|set| remembering(&set)) {
        return;
    }
    let remember = || {
        let case = Case::new(policy, request, cluster, today);
        for set in policy.rules.iter().filter(remembering) {
            let applies = |e: &&RuleEntry| {
                let when = e.settings.when.as_ref();
                when.is_none_or(|w| case.candidates.iter().any(|c| w.matches(&case, c)))
            };
            let Some(entry) = set.entries.iter().find(applies) else { continue };
            let off = entry.settings.effective(policy.site.mode, today).0 == Mode::Off;
            if let Some(memory) = entry.check.memory().filter(|_| !off) {
                memory.accepted(&case);
            }
        }
    };
    // A submission that is forgotten costs a warning, nothing else.
    let _ = catch_unwind(AssertUnwindSafe(remember));
}

/// Every finding with its own outcome, before one may tell another's; no second look at the edits.
pub(crate) fn findings(
    policy: &Policy,
    request: &Request<'_>,
    cluster: &dyn Cluster,
    today: Date,
) -> Verdict {
    let mut verdict = Verdict::default();
    let case = Case::new(policy, request, cluster, today);
    let mut book = Book::default();

    for (index, candidate) in case.candidates.iter().enumerate() {
        for set in &policy.rules {
            let guarded = || check_rule(set, &case, candidate, index, &mut book);
            if catch_unwind(AssertUnwindSafe(guarded)).is_err() {
                note_failure(&mut verdict, set.info.name);
            }
        }
        let guarded = || {
            limit::check_all(&case, candidate, |limit, topic, complaint| {
                let source = Source { rule: &limit.name, topic, settings: &limit.settings };
                Report { book: &mut book, source, candidate: index }.complain(complaint);
            });
        };
        if catch_unwind(AssertUnwindSafe(guarded)).is_err() {
            note_failure(&mut verdict, "limit");
        }
    }

    let Book { entries, wishes } = book;
    if !entries.is_empty() {
        complete(&mut verdict, &case, entries);
    }
    if !wishes.is_empty() {
        plan(&mut verdict, &case, &wishes);
    }
    if !verdict.is_plain() {
        verdict.unknown = case.unknown();
    }
    verdict.failure_refuses =
        !verdict.failed.is_empty() && policy.site.on_error == OnError::Refuse && !is_root(policy, request);
    verdict
}

/// Lets the first entry whose `when` matches judge one candidate; where the request names several QoS
/// or reservations, the first for each.
fn check_rule<'p>(
    set: &'p RuleSet,
    case: &Case<'p>,
    candidate: &Candidate<'p>,
    index: usize,
    book: &mut Book<'p>,
) {
    condition::applying(
        &set.entries,
        |e| e.settings.when.as_ref(),
        case,
        candidate,
        |entry| {
            if entry.settings.effective(case.policy.site.mode, case.today).0 == Mode::Off {
                return;
            }
            #[cfg(feature = "test-hooks")]
            panic_in(set.info.name, case.request);
            let source = Source { rule: set.info.name, topic: set.info.topic, settings: &entry.settings };
            entry.check.check(case, candidate, &mut Report { book, source, candidate: index });
        },
    );
}

/// A panic on demand, to prove that one rule's is contained: only in builds made for tests.
#[cfg(feature = "test-hooks")]
#[expect(clippy::panic, reason = "this is what it is for")]
fn panic_in(rule: &str, request: &Request<'_>) {
    if request.name.as_deref().and_then(|n| n.strip_prefix("sluice-test-panic-in-")) == Some(rule) {
        panic!("asked for by a test");
    }
}

fn note_failure(verdict: &mut Verdict, rule: &'static str) {
    if !verdict.failed.contains(&rule) {
        verdict.failed.push(rule);
    }
}

/// What the policy makes of each complaint: exempt, root, justified, then its mode.
fn complete(verdict: &mut Verdict, case: &Case<'_>, entries: Vec<Entry<'_>>) {
    let reason = case.request.justification();
    let places: Vec<(&str, &str, SmallVec<[usize; 4]>)> =
        entries.iter().map(|e| (e.source.rule, e.complaint.quantity, e.candidates.clone())).collect();
    for Entry { source, note, candidates, mut complaint } in entries {
        let (mode, enforce_from) = match source.settings.effective(case.policy.site.mode, case.today) {
            // A note never turns into a refusal, so there is no day on which it does.
            (mode, _) if note => (mode.min(Mode::Warn), None),
            in_force => in_force,
        };
        let good_reason = source.settings.justify.and_then(|j| reason.filter(|r| is_reason(r, j.min_length)));
        let outcome = if let Some(exempt) = exemption(case, source.rule) {
            Outcome::Exempt(exempt.to_owned())
        } else if is_root(case.policy, case.request) {
            Outcome::Root
        } else if let Some(reason) = good_reason {
            verdict.justification = Some(reason.to_owned());
            Outcome::Justified
        } else {
            by_mode(mode)
        };
        let spared =
            case.candidates.len().saturating_sub(complained_of(&places, source.rule, complaint.quantity));
        if spared > 0 {
            let names = |i: &usize| case.candidates.get(*i)?.partition().map(str::to_owned);
            let names = candidates.iter().filter_map(names).collect();
            complaint.remedies.push(Remedy::DropFromList { option: "partition", names });
        }
        verdict.findings.push(Finding {
            rule: source.rule.to_owned(),
            topic: source.topic,
            complaint,
            outcome,
            policy_line: source.settings.line,
            enforce_from,
            help: source.settings.help.clone(),
            justify: source.settings.justify.filter(|_| !note),
        });
    }
    let candidates: Vec<_> = places.into_iter().map(|(_, _, candidates)| candidates).collect();
    tell_the_tightest_limit(verdict, &candidates);
}

/// What follows from a finding that nothing lifts.
pub(crate) fn by_mode(mode: Mode) -> Outcome {
    match mode {
        Mode::Enforce => Outcome::Refused,
        Mode::Warn => Outcome::Warned,
        Mode::Audit | Mode::Off => Outcome::Audited,
    }
}

/// Lets findings tell others that say the same, and puts all in the order of a message.
pub(crate) fn arrange(verdict: &mut Verdict) {
    for index in 0..verdict.findings.len() {
        let Some(finding) = verdict.findings.get(index) else { continue };
        let Some(teller) = finding.complaint.told_by else { continue };
        let told = |f: &Finding| {
            f.rule == teller
                && f.complaint.quantity == finding.complaint.quantity
                && f.outcome <= finding.outcome
                // Else a written reason would lift the one and bring the other to light.
                && (f.justify.is_none() || finding.justify.is_some())
        };
        if verdict.findings.iter().any(told) {
            if let Some(finding) = verdict.findings.get_mut(index) {
                finding.outcome = Outcome::Covered;
            }
        }
    }
    in_order(&mut verdict.findings);
}

/// Refusals first, then warnings; within them by topic, then by the table of rules.
pub(crate) fn in_order(findings: &mut [Finding]) {
    let order = |name: &str| crate::rules::ALL.iter().position(|r| r.name == name).unwrap_or(usize::MAX);
    findings.sort_by_key(|f| {
        (f.outcome != Outcome::Refused, f.outcome != Outcome::Warned, f.topic, order(&f.rule))
    });
}

/// On how many candidates a rule complains of one quantity, in whatever words.
fn complained_of(places: &[(&str, &str, SmallVec<[usize; 4]>)], rule: &str, quantity: &str) -> usize {
    let mut all: Vec<usize> = places
        .iter()
        .filter(|(r, q, _)| *r == rule && *q == quantity)
        .flat_map(|(_, _, c)| c.iter().copied())
        .collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}

/// Of several limits that one quantity exceeds on the same candidates, the one that it exceeds the
/// most tells it, unless that one is lifted or milder. `places`: the candidates of each finding.
fn tell_the_tightest_limit(verdict: &mut Verdict, places: &[SmallVec<[usize; 4]>]) {
    let is_number =
        |f: &Finding| ["max_", "min_", "array_"].iter().any(|p| f.complaint.quantity.starts_with(p));
    let is_limit = |f: &Finding| is_number(f) && crate::rules::find(&f.rule).is_none();
    let covered: Vec<usize> = (0..verdict.findings.len())
        .filter(|&looser| {
            let at = |i: usize| verdict.findings.get(i).zip(places.get(i));
            let Some((f, here)) = at(looser).filter(|(f, _)| is_limit(f)) else { return false };
            (0..verdict.findings.len()).filter(|&i| i != looser).filter_map(|i| Some((i, at(i)?))).any(
                |(i, (g, there))| {
                    let tighter = (g.complaint.excess, looser) > (f.complaint.excess, i);
                    is_limit(g)
                        && g.complaint.quantity == f.complaint.quantity
                        && tighter
                        && g.outcome <= f.outcome
                        && here.iter().all(|c| there.contains(c))
                },
            )
        })
        .collect();
    for index in covered {
        if let Some(finding) = verdict.findings.get_mut(index) {
            finding.outcome = Outcome::Covered;
        }
    }
}

/// One line, printable, long enough.
fn is_reason(reason: &str, min_length: usize) -> bool {
    reason.chars().count() >= min_length.max(1) && !reason.chars().any(char::is_control)
}

fn is_root(policy: &Policy, request: &Request<'_>) -> bool {
    policy.site.exempt_root && request.privileged
}

/// The reason of the exemption that lifts `rule` for this request on every candidate.
fn exemption<'p>(case: &Case<'p>, rule: &str) -> Option<&'p str> {
    case.policy
        .exempts
        .iter()
        .filter(|e| case.today <= e.until && e.rules.iter().any(|r| r == rule))
        .find(|e| case.candidates.iter().all(|c| e.when.covers(case, c)))
        .map(|e| e.reason.as_str())
}

/// The edits that every candidate agrees on.
fn plan(verdict: &mut Verdict, case: &Case<'_>, wishes: &[Wish]) {
    for wish in wishes.iter().filter(|w| w.candidate == 0) {
        let same = || wishes.iter().filter(|w| w.rule == wish.rule && w.edit == wish.edit);
        let agreed = (1..case.candidates.len()).all(|i| same().any(|w| w.candidate == i));
        // What one partition only audits is not done to the job on another.
        let mode = same().map(|w| w.mode).min().unwrap_or(wish.mode).min(case.policy.site.mode);
        if agreed && mode != Mode::Off && exemption(case, wish.rule).is_none() {
            verdict.edits.push(PlannedEdit {
                rule: wish.rule,
                edit: wish.edit.clone(),
                made: mode >= Mode::Warn,
            });
        }
    }
}

/// Drops each edit that would itself cause a finding. A QoS is no convenience: without it the job
/// would keep one that it may not have, so what the QoS brings with it is told instead.
fn keep_harmless_edits(
    verdict: &mut Verdict,
    policy: &Policy,
    request: &Request<'_>,
    cluster: &dyn Cluster,
    today: Date,
) {
    let planned = std::mem::take(&mut verdict.edits);
    for edit in planned {
        let mut edited = request.clone();
        edited.apply(&edit.edit);
        let mut brought = findings(policy, &edited, cluster, today).findings;
        brought.retain(|f| {
            !verdict.findings.iter().any(|g| {
                g.rule == f.rule
                    && g.complaint.quantity == f.complaint.quantity
                    && g.complaint.excess >= f.complaint.excess
            })
        });
        if brought.is_empty() {
            verdict.edits.push(edit);
        } else if matches!(edit.edit, Edit::Qos(_)) {
            if !edit.made {
                brought.iter_mut().for_each(|f| f.outcome = f.outcome.clone().max(Outcome::Audited));
            }
            verdict.findings.extend(brought);
            in_order(&mut verdict.findings);
            verdict.edits.push(edit);
        }
    }
}

/// The candidate as a place for a finding to quote.
pub fn place(candidate: &Candidate<'_>) -> Place {
    match candidate.partition() {
        Some(name) => Place::Partitions(vec![name.to_owned()]),
        None => Place::Site,
    }
}
