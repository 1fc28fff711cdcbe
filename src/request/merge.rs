//! An update: the existing job with the change laid over it.

use super::{Memory, Request, Text, TimeLimit};

impl<'a> Request<'a> {
    /// The job as it would be after `change`, a request in which only what the update states is
    /// set. Empty text clears a field, as it does for slurmctld (job_mgr.c, `_update_job`).
    pub fn merged_with(&self, change: &Request<'a>) -> Request<'a> {
        let mut job = self.clone();
        // Who asks is the update's, whose job it is stays.
        job.submit_uid = change.submit_uid;
        job.privileged = change.privileged;

        macro_rules! text {
            ($($field:ident),+ $(,)?) => { $( lay_text(&mut job.$field, &change.$field); )+ };
        }
        macro_rules! number {
            ($($field:ident),+ $(,)?) => { $( if change.$field.is_some() { job.$field = change.$field; } )+ };
        }
        macro_rules! tres {
            ($($field:ident),+ $(,)?) => {
                $( if !change.$field.is_empty() { job.$field.clone_from(&change.$field); } )+
            };
        }
        text!(
            partition,
            qos,
            account,
            reservation,
            features,
            prefer,
            req_nodes,
            exc_nodes,
            licenses,
            std_out,
            std_err,
            std_in,
            work_dir,
            dependency,
            comment,
            admin_comment,
            name,
            container,
            wckey,
            mail_user,
            justify,
            lineage,
        );
        number!(
            min_nodes,
            max_nodes,
            num_tasks,
            ntasks_per_node,
            ntasks_per_socket,
            ntasks_per_core,
            ntasks_per_gpu,
            cpus_per_task,
            min_cpus,
            pn_min_cpus,
            sockets_per_node,
            cores_per_socket,
            threads_per_core,
            core_spec,
            pn_min_tmp_disk,
            requeue,
            signal,
            nice,
            priority,
        );
        tres!(tres_per_job, tres_per_node, tres_per_socket, tres_per_task, cpus_per_tres, mem_per_tres);
        if change.memory != Memory::Unset {
            job.memory = change.memory;
        }
        if change.shared != super::Sharing::Unset {
            job.shared = change.shared;
        }
        if change.time_limit != TimeLimit::Unset {
            job.time_limit = change.time_limit;
        }
        if change.time_min != TimeLimit::Unset {
            job.time_min = change.time_min;
        }
        if let (Some(array), Some(throttle)) = (&mut job.array, &change.array) {
            // ArrayTaskThrottle= arrives in the array's field, as a bare number (observed, 22.05.8).
            *array = array.capped(throttle.as_str().trim().parse().ok().filter(|&n| n > 0));
        }
        job
    }

    /// Whether the update touches nothing that a rule reads: hold, release, priority, nice.
    pub fn changes_nothing_judged(&self) -> bool {
        let unjudged = Request {
            user_id: self.user_id,
            submit_uid: self.submit_uid,
            privileged: self.privileged,
            group_id: self.group_id,
            priority: self.priority,
            nice: self.nice,
            origin: self.origin,
            het_offset: self.het_offset,
            arguments: self.arguments,
            ..Request::default()
        };
        *self == unjudged
    }
}

fn lay_text<'a>(field: &mut Option<Text<'a>>, change: &Option<Text<'a>>) {
    match change.as_deref() {
        None => {}
        Some("") => *field = None,
        Some(_) => field.clone_from(change),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{ArraySpec, Tres};

    #[test]
    fn what_the_update_states_replaces_and_empty_text_clears() {
        let job = Request {
            partition: Some("gpu".into()),
            comment: Some("justify: a reason".into()),
            tres_per_node: Tres::new("gres/gpu:2"),
            time_limit: TimeLimit::Minutes(60),
            ..Request::default()
        };
        let change = Request {
            partition: Some("lent".into()),
            comment: Some("".into()),
            time_limit: TimeLimit::Minutes(30),
            submit_uid: 7,
            ..Request::default()
        };
        let merged = job.merged_with(&change);
        assert_eq!(merged.partition.as_deref(), Some("lent"));
        assert_eq!(merged.comment, None);
        assert_eq!(merged.time_limit, TimeLimit::Minutes(30));
        assert_eq!(merged.tres_per_node.gpu_count(), Some(2));
        assert_eq!(merged.submit_uid, 7);
    }

    #[test]
    fn a_throttle_changes_the_cap_of_the_array_and_nothing_else() {
        let job = Request { array: Some(ArraySpec::new("0-99%5")), ..Request::default() };
        let change = Request { array: Some(ArraySpec::new("20")), ..Request::default() };
        let array = job.merged_with(&change).array.expect("still an array");
        assert_eq!((array.tasks, array.running_max, array.as_str()), (Some(100), Some(20), "0-99%20"));
    }

    #[test]
    fn hold_and_release_are_not_judged() {
        let hold = Request { user_id: 5, submit_uid: 5, priority: Some(0), ..Request::default() };
        assert!(hold.changes_nothing_judged());
        assert!(!Request { qos: Some("high".into()), ..hold }.changes_nothing_judged());
    }
}
