//! `[[limit]]`: a site's own numbers, and whether any request can meet them.

use std::collections::HashMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

use super::super::facts::Facts;
use super::super::limit::{Bound, End, Limit, Quantity};
use super::super::raw;
use super::super::strict::Read;
use super::rules::{Split, split};
use super::{Entry, Loader, any_case, exact_case};
use crate::request::TimeLimit;
use crate::request::options::OptionTest;

impl Loader<'_> {
    pub(super) fn limits(&mut self, entry: Option<Entry<'_>>, facts: &Facts) -> Vec<Limit> {
        let mut limits: Vec<Limit> = Vec::new();
        let mut names: HashMap<String, usize> = HashMap::new();
        for value in self.listed(entry, "limit") {
            let Some(limit) = self.limit(value, &mut names, facts) else { continue };
            limits.push(limit);
        }
        limits
    }

    fn limit(
        &mut self,
        value: Spanned<DeValue<'_>>,
        names: &mut HashMap<String, usize>,
        facts: &Facts,
    ) -> Option<Limit> {
        let span = value.span();
        let Split { common, own } = split(value);
        let read = self.read::<raw::Limit>(own, "[[limit]]", &raw::SETTINGS);
        let place = match read.as_ref().and_then(|r| r.value.name.as_ref()) {
            Some(name) => format!("limit `{}`", name.get_ref()),
            None => "[[limit]]".to_owned(),
        };
        let settings = self.settings(common, &place, &Ok(()));
        let Read { value: raw, whole } = read?;
        let name = self.limit_name(raw.name.as_ref(), &span, whole, names)?;
        let before = self.errors.len();
        let why = self.line(raw.why.as_ref(), "why");
        let bounds = self.bounds(&raw);
        let require = self.tests(raw.require);
        let forbid = self.tests(raw.forbid);
        for test in &require {
            let clash = |f: &&Spanned<OptionTest>| {
                let (required, forbidden) = (test.get_ref(), f.get_ref());
                forbidden.option() == required.option()
                    && (forbidden.value().is_none() || forbidden.as_str() == required.as_str())
            };
            if let Some(forbidden) = forbid.iter().find(clash) {
                let message = format!("`{}` is both required and forbidden", forbidden.get_ref().as_str());
                self.error(forbidden.span(), message);
            }
        }
        let lists = [&raw.allow_qos, &raw.allow_account, &raw.allow_partition];
        for list in lists.into_iter().flatten().filter(|l| l.get_ref().is_empty()) {
            self.doubt(list.span(), format!("no request can meet {place}: it allows none"));
        }
        let limit = Limit {
            name,
            settings,
            why,
            bounds,
            allow_qos: raw.allow_qos.map(any_case),
            allow_account: raw.allow_account.map(any_case),
            allow_partition: raw.allow_partition.map(exact_case),
            require: require.into_iter().map(Spanned::into_inner).collect(),
            forbid: forbid.into_iter().map(Spanned::into_inner).collect(),
        };
        if whole && self.errors.len() == before && limit.is_empty() {
            self.error(span.clone(), format!("{place} limits nothing"));
        }
        self.doubt_limit(&limit, &span, facts);
        Some(limit)
    }

    /// The name of a limit: given, its own, and none of a rule's.
    fn limit_name(
        &mut self,
        name: Option<&Spanned<String>>,
        span: &Range<usize>,
        whole: bool,
        names: &mut HashMap<String, usize>,
    ) -> Option<String> {
        let Some(name) = name else {
            if whole {
                let help = "users read it in front of the message: `name = \"interactive\"`";
                self.error_with_help(span.clone(), "[[limit]] needs a `name`", help);
            }
            return None;
        };
        let text = name.get_ref();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.';
        if text.is_empty() || text.len() > 40 || !text.chars().all(plain) {
            let help = "letters, digits, `-`, `_` and `.`, at most 40";
            self.error_with_help(name.span(), format!("`{text}` is no name for a limit"), help);
        } else if crate::rules::find(text).is_some() {
            self.error(name.span(), format!("limit `{text}` has the name of a rule"));
        } else if let Some(line) = names.insert(text.clone(), self.source.line(name.span().start)) {
            self.error(name.span(), format!("limit `{text}` stands on line {line} already"));
        } else {
            return Some(text.clone());
        }
        None
    }

    fn bounds(&mut self, raw: &raw::Limit) -> Vec<Bound> {
        let positive = |n: &Option<Spanned<super::super::values::Positive>>| {
            n.as_ref().map(|n| (n.get_ref().0, n.span()))
        };
        let memory =
            |n: &Option<Spanned<super::super::values::Memory>>| n.as_ref().map(|n| (n.get_ref().0, n.span()));
        let count = |n: &Option<Spanned<u64>>| n.as_ref().map(|n| (*n.get_ref(), n.span()));
        let mut time = |n: &Option<Spanned<super::super::values::Time>>, key: &str| {
            let n = n.as_ref()?;
            match n.get_ref().0 {
                TimeLimit::Minutes(minutes) => Some((u64::from(minutes), n.span())),
                TimeLimit::Unlimited | TimeLimit::Unset => {
                    self.error(n.span(), format!("`{key}` is a time, not `UNLIMITED`"));
                    None
                }
            }
        };
        let max_time = time(&raw.max_time, "max_time");
        let min_time = time(&raw.min_time, "min_time");
        let pairs = [
            (Quantity::Nodes, positive(&raw.max_nodes), positive(&raw.min_nodes)),
            (Quantity::Gpus, count(&raw.max_gpus), positive(&raw.min_gpus)),
            (Quantity::Cpus, positive(&raw.max_cpus), positive(&raw.min_cpus)),
            (Quantity::Tasks, positive(&raw.max_tasks), positive(&raw.min_tasks)),
            (Quantity::Time, max_time, min_time),
            (Quantity::Memory, memory(&raw.max_memory), memory(&raw.min_memory)),
            (Quantity::MemoryPerCpu, memory(&raw.max_memory_per_cpu), memory(&raw.min_memory_per_cpu)),
            (Quantity::ArrayTasks, count(&raw.array_max), None),
            (Quantity::ArrayRunning, positive(&raw.array_running_max), None),
        ];
        let mut bounds = Vec::new();
        for (quantity, max, min) in pairs {
            if let (Some((max, _)), Some((min, span))) = (&max, &min) {
                if min > max {
                    let key = quantity.key();
                    self.error(span.clone(), format!("`min_{key}` is more than `max_{key}`"));
                }
            }
            bounds.extend(max.map(|(value, _)| Bound { quantity, end: End::Max, value }));
            bounds.extend(min.map(|(value, _)| Bound { quantity, end: End::Min, value }));
        }
        bounds
    }

    /// Limits that no request can meet where they apply.
    fn doubt_limit(&mut self, limit: &Limit, span: &Range<usize>, facts: &Facts) {
        let bound = |quantity, end| {
            limit.bounds.iter().find(|b| b.quantity == quantity && b.end == end).map(|b| b.value)
        };
        let mut doubts: Vec<String> = Vec::new();
        let when = limit.settings.when.as_ref();
        if let Some(gpus) = when.and_then(|w| w.gpus) {
            if bound(Quantity::Gpus, End::Max).is_some_and(|max| max < gpus.min) {
                doubts.push("it applies only to more GPUs than it allows".to_owned());
            }
            if gpus.max.zip(bound(Quantity::Gpus, End::Min)).is_some_and(|(max, min)| max < min) {
                doubts.push("it applies only to fewer GPUs than it asks for".to_owned());
            }
        }
        let typed = when.is_some_and(|w| w.gpu_type.is_some());
        if typed && bound(Quantity::Gpus, End::Max) == Some(0) {
            doubts.push("it applies only to jobs with GPUs and allows none".to_owned());
        }
        let names = |names: &super::super::Names| names.literal().map(str::to_owned).collect::<Vec<_>>();
        let partitions = when.and_then(|w| w.partition.as_ref()).map(names).unwrap_or_default();
        if let Some(allowed) = &limit.allow_partition {
            let all_literal =
                when.and_then(|w| w.partition.as_ref()).is_some_and(|p| p.iter().count() == partitions.len());
            if all_literal && !allowed.is_empty() && !partitions.iter().any(|p| allowed.contains(p)) {
                doubts.push("it applies only in partitions that it does not allow".to_owned());
            }
        }
        for name in &partitions {
            let merged = facts.partition(name);
            let none = merged.gpu_types().is_some_and(<[String]>::is_empty) || merged.node().gpus == Some(0);
            if none && bound(Quantity::Gpus, End::Min).is_some() {
                doubts.push(format!("it asks for GPUs, and partition `{name}` has none"));
            }
            let longest = match merged.max_time() {
                Some(TimeLimit::Minutes(minutes)) => Some(u64::from(minutes)),
                _ => None,
            };
            if longest.zip(bound(Quantity::Time, End::Min)).is_some_and(|(max, min)| min > max) {
                doubts.push(format!("its `min_time` is more than the `max_time` of partition `{name}`"));
            }
        }
        let asks_for_gpus =
            |t: &OptionTest| matches!(t.option().name, "gpus" | "gpus-per-node" | "gpus-per-task");
        if bound(Quantity::Gpus, End::Max) == Some(0) && limit.require.iter().any(asks_for_gpus) {
            doubts.push("it requires GPUs and allows none".to_owned());
        }
        for doubt in doubts {
            self.doubt(span.clone(), format!("no request can meet limit `{}`: {doubt}", limit.name));
        }
    }
}
