//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use sluice::submit_line::Series;

/// Submission policy for Slurm: check a job before it is submitted
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
pub struct Options {
    #[command(subcommand)]
    pub verb: Verb,
    #[command(flatten)]
    pub common: Common,
}

/// Options of every verb.
#[derive(Debug, Args)]
pub struct Common {
    /// Policy file [default: $SLUICE_POLICY, else sluice.toml beside slurm.conf]
    #[arg(long, value_name = "FILE", global = true)]
    pub policy: Option<PathBuf>,
    /// `text` for people, `json` for programs
    #[arg(long, value_enum, default_value_t, hide_possible_values = true, global = true)]
    pub format: Format,
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Json,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    Check(Check),
    Test(Test),
    Validate(Validate),
    Show(Show),
    Init(Init),
    Replay(Replay),
    SiteNote(SiteNote),
    Status(Status),
    Job(Job),
    Compare(Compare),
    Explain(Explain),
}

/// Judge a script or a command line as slurmctld would
#[derive(Debug, Args)]
#[command(
    after_help = "Reads #SBATCH lines, arguments and the SBATCH_* environment with sbatch's own grammar and\n\
                        precedence. Exits 0 if the job would be accepted, 1 if it would be refused.\n\n\
                        Examples:\n  sluice check job.sh\n  sluice check -- sbatch --gpus=4 job.sh\n  \
                        sluice check --account=physics -- srun -p gpu --pty bash"
)]
pub struct Check {
    /// Batch scripts; `-` reads one from standard input
    #[arg(value_name = "SCRIPT", required_unless_present = "command", conflicts_with = "command")]
    pub scripts: Vec<PathBuf>,
    /// A command: sbatch, srun or salloc with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Lay the remedies into the script's #SBATCH lines, and show what changed
    #[arg(long, conflicts_with = "command")]
    pub fix: bool,
    #[command(flatten)]
    pub whom: Whom,
}

/// Whose job it is, and what reads it.
#[derive(Debug, Args)]
pub struct Whom {
    /// Judge as this user
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Account that the user has an association with; the first is the default one
    #[arg(long, value_name = "NAME")]
    pub account: Vec<String>,
    /// QoS of a job that names none
    #[arg(long, value_name = "NAME")]
    pub default_qos: Option<String>,
    /// Series of Slurm whose sbatch reads the job [default: the installed one, else the newest]
    #[arg(long, value_name = "VERSION", value_parser = series)]
    pub slurm: Option<Series>,
}

/// Run tests of a policy that are kept as data
#[derive(Debug, Args)]
#[command(
    after_help = "A file holds submissions and updates, and what is expected of each: the rules that refuse or\n\
                        warn, what is filled in, the lines that users read. Exits 0 if all cases hold, 1 if\n\
                        one does not.\n\n\
                        Examples:\n  sluice test tests/*.toml\n  \
                        sluice test --policy=sluice.toml --coverage tests/*.toml"
)]
pub struct Test {
    /// Files of cases; --policy is for those that have no policy of their own
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// List the rules and limits that no case touches
    #[arg(long)]
    pub coverage: bool,
}

/// List every error and doubt of a policy
#[derive(Debug, Args)]
#[command(after_help = "Exits 0 if the policy can be used, with its doubts listed, 1 if it has errors.\n\n\
                        Examples:\n  sluice validate sluice.toml\n  sluice validate --cluster")]
pub struct Validate {
    /// Policy file, in place of --policy
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Compare names and facts with the cluster, by scontrol and sacctmgr
    #[arg(long)]
    pub cluster: bool,
}

/// Show a policy as it applies: facts, rules, limits
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sluice show\n  sluice show --partition=gpu --user=ann")]
pub struct Show {
    /// Only what applies in this partition
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// Only what applies to this user
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
}

/// Write a first policy in audit mode, from the live cluster
#[derive(Debug, Args)]
#[command(
    after_help = "Asks scontrol and sacctmgr, and changes nothing. An existing file is never written over.\n\n\
                        Examples:\n  sluice init sluice.toml\n  sluice init --template > sluice.toml"
)]
pub struct Init {
    /// File to write [default: standard output]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Write a template, without a cluster
    #[arg(long)]
    pub template: bool,
}

