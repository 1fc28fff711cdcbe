//! The `#SBATCH` lines of a script, read as sbatch reads them (`_opt_batch_script`, sbatch/opt.c).
//!
//! A directive starts its line. Lines are read up to the first that is neither blank nor a comment.
//! Blanks separate words, quotes group, a backslash takes the next character as it is, and `#`
//! starts a comment wherever it is not quoted, also inside a word.

use super::getopt::Word;
use super::value::is_space;
use super::{Place, Problem, ProblemKind, Series};

/// The directives of one component of a job.
#[derive(Clone, Debug, Default)]
pub struct Directives {
    /// All words of all its lines, in order: an option's value may stand on the next line.
    pub words: Vec<Word>,
    /// What sbatch ends on.
    pub problems: Vec<Problem>,
    /// Whether another component follows (`#SBATCH hetjob`).
    pub more: bool,
}

/// The directives of component `component` (from 0). `file` is what sbatch calls the script.
pub fn directives(text: &str, file: &str, component: usize, series: Series) -> Directives {
    let mut found = Directives::default();
    let mut at = 0;
    for line in lines(text) {
        let Some((directive, column)) = line.directive() else { continue };
        if separator(directive).is_some() {
            at += 1;
        }
        if at > component {
            found.more = true;
            break;
        }
        if at == component {
            line_words(directive, (line.number, column), file, series, &mut found);
        }
    }
    found
}

/// A line that sbatch looks at.
struct Line<'t> {
    text: &'t str,
    number: usize,
}

impl<'t> Line<'t> {
    /// What follows `#SBATCH`, without blanks in front, and its column.
    fn directive(&self) -> Option<(&'t str, usize)> {
        let rest = self.text.strip_prefix("#SBATCH").or_else(|| self.text.strip_prefix("#SLURM"))?;
        let start = rest.trim_start_matches(is_space);
        let column = self.text.chars().count() - start.chars().count() + 1;
        Some((start, column))
    }

    fn is_command(&self) -> bool {
        self.text.chars().find(|&c| !is_space(c)).is_some_and(|c| c != '#')
    }
}

/// The lines up to the first command.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    numbered(text).take_while(|line| !line.is_command())
}

fn numbered(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.split('\n').zip(1..).map(|(text, number)| Line { text, number })
}

/// Length of `hetjob` or `packjob` where the directive is one.
fn separator(directive: &str) -> Option<usize> {
    ["packjob", "hetjob"].into_iter().map(str::len).zip(["packjob", "hetjob"]).find_map(|(len, word)| {
        let head = directive.get(..len)?;
        let after = directive.get(len..)?.chars().next();
        (head.eq_ignore_ascii_case(word) && after.is_none_or(is_space)).then_some(len)
    })
}

/// The words of one line, `get_argument` of sbatch/opt.c over and over.
fn line_words(
    text: &str,
    (line, column): (usize, usize),
    file: &str,
    series: Series,
    found: &mut Directives,
) {
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    loop {
        while chars.get(at).is_some_and(|&c| is_space(c)) {
            at += 1;
        }
        let rest: String = chars.get(at..).unwrap_or(&[]).iter().collect();
        let place = Place::Script { line, column: column + at };
        if rest.is_empty() || separator(&rest).is_some() {
            // sbatch blanks the separator out and then finds an empty word: the line ends here.
            return;
        }
        if rest.starts_with(':') {
            let words = format!("{file}: line {line}: Unexpected `:` in [{rest}]");
            found.problems.push(Problem::client(ProblemKind::Script, None, place, words));
            return;
        }
        match word(&chars, &mut at, series) {
            Ok(Some(text)) => found.words.push(Word { text, place }),
            Ok(None) => return,
            Err(quote) => {
                let words = format!("{file}: line {line}: Unmatched `{quote}` in [{rest}]");
                found.problems.push(Problem::client(ProblemKind::Script, None, place, words));
                return;
            }
        }
    }
}

/// One word from `at` on, which is moved behind it. `None` where nothing was copied, which also
/// ends the line: an empty pair of quotes, or a comment. The error is the quote left open.
fn word(chars: &[char], at: &mut usize, series: Series) -> Result<Option<String>, char> {
    let mut text: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut escaped = false;
    while let Some(&c) = chars.get(*at).filter(|&&c| quote.is_some() || !is_space(c)) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            *at += 1;
            if chars.get(*at) == Some(&' ') && series >= Series::V24_11 {
                text.get_or_insert_default().push(' ');
                *at += 1;
            } else {
                escaped = true;
            }
            continue;
        } else if let Some(q) = quote {
            if c == q {
                quote = None;
                *at += 1;
                continue;
            }
        } else if c == '"' || c == '\'' {
            quote = Some(c);
            *at += 1;
            continue;
        } else if c == '#' {
            break;
        }
        text.get_or_insert_default().push(c);
        *at += 1;
    }
    match quote {
        Some(quote) => Err(quote),
        None => Ok(text),
    }
}

