//! Policy tests kept as data: a submission or an update, and the verdict that is expected of it.
//!
//! `sluice test` runs a site's own files, `tests/cases.rs` those of the rules. A case goes the way
//! of a real job: the command line is read as the client reads it, judged, and put into words.

mod cluster;
mod file;
mod outcome;
mod scontrol;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use crate::cluster::Cluster;
use crate::date::Date;
use crate::judge::{accepted, judge};
use crate::message::{self, Context};
use crate::policy::load::load;
use crate::policy::{Mode, Policy, Settings};
use crate::request::Request;
use crate::submit_line::{Command, CommandLine, Script, Series, World};
use crate::update::{self, Existing};

pub use cluster::{KnownCluster, User};
pub use file::{Case, Earlier, TestFile};
pub use outcome::{Difference, Outcome};

/// The day on which cases are judged that name none.
pub const TODAY: Date = Date { year: 2026, month: 11, day: 30 };

/// One case that was run.
#[derive(Debug)]
pub struct Ran {
    /// Its name.
    pub name: String,
    /// What differs; nothing where it holds.
    pub differences: Vec<Difference>,
    /// What came of it, with the rules' own words; `None` where it could not be run.
    pub outcome: Option<Outcome>,
}

impl Ran {
    /// Whether all is as expected.
    pub fn holds(&self) -> bool {
        self.differences.is_empty()
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.name)?;
        for difference in &self.differences {
            writeln!(f, "  {difference}")?;
        }
        for line in self.outcome.iter().flat_map(|o| &o.message) {
            writeln!(f, "  | {line}")?;
        }
        Ok(())
    }
}

/// A file's cases, run.
#[derive(Debug)]
pub struct Report {
    /// The cases in file order.
    pub cases: Vec<Ran>,
    /// The policy that the cases share; `None` where each brings its own.
    pub shared: Option<Shared>,
}

/// The policy that the cases of a file share.
#[derive(Debug)]
pub struct Shared {
    /// Its digest.
    pub hash: u64,
    /// Its rules and limits that are not off.
    pub rules: Vec<String>,
    /// Those of them that a case touched.
    pub touched: BTreeSet<String>,
}

/// A policy for files that have none of their own.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// Runs every case of a file.
///
/// # Errors
/// Where the file is none, or its policy is none, in words with the place.
pub fn run(path: &Path) -> Result<Vec<Ran>, String> {
    TestFile::open(path)?.run(&path.to_string_lossy())
}

impl TestFile {
    /// Runs every case. `name` is what messages call the file.
    ///
    /// # Errors
    /// Where the policy of all cases is none, in words with the place.
    pub fn run(&self, name: &str) -> Result<Vec<Ran>, String> {
        self.report(name, None).map(|report| report.cases)
    }

    /// Runs every case, by `given` where the file has no policy of its own.
    ///
    /// # Errors
    /// As [`TestFile::run`].
    pub fn report(&self, name: &str, given: Option<Given<'_>>) -> Result<Report, String> {
        let directory = self.cluster.directory();
        let read = |policy: &Given<'_>| {
            let loaded = load(policy.name, policy.text, &directory, TODAY);
            loaded.map(|l| l.policy).map_err(|problems| problems.to_string())
        };
        let own_name = self.policy_file.as_deref().unwrap_or("policy");
        let of_file = match self.policy.as_deref().map(|text| Given { name: own_name, text }) {
            Some(policy) => Some((policy, read(&policy).map_err(|e| format!("{name}: {e}"))?)),
            None => given.map(|policy| Ok::<_, String>((policy, read(&policy)?))).transpose()?,
        };
        let mut shared = of_file.as_ref().map(|(_, policy)| Shared::of(policy));
        let mut cases = Vec::new();
        for case in &self.cases {
            // What a rule remembers is its own policy's: a case with a past has one to itself.
            let again = || of_file.as_ref().map(|(policy, _)| *policy).filter(|_| !case.earlier.is_empty());
            let own = case.policy.as_deref().map(|text| Given { name: "policy", text });
            let ran = match own.or_else(again).as_ref().map(read).transpose() {
                Err(words) => Ran::broken(case, words),
                Ok(own) => match own.as_ref().or(of_file.as_ref().map(|(_, policy)| policy)) {
                    Some(policy) => run_case(case, policy, &self.cluster),
                    None => Ran::broken(case, "neither the case nor the file has a `policy`".to_owned()),
                },
            };
            if let (Some(shared), Some(outcome), None) = (&mut shared, &ran.outcome, &case.policy) {
                shared.touched.extend(outcome.touched.iter().cloned());
            }
            cases.push(ran);
        }
        Ok(Report { cases, shared })
    }
}

