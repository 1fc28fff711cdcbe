//! The environment variables that sbatch, srun and salloc read as options.
//!
//! Read from `env_vars` of each command's `opt.c` (22.05, 24.11, 26.05). They are read in this
//! order, so of two that set the same option the later one counts.

use super::{Command, Series};
use Series::{V22_05, V24_11, V26_05};

/// A variable and the option it stands for.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Name of the variable.
    pub name: &'static str,
    /// Long name of the option.
    pub option: &'static str,
    since: Series,
    until: Series,
}

const fn variable(name: &'static str, option: &'static str) -> Variable {
    Variable { name, option, since: V22_05, until: V26_05 }
}

impl Variable {
    const fn since(self, since: Series) -> Variable {
        Variable { since, ..self }
    }
    const fn until(self, until: Series) -> Variable {
        Variable { until, ..self }
    }
}

/// The variables that `command` reads in `series`, in its own order.
pub fn of(command: Command, series: Series) -> impl Iterator<Item = &'static Variable> {
    let table = match command {
        Command::Sbatch => SBATCH,
        Command::Srun => SRUN,
        Command::Salloc => SALLOC,
    };
    table.iter().filter(move |v| (v.since..=v.until).contains(&series))
}

#[rustfmt::skip]
static SBATCH: &[Variable] = &[
    variable("SBATCH_IGNORE_PBS", "ignore-pbs"),
    variable("SBATCH_ACCOUNT", "account"),
    variable("SBATCH_ARRAY_INX", "array"),
    variable("SBATCH_ACCTG_FREQ", "acctg-freq"),
    variable("SBATCH_BATCH", "batch"),
    variable("SBATCH_BURST_BUFFER", "bb"),
    variable("SBATCH_CLUSTER_CONSTRAINT", "cluster-constraint"),
    variable("SBATCH_CLUSTERS", "clusters"),
    variable("SLURM_CLUSTERS", "clusters"),
    variable("SBATCH_CONSOLIDATE_SEGMENTS", "consolidate-segments").since(V26_05),
    variable("SBATCH_CONTAINER", "container"),
    variable("SBATCH_CONTAINER_ID", "container-id").since(V24_11),
    variable("SBATCH_CONTAINER_TYPE", "container-type").since(V26_05),
    variable("SBATCH_CONSTRAINT", "constraint"),
    variable("SBATCH_CORE_SPEC", "core-spec"),
    variable("SBATCH_CPU_FREQ_REQ", "cpu-freq"),
    variable("SBATCH_CPUS_PER_GPU", "cpus-per-gpu"),
    variable("SBATCH_DEBUG", "verbose"),
    variable("SBATCH_DELAY_BOOT", "delay-boot"),
    variable("SBATCH_DISTRIBUTION", "distribution"),
    variable("SBATCH_EXCLUSIVE", "exclusive"),
    variable("SBATCH_EXPORT", "export"),
    variable("SBATCH_GET_USER_ENV", "get-user-env"),
    variable("SBATCH_GRES", "gres"),
    variable("SBATCH_GRES_FLAGS", "gres-flags"),
    variable("SBATCH_GPUS", "gpus"),
    variable("SBATCH_GPU_BIND", "gpu-bind"),
    variable("SBATCH_GPU_FREQ", "gpu-freq"),
    variable("SBATCH_GPUS_PER_NODE", "gpus-per-node"),
    variable("SBATCH_GPUS_PER_SOCKET", "gpus-per-socket"),
    variable("SBATCH_GPUS_PER_TASK", "gpus-per-task"),
    variable("SLURM_HINT", "hint"),
    variable("SBATCH_HINT", "hint"),
    variable("SBATCH_JOB_NAME", "job-name"),
    variable("SBATCH_MEM_BIND", "mem-bind"),
    variable("SBATCH_MEM_PER_CPU", "mem-per-cpu"),
    variable("SBATCH_MEM_PER_GPU", "mem-per-gpu"),
    variable("SBATCH_MEM_PER_NODE", "mem"),
    variable("SBATCH_NETWORK", "network"),
    variable("SBATCH_NO_KILL", "no-kill"),
    variable("SBATCH_NO_REQUEUE", "no-requeue"),
    variable("SBATCH_OPEN_MODE", "open-mode"),
    variable("SBATCH_OVERCOMMIT", "overcommit"),
    variable("SBATCH_PARTITION", "partition"),
    variable("SBATCH_POWER", "power").until(V22_05),
    variable("SBATCH_PROFILE", "profile"),
    variable("SBATCH_QOS", "qos"),
    variable("SBATCH_REQ_SWITCH", "switches-count"),
    variable("SBATCH_REQUEUE", "requeue"),
    variable("SBATCH_RESERVATION", "reservation"),
    variable("SBATCH_SEGMENT_SIZE", "segment").since(V26_05),
    variable("SBATCH_SIGNAL", "signal"),
    variable("SBATCH_SPREAD_JOB", "spread-job"),
    variable("SBATCH_SPREAD_SEGMENTS", "spread-segments").since(V26_05),
    variable("SBATCH_THREAD_SPEC", "thread-spec"),
    variable("SBATCH_THREADS_PER_CORE", "threads-per-core"),
    variable("SBATCH_TIMELIMIT", "time"),
    variable("SBATCH_TRES_BIND", "tres-bind").since(V24_11),
    variable("SBATCH_TRES_PER_TASK", "tres-per-task").since(V24_11),
    variable("SBATCH_USE_MIN_NODES", "use-min-nodes"),
    variable("SBATCH_WAIT", "wait"),
    variable("SBATCH_WAIT_ALL_NODES", "wait-all-nodes"),
    variable("SBATCH_WAIT4SWITCH", "switches-wait"),
    variable("SBATCH_WCKEY", "wckey"),
    variable("SBATCH_ERROR", "error"),
    variable("SBATCH_INPUT", "input"),
    variable("SBATCH_OUTPUT", "output"),
];