/// The word that starts at a character of a line, and the character behind it.
pub fn word_at(line: &[char], start: usize, series: Series) -> Option<(String, usize)> {
    let mut end = start;
    let text = word(line, &mut end, series).ok()??;
    Some((text, end))
}

/// The last line (from 1) that holds a directive of component `component` (from 0).
pub fn last_directive(text: &str, component: usize) -> Option<usize> {
    let mut at = 0usize;
    let mut last = None;
    for line in lines(text) {
        let Some((directive, _)) = line.directive() else { continue };
        if separator(directive).is_some() {
            at = at.saturating_add(1);
        }
        if at == component {
            last = Some(line.number);
        }
    }
    last
}

/// What sbatch passes over without a word, and a user would want to know.
pub fn overlooked(text: &str) -> Vec<Problem> {
    let mut notes = Vec::new();
    let mut note = |line: usize, column: usize, words: &str| {
        notes.push(Problem::note(Place::Script { line, column }, words.to_owned()));
    };
    let mut command = false;
    for line in numbered(text) {
        let start = line.text.trim_start_matches(is_space);
        let column = line.text.chars().count() - start.chars().count() + 1;
        let after_name = start.strip_prefix("#SBATCH").and_then(|rest| rest.chars().next());
        let looks_like_one = after_name.is_some_and(|c| c.is_whitespace() || c == '-');
        command = command || line.is_command();
        if looks_like_one && command {
            note(line.number, column, "#SBATCH after the first command is not read");
        } else if looks_like_one && column > 1 {
            note(line.number, column, "#SBATCH is read only at the start of a line");
        } else if after_name == Some('\u{a0}') || (looks_like_one && line.text.contains('\u{a0}')) {
            let at = line.text.chars().position(|c| c == '\u{a0}').map_or(1, |i| i + 1);
            note(line.number, at, "a non-breaking space is part of a word, not a blank between words");
        } else if let Some(len) = line.directive().and_then(|(text, _)| separator(text)) {
            let rest = line.directive().and_then(|(text, _)| text.get(len..)).unwrap_or("");
            if !rest.trim_matches(is_space).is_empty() {
                note(line.number, column, "options on the line of #SBATCH hetjob are not read");
            }
        } else if line.text.starts_with("#SLURM") && !command {
            note(line.number, column, "sbatch reads #SLURM lines and asks for #SBATCH in their place");
        } else if start.starts_with("# SBATCH")
            || start.starts_with("#sbatch")
            || start.starts_with("##SBATCH")
        {
            if start.contains(" -") && !start.starts_with("##") {
                note(line.number, column, "not read: a directive starts with #SBATCH");
            }
        } else if start.starts_with("#PBS ") && !command && column == 1 {
            note(line.number, column, "sbatch reads #PBS lines too; this check does not");
        }
    }
    notes
}

