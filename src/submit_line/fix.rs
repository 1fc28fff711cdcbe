//! A remedy laid into the `#SBATCH` lines of a script.
//!
//! Only what stands in the script is changed: where the command line or a variable says otherwise,
//! a script cannot put it right.

use std::ops::Range;

use super::options::{self, Arity};
use super::{Command, Component, Place, Series, script};
use crate::verdict::Remedy;

/// The script with `remedy` in the directives of component `index`; `None` where it cannot be laid
/// into them.
pub fn apply(
    text: &str,
    index: usize,
    component: &Component,
    remedy: &Remedy,
    series: Series,
) -> Option<String> {
    let script = Fixing { text, component, series };
    let mut edits = Vec::new();
    match remedy {
        Remedy::Drop { option } => edits.push(script.option(option)?.replaced("")),
        Remedy::DropFromList { option, names } => {
            let at = script.option(option)?;
            let left: Vec<&str> =
                at.value.split(',').filter(|n| !names.iter().any(|x| x == n.trim())).collect();
            if left.is_empty() {
                return None;
            }
            let typed = typed(option, &left.join(","))?;
            edits.push(at.replaced(&typed));
        }
        Remedy::Use { option, value, instead_of, .. } => {
            let mut typed = Some(typed(option, value)?);
            for name in std::iter::once(option).chain(instead_of) {
                if component.place(name).is_none() {
                    continue;
                }
                // The first place takes the new option, the others go.
                edits.push(script.option(name)?.replaced(&typed.take().unwrap_or_default()));
            }
            if let Some(typed) = typed {
                return insert(text, index, &typed);
            }
        }
        Remedy::Change(_) => return None,
    }
    // From the end, so that no edit moves another's place.
    edits.sort_by_key(|edit| std::cmp::Reverse((edit.line, edit.range.start)));
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for Edit { line, range, with } in edits {
        let old = lines.get(line)?;
        match edited(old, range, &with)? {
            Some(new) => *lines.get_mut(line)? = new,
            None => {
                lines.remove(line);
            }
        }
    }
    Some(lines.join("\n"))
}

/// The command line with `remedy` in its options; `None` where it cannot be laid into them. `end` is
/// where an option may be added, where it may: what is typed there counts more than a script and the
/// environment.
pub fn apply_to_line(
    argv: &[String],
    end: Option<usize>,
    component: &Component,
    remedy: &Remedy,
    series: Series,
) -> Option<Vec<String>> {
    let at = |name: &str| typed_at(argv, name, component, series);
    let option = |option: &str, value: &str| {
        if value.is_empty() { format!("--{option}") } else { format!("--{option}={value}") }
    };
    let mut argv = argv.to_vec();
    let mut replace = |range: Range<usize>, with: Option<String>| {
        argv.splice(range, with);
    };
    match remedy {
        Remedy::Drop { option } => replace(at(option)?.0, None),
        Remedy::DropFromList { option: name, names } => {
            let (range, value) = at(name)?;
            let left: Vec<&str> = value.split(',').filter(|n| !names.iter().any(|x| x == n.trim())).collect();
            if left.is_empty() {
                return None;
            }
            replace(range, Some(option(name, &left.join(","))));
        }
        Remedy::Use { option: name, value, instead_of, .. } => {
            let mut new = Some(option(name, value));
            let mut ranges = Vec::new();
            for other in std::iter::once(name).chain(instead_of) {
                match (component.place(other), at(other)) {
                    (None, _) => {}
                    (Some(_), Some((range, _))) => ranges.push((range, new.take())),
                    // What is typed beats what stands elsewhere; what has to go does not go by that.
                    (Some(_), None) if other == name && end.is_some() => {}
                    (Some(_), None) => return None,
                }
            }
            if let Some(new) = new {
                let end = end?;
                ranges.push((end..end, Some(new)));
            }
            // From the end, so that no change moves another's place.
            ranges.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
            ranges.into_iter().for_each(|(range, with)| replace(range, with));
        }
        Remedy::Change(_) => return None,
    }
    Some(argv)
}

