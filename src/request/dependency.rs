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
}
