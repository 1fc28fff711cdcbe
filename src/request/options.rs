//! sbatch's options by long name, as far as they can be seen at the hook: for `given`, `require`
//! and `forbid`.
//!
//! A value is compared in its own unit: `mem=4G` is also `--mem=4096`, `time=1:00:00` also
//! `--time=60`. A list matches as a whole, or by any one of its elements.

use std::borrow::Cow;

use super::memory::{Mb, parse_mb};
use super::time::Minutes;
use super::{Memory, Request, Sharing, TimeLimit, Tres};
use crate::policy::glob::Glob;
use crate::verdict::Topic;

/// `"option"` or `"option=glob"`.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionTest {
    option: &'static SeenOption,
    value: Option<Value>,
    text: String,
}

/// An option that the hook can see.
pub struct SeenOption {
    /// Long name, without dashes.
    pub name: &'static str,
    /// Where findings about it stand.
    pub topic: Topic,
    /// sbatch alone hands it to slurmctld; srun and salloc keep it to themselves.
    pub batch_only: bool,
    kind: Kind,
    see: for<'r> fn(&'r Request<'_>) -> Seen<'r>,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Flag,
    Text,
    /// A name that Slurm compares without regard to case.
    Folded,
    Number,
    Memory,
    Time,
}

/// What a request says of an option.
#[derive(Clone, Debug, PartialEq)]
enum Seen<'r> {
    No,
    Flag,
    Text(Cow<'r, str>),
    /// A list, and what separates its elements.
    List(&'r str, &'static [char]),
    /// Generic resources: all of them, or GPUs only and then named by type and count.
    Resources(&'r Tres<'r>, Which),
    Number(u64),
    /// Nodes, from and to.
    Range(u32, u32),
    Memory(u64),
    Time(TimeLimit),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    All,
    Gpus,
}

/// The value of a test.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Number(u64),
    Memory(u64),
    Time(TimeLimit),
    Glob(Glob),
}

/// Why a test cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTest {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl PartialEq for SeenOption {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for SeenOption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl OptionTest {
    /// Reads `"option"` or `"option=glob"`.
    pub fn new(text: &str) -> Result<OptionTest, BadTest> {
        let bad = |message: String, help: Option<String>| Err(BadTest { message, help });
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (text.trim(), None),
        };
        let Some(option) = SEEN.iter().find(|o| o.name == name) else {
            if let Some((_, reason)) = UNSEEN.iter().find(|(n, _)| *n == name) {
                return bad(format!("`{name}` cannot be judged: {reason}"), None);
            }
            let bare = name.trim_start_matches('-');
            let known = || SEEN.iter().map(|o| o.name).chain(UNSEEN.iter().map(|(n, _)| *n));
            let meant = match known().find(|n| *n == bare) {
                Some(found) => Some(found),
                None => crate::policy::diagnostic::suggestion(bare, known()),
            };
            let help = match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "options are named as in `sbatch --help`, by long name without dashes".to_owned(),
            };
            return bad(format!("unknown option `{name}`"), Some(help));
        };
        let value = match value {
            None if ALWAYS.contains(&name) => {
                let help = format!("a value can be tested: `{name}=...`");
                return bad(format!("`{name}` cannot be judged: every job arrives with one"), Some(help));
            }
            None => None,
            Some(_) if option.kind == Kind::Flag => {
                return bad(format!("`{name}` takes no value"), Some(format!("write `{name}`")));
            }
            Some(value) => match Value::new(option.kind, value) {
                Ok(value) => Some(value),
                Err(message) => return bad(format!("`{name}={value}`: {message}"), None),
            },
        };
        Ok(OptionTest { option, value, text: text.trim().to_owned() })
    }

    /// Whether the request states the option, with a value that matches.
    pub fn matches(&self, request: &Request<'_>) -> bool {
        let seen = (self.option.see)(request);
        match &self.value {
            None => seen != Seen::No,
            Some(value) => value.matches(&seen, self.option.kind == Kind::Folded),
        }
    }

    /// Whether the request states the option, whatever its value.
    pub fn is_given(&self, request: &Request<'_>) -> bool {
        (self.option.see)(request) != Seen::No
    }

    /// The option.
    pub fn option(&self) -> &'static SeenOption {
        self.option
    }

    /// As written: `mem=0`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The value as written, where there is one.
    pub fn value(&self) -> Option<&str> {
        self.text.split_once('=').map(|(_, value)| value.trim())
    }

    /// The value, where just one will do.
    pub fn only_value(&self) -> Option<&str> {
        match &self.value {
            Some(Value::Glob(glob)) if !glob.is_literal() => None,
            Some(_) => self.value(),
            None => None,
        }
    }
}

