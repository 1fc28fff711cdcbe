//! The typed request: what a user submits, free of Slurm's sentinels and of C.
//!
//! Every door fills the same struct: slurmctld from a `job_desc_msg_t`, the command from sbatch's
//! options, tests from either. Rules read only this. Fields carry the names of `job_desc_msg_t`
//! (slurm.h) where it has one, and are `None` or `Unset` where the user said nothing.
//! Text is borrowed from the job description; what is not UTF-8 is replaced lossily.

pub mod array;
pub mod dependency;
pub mod description;
pub mod export;
pub mod job_info;
mod kept;
pub mod lineage;
pub mod log_path;
pub mod memory;
mod merge;
pub mod number;
pub mod options;
pub mod partition_list;
mod remedied;
pub mod shape;
pub mod time;
pub mod tres;

use std::borrow::Cow;

use crate::verdict::Edit;

pub use array::ArraySpec;
pub use description::Description;
pub use job_info::JobInfo;
pub use log_path::LogPath;
pub use memory::Memory;
pub use shape::{Amount, Shape};
pub use time::TimeLimit;
pub use tres::Tres;

/// Text of the user's, borrowed where it could be.
pub type Text<'a> = Cow<'a, str>;

/// One job, or one component of a heterogeneous job, as it was asked for.
///
/// For an update it is the existing job merged with the change (`crate::update`).
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Request<'a> {
    // ---- who
    /// Owner of the job (uid).
    pub user_id: u32,
    /// Sender of the request (uid), not the owner when root submits for someone.
    pub submit_uid: u32,
    /// Root's or SlurmUser's own job, or an update by an operator: judged, and refused only where
    /// the policy says so (`exempt_root`).
    pub privileged: bool,
    /// Primary group of the owner (gid), where known.
    pub group_id: Option<u32>,

    // ---- where
    /// `--partition`: a comma list as typed.
    pub partition: Option<Text<'a>>,
    /// `--qos`: a name, since 24.11 a comma list.
    pub qos: Option<Text<'a>>,
    /// `--account` as typed; Slurm compares without regard to case.
    pub account: Option<Text<'a>>,
    /// `--reservation`: a comma list.
    pub reservation: Option<Text<'a>>,
    /// `--constraint`.
    pub features: Option<Text<'a>>,
    /// `--prefer` (22.05 and later).
    pub prefer: Option<Text<'a>>,
    /// `--nodelist`, a ranged host list.
    pub req_nodes: Option<Text<'a>>,
    /// `--exclude`, a ranged host list.
    pub exc_nodes: Option<Text<'a>>,
    /// `--licenses`.
    pub licenses: Option<Text<'a>>,

    // ---- shape
    /// Lower end of `--nodes`.
    pub min_nodes: Option<u32>,
    /// Upper end of `--nodes`.
    pub max_nodes: Option<u32>,
    /// `--ntasks`, or what sbatch computed from other options.
    pub num_tasks: Option<u32>,
    /// `--ntasks-per-node`.
    pub ntasks_per_node: Option<u16>,
    /// `--ntasks-per-socket`.
    pub ntasks_per_socket: Option<u16>,
    /// `--ntasks-per-core`.
    pub ntasks_per_core: Option<u16>,
    /// `--ntasks-per-gpu`.
    pub ntasks_per_gpu: Option<u16>,
    /// `--cpus-per-task`.
    pub cpus_per_task: Option<u16>,
    /// CPUs of the whole job that the client computed (tasks times CPUs per task, at least 1),
    /// or that `scontrol update NumCPUs=` states.
    pub min_cpus: Option<u32>,
    /// `--mincpus`: CPUs on each node (sbatch raises it to `--cpus-per-task`).
    pub pn_min_cpus: Option<u16>,
    /// `--overcommit`: tasks share CPUs, so that their number says nothing of CPUs.
    pub overcommit: bool,
    /// `--sockets-per-node`.
    pub sockets_per_node: Option<u16>,
    /// `--cores-per-socket`.
    pub cores_per_socket: Option<u16>,
    /// `--threads-per-core`.
    pub threads_per_core: Option<u16>,
    /// `--core-spec` or `--thread-spec`, the count without its thread bit.
    pub core_spec: Option<u16>,
    /// `--gpus`.
    pub tres_per_job: Tres<'a>,
    /// `--gres` and `--gpus-per-node`, which arrive as one.
    pub tres_per_node: Tres<'a>,
    /// `--gpus-per-socket`.
    pub tres_per_socket: Tres<'a>,
    /// `--gpus-per-task` and `--tres-per-task`.
    pub tres_per_task: Tres<'a>,
    /// `--cpus-per-gpu`: count is CPUs.
    pub cpus_per_tres: Tres<'a>,
    /// `--mem-per-gpu`: count is MB.
    pub mem_per_tres: Tres<'a>,
    /// `--mem` or `--mem-per-cpu`.
    pub memory: Memory,
    /// `--tmp`, MB on each node.
    pub pn_min_tmp_disk: Option<u32>,
    /// `--exclusive`, `--oversubscribe`.
    pub shared: Sharing,

    // ---- time
    /// `--time`.
    pub time_limit: TimeLimit,
    /// `--time-min`.
    pub time_min: TimeLimit,

    // ---- array and files
    /// `--array`.
    pub array: Option<ArraySpec<'a>>,
    /// `--output`. sbatch makes it absolute with `work_dir`; `None` is Slurm's default.
    pub std_out: Option<Text<'a>>,
    /// `--error`, likewise.
    pub std_err: Option<Text<'a>>,
    /// `--input`.
    pub std_in: Option<Text<'a>>,
    /// `--chdir`, else where the client ran.
    pub work_dir: Option<Text<'a>>,

    // ---- behaviour
    /// `--requeue` / `--no-requeue`.
    pub requeue: Option<bool>,
    /// `--signal`.
    pub signal: Option<WarnSignal>,
    /// `--dependency` as typed.
    pub dependency: Option<Text<'a>>,
    /// `--comment`.
    pub comment: Option<Text<'a>>,
    /// Admin comment, which only operators may set.
    pub admin_comment: Option<Text<'a>>,
    /// `--job-name`, or what the client made up.
    pub name: Option<Text<'a>>,
    /// `--nice`, without its offset.
    pub nice: Option<i64>,
    /// `--priority`; 0 is `--hold`.
    pub priority: Option<u32>,
    /// `--container` (21.08 and later).
    pub container: Option<Text<'a>>,
    /// `--wckey`.
    pub wckey: Option<Text<'a>>,
    /// `--mail-user`.
    pub mail_user: Option<Text<'a>>,
    /// `--x11`.
    pub x11: bool,
    /// `--export` where it is neither unset nor ALL (`SLURM_EXPORT_ENV` in the job's environment).
    /// `None` for what is submitted from within a job: there it may be the outer job's.
    #[serde(skip)]
    pub export: Option<Text<'a>>,
    /// The script's text, sbatch only.
    #[serde(skip)]
    pub script: Option<Text<'a>>,
    /// Script path (sbatch), or the command (srun, salloc).
    pub command: Option<Text<'a>>,
    /// Digest of the command's arguments: tells whether two submissions are the same.
    pub arguments: u64,
    /// The command line as typed (21.08 and later). Never for a verdict, nor for a record: it may
    /// hold a whole script (`--wrap`).
    #[serde(skip)]
    pub submit_line: Option<Text<'a>>,

    // ---- from SPANK
    /// `--justify`, from the SPANK job environment.
    pub justify: Option<Text<'a>>,
    /// `--lineage`, from the SPANK job environment.
    pub lineage: Option<Text<'a>>,

    // ---- what kind of submission
    /// How the request came; see [`Origin`].
    pub origin: Origin,
    /// `--test-only` and other questions whether a job could run: nothing is submitted.
    pub test_only: bool,
    /// Component of a heterogeneous job, from 0.
    pub het_offset: Option<u32>,
}

