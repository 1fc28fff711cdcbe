//! TRES text such as `gres/gpu:a100:2`: every spelling and series form, read without allocating.
//!
//! Up to 20.11 Slurm sent `gpu:a100:2`, up to 23.02 `gres:gpu:a100:2`, since 23.11
//! `gres/gpu:a100:2`, in `tres_per_task` since 24.05 `gres/gpu:a100=2`; old clients and
//! `scontrol update TresPerNode=` hand in any of them (observed on 22.05.8, 24.11.5, 26.05.5).
//! A list is kept as text and read item by item; counts are summed, never matched as text.

use std::borrow::Cow;

/// A comma list of TRES, empty when not stated.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(from = "Cow<'_, str>", into = "Cow<'_, str>")]
pub struct Tres<'a> {
    text: Cow<'a, str>,
    /// See [`Tres::gpu_count`]: counted once, for every rule asks.
    gpus: Option<u64>,
}

impl<'a> From<Cow<'a, str>> for Tres<'a> {
    fn from(text: Cow<'a, str>) -> Tres<'a> {
        Tres::new(text)
    }
}

impl<'a> From<Tres<'a>> for Cow<'a, str> {
    fn from(list: Tres<'a>) -> Cow<'a, str> {
        list.text
    }
}

/// One item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'t> {
    /// `gpu`, `cpu`, `mem`, `shard`, `license/matlab`: without the `gres` prefix.
    pub name: &'t str,
    /// The type, `a100` in `gpu:a100:2`.
    pub kind: Option<&'t str>,
    /// How many; 1 where not stated. `None`: the text is no count that Slurm would read.
    pub count: Option<u64>,
}

impl<'a> Tres<'a> {
    /// The list in `text`; `NULL` and empty text are the empty list.
    pub fn new(text: impl Into<Cow<'a, str>>) -> Self {
        let text = text.into();
        let gpus = if text.is_empty() { None } else { count_gpus(&text) };
        Tres { text, gpus }
    }

    /// The text as it came.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether nothing was stated.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The items in order.
    pub fn items(&self) -> impl Iterator<Item = Item<'_>> {
        items(&self.text)
    }

    /// The items that ask for GPUs.
    pub fn gpus(&self) -> impl Iterator<Item = Item<'_>> {
        let text = if self.gpus.is_some() { self.as_str() } else { "" };
        items(text).filter(|i| i.name == "gpu")
    }

    /// How many of one resource: `cpu`, `node`; `None` where it is not named, or has no readable count.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.items().find(|i| i.name == name && i.kind.is_none()).and_then(|i| i.count)
    }

    /// GPUs in all, `None` when no item names GPUs (zero of them is `Some(0)`).
    /// An unreadable count is taken as 1: Slurm will refuse it, and no rule should pass it as zero.
    pub fn gpu_count(&self) -> Option<u64> {
        self.gpus
    }
}

fn items(text: &str) -> impl Iterator<Item = Item<'_>> {
    let mut rest = Some(text).filter(|t| !t.is_empty());
    let parts = std::iter::from_fn(move || {
        let (part, behind) = cut(rest?, b',');
        rest = behind;
        Some(part.trim_ascii())
    });
    parts.filter(|t| !t.is_empty()).map(Item::parse)
}

/// The text up to `end`, and what follows where there is one. The texts are short: std's searchers take
/// longer to set up.
fn cut(text: &str, end: u8) -> (&str, Option<&str>) {
    match text.bytes().position(|b| b == end) {
        Some(at) => (text.get(..at).unwrap_or(text), text.get(at + 1..)),
        None => (text, None),
    }
}

fn count_gpus(text: &str) -> Option<u64> {
    items(text)
        .filter(|i| i.name == "gpu")
        .fold(None, |sum: Option<u64>, i| Some(sum.unwrap_or(0).saturating_add(i.count.unwrap_or(1))))
}

