//! Expected lines against what was printed.
//!
//! A line is literal but for `[..]`, which stands for any text, and `[NAME]` in capitals, which
//! stands for one word: the first time it names it, from then on it must be the same, and commands
//! read it as `$NAME`. A line `...` stands for any number of lines.

use std::collections::BTreeMap;

use libtest_mimic::Trial;

/// What `[NAME]` stood for so far.
pub type Names = BTreeMap<String, String>;

/// Whether `printed` is what was expected; on success with the names learned.
pub fn matches(expected: &[&str], printed: &[&str], names: &Names) -> Option<Names> {
    let Some((&first, rest)) = expected.split_first() else {
        return printed.is_empty().then(|| names.clone());
    };
    if first == "..." {
        return (0..=printed.len()).find_map(|skip| matches(rest, &printed[skip..], names));
    }
    let (&line, after) = printed.split_first()?;
    let names = line_matches(first, line, names)?;
    matches(rest, after, &names)
}

fn line_matches(expected: &str, line: &str, names: &Names) -> Option<Names> {
    let Some((literal, wild, rest)) = next_wild(expected) else {
        return (expected == line).then(|| names.clone());
    };
    let line = line.strip_prefix(literal)?;
    let ends = (0..=line.len()).filter(|&end| line.is_char_boundary(end));
    if wild == ".." {
        return ends.into_iter().find_map(|end| line_matches(rest, &line[end..], names));
    }
    if let Some(known) = names.get(wild) {
        return line_matches(rest, line.strip_prefix(known.as_str())?, names);
    }
    let word = line.find(|c: char| !(c.is_ascii_alphanumeric() || "_+.-".contains(c))).unwrap_or(line.len());
    (1..=word).rev().find_map(|end| {
        let mut learned = names.clone();
        learned.insert(wild.to_owned(), line[..end].to_owned());
        line_matches(rest, &line[end..], &learned)
    })
}

/// The text before the first `[..]` or `[NAME]`, what is in the brackets, the text after.
fn next_wild(expected: &str) -> Option<(&str, &str, &str)> {
    expected.match_indices('[').find_map(|(open, _)| {
        let inner = &expected[open + 1..];
        let wild = &inner[..inner.find(']')?];
        let is_name = !wild.is_empty() && wild.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        (wild == ".." || is_name).then(|| (&expected[..open], wild, &inner[wild.len() + 1..]))
    })
}

pub fn self_tests() -> Vec<Trial> {
    let holds = |expected: &[&str], printed: &[&str]| matches(expected, printed, &Names::new());
    vec![
        Trial::test("scenario answers: literal lines, no line more and no line less", move || {
            assert!(holds(&["a", "b"], &["a", "b"]).is_some());
            assert!(holds(&["a"], &["a", "b"]).is_none());
            assert!(holds(&["a", "b"], &["a"]).is_none());
            assert!(holds(&["[exclusive] x"], &["[exclusive] x"]).is_some());
            Ok(())
        }),
        Trial::test("scenario answers: any text, any lines", move || {
            assert!(holds(&["job [..] of [..]!"], &["job 1 of 2 of 3!"]).is_some());
            assert!(holds(&["...", "b", "..."], &["a", "b", "c"]).is_some());
            assert!(holds(&["...", "b"], &["b", "c"]).is_none());
            Ok(())
        }),
        Trial::test("scenario answers: a name stands for the same word everywhere", move || {
            let names = holds(&["job [JOB]"], &["job 17"]).expect("matches");
            assert_eq!(names["JOB"], "17");
            assert!(holds(&["[A] [A]"], &["1 1"]).is_some());
            assert!(holds(&["[A] [A]"], &["1 2"]).is_none());
            assert!(holds(&["[A]"], &["two words"]).is_none());
            Ok(())
        }),
    ]
}
