//! What Sluice wrote into a job's admin comment when it was submitted, read back.
//!
//! Only operators and plugins may set that comment, so that it proves what was decided. The reason in
//! it is the user's text and proves nothing: it comes last, after everything that is read here.

/// What starts Sluice's part of an admin comment.
pub const MARK: &str = "sluice: ";
/// What stands between the rules that a reason lifted and the reason.
pub const JUSTIFIED: &str = " justified: ";

/// What stands before the lineage.
pub const LINEAGE: &str = "lineage: ";
/// What stands before the reference, which ends Sluice's part.
pub const REFERENCE: &str = " (ref ";

/// Sluice's part, without the mark and the reference.
fn part(admin_comment: &str) -> Option<&str> {
    let (_, part) = admin_comment.split_once(MARK)?;
    Some(part.rsplit_once(REFERENCE).map_or(part, |(part, _)| part))
}

/// The reference of the decision record.
pub fn reference(admin_comment: &str) -> Option<&str> {
    let (_, part) = admin_comment.split_once(MARK)?;
    part.rsplit_once(REFERENCE)?.1.split(')').next()
}

/// The user's reason, as far as it was kept, and the lineage, as far as it was kept.
pub fn texts(admin_comment: &str) -> (Option<&str>, Option<&str>) {
    let Some(part) = part(admin_comment) else { return (None, None) };
    let (reason, rest) = match part.split_once(JUSTIFIED) {
        None => (None, part),
        // In quotes, without a quote in it, or a single plain word (`words::shown`).
        Some((_, text)) => {
            let (reason, rest) = match text.strip_prefix('\'') {
                Some(quoted) => quoted.split_once('\'').unwrap_or((quoted, "")),
                None => text.split_once("; ").unwrap_or((text, "")),
            };
            (Some(reason), rest)
        }
    };
    let lineage = rest.split("; ").find_map(|text| text.strip_prefix(LINEAGE));
    (reason, lineage)
}

/// The rules and limits that the user's reason lifted.
pub fn justified(admin_comment: &str) -> impl Iterator<Item = &str> {
    let rules = part(admin_comment).and_then(|p| p.split_once(JUSTIFIED)).map_or("", |(before, _)| before);
    let rules = rules.rsplit("; ").next().unwrap_or("");
    rules.split(',').filter(|r| !r.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(comment: &str) -> Vec<&str> {
        justified(comment).collect()
    }

    #[test]
    fn the_rules_that_a_reason_lifted_are_read_back() {
        let comment =
            "sluice: filled in --requeue; exempt from wrap; exclusive,array-logs justified: x (ref 1)";
        assert_eq!(rules(comment), ["exclusive", "array-logs"]);
        assert_eq!(rules("note; sluice: exclusive justified: x (ref 1)"), ["exclusive"]);
    }

    #[test]
    fn reason_lineage_and_reference_are_read_back() {
        let comment = "note; sluice: filled in --requeue; exclusive justified: 'a; lineage: x=1'; \
                       lineage: commit=4f2a,seed=7 (ref 7f3a9c21)";
        assert_eq!(texts(comment), (Some("a; lineage: x=1"), Some("commit=4f2a,seed=7")));
        assert_eq!(reference(comment), Some("7f3a9c21"));
        let edited = "sluice: filled in --requeue; lineage: commit=4f2a (ref 1)";
        assert_eq!(texts(edited), (None, Some("commit=4f2a")));
        assert_eq!(texts("sluice: wrap justified: word (ref 1)"), (Some("word"), None));
        assert_eq!(texts("lineage: a=1"), (None, None));
        assert_eq!(reference("sluice: x"), None);
    }

    #[test]
    fn a_reason_lifts_nothing_by_what_it_says() {
        let comment = "sluice: exclusive justified: 'a; wrap justified: b' (ref 1)";
        assert_eq!(rules(comment), ["exclusive"]);
        assert_eq!(rules("exclusive justified: x"), [""; 0]);
        assert_eq!(rules("sluice: filled in --requeue (ref 1)"), [""; 0]);
    }
}
