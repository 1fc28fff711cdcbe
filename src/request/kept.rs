//! A request that outlives the job description it was read from: for the record of a decision, which
//! the helper writes after the hook has returned. Without what no record holds.

use super::{ArraySpec, Request, Text, Tres};

macro_rules! kept {
    ($request:ident; text: $($text:ident)*; tres: $($tres:ident)*; plain: $($plain:ident)*) => {
        Request {
            $($text: $request.$text.as_deref().map(|text| Text::Owned(text.to_owned())),)*
            $($tres: $request.$tres.to_owned(),)*
            $($plain: $request.$plain,)*
            array: $request.array.as_ref().map(ArraySpec::to_owned),
            export: None,
            script: None,
            submit_line: None,
        }
    };
}

impl Request<'_> {
    /// The request with text of its own; script, environment and command line are left out.
    pub fn kept(&self) -> Request<'static> {
        kept! { self;
            text:
                partition qos account reservation features prefer req_nodes exc_nodes licenses
                std_out std_err std_in work_dir dependency comment admin_comment name container
                wckey mail_user command justify lineage;
            tres: tres_per_job tres_per_node tres_per_socket tres_per_task
                cpus_per_tres mem_per_tres;
            plain:
                user_id submit_uid privileged group_id min_nodes max_nodes num_tasks
                ntasks_per_node ntasks_per_socket ntasks_per_core ntasks_per_gpu cpus_per_task
                min_cpus pn_min_cpus overcommit sockets_per_node cores_per_socket threads_per_core
                core_spec memory pn_min_tmp_disk shared time_limit time_min requeue signal nice
                priority x11 arguments origin test_only het_offset
        }
    }
}

impl Tres<'_> {
    fn to_owned(&self) -> Tres<'static> {
        Tres::new(self.as_str().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use crate::request::{ArraySpec, Request, Tres};

    #[test]
    fn all_is_kept_but_script_environment_and_command_line() {
        let request = Request {
            user_id: 1001,
            partition: Some("gpu".into()),
            tres_per_job: Tres::new("gres/gpu:4"),
            array: Some(ArraySpec::new("0-99%5")),
            comment: Some("why".into()),
            num_tasks: Some(4),
            test_only: true,
            ..Request::default()
        };
        let secret = Request {
            script: Some("#!/bin/sh".into()),
            submit_line: Some("sbatch".into()),
            export: Some("TOKEN=1".into()),
            ..request.clone()
        };
        assert_eq!(secret.kept(), request);
    }
}
