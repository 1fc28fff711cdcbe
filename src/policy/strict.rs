//! Reads a TOML value into a strict struct and reports every error in it.
//!
//! serde stops at the first error. So the entry that holds the error is reported and taken out, and
//! the rest is read again, until nothing is wrong with it.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeValue, Error};

use super::diagnostic::{Level, Problem, Source, suggestion};

/// Errors after which nobody reads on.
pub const ENOUGH: usize = 100;

/// What was read, and whether it was read whole.
pub struct Read<T> {
    /// The value without the entries that were wrong.
    pub value: T,
    /// Nothing was wrong. Where this is false, a key that is absent may have been there.
    pub whole: bool,
}

/// Reads `value`, which stands at `place` (`[partition.gpu]`). `also` are keys that are known there
/// besides those of `T`. `None` where nothing is left to read.
pub fn read<'i, T>(
    source: &Source<'_>,
    errors: &mut Vec<Problem>,
    mut value: Spanned<DeValue<'i>>,
    place: &str,
    also: &[&str],
    parse: impl Fn(Spanned<DeValue<'i>>) -> Result<T, Error>,
) -> Option<Read<T>> {
    let mut whole = true;
    loop {
        let error = match parse(value.clone()) {
            Ok(value) => return Some(Read { value, whole }),
            Err(error) => error,
        };
        whole = false;
        let span = error.span().unwrap_or_else(|| value.span());
        let removed = prune(&mut value, &span);
        // What is missing where something was wrong may be what was wrong.
        let known =
            error.message().starts_with("missing field") && errors.iter().any(|e| span.contains(&e.offset));
        if !known {
            errors.push(explain(source, error.message(), span, removed.as_deref(), place, also));
        }
        if removed.is_none() || errors.len() >= ENOUGH {
            return None;
        }
    }
}

/// Takes out the innermost entry whose key or value holds `span`, and returns its path.
fn prune(value: &mut Spanned<DeValue<'_>>, span: &Range<usize>) -> Option<String> {
    let holds = |outer: Range<usize>| outer.start <= span.start && span.end <= outer.end;
    match value.get_mut() {
        DeValue::Table(table) => {
            let mut found: Option<String> = None;
            for (key, entry) in table.iter_mut() {
                let name = key.get_ref().to_string();
                if holds(key.span()) {
                    found = Some(name);
                    break;
                }
                if let Some(inner) = prune(entry, span) {
                    return Some(if inner.is_empty() { name } else { format!("{name}.{inner}") });
                }
                if holds(entry.span()) {
                    found = Some(name);
                    break;
                }
            }
            let key = found?;
            table.remove(key.as_str());
            Some(key)
        }
        DeValue::Array(array) => {
            for entry in array.iter_mut() {
                if let Some(inner) = prune(entry, span) {
                    return Some(inner);
                }
            }
            let at = array.iter().position(|entry| holds(entry.span()))?;
            if array.len() == 1 {
                // An empty list would be an error of its own: let the whole list go.
                return None;
            }
            let rest = array.iter().enumerate().filter(|(index, _)| *index != at);
            *array = rest.map(|(_, entry)| entry.clone()).collect();
            // The element has no name of its own: the list's key says where it was.
            Some(String::new())
        }
        _ => None,
    }
}

/// serde's message in our words.
fn explain(
    source: &Source<'_>,
    message: &str,
    span: Range<usize>,
    path: Option<&str>,
    place: &str,
    also: &[&str],
) -> Problem {
    let error = |text: String| source.problem(Level::Error, span.clone(), text);
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let mut names = quoted(rest);
        let name = names.next().unwrap_or("");
        let known: Vec<&str> = names.chain(also.iter().copied()).collect();
        let inner = path.and_then(|p| p.rsplit_once('.')).map(|(outer, _)| format!("`{outer}` of "));
        let problem = error(format!("unknown key `{name}` in {}{place}", inner.unwrap_or_default()));
        return problem.help(meant_or_known(name, &known, "keys"));
    }
    if let Some(rest) = message.strip_prefix("missing field ") {
        let name = quoted(rest).next().unwrap_or("");
        return match path.filter(|p| !p.is_empty()) {
            Some(path) => error(format!("`{path}` of {place} needs `{name}`")),
            None => error(format!("{place} needs `{name}`")),
        };
    }
    let subject = match path.filter(|p| !p.is_empty()) {
        Some(path) => format!("`{path}` of {place}"),
        None => place.to_owned(),
    };
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        let mut names = quoted(rest);
        let name = names.next().unwrap_or("");
        let known: Vec<&str> = names.collect();
        let problem = error(format!("invalid value for {subject}: `{name}`"));
        return problem.help(meant_or_known(name, &known, "values"));
    }
    let told = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    match told.and_then(|m| m.rsplit_once(", expected ")) {
        Some((found, expected)) => {
            error(format!("invalid value for {subject}: expected {}, found {}", noun(expected), noun(found)))
        }
        None => error(format!("invalid value for {subject}: {message}")),
    }
}

/// `did you mean ...?`, else what there is.
pub fn meant_or_known(name: &str, known: &[&str], what: &str) -> String {
    match suggestion(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if known.is_empty() => format!("there are no {what} here"),
        None => {
            let list: Vec<String> = known.iter().map(|k| format!("`{k}`")).collect();
            format!("known {what}: {}", list.join(", "))
        }
    }
}

/// The words in back-ticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// serde's names of types, for people.
fn noun(text: &str) -> String {
    match text {
        "a boolean" => "`true` or `false`".to_owned(),
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" => "a whole number".to_owned(),
        "a string" => "text in quotes".to_owned(),
        "a sequence" => "a list".to_owned(),
        "sequence" => "a list".to_owned(),
        "map" | "a map" => "a table".to_owned(),
        t if t.starts_with("struct ") => "a table".to_owned(),
        t => {
            // What stands in quotes or back-ticks needs no type in front of it.
            let kinds = ["floating point ", "integer ", "boolean ", "string "];
            let value = kinds.iter().find_map(|kind| t.strip_prefix(kind)).unwrap_or(t);
            value.trim_end_matches(" as i128").trim_end_matches(" as u128").to_owned()
        }
    }
}
