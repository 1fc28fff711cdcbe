//! What users read: findings turned into words, in one place.
//!
//! Lines are ASCII, at most [`WIDTH`] columns without the prefix that the client puts before them,
//! and each makes sense alone: tools filter and reorder them.

use crate::policy::Site;
use crate::request::memory::Mb;
use crate::request::time::Minutes;
use crate::request::{Amount, TimeLimit};
use crate::verdict::{Allowed, Bound, Complaint, Finding, Place, Remedy, Understood, Verdict};
use crate::words::{count, shell_word, shown};

/// Columns of a line.
pub const WIDTH: usize = 100;
/// Findings that are told; the rest are named.
const FINDINGS: usize = 8;
/// Lines in all.
const LINES: usize = 24;
/// Lines that may say which findings are not told.
const MORE: usize = 2;
/// Bytes in all, line ends included.
const BYTES: usize = 2048;

/// What a message needs besides the verdict.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// `[site]`.
    pub site: &'a Site,
    /// `job`, or `change` for an update.
    pub subject: &'a str,
    /// Names the record of this decision; `None` where none is kept.
    pub reference: Option<&'a str>,
    /// The option `--justify` is there (the SPANK side is installed).
    pub justify_option: bool,
}

/// The message of a verdict; empty where there is nothing to tell.
pub fn lines(verdict: &Verdict, context: &Context<'_>) -> Vec<String> {
    if verdict.accepts() { acceptance(verdict, context) } else { refusal(verdict, context) }
}

fn refusal(verdict: &Verdict, context: &Context<'_>) -> Vec<String> {
    let refusals: Vec<&Finding> = verdict.refusals().collect();
    let site = ascii(&context.site.name);
    if refusals.is_empty() {
        let mut lines = wrap(&format!("{site} cannot judge this {}: Sluice failed on it", context.subject));
        lines.extend(wrap(&format!(
            "  tell {} (ref {})",
            contact(context.site),
            context.reference.unwrap_or("none")
        )));
        return lines;
    }
    let problems =
        if refusals.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", refusals.len()) };
    let mut lines = wrap(&format!("{site} refuses this {}: {problems}", context.subject));
    let told: Vec<&Finding> = refusals.into_iter().chain(verdict.warnings()).collect();
    let more = closing(&told, context);
    let shown = tell(&mut lines, &told, context, more.len());
    lines.extend(untold("", told.get(shown..).unwrap_or_default()));
    lines.extend(more);
    lines
}

/// `and 4 more: rule, rule`
fn untold(start: &str, rest: &[&Finding]) -> Vec<String> {
    if rest.is_empty() {
        return Vec::new();
    }
    let names: Vec<&str> = rest.iter().map(|f| f.rule.as_str()).collect();
    let mut lines = wrap(&format!("{start}and {} more: {}", rest.len(), names.join(", ")));
    if lines.len() > MORE {
        // A policy may have hundreds of limits.
        lines.truncate(MORE);
        if let Some(last) = lines.last_mut() {
            last.truncate(last.trim_end_matches(',').len());
        }
    }
    lines
}

fn acceptance(verdict: &Verdict, context: &Context<'_>) -> Vec<String> {
    let warnings: Vec<&Finding> = verdict.warnings().collect();
    let mut closing = Vec::new();
    let edits: Vec<String> = verdict.edits_to_make().map(ToString::to_string).collect();
    if !edits.is_empty() {
        closing.extend(wrap(&format!("{} filled in {}", ascii(&context.site.name), edits.join(" "))));
    }
    if let Some(understood) = &verdict.understood {
        closing.extend(wrap(&format!("{} understands: {}", ascii(&context.site.name), shape(understood))));
    }
    // A list of partitions may be as long as its user likes.
    closing.truncate(LINES / 3);
    let mut lines = Vec::new();
    let shown = tell(&mut lines, &warnings, context, closing.len());
    lines.extend(untold("note: ", warnings.get(shown..).unwrap_or_default()));
    lines.extend(closing);
    lines
}

