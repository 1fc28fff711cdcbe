//! From the text of a policy file to a [`Policy`], or to every error in it at once.
//!
//! First the document with its places, then each table into its own strict struct, then what only
//! shows when things are put side by side. Errors stop nothing but the result; doubts stop nothing.

mod doubts;
mod facts;
mod limits;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::diagnostic::{Level, Problem, Problems, Source};
use super::glob::Glob;
use super::resolve::Directory;
use super::strict::{self, Read, meant_or_known};
use super::values::Patterns;
use super::{Groups, Mode, Names, Policy, Records, Site, Users, raw};
use crate::date::Date;
use crate::digest::fnv1a;

/// Bytes of the largest policy that is read. Nobody writes more by hand, and the helper thread
/// that reads it shares its machine with slurmctld.
pub const LARGEST: usize = 1 << 20;

/// A policy that can be used.
#[derive(Debug)]
pub struct Loaded {
    /// The policy.
    pub policy: Policy,
    /// What probably does not say what was meant, in file order.
    pub doubts: Vec<Problem>,
}

/// Reads a policy. `name` is what messages call the file, `today` the server's day, which some
/// doubts depend on. Users and groups are looked up in `directory`, which may be slow; to look
/// them up again, load the same text again.
///
/// # Errors
/// Every error in the text, in file order.
pub fn load(name: &str, text: &str, directory: &dyn Directory, today: Date) -> Result<Loaded, Problems> {
    let whole_file = |message: String| Err(Problems(vec![Problem::whole_file(name, message)]));
    if text.len() > LARGEST {
        let (size, most) = (text.len() / 1024, LARGEST / 1024);
        return whole_file(format!("the file has {size} KiB; a policy has at most {most} KiB"));
    }
    if let Some(at) = text.find('\0') {
        let source = Source::new(name, text);
        let message = "the file is no text: it holds a NUL byte".to_owned();
        return Err(Problems(vec![source.problem(Level::Error, at..at.saturating_add(1), message)]));
    }
    let source = Source::new(name, text);
    let (document, syntax) = DeTable::parse_recoverable(text);
    let mut loader = Loader::new(source, directory, today);
    loader.syntax(&syntax);
    let policy = loader.document(document, text);
    loader.finish(policy)
}

/// Reads a policy from bytes: [`load`] for what may be no text at all.
///
/// # Errors
/// As [`load`], and where `bytes` are not UTF-8.
pub fn load_bytes(
    name: &str,
    bytes: &[u8],
    directory: &dyn Directory,
    today: Date,
) -> Result<Loaded, Problems> {
    match std::str::from_utf8(bytes) {
        Ok(text) => load(name, text, directory, today),
        Err(error) => {
            let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = good.iter().filter(|b| **b == b'\n').count().saturating_add(1);
            let message =
                format!("the file is not UTF-8: the first byte that cannot be read is on line {line}");
            Err(Problems(vec![Problem::whole_file(name, message)]))
        }
    }
}

/// What is known while a file is read.
struct Loader<'s> {
    source: Source<'s>,
    directory: &'s dyn Directory,
    today: Date,
    errors: Vec<Problem>,
    doubts: Vec<Problem>,
    /// The first line that is no TOML. Behind it nothing is certain.
    broken: Option<usize>,
}

/// A table of the file under its name.
struct Entry<'i> {
    name: String,
    span: Range<usize>,
    value: Spanned<DeValue<'i>>,
}

impl<'s> Loader<'s> {
    fn new(source: Source<'s>, directory: &'s dyn Directory, today: Date) -> Self {
        Loader { source, directory, today, errors: Vec::new(), doubts: Vec::new(), broken: None }
    }

    /// Notes what is no TOML.
    fn syntax(&mut self, errors: &[toml::de::Error]) {
        let mut last = None;
        let mut errors: Vec<&toml::de::Error> = errors.iter().collect();
        errors.sort_by_key(|e| e.span().map_or(0, |span| span.start));
        for error in errors {
            let span = error.span().unwrap_or(0..0);
            let line = self.source.line(span.start);
            self.broken = Some(self.broken.map_or(line, |first| first.min(line)));
            // Of several errors on one line the first tells it all.
            if last == Some(line) || self.errors.len() >= strict::ENOUGH {
                continue;
            }
            last = Some(line);
            let (text, help) = match self.source.text(&span) {
                "" if error.message().starts_with("string values must be quoted") => {
                    ("a value is missing here".to_owned(), None)
                }
                key if error.message() == "duplicate key" => (format!("`{key}` stands twice"), None),
                _ => syntax_words(error.message()),
            };
            match help {
                Some(help) => self.error_with_help(span, text, help),
                None => self.error(span, text),
            }
            if error.message().contains("array elements") {
                // The list swallows what follows, and each line of it would be an error.
                break;
            }
        }
    }

