//! The rules' own words.

use sluice::policy::diagnostic::suggestion;
use sluice::rules;

use crate::output::{Style, line, styled};
use crate::{Exit, Failure};

/// Explains each of `names`, or lists all rules.
///
/// # Errors
/// A name that no rule has, before anything is printed.
pub fn run(names: &[String]) -> Result<Exit, Failure> {
    let mut found = Vec::new();
    for name in names {
        found.push(rules::find(name).ok_or_else(|| unknown(name))?);
    }
    if found.is_empty() {
        list();
    }
    for (index, rule) in found.into_iter().enumerate() {
        if index > 0 {
            line("");
        }
        line(&styled(Style::Bold, rule.name));
        for text in readable(rule.explanation) {
            line(&text);
        }
        if rule.justifiable {
            line("");
            line("A written reason may lift it, where the policy says `justify`.");
        }
    }
    Ok(Exit::Yes)
}

fn list() {
    let width = rules::ALL.iter().map(|r| r.name.len()).max().unwrap_or(0);
    for rule in rules::ALL {
        let first = rule.explanation.lines().next().unwrap_or("").trim();
        line(&format!("{:width$}  {first}", rule.name));
    }
    line("");
    line("more: sluice explain RULE");
}

fn unknown(name: &str) -> String {
    let names = || rules::ALL.iter().map(|r| r.name);
    match suggestion(name, names()) {
        Some(meant) => format!("there is no rule {name}; did you mean {meant}?"),
        None => format!(
            "there is no rule and no file {name}; the rules are {}",
            names().collect::<Vec<_>>().join(", ")
        ),
    }
}

/// Markdown as plain text: headings without their mark, code indented, all else as it stands.
fn readable(markdown: &str) -> Vec<String> {
    let mut code = false;
    let mut lines = Vec::new();
    for text in markdown.lines() {
        let text = text.strip_prefix(' ').unwrap_or(text);
        if text.starts_with("```") {
            code = !code;
        } else if code {
            lines.push(format!("    {text}").trim_end().to_owned());
        } else if let Some(heading) = text.strip_prefix("# ") {
            lines.push(styled(Style::Bold, heading));
        } else {
            lines.push(text.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_reads_as_plain_text() {
        for rule in rules::ALL {
            let lines = readable(rule.explanation);
            assert!(lines.iter().all(|l| !l.contains("```") && !l.starts_with('#')), "{}", rule.name);
            for heading in ["What it holds", "Why", "Refused", "Accepted", "Options"] {
                assert!(lines.iter().any(|l| l == heading), "{} lacks {heading}", rule.name);
            }
        }
    }
}
