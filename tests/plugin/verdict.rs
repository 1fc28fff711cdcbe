//! One submission: refused, edited, told.

use crate::job::Job;
use crate::plugin::{Plugin, Stubs};
use crate::process::alone;

pub const POLICY: &str = r#"
schema = 1
[site]
name = "Example Lab"
on_error = "refuse"
[partition.gpu]
gpu_types = ["a100"]
gpus_per_node = 4
cpus_per_node = 64
memory_per_node = "500G"
cpus_per_gpu = { default = 4, max = 8 }
[partition.lent]
owner = { accounts = ["physics"] }
lent_qos = ["scavenger"]
[rule.exclusive]
justify = true
[rule.cpus-per-gpu]
[rule.array-logs]
[rule.qos-entitlement]
"#;

/// `ESLURM_ACCESS_DENIED`.
pub const DENIED: i32 = 2002;

pub fn refused(stubs: Stubs) -> Job {
    Job::by(stubs, 1001).text("tres_per_job", "gres/gpu:4").text("partition", "gpu").number("shared", 0)
}

#[test]
fn a_refusal_says_what_is_wrong_in_slurms_own_memory() {
    alone("verdict::a_refusal_says_what_is_wrong_in_slurms_own_memory", Some(POLICY), |folder| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let answer = plugin.submit(&mut refused(stubs));
        let message = answer.message.unwrap();
        assert_eq!(answer.code, DENIED, "{message}");
        assert!(message.starts_with("Example Lab refuses this job: 1 problem\n[exclusive] "), "{message}");
        assert!(!message.ends_with('\n') && message.contains("(ref "), "{message}");
        let reference = message.split("(ref ").nth(1).unwrap().split(')').next().unwrap();
        assert_eq!(reference.len(), 8, "{message}");
        plugin.fini();
        let line =
            format!("sluice: refused submission uid=1001 partition=gpu ref={reference} rules=exclusive");
        assert!(folder.log().contains(&line), "no {line} in {}", folder.log());
        assert_eq!(stubs.live_blocks(), 0);
    });
}

#[test]
fn what_an_earlier_plugin_said_stays_and_no_place_for_a_message_is_survived() {
    let test = "verdict::what_an_earlier_plugin_said_stays_and_no_place_for_a_message_is_survived";
    alone(test, Some(POLICY), |_| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let after = |earlier| plugin.submit_after(&mut refused(stubs), Some(earlier)).message.unwrap();
        assert!(after("lua says hello").starts_with("lua says hello\nExample Lab refuses"));
        assert!(after("lua says hello\n").starts_with("lua says hello\nExample Lab refuses"));
        assert!(after("").starts_with("Example Lab refuses"));
        assert_eq!(plugin.submit_silently(&mut refused(stubs)), DENIED);
        assert_eq!(plugin.submit_null(), 0);
    });
}

#[test]
fn a_plain_accept_changes_and_says_nothing() {
    alone("verdict::a_plain_accept_changes_and_says_nothing", Some(POLICY), |folder| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let before = folder.log();
        let mut job = Job::by(stubs, 1001).text("partition", "cpu").number("num_tasks", 4);
        let answer = plugin.submit(&mut job);
        assert_eq!((answer.code, answer.message), (0, None));
        assert_eq!((job.get("cpus_per_tres"), job.get("admin_comment"), job.get("qos")), (None, None, None));
        assert_eq!(folder.log(), before);
    });
}

#[test]
fn edits_are_written_in_the_series_own_form_once_and_noted() {
    let test = "verdict::edits_are_written_in_the_series_own_form_once_and_noted";
    alone(test, Some(POLICY), |_| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let mut job = Job::by(stubs, 1001)
            .text("tres_per_job", "gres/gpu:2")
            .text("partition", "gpu")
            .text("admin_comment", "theirs");
        let answer = plugin.submit(&mut job);
        assert_eq!(answer.code, 0);
        assert_eq!(answer.message.as_deref(), Some("Example Lab filled in --cpus-per-gpu=4"));
        let prefix = if cfg!(slurm_23_11) {
            "gres/"
        } else if cfg!(slurm_21_08) {
            "gres:"
        } else {
            ""
        };
        let written = format!("{prefix}gpu:4");
        assert_eq!(job.get("cpus_per_tres").as_deref(), Some(written.as_str()));
        let comment = job.get("admin_comment").unwrap();
        assert!(comment.starts_with("theirs; sluice: filled in --cpus-per-gpu=4 (ref "), "{comment}");

        // In a federation the hook sees the job that it has edited again.
        assert_eq!(plugin.submit(&mut job).code, 0);
        assert_eq!(job.get("cpus_per_tres").as_deref(), Some(written.as_str()));
        assert_eq!(job.get("admin_comment").unwrap(), comment);
    });
}

#[test]
fn a_written_reason_lifts_the_rule_and_is_kept() {
    alone("verdict::a_written_reason_lifts_the_rule_and_is_kept", Some(POLICY), |_| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let mut job = refused(stubs)
            .text("cpus_per_tres", "gres/gpu:4")
            .text("comment", "justify: fabric benchmark of all of the node");
        let answer = plugin.submit(&mut job);
        assert_eq!(answer.code, 0, "{answer:?}");
        let comment = job.get("admin_comment").unwrap();
        assert!(comment.contains("exclusive justified: 'fabric benchmark"), "{comment}");
    });
}

#[test]
fn a_panic_is_contained_and_answered_by_on_error() {
    alone("verdict::a_panic_is_contained_and_answered_by_on_error", Some(POLICY), |folder| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let mut job = Job::by(stubs, 1001).text("name", "sluice-test-panic");
        assert_eq!(plugin.submit(&mut job).code, DENIED, "on_error = refuse");
        assert!(folder.log().contains("internal error in job_submit, caught"), "{}", folder.log());
        let mut root = Job::by(stubs, 0).text("name", "sluice-test-panic");
        assert_eq!(plugin.submit(&mut root).code, 0, "never for root");

        folder.write_policy(&POLICY.replace("\"refuse\"", "\"allow\""));
        let skip = folder.log().len();
        folder.wait_for("is in force", skip);
        assert_eq!(plugin.submit(&mut job).code, 0, "on_error = allow");
        assert_eq!(plugin.submit(&mut refused(stubs)).code, DENIED, "and judging goes on");
        plugin.fini();
    });
}

#[test]
fn roots_own_jobs_are_never_refused_and_those_it_submits_for_others_are() {
    let test = "verdict::roots_own_jobs_are_never_refused_and_those_it_submits_for_others_are";
    alone(test, Some(POLICY), |_| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let mut own = refused(stubs).number("user_id", 0);
        own.submit_uid = 0;
        assert_eq!(plugin.submit(&mut own).code, 0);
        let mut for_another = refused(stubs);
        for_another.submit_uid = 0;
        assert_eq!(plugin.submit(&mut for_another).code, DENIED);
    });
}
