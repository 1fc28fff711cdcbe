//! What neither the client nor slurmctld says of a submission, and its author would want to know.

use super::options::{self, Arity};
use super::{Command, CommandLine, Place, Problem, Series, getopt, script};

/// What is peculiar in a script's `#SBATCH` lines.
pub fn of_script(text: &str, series: Series) -> Vec<Problem> {
    let table: Vec<_> = options::of(Command::Sbatch, series).collect();
    let mut notes = Vec::new();
    for component in 0.. {
        let directives = script::directives(text, "", component, series);
        for word in &directives.words {
            notes.extend(unexpanded(&word.text).map(|what| {
                Problem::note(
                    word.place,
                    format!("{what} stays as it is: sbatch expands nothing in #SBATCH lines"),
                )
            }));
        }
        let parsed = getopt::parse(&directives.words, &table);
        notes.extend(parsed.found().filter_map(empty));
        if !directives.more {
            break;
        }
    }
    notes
}

impl CommandLine {
    /// What is peculiar on the command line: values that a shell has left empty.
    pub fn advice(&self) -> Vec<Problem> {
        self.found().filter_map(empty).collect()
    }
}

fn empty(found: &getopt::Found) -> Option<Problem> {
    let is_empty = found.opt.arity != Arity::No && found.value.as_deref() == Some("");
    is_empty.then(|| {
        let mut note = Problem::note(found.place, format!("--{} has an empty value", found.opt.name));
        note.option = Some(found.opt.name);
        note
    })
}

/// What a shell would expand in a word: a variable, a command, a home folder.
fn unexpanded(word: &str) -> Option<String> {
    let value = if word.starts_with('-') { word.split_once('=').map_or(word, |(_, v)| v) } else { word };
    if value.starts_with("~/") {
        return Some("~".to_owned());
    }
    if value.contains('`') {
        return Some("`...`".to_owned());
    }
    let (_, after) = value.split_once('$')?;
    let name =
        |text: &str| text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>();
    match after.chars().next()? {
        '(' => Some("$(...)".to_owned()),
        '{' => Some(format!("${{{}}}", name(after.get(1..)?))),
        c if c.is_ascii_alphabetic() || c == '_' => Some(format!("${}", name(after))),
        _ => None,
    }
}

impl Problem {
    /// A note about an option as a whole, for what only the caller can look up.
    pub fn advice(option: &'static str, place: Option<Place>, message: String) -> Problem {
        Problem { kind: super::ProblemKind::Note, option: Some(option), place, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(line: &str) -> Vec<String> {
        let text = format!("#!/bin/sh\n#SBATCH {line}\ntrue\n");
        of_script(&text, Series::LATEST).into_iter().map(|p| p.message).collect()
    }

    #[test]
    fn what_a_shell_would_expand_is_told() {
        for (line, what) in [
            ("--output=$HOME/log", "$HOME"),
            ("-o ${LOGS}/log", "${LOGS}"),
            ("--comment=\"by $(id -un)\"", "$(...)"),
            ("--comment=`date`", "`...`"),
            ("-o ~/log", "~"),
            ("--output=~/log", "~"),
        ] {
            assert_eq!(
                notes(line),
                [format!("{what} stays as it is: sbatch expands nothing in #SBATCH lines")],
                "{line}"
            );
        }
        for line in ["-o logs/%j.out", "--comment='5$ each'", "--comment=a~b", "--mem=4G # $HOME"] {
            assert_eq!(notes(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn empty_values_are_told() {
        assert_eq!(notes("--account= --partition=a"), ["--account has an empty value"]);
        assert_eq!(notes("--account=\"\""), ["--account has an empty value"]);
        let argv = ["sbatch", "--qos=", "-A", "", "job.sh"].map(str::to_owned);
        let line = CommandLine::new(Command::Sbatch, Series::LATEST, &argv, &[]);
        let told: Vec<_> = line.advice().into_iter().map(|p| p.message).collect();
        assert_eq!(told, ["--qos has an empty value", "--account has an empty value"]);
    }

    #[test]
    fn each_component_is_looked_at() {
        let text = "#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -o $HOME/x\n";
        let notes = of_script(text, Series::LATEST);
        assert_eq!(notes.len(), 1);
        assert_eq!(notes[0].place, Some(Place::Script { line: 4, column: 12 }));
    }
}