/// Show what a policy would have done to past jobs
#[derive(Debug, Args)]
#[command(
    after_help = "Reads `sacct --parsable2` output, its columns in any order, and Sluice's own records. Exits 0 if\n\
                        no job would be refused (with --against: newly refused), 1 if one would be.\n\
                        Ask sacct for what tells most, with a delimiter that nobody types:\n\
                        sacct --allusers --allocations --parsable2 --delimiter=$'\\x1f' \\\n\
                        --starttime=2026-01-01 --endtime=now --format=JobID,JobIDRaw,User,UID,GID,\\\n\
                        Account,Partition,QOS,Submit,State,ElapsedRaw,TimelimitRaw,ReqCPUS,ReqNodes,\\\n\
                        ReqMem,ReqTRES,AllocTRES,Reservation,Constraints,JobName,Comment,AdminComment,\\\n\
                        WorkDir,SubmitLine > jobs       # 24.11 and later: QOSREQ,StdOut,StdErr too\n\
                        sluice replay --html=report.html jobs"
)]
pub struct Replay {
    /// Files of sacct or of records; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Tell what changes from this policy to the other
    #[arg(long, value_name = "POLICY")]
    pub against: Option<PathBuf>,
    /// Write a page with charts as well
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Only jobs submitted on this day or later
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    pub since: Option<String>,
    /// Only jobs submitted on this day or before
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    pub until: Option<String>,
    /// Users, accounts and partitions to list at most
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Series of Slurm that reads command lines [default: the installed, else the newest]
    #[arg(long, value_name = "VERSION", value_parser = series)]
    pub slurm: Option<Series>,
}

/// Write a page on this cluster for a repository with job scripts
#[derive(Debug, Args)]
#[command(
    after_help = "Defaults, partitions, preemptible QoS, rules, limits, conventions, and a script that is accepted:\n\
                        Markdown for the people and programs that write job scripts.\n\n\
                        Examples:\n  sluice site-note -o docs/slurm-site.md\n  sluice site-note --cluster --user=ann"
)]
pub struct SiteNote {
    /// File to write, such as docs/slurm-site.md [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write over a file that was edited by hand
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Only what applies to this user
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Ask scontrol and sacctmgr for partitions, and for the accounts of --user
    #[arg(long)]
    pub cluster: bool,
}

/// Show what slurmctld runs: build, policy, last error, counts
#[derive(Debug, Args)]
#[command(
    after_help = "The plugin writes its status into slurmctld's StateSaveLocation. Exits 0 if a policy is in\n\
                        force and its file is the one that counts, 1 if not.\n\n\
                        Examples:\n  sluice status\n  sluice status --state-dir=/var/spool/slurmctld"
)]
pub struct Status {
    /// StateSaveLocation [default: what `scontrol show config` says]
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
}

/// Show a job: requested and actual shape, what was recorded, whose doing its state is
#[derive(Debug, Args)]
#[command(
    after_help = "Asks scontrol and sacct. The state of a job that waits or is over is the scheduler's doing, the\n\
                        job's own, or cannot be told; the fact that decides it is named. Exits 0, or 2 if there is\n\
                        no such job.\n\n\
                        Examples:\n  sluice job 123\n  sluice job 123_4\n  sluice job --format=json 123+1"
)]
pub struct Job {
    /// 123, a task of an array 123_4, a component 123+1
    #[arg(value_name = "JOBID")]
    pub job: String,
}

/// List every difference of two jobs in shape and lineage
#[derive(Debug, Args)]
#[command(after_help = "Exits 0 if there is none, 1 if there is one, 2 if a job cannot be found.\n\n\
                        Examples:\n  sluice compare 123 124\n  sluice compare 123_0 run-card-99.json")]
pub struct Compare {
    /// A job's id, or the file of a run card
    #[arg(value_name = "JOB")]
    pub first: String,
    /// A job's id, or the file of a run card
    #[arg(value_name = "JOB")]
    pub second: String,
}

/// Explain a rule, or what would make a job accepted
#[derive(Debug, Args)]
#[command(
    after_help = "Of a rule: what it holds, why, an example, the fix. Of a job: the fewest changes that make it\n\
                        accepted, each set judged again, and the command line or the script with them.\n\n\
                        Examples:\n  sluice explain exclusive\n  sluice explain job.sh\n  \
                        sluice explain -- sbatch --gpus=4 -c 64 job.sh"
)]
pub struct Explain {
    /// Rules, or a batch script; without any, lists the rules
    #[arg(value_name = "RULE or SCRIPT", conflicts_with = "command")]
    pub names: Vec<String>,
    /// A command: sbatch, srun or salloc with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    #[command(flatten)]
    pub whom: Whom,
}

fn day(text: &str) -> Result<String, String> {
    let day: jiff::civil::Date = text.parse().map_err(|_| "a day such as 2026-11-30".to_owned())?;
    Ok(day.to_string())
}

fn series(text: &str) -> Result<Series, String> {
    Series::of_version(text).ok_or_else(|| "a version from 22.05 on, such as 24.11".to_owned())
}
