//! The line that a justified, exempted or edited job carries in its admin comment.

use std::ffi::c_char;

use super::reference::Reference;
use super::strings;
use crate::recorded::{JUSTIFIED, LINEAGE, MARK, REFERENCE};
use crate::request::{Request, lineage};
use crate::verdict::{Outcome, Verdict};
use crate::words;

/// Bytes that are added at most: slurmctld keeps the comment for the life of the job and in its
/// database.
const BYTES: usize = 200;

/// What to add for an accepted submission; `None` where there is nothing to say. A lineage alone is
/// nothing to say: it is in the decision record, and in the job's own run card.
pub fn text(verdict: &Verdict, lineage: Option<&str>, reference: Reference) -> Option<String> {
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
        parts.push(format!("{justified}{JUSTIFIED}{reason}"));
    }
    if parts.is_empty() {
        return None;
    }
    let end = format!("{REFERENCE}{reference})");
    let ascii = |text: &str| text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect::<String>();
    let mut text = ascii(&format!("{MARK}{}", parts.join("; ")));
    text.truncate(BYTES.saturating_sub(end.len()));
    // Last, so that it is what gives way; half a lineage would be a wrong one.
    let lineage = lineage.map(|list| format!("; {LINEAGE}{list}")).filter(|list| {
        list.is_ascii() && text.len().saturating_add(list.len()).saturating_add(end.len()) <= BYTES
    });
    Some(text + &lineage.unwrap_or_default() + &end)
}

/// The lineage of a request as one list, in the form that `--lineage` takes.
pub fn lineage(request: &Request<'_>) -> Option<String> {
    // As for nearly all.
    if request.lineage.is_none() && request.comment.is_none() {
        return None;
    }
    let pairs = request.lineage_pairs();
    (!pairs.is_empty()).then(|| lineage::list(&pairs))
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
            text(&verdict, None, reference),
            Some(format!("sluice: filled in --cpus-per-gpu=4 (ref {reference})"))
        );
        assert_eq!(
            text(&verdict, Some("commit=4f2a,seed=7"), reference),
            Some(format!(
                "sluice: filled in --cpus-per-gpu=4; lineage: commit=4f2a,seed=7 (ref {reference})"
            ))
        );
        for too_much in ["x".repeat(200), "config=\u{fc}".to_owned()] {
            assert_eq!(text(&verdict, Some(&too_much), reference), text(&verdict, None, reference));
        }
        verdict.edits =
            vec![PlannedEdit { rule: "qos-entitlement", edit: Edit::Qos("q\u{e9}".repeat(500)), made: true }];
        let long = text(&verdict, Some("commit=4f2a"), reference).unwrap();
        assert!(long.len() <= BYTES && long.is_ascii() && long.ends_with(')'));
        assert_eq!(text(&Verdict::default(), Some("commit=4f2a"), reference), None);
    }
}
