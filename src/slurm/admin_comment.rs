//! The line that a justified, exempted or edited job carries in its admin comment.

use std::ffi::c_char;

use super::reference::Reference;
use super::strings;
use crate::verdict::{Outcome, Verdict};
use crate::words;

/// Bytes that are added at most: slurmctld keeps the comment for the life of the job and in its
/// database.
const BYTES: usize = 200;

/// What to add for an accepted submission; `None` where there is nothing to say.
pub fn text(verdict: &Verdict, reference: Reference) -> Option<String> {
    let edits: Vec<String> = verdict.edits_to_make().map(ToString::to_string).collect();
    let lifted = |wanted: fn(&Outcome) -> bool| {
        let rules: Vec<&str> =
            verdict.findings.iter().filter(|f| wanted(&f.outcome)).map(|f| f.rule.as_str()).collect();
        rules.join(",")
    };
    let justified = lifted(|o| matches!(o, Outcome::Justified));
    let exempt = lifted(|o| matches!(o, Outcome::Exempt(_)));
    let mut parts = Vec::new();
    if !edits.is_empty() {
        parts.push(format!("filled in {}", edits.join(" ")));
    }
    if !exempt.is_empty() {
        parts.push(format!("exempt from {exempt}"));
    }
    if !justified.is_empty() {
        let reason = verdict.justification.as_deref().map(words::shown).unwrap_or_default();
        parts.push(format!("{justified} justified: {reason}"));
    }
    if parts.is_empty() {
        return None;
    }
    let end = format!(" (ref {reference})");
    let mut text: String =
        format!("sluice: {}", parts.join("; ")).chars().map(|c| if c.is_ascii() { c } else { '?' }).collect();
    text.truncate(BYTES.saturating_sub(end.len()));
    Some(text + &end)
}

/// Adds `text` to the comment, once: in a federation the hook sees its own job again.
///
/// # Safety
/// `field` is NULL or text from Slurm's allocator that nothing borrows.
pub unsafe fn append(field: &mut *mut c_char, text: &str) {
    // SAFETY: by the caller's promise; the borrow ends in this line.
    let noted = unsafe { strings::read(*field) }.is_some_and(|t| t.contains("sluice: "));
    if !noted {
        // SAFETY: by the caller's promise.
        unsafe { strings::append(field, c"; ", text) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{Edit, PlannedEdit};

    #[test]
    fn the_comment_is_short_and_plain() {
        let mut verdict = Verdict {
            edits: vec![PlannedEdit { rule: "cpus-per-gpu", edit: Edit::CpusPerGpu(4), made: true }],
            ..Verdict::default()
        };
        let reference = Reference::next();
        assert_eq!(
            text(&verdict, reference),
            Some(format!("sluice: filled in --cpus-per-gpu=4 (ref {reference})"))
        );
        verdict.edits =
            vec![PlannedEdit { rule: "qos-entitlement", edit: Edit::Qos("q\u{e9}".repeat(500)), made: true }];
        let long = text(&verdict, reference).unwrap();
        assert!(long.len() <= BYTES && long.is_ascii() && long.ends_with(')'));
        assert_eq!(text(&Verdict::default(), reference), None);
    }
}
