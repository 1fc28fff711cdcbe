//! `--run-card`: who writes it, when, and what only the job itself knows of it.
//!
//! | job of | written by | when |
//! |---|---|---|
//! | sbatch | the batch step, on the job's first node | start, and again at the end |
//! | srun | srun itself | start, and again at the end |
//! | salloc | salloc itself | the end: no plugin is called when it has got its job |
//!
//! Always by a process that is the job's user, for a limited time (`child`). Whatever goes wrong is one
//! line, and a card that is there stays as it was.

use std::ffi::CString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use once_cell::sync::OnceCell;

use super::api::{self, Spank};
use super::child::{self, User};
use super::node_policy::NodePolicy;
use super::options::{self, RUN_CARD_ENV};
use super::{compile, job};
use crate::request::LogPath;
use crate::request::description::{JUSTIFY_ENV, LINEAGE_ENV};
use crate::run_card::{ARRAY_FILE, Array, Card, Exit, FILE, SCHEMA, lineage_of};
use crate::slurm::{journal, log};
use crate::words::shown;

/// What the job itself knows.
#[derive(Clone, Debug, Default)]
struct Known {
    job_id: u32,
    /// As the user gave it.
    path: String,
    lineage: Option<String>,
    justification: Option<String>,
    compile: Option<&'static str>,
    user_name: Option<String>,
    /// Of the array: tasks, lowest and highest index, step.
    array: [Option<u32>; 4],
}

/// The moment for which a card is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Start,
    /// The batch script has ended like this; slurmctld does not know yet.
    Ended(Exit),
    /// srun and salloc have told slurmctld that they are done.
    Over,
}

/// In a batch script's process, as its user, before it becomes the script.
pub fn start_of_batch(spank: &Spank<'_>, policy: &NodePolicy) {
    let Some((known, user)) = of_batch(spank, policy) else { return };
    if let Err(line) = write_card(&user, &known, Moment::Start) {
        tell(&line);
    }
}

/// In slurmstepd, as root, when the batch script has ended.
pub fn end_of_batch(spank: &Spank<'_>, policy: &NodePolicy) {
    let Some((known, user)) = of_batch(spank, policy) else { return };
    let Some(status) = spank.exit_status() else { return };
    if let Err(line) = write_card(&user, &known, Moment::Ended(Exit::of_status(status))) {
        // The job's own stderr is closed.
        log::info(line.trim_start_matches("sluice: "));
    }
}

/// `None` where this is no batch script, or no card is wanted of it.
fn of_batch(spank: &Spank<'_>, policy: &NodePolicy) -> Option<(Known, User)> {
    if !spank.is_batch() {
        return None;
    }
    // sbatch copies the entries of the job's SPANK environment there.
    let copy = |entry: &str| spank.getenv(&CString::new(format!("SLURM_SPANK_{entry}")).ok()?);
    let path = copy(RUN_CARD_ENV)?;
    let number = |name| spank.getenv(name)?.parse().ok();
    let qos = spank.getenv(c"SLURM_JOB_QOS");
    let known = Known {
        job_id: spank.job_id()?,
        path,
        lineage: copy(LINEAGE_ENV),
        justification: copy(JUSTIFY_ENV),
        compile: compile::mode(spank.getenv(compile::HANDED_ON).as_deref(), qos.as_deref(), policy),
        user_name: spank.getenv(c"SLURM_JOB_USER"),
        array: [
            number(c"SLURM_ARRAY_TASK_COUNT"),
            number(c"SLURM_ARRAY_TASK_MIN"),
            number(c"SLURM_ARRAY_TASK_MAX"),
            number(c"SLURM_ARRAY_TASK_STEP"),
        ],
    };
    Some((known, spank.user()?))
}

/// The job that this client was started in.
static OUTER: OnceCell<Option<String>> = OnceCell::new();
/// The job that srun has got.
static OWN: AtomicU32 = AtomicU32::new(0);

fn job_of_environment() -> Option<String> {
    std::env::var("SLURM_JOB_ID").ok().filter(|id| !id.is_empty())
}

/// In a client, before it asks for a job.
pub fn before_submission() {
    OUTER.get_or_init(job_of_environment);
}

