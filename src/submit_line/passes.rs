//! The steps in which a client reads its options, for each component of a job anew.
//!
//! sbatch looks at its command line first for the script alone, then takes the script's lines, the
//! environment and the command line in this order (`process_options_first_pass`,
//! `process_options_second_pass`, sbatch/opt.c). srun and salloc know no script.

use super::chosen::Chosen;
use super::describe::{self, Source};
use super::getopt::{self, Parsed, Word};
use super::options::{self, Opt};
use super::{
    Command, Component, Place, Problem, ProblemKind, Series, Submission, controller, environment, script,
};
use crate::request::description::Message;

/// `MAX_HET_JOB_COMPONENTS` of Slurm.
const MOST_COMPONENTS: usize = 128;

/// What a command line depends on.
#[derive(Clone, Copy)]
pub struct World<'w> {
    /// An environment variable's value.
    pub environment: &'w dyn Fn(&str) -> Option<String>,
    /// Where the command runs: an absolute path.
    pub directory: &'w str,
    /// Whose job it will be (uid).
    pub user_id: u32,
    /// Their group (gid).
    pub group_id: u32,
}

/// A script as the client found it.
#[derive(Clone, Copy, Debug)]
pub struct Script<'s> {
    /// Its path; slurmctld gets it absolute.
    pub path: &'s str,
    /// Its text.
    pub text: &'s str,
}

/// A command line, split into words but not yet read.
pub struct CommandLine {
    command: Command,
    series: Series,
    words: Vec<Word>,
    table: Vec<&'static Opt>,
    name: String,
    first: Parsed,
    first_words: Vec<Word>,
}