    fn error(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.errors.push(self.source.problem(Level::Error, span, message.into()));
    }

    fn error_with_help(&mut self, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.errors.push(self.source.problem(Level::Error, span, message.into()).help(help));
    }

    fn doubt(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.doubts.push(self.source.problem(Level::Warning, span, message.into()));
    }

    fn doubt_with_help(&mut self, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.doubts.push(self.source.problem(Level::Warning, span, message.into()).help(help));
    }

    /// Whether something within `span` is wrong already: then what seems to be missing was there.
    fn is_wrong(&self, span: &Range<usize>) -> bool {
        self.errors.iter().any(|e| span.contains(&e.offset))
    }

    /// The policy, or all errors.
    fn finish(mut self, policy: Option<Policy>) -> Result<Loaded, Problems> {
        match policy {
            Some(policy) if self.errors.is_empty() => {
                self.doubts.sort_by_key(|p| p.offset);
                Ok(Loaded { policy, doubts: self.doubts })
            }
            _ => {
                self.errors.sort_by_key(|p| p.offset);
                self.errors.dedup();
                self.errors.truncate(strict::ENOUGH);
                Err(Problems(self.errors))
            }
        }
    }

    fn document(&mut self, document: Spanned<DeTable<'_>>, text: &str) -> Option<Policy> {
        let syntax = std::mem::take(&mut self.errors);
        let policy = self.tables_of(document, text);
        if let Some(broken) = self.broken {
            self.errors.retain(|e| e.line < broken);
        }
        self.errors.extend(syntax);
        policy
    }

    fn tables_of(&mut self, document: Spanned<DeTable<'_>>, text: &str) -> Option<Policy> {
        let mut top: BTreeMap<&str, Entry<'_>> = BTreeMap::new();
        for (key, value) in document.into_inner() {
            let (name, span) = (key.get_ref().to_string(), key.span());
            match raw::TOP.iter().find(|known| **known == name) {
                Some(known) => {
                    top.insert(known, Entry { name, span, value });
                }
                None => {
                    let help = meant_or_known(&name, &raw::TOP, "tables and keys");
                    self.error_with_help(span, format!("unknown key `{name}` at the top of the file"), help);
                }
            }
        }
        let before = self.errors.len();
        if !self.schema(top.remove("schema")) {
            // In another schema other keys are right.
            self.errors.drain(..before);
            return None;
        }
        let site = self.site(top.remove("site"));
        let index_vars = self.index_vars(top.remove("index_vars"));
        let compile_off = self.compile(top.remove("compile"));
        let partitions = self.named(top.remove("partition"), "partition", "gpu");
        let gpus = self.named(top.remove("gpu"), "gpu", "a100");
        let qos = self.named(top.remove("qos"), "qos", "debug");
        let facts = self.facts(partitions, gpus, qos);
        let (rules, off) = self.rules(top.remove("rule"));
        let limits = self.limits(top.remove("limit"), &facts);
        let exempts = self.exempts(top.remove("exempt"), &rules, &off, &limits);
        let hash = fnv1a(text.bytes());
        Some(Policy { site, facts, rules, limits, exempts, index_vars, compile_off, hash })
    }

    /// Whether the file is one that this version reads.
    fn schema(&mut self, entry: Option<Entry<'_>>) -> bool {
        let help = "the first line of a policy is `schema = 1`";
        let Some(entry) = entry else {
            if self.broken.is_none() {
                self.error_with_help(0..0, "the file does not say its `schema`", help);
            }
            return true;
        };
        let span = entry.value.span();
        match entry.value.get_ref().as_integer().map(|n| n.as_str()) {
            Some("1") => true,
            Some(other) => {
                let message = format!("schema {other} is not known: this version of Sluice reads schema 1");
                self.error(span, message);
                false
            }
            None => {
                self.error_with_help(span, "`schema` is a number", help);
                true
            }
        }
    }