/// The words of an option on the command line, and its value; `None` where it is not there, or shares
/// its word with others (`-HN1`).
fn typed_at(
    argv: &[String],
    name: &str,
    component: &Component,
    series: Series,
) -> Option<(Range<usize>, String)> {
    let place = component.place(name)?;
    let Place::Argument(index) = place else { return None };
    if component.places().iter().any(|(other, at)| *other != name && *at == place) {
        return None;
    }
    let arity = Command::named(argv.first()?)
        .and_then(|command| options::find(name, command, series))
        .map(|opt| opt.arity)?;
    let word = argv.get(index)?;
    let attached = match word.strip_prefix("--") {
        Some(long) => long.split_once('=').map(|(_, value)| value.to_owned()),
        None => Some(word.chars().skip(2).collect()).filter(|rest: &String| !rest.is_empty()),
    };
    match attached {
        Some(value) => Some((index..index.checked_add(1)?, value)),
        None if arity == Arity::Required => {
            Some((index..index.checked_add(2)?, argv.get(index.checked_add(1)?)?.clone()))
        }
        None => Some((index..index.checked_add(1)?, String::new())),
    }
}

struct Fixing<'t> {
    text: &'t str,
    component: &'t Component,
    series: Series,
}

/// Where an option stands, with its value.
struct At {
    /// From 0.
    line: usize,
    /// Characters of the line.
    range: Range<usize>,
    value: String,
}

struct Edit {
    line: usize,
    range: Range<usize>,
    with: String,
}

impl At {
    fn replaced(self, with: &str) -> Edit {
        Edit { line: self.line, range: self.range, with: with.to_owned() }
    }
}

impl Fixing<'_> {
    /// The option as it counts; `None` where it is not in the script, shares its word with others
    /// (`-HN1`), or has its value on another line.
    fn option(&self, name: &str) -> Option<At> {
        let place = self.component.place(name)?;
        let Place::Script { line, column } = place else { return None };
        if self.component.places().iter().any(|(other, at)| *other != name && *at == place) {
            return None;
        }
        let opt = options::find(name, Command::Sbatch, self.series)?;
        let line = line.checked_sub(1)?;
        let chars: Vec<char> = self.text.split('\n').nth(line)?.chars().collect();
        let start = column.checked_sub(1)?;
        let (word, end) = script::word_at(&chars, start, self.series)?;
        let attached = match word.strip_prefix("--") {
            Some(long) => long.split_once('=').map(|(_, value)| value.to_owned()),
            None => Some(word.chars().skip(2).collect()).filter(|rest: &String| !rest.is_empty()),
        };
        if attached.is_some() || opt.arity != Arity::Required {
            return Some(At { line, range: start..end, value: attached.unwrap_or_default() });
        }
        let blanks = chars.get(end..)?.iter().take_while(|c| c.is_whitespace()).count();
        let (value, end) = script::word_at(&chars, end.checked_add(blanks)?, self.series)?;
        Some(At { line, range: start..end, value })
    }
}

/// A line with a part replaced; `None` within where nothing of the directive is left.
fn edited(line: &str, range: Range<usize>, with: &str) -> Option<Option<String>> {
    let chars: Vec<char> = line.chars().collect();
    let mut head: String = chars.get(..range.start)?.iter().collect();
    let tail: String = chars.get(range.end..)?.iter().collect();
    if !with.is_empty() {
        return Some(Some(format!("{head}{with}{tail}")));
    }
    // Of the blanks around what is gone those behind it stay.
    head.truncate(head.trim_end().len());
    if tail.trim().is_empty() {
        let bare = ["#SBATCH", "#SLURM"].contains(&head.as_str());
        return Some((!bare).then_some(head));
    }
    let gap = if tail.starts_with(char::is_whitespace) { "" } else { " " };
    Some(Some(format!("{head}{gap}{tail}")))
}

/// A directive of its own, behind the last of its component.
fn insert(text: &str, index: usize, typed: &str) -> Option<String> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let behind = match script::last_directive(text, index) {
        Some(line) => line,
        None if index == 0 && text.starts_with("#!") => 1,
        None => return None,
    };
    let directive = format!("#SBATCH {typed}");
    lines.insert(behind.min(lines.len()), &directive);
    Some(lines.join("\n"))
}