impl SeenOption {
    /// Whether it takes no value.
    pub fn is_flag(&self) -> bool {
        self.kind == Kind::Flag
    }

    /// The option as the request states it: `--mem=4G`; `None` where it does not.
    pub fn shown(&self, request: &Request<'_>) -> Option<String> {
        let value = match (self.see)(request) {
            Seen::No => return None,
            Seen::Flag => return Some(format!("--{}", self.name)),
            Seen::Text(text) => text.into_owned(),
            Seen::List(text, _) => text.to_owned(),
            Seen::Number(n) => n.to_string(),
            Seen::Range(min, max) => range_text(min, max),
            Seen::Memory(mb) => memory_text(mb),
            Seen::Time(limit) => time_text(limit),
            Seen::Resources(list, which) => {
                let mut items = Vec::new();
                for_each_item(list, which, &mut |spellings| {
                    items.extend(spellings.first().cloned());
                    false
                });
                items.join(",")
            }
        };
        Some(format!("--{}={}", self.name, crate::words::shown(&value)))
    }
}

impl Value {
    fn new(kind: Kind, text: &str) -> Result<Value, String> {
        if text.is_empty() {
            return Err("the value is empty".to_owned());
        }
        let typed = match kind {
            Kind::Number => text.parse().ok().map(Value::Number),
            Kind::Memory => parse_mb(text).map(Value::Memory),
            Kind::Time => TimeLimit::parse(text).map(Value::Time),
            Kind::Text | Kind::Folded | Kind::Flag => None,
        };
        match typed {
            Some(value) => Ok(value),
            None => {
                let glob = Glob::new(text)?;
                match kind {
                    Kind::Number if glob.is_literal() => Err("the value is no number".to_owned()),
                    Kind::Memory if glob.is_literal() => Err("the value is no memory size".to_owned()),
                    Kind::Time if glob.is_literal() => Err("the value is no time".to_owned()),
                    _ => Ok(Value::Glob(glob)),
                }
            }
        }
    }

    fn matches(&self, seen: &Seen<'_>, fold_case: bool) -> bool {
        let glob = match (self, seen) {
            (_, Seen::No | Seen::Flag) => return false,
            (Value::Number(a), Seen::Number(b)) | (Value::Memory(a), Seen::Memory(b)) => return a == b,
            (Value::Time(a), Seen::Time(b)) => return a == b,
            (Value::Glob(glob), _) => glob,
            _ => return false,
        };
        let matches = |text: &str| glob.matches(text, fold_case);
        match seen {
            Seen::Text(text) => matches(text),
            Seen::List(text, separators) => {
                matches(text) || text.split(*separators).map(str::trim).any(|t| !t.is_empty() && matches(t))
            }
            Seen::Number(n) => matches(&n.to_string()),
            Seen::Range(min, max) => matches(&range_text(*min, *max)),
            Seen::Memory(mb) => matches(&memory_text(*mb)),
            Seen::Time(limit) => matches(&time_text(*limit)),
            Seen::Resources(list, which) => {
                for_each_item(list, *which, &mut |spellings| spellings.iter().any(|s| matches(s)))
            }
            Seen::No | Seen::Flag => false,
        }
    }
}

/// Hands each item in all its spellings, the fullest first, to `found` until that is true.
fn for_each_item(list: &Tres<'_>, which: Which, found: &mut dyn FnMut(&[String]) -> bool) -> bool {
    list.items().filter(|i| which == Which::All || i.name == "gpu").any(|item| {
        let count = item.count.unwrap_or(1);
        let of = |kind: Option<&str>, count: Option<u64>| {
            let name = (which == Which::All).then_some(item.name);
            let count = count.map(|n| n.to_string());
            let parts: Vec<&str> = [name, kind, count.as_deref()].into_iter().flatten().collect();
            parts.join(":")
        };
        let mut spellings = vec![of(item.kind, Some(count)), of(item.kind, None), of(None, Some(count))];
        if which == Which::All {
            spellings.push(of(None, None));
        }
        spellings.retain(|s| !s.is_empty());
        found(&spellings)
    })
}

