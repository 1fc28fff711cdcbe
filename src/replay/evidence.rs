//! What a line of accounting proves of a request, and what it leaves open.
//!
//! `SubmitLine` is what the user typed. A script's own `#SBATCH` lines are in no column, so of a batch
//! job what the line does not state may have been stated there: what came of it fills in where
//! accounting has it (partition, account, QoS, time limit, nodes, CPUs, GPUs, memory), and the rest is
//! left open (paths of logs, `--exclusive`, `--export`, `--signal`, `--requeue`, lineage).
//! Environment variables are not seen at all.

use super::sacct::{self, Column as C, JobId, Kind, Row};
use super::submit_line::{Told, words};
use super::{Effective, Past};
use crate::policy::Policy;
use crate::recorded;
use crate::request::description::NO_VAL;
use crate::request::tres::Item;
use crate::request::{
    ArraySpec, Memory, Origin, Request, Sharing, TimeLimit, Tres, WarnSignal, memory, partition_list, shape,
};
use crate::submit_line::{Command, CommandLine, Component, Problem, Script, Series, World};

/// Who knows users, and whose grammar is read.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// Series of the clients.
    pub series: Series,
    /// uid of a login name.
    pub uid: &'a (dyn Fn(&str) -> Option<u32> + Sync),
}

/// The last index that Slurm takes, from 0 (MaxArraySize).
const LARGEST_ARRAY: &str = "0-4000000";