/// `100 tasks, each 1 node, 4 GPUs, 32 CPUs, 240G of memory, 2-00:00:00 in partition gpu`
fn shape(understood: &Understood) -> String {
    let shape = &understood.shape;
    let counted = |amount: Amount, noun: &str| match (amount.low, amount.high) {
        (low, Some(high)) if low == high => count(low, noun),
        (low, Some(high)) => format!("{low} to {}", count(high, noun)),
        (low, None) => format!("at least {}", count(low, noun)),
    };
    let nodes = counted(shape.nodes, if understood.whole_nodes { "whole node" } else { "node" });
    let gpus = shape.gpus.filter(|g| g.high != Some(0)).map(|g| counted(g, "GPU"));
    let memory = shape.memory.and_then(Amount::fixed).map(|mb| format!("{} of memory", Mb(mb)));
    let time = match understood.time_limit {
        TimeLimit::Minutes(minutes) => Minutes(minutes).to_string(),
        TimeLimit::Unlimited => "no time limit".to_owned(),
        TimeLimit::Unset => "the default time".to_owned(),
    };
    let cpus = Some(counted(shape.cpus, "CPU"));
    let parts: Vec<String> = [Some(nodes), gpus, cpus, memory, Some(time)].into_iter().flatten().collect();
    let tasks = understood.array.map(|n| format!("{}, each ", count(n, "array task"))).unwrap_or_default();
    let place = match understood.partitions.as_slice() {
        [] => String::new(),
        [one] => format!(" in partition {}", ascii(one)),
        many => format!(" in partitions {}", ascii(&many.join(", "))),
    };
    format!("{tasks}{}{place}", parts.join(", "))
}

/// Adds findings while they fit, and says how many did. `reserve` lines stay free.
fn tell(lines: &mut Vec<String>, findings: &[&Finding], context: &Context<'_>, reserve: usize) -> usize {
    let mut shown = 0;
    for finding in findings.iter().take(FINDINGS) {
        let mut block = sentence(finding);
        block.extend(remedies(finding, context));
        let bytes: usize = lines.iter().chain(&block).map(|l| l.len() + 1).sum();
        // "and 4 more" and the closing lines come after.
        let after = reserve + MORE;
        if lines.len() + block.len() + after > LINES || bytes + after * (WIDTH + 1) > BYTES {
            break;
        }
        lines.extend(block);
        shown += 1;
    }
    shown
}

/// `[cpus-per-gpu] 64 CPUs for 4 GPUs is 16 per GPU; partition gpu gives at most 8`
fn sentence(finding: &Finding) -> Vec<String> {
    let note = if finding.outcome == crate::verdict::Outcome::Warned { "note: " } else { "" };
    wrap(&format!("{note}[{}] {}", finding.rule, complaint(&finding.complaint)))
}

/// `64 CPUs for 4 GPUs is 16 per GPU; partition gpu gives at most 8`
pub fn complaint(complaint: &Complaint) -> String {
    let allowed = complaint.allowed.as_ref().map(|a| format!("; {}", allowed(a))).unwrap_or_default();
    format!("{}{allowed}", complaint.asked)
}

/// `partition gpu gives at most 8`
pub fn allowed(allowed: &Allowed) -> String {
    let (one, many) = allowed.verb;
    let what = &allowed.what;
    let text = match &allowed.place {
        Place::Partitions(names) => match names.as_slice() {
            [name] => format!("partition {} {one} {what}", shown(name)),
            names => {
                let names: Vec<String> = names.iter().map(|n| shown(n)).collect();
                format!("partitions {} {many} {what}", names.join(", "))
            }
        },
        Place::GpuType(kind) => format!("a GPU of type {} {one} {what}", shown(kind)),
        Place::Qos(name) => format!("QoS {} {one} {what}", shown(name)),
        Place::Site => format!("the site {one} {what}"),
    };
    text.trim_end().to_owned()
}

/// The refusals of a verdict in one line, for a log: what users would read in several.
pub fn one_line(verdict: &Verdict) -> String {
    let told = |finding: &Finding| {
        let remedies: Vec<String> = finding.complaint.remedies.iter().map(remedy).collect();
        let remedies =
            if remedies.is_empty() { String::new() } else { format!(": {}", remedies.join(", or ")) };
        ascii(&format!("[{}] {}{remedies}", finding.rule, complaint(&finding.complaint)))
    };
    verdict.refusals().map(told).collect::<Vec<_>>().join(" | ")
}