fn memory_text(mb: u64) -> String {
    if mb == 0 { "0".to_owned() } else { Mb(mb).to_string() }
}

fn range_text(min: u32, max: u32) -> String {
    if min == max { min.to_string() } else { format!("{min}-{max}") }
}

fn time_text(limit: TimeLimit) -> String {
    match limit {
        TimeLimit::Minutes(minutes) => Minutes(minutes).to_string(),
        TimeLimit::Unlimited => "UNLIMITED".to_owned(),
        TimeLimit::Unset => String::new(),
    }
}

fn text<'r>(value: &'r Option<Cow<'_, str>>) -> Seen<'r> {
    match value.as_deref() {
        Some(text) if !text.is_empty() => Seen::Text(Cow::Borrowed(text)),
        _ => Seen::No,
    }
}

fn list<'r>(value: &'r Option<Cow<'_, str>>) -> Seen<'r> {
    match value.as_deref() {
        Some(text) if !text.is_empty() => Seen::List(text, &[',']),
        _ => Seen::No,
    }
}

fn number<N: Into<u64> + Copy>(value: Option<N>) -> Seen<'static> {
    value.map_or(Seen::No, |n| Seen::Number(n.into()))
}

fn flag(given: bool) -> Seen<'static> {
    if given { Seen::Flag } else { Seen::No }
}

fn time(limit: TimeLimit) -> Seen<'static> {
    if limit == TimeLimit::Unset { Seen::No } else { Seen::Time(limit) }
}

fn resources<'r>(list: &'r Tres<'_>, which: Which) -> Seen<'r> {
    let given = list.items().any(|i| which == Which::All || i.name == "gpu");
    if given { Seen::Resources(list, which) } else { Seen::No }
}

fn nodes<'r>(request: &'r Request<'_>) -> Seen<'r> {
    match (request.min_nodes, request.max_nodes) {
        (None, None) => Seen::No,
        (Some(min), Some(max)) => Seen::Range(min, max),
        (Some(n), None) | (None, Some(n)) => Seen::Range(n, n),
    }
}

fn exclusive<'r>(request: &'r Request<'_>) -> Seen<'r> {
    Seen::Text(Cow::Borrowed(match request.shared {
        Sharing::Exclusive => "allocation",
        Sharing::User => "user",
        Sharing::Mcs => "mcs",
        Sharing::Topo => "topo",
        Sharing::Unset | Sharing::Oversubscribe | Sharing::Other(_) => return Seen::No,
    }))
}

fn signal<'r>(request: &'r Request<'_>) -> Seen<'r> {
    request.signal.map_or(Seen::No, |s| {
        let batch = if s.batch_only { "B:" } else { "" };
        Seen::Text(format!("{batch}{}@{}", s.signal, s.time).into())
    })
}

/// sbatch raises it to `--cpus-per-task`: only more than that was typed.
fn mincpus<'r>(request: &'r Request<'_>) -> Seen<'r> {
    number(request.pn_min_cpus.filter(|n| *n > request.cpus_per_task.unwrap_or(1)))
}

const fn seen(
    name: &'static str,
    topic: Topic,
    kind: Kind,
    see: for<'r> fn(&'r Request<'_>) -> Seen<'r>,
) -> SeenOption {
    SeenOption { name, topic, batch_only: false, kind, see }
}

const fn sbatch(
    name: &'static str,
    topic: Topic,
    kind: Kind,
    see: for<'r> fn(&'r Request<'_>) -> Seen<'r>,
) -> SeenOption {
    SeenOption { name, topic, batch_only: true, kind, see }
}