#[rustfmt::skip]
static SRUN: &[Variable] = &[
    variable("SLURM_ACCOUNT", "account"),
    variable("SLURM_ACCTG_FREQ", "acctg-freq"),
    variable("SLURM_BCAST", "bcast"),
    variable("SLURM_BCAST_EXCLUDE", "bcast-exclude"),
    variable("SLURM_BURST_BUFFER", "bb"),
    variable("SLURM_CLUSTERS", "clusters"),
    variable("SLURM_CLUSTER_CONSTRAINT", "cluster-constraint"),
    variable("SLURM_COMPRESS", "compress"),
    variable("SLURM_CONSOLIDATE_SEGMENTS", "consolidate-segments").since(V26_05),
    variable("SLURM_CONSTRAINT", "constraint"),
    variable("SLURM_CORE_SPEC", "core-spec"),
    variable("SLURM_CPUS_PER_TASK", "cpus-per-task").since(V24_11),
    variable("SRUN_CPUS_PER_TASK", "cpus-per-task").until(V22_05),
    variable("SLURM_CPU_BIND", "cpu-bind"),
    variable("SLURM_CPU_FREQ_REQ", "cpu-freq"),
    variable("SLURM_CPUS_PER_GPU", "cpus-per-gpu"),
    variable("SLURM_DELAY_BOOT", "delay-boot"),
    variable("SLURM_DEPENDENCY", "dependency"),
    variable("SLURM_DISABLE_STATUS", "disable-status"),
    variable("SLURM_DISTRIBUTION", "distribution"),
    variable("SLURM_EPILOG", "epilog"),
    variable("SLURM_EXACT", "exact"),
    variable("SLURM_EXCLUSIVE", "exclusive"),
    variable("SLURM_EXPORT_ENV", "export"),
    variable("SRUN_EXPORT_ENV", "export"),
    variable("SLURM_EXTERNAL_LAUNCHER", "external-launcher").since(V24_11),
    variable("SLURM_GPUS", "gpus"),
    variable("SLURM_GPU_BIND", "gpu-bind"),
    variable("SLURM_GPU_FREQ", "gpu-freq"),
    variable("SLURM_GPUS_PER_NODE", "gpus-per-node"),
    variable("SLURM_GPUS_PER_SOCKET", "gpus-per-socket"),
    variable("SLURM_GPUS_PER_TASK", "gpus-per-task"),
    variable("SLURM_GRES", "gres"),
    variable("SLURM_GRES_FLAGS", "gres-flags"),
    variable("SLURM_HINT", "hint"),
    variable("SLURM_JOB_ID", "jobid"),
    variable("SLURM_JOB_NAME", "job-name"),
    variable("SLURM_JOB_NODELIST", "alloc-nodelist"),
    variable("SLURM_JOB_NUM_NODES", "nodes"),
    variable("SLURM_KILL_BAD_EXIT", "kill-on-bad-exit"),
    variable("SLURM_LABELIO", "label"),
    variable("SLURM_MEM_BIND", "mem-bind"),
    variable("SLURM_MEM_PER_CPU", "mem-per-cpu"),
    variable("SLURM_MEM_PER_GPU", "mem-per-gpu"),
    variable("SLURM_MEM_PER_NODE", "mem"),
    variable("SLURM_MPI_TYPE", "mpi"),
    variable("SLURM_NCORES_PER_SOCKET", "cores-per-socket"),
    variable("SLURM_NETWORK", "network"),
    variable("SLURM_NO_KILL", "no-kill"),
    variable("SLURM_NPROCS", "ntasks"),
    variable("SLURM_NTASKS", "ntasks"),
    variable("SLURM_NSOCKETS_PER_NODE", "sockets-per-node"),
    variable("SLURM_NTASKS_PER_CORE", "ntasks-per-core").since(V24_11),
    variable("SLURM_NTASKS_PER_NODE", "ntasks-per-node"),
    variable("SLURM_NTASKS_PER_GPU", "ntasks-per-gpu"),
    variable("SLURM_NTASKS_PER_TRES", "ntasks-per-tres"),
    variable("SLURM_OOM_KILL_STEP", "oom-kill-step").since(V24_11),
    variable("SLURM_OPEN_MODE", "open-mode"),
    variable("SLURM_OVERCOMMIT", "overcommit"),
    variable("SLURM_OVERLAP", "overlap"),
    variable("SLURM_PARTITION", "partition"),
    variable("SLURM_POWER", "power").until(V22_05),
    variable("SLURM_PROFILE", "profile"),
    variable("SLURM_PROLOG", "prolog"),
    variable("SLURM_QOS", "qos"),
    variable("SLURM_REMOTE_CWD", "chdir"),
    variable("SLURM_REQ_SWITCH", "switches-count"),
    variable("SLURM_RESERVATION", "reservation"),
    variable("SLURM_RESV_PORTS", "resv-ports"),
    variable("SLURM_SEND_LIBS", "send-libs"),
    variable("SLURM_SIGNAL", "signal"),
    variable("SLURM_SPREAD_JOB", "spread-job"),
    variable("SLURM_SPREAD_SEGMENTS", "spread-segments").since(V26_05),
    variable("SLURM_SRUN_MULTI", "multi-prog"),
    variable("SLURM_STDERRMODE", "error"),
    variable("SLURM_STDINMODE", "input"),
    variable("SLURM_STDOUTMODE", "output"),
    variable("SLURM_TASK_EPILOG", "task-epilog"),
    variable("SLURM_TASK_PROLOG", "task-prolog"),
    variable("SLURM_THREAD_SPEC", "thread-spec"),
    variable("SLURM_THREADS", "threads"),
    variable("SLURM_THREADS_PER_CORE", "threads-per-core"),
    variable("SLURM_TIMELIMIT", "time"),
    variable("SLURM_TRES_BIND", "tres-bind").since(V24_11),
    variable("SLURM_TRES_PER_TASK", "tres-per-task").since(V24_11),
    variable("SLURM_UNBUFFEREDIO", "unbuffered"),
    variable("SLURM_USE_MIN_NODES", "use-min-nodes"),
    variable("SLURM_WAIT", "wait"),
    variable("SLURM_WAIT4SWITCH", "switches-wait"),
    variable("SLURM_WCKEY", "wckey"),
    variable("SLURM_WORKING_DIR", "chdir"),
    variable("SLURMD_DEBUG", "slurmd-debug"),
    variable("SRUN_CONTAINER", "container"),
    variable("SRUN_CONTAINER_ID", "container-id").since(V24_11),
    variable("SRUN_CONTAINER_TYPE", "container-type").since(V26_05),
    variable("SLURM_DEBUG", "verbose"),
    variable("SRUN_ERROR", "error").since(V24_11),
    variable("SRUN_INPUT", "input").since(V24_11),
    variable("SRUN_OUTPUT", "output").since(V24_11),
    variable("SRUN_SEGMENT_SIZE", "segment").since(V26_05),
];

