//! Writes down what the hook was handed, one line of slurmctld's log for each call, in the grammar
//! of `tests/vectors`. Only in builds made for tests: script and environment do not belong in logs.

use std::fmt::{Debug, Write};

use super::log;
use crate::request::description::{Description, Message};

/// Logs every field that is not at its unset value.
pub fn log(message: Message, submit_uid: u32, description: &Description<'_>) {
    log::info(&format!("vector: {}", line(message, submit_uid, description)));
}

fn line(message: Message, submit_uid: u32, d: &Description<'_>) -> String {
    let unset = Description::default();
    let mut line = match message {
        Message::Submit => "SUBMIT".to_owned(),
        Message::Update => "MODIFY".to_owned(),
    };
    let _ = write!(line, " uid={submit_uid}");
    macro_rules! fields {
        ($($field:ident)*) => {$(
            if d.$field != unset.$field {
                let _ = write!(line, " {}={}", stringify!($field), value(&d.$field));
            }
        )*};
    }
    fields!(user_id group_id has_crontab_entry alloc_sid alloc_resp_port other_port env_size
        partition qos account reservation features prefer req_nodes exc_nodes licenses
        min_nodes max_nodes num_tasks ntasks_per_node ntasks_per_socket ntasks_per_core
        ntasks_per_tres cpus_per_task min_cpus pn_min_cpus overcommit sockets_per_node
        cores_per_socket threads_per_core core_spec tres_per_job tres_per_node tres_per_socket
        tres_per_task cpus_per_tres mem_per_tres pn_min_memory pn_min_tmp_disk shared time_limit
        time_min array_inx std_out std_err std_in work_dir requeue warn_flags warn_signal warn_time
        dependency comment admin_comment name nice priority container wckey mail_user x11 script
        submit_line command arguments export justify lineage bitflags);
    // As the vectors call it.
    if d.het_job_offset != unset.het_job_offset {
        let _ = write!(line, " het={}", d.het_job_offset);
    }
    line
}

/// Numbers bare, text in quotes with escapes: `Debug`, without the `Some` round it.
fn value(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    text.strip_prefix("Some(").and_then(|t| t.strip_suffix(')')).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_stated_is_written_down() {
        let d = Description {
            user_id: 5,
            partition: Some("gpu,cpu".into()),
            script: Some("#!/bin/sh\ntrue\n".into()),
            ..Description::default()
        };
        assert_eq!(
            line(Message::Submit, 0, &d),
            r##"SUBMIT uid=0 user_id=5 partition="gpu,cpu" script="#!/bin/sh\ntrue\n""##
        );
    }
}