/// The option as a directive has it: quotes group, and a backslash takes the next character.
fn typed(option: &str, value: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "%._-+/:=,@*[]".contains(c);
    if value.is_empty() {
        Some(format!("--{option}"))
    } else if value.chars().all(plain) {
        Some(format!("--{option}={value}"))
    } else if value.chars().any(|c| c.is_control() || "\\\"".contains(c)) {
        None
    } else {
        Some(format!("--{option}=\"{value}\""))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CommandLine, Script, Submission, World};
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Submission {
        let argv = ["sbatch", "job.sh"].map(str::to_owned);
        let line = CommandLine::new(Command::Sbatch, Series::LATEST, &argv, &[]);
        let world = World { environment: &|_| None, directory: "/home/user", user_id: 1, group_id: 1 };
        line.read(&world, Some(Script { path: "/home/user/job.sh", text }))
    }

    fn fixed(text: &str, index: usize, remedy: &Remedy) -> Option<String> {
        let text = format!("#!/bin/sh\n{text}\ntrue\n");
        let submission = read(&text);
        let fixed = apply(&text, index, submission.components.get(index).unwrap(), remedy, Series::LATEST)?;
        let body = fixed.strip_prefix("#!/bin/sh\n")?.strip_suffix("\ntrue\n").unwrap_or("");
        Some(body.to_owned())
    }

    #[test]
    fn an_option_is_dropped_and_nothing_else() {
        let drop = Remedy::Drop { option: "exclusive" };
        for (line, expected) in [
            ("#SBATCH -N1\n#SBATCH --exclusive", "#SBATCH -N1"),
            ("#SBATCH --exclusive -N1", "#SBATCH -N1"),
            ("#SBATCH -N1 --exclusive=user # why", "#SBATCH -N1 # why"),
            ("#SBATCH -N1 --exclusiv", "#SBATCH -N1"),
        ] {
            assert_eq!(fixed(line, 0, &drop).as_deref(), Some(expected), "{line}");
        }
        assert_eq!(fixed("#SBATCH -N1", 0, &drop), None);
        let drop = Remedy::Drop { option: "nodes" };
        assert_eq!(fixed("#SBATCH -N 2 -n1", 0, &drop).as_deref(), Some("#SBATCH -n1"));
        assert_eq!(fixed("#SBATCH -HN2", 0, &drop), None, "-H would go too");
        assert_eq!(fixed("#SBATCH -N\n#SBATCH 2", 0, &drop), None, "its value is on another line");
    }

    #[test]
    fn an_option_is_replaced_where_it_stands() {
        let remedy = Remedy::exactly("output", "logs/%A_%a.out");
        for (line, expected) in [
            ("#SBATCH -o logs/%j.out -N1", "#SBATCH --output=logs/%A_%a.out -N1"),
            ("#SBATCH --output=\"a b\"", "#SBATCH --output=logs/%A_%a.out"),
            ("#SBATCH -oa", "#SBATCH --output=logs/%A_%a.out"),
            ("#SBATCH -N1", "#SBATCH -N1\n#SBATCH --output=logs/%A_%a.out"),
            ("# none", "#SBATCH --output=logs/%A_%a.out\n# none"),
        ] {
            assert_eq!(fixed(line, 0, &remedy).as_deref(), Some(expected), "{line}");
        }
        let spaced = Remedy::exactly("output", "a b#c");
        assert_eq!(fixed("#SBATCH -o x", 0, &spaced).as_deref(), Some("#SBATCH --output=\"a b#c\""));
    }

    #[test]
    fn one_option_stands_in_for_several() {
        let remedy = Remedy::or_less("cpus-per-gpu", "8").instead_of(&["cpus-per-task", "ntasks"]);
        assert_eq!(
            fixed("#SBATCH -n4 -N1\n#SBATCH -c 64", 0, &remedy).as_deref(),
            Some("#SBATCH -N1\n#SBATCH --cpus-per-gpu=8")
        );
    }

    #[test]
    fn a_list_keeps_the_other_names() {
        let remedy = Remedy::DropFromList { option: "partition", names: vec!["b".to_owned()] };
        assert_eq!(fixed("#SBATCH -p a,b,c", 0, &remedy).as_deref(), Some("#SBATCH --partition=a,c"));
        assert_eq!(fixed("#SBATCH -p b", 0, &remedy), None);
    }

    #[test]
    fn each_component_has_its_own_lines() {
        let text = "#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -N2\n# end";
        let remedy = Remedy::exactly("mem", "4G");
        assert_eq!(
            fixed(text, 0, &remedy).as_deref(),
            Some("#SBATCH -n1\n#SBATCH --mem=4G\n#SBATCH hetjob\n#SBATCH -N2\n# end")
        );
        assert_eq!(
            fixed(text, 1, &remedy).as_deref(),
            Some("#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -N2\n#SBATCH --mem=4G\n# end")
        );
    }

    #[test]
    fn a_remedy_goes_into_a_command_line() {
        let laid = |line: &str, remedy: &Remedy| {
            let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let read = CommandLine::new(Command::Sbatch, Series::LATEST, &argv, &[]);
            let world = World { environment: &|_| None, directory: "/home/user", user_id: 1, group_id: 1 };
            let text = "#!/bin/sh\n#SBATCH -c 9\ntrue\n";
            let submission = read.read(&world, Some(Script { path: "/home/user/job.sh", text }));
            let component = submission.components.first().unwrap();
            let end = Some(read.end_of_options());
            apply_to_line(&argv, end, component, remedy, Series::LATEST).map(|argv| argv.join(" "))
        };
        let drop = Remedy::Drop { option: "exclusive" };
        assert_eq!(laid("sbatch --exclusive -N1 job.sh a", &drop).as_deref(), Some("sbatch -N1 job.sh a"));
        assert_eq!(laid("sbatch -N1 job.sh --exclusive", &drop), None, "an argument of the script");
        let drop = Remedy::Drop { option: "nodes" };
        assert_eq!(laid("sbatch -N 2 -n1 job.sh", &drop).as_deref(), Some("sbatch -n1 job.sh"));
        assert_eq!(laid("sbatch -HN2 job.sh", &drop), None, "-H would go too");
        let list = Remedy::DropFromList { option: "partition", names: vec!["b".to_owned()] };
        assert_eq!(laid("sbatch -pa,b job.sh", &list).as_deref(), Some("sbatch --partition=a job.sh"));
        let memory = Remedy::exactly("mem", "4G");
        assert_eq!(laid("sbatch -N1 job.sh a", &memory).as_deref(), Some("sbatch -N1 --mem=4G job.sh a"));
        assert_eq!(laid("sbatch -N1 -- job.sh", &memory).as_deref(), Some("sbatch -N1 --mem=4G -- job.sh"));
        // The command line beats the script, and takes nothing out of it.
        let cpus = Remedy::exactly("cpus-per-task", "4");
        assert_eq!(laid("sbatch job.sh", &cpus).as_deref(), Some("sbatch --cpus-per-task=4 job.sh"));
        let instead = Remedy::or_less("cpus-per-gpu", "8").instead_of(&["cpus-per-task"]);
        assert_eq!(laid("sbatch job.sh", &instead), None);
        assert_eq!(
            laid("sbatch -c 64 -N1 job.sh", &instead).as_deref(),
            Some("sbatch --cpus-per-gpu=8 -N1 job.sh")
        );
    }

    proptest! {
        #[test]
        fn a_remedy_in_any_script_is_what_is_read_back(
            lines in proptest::collection::vec("#SBATCH( (-N ?[1-4]|--mem=[1-9]G|-c[1-9]|-H|--comment='a b'|-o \"x y\"|# c|é)){0,4}", 0..5)
        ) {
            let text = format!("#!/bin/sh\n{}\ntrue\n", lines.join("\n"));
            let before = read(&text);
            let remedy = Remedy::exactly("mem", "77G");
            let first = before.components.first().unwrap();
            if let Some(new) = apply(&text, 0, first, &remedy, Series::LATEST) {
                let after = read(&new);
                let request = &after.components.first().unwrap().request;
                if !before.problems.iter().any(super::super::Problem::refuses) {
                    prop_assert_eq!(request.memory, crate::request::Memory::PerNode(77 << 10));
                    let same = crate::request::Request { memory: first.request.memory, ..request.clone() };
                    let unscripted = crate::request::Request { script: None, ..same };
                    let original = crate::request::Request { script: None, ..first.request.clone() };
                    prop_assert_eq!(unscripted, original);
                }
            }
        }
    }
}
