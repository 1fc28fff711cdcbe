//! `--dependency`: which jobs, under which condition.

/// One job that a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency<'t> {
    /// `afterok`, `afterany`, ... as typed.
    pub kind: &'t str,
    /// The job's id.
    pub job_id: u32,
    /// `12_3` names one task, `12_*` and `12` the whole array.
    pub whole_job: bool,
}

/// Every job named in `text`: `afterok:1:2+30,afterany:3_4?singleton` (sbatch(1)).
/// Parts that name no job (`singleton`) and parts that are not understood are left out.
pub fn jobs(text: &str) -> impl Iterator<Item = Dependency<'_>> {
    text.split([',', '?']).flat_map(|part| {
        let mut fields = part.trim().split(':');
        let kind = fields.next().unwrap_or("");
        fields.filter_map(move |field| {
            // `+30` is a delay, `(unfulfilled)` is slurmctld's own note on a job that waits already.
            let field = field.split(['+', '(']).next().unwrap_or(field).trim();
            let (id, task) = match field.split_once('_') {
                Some((id, task)) => (id, Some(task)),
                None => (field, None),
            };
            let job_id = id.parse().ok()?;
            Some(Dependency { kind, job_id, whole_job: matches!(task, None | Some("*")) })
        })
    })
}

/// Whether slurmctld takes the text at all (`update_job_dependency`, job_scheduler.c). Whether it
/// knows the jobs is another matter, and only `expand` needs them.
pub fn is_well_formed(text: &str) -> bool {
    const KINDS: [&str; 7] =
        ["afternotok", "aftercorr", "afterany", "afterok", "afterburstbuffer", "after", "expand"];
    let job = |field: &str| {
        let Some((1.., rest)) = number(field) else { return false };
        let rest = match rest.strip_prefix('_') {
            Some(task) => task.strip_prefix('*').or(number(task).map(|(_, rest)| rest)).unwrap_or(task),
            None => rest,
        };
        match rest.strip_prefix('+') {
            Some(delay) => matches!(number(delay), Some((1.., _))),
            None => rest.is_empty() || (rest.starts_with('(') && rest.contains(')')),
        }
    };
    let part = |part: &str| match part.split_once(':') {
        Some((kind, jobs)) => KINDS.iter().any(|k| k.eq_ignore_ascii_case(kind)) && jobs.split(':').all(job),
        None => part.eq_ignore_ascii_case("singleton") || job(part),
    };
    text.is_empty() || text == "0" || text.split([',', '?']).all(part)
}

/// A number as strtol reads it, which passes over blanks, and what follows.
fn number(text: &str) -> Option<(u32, &str)> {
    let text = text.trim_start();
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.get(..end).and_then(|digits| digits.parse().ok()).zip(text.get(end..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_of_every_part_is_found() {
        let found: Vec<_> = jobs("afterok:1:2_3+10,afterany:4?afternotok:5_*,singleton").collect();
        let whole: Vec<_> = found.iter().map(|d| (d.kind, d.job_id, d.whole_job)).collect();
        assert_eq!(
            whole,
            [("afterok", 1, true), ("afterok", 2, false), ("afterany", 4, true), ("afternotok", 5, true)]
        );
        assert_eq!(jobs("afterok:x,::,").count(), 0);
        let waiting: Vec<_> = jobs("afterok:7_*(unfulfilled),afterok:8(failed)").collect();
        assert_eq!(
            waiting.iter().map(|d| (d.job_id, d.whole_job)).collect::<Vec<_>>(),
            [(7, true), (8, true)]
        );
    }

    #[test]
    fn what_slurmctld_takes_is_well_formed() {
        for text in [
            "",
            "0",
            "7",
            "afterok:7",
            "AfterOK:7:8_1,afterany:9_*",
            "after:7+10?singleton",
            "singleton",
            "afternotok:7(failed)",
        ] {
            assert!(is_well_formed(text), "{text}");
        }
        for text in
            ["wrong", "after:x", "afterok:", "afterok:0", "afterok:7+", "after:7+0", "afterok:7,", "afterok"]
        {
            assert!(!is_well_formed(text), "{text}");
        }
    }
}