impl<'t> Item<'t> {
    fn parse(text: &'t str) -> Item<'t> {
        let text = text.strip_prefix("gres/").or_else(|| text.strip_prefix("gres:")).unwrap_or(text);
        // 24.05+ separates the count by '=', everything before it is name and type.
        let (path, eq_count) = cut(text, b'=');
        // `(S:0-1)` and the like are socket notes of Slurm's own output, not part of a count.
        let (path, _) = cut(path, b'(');
        let (name, rest) = cut(path, b':');
        let (second, third) = match rest.map(|rest| cut(rest, b':')) {
            Some((second, third)) => (Some(second), third),
            None => (None, None),
        };
        if let Some(count) = eq_count {
            return Item { name, kind: second.filter(|k| !k.is_empty()), count: count_of(count) };
        }
        match (second, third) {
            (None, _) => Item { name, kind: None, count: Some(1) },
            // `gpu:2` is a count, `gpu:a100` a type: Slurm decides by the first character
            // being a digit and the whole being a number (gres.c).
            (Some(second), None) => match count_of(second) {
                Some(count) => Item { name, kind: None, count: Some(count) },
                None => Item { name, kind: Some(second).filter(|k| !k.is_empty()), count: Some(1) },
            },
            (Some(second), Some(third)) => {
                Item { name, kind: Some(second).filter(|k| !k.is_empty()), count: count_of(third) }
            }
        }
    }
}

/// A count with Slurm's suffixes k, m, g, t, p (powers of 1024; gres.c, `suffix_mult`).
fn count_of(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, suffix) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    if suffix.is_empty() {
        return Some(number);
    }
    let is = |letter: &str| {
        suffix.get(..1).is_some_and(|s| s.eq_ignore_ascii_case(letter))
            && suffix.get(1..).is_some_and(|rest| rest.is_empty() || rest.eq_ignore_ascii_case("ib"))
    };
    let power = ["k", "m", "g", "t", "p"].into_iter().zip(1_u32..).find(|(letter, _)| is(letter))?.1;
    number.checked_mul(1 << (10 * power))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn only(text: &str) -> Item<'_> {
        let mut items = text.split(',').map(Item::parse);
        let item = items.next().expect("an item");
        assert_eq!(items.next(), None);
        item
    }

    #[test]
    fn every_series_form_is_the_same_request() {
        for text in ["gpu:a100:2", "gres:gpu:a100:2", "gres/gpu:a100:2", "gres/gpu:a100=2", "gpu:a100=2"] {
            assert_eq!(only(text), Item { name: "gpu", kind: Some("a100"), count: Some(2) }, "{text}");
        }
    }

    #[test]
    fn a_missing_count_is_one_and_zero_is_zero() {
        assert_eq!(Tres::new("gres/gpu").gpu_count(), Some(1));
        assert_eq!(Tres::new("gres:gpu:a100").gpu_count(), Some(1));
        assert_eq!(Tres::new("gpu:0").gpu_count(), Some(0));
        assert_eq!(Tres::new("gres/gpu:a100=0").gpu_count(), Some(0));
        assert_eq!(Tres::new("gres/craynetwork:1").gpu_count(), None);
        assert_eq!(Tres::new("").gpu_count(), None);
    }

    #[test]
    fn lists_are_summed_and_other_resources_left_out() {
        let tres = Tres::new("gres/gpu:a100:2,gres/gpu:h100:1,gres/nvme:4,cpu=3");
        assert_eq!(tres.gpu_count(), Some(3));
        assert_eq!(tres.items().count(), 4);
        assert_eq!(tres.items().last(), Some(Item { name: "cpu", kind: None, count: Some(3) }));
    }

    #[test]
    fn suffixes_and_types_that_start_with_a_digit() {
        assert_eq!(Tres::new("gpu:1k").gpu_count(), Some(1024));
        let mig = only("gres/gpu:3g.20gb:2");
        assert_eq!((mig.kind, mig.count), (Some("3g.20gb"), Some(2)));
        let typed = only("gpu:2080ti");
        assert_eq!((typed.kind, typed.count), (Some("2080ti"), Some(1)));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC{0,40}") {
            let tres = Tres::new(text.as_str());
            let _ = (tres.items().count(), tres.gpu_count());
        }

        #[test]
        fn all_forms_of_a_count_agree(kind in "[a-z][a-z0-9._-]{0,8}", n in 0u64..100_000) {
            for text in [
                format!("gpu:{kind}:{n}"), format!("gres:gpu:{kind}:{n}"),
                format!("gres/gpu:{kind}:{n}"), format!("gres/gpu:{kind}={n}"),
            ] {
                prop_assert_eq!(only(&text), Item { name: "gpu", kind: Some(kind.as_str()), count: Some(n) });
            }
        }
    }
}
