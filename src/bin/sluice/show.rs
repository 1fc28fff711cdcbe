//! `sluice show`: the policy as it applies, for people.

pub mod facts;
pub mod words;

use serde_json::{Map, Value, json};
use sluice::date::Date;
use sluice::policy::load::load_bytes;
use sluice::policy::{Mode, Policy, Settings, When};

use crate::options::{Common, Format, Show};
use crate::output::{Style, line, styled};
use crate::people::{self, Person, System};
use crate::policy_file::{self, Text};
use crate::{Exit, Failure, output};

/// For whom and where the policy is shown.
pub struct Scope<'a> {
    /// Only what applies there.
    pub partition: Option<&'a str>,
    /// Only what applies to them.
    pub user: Option<(&'a str, Person)>,
}

/// An entry of the policy: a rule, a limit or an exemption.
pub struct Entry {
    /// Its name, or the names of what is lifted.
    pub name: String,
    /// What it does, in a few words: its mode.
    pub mode: String,
    /// What it holds, a line each.
    pub lines: Vec<String>,
    /// As written.
    written: Value,
}

/// Shows a policy.
///
/// # Errors
/// A policy that cannot be read or loaded, a user whom nobody knows.
pub fn run(common: &Common, verb: &Show) -> Result<Exit, Failure> {
    let today = policy_file::today();
    let user = verb.user.as_deref().map(|name| people::person(Some(name)).map(|p| (name, p))).transpose()?;
    let scope = Scope { partition: verb.partition.as_deref(), user };
    let Text { name, bytes, .. } = policy_file::read(common.policy.as_deref())?;
    let policy = load_bytes(&name, &bytes, &System, today).map_err(|e| e.to_string())?.policy;
    let written = words::written(&name, &bytes)?;
    let rules = rules(&policy, &written, &scope, today);
    let limits = limits(&policy, &written, &scope, today);
    let exempts = exempts(&policy, &written, &scope, today);
    match common.format {
        Format::Text => {
            print_site(&policy, &name);
            facts::print(&policy, scope.partition, &written);
            print("Rules", &rules);
            print("Limits", &limits);
            print("Exemptions", &exempts);
        }
        Format::Json => {
            let list = |entries: &[Entry]| entries.iter().map(Entry::json).collect::<Vec<_>>();
            let all = json!({
                "policy": name,
                "hash": format!("{:016x}", policy.hash),
                "site": policy.site.name,
                "mode": words::mode(policy.site.mode),
                "partitions": facts::json(&policy, scope.partition, &written),
                "rules": list(&rules),
                "limits": list(&limits),
                "exemptions": list(&exempts),
            });
            output::line(&format!("{all:#}"));
        }
    }
    Ok(Exit::Yes)
}

fn print_site(policy: &Policy, name: &str) {
    let site = &policy.site;
    line(&styled(Style::Bold, &format!("{}: {name}, {:016x}", site.name, policy.hash)));
    let ceiling = match site.mode {
        Mode::Off => "nothing is judged",
        Mode::Audit => "everything is only recorded",
        Mode::Warn => "users are warned, nothing is refused",
        Mode::Enforce => "jobs are refused where a rule says so",
    };
    let root = if site.exempt_root { "; root's jobs never are" } else { "" };
    line(&format!("  {ceiling}{root}"));
}

fn print(heading: &str, entries: &[Entry]) {
    if entries.is_empty() {
        return;
    }
    line("");
    line(&styled(Style::Bold, heading));
    for entry in entries {
        line(&format!("  {}: {}", entry.name, entry.mode));
        for text in &entry.lines {
            line(&format!("    {text}"));
        }
    }
}

impl Entry {
    fn json(&self) -> Value {
        json!({ "name": self.name, "mode": self.mode, "words": self.lines, "written": self.written })
    }
}

