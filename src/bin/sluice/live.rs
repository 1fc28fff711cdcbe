//! Asking a running cluster by Slurm's own commands, none of which may keep the user waiting.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sluice::live::job::{self, Job};
use sluice::live::{self, Association, Live};

use crate::{Failure, output};

/// The longest that one command may take. scontrol itself gives up on a silent slurmctld later.
const PATIENCE: Duration = Duration::from_secs(10);

/// Everything that is asked of a cluster. Without accounting QoS and accounts stay unknown, which
/// is said.
///
/// # Errors
/// A command that is not there or takes too long, a slurmctld that does not answer.
pub fn ask() -> Result<Live, Failure> {
    let partitions = run("scontrol", &["--all", "--oneliner", "show", "partition"])?;
    let config = config()?;
    let name = live::config_value(&config, "ClusterName").map(str::to_owned);
    let partitions = live::partitions(&partitions, &config);
    let nodes = live::nodes(&run("scontrol", &["--all", "--oneliner", "show", "node"])?);
    if partitions.is_empty() {
        return Err("scontrol names no partition".to_owned());
    }
    let mut unknown = None;
    let mut accounting = |arguments: &[&str]| match run("sacctmgr", arguments) {
        Ok(text) => Ok(Some(text)),
        Err(Refused::Answer(words)) => {
            unknown = Some(words);
            Ok(None)
        }
        Err(other) => Err(other),
    };
    let qos = accounting(&["-nP", "show", "qos", "format=Name,Preempt,MaxWall"])?;
    let accounts = accounting(&["-nP", "show", "account", "format=Account"])?;
    if let Some(words) = unknown {
        output::note(&format!("QoS and accounts stay unknown: {words}"));
    }
    let (qos, accounts) = (qos.map(|text| live::qos(&text)), accounts.map(|text| live::accounts(&text)));
    Ok(Live { name, partitions, nodes, qos, accounts })
}

/// What accounting knows of a user. Where it is not asked, that is said, and nothing is known.
///
/// # Errors
/// A command that is not there or takes too long.
pub fn associations(user: &str) -> Result<Vec<Association>, Failure> {
    let format = "format=DefaultAccount,Account,DefaultQOS,QOS";
    match run("sacctmgr", &["-nP", "show", "user", user, "withassoc", format]) {
        Ok(text) => Ok(live::associations(&text)),
        Err(Refused::Answer(words)) => {
            output::note(&format!("the accounts of {user} stay unknown: {words}"));
            Ok(Vec::new())
        }
        Err(other) => Err(other.into()),
    }
}

/// What `scontrol show config` prints.
///
/// # Errors
/// As [`ask`].
pub fn config() -> Result<String, Failure> {
    Ok(run("scontrol", &["show", "config"])?)
}

/// What slurmctld and accounting say of a job: of an array or a heterogeneous job, all of it.
///
/// # Errors
/// Neither answers, or both say that there is no such job.
pub fn jobs(id: &str) -> Result<Vec<Job>, Failure> {
    let queue = run("scontrol", &["--all", "show", "job", id]).map(|text| job::scontrol_jobs(&text));
    let books = accounted(id);
    let (mut jobs, books) = match (queue, books) {
        (Ok(jobs), books) => (jobs, books.unwrap_or_default()),
        (Err(_), Ok(books)) if !books.is_empty() => (Vec::new(), books),
        (Err(Refused::Answer(words)), books) if words.contains("Invalid job id") => {
            let where_else = if books.is_ok() { "nor does accounting" } else { "and there is no accounting" };
            return Err(format!("no such job: slurmctld knows no job {id}, {where_else}"));
        }
        (Err(refused), _) => return Err(refused.into()),
    };
    let mut more = books;
    for job in &mut jobs {
        // By its own number where the name has not got into accounting yet.
        let same = |other: &Job| other.card.job == job.card.job || other.card.job_id == job.card.job_id;
        if let Some(at) = more.iter().position(same) {
            *job = std::mem::take(job).or(more.remove(at));
        }
    }
    jobs.append(&mut more);
    jobs.sort_by_key(|job| (job.card.array.as_ref().map(|a| a.task), job.card.job_id));
    if jobs.is_empty() { Err(format!("no such job: {id}")) } else { Ok(jobs) }
}

/// What accounting says of a job.
fn accounted(id: &str) -> Result<Vec<Job>, Refused> {
    let fields = job::known_fields(&run("sacct", &["--helpformat"])?);
    // Nothing that a user has written before now can hold it.
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let separator = format!("|{:x}{:x}|", since_1970.as_nanos(), std::process::id());
    let format = fields.join(",");
    let arguments = ["-n", "-p", "-X", "--delimiter", &separator, "--format", &format, "-j", id];
    Ok(job::sacct_jobs(&run("sacct", &arguments)?, &fields, &separator))
}

/// Why there is no answer.
#[derive(Debug)]
enum Refused {
    /// The command could not be run, or not to its end.
    Command(String),
    /// It ran and said no.
    Answer(String),
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Failure {
        match refused {
            Refused::Command(words) | Refused::Answer(words) => words,
        }
    }
}

fn run(command: &str, arguments: &[&str]) -> Result<String, Refused> {
    run_within(command, arguments, PATIENCE)
}

fn run_within(command: &str, arguments: &[&str], patience: Duration) -> Result<String, Refused> {
    let failed = |what: String| Refused::Command(format!("cannot ask the cluster: {what}"));
    let mut child = Command::new(command)
        .args(arguments)
        // Times as seconds since 1970, whatever the user likes to read.
        .env("SLURM_TIME_FORMAT", "%s")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => failed(format!("there is no command {command} here")),
            _ => failed(format!("{command}: {e}")),
        })?;
    // Read while it runs: a pipe holds less than a large cluster has to say.
    let reader = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                let _ = pipe.read_to_end(&mut bytes);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = reader(child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let err = reader(child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let start = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() < patience => std::thread::sleep(Duration::from_millis(5)),
            // The readers are left behind: what the command started may hold its pipes open.
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed(format!("{command} has not answered in {} seconds", patience.as_secs())));
            }
            Err(e) => return Err(failed(format!("{command}: {e}"))),
        }
    };
    let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    if status.success() {
        return Ok(out);
    }
    let said = err.lines().chain(out.lines()).map(str::trim).find(|line| !line.is_empty());
    Err(Refused::Answer(format!("{command}: {}", said.unwrap_or("it failed without a word"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(refused: Result<String, Refused>) -> String {
        refused.map_err(Failure::from).unwrap_err()
    }

    #[test]
    fn a_command_that_hangs_is_ended() {
        let start = Instant::now();
        let result = run_within("sh", &["-c", "sleep 60"], Duration::from_millis(100));
        assert!(words(result).contains("has not answered"));
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn more_than_a_pipe_holds_is_read() {
        let text = run("sh", &["-c", "head -c 1000000 /dev/zero | tr '\\0' x"]).unwrap();
        assert_eq!(text.len(), 1_000_000);
    }

    #[test]
    fn what_the_command_says_is_told() {
        let result = run("sh", &["-c", "echo no slurmctld >&2; exit 1"]);
        assert!(matches!(&result, Err(Refused::Answer(_))));
        assert_eq!(words(result), "sh: no slurmctld");
        assert!(words(run("no-such-command", &[])).contains("no command no-such-command"));
    }
}
