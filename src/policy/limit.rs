//! `[[limit]]`: a site's own numbers.
//!
//! What a request adds up to counts by its upper end for a maximum and by its lower end for a
//! minimum; what only Slurm decides is judged by no number.

mod remedy;
#[cfg(test)]
mod tests;

use std::fmt;

use super::condition::GpuCount;
use super::{Names, Settings, When};
use crate::case::{Candidate, Case, Source};
use crate::judge;
use crate::policy::Mode;
use crate::request::memory::Mb;
use crate::request::options::OptionTest;
use crate::request::partition_list;
use crate::request::shape::NodeFacts;
use crate::request::time::Minutes;
use crate::request::{Amount, Memory, Origin, Request, Shape, Sharing, TimeLimit};
use crate::verdict::{Allowed, Complaint, Errno, Place, Remedy, Topic, not_given};
use crate::words::{count, shown};

/// One `[[limit]]`.
#[derive(Debug)]
pub struct Limit {
    /// `name`.
    pub name: String,
    /// What every rule has.
    pub settings: Settings,
    /// `why`: ends the sentence that users read.
    pub why: Option<String>,
    /// The numbers.
    pub bounds: Vec<Bound>,
    /// `allow_qos`.
    pub allow_qos: Option<Names>,
    /// `allow_account`.
    pub allow_account: Option<Names>,
    /// `allow_partition`.
    pub allow_partition: Option<Names>,
    /// `require`: options that must be given.
    pub require: Vec<OptionTest>,
    /// `forbid`: options that must not.
    pub forbid: Vec<OptionTest>,
}

/// `max_...` or `min_...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What is counted.
    pub quantity: Quantity,
    /// Whether it is the most or the least.
    pub end: End,
    /// In the quantity's own unit.
    pub value: u64,
}

/// Which end of a range is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At most.
    Max,
    /// At least.
    Min,
}

/// What a limit counts, of each job, het component or array task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Nodes.
    Nodes,
    /// GPUs.
    Gpus,
    /// CPUs.
    Cpus,
    /// Tasks.
    Tasks,
    /// Minutes.
    Time,
    /// Memory of the job, MB.
    Memory,
    /// Memory for each CPU, MB, rounded up.
    MemoryPerCpu,
    /// Tasks of an array.
    ArrayTasks,
    /// Array tasks that may run at once.
    ArrayRunning,
}

/// What stands for no limit at all: more than any maximum.
const UNLIMITED: u64 = u64::MAX;

impl Limit {
    /// Whether it limits nothing at all.
    pub fn is_empty(&self) -> bool {
        self.bounds.is_empty()
            && self.allow_qos.is_none()
            && self.allow_account.is_none()
            && self.allow_partition.is_none()
            && self.require.is_empty()
            && self.forbid.is_empty()
    }

    /// Where it holds, as far as its `when` says: in this partition, or on the site.
    fn place(&self, candidate: &Candidate<'_>) -> Place {
        match self.settings.when.as_ref().and_then(|w| w.partition.as_ref()) {
            Some(_) => judge::place(candidate),
            None => Place::Site,
        }
    }

    /// ` here: long interactive sessions keep GPUs idle`, what follows the number.
    fn tail(&self) -> String {
        let here = match &self.settings.when {
            None => String::new(),
            // A row of a table by GPUs says which.
            Some(When { gpus: Some(GpuCount { min: n @ 1.., max }), .. }) if *max == Some(*n) => {
                format!(" for {}", count(*n, "GPU"))
            }
            Some(_) => " here".to_owned(),
        };
        let why = self.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        let plain = |c: char| if c.is_ascii() && !c.is_control() { c } else { '?' };
        format!("{here}{why}").chars().map(plain).collect()
    }

    fn allowed(&self, candidate: &Candidate<'_>, verb: (&'static str, &'static str), what: &str) -> Allowed {
        Allowed { place: self.place(candidate), verb, what: format!("{what}{}", self.tail()) }
    }
}

