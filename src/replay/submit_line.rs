//! The command line of a past job as words.
//!
//! Slurm joins the words of a command with blanks and quotes nothing (`slurm_option_get_argv_str`,
//! slurm_opt.c): a value with blanks in it falls apart. Where accounting tells the value by itself it is
//! put together again; where it does not, what follows is left open rather than guessed.

/// A command line, split.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The words, the command in front.
    pub argv: Vec<String>,
    /// Where words end is not certain: options may be among what was taken for a value.
    pub open: bool,
}

/// What accounting tells of options whose values may hold blanks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told<'t> {
    /// `--comment`.
    pub comment: Option<&'t str>,
    /// `--job-name`.
    pub name: Option<&'t str>,
    /// `--chdir`.
    pub work_dir: Option<&'t str>,
    /// `--constraint`.
    pub constraints: Option<&'t str>,
}

/// Splits a command line.
pub fn words(line: &str, told: &Told<'_>) -> Words {
    let mut words = Words::default();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        if word.is_empty() {
            rest = after;
            continue;
        }
        let value_of = |long: &str, short: &str| value(rest, word, after, long, short);
        if let Some((head, value)) = value_of("--wrap", "") {
            // What is wrapped has options of its own.
            words.open |= value.split(' ').skip(1).any(|w| w.starts_with("--"));
            words.push(head, value);
            return words;
        }
        let whole = [
            (value_of("--comment", ""), told.comment),
            (value_of("--job-name", "-J"), told.name),
            (value_of("--chdir", "-D"), told.work_dir),
            (value_of("--constraint", "-C"), told.constraints),
        ];
        let known = whole.into_iter().find_map(|(found, told)| {
            let ((head, value), told) = (found?, told.filter(|t| t.contains(' '))?);
            let end = value.strip_prefix(told)?;
            (end.is_empty() || end.starts_with(' ')).then_some((head, told, end))
        });
        if let Some((head, value, end)) = known {
            words.push(head, value);
            rest = end.trim_start();
            continue;
        }
        // A reason is a sentence.
        let sentence = ["--justify", "--lineage", "--comment"].into_iter().find_map(|o| value_of(o, ""));
        if let Some((head, value)) = sentence {
            let (value, end) = until_option(value);
            words.push(head, value);
            rest = end;
            continue;
        }
        words.argv.push(word.to_owned());
        rest = after;
    }
    words
}

impl Words {
    /// `--option=value`, or `-o value` as two words.
    fn push(&mut self, head: &str, value: &str) {
        match head.strip_suffix('=') {
            Some(_) => self.argv.push(format!("{head}{value}")),
            None if head.starts_with("--") => self.argv.push(format!("{head}={value}")),
            None => self.argv.extend([head.to_owned(), value.to_owned()]),
        }
    }
}

/// Where `word` is this option: how it is written, and everything from its value on.
fn value<'l>(
    rest: &'l str,
    word: &'l str,
    after: &'l str,
    long: &str,
    short: &str,
) -> Option<(&'l str, &'l str)> {
    if word == long || (!short.is_empty() && word == short) {
        return Some((word, after));
    }
    let equals = rest.strip_prefix(long).filter(|r| r.starts_with('='));
    let head = rest.get(..long.len().checked_add(1)?);
    equals.and_then(|r| r.get(1..)).zip(head).map(|(value, head)| (head, value))
}

/// The value up to the next option; where there is none, all but the last word, which then is the script.
fn until_option(text: &str) -> (&str, &str) {
    let option = text.find(" -");
    let end = option.or_else(|| text.rfind(' ')).unwrap_or(text.len());
    let (value, rest) = text.split_at(end);
    (value, rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str, told: &Told<'_>) -> Vec<String> {
        words(line, told).argv
    }

    #[test]
    fn a_value_that_accounting_tells_is_put_together() {
        let told = Told { comment: Some("justify: all of it -c 3"), name: Some("my job"), ..Told::default() };
        let line = "sbatch --comment=justify: all of it -c 3 -J my job -p gpu job.sh arg";
        let argv = split(line, &told);
        assert_eq!(
            argv,
            ["sbatch", "--comment=justify: all of it -c 3", "-J", "my job", "-p", "gpu", "job.sh", "arg"]
        );
        let argv = split("sbatch --comment justify: all of it -c 3 job.sh", &told);
        assert_eq!(argv, ["sbatch", "--comment=justify: all of it -c 3", "job.sh"]);
    }

    #[test]
    fn a_sentence_ends_at_the_next_option_or_before_the_script() {
        let none = Told::default();
        let argv = split("sbatch --justify=needs the whole node -p gpu job.sh", &none);
        assert_eq!(argv, ["sbatch", "--justify=needs the whole node", "-p", "gpu", "job.sh"]);
        let argv = split("sbatch --justify needs the whole node job.sh", &none);
        assert_eq!(argv, ["sbatch", "--justify=needs the whole node", "job.sh"]);
    }

    #[test]
    fn what_is_wrapped_hides_what_follows() {
        let none = Told::default();
        let wrapped = words("sbatch -p gpu --wrap=python train.py -x 3", &none);
        assert_eq!(
            (wrapped.argv.last().map(String::as_str), wrapped.open),
            (Some("--wrap=python train.py -x 3"), false)
        );
        assert!(words("sbatch --wrap hostname --exclusive", &none).open);
    }
}
