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
    /// What the first job has; `null` where that is not known.
    pub first: Value,
    /// What the second job has.
    pub second: Value,
}

/// The parts of a card that are compared.
const PARTS: [&str; 6] = ["account", "requested", "actual", "array", "lineage", "compile"];
/// What is no matter of shape in them: which of the nodes, which task of which array.
const LEFT_OUT: [&str; 3] = ["actual.node_list", "array.job_id", "array.task"];

/// All differences, in the order of the card. A field that neither knows is none.
pub fn differences(first: &Card, second: &Card) -> Vec<Difference> {
    let json = |card: &Card| serde_json::to_value(card).unwrap_or_default();
    let (first, second) = (json(first), json(second));
    let mut found = Vec::new();
    for part in PARTS {
        let of = |card: &Value| card.get(part).cloned().unwrap_or_default();
        descend(part, of(&first), of(&second), &mut found);
    }
    found
}

/// Two levels are all that a card has.
fn descend(field: &str, first: Value, second: Value, found: &mut Vec<Difference>) {
    if !first.is_object() && !second.is_object() {
        if first != second && !LEFT_OUT.contains(&field) {
            found.push(Difference { field: field.to_owned(), first, second });
        }
        return;
    }
    let keys = |value: &Value| value.as_object().map(|o| o.keys().cloned().collect()).unwrap_or_default();
    let mut all: Vec<String> = keys(&first);
    let more: Vec<String> = keys(&second);
    all.extend(more.into_iter().filter(|key| first.get(key).is_none()));
    for key in all {
        let of = |value: &Value| value.get(&key).cloned().unwrap_or_default();
        descend(&format!("{field}.{key}"), of(&first), of(&second), found);
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
            .map(|d| format!("{}: {} {}", d.field, d.first, d.second))
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
    fn what_only_one_of_them_knows_is_told() {
        let unknown = Card { lineage: None, array: None, ..card("", 2, 0) };
        assert_eq!(
            fields(&unknown, &card("commit=a", 2, 0)),
            ["array.tasks: null 2", "lineage.commit: null \"a\""]
        );
        assert_eq!(fields(&unknown, &unknown), [""; 0]);
    }
}