/// Every option that a request shows. What clients derive (tasks from GPUs, nodes from tasks)
/// arrives as if it had been typed.
static SEEN: &[SeenOption] = &[
    seen("account", Topic::Entitlement, Kind::Folded, |r| text(&r.account)),
    sbatch("array", Topic::Habit, Kind::Text, |r| {
        r.array.as_ref().map_or(Seen::No, |a| Seen::Text(Cow::Borrowed(a.as_str())))
    }),
    seen("chdir", Topic::Habit, Kind::Text, |r| text(&r.work_dir)),
    seen("comment", Topic::Habit, Kind::Text, |r| text(&r.comment)),
    seen("constraint", Topic::Partition, Kind::Text, |r| match r.features.as_deref() {
        Some(text) if !text.is_empty() => Seen::List(text, &['&', '|', ',', '(', ')', '[', ']', '*']),
        _ => Seen::No,
    }),
    seen("container", Topic::Habit, Kind::Text, |r| text(&r.container)),
    seen("core-spec", Topic::Cpu, Kind::Number, |r| number(r.core_spec)),
    seen("cores-per-socket", Topic::Cpu, Kind::Number, |r| number(r.cores_per_socket)),
    seen("cpus-per-gpu", Topic::Cpu, Kind::Number, |r| number(r.cpus_per_tres.gpu_count())),
    seen("cpus-per-task", Topic::Cpu, Kind::Number, |r| number(r.cpus_per_task)),
    seen("dependency", Topic::Habit, Kind::Text, |r| match r.dependency.as_deref() {
        Some(text) if !text.is_empty() => Seen::List(text, &[',', '?']),
        _ => Seen::No,
    }),
    sbatch("error", Topic::Habit, Kind::Text, |r| text(&r.std_err)),
    seen("exclude", Topic::Partition, Kind::Text, |r| list(&r.exc_nodes)),
    seen("exclusive", Topic::Cpu, Kind::Text, exclusive),
    sbatch("export", Topic::Habit, Kind::Text, |r| list(&r.export)),
    seen("gpus", Topic::Gpu, Kind::Text, |r| resources(&r.tres_per_job, Which::Gpus)),
    seen("gpus-per-node", Topic::Gpu, Kind::Text, |r| resources(&r.tres_per_node, Which::Gpus)),
    seen("gpus-per-socket", Topic::Gpu, Kind::Text, |r| resources(&r.tres_per_socket, Which::Gpus)),
    seen("gpus-per-task", Topic::Gpu, Kind::Text, |r| resources(&r.tres_per_task, Which::Gpus)),
    seen("gres", Topic::Gpu, Kind::Text, |r| resources(&r.tres_per_node, Which::All)),
    seen("hold", Topic::Habit, Kind::Flag, |r| flag(r.priority == Some(0))),
    sbatch("input", Topic::Habit, Kind::Text, |r| match r.std_in.as_deref() {
        Some("/dev/null") => Seen::No,
        _ => text(&r.std_in),
    }),
    seen("job-name", Topic::Habit, Kind::Text, |r| text(&r.name)),
    seen("justify", Topic::Habit, Kind::Text, |r| text(&r.justify)),
    seen("licenses", Topic::Partition, Kind::Text, |r| list(&r.licenses)),
    seen("lineage", Topic::Habit, Kind::Text, |r| list(&r.lineage)),
    seen("mail-user", Topic::Habit, Kind::Text, |r| list(&r.mail_user)),
    seen("mem", Topic::Memory, Kind::Memory, |r| match r.memory {
        // --mem-per-cpu=0 is the same to slurmctld, and a site that forbids one means both.
        Memory::WholeNode | Memory::PerCpu(0) => Seen::Memory(0),
        Memory::PerNode(mb) => Seen::Memory(mb),
        Memory::PerCpu(_) | Memory::Unset => Seen::No,
    }),
    seen("mem-per-cpu", Topic::Memory, Kind::Memory, |r| match r.memory {
        Memory::PerCpu(mb) => Seen::Memory(mb),
        _ => Seen::No,
    }),
    seen("mem-per-gpu", Topic::Memory, Kind::Memory, |r| {
        r.mem_per_tres.gpu_count().map_or(Seen::No, Seen::Memory)
    }),
    seen("mincpus", Topic::Cpu, Kind::Number, mincpus),
    seen("nice", Topic::Habit, Kind::Text, |r| r.nice.map_or(Seen::No, |n| Seen::Text(n.to_string().into()))),
    sbatch("no-requeue", Topic::Habit, Kind::Flag, |r| flag(r.requeue == Some(false))),
    seen("nodelist", Topic::Partition, Kind::Text, |r| list(&r.req_nodes)),
    seen("nodes", Topic::Cpu, Kind::Text, nodes),
    seen("ntasks", Topic::Cpu, Kind::Number, |r| number(r.num_tasks)),
    seen("ntasks-per-core", Topic::Cpu, Kind::Number, |r| number(r.ntasks_per_core)),
    seen("ntasks-per-gpu", Topic::Cpu, Kind::Number, |r| number(r.ntasks_per_gpu)),
    seen("ntasks-per-node", Topic::Cpu, Kind::Number, |r| number(r.ntasks_per_node)),
    seen("ntasks-per-socket", Topic::Cpu, Kind::Number, |r| number(r.ntasks_per_socket)),
    sbatch("output", Topic::Habit, Kind::Text, |r| text(&r.std_out)),
    seen("overcommit", Topic::Cpu, Kind::Flag, |r| flag(r.overcommit)),
    seen("oversubscribe", Topic::Cpu, Kind::Flag, |r| flag(r.shared == Sharing::Oversubscribe)),
    seen("partition", Topic::Partition, Kind::Text, |r| list(&r.partition)),
    seen("prefer", Topic::Partition, Kind::Text, |r| match r.prefer.as_deref() {
        Some(text) if !text.is_empty() => Seen::List(text, &['&', '|', ',', '(', ')', '[', ']', '*']),
        _ => Seen::No,
    }),
    seen("priority", Topic::Habit, Kind::Number, |r| number(r.priority.filter(|p| *p > 0))),
    seen("qos", Topic::Entitlement, Kind::Folded, |r| list(&r.qos)),
    sbatch("requeue", Topic::Habit, Kind::Flag, |r| flag(r.requeue == Some(true))),
    seen("reservation", Topic::Partition, Kind::Text, |r| list(&r.reservation)),
    seen("signal", Topic::Habit, Kind::Text, signal),
    seen("sockets-per-node", Topic::Cpu, Kind::Number, |r| number(r.sockets_per_node)),
    seen("thread-spec", Topic::Cpu, Kind::Number, |r| number(r.core_spec)),
    seen("threads-per-core", Topic::Cpu, Kind::Number, |r| number(r.threads_per_core)),
    seen("time", Topic::Time, Kind::Time, |r| time(r.time_limit)),
    seen("time-min", Topic::Time, Kind::Time, |r| time(r.time_min)),
    seen("tmp", Topic::Memory, Kind::Memory, |r| {
        r.pn_min_tmp_disk.map_or(Seen::No, |mb| Seen::Memory(u64::from(mb)))
    }),
    seen("tres-per-task", Topic::Cpu, Kind::Text, |r| resources(&r.tres_per_task, Which::All)),
    seen("wckey", Topic::Entitlement, Kind::Folded, |r| text(&r.wckey)),
    sbatch("wrap", Topic::Habit, Kind::Flag, |r| flag(r.is_wrapped())),
    seen("x11", Topic::Habit, Kind::Flag, |r| flag(r.x11)),
];