    fn site(&mut self, entry: Option<Entry<'_>>) -> Site {
        let raw: raw::Site =
            entry.and_then(|e| self.read(e.value, "[site]", &[])).map(|r| r.value).unwrap_or_default();
        let name = self.line(raw.name.as_ref(), "name");
        if let Some(mode) = raw.mode.as_ref().filter(|m| *m.get_ref() == Mode::Off) {
            self.doubt(mode.span(), "the site's mode is `off`: nothing is judged");
        }
        let records = raw.records.map_or(Records::Syslog, |r| self.records(&r));
        Site {
            name: name.unwrap_or_else(|| "This site".to_owned()),
            docs: self.line(raw.docs.as_ref(), "docs"),
            contact: self.line(raw.contact.as_ref(), "contact"),
            mode: raw.mode.map_or(Mode::Enforce, Spanned::into_inner),
            on_error: raw.on_error.unwrap_or_default(),
            exempt_root: raw.exempt_root.unwrap_or(true),
            confirm: raw.confirm.unwrap_or(false),
            records,
        }
    }

    fn records(&mut self, text: &Spanned<String>) -> Records {
        match text.get_ref().as_str() {
            "syslog" => Records::Syslog,
            path if path.starts_with('/') && !path.ends_with('/') && !path.contains(char::is_control) => {
                Records::File(PathBuf::from(path))
            }
            _ => {
                self.error(text.span(), "`records` is \"syslog\" or the absolute path of a file");
                Records::Syslog
            }
        }
    }

    /// A piece of text that is shown to users: one line, not empty.
    fn line(&mut self, text: Option<&Spanned<String>>, key: &str) -> Option<String> {
        let text = text?;
        let value = text.get_ref().trim();
        if value.is_empty() {
            self.error(text.span(), format!("`{key}` is empty"));
        } else if value.chars().any(char::is_control) {
            self.error(text.span(), format!("`{key}` is one line of text without control characters"));
        } else if !value.is_ascii() {
            self.doubt(
                text.span(),
                format!("`{key}` is not ASCII: users read `?` for each character that is not"),
            );
        }
        Some(value.to_owned())
    }

    fn index_vars(&mut self, entry: Option<Entry<'_>>) -> Vec<String> {
        let Some(entry) = entry else { return Vec::new() };
        let read = self.read::<Vec<Spanned<String>>>(entry.value, "`index_vars`", &[]);
        let names = read.map(|r| r.value).unwrap_or_default();
        names.into_iter().filter_map(|n| self.variable(&n)).collect()
    }

    fn compile(&mut self, entry: Option<Entry<'_>>) -> Vec<(String, String)> {
        let Some(entry) = entry else { return Vec::new() };
        let read = self.read::<raw::Compile>(entry.value, "[compile]", &[]);
        let mut variables = Vec::new();
        for (name, value) in read.map(|r| r.value.off).unwrap_or_default() {
            if value.get_ref().chars().any(char::is_control) {
                self.error(value.span(), "the value of a variable is one line of text");
            }
            if let Some(name) = self.variable(&name) {
                variables.push((name, value.into_inner()));
            }
        }
        variables
    }