impl CommandLine {
    /// `argv` with the command itself in front. `plugins` are options of SPANK plugins besides
    /// Sluice's own.
    pub fn new(command: Command, series: Series, argv: &[String], plugins: &[&'static Opt]) -> CommandLine {
        let mut table: Vec<_> = options::of(command, series).collect();
        let known: Vec<_> =
            plugins.iter().copied().filter(|p| !table.iter().any(|o| o.name == p.name)).collect();
        table.extend(known);
        let words: Vec<Word> = argv
            .iter()
            .enumerate()
            .skip(1)
            .map(|(index, text)| Word { text: text.clone(), place: Place::Argument(index) })
            .collect();
        // The first pass sees one command line, whatever its components.
        let first_words: Vec<Word> = words.iter().filter(|w| w.text != ":").cloned().collect();
        let first = getopt::parse(&first_words, &table);
        let name = argv.first().cloned().unwrap_or_else(|| command.to_string());
        CommandLine { command, series, words, table, name, first, first_words }
    }

    /// The script that sbatch is given by name; `None` where it reads standard input, where
    /// `--wrap` stands for one, and for other commands.
    pub fn script(&self) -> Option<&str> {
        match self.command {
            Command::Sbatch => self.arguments().first().map(|w| w.text.as_str()),
            Command::Srun | Command::Salloc => None,
        }
    }

    /// `--chdir`, where sbatch looks for its script first.
    pub fn directory(&self) -> Option<&str> {
        self.first.found().rev().find(|f| f.opt.name == "chdir")?.value.as_deref()
    }

    /// Index in `argv` where one more option has its place: behind the others, before a script or command.
    pub fn end_of_options(&self) -> usize {
        let end = self.first.rest.min(self.first_words.len());
        let closed = end > 0 && self.first_words.get(end - 1).is_some_and(|word| word.text == "--");
        // The command stands in front.
        if closed { end } else { end + 1 }
    }

    /// Whether sbatch reads its script from standard input.
    pub fn reads_standard_input(&self) -> bool {
        self.command == Command::Sbatch
            && self.script().is_none()
            && self.wrapped().is_none()
            && !self.is_external()
    }

    /// The options of the command line, of all components.
    pub(super) fn found(&self) -> impl Iterator<Item = &getopt::Found> {
        self.first.found()
    }

    fn is_external(&self) -> bool {
        self.first.found().any(|f| f.opt.name == "external")
    }

    fn wrapped(&self) -> Option<&str> {
        let wraps = self.first.found().rev().filter(|f| f.opt.name == "wrap");
        wraps.filter_map(|f| f.value.as_deref()).next()
    }

    fn arguments(&self) -> &[Word] {
        self.first_words.get(self.first.rest..).unwrap_or(&[])
    }

    /// Reads everything. `script` is needed for sbatch, unless the command line says `--wrap`.
    pub fn read(&self, world: &World<'_>, script: Option<Script<'_>>) -> Submission {
        let mut submission = match self.command {
            Command::Sbatch => self.batch(world, script),
            Command::Srun | Command::Salloc => self.interactive(world),
        };
        if !submission.problems.iter().any(Problem::is_the_clients) {
            submission.problems.extend(controller::problems(&submission.components, world.user_id));
        }
        submission
    }

    fn batch(&self, world: &World<'_>, script: Option<Script<'_>>) -> Submission {
        let mut submission = Submission::default();
        submission.problems.extend(self.prints_only());
        let mut chosen = Chosen::default();
        // The first pass takes the whole command line, of all components. What is not for each
        // component stays, as if a variable had set it.
        for item in self.first.items.iter().cloned() {
            submission.problems.extend(item.and_then(|found| chosen.take_first(found)).err());
        }
        let wrapped = self.wrapped();
        if let (Some(_), Some(word)) = (wrapped, self.arguments().first()) {
            let words = "Script arguments not permitted with --wrap option".to_owned();
            submission.problems.push(Problem::client(ProblemKind::Conflict, Some("wrap"), word.place, words));
        }
        if let Some(words) = script.filter(|_| wrapped.is_none()).and_then(|s| script::refusal(s.text)) {
            let place = Place::Script { line: 1, column: 1 };
            submission.problems.push(Problem::client(ProblemKind::Script, None, place, words.to_owned()));
        }
        let text = match (wrapped, script) {
            (Some(command), _) => {
                Some(format!("#!/bin/sh\n# This script was created by sbatch --wrap.\n\n{command}\n"))
            }
            (None, Some(script)) => Some(script.text.to_owned()),
            (None, None) => None,
        };
        let mut arguments: Vec<String> = self.arguments().iter().map(|w| w.text.clone()).collect();
        if let (Some(first), Some(script)) = (arguments.first_mut(), script) {
            script.path.clone_into(first);
        }
        // What --wrap wrote is not searched for directives.
        let directives = script.filter(|_| wrapped.is_none());
        let end = self.words.len().saturating_sub(arguments.len());
        let mut words = self.words.get(..end).unwrap_or(&[]);
        for index in 0.. {
            chosen.next_component();
            let mut more = false;
            if let Some(script) = directives {
                more = self.script_options(script, index, &mut chosen, &mut submission.problems);
            }
            self.variables(world, &mut chosen, &mut submission.problems);
            let parsed = getopt::parse(words, &self.table);
            for item in parsed.items {
                let passed_over = item.as_ref().is_ok_and(|f| f.opt.early);
                if !passed_over {
                    submission.problems.extend(item.and_then(|found| chosen.take(found)).err());
                }
            }
            let next = next_component(words, parsed.rest);
            let is_last = next.is_none() && !more;
            let source = Source {
                command: self.command,
                series: self.series,
                world,
                arguments: &arguments,
                script: text.as_deref().filter(|_| index == 0),
                wrapped: wrapped.is_some(),
                submit_line: self.line(&self.words),
                het_offset: (index > 0 || !is_last).then_some(u32::try_from(index).unwrap_or(u32::MAX)),
                made_up_name: submission.made_up_name(&chosen),
            };
            submission.components.push(component(&mut chosen, &source, &mut submission.problems));
            if is_last {
                break;
            }
            if submission.components.len() >= MOST_COMPONENTS {
                submission.problems.push(Problem {
                    kind: ProblemKind::Conflict,
                    option: None,
                    place: None,
                    message: format!("a job has at most {MOST_COMPONENTS} components"),
                });
                break;
            }
            // Components that only the script has get the last options of the command line too.
            words = next.unwrap_or(words);
        }
        if let Some(script) = directives {
            submission.problems.extend(script::overlooked(script.text));
        }
        keep_nodes_apart(&mut submission.components);
        // Each pass says the same of the same option.
        let mut told: Vec<Problem> = Vec::new();
        submission.problems.retain(|p| {
            let new = !told.contains(p);
            told.extend(new.then(|| p.clone()));
            new
        });
        submission
    }

    fn script_options(
        &self,
        script: Script<'_>,
        index: usize,
        chosen: &mut Chosen,
        problems: &mut Vec<Problem>,
    ) -> bool {
        let file = script.path.rsplit('/').next().unwrap_or(script.path);
        let directives = script::directives(script.text, file, index, self.series);
        problems.extend(directives.problems);
        let parsed = getopt::parse(&directives.words, &self.table);
        for item in parsed.items {
            match item {
                Ok(found) if found.opt.early => {
                    let words = format!("--{} in a script is not read", found.opt.name);
                    problems.push(Problem::note(found.place, words));
                }
                item => problems.extend(item.and_then(|found| chosen.take(found)).err()),
            }
        }
        if let Some(word) = directives.words.get(parsed.rest) {
            let words = format!("Invalid directive found in batch script: {}", word.text);
            problems.push(Problem::client(ProblemKind::Script, None, word.place, words));
        }
        directives.more
    }

    fn variables(&self, world: &World<'_>, chosen: &mut Chosen, problems: &mut Vec<Problem>) {
        for variable in environment::of(self.command, self.series) {
            let Some(text) = (world.environment)(variable.name) else { continue };
            let Some(opt) = options::find(variable.option, self.command, self.series) else { continue };
            problems.extend(chosen.take_variable(opt, variable.name, text).err());
        }
    }

    fn interactive(&self, world: &World<'_>) -> Submission {
        let mut submission = Submission::default();
        submission.problems.extend(self.prints_only());
        if self.command == Command::Srun {
            submission.problems.extend(self.step(world));
        }
        let mut chosen = Chosen::default();
        let mut words = self.words.as_slice();
        for index in 0.. {
            chosen.next_component();
            self.variables(world, &mut chosen, &mut submission.problems);
            let parsed = getopt::parse(words, &self.table);
            for item in parsed.items {
                submission.problems.extend(item.and_then(|found| chosen.take(found)).err());
            }
            let (own, next) = self.split(words, parsed.rest);
            let arguments: Vec<String> = match own {
                [] if self.command == Command::Srun => self.next_command(next),
                own => own.iter().map(|w| w.text.clone()).collect(),
            };
            if self.command == Command::Srun
                && arguments.is_empty()
                && next.is_none()
                && !chosen.is_set("test-only")
            {
                submission.problems.push(Problem {
                    kind: ProblemKind::MissingValue,
                    option: None,
                    place: None,
                    message: "No command given to execute.".to_owned(),
                });
            }
            let source = Source {
                command: self.command,
                series: self.series,
                world,
                arguments: &arguments,
                script: None,
                wrapped: false,
                // srun hands on all of it with each component, salloc from the component on.
                submit_line: self.line(if self.command == Command::Salloc { words } else { &self.words }),
                het_offset: (index > 0 || next.is_some()).then_some(index),
                made_up_name: submission.made_up_name(&chosen),
            };
            submission.components.push(component(&mut chosen, &source, &mut submission.problems));
            match next {
                Some(next) => words = next,
                None => break,
            }
        }
        keep_nodes_apart(&mut submission.components);
        submission
    }

    /// Command and arguments of a component, and what follows its separator. srun takes a command
    /// for each component, salloc only behind the last.
    fn split<'l>(&self, words: &'l [Word], rest: usize) -> (&'l [Word], Option<&'l [Word]>) {
        let rest = words.get(rest..).unwrap_or(&[]);
        let end = match self.command {
            Command::Srun => rest.iter().position(|w| w.text == ":"),
            Command::Sbatch | Command::Salloc => rest.first().is_some_and(|w| w.text == ":").then_some(0),
        };
        let own = rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest);
        (own, end.and_then(|end| rest.get(end.saturating_add(1)..)))
    }

    /// The command of the next component that has one: srun gives it to those without.
    fn next_command(&self, mut words: Option<&[Word]>) -> Vec<String> {
        while let Some(component) = words {
            let (own, next) = self.split(component, getopt::parse(component, &self.table).rest);
            if !own.is_empty() {
                return own.iter().map(|w| w.text.clone()).collect();
            }
            words = next;
        }
        Vec::new()
    }

    /// srun within a job starts a step, and slurmctld's hook hears nothing of it.
    fn step(&self, world: &World<'_>) -> Option<Problem> {
        let jobid = self.first.found().find(|f| f.opt.name == "jobid");
        let variable = (world.environment)("SLURM_JOB_ID").map(|_| Place::Environment("SLURM_JOB_ID"));
        let place = jobid.map(|f| f.place).or(variable)?;
        let message = "srun within a job starts a step of it, and submits nothing".to_owned();
        Some(Problem { kind: ProblemKind::NoSubmission, option: None, place: Some(place), message })
    }

    /// Options that make the command print something and end.
    fn prints_only(&self) -> Option<Problem> {
        let found = self.first.found().find(|f| match f.opt.name {
            "help" | "usage" | "version" | "autocomplete" => true,
            "gres" | "hint" | "mem-bind" | "cpu-bind" | "gpu-bind" => {
                matches!(f.value.as_deref(), Some("help"))
                    || (f.opt.name, f.value.as_deref()) == ("gres", Some("list"))
            }
            "mpi" => f.value.as_deref() == Some("list"),
            _ => false,
        })?;
        let message = format!("{} --{} prints something and submits nothing", self.command, found.opt.name);
        let place = Some(found.place);
        Some(Problem { kind: ProblemKind::NoSubmission, option: Some(found.opt.name), place, message })
    }

    /// The command line as the client hands it on, from a component on.
    fn line(&self, from: &[Word]) -> String {
        let whole = from.len() == self.words.len();
        let mut line = if whole { self.name.clone() } else { ":".to_owned() };
        for word in from {
            line.push(' ');
            line.push_str(&word.text);
        }
        line
    }
}