/// The rules that can apply.
pub fn rules(policy: &Policy, written: &Value, scope: &Scope<'_>, today: Date) -> Vec<Entry> {
    let mut entries = Vec::new();
    for set in &policy.rules {
        let tables = written.get("rule").and_then(|rules| rules.get(set.info.name));
        let tables = words::tables(tables);
        let several = tables.len() > 1;
        for (entry, table) in set.entries.iter().zip(&tables) {
            if !scope.covers(entry.settings.when.as_ref()) {
                continue;
            }
            let first = set.info.explanation.lines().next().unwrap_or("").trim();
            let mut lines = vec![first.to_owned()];
            lines.extend(words::common(&entry.settings, table));
            lines.extend(words::own_options(table));
            if several {
                lines.push("the first of its entries that fits applies".to_owned());
            }
            entries.push(Entry {
                name: set.info.name.to_owned(),
                mode: in_force(&entry.settings, policy, today),
                lines,
                written: Value::Object((*table).clone()),
            });
        }
    }
    entries
}

/// The limits that can apply.
pub fn limits(policy: &Policy, written: &Value, scope: &Scope<'_>, today: Date) -> Vec<Entry> {
    let tables = words::tables(written.get("limit"));
    let shown = policy.limits.iter().zip(&tables).filter(|(l, _)| scope.covers(l.settings.when.as_ref()));
    let entry = |(limit, table): (&sluice::policy::Limit, &&Map<String, Value>)| {
        let mut lines = words::bounds(table);
        lines.extend(limit.why.as_ref().map(|why| format!("why: {why}")));
        lines.extend(words::common(&limit.settings, table));
        let mode = in_force(&limit.settings, policy, today);
        Entry { name: limit.name.clone(), mode, lines, written: Value::Object((*table).clone()) }
    };
    shown.map(entry).collect()
}

/// The exemptions that are not over.
pub fn exempts(policy: &Policy, written: &Value, scope: &Scope<'_>, today: Date) -> Vec<Entry> {
    let tables = words::tables(written.get("exempt"));
    let shown = policy.exempts.iter().zip(&tables);
    let shown = shown.filter(|(e, _)| e.until >= today && scope.covers(Some(&e.when)));
    let entry = |(exempt, table): (&sluice::policy::Exempt, &&Map<String, Value>)| Entry {
        name: exempt.rules.join(", "),
        mode: format!("lifted until {}", exempt.until),
        lines: vec![format!("for {}", words::whom(table)), format!("why: {}", exempt.reason)],
        written: Value::Object((*table).clone()),
    };
    shown.map(entry).collect()
}

/// What comes of a finding today.
fn in_force(settings: &Settings, policy: &Policy, today: Date) -> String {
    match settings.effective(policy.site.mode, today) {
        (mode, None) => words::mode(mode).to_owned(),
        (mode, Some(from)) => format!("{}, refuses from {from} on", words::mode(mode)),
    }
}

impl Scope<'_> {
    /// Whether what has this condition can apply here.
    fn covers(&self, when: Option<&When>) -> bool {
        let Some(when) = when else { return true };
        if !self.meets(when) {
            return false;
        }
        // What is excepted by this one key is excepted whatever the job.
        let excepted = |not: &When| {
            let only_partition = When { partition: not.partition.clone(), ..When::default() };
            let only_user = When { user: not.user.clone(), ..When::default() };
            let decides = (*not == only_partition && self.partition.is_some())
                || (*not == only_user && self.user.is_some());
            decides && self.meets(not)
        };
        !when.not.as_deref().is_some_and(excepted)
    }

    /// Whether the condition's partitions, users and groups allow for those of the scope.
    fn meets(&self, when: &When) -> bool {
        let partition = match (self.partition, &when.partition) {
            (Some(name), Some(names)) => names.contains(name),
            _ => true,
        };
        let Some((name, person)) = self.user else { return partition };
        let user = when.user.as_ref().is_none_or(|users| {
            users.uids.contains(&person.uid) || users.globs.iter().any(|g| g.matches(name, false))
        });
        let group = when
            .group
            .as_ref()
            .is_none_or(|groups| groups.gids.contains(&person.gid) || groups.members.contains(&person.uid));
        partition && user && group
    }
}
