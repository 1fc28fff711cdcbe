//! `sluice compare`: every difference of two jobs in shape and lineage.

use serde_json::{Value, json};

use sluice::run_card::{Card, Difference, differences};
use sluice::words::{count, shown};

use crate::options::{self, Common, Format};
use crate::output::{Style, line, styled};
use crate::policy_file::reason;
use crate::{Exit, Failure, job, output};

/// A run card is a few hundred bytes; what is larger than this is none.
const LARGEST: u64 = 1 << 20;

/// Compares two jobs.
///
/// # Errors
/// A job that cannot be found or is several, a file that is no run card.
pub fn run(common: &Common, verb: &options::Compare) -> Result<Exit, Failure> {
    let (first, second) = (card(&verb.first)?, card(&verb.second)?);
    let found = differences(&first, &second);
    let (differ, open): (Vec<&Difference>, Vec<&Difference>) = found.iter().partition(|d| d.known);
    match common.format {
        Format::Json => {
            let names = [&verb.first, &verb.second];
            let result = json!({ "jobs": names, "same": differ.is_empty(), "differences": found });
            output::line(&serde_json::to_string_pretty(&result).unwrap_or_default());
        }
        Format::Text => print(verb, &differ, &open, first.lineage.is_none() && second.lineage.is_none()),
    }
    Ok(if differ.is_empty() { Exit::Yes } else { Exit::No })
}

/// One job by its id, or by the file of its run card.
fn card(operand: &str) -> Result<Card, Failure> {
    if job::is_id(operand) {
        let mut parts = job::find(operand)?;
        let labels: Vec<String> = parts.iter().filter_map(|r| r.card.job.clone()).take(3).collect();
        return match (parts.pop(), parts.is_empty()) {
            (Some(only), true) => Ok(only.card),
            _ => Err(format!("{operand} is several jobs: name one, such as {}", labels.join(", "))),
        };
    }
    let failure = |why: String| format!("cannot read {}: {why}", shown(operand));
    let there = std::fs::metadata(operand).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            format!("{} is neither a job's id, such as 123, 123_4 or 123+1, nor a file", shown(operand))
        }
        _ => failure(reason(&e)),
    })?;
    if !there.is_file() || there.len() > LARGEST {
        return Err(failure("it is no run card".to_owned()));
    }
    let text = std::fs::read_to_string(operand).map_err(|e| failure(reason(&e)))?;
    Card::parse(&text).map_err(failure)
}

fn print(verb: &options::Compare, differ: &[&Difference], open: &[&Difference], no_lineage: bool) {
    let head = match differ.len() {
        0 => "no difference in shape and lineage".to_owned(),
        n => count(n as u64, "difference"),
    };
    let style = if differ.is_empty() { Style::Green } else { Style::Bold };
    line(&styled(style, &format!("{} and {}: {head}", shown(&verb.first), shown(&verb.second))));
    for d in differ {
        line(&format!("  {:24} {:24} {}", field(&d.field), value(&d.first), value(&d.second)));
    }
    for d in open {
        line(&format!(
            "  {:24} {:24} {} (known of one only)",
            field(&d.field),
            value(&d.first),
            value(&d.second)
        ));
    }
    if no_lineage {
        output::note("the lineage of neither is on record");
    }
}

/// `requested.gpus_per_node` in words.
fn field(field: &str) -> String {
    field.replacen('.', " ", 1).replace('_', " ")
}

fn value(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => shown(text),
        Value::Object(fields) => {
            let known = fields.iter().filter(|(_, value)| !value.is_null());
            let pairs: Vec<String> = known
                .map(|(name, v)| {
                    format!("{name}={}", v.as_str().map_or_else(|| v.to_string(), str::to_owned))
                })
                .collect();
            shown(&pairs.join(","))
        }
        other => shown(&other.to_string()),
    }
}