    /// The name of an environment variable.
    fn variable(&mut self, name: &Spanned<String>) -> Option<String> {
        let text = name.get_ref();
        let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if starts && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Some(text.clone());
        }
        self.error(name.span(), format!("`{text}` is no name of an environment variable"));
        None
    }

    /// Reads one table into its strict struct.
    fn read<T: DeserializeOwned>(
        &mut self,
        value: Spanned<DeValue<'_>>,
        place: &str,
        also: &[&str],
    ) -> Option<Read<T>> {
        let parse = |value| T::deserialize(ValueDeserializer::from(value));
        let mut read = strict::read(&self.source, &mut self.errors, value, place, also, parse)?;
        read.whole &= self.broken.is_none();
        Some(read)
    }

    /// The tables below `[kind.NAME]`, in file order.
    fn named<'i>(&mut self, entry: Option<Entry<'i>>, kind: &str, example: &str) -> Vec<Entry<'i>> {
        let Some(Entry { value, .. }) = entry else { return Vec::new() };
        let span = value.span();
        let DeValue::Table(table) = value.into_inner() else {
            self.error_with_help(
                span,
                format!("`{kind}` is not a value but one table a name"),
                format!("write `[{kind}.{example}]`"),
            );
            return Vec::new();
        };
        let mut entries: Vec<Entry<'i>> = table
            .into_iter()
            .map(|(key, value)| Entry { name: key.get_ref().to_string(), span: key.span(), value })
            .collect();
        entries.sort_by_key(|e| e.span.start);
        entries
    }

    /// The tables of `[[kind]]`, in file order, each with the place of its header.
    fn listed<'i>(&mut self, entry: Option<Entry<'i>>, kind: &str) -> Vec<Spanned<DeValue<'i>>> {
        let Some(Entry { value, .. }) = entry else { return Vec::new() };
        match self.tables(value) {
            Ok(tables) => tables,
            Err(span) => {
                let help = format!("write `[[{kind}]]`, once for each");
                self.error_with_help(span, format!("`{kind}` is a list of tables"), help);
                Vec::new()
            }
        }
    }

    /// The elements of a list of tables; the place of what is none.
    fn tables<'i>(&self, value: Spanned<DeValue<'i>>) -> Result<Vec<Spanned<DeValue<'i>>>, Range<usize>> {
        let span = value.span();
        let DeValue::Array(array) = value.into_inner() else { return Err(span) };
        let tables: Vec<_> = array.into_iter().collect();
        match tables.iter().find(|t| !t.get_ref().is_table()) {
            Some(other) => Err(other.span()),
            None => Ok(tables),
        }
    }

    /// Users by uid where they are known, else by login name.
    fn users(&mut self, patterns: Patterns) -> Users {
        let mut users = Users::default();
        for pattern in patterns {
            let span = pattern.span();
            let glob = pattern.into_inner().0;
            let name = glob.as_str();
            if !glob.is_literal() {
                users.globs.push(glob);
            } else if let Some(uid) = self.directory.user(name).or_else(|| name.parse().ok()) {
                users.uids.insert(uid);
            } else {
                self.doubt(span, format!("no user `{name}` is known here"));
                users.globs.push(glob);
            }
        }
        users
    }

    /// Groups by gid and members.
    fn groups(&mut self, patterns: Patterns) -> Groups {
        let mut groups = Groups::default();
        for pattern in patterns {
            let span = pattern.span();
            let glob = pattern.into_inner().0;
            let name = glob.as_str();
            if !glob.is_literal() {
                self.error(span, format!("group `{name}` is a glob; groups are named in full"));
            } else if let Some(group) = self.directory.group(name) {
                groups.gids.insert(group.gid);
                groups.members.extend(group.members);
            } else if let Ok(gid) = name.parse() {
                groups.gids.insert(gid);
            } else {
                self.doubt(span, format!("no group `{name}` is known here: it matches nobody"));
            }
        }
        groups
    }
}

/// The parser's message in our words, and what to do where that is not plain.
fn syntax_words(message: &str) -> (String, Option<&'static str>) {
    match message {
        "string values must be quoted, expected literal string" => {
            ("text values stand in quotes".to_owned(), None)
        }
        "missing comma between array elements, expected `,`" => (
            "the list goes on here".to_owned(),
            Some("is it closed by a `]`, with commas between its elements?"),
        ),
        "invalid basic string, expected `\"`" => ("the text is not closed by a `\"`".to_owned(), None),
        "unclosed table, expected `]`" => ("the header is not closed by a `]`".to_owned(), None),
        "recursion limit" | "cannot recurse further; max recursion depth met" => {
            ("tables or lists are nested too deeply".to_owned(), None)
        }
        other => (other.to_owned(), None),
    }
}

/// The globs of a list.
fn globs(patterns: Patterns) -> Vec<Glob> {
    patterns.into_iter().map(|p| p.into_inner().0).collect()
}

/// Partitions, reservations and GPU types are compared as they are.
fn exact_case(patterns: Spanned<Patterns>) -> Names {
    Names::exact_case(globs(patterns.into_inner()))
}

/// Accounts and QoS are compared without regard to case.
fn any_case(patterns: Spanned<Patterns>) -> Names {
    Names::any_case(globs(patterns.into_inner()))
}

/// The name of a table as its header writes it: `[partition."phys-*"]`.
fn header(kind: &str, name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(bare) {
        format!("[{kind}.{name}]")
    } else {
        format!("[{kind}.\"{name}\"]")
    }
}
