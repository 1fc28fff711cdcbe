//! What is to be checked, and the script that belongs to it.

use std::io::{IsTerminal, Read};
use std::path::Path;

use sluice::policy::diagnostic::suggestion;
use sluice::request::export::elements;
use sluice::submit_line::options::Opt;
use sluice::submit_line::{
    Command, CommandLine, Component, Problem, ProblemKind, Script, Series, Submission, World, options,
    script_advice,
};
use sluice::words::shown;

use crate::options::Check;
use crate::people::Person;
use crate::policy_file::reason;
use crate::{Failure, slurm};

/// A script or a command.
pub struct Job {
    /// How messages call it: the script, or the command.
    pub name: String,
    /// Which client.
    pub command: Command,
    /// Its words, the client in front.
    pub argv: Vec<String>,
    /// A script was named, and no command line.
    is_script: bool,
    /// The script's text comes from standard input.
    standard_input: bool,
}

/// slurmctld takes no larger script by default (4 MiB, max_script_size).
const LARGEST_SCRIPT: u64 = 4 << 20;

/// A job as its client reads it, and what is needed to read it again.
pub struct Reading<'j> {
    job: &'j Job,
    series: Series,
    person: Person,
    plugins: Vec<&'static Opt>,
    directory: String,
    /// How messages call the script.
    pub script: String,
    /// Where the script is.
    pub path: String,
    /// Its text.
    pub text: Option<String>,
    /// What the client makes of it.
    pub submission: Submission,
}

impl Reading<'_> {
    fn line(&self) -> CommandLine {
        self.line_of(&self.job.argv)
    }

    fn line_of(&self, argv: &[String]) -> CommandLine {
        CommandLine::new(self.job.command, self.series, argv, &self.plugins)
    }

    /// Which client.
    pub fn command(&self) -> Command {
        self.job.command
    }

    /// Its words, the client in front.
    pub fn argv(&self) -> &[String] {
        &self.job.argv
    }

    /// Whether a script was named, and no command line.
    pub fn is_script(&self) -> bool {
        self.job.is_script
    }

    /// Where on this command line one more option has its place.
    pub fn end_of_options(&self, argv: &[String]) -> usize {
        self.line_of(argv).end_of_options()
    }

    /// The submission with another text in place of the script's.
    pub fn submit(&self, text: Option<&str>) -> Submission {
        self.submit_as(&self.job.argv, text)
    }

    /// The submission with another command line and another script.
    pub fn submit_as(&self, argv: &[String], text: Option<&str>) -> Submission {
        let world = World {
            environment: &|name| std::env::var_os(name).map(|v| v.to_string_lossy().into_owned()),
            directory: &self.directory,
            user_id: self.person.uid,
            group_id: self.person.gid,
        };
        self.line_of(argv).read(&world, text.map(|text| Script { path: &self.path, text }))
    }

    /// What neither the client nor slurmctld says, and its author would want to know.
    pub fn advice(&self) -> Vec<Problem> {
        let told = &self.submission.problems;
        let mut notes = self.line().advice();
        let script = self.text.as_deref().filter(|_| self.job.command == Command::Sbatch);
        notes.extend(script.map(|text| script_advice(text, self.series)).unwrap_or_default());
        notes.retain(|note| !told.iter().any(|p| p.refuses() && p.place == note.place));
        notes.extend(self.next_release());
        notes.extend(self.exports());
        if self.job.command == Command::Sbatch {
            notes.extend(self.submission.components.iter().flat_map(|c| missing_folders(c, &self.directory)));
        }
        let mut all: Vec<Problem> = Vec::new();
        for note in notes {
            if !all.contains(&note) {
                all.push(note);
            }
        }
        all
    }

    /// What goes wrong with `--export` before slurmctld sees it: a repetition, of which only the last
    /// counts, and names of variables that are not set here.
    fn exports(&self) -> Vec<Problem> {
        let Some(component) = self.submission.components.first() else { return Vec::new() };
        let is_export = |word: &&str| *word == "--export" || word.starts_with("--export=");
        let typed = self.job.argv.iter().map(String::as_str).filter(is_export).count();
        let directives = self.text.as_deref().unwrap_or("").lines().filter(|l| l.starts_with("#SBATCH"));
        let written = directives.flat_map(str::split_whitespace).filter(is_export).count();
        let mut notes = Vec::new();
        let mut note = |message: String| {
            notes.push(Problem::advice("export", component.place("export"), message));
        };
        if typed.saturating_add(written) > 1 {
            note("--export is given more than once, and only the last one counts".to_owned());
        }
        for name in elements(component.request.export.as_deref().unwrap_or("")) {
            let is_name = !name.contains('=') && !["ALL", "NONE", "NIL"].contains(&name);
            if is_name && std::env::var_os(name).is_none() {
                note(format!("--export names {}, which is not set here", shown(name)));
            }
        }
        notes
    }

    /// What the client of the next release refuses and this one takes.
    fn next_release(&self) -> Vec<Problem> {
        let Some(series) = self.series.next() else { return Vec::new() };
        let plugins = self.plugins.clone();
        let Reading { job, person, directory, script, path, .. } = self;
        let later = Reading {
            job,
            series,
            person: *person,
            plugins,
            directory: directory.clone(),
            script: script.clone(),
            path: path.clone(),
            text: None,
            submission: Submission::default(),
        };
        let problems = later.submit(self.text.as_deref()).problems.into_iter();
        let old = &self.submission.problems;
        let new =
            problems.filter(|p| p.refuses() && !old.iter().any(|o| o.refuses() && o.message == p.message));
        new.map(|p| Problem {
            kind: ProblemKind::Note,
            message: format!("{} of Slurm {series} refuses this: {}", self.job.command, p.message),
            ..p
        })
        .collect()
    }
}

