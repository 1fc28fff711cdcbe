//! The report as one page: no script, nothing from elsewhere, readable by day and by night, on a
//! telephone and on a wall. All text of users is escaped; the page itself allows no script and no
//! request (Content-Security-Policy), should that ever be wrong.

use std::fmt::Write;

use sluice::replay::{Changes, ExampleLine, Line, Named, Report, RuleLine};

use super::numbers::{count, grouped, hours, share};

/// Text as it stands in a page.
struct Escaped<'t>(&'t str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // What turns the direction of writing makes one name look like another.
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
                c if c.is_control() => f.write_char(' ')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// What becomes of jobs: the class of its colour, its name, how many.
type Part = (&'static str, &'static str, u64);

/// The parts of a line that are shown in charts, the gravest first.
fn parts(line: &Line) -> [Part; 4] {
    [
        ("refused", "refused", line.refused),
        ("warned", "warned", line.warned),
        ("audited", "audited", line.audited),
        ("edited", "filled in", line.edited),
    ]
}

/// Jobs of a line that are shown in charts.
fn spoken_of(line: &Line) -> u64 {
    parts(line).iter().fold(0, |sum, part| sum.saturating_add(part.2))
}

/// The whole page.
pub fn page(report: &Report, top: usize) -> String {
    let mut page = String::new();
    let policy = &report.policy;
    let title = format!("What {} would have done", policy.file);
    let _ = write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"generator\" content=\"sluice {}\">\n<title>{}: {}</title>\n<style>\n{}</style>\n</head>\n\
         <body>\n<main>\n<h1>{}: {}</h1>\n",
        env!("CARGO_PKG_VERSION"),
        Escaped(&policy.site),
        Escaped(&title),
        include_str!("page.css"),
        Escaped(&policy.site),
        Escaped(&title),
    );
    head(&mut page, report);
    if let Some(changes) = &report.changes {
        changed(&mut page, report, changes);
    }
    page.push_str("<div class=\"two\">\n");
    by_rule(&mut page, &report.rules);
    hours_by_rule(&mut page, &report.rules);
    page.push_str("</div>\n");
    timeline(&mut page, &report.weeks);
    rules(&mut page, &report.rules);
    names(&mut page, "Users", "user", &report.users, top);
    page.push_str("<div class=\"two\">\n");
    names(&mut page, "Accounts", "account", &report.accounts, top);
    names(&mut page, "Partitions", "partition", &report.partitions, top);
    page.push_str("</div>\n");
    cannot_tell(&mut page, report);
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn head(page: &mut String, report: &Report) {
    let policy = &report.policy;
    let total = &report.total;
    let days = super::days(report);
    let _ = writeln!(
        page,
        "<p class=\"soft\">{}{} &middot; {} GPU-hours &middot; {} CPU-hours &middot; policy {}, mode {}</p>",
        count(total.jobs, "job"),
        Escaped(&days),
        hours(total.gpu_hours),
        hours(total.cpu_hours),
        Escaped(&policy.hash),
        policy.mode
    );
    page.push_str("<div class=\"cards\">\n");
    let lifted = total.justified.saturating_add(total.exempt).saturating_add(total.root);
    let cards = [
        ("refused", "jobs refused", total.refused),
        ("warned", "jobs warned", total.warned),
        ("audited", "jobs audited", total.audited),
        ("lifted", "justified or exempt", lifted),
        ("edited", "accepted with a value filled in", total.edited),
        ("open", "cannot be told", total.cannot_tell),
    ];
    for (class, what, n) in cards.into_iter().filter(|(class, _, n)| *n > 0 || *class == "refused") {
        let share = share(n as f64, total.jobs as f64);
        let _ = writeln!(
            page,
            "<div class=\"card {class}\"><b>{}</b>{what}<br><span class=\"soft small\">{share} of all jobs</span></div>",
            grouped(n)
        );
    }
    let touched = share(total.touched_gpu_hours, total.gpu_hours);
    let _ = writeln!(
        page,
        "<div class=\"card\"><b>{}</b>GPU-hours touched<br><span class=\"soft small\">{touched} of all, by {}</span></div>\n</div>",
        hours(total.touched_gpu_hours),
        count(total.users, "user")
    );
}

