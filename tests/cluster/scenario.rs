//! The grammar of a scenario file.
//!
//! ```text
//! # a remark
//! == What is shown [24.11+: why it cannot be shown elsewhere]
//! alice$ sbatch --wrap=true
//! Submitted batch job [JOB]
//! [22.05] only that series prints this line
//! root@ctld$ cat <<'END'
//! > several lines, each continued with "> "
//! > END
//! ...
//! [exit 1]
//! alice~$ squeue -h -j $JOB -o %T      (typed again until the answer is the expected one)
//! RUNNING
//! @docs/page.md                        (the `console` blocks of that page, each command patiently)
//! ```
//!
//! `USER$` is at the login node, `USER@CONTAINER$` elsewhere. See `expect` for the expected lines.
//! `$SERIES` and `[SERIES]` are the Slurm series; a page is written for 24.11.

use std::path::Path;

use libtest_mimic::Trial;

use crate::series::{Range, Series};

#[derive(Clone, Debug)]
pub struct File {
    pub name: String,
    pub scenarios: Vec<Scenario>,
}

#[derive(Clone, Debug)]
pub struct Scenario {
    pub title: String,
    /// Where it can be played, and what to say elsewhere.
    only: Option<(Range, String)>,
    pub steps: Vec<Step>,
}

/// One command and what must come back.
#[derive(Clone, Debug)]
pub struct Step {
    pub user: String,
    pub container: String,
    pub command: String,
    /// Typed again until it holds.
    pub patient: bool,
    expected: Vec<(Option<Range>, String)>,
    exit: Vec<(Option<Range>, i32)>,
    /// Where it stands: `FILE:LINE`.
    pub place: String,
}

impl Scenario {
    /// Why it is not played on `series`.
    pub fn left_out(&self, series: Series) -> Option<String> {
        self.only.as_ref().filter(|(range, _)| !range.contains(series)).map(|(_, reason)| reason.clone())
    }
}

impl Step {
    pub fn expected(&self, series: Series) -> Vec<&str> {
        let here = |range: &Option<Range>| range.is_none_or(|range| range.contains(series));
        self.expected.iter().filter(|(range, _)| here(range)).map(|(_, line)| line.as_str()).collect()
    }

    /// 0 unless the scenario says otherwise.
    pub fn exit(&self, series: Series) -> i32 {
        let here = |range: &Option<Range>| range.is_none_or(|range| range.contains(series));
        self.exit.iter().find(|(range, _)| here(range)).map_or(0, |&(_, code)| code)
    }
}

/// All `*.session` files, by name.
pub fn read_folder(folder: &Path) -> Result<Vec<File>, String> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .map_err(|e| format!("{}: {e}", folder.display()))?
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.extension().is_some_and(|x| x == "session"))
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = read(path)?;
            Ok(File { scenarios: parse(&name, &text)?, name })
        })
        .collect()
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// What a page of the documentation says to type, and what comes back.
fn page(name: &str) -> Result<Vec<Step>, String> {
    let mut inside = false;
    let mut session = format!("== {name}\n");
    for line in read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(name))?.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside {
            // In a command the shell fills it in, in an answer the comparison.
            let series = if prompt(line, "").is_some() { "${SERIES}" } else { "[SERIES]" };
            session.push_str(&line.replace("24.11", series));
        }
        // Lines keep their numbers.
        session.push('\n');
    }
    let mut steps: Vec<Step> = parse(name, &session)?.into_iter().flat_map(|s| s.steps).collect();
    for step in &mut steps {
        step.patient = true;
    }
    Ok(steps)
}

