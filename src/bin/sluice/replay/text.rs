//! The report for a terminal.

use sluice::replay::{Changes, ExampleLine, Line, Named, Report, RuleLine};
use sluice::words::shown;

use super::numbers::{count, grouped, hours, share};
use crate::output::{Style, line, styled};

/// Prints a report; at most `top` users, accounts and partitions.
pub fn print(report: &Report, top: usize) {
    head(report);
    line("");
    rules(&report.rules);
    examples(&report.rules);
    if let Some(changes) = &report.changes {
        changed(report, changes);
    }
    for (title, list) in
        [("user", &report.users), ("account", &report.accounts), ("partition", &report.partitions)]
    {
        names(title, list, top);
    }
    cannot_tell(report);
}

fn head(report: &Report) {
    let policy = &report.policy;
    let title = format!("{}: {}, {}, mode {}", policy.site, policy.file, policy.hash, policy.mode);
    line(&styled(Style::Bold, &title));
    let total = &report.total;
    let days = super::days(report);
    let used = format!("{} GPU-hours and {} CPU-hours", hours(total.gpu_hours), hours(total.cpu_hours));
    line(&format!("{}{days}: {used}", count(total.jobs, "job")));
    for (what, n) in lots(total) {
        let text = format!("  {what:<12} {:>11}  {:>7}", grouped(n), share(n as f64, total.jobs as f64));
        let style = (what == "refused" && n > 0).then_some(Style::Red);
        line(&style.map_or(text.clone(), |style| styled(style, &text)));
    }
}

/// What becomes of jobs, without what becomes of none; refusals always.
fn lots(total: &Line) -> Vec<(&'static str, u64)> {
    let all = [
        ("refused", total.refused),
        ("warned", total.warned),
        ("audited", total.audited),
        ("justified", total.justified),
        ("root's", total.root),
        ("exempt", total.exempt),
        ("filled in", total.edited),
        ("cannot tell", total.cannot_tell),
    ];
    let mut lots: Vec<_> = all.into_iter().filter(|(what, n)| *n > 0 || *what == "refused").collect();
    let rest = all.iter().fold(total.jobs, |rest, (_, n)| rest.saturating_sub(*n));
    lots.push(("nothing said", rest));
    lots
}

/// A table with its first column to the left and the others to the right.
fn table(title: &[&str], rows: &[Vec<String>]) {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count());
        cells.chain(title.get(column).map(|t| t.len())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..title.len()).map(width).collect();
    let row = |cells: &[&str]| {
        let mut text = String::new();
        for (index, (cell, &width)) in cells.iter().zip(&widths).enumerate() {
            if index == 0 {
                text.push_str(&format!("{cell:<width$}"));
            } else {
                text.push_str(&format!("  {cell:>width$}"));
            }
        }
        text.trim_end().to_owned()
    };
    line(&styled(Style::Bold, &row(title)));
    for cells in rows {
        line(&row(&cells.iter().map(String::as_str).collect::<Vec<_>>()));
    }
}

fn number(n: u64) -> String {
    if n == 0 { "-".to_owned() } else { grouped(n) }
}

fn rules(rules: &[RuleLine]) {
    let rows: Vec<Vec<String>> = rules
        .iter()
        .map(|rule| {
            let l = &rule.line;
            let lifted = l.justified.saturating_add(l.exempt).saturating_add(l.root);
            let mut row = vec![rule.rule.clone()];
            row.extend(
                [l.refused, l.warned, l.audited, lifted, l.edited, l.cannot_tell, l.users].map(number),
            );
            row.push(if l.touched_gpu_hours > 0.0 { hours(l.touched_gpu_hours) } else { "-".to_owned() });
            row
        })
        .collect();
    if rows.is_empty() {
        line("The policy names no rule and no limit.");
        return;
    }
    let title =
        ["rule", "refused", "warned", "audited", "lifted", "filled in", "cannot tell", "users", "GPU-hours"];
    table(&title, &rows);
}