#[rustfmt::skip]
static SALLOC: &[Variable] = &[
    variable("SALLOC_ACCOUNT", "account"),
    variable("SALLOC_ACCTG_FREQ", "acctg-freq"),
    variable("SALLOC_BELL", "bell"),
    variable("SALLOC_BURST_BUFFER", "bb"),
    variable("SALLOC_CLUSTER_CONSTRAINT", "cluster-constraint"),
    variable("SALLOC_CLUSTERS", "clusters"),
    variable("SLURM_CLUSTERS", "clusters"),
    variable("SALLOC_CONSOLIDATE_SEGMENTS", "consolidate-segments").since(V26_05),
    variable("SALLOC_CONTAINER", "container"),
    variable("SALLOC_CONTAINER_ID", "container-id").since(V24_11),
    variable("SALLOC_CONTAINER_TYPE", "container-type").since(V26_05),
    variable("SALLOC_CONSTRAINT", "constraint"),
    variable("SALLOC_CORE_SPEC", "core-spec"),
    variable("SALLOC_CPU_FREQ_REQ", "cpu-freq"),
    variable("SALLOC_CPUS_PER_GPU", "cpus-per-gpu"),
    variable("SALLOC_DEBUG", "verbose"),
    variable("SALLOC_DELAY_BOOT", "delay-boot"),
    variable("SALLOC_EXCLUSIVE", "exclusive"),
    variable("SALLOC_GPUS", "gpus"),
    variable("SALLOC_GPU_BIND", "gpu-bind"),
    variable("SALLOC_GPU_FREQ", "gpu-freq"),
    variable("SALLOC_GPUS_PER_NODE", "gpus-per-node"),
    variable("SALLOC_GPUS_PER_SOCKET", "gpus-per-socket"),
    variable("SALLOC_GPUS_PER_TASK", "gpus-per-task"),
    variable("SALLOC_GRES", "gres"),
    variable("SALLOC_GRES_FLAGS", "gres-flags"),
    variable("SALLOC_IMMEDIATE", "immediate"),
    variable("SALLOC_HINT", "hint"),
    variable("SLURM_HINT", "hint"),
    variable("SALLOC_KILL_CMD", "kill-command"),
    variable("SALLOC_MEM_BIND", "mem-bind"),
    variable("SALLOC_MEM_PER_CPU", "mem-per-cpu"),
    variable("SALLOC_MEM_PER_GPU", "mem-per-gpu"),
    variable("SALLOC_MEM_PER_NODE", "mem"),
    variable("SALLOC_NETWORK", "network"),
    variable("SALLOC_NO_BELL", "no-bell"),
    variable("SALLOC_NO_KILL", "no-kill"),
    variable("SALLOC_OVERCOMMIT", "overcommit"),
    variable("SALLOC_PARTITION", "partition"),
    variable("SALLOC_POWER", "power").until(V22_05),
    variable("SALLOC_PROFILE", "profile"),
    variable("SALLOC_QOS", "qos"),
    variable("SALLOC_REQ_SWITCH", "switches-count"),
    variable("SALLOC_RESERVATION", "reservation"),
    variable("SALLOC_SEGMENT_SIZE", "segment").since(V26_05),
    variable("SALLOC_SIGNAL", "signal"),
    variable("SALLOC_SPREAD_JOB", "spread-job"),
    variable("SALLOC_SPREAD_SEGMENTS", "spread-segments").since(V26_05),
    variable("SALLOC_THREAD_SPEC", "thread-spec"),
    variable("SALLOC_THREADS_PER_CORE", "threads-per-core"),
    variable("SALLOC_TIMELIMIT", "time"),
    variable("SALLOC_TRES_BIND", "tres-bind").since(V24_11),
    variable("SALLOC_TRES_PER_TASK", "tres-per-task").since(V24_11),
    variable("SALLOC_USE_MIN_NODES", "use-min-nodes"),
    variable("SALLOC_WAIT_ALL_NODES", "wait-all-nodes"),
    variable("SALLOC_WAIT4SWITCH", "switches-wait"),
    variable("SALLOC_WCKEY", "wckey"),
];

#[cfg(test)]
mod tests {
    use super::super::options;
    use super::*;

    #[test]
    fn every_variable_stands_for_an_option_that_the_command_has() {
        for command in [Command::Sbatch, Command::Srun, Command::Salloc] {
            for series in [V22_05, V24_11, V26_05] {
                for variable in of(command, series) {
                    let opt = options::find(variable.option, command, series);
                    assert!(opt.is_some(), "{command} {series} {variable:?}");
                }
            }
        }
    }
}