fn section(page: &mut String, title: &str, id: &str) {
    let _ = writeln!(page, "<section id=\"{id}\">\n<h2>{}</h2>", Escaped(title));
}

fn key(page: &mut String, lines: &[&Line]) {
    page.push_str("<ul class=\"key\">");
    let used = |index: usize| lines.iter().any(|l| parts(l).get(index).is_some_and(|p| p.2 > 0));
    for (index, (class, what, _)) in parts(&Line::default()).into_iter().enumerate() {
        if used(index) {
            let _ = write!(page, "<li><i class=\"{class}\"></i>{what}</li>");
        }
    }
    page.push_str("</ul>\n");
}

fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}

fn by_rule(page: &mut String, rules: &[RuleLine]) {
    section(page, "Jobs by rule", "by-rule");
    let mut told: Vec<&RuleLine> = rules.iter().filter(|r| spoken_of(&r.line) > 0).collect();
    told.sort_by_key(|r| std::cmp::Reverse(spoken_of(&r.line)));
    if told.is_empty() {
        page.push_str("<p>No rule speaks of any job.</p>\n</section>\n");
        return;
    }
    key(page, &told.iter().map(|r| &r.line).collect::<Vec<_>>());
    let most = told.iter().map(|r| spoken_of(&r.line)).max().unwrap_or(1) as f64;
    page.push_str("<div class=\"bars chart\">\n");
    for rule in told {
        let _ = write!(page, "<div class=\"name\">{}</div><div class=\"bar\">", Escaped(&rule.rule));
        for (class, what, n) in parts(&rule.line).into_iter().filter(|p| p.2 > 0) {
            let width = percent(n as f64, most);
            let _ = write!(
                page,
                "<i class=\"{class}\" style=\"width:{width:.2}%\" title=\"{} {what}\"></i>",
                grouped(n)
            );
        }
        let _ = writeln!(page, "</div><div class=\"value\">{}</div>", grouped(spoken_of(&rule.line)));
    }
    page.push_str("</div>\n</section>\n");
}

fn hours_by_rule(page: &mut String, rules: &[RuleLine]) {
    section(page, "GPU-hours by rule", "hours-by-rule");
    let mut told: Vec<&RuleLine> = rules.iter().filter(|r| r.line.touched_gpu_hours > 0.0).collect();
    told.sort_by(|a, b| b.line.touched_gpu_hours.total_cmp(&a.line.touched_gpu_hours));
    if told.is_empty() {
        page.push_str("<p>No rule speaks of a job that used GPUs.</p>\n</section>\n");
        return;
    }
    page.push_str(
        "<p class=\"soft small\">Used by jobs that the rule refuses, warns of, audits or fills in.</p>\n",
    );
    let most = told.first().map_or(1.0, |r| r.line.touched_gpu_hours);
    page.push_str("<div class=\"bars chart\">\n");
    for rule in told {
        let width = percent(rule.line.touched_gpu_hours, most);
        let _ = writeln!(
            page,
            "<div class=\"name\">{}</div><div class=\"bar\"><i class=\"edited\" style=\"width:{width:.2}%\"></i></div>\
             <div class=\"value\">{}</div>",
            Escaped(&rule.rule),
            hours(rule.line.touched_gpu_hours)
        );
    }
    page.push_str("</div>\n</section>\n");
}

/// Width and height of the timeline's own units; it is scaled to the page.
const WIDE: f64 = 960.0;
const HIGH: f64 = 220.0;
const BOTTOM: f64 = 24.0;
const LEFT: f64 = 64.0;