fn parse(file: &str, text: &str) -> Result<Vec<Scenario>, String> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let place = format!("{file}:{}", number + 1);
        let wrong = |what: &str| Err(format!("{place}: {what}: {line}"));
        if line.trim().is_empty() || line.starts_with("# ") || line == "#" {
            continue;
        }
        if let Some(title) = line.strip_prefix("== ") {
            let Some(scenario) = heading(title) else { return wrong("no such heading") };
            scenarios.push(scenario);
            continue;
        }
        let Some(scenario) = scenarios.last_mut() else { return wrong("before the first heading") };
        if let Some(step) = prompt(line, &place) {
            scenario.steps.push(step);
            continue;
        }
        if let Some(name) = line.strip_prefix('@') {
            scenario.steps.extend(page(name)?);
            continue;
        }
        let Some(step) = scenario.steps.last_mut() else { return wrong("before the first command") };
        if let Some(more) = line.strip_prefix("> ").or(line.strip_prefix('>')) {
            step.command.push('\n');
            step.command.push_str(more);
            continue;
        }
        let (range, line) = ranged(line);
        match line.strip_prefix("[exit ").and_then(|rest| rest.strip_suffix(']')) {
            None => step.expected.push((range, line.to_owned())),
            Some(code) => match code.parse() {
                Ok(code) => step.exit.push((range, code)),
                Err(_) => return wrong("no such exit status"),
            },
        }
    }
    Ok(scenarios)
}

/// `Title [RANGE: reason]`.
fn heading(text: &str) -> Option<Scenario> {
    let (title, only) = match text.split_once(" [") {
        None => (text, None),
        Some((title, rest)) => {
            let (range, reason) = rest.strip_suffix(']')?.split_once(": ")?;
            (title, Some((Range::parse(range)?, reason.to_owned())))
        }
    };
    Some(Scenario { title: title.to_owned(), only, steps: Vec::new() })
}

/// `USER[@CONTAINER][~]$ COMMAND`.
fn prompt(line: &str, place: &str) -> Option<Step> {
    let (who, command) = line.split_once("$ ")?;
    let (who, patient) = who.strip_suffix('~').map_or((who, false), |who| (who, true));
    let (user, container) = who.split_once('@').unwrap_or((who, "login"));
    let name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric());
    (name(user) && name(container)).then(|| Step {
        user: user.to_owned(),
        container: container.to_owned(),
        command: command.to_owned(),
        patient,
        expected: Vec::new(),
        exit: Vec::new(),
        place: place.to_owned(),
    })
}

/// `[RANGE] line`, or the line for every series.
fn ranged(line: &str) -> (Option<Range>, &str) {
    line.strip_prefix('[')
        .and_then(|rest| rest.split_once("] "))
        .and_then(|(range, line)| Some((Some(Range::parse(range)?), line)))
        .unwrap_or((None, line))
}

pub fn self_tests() -> Vec<Trial> {
    let steps = |text: &str| parse("t", text).expect("parses").remove(0).steps;
    vec![
        Trial::test("scenario grammar: a line is for the series that it names", move || {
            let step = &steps("== t\na$ x\n[22.05] old\n[24.11+] new\nboth\n[22.05] [exit 1]\n")[0];
            assert_eq!(step.expected(Series::parse("22.05").expect("a series")), ["old", "both"]);
            assert_eq!(step.expected(Series::parse("26.05").expect("a series")), ["new", "both"]);
            assert_eq!(step.exit(Series::parse("22.05").expect("a series")), 1);
            assert_eq!(step.exit(Series::parse("24.11").expect("a series")), 0);
            Ok(())
        }),
        Trial::test("scenario grammar: a command goes on over lines, a user may be elsewhere", move || {
            let step = &steps("== t\nroot@ctld~$ cat <<E\n> one\n> E\n")[0];
            assert_eq!((step.user.as_str(), step.container.as_str(), step.patient), ("root", "ctld", true));
            assert_eq!(step.command, "cat <<E\none\nE");
            Ok(())
        }),
        Trial::test("scenario grammar: what stands nowhere is refused", || {
            assert!(parse("t", "a$ x\n").is_err());
            assert!(parse("t", "== t\nan answer to nothing\n").is_err());
            assert!(parse("t", "== t [soon: because]\n").is_err());
            Ok(())
        }),
    ]
}