/// Judges every limit that applies to one candidate.
pub fn check_all<'p>(
    case: &Case<'p>,
    candidate: &Candidate<'p>,
    mut complain: impl FnMut(&'p Limit, Topic, Complaint),
) {
    for limit in &case.policy.limits {
        let settings = &limit.settings;
        let mode = settings.effective(case.policy.site.mode, case.today).0;
        if mode == Mode::Off || !settings.when.as_ref().is_none_or(|w| w.matches(case, candidate)) {
            continue;
        }
        for bound in &limit.bounds {
            if let Some(complaint) = bound.check(limit, case, candidate) {
                complain(limit, bound.quantity.topic(), complaint);
            }
        }
        for (topic, check) in LISTS {
            if let Some(complaint) = check(limit, case, candidate) {
                complain(limit, topic, complaint);
            }
        }
        for test in &limit.require {
            if let Some(complaint) = required(limit, test, case.request, candidate) {
                complain(limit, test.option().topic, complaint);
            }
        }
        for test in &limit.forbid {
            if let Some(complaint) = forbidden(limit, test, case.request, candidate) {
                complain(limit, test.option().topic, complaint);
            }
        }
    }
}

impl Bound {
    /// How far the request is beyond the bound, and the number that is; `None` where it is within,
    /// or where only Slurm decides.
    fn excess(&self, amount: Amount) -> Option<(u64, u64)> {
        match self.end {
            End::Max => {
                // Where the upper end is open, the lower one may already be too much.
                let asked = amount.high.unwrap_or(amount.low);
                (asked > self.value).then(|| (asked, asked.saturating_sub(self.value)))
            }
            End::Min => {
                let short = amount.low < self.value && amount.high.is_some();
                short.then(|| (amount.low, self.value.saturating_sub(amount.low)))
            }
        }
    }

    fn check(&self, limit: &Limit, case: &Case<'_>, candidate: &Candidate<'_>) -> Option<Complaint> {
        let request = case.request;
        let amount = self.quantity.of(request, &candidate.shape, candidate.facts.node())?;
        let (asked, excess) = self.excess(amount)?;
        let quantity = self.quantity;
        let most = if self.end == End::Max { "at most" } else { "at least" };
        let what = match (self.end, self.value) {
            (End::Max, 0) => "none".to_owned(),
            _ => format!("{most} {}", quantity.value(self.value)),
        };
        let verb = match self.end {
            End::Max => ("allows", "allow"),
            End::Min => ("asks for", "ask for"),
        };
        let options = quantity.options(request);
        Some(Complaint {
            quantity: quantity.name(self.end),
            asked: quantity.asked(request, amount, asked),
            allowed: Some(limit.allowed(candidate, verb, &what)),
            excess,
            remedies: remedy::remedies(self, request, candidate, &options),
            options,
            errno: quantity.errno(),
            told_by: None,
        })
    }
}