fn timeline(page: &mut String, weeks: &[Named]) {
    if weeks.is_empty() {
        return;
    }
    section(page, "Jobs by week of submission", "by-week");
    key(page, &weeks.iter().map(|w| &w.line).collect::<Vec<_>>());
    let most = weeks.iter().map(|w| spoken_of(&w.line)).max().unwrap_or(0).max(1) as f64;
    let label = format!("{} weeks, at most {} jobs in one", weeks.len(), grouped(most as u64));
    let _ = writeln!(
        page,
        "<div class=\"scroll\" tabindex=\"0\"><svg class=\"chart\" viewBox=\"0 0 {WIDE} {HIGH}\" role=\"img\" aria-label=\"{}\">",
        Escaped(&label)
    );
    let high = HIGH - BOTTOM - 12.0;
    for part in [0.0, 0.5, 1.0] {
        let y = 12.0 + high * (1.0 - part);
        let _ = writeln!(
            page,
            "<line x1=\"{LEFT}\" x2=\"{WIDE}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + 4.0,
            grouped((most * part).round() as u64)
        );
    }
    let step = (WIDE - LEFT) / weeks.len() as f64;
    // A label is some ninety units wide.
    let every = (weeks.len() as f64 * 100.0 / (WIDE - LEFT)).ceil().max(1.0) as usize;
    for (index, week) in weeks.iter().enumerate() {
        let x = LEFT + step * index as f64;
        let mut y = 12.0 + high;
        for (class, what, n) in parts(&week.line).into_iter().filter(|p| p.2 > 0) {
            let tall = high * n as f64 / most;
            y -= tall;
            let _ = writeln!(
                page,
                "<rect class=\"{class}\" x=\"{:.2}\" y=\"{y:.2}\" width=\"{:.2}\" height=\"{tall:.2}\">\
                 <title>week of {}: {} {what}</title></rect>",
                x + step * 0.1,
                (step * 0.8).min(48.0),
                Escaped(&week.name),
                grouped(n)
            );
        }
        if index % every == 0 && x + 80.0 <= WIDE {
            let _ =
                writeln!(page, "<text x=\"{x:.1}\" y=\"{:.1}\">{}</text>", HIGH - 6.0, Escaped(&week.name));
        }
    }
    page.push_str("</svg></div>\n</section>\n");
}

/// What stands for none.
const NONE: &str = "&ndash;";

fn number(n: u64) -> String {
    if n == 0 { NONE.to_owned() } else { grouped(n) }
}

/// A table, without the columns in which nothing stands.
fn table(page: &mut String, titles: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let rows: Vec<Vec<String>> = rows.collect();
    let is_told = |column: usize| {
        column == 0 || rows.iter().filter_map(|r| r.get(column)).any(|cell| cell != NONE && cell != "0.0")
    };
    let told: Vec<bool> = (0..titles.len()).map(is_told).collect();
    page.push_str("<div class=\"scroll\" tabindex=\"0\"><table>\n");
    let mut row = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
        page.push_str("<tr>");
        for (cell, _) in cells.zip(&told).filter(|(_, told)| **told) {
            let _ = write!(page, "<{tag}>{cell}</{tag}>");
        }
        page.push_str("</tr>\n");
    };
    row("th", &mut titles.iter().copied());
    rows.iter().for_each(|cells| row("td", &mut cells.iter().map(String::as_str)));
    page.push_str("</table></div>\n");
}

fn rules(page: &mut String, rules: &[RuleLine]) {
    section(page, "Rules and limits", "rules");
    let rows = rules.iter().map(|rule| {
        let l = &rule.line;
        let mut row = vec![format!("<code>{}</code>", Escaped(&rule.rule))];
        row.extend([l.refused, l.warned, l.audited, l.justified].map(number));
        row.push(number(l.exempt.saturating_add(l.root)));
        row.extend([l.edited, l.cannot_tell, l.users].map(number));
        row.extend([l.touched_gpu_hours, l.touched_cpu_hours].map(hours));
        row
    });
    let titles = [
        "rule",
        "refused",
        "warned",
        "audited",
        "justified",
        "exempt",
        "filled in",
        "cannot tell",
        "users",
        "GPU-hours",
        "CPU-hours",
    ];
    table(page, &titles, rows);
    let told: Vec<(&RuleLine, &ExampleLine)> =
        rules.iter().flat_map(|r| r.examples.iter().map(move |e| (r, e))).collect();
    if !told.is_empty() {
        page.push_str("<details open><summary>Examples</summary>\n<ul class=\"examples small\">\n");
        told.iter().for_each(|(rule, e)| example(page, &rule.rule, e));
        page.push_str("</ul></details>\n");
    }
    page.push_str("</section>\n");
}