/// The past submission of a line; `None` where too little is known of it: neither its command line nor
/// what it asked for.
pub fn past(row: &Row<'_>, id: &JobId<'_>, policy: &Policy, reader: Reader<'_>) -> Option<Past> {
    let uid = row.text(C::Uid).and_then(|t| t.parse().ok());
    let uid = uid.or_else(|| (reader.uid)(row.text(C::User)?)).unwrap_or(NO_VAL);
    let gid = row.text(C::Gid).and_then(|t| t.parse::<u32>().ok());
    let typed = typed(row, id, uid, reader.series);
    let complete = typed.as_ref().is_some_and(|t| t.complete);
    let asked = row.text(C::ReqTres).or(row.text(C::AllocTres));
    if !complete && asked.is_none() {
        return None;
    }
    let mut least = typed.as_ref().map(|t| t.component.request.clone()).unwrap_or_default();
    least.user_id = uid;
    least.submit_uid = uid;
    least.privileged = uid == 0;
    least.group_id = gid;
    least.test_only = false;
    least.het_offset = match id.kind {
        Kind::Component(n) => Some(n),
        _ => None,
    };
    let owned = |column| row.text(column).map(|t| t.to_owned().into());
    if least.name.is_none() {
        least.name = owned(C::JobName);
    }
    if least.comment.is_none() {
        least.comment = owned(C::Comment);
    }
    if least.justify.is_none() {
        least.justify =
            row.text(C::AdminComment).and_then(|c| recorded::texts(c).0).map(|t| t.to_owned().into());
    }
    let effective = Effective {
        user: row.text(C::User).map(str::to_owned),
        partition: row.text(C::Partition).map(str::to_owned),
        account: row.text(C::Account).map(str::to_owned),
        qos: row.text(C::Qos).map(str::to_owned),
    };
    let is_array = matches!(id.kind, Kind::Task(_));
    let wrote = |option: &str| typed.as_ref().is_some_and(|t| t.component.place(option).is_some());
    let has_logs = row.has(C::StdOut) && row.has(C::StdErr);
    if has_logs {
        let path = |column| owned(column).filter(|p: &std::borrow::Cow<'_, str>| !is_default_path(p));
        least.std_out = least.std_out.or_else(|| path(C::StdOut));
        least.std_err = least.std_err.or_else(|| path(C::StdErr));
    }
    if complete {
        let past = Past {
            least,
            most: None,
            effective,
            partial: false,
            open_rules: Vec::new(),
            no_gpus_shown: false,
        };
        return Some(past);
    }

    // From here on what is not on the line may have been in the script.
    least.reservation = least.reservation.or_else(|| owned(C::Reservation));
    least.features = least.features.or_else(|| owned(C::Constraints));
    if typed.is_none() && is_array {
        least.origin = Origin::Batch;
    }
    let mut most = least.clone();
    let asked = Tres::new(asked.unwrap_or("").to_owned());
    let nodes = nodes(row, &asked);

    if least.partition.is_none() {
        least.partition = owned(C::Partition);
    }
    if least.account.is_none() {
        least.account = owned(C::Account);
    }
    if least.qos.is_none() {
        if row.has(C::QosReq) {
            least.qos = owned(C::QosReq);
            most.qos.clone_from(&least.qos);
        } else {
            most.qos = owned(C::Qos);
        }
    }
    if least.time_limit == TimeLimit::Unset {
        match row.text(C::TimelimitRaw).or(row.text(C::Timelimit)) {
            Some("UNLIMITED") => most.time_limit = TimeLimit::Unlimited,
            Some(text) => {
                least.time_limit =
                    crate::request::time::parse_minutes(text).map_or(TimeLimit::Unset, TimeLimit::Minutes);
            }
            None => {}
        }
    }
    if least.min_nodes.is_none() {
        (least.min_nodes, least.max_nodes) = (nodes, nodes);
    }
    let no_gpus_shown = gpus(&mut least, &mut most, &asked);
    let cpus = row.text(C::ReqCpus).and_then(|t| t.parse::<u32>().ok());
    let cpus = cpus.or_else(|| u32::try_from(asked.count("cpu")?).ok());
    if let Some(cpus) = cpus {
        least.min_cpus = Some(least.min_cpus.unwrap_or(0).max(cpus));
        most.min_cpus = least.min_cpus;
    }
    if least.memory == Memory::Unset && shape::memory_per_gpu(&least).is_none() {
        most.memory = memory_of(row, &asked, nodes);
    }
    if least.shared == Sharing::Unset
        && least.core_spec.is_none()
        && may_be_exclusive(row, policy, cpus, nodes)
    {
        most.shared = Sharing::Exclusive;
    }
    if is_array && least.array.is_none() {
        least.array = Some(ArraySpec::new("0%1"));
        most.array = Some(ArraySpec::new(LARGEST_ARRAY));
    }
    if is_array && !has_logs {
        let shared = || Some("slurm.log".into());
        if !wrote("output") {
            most.std_out = shared();
        }
        if !wrote("error") {
            most.std_err = shared();
        }
    }
    if least.requeue.is_none() {
        least.requeue = Some(true);
        most.requeue = Some(false);
    }
    if least.signal.is_none() {
        least.signal = Some(WarnSignal::default());
    }
    if least.export.is_none() {
        most.export = Some("A=1,2".into());
    }
    if typed.is_none() && (row.get(C::JobName) == "wrap" || !row.has(C::JobName)) {
        most.script = Some("#!/bin/sh\n# This script was created by sbatch --wrap.\n".into());
    }
    let says_lineage = |r: &Request<'_>| r.lineage.is_some() || !r.lineage_pairs().is_empty();
    let open_rules = if says_lineage(&least) { Vec::new() } else { vec!["lineage"] };
    Some(Past { least, most: Some(most), effective, partial: true, open_rules, no_gpus_shown })
}

/// What the user typed.
struct Typed {
    component: Component,
    /// No script could say more.
    complete: bool,
}

fn typed(row: &Row<'_>, id: &JobId<'_>, uid: u32, series: Series) -> Option<Typed> {
    let line = row.text(C::SubmitLine)?;
    let told = Told {
        comment: row.text(C::Comment),
        name: row.text(C::JobName),
        work_dir: row.text(C::WorkDir),
        constraints: row.text(C::Constraints),
    };
    let words = words(line, &told);
    let command = Command::named(words.argv.first()?)?;
    let parsed = CommandLine::new(command, series, &words.argv, &[]);
    let world = World {
        environment: &|_| None,
        directory: row.text(C::WorkDir).unwrap_or("/"),
        user_id: uid,
        group_id: NO_VAL,
    };
    let script = parsed.script().map(str::to_owned);
    let wrapped = command == Command::Sbatch && script.is_none() && !parsed.reads_standard_input();
    let script = (command == Command::Sbatch && !wrapped)
        .then(|| Script { path: script.as_deref().unwrap_or("sbatch"), text: "#!/bin/sh\n" });
    let submission = parsed.read(&world, script);
    let complete = script.is_none() && !words.open && !submission.problems.iter().any(Problem::refuses);
    let index = match id.kind {
        Kind::Component(n) => usize::try_from(n).unwrap_or(0),
        _ => 0,
    };
    let mut components = submission.components;
    // Components that only the script has get the last options of the command line.
    let index = index.min(components.len().checked_sub(1)?);
    Some(Typed { component: components.swap_remove(index), complete })
}

/// Nodes that the job got, or asked for where it has none yet.
fn nodes(row: &Row<'_>, asked: &Tres<'_>) -> Option<u32> {
    let number = |column| row.text(column).and_then(sacct::whole).filter(|&n| n > 0);
    let got = Tres::new(row.get(C::AllocTres)).count("node").and_then(|n| u32::try_from(n).ok());
    let listed = || asked.count("node").and_then(|n| u32::try_from(n).ok());
    got.or_else(|| number(C::NNodes)).or_else(|| number(C::ReqNodes)).or_else(listed).filter(|&n| n > 0)
}

/// Fills in GPUs where the line names none; whether none are shown at all.
fn gpus(least: &mut Request<'static>, most: &mut Request<'static>, asked: &Tres<'_>) -> bool {
    if shape::gpus_are_stated(least) {
        return false;
    }
    let typed: Vec<String> = gpu_items(asked)
        .map(|i| match i.kind {
            Some(kind) => format!("gres/gpu:{kind}:{}", i.count.unwrap_or(1)),
            None => format!("gres/gpu:{}", i.count.unwrap_or(1)),
        })
        .collect();
    if typed.is_empty() {
        return true;
    }
    let list = Tres::new(typed.join(","));
    (least.tres_per_job, most.tres_per_job) = (list.clone(), list);
    false
}

/// GPUs by type where all have one, else the total: accounting lists both.
fn gpu_items<'t>(list: &'t Tres<'_>) -> impl Iterator<Item = Item<'t>> {
    let sum = |typed: bool| -> u64 {
        list.gpus().filter(|i| i.kind.is_some() == typed).map(|i| i.count.unwrap_or(1)).sum()
    };
    let by_type = sum(true) >= sum(false) && sum(true) > 0;
    list.gpus().filter(move |i| i.kind.is_some() == by_type && i.count != Some(0))
}

/// GPUs of a list of accounting.
pub fn gpu_count(list: &str) -> u64 {
    gpu_items(&Tres::new(list)).map(|i| i.count.unwrap_or(1)).sum()
}

/// What the job asked for, by itself or by the site's default: which, nobody can tell.
fn memory_of(row: &Row<'_>, asked: &Tres<'_>, nodes: Option<u32>) -> Memory {
    let listed = asked.as_str().split(',').find_map(|item| item.trim().strip_prefix("mem="));
    let Some(text) = listed.or(row.text(C::ReqMem)) else { return Memory::Unset };
    // Up to 20.11 for each CPU (c) or node (n); since then in all.
    let (number, per_cpu, in_all) = match text.as_bytes().last() {
        Some(b'c') => (text.trim_end_matches('c'), true, false),
        Some(b'n') => (text.trim_end_matches('n'), false, false),
        _ => (text, false, true),
    };
    match memory::printed_mb(number) {
        Some(0) => Memory::WholeNode,
        Some(mb) if per_cpu => Memory::PerCpu(mb),
        Some(mb) if in_all => Memory::PerNode(mb.div_ceil(u64::from(nodes.unwrap_or(1).max(1)))),
        Some(mb) => Memory::PerNode(mb),
        None => Memory::Unset,
    }
}

/// Whether a job that says nothing of it may have asked for whole nodes: one that got no more CPUs than
/// it asked for has not, unless it asked for all of them.
fn may_be_exclusive(row: &Row<'_>, policy: &Policy, asked: Option<u32>, nodes: Option<u32>) -> bool {
    let got = Tres::new(row.get(C::AllocTres)).count("cpu");
    let got = got.or_else(|| row.text(C::AllocCpus)?.parse().ok()).filter(|&n| n > 0);
    let (Some(got), Some(asked)) = (got, asked) else { return true };
    let name = partition_list::names(row.get(C::Partition)).next().unwrap_or("");
    match (policy.facts.partition(name).node().cpus, nodes) {
        (Some(all), Some(nodes)) => got >= all.saturating_mul(u64::from(nodes)),
        _ => got > u64::from(asked),
    }
}

/// Where a batch job writes that says nothing of it.
fn is_default_path(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    matches!(file, "slurm-%j.out" | "slurm-%A_%a.out") || path.is_empty()
}