impl Quantity {
    /// Its key in a policy, without `max_` or `min_`.
    pub fn key(self) -> &'static str {
        match self {
            Quantity::Nodes => "nodes",
            Quantity::Gpus => "gpus",
            Quantity::Cpus => "cpus",
            Quantity::Tasks => "tasks",
            Quantity::Time => "time",
            Quantity::Memory => "memory",
            Quantity::MemoryPerCpu => "memory_per_cpu",
            Quantity::ArrayTasks => "array_max",
            Quantity::ArrayRunning => "array_running_max",
        }
    }

    /// The name of a finding: its key in a policy.
    fn name(self, end: End) -> &'static str {
        match (self, end) {
            (Quantity::Nodes, End::Max) => "max_nodes",
            (Quantity::Nodes, End::Min) => "min_nodes",
            (Quantity::Gpus, End::Max) => "max_gpus",
            (Quantity::Gpus, End::Min) => "min_gpus",
            (Quantity::Cpus, End::Max) => "max_cpus",
            (Quantity::Cpus, End::Min) => "min_cpus",
            (Quantity::Tasks, End::Max) => "max_tasks",
            (Quantity::Tasks, End::Min) => "min_tasks",
            (Quantity::Time, End::Max) => "max_time",
            (Quantity::Time, End::Min) => "min_time",
            (Quantity::Memory, End::Max) => "max_memory",
            (Quantity::Memory, End::Min) => "min_memory",
            (Quantity::MemoryPerCpu, End::Max) => "max_memory_per_cpu",
            (Quantity::MemoryPerCpu, End::Min) => "min_memory_per_cpu",
            (Quantity::ArrayTasks | Quantity::ArrayRunning, _) => self.key(),
        }
    }

    /// What the request adds up to; `None` where it says nothing that could be judged.
    fn of(self, request: &Request<'_>, shape: &Shape, node: NodeFacts) -> Option<Amount> {
        let exclusive = request.shared == Sharing::Exclusive;
        match self {
            Quantity::Nodes => Some(shape.nodes),
            Quantity::Gpus => match shape.gpus {
                // Whole nodes come with all of their GPUs.
                None if exclusive => Some(whole_nodes(shape, node.gpus?)),
                gpus => Some(gpus.unwrap_or(Amount::exactly(0))),
            },
            Quantity::Cpus => match node.cpus {
                Some(all) if exclusive => Some(whole_nodes(shape, all)),
                _ => Some(shape.cpus),
            },
            Quantity::Tasks => Some(shape.tasks),
            Quantity::Time => match request.time_limit {
                // The partition's default will be used, which only Slurm knows.
                TimeLimit::Unset => None,
                TimeLimit::Minutes(minutes) => Some(Amount::exactly(u64::from(minutes))),
                TimeLimit::Unlimited => Some(Amount::exactly(UNLIMITED)),
            },
            Quantity::Memory => shape.memory,
            Quantity::MemoryPerCpu if exclusive && request.memory != Memory::Unset => {
                // All CPUs of the node share what was asked for.
                let (memory, cpus) = (shape.memory_per_node?, node.cpus?.max(1));
                let each = |mb: u64| mb.div_ceil(cpus);
                Some(Amount { low: each(memory.low), high: memory.high.map(each) })
            }
            Quantity::MemoryPerCpu => memory_per_cpu(request, shape),
            Quantity::ArrayTasks => request.array.as_ref()?.tasks.map(Amount::exactly),
            Quantity::ArrayRunning => {
                let array = request.array.as_ref()?;
                let tasks = array.tasks?;
                Some(Amount::exactly(array.running_max.map_or(tasks, |cap| tasks.min(u64::from(cap)))))
            }
        }
    }

    /// A number of this quantity for a message, behind "at most".
    fn value(self, n: u64) -> String {
        match self {
            Quantity::Time => u32::try_from(n).map_or_else(|_| n.to_string(), |m| Minutes(m).to_string()),
            Quantity::Memory => Mb(n).to_string(),
            Quantity::MemoryPerCpu => format!("{} per CPU", Mb(n)),
            Quantity::ArrayRunning => format!("{n} at once"),
            Quantity::Nodes | Quantity::Gpus | Quantity::Cpus | Quantity::Tasks | Quantity::ArrayTasks => {
                n.to_string()
            }
        }
    }

    /// What was asked, as the start of a sentence.
    fn asked(self, request: &Request<'_>, amount: Amount, n: u64) -> String {
        let counted = |noun: &str| match n {
            0 => format!("no {noun}s"),
            _ if amount.high.is_none() => format!("{} or more", count(n, noun)),
            _ if n > amount.low => format!("up to {}", count(n, noun)),
            _ => count(n, noun),
        };
        match self {
            Quantity::Nodes => counted("node"),
            Quantity::Gpus => counted("GPU"),
            Quantity::Cpus => counted("CPU"),
            Quantity::Tasks => counted("task"),
            Quantity::Time if n == UNLIMITED => "--time=UNLIMITED".to_owned(),
            Quantity::Time => format!("--time={}", self.value(n)),
            Quantity::Memory if n > amount.low => format!("up to {} of memory", Mb(n)),
            Quantity::Memory => format!("{} of memory", Mb(n)),
            Quantity::MemoryPerCpu => format!("{} of memory per CPU", Mb(n)),
            Quantity::ArrayTasks => count(n, "array task"),
            Quantity::ArrayRunning => {
                let capped = request.array.as_ref().is_some_and(|a| a.running_max.is_some());
                let why = if capped { "" } else { ", for want of a cap" };
                format!("{} may run at once{why}", count(n, "array task"))
            }
        }
    }

    fn topic(self) -> Topic {
        match self {
            Quantity::Gpus => Topic::Gpu,
            Quantity::Nodes | Quantity::Cpus | Quantity::Tasks => Topic::Cpu,
            Quantity::Memory | Quantity::MemoryPerCpu => Topic::Memory,
            Quantity::Time => Topic::Time,
            Quantity::ArrayTasks | Quantity::ArrayRunning => Topic::Habit,
        }
    }

    fn errno(self) -> Errno {
        match self {
            Quantity::Nodes => Errno::InvalidNodeCount,
            Quantity::Gpus => Errno::InvalidGres,
            Quantity::Time => Errno::InvalidTimeLimit,
            _ => Errno::AccessDenied,
        }
    }
}

/// What whole nodes have in all.
fn whole_nodes(shape: &Shape, each: u64) -> Amount {
    let times = |nodes: u64| nodes.saturating_mul(each);
    Amount { low: times(shape.nodes.low), high: shape.nodes.high.map(times) }
}