impl Shared {
    fn of(policy: &Policy) -> Shared {
        let on = |settings: &Settings| settings.mode != Mode::Off;
        let rules = policy.rules.iter().filter(|set| set.entries.iter().any(|e| on(&e.settings)));
        let limits = policy.limits.iter().filter(|limit| on(&limit.settings));
        let names = rules.map(|set| set.info.name.to_owned()).chain(limits.map(|l| l.name.clone()));
        Shared { hash: policy.hash, rules: names.collect(), touched: BTreeSet::new() }
    }
}

impl Ran {
    fn broken(case: &Case, words: String) -> Ran {
        Ran { name: case.name.clone(), differences: vec![Difference::Broken(words)], outcome: None }
    }
}

fn run_case(case: &Case, policy: &Policy, cluster: &KnownCluster) -> Ran {
    let cluster = cluster.with_defaults_of(policy);
    match judged(case, policy, &cluster) {
        Ok(outcome) => {
            Ran { name: case.name.clone(), differences: outcome.differences(case), outcome: Some(outcome) }
        }
        Err(words) => Ran::broken(case, words),
    }
}

/// Every component in order, as sbatch sends them: after one that is refused none is sent.
fn judged(case: &Case, policy: &Policy, cluster: &KnownCluster) -> Result<Outcome, String> {
    let today = case.today.unwrap_or(TODAY);
    let cluster = &remember(case, policy, cluster, today)?;
    let requests = requests(case, cluster)?;
    let mut outcome = Outcome::default();
    let several = requests.len() > 1;
    for (index, request) in requests.iter().enumerate() {
        let verdict = match &case.update {
            None => judge(policy, request, cluster, today),
            Some(text) => {
                let change = scontrol::change(text, request)?;
                update::judge(policy, Existing::Job(request), &change, cluster, today)
            }
        };
        let context = Context {
            site: &policy.site,
            subject: if case.update.is_some() { "change" } else { "job" },
            reference: None,
            justify_option: cluster.has_justify_option(),
        };
        let lines = message::lines(&verdict, &context);
        let refused = !verdict.accepts();
        outcome.add(&verdict, lines, several.then_some(index));
        if refused {
            break;
        }
    }
    Ok(outcome)
}

/// A clock by which cases with a past are judged: seconds since 1970, on the day [`TODAY`].
const NOW: u64 = 1_796_040_000;

/// Lets the rules take note of what came before; the cluster as it is now.
fn remember(
    case: &Case,
    policy: &Policy,
    cluster: &KnownCluster,
    today: Date,
) -> Result<KnownCluster, String> {
    for earlier in &case.earlier {
        let before = Case {
            submit: earlier.submit.clone(),
            script: earlier.script.clone().or_else(|| case.script.clone()),
            user: earlier.user.clone().or_else(|| case.user.clone()),
            ..case.clone()
        };
        let ago = u64::from(earlier.minutes_ago).saturating_mul(60);
        let then = KnownCluster { now: Some(NOW.saturating_sub(ago)), ..cluster.clone() };
        for request in requests(&before, &then)? {
            if judge(policy, &request, &then, today).accepts() {
                accepted(policy, &request, &then, today);
            }
        }
    }
    let now = (!case.earlier.is_empty()).then_some(NOW);
    Ok(KnownCluster { now, ..cluster.clone() })
}

/// What slurmctld would be sent, one request a component.
///
/// # Errors
/// What the client itself says against the command line.
fn requests(case: &Case, cluster: &KnownCluster) -> Result<Vec<Request<'static>>, String> {
    let user = cluster.user(case.user.as_deref())?;
    let series = match &case.slurm {
        None => Series::LATEST,
        Some(version) => {
            Series::of_version(version).ok_or_else(|| format!("`{version}` is no Slurm that is known"))?
        }
    };
    let words = shlex::split(&case.submit).ok_or("the quotes in `submit` do not match")?;
    let command = words.first().and_then(|w| Command::named(w));
    let command = command.ok_or("`submit` begins with sbatch, srun or salloc")?;
    let line = CommandLine::new(command, series, &words, &[]);
    let world = World {
        environment: &|name| case.env.get(name).cloned(),
        directory: "/home/user",
        user_id: user.uid,
        group_id: user.gid.unwrap_or(user.uid),
    };
    let path = line.script().map(|path| format!("/home/user/{path}"));
    let text = case.script.as_deref().unwrap_or("#!/bin/sh\ntrue\n");
    let script = path.as_deref().map(|path| Script { path, text });
    let submission = line.read(&world, script);
    let refused: Vec<&str> =
        submission.problems.iter().filter(|p| p.is_the_clients()).map(|p| p.message.as_str()).collect();
    if !refused.is_empty() {
        return Err(format!("{command} itself refuses it: {}", refused.join("; ")));
    }
    let privileged = user.uid == 0;
    let mut requests: Vec<Request<'static>> = submission.components.into_iter().map(|c| c.request).collect();
    for request in &mut requests {
        request.submit_uid = user.uid;
        request.privileged = privileged;
    }
    Ok(requests)
}
