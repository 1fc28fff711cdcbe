//! The names that a policy's text holds, with their places: of partitions, QoS and accounts, as
//! headers of tables and as elements of lists.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// What a name is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A partition.
    Partition,
    /// A QoS.
    Qos,
    /// An account.
    Account,
}

/// A name or a glob in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// What it is the name of.
    pub kind: Kind,
    /// As written.
    pub text: String,
    /// Bytes of the text.
    pub span: Range<usize>,
}

/// Every name, in the order of the text. Nothing where the text is no TOML.
pub fn names(text: &str) -> Vec<Name> {
    let mut found = Vec::new();
    let Ok(document) = DeTable::parse(text) else { return found };
    for (key, value) in document.get_ref() {
        let kind = match key.get_ref().as_ref() {
            "partition" => Some(Kind::Partition),
            "qos" => Some(Kind::Qos),
            _ => None,
        };
        if let (Some(kind), DeValue::Table(tables)) = (kind, value.get_ref()) {
            found.extend(tables.keys().map(|name| Name {
                kind,
                text: name.get_ref().to_string(),
                span: name.span(),
            }));
        }
        listed(value.get_ref(), &mut found);
    }
    found.sort_by_key(|name| name.span.start);
    found
}

/// The names in lists below `value`, by the key that each list stands under.
fn listed(value: &DeValue<'_>, found: &mut Vec<Name>) {
    match value {
        DeValue::Array(elements) => elements.iter().for_each(|e| listed(e.get_ref(), found)),
        DeValue::Table(table) => {
            for (key, value) in table {
                match (kind_of(key.get_ref()), value.get_ref()) {
                    (Some(kind), DeValue::Array(elements)) => {
                        let texts = elements.iter().filter_map(|e| Some((e.get_ref().as_str()?, e.span())));
                        found.extend(texts.map(|(text, span)| Name { kind, text: text.to_owned(), span }));
                    }
                    (_, value) => listed(value, found),
                }
            }
        }
        _ => {}
    }
}

fn kind_of(key: &str) -> Option<Kind> {
    match key {
        "partition" | "partitions" | "allow_partition" => Some(Kind::Partition),
        "qos" | "lent_qos" | "allow_qos" => Some(Kind::Qos),
        "account" | "accounts" | "allow_account" => Some(Kind::Account),
        _ => None,
    }
}

/// The place of `key` in the table `[partition.NAME]`, where it is written there.
pub fn partition_key(text: &str, name: &str, key: &str) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let table = |value: &DeValue<'_>, name: &str| -> Option<Range<usize>> {
        let DeValue::Table(table) = value else { return None };
        table.iter().find(|(k, _)| k.get_ref() == name).map(|(k, _)| k.span())
    };
    let partitions = document.get_ref().get("partition")?;
    let DeValue::Table(partitions) = partitions.get_ref() else { return None };
    let of_name = partitions.get(name)?;
    table(of_name.get_ref(), key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
[partition.gpu]
gpus_per_node = 4
owner = { accounts = ["physics"], users = ["ann"] }
lent_qos = ["scavenger"]
[qos.scavenger]
[rule.exclusive]
when = { partition = ["g*"], not = { qos = ["high"] } }
[[limit]]
name = "x"
allow_account = ["a", "b"]
[[exempt]]
partitions = ["gpu"]
rules = ["exclusive"]
"#;

    #[test]
    fn names_are_found_wherever_they_stand() {
        let found: Vec<String> = names(TEXT).iter().map(|n| format!("{:?} {}", n.kind, n.text)).collect();
        assert_eq!(
            found,
            [
                "Partition gpu",
                "Account physics",
                "Qos scavenger",
                "Qos scavenger",
                "Partition g*",
                "Qos high",
                "Account a",
                "Account b",
                "Partition gpu"
            ]
        );
        assert!(names(TEXT).iter().all(|n| TEXT[n.span.clone()].contains(&n.text)));
    }

    #[test]
    fn a_key_is_found_in_its_table() {
        let span = partition_key(TEXT, "gpu", "gpus_per_node").unwrap();
        assert_eq!(&TEXT[span], "gpus_per_node");
        assert_eq!(partition_key(TEXT, "gpu", "max_time"), None);
        assert_eq!(partition_key(TEXT, "cpu", "max_time"), None);
    }
}
