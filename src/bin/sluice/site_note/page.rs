//! The page itself.

use serde_json::Value;
use sluice::date::Date;
use sluice::live::Association;
use sluice::policy::Policy;
use sluice::policy::facts::first;
use sluice::words::count;

use super::{Cluster, skeleton};
use crate::show::{self, Entry, Scope, facts};

/// What the page is made of.
pub struct Source<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// Its text as values.
    pub written: &'a Value,
    /// Whom it is for.
    pub scope: &'a Scope<'a>,
    /// What the cluster says.
    pub cluster: Option<&'a Cluster>,
    /// The day, for what holds from some day on.
    pub today: Date,
}

/// Markdown, in sections.
pub fn page(source: &Source<'_>) -> String {
    let site = &source.policy.site;
    let mut lines = vec![format!("# Slurm at {}", site.name), String::new()];
    lines.push(
        "What job scripts of this repository can count on, and what the cluster refuses. Before a submission \
         `sluice check job.sh` gives the answer that sbatch would get; `sluice explain RULE` says what a rule \
         holds and why."
            .to_owned(),
    );
    let more: Vec<&str> = [site.docs.as_deref(), site.contact.as_deref()].into_iter().flatten().collect();
    if !more.is_empty() {
        lines.push(format!("More: {}.", more.join(", ")));
    }
    let sections = [
        ("Defaults", defaults(source)),
        ("Partitions", partitions(source)),
        ("Preemptible work", preemptible(source)),
        ("Probes and tests", probes(source)),
        ("What is judged", entries(&show::rules(source.policy, source.written, source.scope, source.today))),
        ("Limits", entries(&show::limits(source.policy, source.written, source.scope, source.today))),
        ("Exemptions", entries(&show::exempts(source.policy, source.written, source.scope, source.today))),
        ("Launching and environment", environment(source)),
        ("A script that is accepted", example(source)),
    ];
    for (heading, body) in sections {
        if !body.is_empty() {
            lines.extend([String::new(), format!("## {heading}"), String::new()]);
            lines.extend(body);
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn listed(names: impl IntoIterator<Item = String>) -> String {
    names.into_iter().map(|name| code(&name)).collect::<Vec<_>>().join(", ")
}

/// The partition of jobs that name none.
fn default_partition<'s>(source: &'s Source<'_>) -> Option<&'s str> {
    let live = source.cluster.and_then(|c| c.live.partitions.iter().find(|p| p.default));
    live.map(|p| p.name.as_str()).or(source.policy.facts.default_partition.as_deref())
}

fn defaults(source: &Source<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let own: &[Association] = source.cluster.map_or(&[], |c| &c.associations);
    match own.iter().find(|a| a.default).or(own.first()) {
        Some(default) => {
            lines.push(format!("* account: {} where none is named", code(&default.account)));
            let others: Vec<String> =
                own.iter().map(|a| a.account.clone()).filter(|name| *name != default.account).collect();
            if !others.is_empty() {
                lines.push(format!("  (`--account` takes {} too)", listed(others)));
            }
            if !default.qos.is_empty() {
                let which = default.default_qos.as_deref().map(|q| format!(", {} where none is named", code(q)));
                let all = listed(default.qos.iter().cloned());
                lines.push(format!("* QoS: {all}{}", which.unwrap_or_default()));
            }
        }
        None => lines.push(
            "* account: your own default; `sacctmgr show user $USER withassoc format=account,defaultaccount` names it"
                .to_owned(),
        ),
    }
    match default_partition(source) {
        Some(name) => lines.push(format!("* partition: {} where none is named", code(name))),
        None => lines.push("* partition: name one".to_owned()),
    }
    lines
}

fn partitions(source: &Source<'_>) -> Vec<String> {
    let known = facts::names(None, source.written, "partition");
    let live = source.cluster.map(|c| c.live.partitions.iter().map(|p| p.name.clone()).collect::<Vec<_>>());
    // The cluster's own list where there is one: a policy may name partitions by a glob, and none that it
    // says nothing of.
    let names = live.unwrap_or(known);
    let mut lines = Vec::new();
    for name in names {
        lines.push(format!("* {}", code(&name)));
        let words = facts::partition(&source.policy.facts.partition(&name), &name, source.written);
        if words.is_empty() {
            lines.push("  * the policy says nothing of it".to_owned());
        }
        lines.extend(words.into_iter().map(|text| format!("  * {text}")));
    }
    let kinds = facts::gpus(source.policy, None, source.written);
    lines.extend(kinds.into_iter().map(|(kind, what)| format!("* each GPU of type {}: {what}", code(&kind))));
    lines
}

/// QoS whose table says `key`, with their longest time.
fn qos_with(source: &Source<'_>, is: impl Fn(&sluice::policy::QosFacts) -> Option<bool>) -> Vec<String> {
    let names = facts::names(None, source.written, "qos");
    let with = names.into_iter().filter_map(|name| {
        let layers = source.policy.facts.qos.get(&name);
        (first(&layers, &is) == Some(true)).then(|| {
            let most = first(&layers, |q| q.max_time).map(|t| format!(", at most {}", facts::time(t)));
            format!("{}{}", code(&name), most.unwrap_or_default())
        })
    });
    with.collect()
}

fn preemptible(source: &Source<'_>) -> Vec<String> {
    let qos = qos_with(source, |q| q.preemptible);
    let mut lines: Vec<String> = qos.iter().map(|q| format!("* `--qos`: {q}")).collect();
    let partitions = facts::names(None, source.written, "partition");
    let lent = partitions.iter().filter(|name| {
        let of = source.policy.facts.partition(name);
        of.owner().is_some() && of.lent_qos().is_some()
    });
    for name in lent {
        let of = source.policy.facts.partition(name);
        let names = of.lent_qos().into_iter().flat_map(|n| n.iter()).map(|g| g.as_str().to_owned());
        lines.push(format!("* on {} everyone but its owner: {}", code(name), listed(names)));
    }
    if lines.is_empty() {
        return lines;
    }
    lines.push(String::new());
    lines.push(
        "For work that may be pushed aside and started again: it costs nobody anything, and starts where others \
         would wait. `--requeue` and not `--no-requeue`; write a checkpoint before the end (`--signal=B:USR1@300` \
         and a trap), read it at the start, and write results under a name that a second start finds."
            .to_owned(),
    );
    lines
}

fn probes(source: &Source<'_>) -> Vec<String> {
    qos_with(source, |q| q.short).iter().map(|q| format!("* `--qos`: {q}")).collect()
}

fn entries(entries: &[Entry]) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in entries {
        let mut words = entry.lines.iter();
        let head = words.next().map(|first| format!(": {first}")).unwrap_or_default();
        lines.push(format!("* {} {}{head}", code(&entry.name), entry.mode));
        lines.extend(words.map(|text| format!("  * {text}")));
    }
    lines
}

fn environment(source: &Source<'_>) -> Vec<String> {
    let mut lines: Vec<String> = [
        "* `#SBATCH` lines stand at the top: sbatch reads none behind the first command, and expands no variable \
         in them",
        "* start programs with `srun`; it does not take over `--cpus-per-task` of the job by itself: \
         `srun --cpus-per-task=$SLURM_CPUS_PER_TASK ./program`",
        "* threads follow the job: `export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}`",
        "* Slurm makes no folder for `--output`: it has to be there when the job starts",
        "* an array writes a log for each task: `--output=logs/%x-%A_%a.out`; its index is \
         `$SLURM_ARRAY_TASK_ID`",
    ]
    .map(str::to_owned)
    .to_vec();
    if !source.policy.index_vars.is_empty() {
        let names = listed(source.policy.index_vars.iter().cloned());
        lines.push(format!(
            "* {names}: says which task owns a piece of work, and has to be `$SLURM_ARRAY_TASK_ID`"
        ));
    }
    if !source.policy.compile_off.is_empty() {
        let names: Vec<String> = source.policy.compile_off.iter().map(|(name, _)| name.clone()).collect();
        lines.push(format!(
            "* `--compile=off` sets {} ({}); jobs in a short QoS have it by default",
            listed(names.iter().cloned()),
            count(names.len() as u64, "variable")
        ));
    }
    lines
}

fn example(source: &Source<'_>) -> Vec<String> {
    let names = facts::names(None, source.written, "partition");
    let globbed = |name: &&String| name.contains(['*', '?', '[']);
    let own = default_partition(source).map(str::to_owned);
    let candidates = own.iter().chain(names.iter().filter(|name| !globbed(name)));
    let script =
        candidates.into_iter().find_map(|name| skeleton::skeleton(source.policy, name, source.today));
    let Some(script) = script else { return Vec::new() };
    let judged = "Judged by the policy when this page was written.".to_owned();
    let mut lines = vec![judged, String::new(), "```bash".to_owned()];
    lines.extend(script.lines().map(str::to_owned));
    lines.push("```".to_owned());
    lines
}