fn remedies(finding: &Finding, context: &Context<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let texts: Vec<String> = finding.complaint.remedies.iter().map(remedy).collect();
    if !texts.is_empty() {
        lines.extend(wrap(&format!("  {}", texts.join(", or "))));
    }
    if let Some(justify) = finding.justify {
        let length = match justify.min_length {
            0 | 1 => String::new(),
            n => format!(" ({n} characters or more)"),
        };
        let option = if context.justify_option { "--justify='...'" } else { "--comment='justify: ...'" };
        lines.extend(wrap(&format!("  or say why it has to be: {option}{length}")));
    }
    if let Some(from) = finding.enforce_from {
        lines.extend(wrap(&format!("  this is refused from {from} on")));
    }
    if let Some(help) = &finding.help {
        lines.extend(wrap(&format!("  {}", ascii(help))));
    }
    lines
}

/// A remedy in words: `use --cpus-per-gpu=8 or less`.
pub fn remedy(remedy: &Remedy) -> String {
    match remedy {
        Remedy::Use { option, value, bound, instead_of } => {
            let typed = match (value.is_empty(), shell_word(value)) {
                (true, _) => format!("--{option}"),
                (false, Some(word)) => format!("--{option}={word}"),
                (false, None) => format!("--{option} with plain characters"),
            };
            let bound = match bound {
                Bound::Exactly => "",
                Bound::OrLess => " or less",
                Bound::OrMore => " or more",
            };
            let instead = match instead_of.as_slice() {
                [] => String::new(),
                options => {
                    let options: Vec<String> = options.iter().map(|o| format!("--{o}")).collect();
                    format!(" instead of {}", options.join(" and "))
                }
            };
            format!("use {typed}{bound}{instead}")
        }
        Remedy::Drop { option } => format!("drop --{option}"),
        Remedy::DropFromList { option, names } => {
            let names: Vec<String> = names.iter().map(|n| shown(n)).collect();
            format!("drop {} from --{option}", names.join(" and "))
        }
        Remedy::Change(what) => what.clone(),
    }
}

/// `more: sluice explain cpus-per-gpu array-logs, https://docs.example.org/slurm (ref 7f3a9c21)`
fn closing(told: &[&Finding], context: &Context<'_>) -> Vec<String> {
    let mut rules: Vec<&str> = Vec::new();
    for finding in told {
        if crate::rules::find(&finding.rule).is_some() && !rules.contains(&finding.rule.as_str()) {
            rules.push(&finding.rule);
        }
    }
    let explain = (!rules.is_empty()).then(|| format!("sluice explain {}", rules.join(" ")));
    let site = context.site;
    let parts = [explain, site.docs.as_deref().map(ascii), site.contact.as_deref().map(ascii)];
    let mut text = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if let Some(reference) = context.reference {
        text = format!("{text} (ref{GLUE}{reference})");
    }
    if text.is_empty() { Vec::new() } else { wrap(&format!("more: {}", text.trim_start())) }
}

fn contact(site: &Site) -> String {
    site.contact.as_deref().map_or_else(|| "your administrators".to_owned(), ascii)
}

/// The site's own words, made fit for a terminal and a log.
fn ascii(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).map(|c| if c.is_ascii() { c } else { '?' }).collect()
}

/// Whether a text that fits a line is one already: words with one space between them.
fn is_wrapped(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_text = |b: &u8| (b' '..=b'~').contains(b);
    bytes.iter().all(is_text) && !bytes.ends_with(b" ") && !bytes.windows(2).any(|w| w == b"  ")
}

/// A space at which no line is broken.
const GLUE: char = '\u{1}';

