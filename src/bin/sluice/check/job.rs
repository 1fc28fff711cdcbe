//! What is to be checked, and the script that belongs to it.

use std::io::{IsTerminal, Read};
use std::path::Path;

use sluice::policy::diagnostic::suggestion;
use sluice::submit_line::options::Opt;
use sluice::submit_line::{
    Command, CommandLine, Problem, ProblemKind, Script, Series, Submission, World, options,
};

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
    /// The script's text comes from standard input.
    standard_input: bool,
}

/// slurmctld takes no larger script by default (4 MiB, max_script_size).
const LARGEST_SCRIPT: u64 = 4 << 20;

impl Job {
    /// The jobs that the command line names.
    ///
    /// # Errors
    /// A command that is none of Slurm's.
    pub fn all(verb: &Check) -> Result<Vec<Job>, Failure> {
        let Some(name) = verb.command.first() else {
            return Ok(verb.scripts.iter().map(|path| Job::script(path)).collect());
        };
        let command = Command::named(name)
            .ok_or_else(|| format!("{name} submits no job: sbatch, srun or salloc is expected after --"))?;
        let argv = verb.command.clone();
        Ok(vec![Job { name: command.to_string(), command, argv, standard_input: false }])
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
        Job { name, command: Command::Sbatch, argv, standard_input }
    }

    /// Reads the job as its client would. Also how messages call the script.
    ///
    /// # Errors
    /// A script that cannot be read, and a command that submits nothing.
    pub fn read(&self, series: Series, person: &Person) -> Result<(Submission, String), Failure> {
        let first = self.read_with(series, person, &[])?;
        // What nobody knows may be an option of a SPANK plugin here.
        let unknown = first.0.problems.iter().any(|p| p.kind == ProblemKind::Unknown);
        let plugins = if unknown && !self.standard_input { slurm::plugin_options() } else { Vec::new() };
        if plugins.is_empty() { Ok(first) } else { self.read_with(series, person, &plugins) }
    }

    fn read_with(
        &self,
        series: Series,
        person: &Person,
        plugins: &[&'static Opt],
    ) -> Result<(Submission, String), Failure> {
        let line = CommandLine::new(self.command, series, &self.argv, plugins);
        let directory =
            std::env::current_dir().map_err(|e| format!("cannot tell the current directory: {e}"))?;
        let directory = directory.to_string_lossy();
        let world = World {
            environment: &|name| std::env::var_os(name).map(|v| v.to_string_lossy().into_owned()),
            directory: &directory,
            user_id: person.uid,
            group_id: person.gid,
        };
        let name = line.script().unwrap_or("stdin").to_owned();
        // The command line by itself: it may print help, or be refused before any script is read.
        let alone = line.read(&world, None);
        if let Some(nothing) = alone.problems.iter().find(|p| p.kind == ProblemKind::NoSubmission) {
            return Err(nothing.message.clone());
        }
        if line.reads_standard_input() && alone.problems.iter().any(Problem::refuses) {
            return Ok((alone, name));
        }
        let Some(text) = self.script_text(&line, &directory)? else { return Ok((alone, name)) };
        let path = line
            .script()
            .map_or_else(|| name.clone(), |typed| found(typed, line.directory().unwrap_or(&directory)));
        Ok((line.read(&world, Some(Script { path: &path, text: &text })), name))
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
