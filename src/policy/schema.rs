//! The JSON schema of a policy file, for editors: made of the strict structs themselves and their doc
//! comments, by a test, into `packaging/sluice.schema.json`. Whatever is written here is no part of
//! the command or the `.so`. It knows the form of values; what they mean together the loader knows.

use serde_json::{Map, Value, json};
use toml::Spanned;

use super::condition::{GpuCount, Kind};
use super::duration::Duration;
use super::values::{Justification, Memory, Nested, Pattern, PerGpu, Positive, Time};
use super::{Mode, OnError, raw};
use crate::date::Date;
use crate::rules;

/// A type of the policy file that can say how it is written.
pub trait Described {
    /// Its JSON schema; `false` where it is not written at all.
    fn schema() -> Value;
}

/// A table: its description, and the name, description and schema of each key.
pub fn object(about: &str, keys: &[(&str, &str, Value)]) -> Value {
    let mut properties = Map::new();
    for (name, about, schema) in keys {
        let Value::Object(schema) = schema else { continue };
        let mut schema = schema.clone();
        if !about.trim().is_empty() {
            schema.insert("description".to_owned(), text(about).into());
        }
        properties.insert((*name).to_owned(), schema.into());
    }
    let mut table = json!({ "type": "object", "additionalProperties": false, "properties": properties });
    if !about.trim().is_empty() {
        table["description"] = text(about).into();
    }
    table
}

/// A doc comment in one piece: lines joined, paragraphs kept.
fn text(doc: &str) -> String {
    let paragraphs: Vec<String> = doc
        .split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|paragraph| !paragraph.is_empty())
        .collect();
    paragraphs.join("\n\n")
}

impl<T: Described> Described for Option<T> {
    fn schema() -> Value {
        T::schema()
    }
}

impl<T: Described> Described for Spanned<T> {
    fn schema() -> Value {
        T::schema()
    }
}

impl<T: Described> Described for Vec<T> {
    fn schema() -> Value {
        json!({ "type": "array", "items": T::schema() })
    }
}

impl<K: Ord, T: Described> Described for std::collections::BTreeMap<K, T> {
    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": T::schema() })
    }
}

impl<T: Described> Described for PerGpu<T> {
    fn schema() -> Value {
        let amount = T::schema();
        let keys = [
            ("default", "Filled in where a job says nothing.", amount.clone()),
            ("max", "At most this.", amount.clone()),
            ("exact", "Just this, in place of `default` and `max`.", amount.clone()),
        ];
        json!({ "anyOf": [amount, object("", &keys)] })
    }
}

macro_rules! described {
    ($($type:ty => $schema:tt)*) => {
        $(impl Described for $type {
            fn schema() -> Value {
                json!($schema)
            }
        })*
    };
}

/// Text, or a number of minutes; zero would be no limit to Slurm.
const TIME: &str = r"^\s*([0-9]+|[0-9]+-[0-9]+(:[0-9]+){0,2}|[0-9]+(:[0-9]+){1,2})\s*$";

described! {
    String => { "type": "string" }
    bool => { "type": "boolean" }
    u64 => { "type": "integer", "minimum": 0 }
    Positive => { "type": "integer", "minimum": 1 }
    Memory => { "anyOf": [
        { "type": "string", "pattern": r"^\s*[0-9]+([KkMmGgTt][Bb]?)?\s*$" },
        { "type": "integer", "minimum": 1 },
    ] }
    Time => { "anyOf": [
        { "type": "string", "pattern": TIME },
        { "type": "string", "pattern": "^\\s*([Uu][Nn][Ll][Ii][Mm][Ii][Tt][Ee][Dd]|[Ii][Nn][Ff][Ii][Nn][Ii][Tt][Ee])\\s*$" },
        { "type": "integer", "minimum": 1 },
    ] }
    Duration => { "anyOf": [{ "type": "string", "pattern": TIME }, { "type": "integer", "minimum": 1 }] }
    Pattern => { "type": "string", "minLength": 1 }
    // An editor hands a date on as text.
    Date => { "type": "string", "format": "date" }
    Justification => { "anyOf": [
        { "type": "boolean" },
        { "type": "object", "additionalProperties": false, "required": ["min_length"],
          "properties": { "min_length": { "type": "integer", "minimum": 1, "maximum": 500,
                                          "description": "Characters that a reason has at least." } } },
    ] }
    Mode => { "type": "string", "enum": ["off", "audit", "warn", "enforce"] }
    OnError => { "type": "string", "enum": ["allow", "refuse"] }
    Kind => { "type": "string", "enum": ["batch", "interactive", "array", "het", "cron"] }
    GpuCount => { "anyOf": [
        { "type": "boolean" },
        { "type": "integer", "minimum": 0 },
        { "type": "string", "pattern": r"^\s*[0-9]+\s*(-\s*([0-9]+\s*)?)?$" },
    ] }
    Nested => false
}

