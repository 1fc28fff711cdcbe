//! What a policy's tables say, in words. They are read as written: names of users and options of
//! rules are no longer there once a policy is compiled.

use serde_json::{Map, Value};
use sluice::policy::{Mode, Settings};
use sluice::words;

/// What comes of a finding in this mode.
pub fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Off => "off",
        Mode::Audit => "only recorded",
        Mode::Warn => "warns",
        Mode::Enforce => "refuses",
    }
}

/// A policy's text as values. A date is its text.
pub fn written(name: &str, bytes: &[u8]) -> Result<Value, String> {
    let mut value: Value = toml::from_slice(bytes).map_err(|e| format!("{name}: {e}"))?;
    plain_dates(&mut value);
    Ok(value)
}

/// serde has no dates: toml hands them on as a table of one key.
fn plain_dates(value: &mut Value) {
    match value {
        Value::Object(table) => match table.get("$__toml_private_datetime").cloned() {
            Some(date) => *value = date,
            None => table.values_mut().for_each(plain_dates),
        },
        Value::Array(list) => list.iter_mut().for_each(plain_dates),
        _ => {}
    }
}

/// A table, or each of a list of tables.
pub fn tables(value: Option<&Value>) -> Vec<&Map<String, Value>> {
    match value {
        Some(Value::Object(table)) => vec![table],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_object).collect(),
        _ => Vec::new(),
    }
}

/// What every rule and limit may say: when it applies, what lifts it, the site's own sentence.
pub fn common(settings: &Settings, table: &Map<String, Value>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(Value::Object(when)) = table.get("when") {
        lines.push(format!("when {}", condition(when)));
    }
    if let Some(justify) = settings.justify {
        let length = match justify.min_length {
            0 | 1 => String::new(),
            n => format!(" of {n} characters or more"),
        };
        lines.push(format!("a written reason{length} lifts it"));
    }
    lines.extend(settings.help.as_ref().map(|help| format!("help: {help}")));
    lines
}

/// `partition is gpu or phys-*, and kind is interactive`
pub fn condition(when: &Map<String, Value>) -> String {
    let part = |(key, value): (&String, &Value)| match (key.as_str(), value) {
        ("not", Value::Object(not)) => format!("not ({})", condition(not)),
        ("given", value) => format!("{} is given", options(value).join(" or ")),
        ("gpus", Value::Bool(true)) => "GPUs are asked for".to_owned(),
        ("gpus", Value::Bool(false)) => "no GPUs are asked for".to_owned(),
        ("gpus", value) => format!("the number of GPUs is {}", text(value)),
        ("gpu_type", value) => format!("the GPU type is {}", text(value)),
        (key, value) => format!("{key} is {}", text(value)),
    };
    when.iter().map(part).collect::<Vec<_>>().join(", and ")
}

/// For whom or what an exemption is.
pub fn whom(table: &Map<String, Value>) -> String {
    let keys = ["users", "groups", "accounts", "partitions", "qos", "reservations"];
    let parts = keys.iter().filter_map(|key| Some(format!("{key} {}", text(table.get(*key)?))));
    parts.collect::<Vec<_>>().join(", and ")
}

/// The options of a rule that are its own.
pub fn own_options(table: &Map<String, Value>) -> Vec<String> {
    let common = ["mode", "enforce_from", "justify", "help", "when"];
    let own = table.iter().filter(|(key, _)| !common.contains(&key.as_str()));
    own.map(|(key, value)| format!("{key}: {}", text(value))).collect()
}

/// What a limit bounds, a line each.
pub fn bounds(table: &Map<String, Value>) -> Vec<String> {
    let one = |(key, value): (&String, &Value)| {
        let shown = text(value);
        let count = |noun: &str| value.as_u64().map_or_else(|| shown.clone(), |n| words::count(n, noun));
        let (end, quantity) = match key.split_once('_') {
            Some(("max", quantity)) => ("at most", quantity),
            Some(("min", quantity)) => ("at least", quantity),
            _ => ("", key.as_str()),
        };
        Some(match quantity {
            "nodes" => format!("{end} {}", count("node")),
            "tasks" => format!("{end} {}", count("task")),
            "gpus" => format!("{end} {}", count("GPU")),
            "cpus" => format!("{end} {}", count("CPU")),
            "time" => format!("a time limit of {end} {shown}"),
            "memory" => format!("{end} {shown} of memory"),
            "memory_per_cpu" => format!("{end} {shown} of memory per CPU"),
            "array_max" => format!("at most {}", count("array task")),
            "array_running_max" => format!("at most {} at once", count("array task")),
            "allow_qos" => format!("only QoS {shown}"),
            "allow_account" => format!("only account {shown}"),
            "allow_partition" => format!("only partition {shown}"),
            "require" => format!("requires {}", options(value).join(" and ")),
            "forbid" => format!("does not take {}", options(value).join(" or ")),
            _ => return None,
        })
    };
    table.iter().filter_map(one).collect()
}

fn options(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(|option| format!("--{option}")).collect()
}

/// A value as people write it.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => match list.as_slice() {
            [] => "none".to_owned(),
            [one] => text(one),
            [first @ .., last] => {
                let first: Vec<String> = first.iter().map(text).collect();
                format!("{} or {}", first.join(", "), text(last))
            }
        },
        Value::Object(table) => {
            let parts: Vec<String> = table.iter().map(|(k, v)| format!("{k} {}", text(v))).collect();
            parts.join(", ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(toml: &str) -> Map<String, Value> {
        toml::from_str(toml).unwrap()
    }

    #[test]
    fn a_condition_reads_as_a_sentence() {
        let when = table("partition = [\"gpu\", \"phys-*\"]\ngpus = true\nnot = { account = [\"a\"] }\n");
        assert_eq!(
            condition(&when),
            "GPUs are asked for, and not (account is a), and partition is gpu or phys-*"
        );
        assert_eq!(
            condition(&table("given = [\"mem=0\", \"exclusive\"]")),
            "--mem=0 or --exclusive is given"
        );
        assert_eq!(condition(&table("gpus = \"2-3\"")), "the number of GPUs is 2-3");
    }

    #[test]
    fn every_bound_of_a_limit_has_words() {
        let quantities = ["nodes", "gpus", "cpus", "tasks", "time", "memory", "memory_per_cpu"];
        for key in quantities.iter().flat_map(|q| [format!("max_{q}"), format!("min_{q}")]) {
            assert_eq!(bounds(&table(&format!("{key} = 3"))).len(), 1, "{key}");
        }
        for key in ["array_max = 3", "array_running_max = 2", "allow_qos = [\"a\"]", "forbid = [\"mem=0\"]"] {
            assert_eq!(bounds(&table(key)).len(), 1, "{key}");
        }
        assert_eq!(bounds(&table("max_time = \"4:00:00\"")), ["a time limit of at most 4:00:00"]);
        assert_eq!(bounds(&table("require = [\"time\", \"nodes\"]")), ["requires --time and --nodes"]);
        assert_eq!(bounds(&table("name = \"x\"\nwhy = \"y\"")), [""; 0]);
    }
}