/// Options whose field is filled in whatever the user typed: only their value can be tested.
static ALWAYS: &[&str] = &["chdir", "job-name"];

const CLIENT: &str = "the client acts on it and sends nothing to slurmctld";
const FOLDED: &str = "the client turns it into other options before slurmctld sees the job";
const STEP: &str = "it belongs to srun's steps, which slurmctld does not see";
const UNREAD: &str = "Sluice does not read it from the job description";

/// Options that exist and cannot be tested, with the reason.
static UNSEEN: &[(&str, &str)] = &[
    ("acctg-freq", UNREAD),
    ("admin-comment", "only operators may set it, and Sluice writes it itself"),
    ("batch", UNREAD),
    ("bb", FOLDED),
    ("bbf", FOLDED),
    ("bcast", STEP),
    ("begin", UNREAD),
    ("cluster-constraint", UNREAD),
    ("clusters", "the client chooses the cluster before it sends the job"),
    ("container-id", UNREAD),
    ("contiguous", UNREAD),
    ("cpu-bind", STEP),
    ("cpu-freq", UNREAD),
    ("deadline", UNREAD),
    ("delay-boot", UNREAD),
    ("distribution", UNREAD),
    ("epilog", STEP),
    ("exact", STEP),
    ("export-file", FOLDED),
    ("extra", UNREAD),
    ("extra-node-info", "it arrives as `sockets-per-node`, `cores-per-socket` and `threads-per-core`"),
    ("get-user-env", FOLDED),
    ("gid", "it arrives as the group of the job"),
    ("gpu-bind", STEP),
    ("gpu-freq", UNREAD),
    ("gres-flags", UNREAD),
    ("help", CLIENT),
    ("hint", FOLDED),
    ("ignore-pbs", CLIENT),
    ("immediate", "slurmctld is told of it in one of its forms only"),
    ("kill-on-bad-exit", STEP),
    ("kill-on-invalid-dep", UNREAD),
    ("label", STEP),
    ("mail-type", UNREAD),
    ("mcs-label", UNREAD),
    ("mem-bind", STEP),
    ("mpi", STEP),
    ("multi-prog", STEP),
    ("network", UNREAD),
    ("no-kill", UNREAD),
    ("nodefile", "it arrives as `nodelist`"),
    ("oom-kill-step", UNREAD),
    ("open-mode", UNREAD),
    ("overlap", STEP),
    ("parsable", CLIENT),
    ("power", UNREAD),
    ("profile", UNREAD),
    ("prolog", STEP),
    ("propagate", FOLDED),
    ("pty", STEP),
    ("quiet", CLIENT),
    ("reboot", UNREAD),
    ("resv-ports", UNREAD),
    ("segment", UNREAD),
    ("spread-job", UNREAD),
    ("stepmgr", UNREAD),
    ("switches", UNREAD),
    ("task-epilog", STEP),
    ("task-prolog", STEP),
    ("test-only", "a trial is judged like the job itself"),
    ("tres-bind", STEP),
    ("uid", "it arrives as the user of the job"),
    ("umask", UNREAD),
    ("unbuffered", STEP),
    ("usage", CLIENT),
    ("use-min-nodes", UNREAD),
    ("verbose", CLIENT),
    ("version", CLIENT),
    ("wait", CLIENT),
    ("wait-all-nodes", UNREAD),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{ArraySpec, WarnSignal};

    fn test(text: &str) -> OptionTest {
        OptionTest::new(text).unwrap()
    }

    #[test]
    fn the_tables_are_sorted_and_share_no_name() {
        assert!(SEEN.is_sorted_by_key(|o| o.name) && UNSEEN.is_sorted());
        assert!(SEEN.iter().all(|o| !UNSEEN.iter().any(|(n, _)| *n == o.name)));
        assert!(ALWAYS.iter().all(|a| SEEN.iter().any(|o| o.name == *a)));
    }

    #[test]
    fn a_request_that_says_nothing_states_no_option() {
        let request = Request { num_tasks: None, min_cpus: Some(1), ..Request::default() };
        for option in SEEN {
            assert_eq!((option.see)(&request), Seen::No, "{}", option.name);
        }
    }

    #[test]
    fn values_are_compared_in_their_own_unit() {
        let request = Request {
            memory: Memory::PerNode(4096),
            time_limit: TimeLimit::Minutes(60),
            min_nodes: Some(1),
            max_nodes: Some(4),
            cpus_per_task: Some(8),
            mem_per_tres: Tres::new("gres/gpu:16384"),
            ..Request::default()
        };
        for text in [
            "mem",
            "mem=4G",
            "mem=4096",
            "mem=*G",
            "time=1:00:00",
            "time=60",
            "nodes=1-4",
            "nodes",
            "cpus-per-task=8",
            "cpus-per-task=?",
            "mem-per-gpu=16G",
        ] {
            assert!(test(text).matches(&request), "{text}");
        }
        for text in
            ["mem=0", "mem=4M", "time=UNLIMITED", "nodes=4", "cpus-per-task=80", "mem-per-cpu", "mincpus"]
        {
            assert!(!test(text).matches(&request), "{text}");
        }
        assert!(test("mem=0").matches(&Request { memory: Memory::WholeNode, ..Request::default() }));
    }

    #[test]
    fn gpus_are_named_by_type_and_count() {
        let request =
            Request { tres_per_node: Tres::new("gres/gpu:a100:2,gres/nvme:4"), ..Request::default() };
        for text in [
            "gres",
            "gpus-per-node",
            "gres=gpu:a100:2",
            "gres=gpu:*",
            "gres=gpu",
            "gres=gpu:2",
            "gres=nvme*",
            "gpus-per-node=a100",
            "gpus-per-node=a100:2",
            "gpus-per-node=2",
        ] {
            assert!(test(text).matches(&request), "{text}");
        }
        for text in ["gpus", "gres=shard*", "gpus-per-node=nvme", "gpus-per-node=h100*", "gres=gpu:4"] {
            assert!(!test(text).matches(&request), "{text}");
        }
        let nvme = Request { tres_per_node: Tres::new("nvme:4"), ..Request::default() };
        assert!(test("gres").matches(&nvme) && !test("gpus-per-node").matches(&nvme));
        assert_eq!(test("gres").option().shown(&request).as_deref(), Some("--gres=gpu:a100:2,nvme:4"));
    }

    #[test]
    fn a_list_matches_as_a_whole_or_by_an_element() {
        let request = Request {
            features: Some("ib&(a100|h100)".into()),
            partition: Some("gpu,debug".into()),
            ..Request::default()
        };
        for text in
            ["constraint=ib", "constraint=*h100*", "constraint=h100", "partition=debug", "partition=gpu,*"]
        {
            assert!(test(text).matches(&request), "{text}");
        }
        for text in ["constraint=i", "partition=deb", "partition=cpu", "partition=Debug"] {
            assert!(!test(text).matches(&request), "{text}");
        }
    }

    #[test]
    fn accounts_and_qos_are_compared_without_regard_to_case() {
        let request =
            Request { account: Some("Physics".into()), qos: Some("high,LOW".into()), ..Request::default() };
        for text in ["account=physics", "account=PHYS*", "qos=low", "qos=HIGH"] {
            assert!(test(text).matches(&request), "{text}");
        }
    }

    #[test]
    fn variants_and_flags() {
        let user = Request { shared: Sharing::User, requeue: Some(false), ..Request::default() };
        assert!(test("exclusive").matches(&user) && test("exclusive=user").matches(&user));
        assert!(!test("exclusive=mcs").matches(&user) && !test("requeue").matches(&user));
        assert!(test("no-requeue").matches(&user));
        let signal = WarnSignal { signal: 10, time: 120, batch_only: true };
        let request =
            Request { signal: Some(signal), array: Some(ArraySpec::new("0-9%2")), ..Request::default() };
        assert!(test("signal=B:10@120").matches(&request) && test("array=*%*").matches(&request));
    }

    #[test]
    fn what_cannot_be_judged_says_why() {
        for (text, message, help) in [
            (
                "parsable",
                "`parsable` cannot be judged: the client acts on it and sends nothing to slurmctld",
                None,
            ),
            ("--mem", "unknown option `--mem`", Some("did you mean `mem`?")),
            ("gpu-per-node", "unknown option `gpu-per-node`", Some("did you mean `gpus-per-node`?")),
            (
                "zzzzzz",
                "unknown option `zzzzzz`",
                Some("options are named as in `sbatch --help`, by long name without dashes"),
            ),
            (
                "job-name",
                "`job-name` cannot be judged: every job arrives with one",
                Some("a value can be tested: `job-name=...`"),
            ),
            ("wrap=x", "`wrap` takes no value", Some("write `wrap`")),
            ("mem=lots", "`mem=lots`: the value is no memory size", None),
            ("time=1h", "`time=1h`: the value is no time", None),
            ("ntasks=x", "`ntasks=x`: the value is no number", None),
            ("qos=", "`qos=`: the value is empty", None),
            ("qos=[a", "`qos=[a`: `[` without its `]`", None),
            (
                "hint",
                "`hint` cannot be judged: the client turns it into other options before slurmctld sees the job",
                None,
            ),
        ] {
            let error = OptionTest::new(text).unwrap_err();
            assert_eq!((error.message.as_str(), error.help.as_deref()), (message, help), "{text}");
        }
    }
}
