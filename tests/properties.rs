//! What holds of every judgement, on job descriptions drawn at random: no rule fails, what is filled in
//! stays and is not filled in again, and a looser policy never refuses more. That a remedy puts its
//! finding right and brings no other is tests/remedies.rs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use proptest::prelude::*;

use sluice::cluster::UnknownCluster;
use sluice::date::Date;
use sluice::judge::judge;
use sluice::policy::Policy;
use sluice::policy::load::load;
use sluice::policy::resolve::NoDirectory;
use sluice::request::Request;
use sluice::request::description::{Description, MEM_PER_CPU, Message, NO_VAL, NO_VAL16, NO_VAL64};
use sluice::verdict::Verdict;

const TODAY: Date = Date { year: 2026, month: 11, day: 30 };
/// Every rule, and a limit on everything.
const ALL: &str = include_str!("../fuzz/all-rules.toml");

fn policy(text: &str) -> Policy {
    load("test", text, &NoDirectory, TODAY).unwrap_or_else(|p| panic!("{p}")).policy
}

fn judged(policy: &Policy, request: &Request<'_>) -> Verdict {
    judge(policy, request, &UnknownCluster, TODAY)
}

/// Looser than [`ALL`] in one point each.
fn looser() -> Vec<Policy> {
    let without =
        |rule: &str| ALL.replace(&format!("[rule.{rule}]\n"), &format!("[rule.{rule}]\nmode = \"audit\"\n"));
    let audited =
        sluice::rules::ALL.iter().map(|r| r.name).filter(|n| ALL.contains(&format!("[rule.{n}]\n")));
    let higher = [
        ("max_gpus = 8", "max_gpus = 9"),
        ("max_cpus = 256", "max_cpus = 300"),
        ("max_nodes = 8", "max_nodes = 80"),
        ("max_time = \"1-00:00:00\"\nmax_memory", "max_time = \"2-00:00:00\"\nmax_memory"),
        ("max_memory = \"1T\"", "max_memory = \"2T\""),
        ("min_cpus = 2", "min_cpus = 1"),
        ("array_max = 500", "array_max = 5000"),
        ("default = 4, max = 8", "default = 4, max = 12"),
        ("default = \"60G\", max = \"120G\"", "default = \"60G\", max = \"200G\""),
        ("max_tasks = 1000", "max_tasks = 2000"),
        ("allow_qos = [\"normal\"", "allow_qos = [\"high\", \"normal\""),
        ("forbid = [\"mem=0\", ", "forbid = ["),
        ("[site]\n", "[site]\nmode = \"warn\"\n"),
    ];
    let raised = higher.iter().map(|(tight, loose)| {
        assert!(ALL.contains(tight), "{tight}");
        ALL.replacen(tight, loose, 1)
    });
    audited.map(without).chain(raised).map(|text| policy(&text)).collect()
}

fn text(choices: &'static [&'static str]) -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(prop::sample::select(choices))
}

prop_compose! {
    fn numbers()(
        nodes in prop_oneof![Just((NO_VAL, NO_VAL)), (1u32..12).prop_flat_map(|a| (Just(a), a..14))],
        tasks in prop_oneof![Just(NO_VAL), 1u32..300],
        per_node in prop_oneof![3 => Just(NO_VAL16), 1 => 1u16..70],
        per_task in prop_oneof![Just(NO_VAL16), 1u16..130],
        memory in prop_oneof![Just(NO_VAL64), Just(0), 1u64..2_000_000, (0u64..20_000).prop_map(|m| m | MEM_PER_CPU)],
        shared in prop_oneof![3 => Just(NO_VAL16), 1 => 0u16..5],
        time in prop_oneof![Just(NO_VAL), Just(u32::MAX), 1u32..5000],
        requeue in prop_oneof![Just(NO_VAL16), 0u16..2],
        batch: bool,
    ) -> Description<'static> {
        Description {
            user_id: 1001,
            alloc_sid: 1,
            min_nodes: nodes.0,
            max_nodes: nodes.1,
            num_tasks: tasks,
            ntasks_per_node: per_node,
            cpus_per_task: per_task,
            pn_min_memory: memory,
            shared,
            time_limit: time,
            requeue,
            env_size: u32::from(batch),
            script: batch.then(|| "#!/bin/sh\ntrue\n".into()),
            ..Description::default()
        }
    }
}

prop_compose! {
    fn any_request()(
        d in numbers(),
        partition in text(&["gpu", "cpu", "lent-a", "gpu,cpu", "gpu,lent-b", "unknown", ""]),
        qos in text(&["normal", "high", "scavenger", "debug", "normal,high"]),
        account in text(&["bio", "physics", "PHYSICS", "other"]),
        per_job in text(&["gres/gpu:1", "gres:gpu:a100:2", "gpu:9", "gres/gpu:h100:1,gres/gpu:a100:1", "gres/gpu:0"]),
        per_node in text(&["gres/gpu:4", "gres:gpu:a100:1", "gres/shard:2"]),
        cpus_per_gpu in text(&["gres/gpu:4", "gres/gpu:16"]),
        mem_per_gpu in text(&["gres/gpu:1000", "gres/gpu:200000"]),
        array in text(&["0-9", "0-99%5", "0-2000", "1,5,x"]),
        out in text(&["/home/u/%A_%a.out", "/home/u/%j.out", "/dev/null"]),
        comment in text(&["justify: a good reason for this job", "hello"]),
        dependency in text(&["afterok:12", "singleton"]),
    ) -> Request<'static> {
        Description {
            partition: partition.map(Into::into),
            qos: qos.map(Into::into),
            account: account.map(Into::into),
            tres_per_job: per_job.map(Into::into),
            tres_per_node: per_node.map(Into::into),
            cpus_per_tres: cpus_per_gpu.map(Into::into),
            mem_per_tres: mem_per_gpu.map(Into::into),
            array_inx: array.map(Into::into),
            std_out: out.map(Into::into),
            comment: comment.map(Into::into),
            dependency: dependency.map(Into::into),
            ..d
        }
        .request(Message::Submit, 1001, false)
    }
}

#[test]
fn a_looser_policy_never_refuses_more() {
    let (tight, looser) = (policy(ALL), looser());
    proptest!(ProptestConfig::with_cases(300), |(request in any_request())| {
        let verdict = judged(&tight, &request);
        prop_assert!(verdict.failed.is_empty());
        if verdict.accepts() {
            for policy in &looser {
                let other = judged(policy, &request);
                prop_assert!(other.accepts(), "{:?}", other.findings);
            }
        }
    });
}

#[test]
fn what_is_filled_in_is_filled_in_once_and_brings_no_finding() {
    // With few rules, for with all of them hardly a request is accepted.
    let example = policy(sluice::policy::EXAMPLE);
    proptest!(ProptestConfig::with_cases(2000), |(request in any_request())| {
        let verdict = judged(&example, &request);
        prop_assert!(verdict.failed.is_empty());
        let mut edited = request.clone();
        verdict.edits_to_make().for_each(|edit| edited.apply(edit));
        let again = judged(&example, &edited);
        if verdict.accepts() {
            prop_assert!(again.accepts(), "{:?}", again.findings);
            let made: Vec<_> = verdict.edits_to_make().collect();
            prop_assert!(!again.edits_to_make().any(|edit| made.contains(&edit)), "{made:?} again");
            let mut twice = edited.clone();
            made.iter().for_each(|edit| twice.apply(edit));
            prop_assert_eq!(&twice, &edited);
        }
    });
}
