//! `[rule.*]`, `when`, what rules and limits have in common, and `[[exempt]]`.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::condition::{Kind, When};
use super::super::raw;
use super::super::strict::{self, Read, meant_or_known};
use super::super::{Exempt, Limit, Mode, RuleEntry, RuleSet, Settings};
use super::{Entry, Loader, any_case, exact_case};
use crate::request::options::{BadTest, OptionTest};
use crate::rules::{self, RuleInfo};

/// A table in two parts: what every rule has, and the rest.
pub(super) struct Split<'i> {
    pub(super) common: Spanned<DeValue<'i>>,
    pub(super) own: Spanned<DeValue<'i>>,
}

/// Takes the keys that every rule has out of a table.
pub(super) fn split(value: Spanned<DeValue<'_>>) -> Split<'_> {
    let span = value.span();
    let (mut common, mut own) = (DeTable::new(), DeTable::new());
    match value.into_inner() {
        DeValue::Table(table) => {
            for (key, value) in table {
                let part =
                    if raw::SETTINGS.contains(&key.get_ref().as_ref()) { &mut common } else { &mut own };
                part.insert(key, value);
            }
            Split {
                common: Spanned::new(span.clone(), DeValue::Table(common)),
                own: Spanned::new(span, DeValue::Table(own)),
            }
        }
        // No table at all: the strict struct of the rest says so.
        other => Split {
            common: Spanned::new(span.clone(), DeValue::Table(common)),
            own: Spanned::new(span, other),
        },
    }
}

impl Loader<'_> {
    /// The rules that are named, in the order of the rule table, and the names of those that are off.
    pub(super) fn rules(&mut self, entry: Option<Entry<'_>>) -> (Vec<RuleSet>, Vec<String>) {
        let mut sets: Vec<RuleSet> = Vec::new();
        let mut off = Vec::new();
        for Entry { name, span, value } in self.named(entry, "rule", "exclusive") {
            let Some(info) = rules::find(&name) else {
                let known: Vec<&str> = rules::ALL.iter().map(|r| r.name).collect();
                let help = meant_or_known(&name, &known, "rules");
                self.error_with_help(span, format!("unknown rule `{name}`"), help);
                continue;
            };
            let tables = if value.get_ref().is_array() {
                match self.tables(value) {
                    Ok(tables) => tables,
                    Err(span) => {
                        let help = format!("write `[rule.{name}]`");
                        self.error_with_help(
                            span,
                            format!("[rule.{name}] is a table or a list of tables"),
                            help,
                        );
                        continue;
                    }
                }
            } else {
                vec![value]
            };
            let several = tables.len() > 1;
            let mut entries: Vec<RuleEntry> = Vec::new();
            let mut covered = false;
            for table in tables {
                let place = if several { format!("[[rule.{name}]]") } else { format!("[rule.{name}]") };
                let span = table.span();
                if covered {
                    let message = format!("this {place} never applies: one before it has no `when`");
                    self.doubt(span.clone(), message);
                }
                let Some(entry) = self.rule(info, table, &place) else { continue };
                covered |= entry.settings.when.is_none();
                entries.push(entry);
            }
            if !entries.is_empty() && entries.iter().all(|e| e.settings.mode == Mode::Off) {
                off.push(name);
            }
            sets.push(RuleSet { info, entries });
        }
        let order = |set: &RuleSet| rules::ALL.iter().position(|r| *r == set.info);
        sets.sort_by_key(order);
        (sets, off)
    }

    fn rule(
        &mut self,
        info: &'static RuleInfo,
        table: Spanned<DeValue<'_>>,
        place: &str,
    ) -> Option<RuleEntry> {
        let Split { common, own } = split(table);
        let settings = self.settings(common, place, &info.justifiable.then_some(()).ok_or(info.name));
        let also = &raw::SETTINGS;
        let check = strict::read(&self.source, &mut self.errors, own, place, also, info.parse)?.value;
        Some(RuleEntry { settings, check })
    }

    /// What every rule and limit has. `justifiable`: the name of what takes no reason.
    pub(super) fn settings(
        &mut self,
        common: Spanned<DeValue<'_>>,
        place: &str,
        justifiable: &Result<(), &str>,
    ) -> Settings {
        let line = self.source.line(common.span().start);
        let read: Option<Read<raw::Settings>> = self.read(common, place, &[]);
        let raw = read.map(|r| r.value).unwrap_or_default();
        if let (Some(justify), Err(name)) = (&raw.justify, justifiable) {
            if justify.get_ref().0.is_some() {
                self.error(
                    justify.span(),
                    format!("`{name}` cannot be lifted by a reason: take `justify` out"),
                );
            }
        }
        if let Some(mode) = raw.mode.as_ref().filter(|m| *m.get_ref() == Mode::Off) {
            self.doubt(mode.span(), format!("{place} is off: it judges nothing"));
        }
        let mode = raw.mode.as_ref().map_or(Mode::Enforce, |m| *m.get_ref());
        if let Some(from) = &raw.enforce_from {
            if mode != Mode::Enforce {
                self.doubt(from.span(), "`enforce_from` changes nothing: the mode is not `enforce`");
            } else if *from.get_ref() <= self.today {
                self.doubt(
                    from.span(),
                    format!("{place} is enforced since {}: the date can go", from.get_ref()),
                );
            }
        }
        let help = self.line(raw.help.as_ref(), "help");
        Settings {
            mode,
            enforce_from: raw.enforce_from.map(Spanned::into_inner),
            justify: raw.justify.and_then(|j| j.into_inner().0),
            help,
            when: raw.when.map(|when| self.when(when, place)),
            line,
        }
    }

    fn when(&mut self, when: Spanned<raw::When>, place: &str) -> When {
        let span = when.span();
        let mut raw = when.into_inner();
        let not = raw.not.take().map(|not| {
            let span = not.span();
            Box::new(self.condition(not.into_inner(), span, &format!("`not` of {place}")))
        });
        let only_not = not.is_some();
        let when = self.condition_or(raw, span, &format!("`when` of {place}"), only_not);
        When { not, ..when }
    }

    fn condition<N>(&mut self, raw: raw::Condition<N>, span: Range<usize>, place: &str) -> When {
        self.condition_or(raw, span, place, false)
    }

    /// A condition without its `not`; `empty`: it may be empty.
    fn condition_or<N>(
        &mut self,
        raw: raw::Condition<N>,
        span: Range<usize>,
        place: &str,
        empty: bool,
    ) -> When {
        for (key, list) in [
            ("partition", &raw.partition),
            ("qos", &raw.qos),
            ("account", &raw.account),
            ("user", &raw.user),
            ("group", &raw.group),
            ("reservation", &raw.reservation),
            ("gpu_type", &raw.gpu_type),
        ] {
            if let Some(list) = list.as_ref().filter(|l| l.get_ref().is_empty()) {
                self.error(list.span(), format!("`{key}` in {place} is empty and matches nothing"));
            }
        }
        if let Some(kinds) = raw.kind.as_ref().filter(|k| k.get_ref().is_empty()) {
            self.error(kinds.span(), format!("`kind` in {place} is empty and matches nothing"));
        }
        let given = raw.given.map(|tests| {
            if tests.get_ref().is_empty() {
                self.error(tests.span(), format!("`given` in {place} is empty and matches nothing"));
            }
            self.tests(tests.into_inner()).into_iter().map(Spanned::into_inner).collect()
        });
        let when = When {
            partition: raw.partition.map(exact_case),
            qos: raw.qos.map(any_case),
            account: raw.account.map(any_case),
            user: raw.user.map(|users| self.users(users.into_inner())),
            group: raw.group.map(|groups| self.groups(groups.into_inner())),
            reservation: raw.reservation.map(exact_case),
            gpu_type: raw.gpu_type.map(exact_case),
            kind: raw.kind.map(Spanned::into_inner),
            gpus: raw.gpus.map(Spanned::into_inner),
            given,
            not: None,
        };
        if when == When::default() && !empty {
            self.doubt(span.clone(), format!("{place} is empty and always matches"));
        }
        let no_gpus = when.gpus.is_some_and(|g| g.max == Some(0));
        if no_gpus && when.gpu_type.is_some() {
            self.doubt(span.clone(), format!("{place} never matches: no GPUs, and GPUs of a type"));
        }
        let batch = |k: &Kind| matches!(k, Kind::Batch | Kind::Array | Kind::Cron);
        if let (Some(kinds), Some(tests)) = (&when.kind, &when.given) {
            let seen = kinds.iter().any(|k| batch(k) || *k == Kind::Het);
            if !seen && tests.iter().all(|t| t.option().batch_only) {
                let message = format!("{place} never matches: only sbatch hands these options to slurmctld");
                self.doubt(span, message);
            }
        }
        when
    }

    /// Options in `given`, `require` and `forbid`, with their places.
    pub(super) fn tests(&mut self, tests: Vec<Spanned<String>>) -> Vec<Spanned<OptionTest>> {
        let mut good = Vec::new();
        for test in tests {
            match OptionTest::new(test.get_ref()) {
                Ok(option) => good.push(Spanned::new(test.span(), option)),
                Err(BadTest { message, help: Some(help) }) => {
                    self.error_with_help(test.span(), message, help)
                }
                Err(BadTest { message, help: None }) => self.error(test.span(), message),
            }
        }
        good
    }

    pub(super) fn exempts(
        &mut self,
        entry: Option<Entry<'_>>,
        rules: &[RuleSet],
        off: &[String],
        limits: &[Limit],
    ) -> Vec<Exempt> {
        let mut exempts = Vec::new();
        for value in self.listed(entry, "exempt") {
            let span = value.span();
            let Some(Read { value: raw, whole }) = self.read::<raw::Exempt>(value, "[[exempt]]", &[]) else {
                continue;
            };
            exempts.extend(self.exempt(raw, span, whole, (rules, off, limits)));
        }
        exempts
    }

    fn exempt(
        &mut self,
        raw: raw::Exempt,
        span: Range<usize>,
        whole: bool,
        (rules, off, limits): (&[RuleSet], &[String], &[Limit]),
    ) -> Option<Exempt> {
        let missing = |key: &str, why: &str| format!("[[exempt]] needs `{key}`: {why}");
        if whole && raw.rules.is_none() {
            self.error(span.clone(), missing("rules", "the rules or limits that it lifts"));
        }
        if whole && raw.until.is_none() {
            let help = "a standing exception belongs in the `when` of the rule";
            self.error_with_help(span.clone(), missing("until", "its last day, such as 2027-01-31"), help);
        }
        if whole && raw.reason.is_none() {
            self.error(span.clone(), missing("reason", "who reads the records has to know why"));
        }
        let lists = [&raw.users, &raw.groups, &raw.accounts, &raw.partitions, &raw.qos, &raw.reservations];
        if whole && lists.iter().all(|l| l.is_none()) {
            let help = "name any of `users`, `groups`, `accounts`, `partitions`, `qos`, `reservations`";
            self.error_with_help(span.clone(), "[[exempt]] does not say for whom", help);
        }
        for list in lists.into_iter().flatten().filter(|l| l.get_ref().is_empty()) {
            self.error(list.span(), "an empty list in [[exempt]] covers nobody");
        }
        let mut names: Vec<String> = Vec::new();
        if let Some(list) = raw.rules {
            if list.get_ref().is_empty() {
                self.error(list.span(), "`rules` of [[exempt]] is empty");
            }
            for name in list.into_inner() {
                self.exempt_rule(&name, rules, off, limits);
                names.push(name.into_inner());
            }
        }
        if let Some(until) = raw.until.as_ref().filter(|u| *u.get_ref() < self.today) {
            let message = format!("this exemption is over since {}", until.get_ref());
            self.doubt_with_help(until.span(), message, "take it out, or renew it");
        }
        let reason = self.line(raw.reason.as_ref(), "reason");
        let groups = raw.groups.map(|g| (g.span(), self.groups(g.into_inner())));
        if let Some((span, _)) = groups.as_ref().filter(|(_, g)| g.gids.is_empty() && g.members.is_empty()) {
            self.doubt(span.clone(), "this exemption never matches: none of its groups is known");
        }
        let when = When {
            user: raw.users.map(|u| self.users(u.into_inner())),
            group: groups.map(|(_, groups)| groups),
            account: raw.accounts.map(any_case),
            partition: raw.partitions.map(exact_case),
            qos: raw.qos.map(any_case),
            reservation: raw.reservations.map(exact_case),
            ..When::default()
        };
        let line = self.source.line(span.start);
        Some(Exempt { rules: names, when, until: raw.until?.into_inner(), reason: reason?, line })
    }

    /// Whether an exempted name is one, and one that anything comes of.
    fn exempt_rule(&mut self, name: &Spanned<String>, rules: &[RuleSet], off: &[String], limits: &[Limit]) {
        let (span, text) = (name.span(), name.get_ref().as_str());
        let limit = limits.iter().find(|l| l.name == text);
        if crate::rules::find(text).is_none() && limit.is_none() {
            let known = crate::rules::ALL.iter().map(|r| r.name);
            let known: Vec<&str> = known.chain(limits.iter().map(|l| l.name.as_str())).collect();
            let help = meant_or_known(text, &known, "rules and limits");
            self.error_with_help(span, format!("unknown rule or limit `{text}`"), help);
        } else if limit.is_none() && !rules.iter().any(|r| r.info.name == text) {
            self.doubt(
                span,
                format!("this exemption never matches: rule `{text}` is not named in this policy"),
            );
        } else if off.iter().any(|o| o == text) || limit.is_some_and(|l| l.settings.mode == Mode::Off) {
            self.doubt(span, format!("this exemption never matches: `{text}` is off"));
        }
    }
}
