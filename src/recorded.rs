//! What Sluice wrote into a job's admin comment when it was submitted, read back.
//!
//! Only operators and plugins may set that comment, so that it proves what was decided. The reason in
//! it is the user's text and proves nothing: it comes last, after everything that is read here.

/// What starts Sluice's part of an admin comment.
pub const MARK: &str = "sluice: ";
/// What stands between the rules that a reason lifted and the reason.
pub const JUSTIFIED: &str = " justified: ";

/// The rules and limits that the user's reason lifted.
pub fn justified(admin_comment: &str) -> impl Iterator<Item = &str> {
    let part = admin_comment.split_once(MARK).map(|(_, part)| part);
    let rules = part.and_then(|p| p.split_once(JUSTIFIED)).map_or("", |(before, _)| before);
    let rules = rules.rsplit("; ").next().unwrap_or("");
    rules.split(',').filter(|r| !r.is_empty())
}

/// The reason that lifted them, as far as the comment had room for it.
pub fn reason(admin_comment: &str) -> Option<&str> {
    let (_, part) = admin_comment.split_once(MARK)?;
    let (_, reason) = part.split_once(JUSTIFIED)?;
    let reason = reason.rsplit_once(" (ref ").map_or(reason, |(reason, _)| reason).trim();
    Some(reason.strip_prefix('\'').map_or(reason, |r| r.strip_suffix('\'').unwrap_or(r)))
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
    fn the_reason_is_read_back() {
        let of = |reason: &str| {
            super::reason(&format!("sluice: exclusive justified: {reason} (ref 1)")).map(str::to_owned)
        };
        assert_eq!(of("'needs all of the node'").as_deref(), Some("needs all of the node"));
        assert_eq!(of("needed").as_deref(), Some("needed"));
        assert_eq!(reason("sluice: filled in --requeue (ref 1)"), None);
    }

    #[test]
    fn a_reason_lifts_nothing_by_what_it_says() {
        let comment = "sluice: exclusive justified: 'a; wrap justified: b' (ref 1)";
        assert_eq!(rules(comment), ["exclusive"]);
        assert_eq!(rules("exclusive justified: x"), [""; 0]);
        assert_eq!(rules("sluice: filled in --requeue (ref 1)"), [""; 0]);
    }
}
