//! The options of sbatch, srun and salloc: one table, a line each.
//!
//! Read from `src/common/slurm_opt.c` and the man pages of 22.05, 24.11 and 26.05. The order is
//! slurm_opt.c's own, which decides in what order getopt names the candidates of an ambiguous
//! abbreviation.

use super::{Command, Series, binding, moment, value};
use Arity::{No, Optional, Required};
use Series::{V22_05, V24_11, V26_05};
use Value::{Check, Count, Flag, Memory, Positive, Text};

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Never.
    No,
    /// Always: `--opt=value`, `--opt value`, `-ovalue`, `-o value`.
    Required,
    /// Only attached: `--opt=value`, `-ovalue`.
    Optional,
}

/// What a value must be for the client to take it.
#[derive(Clone, Copy)]
pub enum Value {
    /// There is none.
    Flag,
    /// Anything.
    Text,
    /// A whole number above zero.
    Positive,
    /// A whole number.
    Count,
    /// Memory, MB where no unit stands.
    Memory,
    /// What this accepts; the error is what the client says. `None` is a value that was left out
    /// where it may be.
    Check(fn(Option<&str>) -> Result<(), String>),
}

/// One option.
#[derive(Clone, Copy)]
pub struct Opt {
    /// Long name, without dashes.
    pub name: &'static str,
    /// One-letter name.
    pub short: Option<char>,
    /// Whether it takes a value.
    pub arity: Arity,
    /// What the value must be.
    pub value: Value,
    /// The name under which it is kept: two spellings of one option share it.
    pub key: &'static str,
    /// Forgotten between the components of a heterogeneous job; the others are inherited.
    pub each_component: bool,
    /// sbatch reads it on the command line only: in a script it is passed over.
    pub early: bool,
    /// Not an option at all, set by environment variables only.
    pub environment_only: bool,
    commands: u8,
    since: Series,
    until: Series,
}

const SBATCH: u8 = 1;
const SRUN: u8 = 2;
const SALLOC: u8 = 4;
const BATCH_AND_RUN: u8 = SBATCH | SRUN;
const BATCH_AND_ALLOC: u8 = SBATCH | SALLOC;
const INTERACTIVE: u8 = SRUN | SALLOC;
const ALL: u8 = SBATCH | SRUN | SALLOC;
/// No one-letter name.
const NUL: char = '\0';

const fn row(name: &'static str, short: char, arity: Arity, commands: u8, value: Value) -> Opt {
    Opt {
        name,
        short: if short == NUL { None } else { Some(short) },
        arity,
        value,
        key: name,
        each_component: false,
        early: false,
        environment_only: false,
        commands,
        since: V22_05,
        until: V26_05,
    }
}

impl Opt {
    const fn key(self, key: &'static str) -> Opt {
        Opt { key, ..self }
    }
    const fn each_component(self) -> Opt {
        Opt { each_component: true, ..self }
    }
    const fn early(self) -> Opt {
        Opt { early: true, ..self }
    }
    const fn environment_only(self) -> Opt {
        Opt { environment_only: true, ..self }
    }
    const fn since(self, since: Series) -> Opt {
        Opt { since, ..self }
    }
    const fn until(self, until: Series) -> Opt {
        Opt { until, ..self }
    }

    /// Whether `command` has it in `series`.
    pub fn is_of(&self, command: Command, series: Series) -> bool {
        let bit = match command {
            Command::Sbatch => SBATCH,
            Command::Srun => SRUN,
            Command::Salloc => SALLOC,
        };
        self.commands & bit != 0 && (self.since..=self.until).contains(&series)
    }

    /// The series that have it, the first and the last.
    pub fn series(&self) -> (Series, Series) {
        (self.since, self.until)
    }
}

impl std::fmt::Debug for Opt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "--{}", self.name)
    }
}

/// Sluice's own options, which its SPANK side adds to every command: behind Slurm's own.
static PLUGIN: &[Opt] = &[
    row("justify", NUL, Required, ALL, Text),
    row("lineage", NUL, Required, ALL, Text),
    row("run-card", NUL, Optional, ALL, Text),
    row("compile", NUL, Required, ALL, Text),
];

/// An option of another SPANK plugin, known by name only.
pub const fn plugin(name: &'static str, arity: Arity) -> Opt {
    let value = match arity {
        No => Flag,
        Required | Optional => Text,
    };
    row(name, NUL, arity, ALL, value)
}

