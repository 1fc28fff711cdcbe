//! `lineage`: jobs say what their results come from.

use super::{Check, RuleInfo, explained, parse};
use crate::case::{Candidate, Case};
use crate::judge::Report;
use crate::verdict::{Allowed, Complaint, Errno, Place, Remedy, Topic};

/// The rule.
pub static RULE: RuleInfo = RuleInfo {
    name: "lineage",
    topic: Topic::Habit,
    explanation: EXPLANATION,
    justifiable: true,
    parse: parse::<Lineage>,
};

explained! {
    /// The keys that a result needs to be made again.
    ///
    /// # What it holds
    /// A job carries a value for each of `keys`, given as `--lineage=KEY=VALUE,...` or, where that
    /// option is not installed, as `--comment='lineage: KEY=VALUE,...'`; both count. Keys are
    /// compared as they are; further keys are welcome; a key without a value is missing. A comma in
    /// a value is written `\,`. Which jobs are meant is for `when` to say.
    ///
    /// # Why
    /// A result that nobody can trace to a commit, a configuration and a seed cannot be checked.
    ///
    /// # Refused
    /// ```text
    /// sbatch --lineage=commit=4f2a91c train.sh
    /// ```
    ///
    /// # Accepted
    /// ```text
    /// sbatch --lineage=commit=4f2a91c,config=base.yaml,seed=7 train.sh
    /// ```
    ///
    /// # Options
    /// `keys` (required): the keys, such as `["commit", "config", "seed"]`.
    pub struct Lineage {
        /// Keys that a job carries a value for.
        #[serde(deserialize_with = "at_least_one")]
        keys: Vec<Key>,
    }
}

fn at_least_one<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Key>, D::Error> {
    use serde::Deserialize as _;
    use serde::de::Error as _;
    let keys = Vec::<Key>::deserialize(deserializer)?;
    if keys.is_empty() { Err(D::Error::custom("at least one key")) } else { Ok(keys) }
}

/// A key that can be typed without quotes.
#[derive(Debug)]
struct Key(String);

#[cfg(test)]
impl crate::policy::schema::Described for Key {
    fn schema() -> serde_json::Value {
        serde_json::json!({ "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,40}$" })
    }
}

impl<'de> serde::Deserialize<'de> for Key {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let text = String::deserialize(deserializer)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if text.is_empty() || text.len() > 40 || !text.chars().all(plain) {
            return Err(D::Error::custom("a key is 1 to 40 letters, digits, `_`, `-` or `.`"));
        }
        Ok(Key(text))
    }
}

impl Check for Lineage {
    fn check(&self, case: &Case<'_>, _: &Candidate<'_>, report: &mut Report<'_, '_>) {
        let given = case.request.lineage_pairs();
        let missing: Vec<&str> =
            self.keys.iter().map(|k| k.0.as_str()).filter(|k| !given.iter().any(|p| p.key == *k)).collect();
        if missing.is_empty() {
            return;
        }
        let by_comment = case.request.lineage.is_none() && !case.cluster.has_justify_option();
        let asked = match (given.is_empty(), by_comment) {
            (true, true) => "no lineage is given".to_owned(),
            (true, false) => "no --lineage is given".to_owned(),
            (false, _) => format!("the lineage lacks {}", missing.join(", ")),
        };
        let keys: Vec<&str> = self.keys.iter().map(|k| k.0.as_str()).collect();
        let list: Vec<String> = missing.iter().map(|k| format!("{k}=...")).collect();
        let list = list.join(",");
        let remedy = match (given.is_empty(), by_comment, &case.request.comment) {
            (false, false, _) => format!("add {list} to --lineage"),
            (false, true, _) => format!("add {list} to the lineage in --comment"),
            (true, false, _) => format!("give --lineage={list}"),
            (true, true, None) => format!("give --comment='lineage: {list}'"),
            // What is there already may be a justification.
            (true, true, Some(_)) => format!("end --comment with '; lineage: {list}'"),
        };
        report.complain(Complaint {
            quantity: "lineage",
            asked,
            allowed: Some(Allowed {
                place: Place::Site,
                verb: ("asks for", "ask for"),
                what: keys.join(", "),
            }),
            excess: missing.len() as u64,
            options: vec!["lineage", "comment"],
            remedies: vec![Remedy::Change(remedy)],
            errno: Errno::AccessDenied,
            told_by: None,
        });
    }
}