/// Folders that logs go to and that are not there: Slurm makes none, and the job ends at once.
fn missing_folders(component: &Component, directory: &str) -> Vec<Problem> {
    let request = &component.request;
    let logs = [("output", &request.std_out), ("error", &request.std_err)];
    let missing = |(option, path): (&'static str, &Option<_>)| {
        let path: &str = path.as_deref()?;
        let (folder, _) = path.rsplit_once('/')?;
        // What Slurm fills in is not known here, nor what a backslash does.
        if folder.is_empty() || folder.contains(['%', '\\', '$']) {
            return None;
        }
        let work_dir = Path::new(directory).join(request.work_dir.as_deref().unwrap_or(directory));
        let exists = work_dir.join(folder).is_dir();
        let shown = folder.strip_prefix(directory).map_or(folder, |rest| rest.trim_start_matches('/'));
        let message = format!("the folder {shown} does not exist, Slurm makes none, and the job would fail");
        (!exists).then(|| Problem::advice(option, component.place(option), message))
    };
    logs.into_iter().filter_map(missing).collect()
}

impl Job {
    /// The jobs that the command line names.
    ///
    /// # Errors
    /// A command that is none of Slurm's.
    pub fn all(verb: &Check) -> Result<Vec<Job>, Failure> {
        if verb.command.is_empty() {
            return Ok(verb.scripts.iter().map(|path| Job::script(path)).collect());
        }
        Ok(vec![Job::typed(&verb.command)?])
    }

    /// A script, or a command.
    ///
    /// # Errors
    /// A command that is none of Slurm's.
    pub fn one(script: Option<&Path>, command: &[String]) -> Result<Job, Failure> {
        script.map_or_else(|| Job::typed(command), |path| Ok(Job::script(path)))
    }

    fn typed(argv: &[String]) -> Result<Job, Failure> {
        let name = argv.first().map_or("nothing", String::as_str);
        let command = Command::named(name)
            .ok_or_else(|| format!("{name} submits no job: sbatch, srun or salloc is expected after --"))?;
        let argv = argv.to_vec();
        Ok(Job { name: command.to_string(), command, argv, is_script: false, standard_input: false })
    }

    fn script(path: &Path) -> Job {
        let name = path.to_string_lossy().into_owned();
        let standard_input = name == "-";
        let mut argv = vec!["sbatch".to_owned()];
        // A script's name is no option, whatever it looks like.
        if !standard_input {
            argv.extend(["--".to_owned(), name.clone()]);
        }
        let name = if standard_input { "stdin".to_owned() } else { name };
        Job { name, command: Command::Sbatch, argv, is_script: true, standard_input }
    }