/// The options that `command` has in `series`.
pub fn of(command: Command, series: Series) -> impl Iterator<Item = &'static Opt> {
    TABLE.iter().chain(PLUGIN).filter(move |o| o.is_of(command, series) && !o.environment_only)
}

/// The option of this name for `command` in `series`, also where only the environment sets it.
pub fn find(name: &str, command: Command, series: Series) -> Option<&'static Opt> {
    TABLE.iter().find(|o| o.name == name && o.is_of(command, series))
}

/// The names of all options of all commands, for "did you mean".
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().chain(PLUGIN).filter(|o| !o.environment_only).map(|o| o.name)
}

#[rustfmt::skip]
static TABLE: &[Opt] = &[
    row("accel-bind", NUL, Required, SRUN, Check(value::accel_bind)).each_component(),
    row("account", 'A', Required, ALL, Text),
    row("acctg-freq", NUL, Required, ALL, Check(binding::acctg_freq)),
    row("alloc-nodelist", NUL, Required, ALL, Text).each_component().environment_only(),
    row("array", 'a', Required, SBATCH, Text),
    row("async", NUL, No, SRUN, Flag).since(V26_05),
    row("autocomplete", NUL, Required, ALL, Text).since(V24_11),
    row("batch", NUL, Required, SBATCH, Text),
    row("bcast", NUL, Optional, SRUN, Text).each_component(),
    row("bcast-exclude", NUL, Required, SRUN, Text).each_component(),
    row("begin", 'b', Required, ALL, Check(moment::begin)),
    row("bell", NUL, No, SALLOC, Flag),
    row("bb", NUL, Required, ALL, Text).each_component(),
    row("bbf", NUL, Required, ALL, Text),
    row("cluster-constraint", NUL, Required, ALL, Text),
    row("chdir", 'D', Required, ALL, Text),
    row("cluster", NUL, Required, ALL, Text),
    row("clusters", 'M', Required, ALL, Text),
    row("comment", NUL, Required, ALL, Text),
    row("compress", NUL, Optional, SRUN, Text).each_component(),
    row("consolidate-segments", NUL, No, ALL, Flag).each_component().since(V26_05),
    row("container", NUL, Required, ALL, Text),
    row("container-id", NUL, Required, ALL, Text).since(V24_11),
    row("container-type", NUL, Required, ALL, Text).since(V26_05),
    row("context", NUL, Required, ALL, Text),
    row("contiguous", NUL, No, ALL, Flag).each_component(),
    row("constraint", 'C', Required, ALL, Text).each_component(),
    row("core-spec", 'S', Required, ALL, Count).each_component(),
    row("cores-per-socket", NUL, Required, ALL, Positive).each_component(),
    row("cpu-bind", NUL, Required, SRUN, Check(binding::cpu_bind)).each_component(),
    row("cpu_bind", NUL, Required, SRUN, Check(binding::cpu_bind)).key("cpu-bind").each_component(),
    row("cpu-freq", NUL, Required, ALL, Check(binding::cpu_freq_22_05)).each_component().until(V22_05),
    row("cpu-freq", NUL, Required, ALL, Check(binding::cpu_freq)).each_component().since(V24_11),
    row("cpus-per-gpu", NUL, Required, ALL, Positive).each_component(),
    row("cpus-per-task", 'c', Required, ALL, Positive).each_component(),
    row("deadline", NUL, Required, ALL, Check(moment::deadline)),
    row("debugger-test", NUL, No, SRUN, Flag),
    row("delay-boot", NUL, Required, ALL, Check(value::delay_boot)),
    row("dependency", 'd', Required, ALL, Text),
    row("disable-status", 'X', No, SRUN, Flag),
    row("distribution", 'm', Required, ALL, Check(value::distribution)).each_component(),
    row("epilog", NUL, Required, SRUN, Text),
    row("error", 'e', Required, BATCH_AND_RUN, Text),
    row("exact", NUL, No, SRUN, Flag),
    row("exclude", 'x', Required, ALL, Text),
    row("exclusive", NUL, Optional, ALL, Check(value::exclusive_22_05)).each_component().until(V22_05),
    row("exclusive", NUL, Optional, ALL, Check(value::exclusive_24_11)).each_component().since(V24_11).until(V24_11),
    row("exclusive", NUL, Optional, ALL, Check(value::exclusive)).each_component().since(V26_05),
    row("export", NUL, Required, BATCH_AND_RUN, Text),
    row("export-file", NUL, Required, SBATCH, Text),
    row("external", NUL, No, SBATCH, Flag).each_component().since(V26_05),
    row("external-launcher", NUL, Optional, SRUN, Text).since(V24_11),
    row("extra", NUL, Required, ALL, Text).since(V24_11),
    row("extra-node-info", 'B', Required, ALL, Check(value::extra_node_info)).each_component(),
    row("get-user-env", NUL, Optional, BATCH_AND_ALLOC, Check(value::get_user_env)).until(V22_05),
    row("get-user-env", NUL, Optional, SBATCH, Check(value::get_user_env)).since(V24_11).until(V24_11),
    row("get-user-env", NUL, No, SBATCH, Flag).since(V26_05),
    row("gid", NUL, Required, ALL, Text).until(V22_05),
    row("gid", NUL, Required, SBATCH, Text).since(V24_11),
    row("gpu-bind", NUL, Required, ALL, Check(binding::gpu_bind_22_05)).each_component().until(V22_05),
    row("gpu-bind", NUL, Required, ALL, Check(binding::gpu_bind)).each_component().since(V24_11),
    row("gpu-freq", NUL, Required, ALL, Check(binding::gpu_freq)).each_component(),
    row("gpus", 'G', Required, ALL, Text).each_component(),
    row("gpus-per-node", NUL, Required, ALL, Text).each_component(),
    row("gpus-per-socket", NUL, Required, ALL, Text).each_component(),
    row("gpus-per-task", NUL, Required, ALL, Text).each_component(),
    row("gres", NUL, Required, ALL, Text).each_component(),
    row("gres-flags", NUL, Required, ALL, Check(value::gres_flags_22_05)).each_component().until(V22_05),
    row("gres-flags", NUL, Required, ALL, Check(value::gres_flags)).each_component().since(V24_11),
    row("help", 'h', No, ALL, Flag).early(),
    row("het-group", NUL, Required, SRUN, Text),
    row("hint", NUL, Required, ALL, Text).each_component(),
    row("hold", 'H', No, ALL, Flag),
    row("ignore-pbs", NUL, No, SBATCH, Flag),
    row("ignore-signals", NUL, Required, SRUN, Text).each_component().since(V26_05),
    row("immediate", 'I', Optional, INTERACTIVE, Check(value::immediate)),
    row("input", 'i', Required, BATCH_AND_RUN, Text),
    row("interactive", NUL, No, SRUN, Flag),
    row("jobid", NUL, Required, SRUN, Text),
    row("job-name", 'J', Required, ALL, Text),
    row("kill-command", 'K', Optional, SALLOC, Check(value::kill_command)),
    row("kill-on-bad-exit", 'K', Optional, SRUN, Check(value::kill_on_bad_exit)),
    row("kill-on-invalid-dep", NUL, Required, SBATCH, Check(value::kill_on_invalid_dep)),
    row("label", 'l', No, SRUN, Flag),
    row("licenses", 'L', Required, ALL, Text).each_component(),
    row("mail-type", NUL, Required, ALL, Check(value::mail_type)).each_component(),
    row("mail-user", NUL, Required, ALL, Text).each_component(),
    row("threads", 'T', Required, SRUN, Positive),
    row("mcs-label", NUL, Required, ALL, Text),
    row("mem", NUL, Required, ALL, Memory),
    row("mem-bind", NUL, Required, ALL, Check(binding::mem_bind)).each_component(),
    row("mem-per-cpu", NUL, Required, ALL, Memory).each_component(),
    row("mem-per-gpu", NUL, Required, ALL, Memory).each_component(),
    row("mem-update", NUL, Required, ALL, Check(value::mem_update)).since(V26_05),
    row("mincpus", NUL, Required, ALL, Positive).each_component(),
    row("mpi", NUL, Required, SRUN, Text),
    row("msg-timeout", NUL, Required, SRUN, Positive),
    row("multi-prog", NUL, No, SRUN, Flag),
    row("network", NUL, Required, ALL, Text).each_component(),
    row("nice", NUL, Optional, ALL, Check(value::nice)),
    row("no-allocate", 'Z', No, SRUN, Flag),
    row("no-bell", NUL, No, SALLOC, Flag),
    row("no-kill", 'k', Optional, ALL, Check(value::no_kill)),
    row("no-shell", NUL, No, SALLOC, Flag),
    row("no-requeue", NUL, No, SBATCH, Flag).key("requeue"),
    row("nodefile", 'F', Required, ALL, Text).key("nodelist").each_component(),
    row("nodelist", 'w', Required, ALL, Text).each_component(),
    row("nodes", 'N', Required, ALL, Check(value::nodes_22_05)).each_component().until(V22_05),
    row("nodes", 'N', Required, ALL, Check(value::nodes_option)).each_component().since(V24_11),
    row("ntasks", 'n', Required, ALL, Positive).each_component(),
    row("ntasks-per-core", NUL, Required, ALL, Positive).each_component(),
    row("ntasks-per-gpu", NUL, Required, ALL, Positive).each_component(),
    row("ntasks-per-node", NUL, Required, ALL, Positive).each_component(),
    row("ntasks-per-socket", NUL, Required, ALL, Positive).each_component(),
    row("ntasks-per-tres", NUL, Required, ALL, Positive).each_component(),
    row("oom-kill-step", NUL, Optional, ALL, Check(value::oom_kill_step)).since(V24_11),
    row("open-mode", NUL, Required, BATCH_AND_RUN, Check(value::open_mode)),
    row("output", 'o', Required, BATCH_AND_RUN, Text),
    row("overcommit", 'O', No, ALL, Flag).each_component(),
    row("overlap", NUL, Optional, SRUN, Text),
    row("oversubscribe", 's', No, ALL, Flag).each_component(),
    row("pack-group", NUL, Required, SRUN, Text).key("het-group"),
    row("parsable", NUL, No, SBATCH, Flag).until(V24_11),
    row("parsable", NUL, No, BATCH_AND_RUN, Flag).since(V26_05),
    row("partition", 'p', Required, ALL, Text).each_component(),
    row("power", NUL, Required, ALL, Text).each_component().until(V22_05),
    row("prefer", NUL, Required, ALL, Text),
    row("preserve-env", 'E', No, SRUN, Flag),
    row("priority", NUL, Required, ALL, Check(value::priority)),
    row("profile", NUL, Required, ALL, Check(value::profile)),
    row("prolog", NUL, Required, SRUN, Text),
    row("propagate", NUL, Optional, BATCH_AND_RUN, Check(binding::propagate)),
    row("pty", NUL, No, SRUN, Flag).until(V22_05),
    row("pty", NUL, Optional, SRUN, Text).since(V24_11),
    row("qos", 'q', Required, ALL, Text),
    row("quiet", 'Q', No, ALL, Flag).early(),
    row("quit-on-interrupt", NUL, No, SRUN, Flag),
    row("reboot", NUL, No, ALL, Flag),
    row("relative", 'r', Required, SRUN, Count).each_component(),
    row("requeue", NUL, No, SBATCH, Flag).until(V24_11),
    row("requeue", NUL, Optional, SBATCH, Check(value::requeue)).since(V26_05),
    row("resources", NUL, Required, ALL, Text).each_component().since(V26_05),
    row("reservation", NUL, Required, ALL, Text),
    row("resv-ports", NUL, Optional, SRUN, Check(value::resv_ports)).each_component().until(V22_05),
    row("resv-ports", NUL, Optional, ALL, Check(value::resv_ports)).each_component().since(V24_11),
    row("segment", NUL, Required, ALL, Check(value::segment)).each_component().since(V24_11),
    row("send-libs", NUL, Optional, SRUN, Text).each_component(),
    row("signal", NUL, Required, SBATCH, Check(value::signal)).until(V24_11),
    row("signal", NUL, Required, INTERACTIVE, Check(value::signal_of_all)).until(V24_11),
    row("signal", NUL, Required, ALL, Check(value::signal)).since(V26_05),
    row("slurmd-debug", NUL, Required, SRUN, Text),
    row("sockets-per-node", NUL, Required, ALL, Positive).each_component(),
    row("spread-job", NUL, No, ALL, Flag).each_component(),
    row("spread-segments", NUL, No, ALL, Flag).each_component().since(V26_05),
    row("stepmgr", NUL, No, ALL, Flag).since(V24_11),
    row("switches-count", NUL, Required, ALL, Check(value::switches)).each_component().environment_only(),
    row("switches-wait", NUL, Required, ALL, Text).each_component().environment_only(),
    row("switches", NUL, Required, ALL, Check(value::switches)).each_component(),
    row("task-epilog", NUL, Required, SRUN, Text),
    row("task-prolog", NUL, Required, SRUN, Text),
    row("tasks-per-node", NUL, Required, ALL, Text).key("ntasks-per-node").each_component(),
    row("test-only", NUL, No, BATCH_AND_RUN, Flag),
    row("thread-spec", NUL, Required, ALL, Positive).each_component(),
    row("threads-per-core", NUL, Required, ALL, Positive).each_component(),
    row("time", 't', Required, ALL, Check(value::time)),
    row("time-min", NUL, Required, ALL, Check(value::time_min)),
    row("tmp", NUL, Required, ALL, Memory).each_component(),
    row("treewidth", NUL, Required, SRUN, Check(value::treewidth)).since(V24_11),
    row("tres-bind", NUL, Required, ALL, Text).each_component().since(V24_11),
    row("tres-per-task", NUL, Required, ALL, Text).each_component().since(V24_11),
    row("uid", NUL, Required, ALL, Text).until(V22_05),
    row("uid", NUL, Required, SBATCH, Text).since(V24_11),
    row("unbuffered", 'u', No, SRUN, Flag),
    row("use-min-nodes", NUL, No, ALL, Flag).each_component(),
    row("verbose", 'v', No, ALL, Flag).early(),
    row("version", 'V', No, ALL, Flag).early(),
    row("usage", NUL, No, ALL, Flag).early(),
    row("wait", 'W', No, SBATCH, Flag),
    row("wait-all-nodes", NUL, Required, BATCH_AND_ALLOC, Check(value::wait_all_nodes)),
    row("wait", 'W', Required, SRUN, Count),
    row("wait-for-children", NUL, No, SRUN, Flag).since(V26_05),
    row("wckey", NUL, Required, ALL, Text),
    row("whole", NUL, No, SRUN, Flag),
    row("wrap", NUL, Required, SBATCH, Text).early(),
    row("x11", NUL, Optional, INTERACTIVE, Text),
];

