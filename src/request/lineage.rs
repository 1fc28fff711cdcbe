//! `--lineage`: what a result came from, as `KEY=VALUE,KEY=VALUE`.
//!
//! Where the SPANK side is not installed the same list goes into the comment, as
//! `lineage: KEY=VALUE,...`, alone or after a `;`. A backslash takes the special meaning from the
//! character after it, so that a value may hold a comma, a semicolon or a backslash.

use super::Request;
use crate::words::shown;

/// One key with its value, both trimmed and without escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Never empty.
    pub key: String,
    /// Never empty: a key without a value says nothing.
    pub value: String,
}

impl Request<'_> {
    /// The lineage of the job: what `--lineage` says, then what the comment says. Where both have a
    /// key, the first counts.
    pub fn lineage_pairs(&self) -> Vec<Pair> {
        let option = self.lineage.as_deref().into_iter();
        let comment = self.comment.as_deref().into_iter().flat_map(in_comment);
        option.chain(comment).flat_map(pairs).collect()
    }
}

/// The pairs of a list. Parts without `=`, without a key or without a value are left out.
pub fn pairs(text: &str) -> Vec<Pair> {
    split(text, ',').filter_map(pair).collect()
}

/// The pairs as a list that is read back as they are.
pub fn list(pairs: &[Pair]) -> String {
    let mut list = String::new();
    for Pair { key, value } in pairs {
        if !list.is_empty() {
            list.push(',');
        }
        // `=` and outer blanks cannot be in a key, nor outer blanks in a value.
        for (text, end) in [(key, "="), (value, "")] {
            for c in text.chars() {
                if matches!(c, ',' | ';' | '\\') {
                    list.push('\\');
                }
                list.push(c);
            }
            list.push_str(end);
        }
    }
    list
}

/// What is wrong with a list that a user gives: a part that is no pair, a key that stands twice.
/// Reading it is more forgiving ([`pairs`]): a comment is written for people as well.
pub fn check(text: &str) -> Result<(), String> {
    let mut keys: Vec<String> = Vec::new();
    for part in split(text, ',').filter(|p| !p.trim().is_empty()) {
        let Some(Pair { key, .. }) = pair(part) else {
            let part = shown(part.trim());
            return Err(format!("{part} is no KEY=VALUE; a comma within a value is written \\,"));
        };
        if keys.contains(&key) {
            return Err(format!("{} is named twice", shown(&key)));
        }
        keys.push(key);
    }
    if keys.is_empty() { Err("it holds no KEY=VALUE".to_owned()) } else { Ok(()) }
}

fn pair(part: &str) -> Option<Pair> {
    let (key, value) = part.split_once('=')?;
    let (key, value) = (unescaped(key.trim()), unescaped(value.trim()));
    (!key.is_empty() && !value.is_empty()).then_some(Pair { key, value })
}

/// The lists that follow `lineage:` at the start of a comment's parts.
pub fn in_comment(comment: &str) -> impl Iterator<Item = &str> {
    split(comment, ';').filter_map(|part| {
        let (name, list) = part.split_once(':')?;
        name.trim().eq_ignore_ascii_case("lineage").then_some(list)
    })
}

/// The parts between separators that no backslash hides.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut escaped = false;
    text.split(move |c| {
        let here = !escaped && c == separator;
        escaped = !escaped && c == '\\';
        here
    })
}

fn unescaped(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        plain.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<(String, String)> {
        pairs(text).into_iter().map(|p| (p.key, p.value)).collect()
    }

    fn of(lineage: Option<&str>, comment: Option<&str>) -> usize {
        let request = Request {
            lineage: lineage.map(Into::into),
            comment: comment.map(Into::into),
            ..Request::default()
        };
        request.lineage_pairs().len()
    }

    #[test]
    fn keys_and_values_are_trimmed_and_empty_ones_left_out() {
        let pair = |k: &str, v: &str| (k.to_owned(), v.to_owned());
        assert_eq!(read("commit=4f2a, seed = 7"), [pair("commit", "4f2a"), pair("seed", "7")]);
        assert_eq!(read("url=a=b"), [pair("url", "a=b")]);
        assert_eq!(read("commit=,=7,seed,,"), []);
        assert_eq!(read(r"files=a\,b\\,seed=1"), [pair("files", r"a,b\"), pair("seed", "1")]);
        assert_eq!(read("end=a\\"), [pair("end", "a")]);
    }

    #[test]
    fn a_list_of_pairs_is_read_back_as_they_are() {
        let text = r"files=a\,b\\\\,note=x\;y=z,seed=1";
        let all = pairs(text);
        assert_eq!(all.len(), 3);
        assert_eq!(pairs(&list(&all)), all);
    }

    #[test]
    fn a_list_that_a_user_gives_is_checked() {
        assert_eq!(check(r"commit=4f2a, files=a\,b,"), Ok(()));
        let said = |text: &str| check(text).unwrap_err();
        assert_eq!(said("files=a,b"), r"b is no KEY=VALUE; a comma within a value is written \,");
        assert_eq!(said("a=1,a=2"), "a is named twice");
        assert_eq!(said("a="), r"a= is no KEY=VALUE; a comma within a value is written \,");
        assert_eq!(said(" , "), "it holds no KEY=VALUE");
    }

    #[test]
    fn the_option_goes_before_the_comment() {
        assert_eq!(of(Some("a=1"), Some("lineage: b=2")), 2);
        assert_eq!(of(Some(""), Some("lineage: a=1,b=2")), 2);
        assert_eq!(of(None, Some("lineage: a=1,b=2")), 2);
        assert_eq!(of(None, Some("Lineage : a=1")), 1);
    }

    #[test]
    fn a_comment_may_hold_a_justification_as_well() {
        let request = Request {
            comment: Some("justify: a reason: really; lineage: a=1,b=2".into()),
            ..Request::default()
        };
        assert_eq!(request.lineage_pairs().len(), 2);
        assert!(request.justification().is_some());
        assert_eq!(of(None, Some("the lineage: a=1")), 0);
        assert_eq!(of(None, Some(r"lineage: a=1\;2,b=2; more")), 2);
    }

    proptest! {
        #[test]
        fn any_value_can_be_written(value in "[ -~]{1,20}") {
            prop_assume!(value.trim() == value);
            let escaped: String = value.chars().flat_map(|c| ['\\', c]).collect();
            prop_assert_eq!(read(&format!("k={escaped},l=1")).first().map(|p| p.1.clone()), Some(value));
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC{0,60}") {
            let _ = pairs(&text);
            let _ = in_comment(&text).count();
        }
    }
}