    /// Reads the job as its client would.
    ///
    /// # Errors
    /// A script that cannot be read, and a command that submits nothing.
    pub fn read(&self, series: Series, person: &Person) -> Result<Reading<'_>, Failure> {
        let directory =
            std::env::current_dir().map_err(|e| format!("cannot tell the current directory: {e}"))?;
        let mut reading = Reading {
            job: self,
            series,
            person: *person,
            plugins: Vec::new(),
            directory: directory.to_string_lossy().into_owned(),
            script: String::new(),
            path: String::new(),
            text: None,
            submission: Submission::default(),
        };
        let line = reading.line();
        line.script().unwrap_or("stdin").clone_into(&mut reading.script);
        // The command line by itself: it may print help, or be refused before any script is read.
        reading.submission = reading.submit(None);
        let alone = &reading.submission.problems;
        if let Some(nothing) = alone.iter().find(|p| p.kind == ProblemKind::NoSubmission) {
            return Err(nothing.message.clone());
        }
        if line.reads_standard_input() && alone.iter().any(Problem::is_the_clients) {
            return Ok(reading);
        }
        reading.path = line.script().map_or_else(
            || reading.script.clone(),
            |typed| found(typed, line.directory().unwrap_or(&reading.directory)),
        );
        reading.text = match self.script_text(&line, &reading.directory) {
            // sbatch ends at its options, and this may be an option's value and no script at all.
            Err(_) if alone.iter().any(Problem::is_the_clients) => return Ok(reading),
            text => text?,
        };
        reading.submission = reading.submit(reading.text.as_deref());
        // What nobody knows may be an option of a SPANK plugin here.
        let unknown = reading.submission.problems.iter().any(|p| p.kind == ProblemKind::Unknown);
        if unknown && !self.standard_input {
            reading.plugins = slurm::plugin_options();
            if !reading.plugins.is_empty() {
                reading.submission = reading.submit(reading.text.as_deref());
            }
        }
        Ok(reading)
    }

    fn script_text(&self, line: &CommandLine, directory: &str) -> Result<Option<String>, Failure> {
        let (name, bytes) = if let Some(path) = line.script() {
            (path, file(path, &found(path, line.directory().unwrap_or(directory)))?)
        } else if line.reads_standard_input() {
            if std::io::stdin().is_terminal() {
                return Err("sbatch would read the script from standard input: name it".to_owned());
            }
            let mut bytes = Vec::new();
            let read = std::io::stdin().take(LARGEST_SCRIPT + 1).read_to_end(&mut bytes);
            read.map_err(|e| format!("cannot read standard input: {e}"))?;
            ("standard input", bytes)
        } else {
            return Ok(None);
        };
        if bytes.is_empty() {
            return Err(format!("{name} is empty"));
        }
        if bytes.len() as u64 > LARGEST_SCRIPT {
            return Err(format!("{name} is larger than 4 MiB: slurmctld takes no such script"));
        }
        if bytes.contains(&0) {
            return Err(format!("{name} is a binary file, no script"));
        }
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// The option that was probably meant by one that nobody knows.
pub fn meant(problem: &Problem) -> Option<&'static str> {
    if problem.kind != ProblemKind::Unknown {
        return None;
    }
    let (_, typed) = problem.message.split_once("'--")?;
    let typed = typed.split(['=', '\'']).next().unwrap_or(typed);
    suggestion(typed, options::names())
}

/// Where sbatch finds a script: here, else in PATH, unless its name says where.
fn found(name: &str, directory: &str) -> String {
    if name.starts_with(['.', '/']) {
        return name.to_owned();
    }
    let paths = std::env::var("PATH").unwrap_or_default();
    let mut candidates =
        std::iter::once(directory).chain(paths.split(':')).map(|dir| format!("{dir}/{name}"));
    candidates.find(|path| Path::new(path).exists()).unwrap_or_else(|| name.to_owned())
}

fn file(name: &str, path: &str) -> Result<Vec<u8>, Failure> {
    let failed = |e: std::io::Error| format!("cannot read {name}: {}", reason(&e));
    let file = std::fs::File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(format!("cannot read {name}: it is a directory"));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST_SCRIPT + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}