/// In srun, when it has its job and has not started anything.
pub fn start_of_srun(spank: &Spank<'_>) {
    let Some(path) = options::value(RUN_CARD_ENV) else { return };
    if let Some(Some(outer)) = OUTER.get() {
        tell(&format!(
            "sluice: no run card: this srun is a step of job {}; --run-card is for the sbatch, salloc or srun \
             that gets the job",
            shown(outer)
        ));
        return;
    }
    let Some(job_id) = spank.job_id() else { return };
    // A heterogeneous job has several; the first has the card.
    if OWN.compare_exchange(0, job_id, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        of_client(path, job_id, Moment::Start);
    }
}

/// In a client that ends: sbatch has no job of its own, srun and salloc have told slurmctld that theirs
/// is over.
pub fn end_of_client() {
    let Some(path) = options::value(RUN_CARD_ENV) else { return };
    let own = Some(OWN.load(Ordering::Relaxed)).filter(|&id| id != 0);
    // salloc puts its job into its own environment.
    let outer = OUTER.get().cloned().flatten();
    let new = || job_of_environment().filter(|id| Some(id) != outer.as_ref())?.parse().ok();
    if let Some(job_id) = own.or_else(new) {
        of_client(path, job_id, Moment::Over);
    }
}

fn of_client(path: String, job_id: u32, moment: Moment) {
    // SAFETY: plain system calls.
    let (uid, gid) = unsafe { (libc::getuid(), libc::getgid()) };
    let known = Known {
        job_id,
        path,
        lineage: options::value(LINEAGE_ENV),
        justification: options::value(JUSTIFY_ENV),
        user_name: std::env::var("USER").ok(),
        ..Known::default()
    };
    if let Err(line) = write_card(&User { uid, gid, groups: Vec::new() }, &known, moment) {
        // What keeps the first card from being written mostly keeps the second.
        static TOLD: AtomicBool = AtomicBool::new(false);
        if !TOLD.swap(true, Ordering::Relaxed) {
            tell(&line);
        }
    }
}

/// A line for the user.
fn tell(line: &str) {
    let plain: String = line.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    if let Ok(line) = CString::new(plain) {
        api::log(&line);
    }
}

/// Has a child write the card.
///
/// # Errors
/// The line that says why there is none.
fn write_card(user: &User, known: &Known, moment: Moment) -> Result<(), String> {
    // As with --output, the way to have none.
    if LogPath::new(&known.path, None).is_null_device() {
        return Ok(());
    }
    let written = child::run(user, || write(known, moment));
    written.map_err(|why| format!("sluice: no run card: {why} (--run-card={})", shown(&known.path)))
}

/// In the child: asks slurmctld, and writes.
fn write(known: &Known, moment: Moment) -> Result<(), String> {
    let described = job::load(known.job_id);
    let state = described.as_ref().map(|d| d.state);
    let mut card = match (described, moment) {
        (Some(described), _) => described.card,
        // What little is known then.
        (None, Moment::Start) => Card { job_id: Some(known.job_id), ..Card::default() },
        // There is a better one from the start.
        (None, _) => return Err("slurmctld does not tell of the job".to_owned()),
    };
    complete(&mut card, known, moment, state);
    let path = path(&card, known);
    let mode = match path.symlink_metadata() {
        Ok(there) if !there.is_file() => {
            return Err(format!("{} is there and no regular file", shown(&path.to_string_lossy())));
        }
        // The user may have changed it; and slurmstepd's umask is not the user's.
        Ok(there) => there.permissions().mode() & 0o777,
        Err(_) => 0o666 & !umask(),
    };
    journal::replace(&path, &card.to_text(), mode)
        .map_err(|e| format!("cannot write {}: {}", shown(&path.to_string_lossy()), words(&e)))
}

/// The system's words without its number.
fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

fn umask() -> u32 {
    // SAFETY: a plain system call, and its way of only asking; this process has one thread.
    unsafe {
        let mask = libc::umask(0o077);
        libc::umask(mask);
        mask
    }
}