/// Breaks a line at spaces; what follows is indented by four: remedies have two. A word longer than a
/// line is cut where the line ends. Every line of a message comes from here, and whatever it is made of,
/// no other character than printable ASCII leaves: users' texts are made safe where they are taken up
/// ([`shown`]), and once more here.
fn wrap(text: &str) -> Vec<String> {
    let words = text.trim_start();
    if text.len() <= WIDTH && is_wrapped(words) {
        return if words.is_empty() { Vec::new() } else { vec![text.to_owned()] };
    }
    let indent = text.len() - text.trim_start().len();
    let next = " ".repeat(4);
    let mut lines = Vec::new();
    let mut line = " ".repeat(indent);
    let mut empty = true;
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        if !empty && line.len() + 1 + word.len() > WIDTH {
            lines.push(std::mem::replace(&mut line, next.clone()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        for c in word.chars() {
            if line.len() >= WIDTH {
                lines.push(std::mem::replace(&mut line, next.clone()));
            }
            line.push(match c {
                GLUE => ' ',
                '!'..='~' => c,
                _ => '?',
            });
        }
        empty = false;
    }
    if !empty {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_break_at_spaces_and_the_reference_stays_whole() {
        let text = format!("more: sluice explain {} (ref{GLUE}7f3a9c21)", "a-rule ".repeat(10).trim());
        let lines = wrap(&text);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines.last().map(String::as_str), Some("    (ref 7f3a9c21)"));
    }

    /// Found by fuzzing: the names of what is not told took a line too many.
    #[test]
    fn a_message_keeps_to_its_bounds_whatever_is_left_out() {
        let site = crate::policy::load::load(
            "test",
            "schema = 1",
            &crate::policy::resolve::NoDirectory,
            crate::date::Date { year: 2026, month: 11, day: 30 },
        );
        let site = site.map(|l| l.policy.site).expect("a policy");
        let finding = |n: usize| Finding {
            rule: format!("a-limit-with-a-name-of-some-length-{n}"),
            topic: crate::verdict::Topic::Cpu,
            complaint: crate::verdict::Complaint {
                quantity: "cpus",
                asked: "64 CPUs ".repeat(20),
                allowed: None,
                excess: 1,
                options: Vec::new(),
                remedies: vec![Remedy::exactly("cpus-per-task", "8")],
                errno: crate::verdict::Errno::AccessDenied,
                told_by: None,
            },
            outcome: crate::verdict::Outcome::Refused,
            policy_line: 0,
            enforce_from: None,
            help: None,
            justify: None,
        };
        for outcome in [crate::verdict::Outcome::Refused, crate::verdict::Outcome::Warned] {
            for n in [1, 7, 8, 9, 12, 200] {
                let findings = (0..n).map(|n| Finding { outcome: outcome.clone(), ..finding(n) }).collect();
                let partitions = vec!["a-partition".to_owned(); 90];
                let understood = (n == 1).then(|| {
                    let shape = crate::request::Shape::of(&Default::default(), Default::default());
                    Box::new(Understood {
                        partitions,
                        shape,
                        whole_nodes: false,
                        time_limit: TimeLimit::Unset,
                        array: None,
                    })
                });
                let verdict = Verdict { findings, understood, ..Verdict::default() };
                let context = Context {
                    site: &site,
                    subject: "job",
                    reference: Some("7f3a9c21"),
                    justify_option: true,
                };
                let lines = lines(&verdict, &context);
                let bytes: usize = lines.iter().map(|l| l.len() + 1).sum();
                assert!(lines.len() <= LINES && bytes <= BYTES, "{n}: {} lines, {bytes} bytes", lines.len());
                assert!(!lines.is_empty() && lines.iter().all(|l| l.len() <= WIDTH));
            }
        }
    }

    /// Found by fuzzing: a name in a list of partitions was told as it was typed.
    #[test]
    fn what_is_to_be_dropped_from_a_list_is_shown_as_other_text_is() {
        let names = vec!["lent".to_owned(), "g\u{fffd}\x1b[31m\x07 x".to_owned()];
        let told = remedy(&Remedy::DropFromList { option: "partition", names });
        assert_eq!(told, "drop lent and 'g?[31m x' from --partition");
    }

    proptest! {
        #[test]
        fn whatever_a_line_is_made_of_it_is_printable(text in "\\PC{0,300}|.{0,300}") {
            for line in wrap(&text) {
                prop_assert!(line.len() <= WIDTH && line.bytes().all(|b| (b' '..=b'~').contains(&b)), "{line:?}");
            }
        }

        #[test]
        fn no_line_is_wider_than_the_limit(text in "[a-z ]{0,400}") {
            prop_assert!(wrap(&text).iter().all(|l| l.len() <= WIDTH));
        }

        #[test]
        fn no_letter_is_lost(text in "[a-z ]{0,400}") {
            let letters = |t: &str| t.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(letters(&text), letters(&wrap(&text).concat()));
        }
    }
}