fn example(page: &mut String, rule: &str, example: &ExampleLine) {
    let words = if example.words.is_empty() { "a value is filled in" } else { &example.words };
    let _ = writeln!(
        page,
        "<li><code>{}</code> job {} of {}: {}</li>",
        Escaped(rule),
        Escaped(&example.job),
        Escaped(&example.user),
        Escaped(words)
    );
}

fn changed(page: &mut String, report: &Report, changes: &Changes) {
    let old = report.against.as_ref().map_or("", |p| p.file.as_str());
    section(page, &format!("Against {old}"), "changes");
    let _ = writeln!(
        page,
        "<p><b>{}</b> newly refused ({} GPU-hours), <b>{}</b> no longer refused ({} GPU-hours).</p>",
        count(changes.newly_refused, "job"),
        hours(changes.newly_refused_gpu_hours),
        count(changes.no_longer_refused, "job"),
        hours(changes.no_longer_refused_gpu_hours)
    );
    if !changes.rules.is_empty() {
        let rows = changes.rules.iter().map(|c| {
            let mut row = vec![format!("<code>{}</code>", Escaped(&c.rule))];
            row.extend([c.newly_refused, c.no_longer_refused, c.newly_noted, c.no_longer_noted].map(number));
            row
        });
        table(
            page,
            &["rule", "newly refused", "no longer refused", "newly warned or audited", "no longer"],
            rows,
        );
        page.push_str("<ul class=\"examples small\">\n");
        for change in &changes.rules {
            change.examples.iter().for_each(|e| example(page, &change.rule, e));
            change
                .examples_before
                .iter()
                .for_each(|e| example(page, &format!("{}, no longer", change.rule), e));
        }
        page.push_str("</ul>\n");
    }
    page.push_str("</section>\n");
}

fn names(page: &mut String, title: &str, noun: &str, list: &[Named], top: usize) {
    if list.is_empty() || top == 0 {
        return;
    }
    section(page, title, &format!("{noun}s"));
    let rows = list.iter().take(top).map(|named| {
        let l = &named.line;
        let name = if named.name.is_empty() { "(none)" } else { &named.name };
        let mut row = vec![Escaped(name).to_string(), grouped(l.jobs)];
        row.extend([l.refused, l.warned, l.audited].map(number));
        row.extend([hours(l.touched_gpu_hours), hours(l.gpu_hours)]);
        row
    });
    table(page, &[noun, "jobs", "refused", "warned", "audited", "GPU-hours", "of all"], rows);
    if let Some(more) = list.len().checked_sub(top).filter(|&n| n > 0) {
        let _ = writeln!(page, "<p class=\"soft small\">and {} more</p>", grouped(more as u64));
    }
    page.push_str("</section>\n");
}

fn cannot_tell(page: &mut String, report: &Report) {
    section(page, "What cannot be told", "cannot-tell");
    page.push_str("<ul class=\"examples\">\n");
    for rule in &report.rules {
        if let Some(why) = rule.why {
            let _ = writeln!(
                page,
                "<li><code>{}</code>, {}: {}</li>",
                Escaped(&rule.rule),
                count(rule.line.cannot_tell, "job"),
                Escaped(why)
            );
        }
    }
    for text in &report.cannot_tell {
        let _ = writeln!(page, "<li>{}</li>", Escaped(text));
    }
    let passed = &report.passed;
    for (n, what) in super::passed_over(passed) {
        let _ = writeln!(page, "<li>passed over: {} {what}</li>", grouped(n));
    }
    for line in &passed.first {
        let _ = writeln!(page, "<li class=\"soft\">{}</li>", Escaped(line));
    }
    page.push_str("</ul>\n</section>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_write_cannot_leave_its_place() {
        let text = Escaped("<script>alert('1')</script> & \"x\"\u{202e}\u{7}\n").to_string();
        assert_eq!(text, "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot;  ");
    }
}