/// Adds what slurmctld does not know, or does not know yet.
fn complete(card: &mut Card, known: &Known, moment: Moment, state: Option<u32>) {
    card.run_card = SCHEMA;
    card.written = Some(journal::now());
    card.lineage = Some(known.lineage.as_deref().map(lineage_of).unwrap_or_default());
    card.justification = known.justification.clone();
    let [tasks, min, max, step] = known.array;
    if let Some(array) = &mut card.array {
        *array = Array { tasks, min, max, step, ..array.clone() };
    }
    card.compile = known.compile.map(str::to_owned).or_else(|| {
        // In a client, which now knows its QoS.
        let qos = card.actual.qos.as_deref();
        compile::mode(None, qos, &NodePolicy::find()).map(str::to_owned)
    });
    if moment == Moment::Start && card.state.is_none() {
        card.state = Some("RUNNING".to_owned());
    }
    if let Moment::Ended(exit) = moment {
        card.times.end = Some(journal::now());
        card.exit = Some(exit);
        // A job that slurmctld itself has ended has its state already; one that ends by itself is still
        // running there. What waits was requeued.
        card.state = match (card.state.as_deref(), state) {
            (Some("RUNNING"), _) => {
                Some(if exit == Exit::default() { "COMPLETED" } else { "FAILED" }.to_owned())
            }
            (Some("PENDING"), Some(_)) => Some("REQUEUED".to_owned()),
            (other, _) => other.map(str::to_owned),
        };
    }
}

/// Where the card goes.
fn path(card: &Card, known: &Known) -> PathBuf {
    let array = card.array.as_ref();
    let given = LogPath::new(&known.path, None);
    let own = match array {
        Some(_) if known.path == FILE => ARRAY_FILE.to_owned(),
        // Each task has a card of its own.
        Some(_) if !given.fills_in('a') && !given.fills_in('j') => given.for_array(),
        _ => known.path.clone(),
    };
    let filled = LogPath::new(&own, None).filled(|letter| match letter {
        'j' => Some(known.job_id.to_string()),
        'A' => Some(array.map_or(known.job_id, |a| a.job_id).to_string()),
        'a' => Some(array.and_then(|a| a.task).unwrap_or(0).to_string()),
        // A name is one part of a path.
        'x' => card.name.as_deref().map(|name| name.replace('/', "_")),
        'u' => known.user_name.as_deref().map(|name| name.replace('/', "_")),
        _ => None,
    });
    match &card.work_dir {
        // An absolute one stays as it is.
        Some(dir) => Path::new(dir).join(filled),
        None => PathBuf::from(filled),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(array: Option<(u32, u32)>) -> Card {
        Card {
            name: Some("a/b".to_owned()),
            work_dir: Some("/home/u".to_owned()),
            array: array.map(|(job_id, task)| Array { job_id, task: Some(task), ..Array::default() }),
            state: Some("RUNNING".to_owned()),
            ..Card::default()
        }
    }

    fn written_to(given: &str, array: Option<(u32, u32)>) -> String {
        let known = Known { job_id: 123, path: given.to_owned(), ..Known::default() };
        path(&card(array), &known).display().to_string()
    }

    #[test]
    fn each_job_and_each_task_has_a_file_of_its_own() {
        assert_eq!(written_to(FILE, None), "/home/u/run-card-123.json");
        assert_eq!(written_to(FILE, Some((120, 3))), "/home/u/run-card-120_3.json");
        assert_eq!(written_to("cards/%x.json", Some((120, 3))), "/home/u/cards/a_b_120_3.json");
        assert_eq!(written_to("/tmp/%A-%a-%j", None), "/tmp/123-0-123");
        assert_eq!(written_to("c-%j", Some((120, 3))), "/home/u/c-123");
        assert_eq!(written_to("c-%4a", Some((120, 3))), "/home/u/c-0003");
    }

    #[test]
    fn the_end_is_slurms_word_where_slurm_has_one() {
        let ended = |state: &str, exit: Exit| {
            let mut card = Card { state: Some(state.to_owned()), ..card(None) };
            complete(&mut card, &Known::default(), Moment::Ended(exit), Some(0));
            (card.state.unwrap(), card.exit.unwrap(), card.times.end.is_some())
        };
        let (zero, three) = (Exit::default(), Exit { code: 3, signal: 0 });
        assert_eq!(ended("RUNNING", zero), ("COMPLETED".to_owned(), zero, true));
        assert_eq!(ended("RUNNING", three), ("FAILED".to_owned(), three, true));
        assert_eq!(ended("TIMEOUT", three), ("TIMEOUT".to_owned(), three, true));
        assert_eq!(ended("PENDING", zero).0, "REQUEUED");
    }
}