impl Submission {
    /// The name that the client made up for the first component. It stays, for nobody takes it
    /// back.
    fn made_up_name(&self, chosen: &Chosen) -> Option<String> {
        let named = chosen.is_set("job-name");
        let first = self.components.first().filter(|_| !named)?;
        first.request.name.as_deref().map(str::to_owned)
    }
}

/// The nodes that one component names are none for the others. slurmctld says so in their
/// descriptions, ahead of the hook (`_exclude_het_job_nodes`, proc_req.c).
fn keep_nodes_apart(components: &mut [Component]) {
    let named: Vec<_> = components.iter().map(|c| c.request.req_nodes.clone()).collect();
    for (index, component) in components.iter_mut().enumerate() {
        let others = named.iter().enumerate().filter(|(other, _)| *other != index);
        for nodes in others.filter_map(|(_, nodes)| nodes.as_deref()) {
            let excluded = component.request.exc_nodes.take();
            let all = excluded.map_or_else(|| nodes.to_owned(), |before| format!("{before},{nodes}"));
            component.request.exc_nodes = Some(all.into());
        }
    }
}

/// What follows the separator that ended this component's options.
fn next_component(words: &[Word], rest: usize) -> Option<&[Word]> {
    (words.get(rest)?.text == ":").then(|| words.get(rest + 1..).unwrap_or(&[]))
}

fn component(chosen: &mut Chosen, source: &Source<'_>, problems: &mut Vec<Problem>) -> Component {
    let places = chosen.places();
    let description = describe::describe(chosen, source, problems);
    let request = description.request(Message::Submit, source.world.user_id, source.world.user_id == 0);
    Component { request, places }
}