#[cfg(test)]
mod tests {
    use super::*;

    const COMMANDS: [Command; 3] = [Command::Sbatch, Command::Srun, Command::Salloc];
    const SERIES: [Series; 3] = [V22_05, V24_11, V26_05];

    #[test]
    fn no_two_options_of_a_command_share_a_name() {
        for command in COMMANDS {
            for series in SERIES {
                let mut names = std::collections::HashSet::new();
                let mut letters = std::collections::HashSet::new();
                for opt in of(command, series) {
                    assert!(names.insert(opt.name), "{command} {series} --{}", opt.name);
                    assert!(
                        opt.short.is_none_or(|c| letters.insert(c)),
                        "{command} {series} {:?}",
                        opt.short
                    );
                }
            }
        }
    }

    #[test]
    fn options_come_and_go_with_the_series() {
        let has = |name, command, series| find(name, command, series).is_some();
        assert!(has("power", Command::Sbatch, V22_05) && !has("power", Command::Sbatch, V24_11));
        assert!(!has("segment", Command::Sbatch, V22_05) && has("segment", Command::Sbatch, V24_11));
        assert!(!has("resources", Command::Sbatch, V24_11) && has("resources", Command::Sbatch, V26_05));
        assert!(has("array", Command::Sbatch, V22_05) && !has("array", Command::Srun, V22_05));
        assert!(!has("output", Command::Salloc, V26_05) && has("output", Command::Srun, V26_05));
        assert_eq!(find("wait", Command::Sbatch, V22_05).unwrap().arity, No);
        assert_eq!(find("wait", Command::Srun, V22_05).unwrap().arity, Required);
        assert_eq!(find("requeue", Command::Sbatch, V24_11).unwrap().arity, No);
        assert_eq!(find("requeue", Command::Sbatch, V26_05).unwrap().arity, Optional);
    }

    #[test]
    fn flags_and_only_flags_take_no_value() {
        for opt in TABLE {
            assert_eq!(opt.arity == No, matches!(opt.value, Flag), "--{}", opt.name);
        }
    }
}