/// What sbatch says of a script that it does not take at all (`_get_script_buffer`, sbatch.c).
pub fn refusal(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        Some("Batch script is empty!")
    } else if text.chars().all(is_space) {
        Some("Batch script contains only whitespace!")
    } else if !text.starts_with("#!") {
        Some(
            "This does not look like a batch script. The first line must start with #! followed by the path to an \
             interpreter.",
        )
    } else if text.contains('\0') {
        Some("The Slurm controller does not allow scripts that contain a NULL character '\\0'.")
    } else if text.contains("\r\n") {
        Some("Batch script contains DOS line breaks (\\r\\n) instead of expected UNIX line breaks (\\n).")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        directives(text, "job.sh", 0, Series::LATEST).words.into_iter().map(|w| w.text).collect()
    }

    fn problems(text: &str) -> Vec<String> {
        directives(text, "job.sh", 0, Series::LATEST).problems.into_iter().map(|p| p.message).collect()
    }

    #[test]
    fn directives_end_at_the_first_command() {
        let text = "#!/bin/sh\n#SBATCH -N2\n\n# a comment\n  \t\n#SBATCH -n4\nset -e\n#SBATCH --hold\n";
        assert_eq!(words(text), ["-N2", "-n4"]);
    }

    #[test]
    fn a_directive_starts_its_line_and_needs_no_blank() {
        assert_eq!(
            words(" #SBATCH -N2\n##SBATCH -N3\n#SBATCH-N4\n#sbatch -N5\n#SLURM -n1\n"),
            ["-N4", "-n1"]
        );
    }

    #[test]
    fn quotes_and_backslashes_group_words() {
        for (line, expected) in [
            (r#"--comment="two words" -n1"#, &["--comment=two words", "-n1"][..]),
            (r"--comment='two words'", &["--comment=two words"]),
            (r"--comment=two\ words", &["--comment=two words"]),
            (r#"--comment=\"quoted\""#, &[r#"--comment="quoted""#]),
            (r#"--comment="a \"b\" c""#, &[r#"--comment=a "b" c"#]),
            (r"--comment=a\\b", &[r"--comment=a\b"]),
            (r"--comment=a\#b", &["--comment=a#b"]),
            (r#"--comment="a # b" -n1"#, &["--comment=a # b", "-n1"]),
            ("--comment=a#b -n1", &["--comment=a"]),
            ("-n1 # four tasks", &["-n1"]),
            ("-n1 #-n4", &["-n1"]),
            (r#"--comment="" -n1"#, &["--comment=", "-n1"]),
            (r#""" -n1"#, &[]),
            (r#"--comm"ent=x y"z"#, &["--comment=x yz"]),
            ("-n1\t-N2\r", &["-n1", "-N2"]),
            (r"-n1 \", &["-n1"]),
        ] {
            assert_eq!(words(&format!("#SBATCH {line}\n")), expected, "{line}");
        }
    }

    #[test]
    fn a_blank_behind_a_backslash_is_a_blank_in_22_05() {
        let found = directives("#SBATCH --comment=a\\ b\n", "x", 0, Series::V22_05);
        assert_eq!(found.words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>(), ["--comment=a", "b"]);
    }

    #[test]
    fn an_open_quote_and_a_colon_end_sbatch() {
        assert_eq!(problems("#!/bin/sh\n#SBATCH -J \"a b\n"), ["job.sh: line 2: Unmatched `\"` in [\"a b]"]);
        assert_eq!(problems("#SBATCH : -n1\n"), ["job.sh: line 1: Unexpected `:` in [: -n1]"]);
    }

    #[test]
    fn components_are_told_apart() {
        let text = "#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -n2\n#SBATCH PACKJOB -n9\n#SBATCH -n3\n";
        let of = |i| {
            let d = directives(text, "x", i, Series::LATEST);
            (d.words.into_iter().map(|w| w.text).collect::<Vec<_>>(), d.more)
        };
        assert_eq!(of(0), (vec!["-n1".to_owned()], true));
        assert_eq!(of(1), (vec!["-n2".to_owned()], true));
        assert_eq!(of(2), (vec!["-n3".to_owned()], false));
        assert_eq!(of(3), (vec![], false));
    }

    #[test]
    fn places_are_lines_and_columns() {
        let found = directives("#!/bin/sh\n#SBATCH  -N2 --hold\n", "x", 0, Series::LATEST);
        let places: Vec<_> = found.words.iter().map(|w| w.place).collect();
        assert_eq!(places, [Place::Script { line: 2, column: 10 }, Place::Script { line: 2, column: 14 }]);
    }

    #[test]
    fn what_is_overlooked_is_noted() {
        let notes = |text: &str| overlooked(text).into_iter().map(|p| p.message).collect::<Vec<_>>();
        assert_eq!(
            notes("#!/bin/sh\nset -e\n#SBATCH -n1\n"),
            ["#SBATCH after the first command is not read"]
        );
        assert_eq!(notes("#!/bin/sh\n #SBATCH -n1\n"), ["#SBATCH is read only at the start of a line"]);
        assert_eq!(notes("# SBATCH -n1\n"), ["not read: a directive starts with #SBATCH"]);
        assert_eq!(notes("#SBATCH -n1\u{a0}-N2\n").len(), 1);
        assert_eq!(notes("#SBATCH\u{a0}-N2\n").len(), 1);
        assert_eq!(notes("#SBATCH hetjob -n4\n").len(), 1);
        assert_eq!(notes("#PBS -l nodes=2\n").len(), 1);
        assert_eq!(notes("#!/bin/sh\n#SBATCH -n1\n##SBATCH -N2\necho '#SBATCH'\n"), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_script_is_read_without_a_panic(text in "(#SBATCH|#SLURM|hetjob|[ \\t\\n\"'\\\\#:a=-]|\\PC){0,60}") {
            for component in 0..3 {
                let _ = directives(&text, "x", component, Series::LATEST);
            }
            let _ = (overlooked(&text), refusal(&text));
        }

        #[test]
        fn quoted_words_come_back_whole(text in "[^\"\\\\\n]{1,20}") {
            prop_assert_eq!(words(&format!("#SBATCH --comment=\"{text}\"\n")), [format!("--comment={text}")]);
        }
    }
}