fn example(rule: &str, example: &ExampleLine) -> String {
    let words = if example.words.is_empty() { "filled in" } else { &example.words };
    format!("[{rule}] {} of {}: {words}", shown(&example.job), shown(&example.user))
}

fn examples(rules: &[RuleLine]) {
    let told: Vec<_> = rules.iter().filter_map(|r| Some((r, r.examples.first()?))).collect();
    if told.is_empty() {
        return;
    }
    line("");
    line(&styled(Style::Bold, "for example"));
    for (rule, first) in told {
        sentence(&example(&rule.rule, first));
    }
}

fn changed(report: &Report, changes: &Changes) {
    line("");
    let old = report.against.as_ref().map_or("", |p| p.file.as_str());
    line(&styled(Style::Bold, &format!("against {old}")));
    for (what, n, gpu) in [
        ("newly refused", changes.newly_refused, changes.newly_refused_gpu_hours),
        ("no longer refused", changes.no_longer_refused, changes.no_longer_refused_gpu_hours),
    ] {
        line(&format!("  {what:<18} {:>11}  {:>9} GPU-hours", grouped(n), hours(gpu)));
    }
    if changes.rules.is_empty() {
        line("  no job would fare differently");
        return;
    }
    let rows: Vec<Vec<String>> = changes
        .rules
        .iter()
        .map(|c| {
            let numbers = [c.newly_refused, c.no_longer_refused, c.newly_noted, c.no_longer_noted];
            std::iter::once(c.rule.clone()).chain(numbers.map(number)).collect()
        })
        .collect();
    table(&["rule", "newly refused", "no longer", "newly warned or audited", "no longer"], &rows);
    for change in &changes.rules {
        for (mark, examples) in [("+", &change.examples), ("-", &change.examples_before)] {
            if let Some(first) = examples.first() {
                sentence(&format!("{mark} {}", example(&change.rule, first)));
            }
        }
    }
}

fn names(title: &str, list: &[Named], top: usize) {
    if list.is_empty() || top == 0 {
        return;
    }
    line("");
    let rows: Vec<Vec<String>> = list
        .iter()
        .take(top)
        .map(|named| {
            let l = &named.line;
            let name = if named.name.is_empty() { "(none)".to_owned() } else { shown(&named.name) };
            let mut row = vec![name, grouped(l.jobs)];
            row.extend([l.refused, l.warned, l.audited].map(number));
            row.extend([hours(l.touched_gpu_hours), hours(l.gpu_hours)]);
            row
        })
        .collect();
    table(&[title, "jobs", "refused", "warned", "audited", "GPU-hours of those", "of all"], &rows);
    if let Some(more) = list.len().checked_sub(top).filter(|&n| n > 0) {
        line(&format!("and {more} more"));
    }
}

/// Columns of a terminal that nobody has made larger.
const WIDTH: usize = 100;

/// Prints a sentence over as many lines as it takes, those after the first set in.
fn sentence(text: &str) {
    let mut row = String::new();
    for word in text.split(' ') {
        if !row.is_empty() && row.chars().count().saturating_add(word.chars().count()) >= WIDTH {
            line(row.trim_end());
            row = "    ".to_owned();
        }
        row.push_str(word);
        row.push(' ');
    }
    line(row.trim_end());
}

fn cannot_tell(report: &Report) {
    line("");
    line(&styled(Style::Bold, "cannot be told"));
    for rule in &report.rules {
        if let Some(why) = rule.why {
            sentence(&format!("  {}, {}: {why}", rule.rule, count(rule.line.cannot_tell, "job")));
        }
    }
    for text in &report.cannot_tell {
        sentence(&format!("  {text}"));
    }
    let passed = &report.passed;
    for (n, what) in super::passed_over(passed) {
        line(&format!("passed over: {} {what}", grouped(n)));
    }
    for broken in &passed.first {
        sentence(&format!("  {broken}"));
    }
}
