//! Two jobs side by side: every difference in shape and lineage.
//!
//! Numbers, names, times and ends differ between any two jobs and say nothing of whether one repeats
//! the other: they are left out. What only one of the cards knows is a difference of its own kind.

use serde::Serialize;
use serde_json::Value;

use super::Card;

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its place in the card: `requested.nodes`, `lineage.commit`.
    pub field: String,
    /// What the first job has.
    pub first: Value,
    /// What the second job has.
    pub second: Value,
    /// Whether both are known. Else one of them is `null`, and might be the same.
    pub known: bool,
}

/// The parts of a card that are compared.
const PARTS: [&str; 6] = ["account", "requested", "actual", "array", "lineage", "compile"];
/// What is no matter of shape in them: which of the nodes, which task of which array.
const LEFT_OUT: [&str; 3] = ["node_list", "job_id", "task"];

/// All differences, in the order of the card. A field that neither knows is none.
pub fn differences(first: &Card, second: &Card) -> Vec<Difference> {
    let json = |card: &Card| serde_json::to_value(card).unwrap_or_default();
    let (first, second) = (json(first), json(second));
    let mut found = Vec::new();
    for part in PARTS {
        let of = |card: &Value| card.get(part).cloned().unwrap_or_default();
        let (first, second) = (of(&first), of(&second));
        match (&first, &second) {
            (Value::Object(one), Value::Object(other)) => {
                let more = other.keys().filter(|key| !one.contains_key(*key));
                for key in one.keys().chain(more).filter(|key| !LEFT_OUT.contains(&key.as_str())) {
                    let of = |part: &Value| part.get(key).cloned().unwrap_or_default();
                    let (first, second) = (of(&first), of(&second));
                    // A lineage that is known is known whole: a key that is missing was not given.
                    let known = part == "lineage" || !(first.is_null() || second.is_null());
                    add(&mut found, format!("{part}.{key}"), first, second, known);
                }
            }
            // Whether a job is one of an array is always known.
            _ => {
                let known = part == "array" || !(first.is_null() || second.is_null());
                add(&mut found, part.to_owned(), first, second, known);
            }
        }
    }
    found
}

fn add(found: &mut Vec<Difference>, field: String, first: Value, second: Value, known: bool) {
    if first != second {
        found.push(Difference { field, first, second, known });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_card::{Array, Shape, lineage_of};

    fn card(lineage: &str, gpus: u64, task: u32) -> Card {
        Card {
            job: Some(format!("7_{task}")),
            requested: Shape { gpus: Some(gpus), ..Shape::default() },
            array: Some(Array { job_id: 7, task: Some(task), tasks: Some(2), ..Array::default() }),
            lineage: Some(lineage_of(lineage)),
            ..Card::default()
        }
    }

    fn fields(first: &Card, second: &Card) -> Vec<String> {
        differences(first, second)
            .into_iter()
            .map(|d| format!("{}: {} {}{}", d.field, d.first, d.second, if d.known { "" } else { "?" }))
            .collect()
    }

    #[test]
    fn shape_and_lineage_are_compared_and_nothing_else() {
        assert_eq!(fields(&card("commit=a", 2, 0), &card("commit=a", 2, 1)), [""; 0]);
        assert_eq!(
            fields(&card("commit=a,seed=1", 2, 0), &card("commit=b,config=c", 4, 0)),
            [
                "requested.gpus: 2 4",
                "lineage.commit: \"a\" \"b\"",
                "lineage.seed: \"1\" null",
                "lineage.config: null \"c\"",
            ]
        );
    }

    #[test]
    fn what_only_one_of_them_knows_is_told_as_such() {
        let mut unknown = Card { lineage: None, ..card("", 2, 0) };
        unknown.array = Some(Array { job_id: 7, ..Array::default() });
        assert_eq!(
            fields(&unknown, &card("commit=a", 2, 0)),
            ["array.tasks: null 2?", "lineage: null {\"commit\":\"a\"}?"]
        );
        assert_eq!(fields(&unknown, &unknown), [""; 0]);
        let single = Card { array: None, ..unknown.clone() };
        assert_eq!(differences(&single, &unknown).first().map(|d| d.known), Some(true));
    }
}