/// How a request came to slurmctld, as far as the request itself proves it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Cannot be told. A missing script alone proves nothing: later het components of sbatch and
    /// API clients have none.
    #[default]
    Unknown,
    /// sbatch, or anything that hands in a script.
    Batch,
    /// srun or salloc.
    Interactive,
    /// scrontab.
    Cron,
}

/// `shared` of `job_desc_msg_t`: whether nodes are shared with other jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Not stated (`NO_VAL16`).
    #[default]
    Unset,
    /// `--exclusive`, `--exclusive=allocation` (0).
    Exclusive,
    /// `--oversubscribe` (1).
    Oversubscribe,
    /// `--exclusive=user` (2).
    User,
    /// `--exclusive=mcs` (3).
    Mcs,
    /// `--exclusive=topo` (4, 24.05 and later).
    Topo,
    /// A number no known client sends. slurmctld treats it as not exclusive.
    Other(u16),
}

/// `--signal=[B:]SIG@TIME`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WarnSignal {
    /// Signal number.
    pub signal: u16,
    /// Seconds before the end of the job; Slurm's default is 60.
    pub time: u16,
    /// `B:`: only the batch shell is signalled.
    pub batch_only: bool,
}

impl Request<'_> {
    /// Whether the user wrote this option, as far as the command line and the script show it. For
    /// words, never for a verdict.
    pub fn wrote(&self, option: &str) -> bool {
        let option = format!("--{option}");
        let mut texts = [&self.submit_line, &self.script].into_iter().filter_map(|t| t.as_deref());
        texts.any(|text| text.contains(&option))
    }

    /// Whether the script is one that `sbatch --wrap` wrote (sbatch(1), slurm_opt.c).
    pub fn is_wrapped(&self) -> bool {
        self.script
            .as_deref()
            .is_some_and(|s| s.starts_with("#!/bin/sh\n# This script was created by sbatch --wrap.\n"))
    }

    /// The reason in `--justify=...`, else in `--comment='justify: ...'`, trimmed; `None` where
    /// neither is there. Whether it is good enough is for the policy to say.
    pub fn justification(&self) -> Option<&str> {
        let spank = self.justify.as_deref().map(str::trim);
        spank.or_else(|| justification_in_comment(self.comment.as_deref()?))
    }

    /// Takes over a value that Sluice fills in. The adapter writes the same into the job
    /// description; doing it twice changes nothing.
    pub fn apply(&mut self, edit: &Edit) {
        match edit {
            Edit::CpusPerGpu(n) => self.cpus_per_tres = Tres::new(format!("gres/gpu:{n}")),
            Edit::MemoryPerGpu(mb) => self.mem_per_tres = Tres::new(format!("gres/gpu:{mb}")),
            Edit::Requeue => self.requeue = Some(true),
            Edit::Qos(name) => self.qos = Some(name.clone().into()),
        }
    }
}

/// The reason in `justify: ...`, trimmed; `None` where a comment is none.
pub fn justification_in_comment(comment: &str) -> Option<&str> {
    let (key, reason) = comment.split_once(':')?;
    key.trim().eq_ignore_ascii_case("justify").then_some(reason.trim())
}
