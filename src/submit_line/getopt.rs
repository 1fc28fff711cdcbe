//! GNU getopt_long as the clients call it: stops at the first word that is no option, takes long
//! names by any unambiguous prefix and short ones bundled, and complains in glibc's words.

use super::options::{Arity, Opt};
use super::{Place, Problem, ProblemKind};

/// A word of a command line or script, with where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word, quotes resolved.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

/// An option as it was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Which.
    pub opt: &'static Opt,
    /// Its value.
    pub value: Option<String>,
    /// Where it stands.
    pub place: Place,
}

/// What a row of words holds.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// In order: options, and what getopt complains of. The client stops at the first complaint;
    /// they are all here.
    pub items: Vec<Result<Found, Problem>>,
    /// Index of the first word that is no option.
    pub rest: usize,
}

impl Parsed {
    /// The options alone.
    pub fn found(&self) -> impl DoubleEndedIterator<Item = &Found> {
        self.items.iter().filter_map(|item| item.as_ref().ok())
    }
}

/// Reads options from `words` (without the command's own name).
pub fn parse(words: &[Word], table: &[&'static Opt]) -> Parsed {
    let mut parsed = Parsed::default();
    let mut index = 0;
    while let Some(word) = words.get(index) {
        let text = word.text.as_str();
        if text == "--" {
            index += 1;
            break;
        }
        if text.len() < 2 || !text.starts_with('-') {
            break;
        }
        let next = words.get(index + 1).map(|w| w.text.as_str());
        let took_next = match text.strip_prefix("--") {
            Some(long) => long_option(long, word, next, table, &mut parsed),
            None => short_options(text.trim_start_matches('-'), word, next, table, &mut parsed),
        };
        index += if took_next { 2 } else { 1 };
    }
    parsed.rest = index;
    parsed
}

fn long_option(
    text: &str,
    word: &Word,
    next: Option<&str>,
    table: &[&'static Opt],
    parsed: &mut Parsed,
) -> bool {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let mut complain = |kind, words: String, option| {
        parsed.items.push(Err(Problem::client(kind, option, word.place, words)));
    };
    let opt = match named(name, table) {
        Named::One(opt) => opt,
        Named::Several(candidates) => {
            let names: Vec<String> = candidates.iter().map(|o| format!("'--{}'", o.name)).collect();
            let words = format!("option '--{text}' is ambiguous; possibilities: {}", names.join(" "));
            complain(ProblemKind::Ambiguous, words, None);
            return false;
        }
        Named::None => {
            complain(ProblemKind::Unknown, format!("unrecognized option '--{text}'"), None);
            return false;
        }
    };
    match (opt.arity, value, next) {
        (Arity::No, Some(_), _) => {
            let words = format!("option '--{}' doesn't allow an argument", opt.name);
            complain(ProblemKind::UnwantedValue, words, Some(opt.name));
            false
        }
        (Arity::Required, None, None) => {
            let words = format!("option '--{}' requires an argument", opt.name);
            complain(ProblemKind::MissingValue, words, Some(opt.name));
            false
        }
        (Arity::Required, None, Some(next)) => {
            parsed.items.push(Ok(Found { opt, value: Some(next.to_owned()), place: word.place }));
            true
        }
        (_, value, _) => {
            parsed.items.push(Ok(Found { opt, value: value.map(str::to_owned), place: word.place }));
            false
        }
    }
}

fn short_options(
    letters: &str,
    word: &Word,
    next: Option<&str>,
    table: &[&'static Opt],
    parsed: &mut Parsed,
) -> bool {
    let mut rest = letters.chars();
    while let Some(letter) = rest.next() {
        let Some(opt) = table.iter().copied().find(|o| o.short == Some(letter)) else {
            let words = format!("invalid option -- '{letter}'");
            parsed.items.push(Err(Problem::client(ProblemKind::Unknown, None, word.place, words)));
            continue;
        };
        let attached = Some(rest.as_str()).filter(|r| !r.is_empty());
        match (opt.arity, attached, next) {
            (Arity::No, ..) => parsed.items.push(Ok(Found { opt, value: None, place: word.place })),
            (Arity::Optional, attached, _) => {
                parsed.items.push(Ok(Found { opt, value: attached.map(str::to_owned), place: word.place }));
                return false;
            }
            (Arity::Required, Some(value), _) => {
                parsed.items.push(Ok(Found { opt, value: Some(value.to_owned()), place: word.place }));
                return false;
            }
            (Arity::Required, None, Some(next)) => {
                parsed.items.push(Ok(Found { opt, value: Some(next.to_owned()), place: word.place }));
                return true;
            }
            (Arity::Required, None, None) => {
                let words = format!("option requires an argument -- '{letter}'");
                let problem = Problem::client(ProblemKind::MissingValue, Some(opt.name), word.place, words);
                parsed.items.push(Err(problem));
                return false;
            }
        }
    }
    false
}

enum Named {
    One(&'static Opt),
    Several(Vec<&'static Opt>),
    None,
}

/// The option of this name or prefix. Two names for the same thing do not make it ambiguous.
fn named(name: &str, table: &[&'static Opt]) -> Named {
    if let Some(opt) = table.iter().find(|o| o.name == name) {
        return Named::One(opt);
    }
    let mut candidates = table.iter().copied().filter(|o| o.name.starts_with(name));
    let Some(first) = candidates.next() else { return Named::None };
    let mut all = vec![first];
    all.extend(candidates.filter(|o| o.key != first.key || o.arity != first.arity));
    if all.len() == 1 { Named::One(first) } else { Named::Several(all) }
}

#[cfg(test)]
mod tests {
    use super::super::{Command, Series, options};
    use super::*;

    fn words(line: &[&str]) -> Vec<Word> {
        let word = |(i, t): (usize, &&str)| Word { text: (*t).to_owned(), place: Place::Argument(i + 1) };
        line.iter().enumerate().map(word).collect()
    }

    /// Names and values, complaints, and where the options end.
    type Outcome = (Vec<(&'static str, Option<String>)>, Vec<String>, usize);

    fn read(line: &[&str]) -> Outcome {
        let table: Vec<_> = options::of(Command::Sbatch, Series::V26_05).collect();
        let parsed = parse(&words(line), &table);
        let found = parsed.found().map(|f| (f.opt.name, f.value.clone())).collect();
        (found, parsed.items.into_iter().filter_map(Result::err).map(|p| p.message).collect(), parsed.rest)
    }

    #[test]
    fn values_stand_in_every_form() {
        for line in [&["--nodes=2"][..], &["--nodes", "2"], &["-N2"], &["-N", "2"], &["--node=2", "x"]] {
            let (found, problems, _) = read(line);
            if problems.is_empty() {
                assert_eq!(found, [("nodes", Some("2".to_owned()))], "{line:?}");
            }
        }
        assert_eq!(read(&["-Hn4"]).0, [("hold", None), ("ntasks", Some("4".to_owned()))]);
        assert_eq!(read(&["-k", "off"]).0, [("no-kill", None)]);
        assert_eq!(read(&["-koff"]).0, [("no-kill", Some("off".to_owned()))]);
        assert_eq!(read(&["--exclusive", "user"]), (vec![("exclusive", None)], vec![], 1));
        assert_eq!(read(&["--wrap="]).0, [("wrap", Some(String::new()))]);
    }

    #[test]
    fn prefixes_are_names_while_only_one_option_has_them() {
        assert_eq!(read(&["--exclus"]).0, [("exclusive", None)]);
        assert_eq!(read(&["--part=gpu"]).0, [("partition", Some("gpu".to_owned()))]);
        assert_eq!(read(&["--mem=1"]).0, [("mem", Some("1".to_owned()))]);
        assert_eq!(
            read(&["--gpus-per-=1"]).1,
            ["option '--gpus-per-=1' is ambiguous; possibilities: '--gpus-per-node' \
              '--gpus-per-socket' '--gpus-per-task'"]
        );
    }

    #[test]
    fn what_getopt_says_is_said_in_its_words() {
        for (line, words) in [
            (&["--justification=x"][..], "unrecognized option '--justification=x'"),
            (&["--hold=1"], "option '--hold' doesn't allow an argument"),
            (&["--array"], "option '--array' requires an argument"),
            (&["-y"], "invalid option -- 'y'"),
            (&["-N"], "option requires an argument -- 'N'"),
        ] {
            assert_eq!(read(line).1, [words], "{line:?}");
        }
    }

    #[test]
    fn the_first_word_that_is_no_option_ends_them() {
        assert_eq!(read(&["-N2", "job.sh", "--hold"]).2, 1);
        assert_eq!(read(&["-N2", "--", "--hold"]).2, 2);
        assert_eq!(read(&["-"]).2, 0);
        assert_eq!(read(&["-N", "--hold", "job.sh"]).0, [("nodes", Some("--hold".to_owned()))]);
    }
}