/// Memory on each node against the CPUs there, at the ends where it is most and least.
fn memory_per_cpu(request: &Request<'_>, shape: &Shape) -> Option<Amount> {
    match request.memory {
        Memory::PerCpu(mb) if mb > 0 => Some(Amount::exactly(mb)),
        _ => {
            let (memory, cpus) = (shape.memory_per_node?, shape.cpus_per_node);
            let high = memory.high.map(|mb| mb.div_ceil(cpus.low.max(1)));
            let low = cpus.high.map_or(0, |cpus| memory.low.div_ceil(cpus.max(1)));
            Some(Amount { low, high })
        }
    }
}

/// A value that is held against a list of names.
struct Listed<'e> {
    key: &'static str,
    option: &'static str,
    noun: &'static str,
    errno: Errno,
    /// The value that Slurm will use and where it comes from, where that is known.
    effective: Option<(&'e str, Source)>,
}

/// Judges one list of names on one candidate.
type CheckList = fn(&Limit, &Case<'_>, &Candidate<'_>) -> Option<Complaint>;

/// The lists of names that a limit may hold.
const LISTS: [(Topic, CheckList); 3] = [
    (Topic::Entitlement, listed_qos),
    (Topic::Entitlement, listed_account),
    (Topic::Partition, listed_partition),
];

fn listed_qos(limit: &Limit, case: &Case<'_>, candidate: &Candidate<'_>) -> Option<Complaint> {
    let names = limit.allow_qos.as_ref()?;
    let list = Listed {
        key: "allow_qos",
        option: "qos",
        noun: "QoS",
        errno: Errno::InvalidQos,
        effective: candidate.qos(case).map(|e| (e.name.as_str(), e.source)),
    };
    let account = || case.account().map(|a| a.name.as_str());
    list.check(limit, names, candidate, |q| {
        case.cluster.may_use_qos(case.request.user_id, account(), candidate.partition(), q) != Some(false)
    })
}

fn listed_account(limit: &Limit, case: &Case<'_>, candidate: &Candidate<'_>) -> Option<Complaint> {
    let names = limit.allow_account.as_ref()?;
    let list = Listed {
        key: "allow_account",
        option: "account",
        noun: "account",
        errno: Errno::InvalidAccount,
        effective: case.account().map(|e| (e.name.as_str(), e.source)),
    };
    list.check(limit, names, candidate, |a| {
        case.cluster.has_association(case.request.user_id, a) != Some(false)
    })
}

fn listed_partition(limit: &Limit, _: &Case<'_>, candidate: &Candidate<'_>) -> Option<Complaint> {
    let names = limit.allow_partition.as_ref()?;
    let list = Listed {
        key: "allow_partition",
        option: "partition",
        noun: "partition",
        errno: Errno::InvalidPartitionName,
        effective: candidate.partition().map(|name| (name, candidate.source)),
    };
    list.check(limit, names, candidate, |_| true)
}

impl Listed<'_> {
    /// The complaint, where not every name is on the list. What is unknown is on none.
    /// `usable`: whether the user may use a name of the list.
    fn check(
        &self,
        limit: &Limit,
        names: &Names,
        candidate: &Candidate<'_>,
        usable: impl Fn(&str) -> bool,
    ) -> Option<Complaint> {
        let asked = self.refused(names)?;
        let all: Vec<String> = names.iter().map(|g| shown(g.as_str())).collect();
        let what = if all.is_empty() { "none".to_owned() } else { format!("only {}", all.join(", ")) };
        let literal = names.literal().filter(|n| usable(n));
        let mut remedies: Vec<Remedy> = literal.take(3).map(|n| Remedy::exactly(self.option, n)).collect();
        if remedies.is_empty() {
            remedies.push(Remedy::Change(format!("name another {}", self.noun)));
        }
        Some(Complaint {
            quantity: self.key,
            asked,
            allowed: Some(limit.allowed(candidate, ("takes", "take"), &what)),
            excess: 1,
            options: vec![self.option],
            remedies,
            errno: self.errno,
            told_by: None,
        })
    }

    /// What is wrong, as the start of a sentence.
    fn refused(&self, names: &Names) -> Option<String> {
        let noun = self.noun;
        let Some((name, source)) = self.effective else {
            return Some(format!("no {noun} is named, and the default is not known"));
        };
        let mut all = partition_list::names(name).peekable();
        if all.peek().is_some() && partition_list::names(name).all(|n| names.contains(n)) {
            return None;
        }
        let others: Vec<String> = all.filter(|n| !names.contains(n)).map(shown).collect();
        let list = if others.is_empty() { "''".to_owned() } else { others.join(",") };
        Some(match source {
            Source::Asked => format!("--{}={list}", self.option),
            Source::Reservation => format!("the {noun} of the reservation is {list}"),
            Source::ClusterDefault | Source::UserDefault => {
                format!("no {noun} is named, and the default is {list}")
            }
        })
    }
}