/// `table` with the keys that it must have.
fn required(mut table: Value, keys: &[&str]) -> Value {
    table["required"] = json!(keys);
    table
}

/// `table` with what every rule and limit takes beside its own keys.
fn with_settings(mut table: Value) -> Value {
    for key in raw::SETTINGS {
        table["properties"][key] = json!({ "$ref": format!("#/definitions/settings/properties/{key}") });
    }
    table
}

fn named(about: &str, table: Value) -> Value {
    json!({ "type": "object", "description": about, "additionalProperties": table })
}

/// A rule's table.
fn rule(name: &str, options: Value) -> Value {
    let info = rules::find(name).unwrap();
    let told: Vec<&str> =
        info.explanation.split("\n # Why").next().unwrap().split(" # What it holds").collect();
    let mut table = with_settings(options);
    table["description"] = text(&told.join("\n\n")).into();
    if name == "lineage" { required(table, &["keys"]) } else { table }
}

/// The whole schema.
fn policy() -> Value {
    let mut definitions = Map::new();
    let mut rules = Map::new();
    definitions.insert("settings".to_owned(), raw::Settings::schema());
    for (name, options) in rules::options() {
        let table = rule(name, options);
        let this = json!({ "$ref": format!("#/definitions/{name}") });
        let either = json!([this, { "type": "array", "items": this }]);
        rules.insert(name.to_owned(), json!({ "description": table["description"], "anyOf": either }));
        definitions.insert(name.to_owned(), table);
    }
    let limit = required(with_settings(raw::Limit::schema()), &["name"]);
    let exempt = required(raw::Exempt::schema(), &["rules", "until", "reason"]);
    let properties = json!({
        "schema": { "const": 1, "description": "Which form of policy this is; the first line of the file." },
        "site": raw::Site::schema(),
        "partition": named("Facts of partitions, by name or glob.", raw::Partition::schema()),
        "gpu": named("Facts of GPU types, wherever they stand; they beat the partition's.", raw::Gpu::schema()),
        "qos": named("Facts of QoS, by name or glob.", raw::Qos::schema()),
        "rule": {
            "type": "object",
            "description": "Rules. One that is not named is off; one named without a mode is enforced. A rule may \
                            stand several times, and the first whose `when` matches applies.",
            "additionalProperties": false,
            "properties": rules,
        },
        "limit": { "type": "array", "items": limit, "description": limit["description"] },
        "exempt": { "type": "array", "items": exempt, "description": exempt["description"] },
        "index_vars": { "type": "array", "items": { "type": "string" },
            "description": "Variables that say which array task owns a piece of work: a task whose variable \
                            contradicts SLURM_ARRAY_TASK_ID is stopped before it starts." },
        "compile": raw::Compile::schema(),
    });
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Sluice policy",
        "description": "A cluster's rules for job submissions (sluice.toml).",
        "type": "object",
        "additionalProperties": false,
        "required": ["schema"],
        "properties": properties,
        "definitions": definitions,
    })
}

mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    fn root() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR"))
    }

    /// A file of policy as editors hand it to a validator.
    fn json_of(text: &str) -> Value {
        fn value(from: toml::Value) -> Value {
            match from {
                toml::Value::String(text) => text.into(),
                toml::Value::Integer(n) => n.into(),
                toml::Value::Float(n) => n.into(),
                toml::Value::Boolean(b) => b.into(),
                toml::Value::Datetime(when) => when.to_string().into(),
                toml::Value::Array(items) => items.into_iter().map(value).collect(),
                toml::Value::Table(table) => {
                    Value::Object(table.into_iter().map(|(key, v)| (key, value(v))).collect())
                }
            }
        }
        value(toml::from_str(text).unwrap())
    }

    fn errors(text: &str) -> Vec<String> {
        let validator =
            jsonschema::options().should_validate_formats(true).build(&policy()).expect("a schema");
        validator.iter_errors(&json_of(text)).map(|e| format!("{}: {e}", e.instance_path())).collect()
    }

    #[test]
    fn generated_schema_is_up_to_date() {
        let path = root().join("packaging/sluice.schema.json");
        let text = format!("{:#}\n", policy());
        if std::env::var_os("SLUICE_WRITE").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == text, "{} is out of date: SLUICE_WRITE=1 cargo test --lib generated", path.display());
    }

    #[test]
    fn every_rule_has_its_options_in_the_schema() {
        let named: Vec<&str> = rules::options().into_iter().map(|(name, _)| name).collect();
        assert_eq!(named, rules::ALL.iter().map(|r| r.name).collect::<Vec<_>>());
    }

    #[test]
    fn every_key_of_the_file_has_its_description() {
        fn look(at: &str, schema: &Value, missing: &mut Vec<String>) {
            for (key, of) in schema["properties"].as_object().into_iter().flatten() {
                let described = of["description"].as_str().is_some_and(|d| !d.is_empty());
                if !described && of.get("$ref").is_none() {
                    missing.push(format!("{at}.{key}"));
                }
                look(&format!("{at}.{key}"), of, missing);
            }
            for inner in ["additionalProperties", "items"].iter().filter_map(|key| schema.get(*key)) {
                look(at, inner, missing);
            }
            for any in schema["anyOf"].as_array().into_iter().flatten() {
                look(at, any, missing);
            }
            for (name, table) in schema["definitions"].as_object().into_iter().flatten() {
                look(name, table, missing);
            }
        }
        let mut missing = Vec::new();
        look("", &policy(), &mut missing);
        assert_eq!(missing, [""; 0]);
    }

    #[test]
    fn every_policy_that_is_kept_here_is_valid() {
        let mut seen = 0;
        for folder in
            ["examples", "tests/sites", "tests/policies", "docs/command.in", "tests/slurmctld/differential"]
        {
            for entry in std::fs::read_dir(root().join(folder)).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                // Files of cases beside them are no policies.
                if Path::new(&name).extension().is_none_or(|e| e != "toml") || name.contains("test") {
                    continue;
                }
                seen += 1;
                assert_eq!(errors(&std::fs::read_to_string(&path).unwrap()), [""; 0], "{}", path.display());
            }
        }
        assert!(seen >= 18, "{seen} policies");
    }

    #[test]
    fn what_the_loader_refuses_for_its_form_is_invalid() {
        let whole = "schema = 1\n[partition.a]\n";
        for text in [
            "[site]\nname = \"x\"\n",
            "schema = 2\n",
            "schema = 1\npartitions = {}\n",
            "schema = 1\n[site]\nnmae = \"x\"\n",
            "schema = 1\n[site]\nmode = \"loud\"\n",
            "schema = 1\n[site]\nconfirm = \"yes\"\n",
            &format!("{whole}gpus_per_node = \"4\"\n"),
            &format!("{whole}cpus_per_node = 0\n"),
            &format!("{whole}memory_per_node = \"lots\"\n"),
            &format!("{whole}memory_per_node = -1\n"),
            &format!("{whole}max_time = \"soon\"\n"),
            &format!("{whole}cpus_per_gpu = {{ defualt = 4 }}\n"),
            &format!("{whole}owner = \"physics\"\n"),
            "schema = 1\n[rule.exclusiv]\n",
            "schema = 1\n[rule.exclusive]\nallow = [\"everything\"]\n",
            "schema = 1\n[rule.exclusive]\njustify = { min_length = 0 }\n",
            "schema = 1\n[rule.lineage]\n",
            "schema = 1\n[rule.short-job]\nunder = \"ten minutes\"\n",
            "schema = 1\n[rule.wrap]\nwhen = { kinds = [\"batch\"] }\n",
            "schema = 1\n[rule.wrap]\nwhen = { kind = [\"interactiv\"] }\n",
            "schema = 1\n[rule.wrap]\nwhen = { not = { not = { gpus = true } } }\n",
            "schema = 1\n[[rule.wrap]]\nmode = \"warn\"\n[[rule.wrap]]\nmode = 3\n",
            "schema = 1\n[[limit]]\nmax_gpus = 4\n",
            "schema = 1\n[[limit]]\nname = \"x\"\nmax_gpu = 4\n",
            "schema = 1\n[[exempt]]\nrules = [\"exclusive\"]\nreason = \"x\"\n",
            "schema = 1\n[[exempt]]\nrules = [\"exclusive\"]\nreason = \"x\"\nuntil = \"soon\"\n",
        ] {
            assert!(!errors(text).is_empty(), "{text}");
        }
        assert_eq!(errors("schema = 1\n"), [""; 0]);
    }
}