/// An option that must be given.
fn required(
    limit: &Limit,
    test: &OptionTest,
    request: &Request<'_>,
    candidate: &Candidate<'_>,
) -> Option<Complaint> {
    let option = test.option();
    // srun and salloc keep some options to themselves: whether they were given cannot be seen.
    if test.matches(request) || (option.batch_only && request.origin == Origin::Interactive) {
        return None;
    }
    let asked = option.shown(request).unwrap_or_else(|| not_given(option.name));
    let what = if test.is_given(request) { Dashed(test.as_str()).to_string() } else { requirement(test) };
    let remedy = match test.only_value() {
        Some(value) => Remedy::exactly(option.name, value),
        None if option.is_flag() => Remedy::exactly(option.name, ""),
        None => Remedy::Change(format!("give {}", Dashed(&format!("{}=...", option.name)))),
    };
    Some(Complaint {
        quantity: option.name,
        asked,
        allowed: Some(limit.allowed(candidate, ("requires", "require"), &what)),
        excess: 1,
        options: vec![option.name],
        remedies: vec![remedy],
        errno: if option.name == "time" { Errno::MissingTimeLimit } else { Errno::AccessDenied },
        told_by: None,
    })
}

/// `it`, or the option with the value that has to be.
fn requirement(test: &OptionTest) -> String {
    match test.value() {
        None => "it".to_owned(),
        Some(_) => Dashed(test.as_str()).to_string(),
    }
}

/// An option that must not be given.
fn forbidden(
    limit: &Limit,
    test: &OptionTest,
    request: &Request<'_>,
    candidate: &Candidate<'_>,
) -> Option<Complaint> {
    if !test.matches(request) {
        return None;
    }
    let option = test.option();
    // `--mem-per-cpu=0` is `--mem=0` to slurmctld.
    let all_memory = option.name == "mem" && request.memory == Memory::PerCpu(0);
    let asked = match option.shown(request) {
        Some(_) if all_memory => "--mem-per-cpu=0 is --mem=0".to_owned(),
        shown => shown.unwrap_or_else(|| format!("--{}", option.name)),
    };
    let remedies = match option.name {
        "mem" if all_memory => vec![Remedy::Drop { option: "mem-per-cpu" }],
        "wrap" => vec![Remedy::Change("write a script and submit that".to_owned())],
        // Another option may give the same field.
        "no-requeue" => vec![Remedy::exactly("requeue", "")],
        name => converted_memory(test, request, &candidate.shape)
            .into_iter()
            .chain([Remedy::Drop { option: name }])
            .collect(),
    };
    Some(Complaint {
        quantity: option.name,
        asked,
        allowed: Some(limit.allowed(candidate, ("does not take", "do not take"), "it")),
        excess: 1,
        options: vec![option.name],
        remedies,
        errno: Errno::AccessDenied,
        told_by: None,
    })
}

/// The same memory by the other option, where one of the two is forbidden whatever its value.
fn converted_memory(test: &OptionTest, request: &Request<'_>, shape: &Shape) -> Option<Remedy> {
    let cpus = shape.cpus_per_node.fixed().filter(|n| *n > 0 && test.value().is_none())?;
    match (test.option().name, request.memory) {
        ("mem", Memory::PerNode(mb)) => {
            let each = Mb(mb.div_ceil(cpus)).to_string();
            Some(Remedy::exactly("mem-per-cpu", each).instead_of(&["mem"]))
        }
        ("mem-per-cpu", Memory::PerCpu(mb)) if mb > 0 => {
            let all = Mb(mb.saturating_mul(cpus)).to_string();
            Some(Remedy::exactly("mem", all).instead_of(&["mem-per-cpu"]))
        }
        _ => None,
    }
}

/// An option of the policy as it is typed.
struct Dashed<'t>(&'t str);

impl fmt::Display for Dashed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{}", self.0)
    }
}
