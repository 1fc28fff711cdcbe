//! What daemons of three series handed to the hooks, as requests: the same command is the same
//! request, but for the differences that are listed here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod recorded;

use recorded::{Call, calls};
use sluice::request::description::{Description, Message};
use sluice::request::{ArraySpec, LogPath, Memory, Origin, Request, Sharing, TimeLimit, Tres, WarnSignal};

const V22_05: &str = include_str!("vectors/job_desc-22.05.8.txt");
const V24_11: &str = include_str!("vectors/job_desc-24.11.5.txt");
const V26_05: &str = include_str!("vectors/job_desc-26.05.5.txt");

// The same commands, written down by the plugin itself: `test-cluster/run record`.
const PLUGIN_22_05: &str = include_str!("vectors/plugin-22.05.8.txt");
const PLUGIN_24_11: &str = include_str!("vectors/plugin-24.11.5.txt");
const PLUGIN_26_05: &str = include_str!("vectors/plugin-26.05.5.txt");

/// The series of a file, ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Series {
    S22_05,
    S24_11,
    S26_05,
}
use Series::{S22_05, S24_11, S26_05};

/// The request, and that every field of the line was read. The session was not recorded.
fn request(call: &Call) -> Request<'static> {
    let mut d = Description { alloc_sid: 1, ..Description::default() };
    for (name, value) in &call.fields {
        match name.as_str() {
            "uid" | "immediate" | "spank_env" | "job_id_str" => {}
            // The probe did not write these down, so that there is no expectation of them.
            "group_id" | "command" | "arguments" | "sockets_per_node" => {}
            "SPENV" => assert_eq!(value, "_SLURM_SPANK_OPTION_probe_justify=why not"),
            name => recorded::set(&mut d, name, value),
        }
    }
    let uid = call.text("uid").unwrap().parse().unwrap();
    d.request(call.message, uid, uid == 0)
}

/// TRES text in one form for all series; other differences stay.
fn normal(mut request: Request<'_>) -> Request<'_> {
    let work_dir = request.work_dir.clone();
    for path in [&mut request.std_out, &mut request.std_err] {
        if let Some(p) = path.take() {
            // Recorded in "/" or elsewhere: which folder it was is no part of what is compared.
            let path_in_it =
                LogPath::new(&p, work_dir.as_deref()).as_str().trim_start_matches('/').to_owned();
            *path = Some(path_in_it.into());
        }
    }
    request.work_dir = None;
    for tres in [
        &mut request.tres_per_job,
        &mut request.tres_per_node,
        &mut request.tres_per_socket,
        &mut request.tres_per_task,
        &mut request.cpus_per_tres,
        &mut request.mem_per_tres,
    ] {
        let items: Vec<String> = tres
            .items()
            .map(|i| format!("{}:{}:{}", i.name, i.kind.unwrap_or(""), i.count.expect("a count")))
            .collect();
        *tres = Tres::new(items.join(","));
    }
    request
}

/// What a submission by this command means.
fn submitted(line: &str, het: Option<u32>, series: Series) -> Request<'static> {
    let mut r = Request { privileged: true, min_cpus: Some(1), het_offset: het, ..Request::default() };
    r.submit_line = Some(line.to_owned().into());
    let (client, arguments) = line.split_once(' ').unwrap();
    match client {
        "sbatch" => {
            r.std_in = Some("/dev/null".into());
            r.name = Some("wrap".into());
            // Only the first component has the script; the second is not known to be batch.
            if het.unwrap_or(0) == 0 {
                r.origin = Origin::Batch;
                r.script = Some("#!/bin/sh\n# This script was created by sbatch --wrap.\n\ntrue\n".into());
            }
        }
        "srun" => (r.name, r.origin) = (Some("true".into()), Origin::Interactive),
        "salloc" => (r.name, r.origin) = (Some("interactive".into()), Origin::Interactive),
        other => panic!("{other}"),
    }
    // Recorded in the folder "/", where sbatch makes "//log" of "log": read as the absolute path that
    // it is as well.
    let log = |name: &str| Some(if series == S22_05 { name.to_owned() } else { format!("/{name}") }.into());
    let gpu = |n: u64| Tres::new(format!("gpu::{n}"));
    let arguments = arguments.trim_end_matches(" --wrap=true").trim_end_matches(" true");
    match arguments {
        "--wrap=true" | "true" | "--test-only" | "--gres=none" | "--parsable --begin=now+1hour" => {}
        "job.sh" | "s.sh" => {
            r.name = Some("s.sh".into());
            r.script = Some("#!/bin/bash\n#SBATCH --gres=gpu:1\ntrue\n".into());
            r.tres_per_node = gpu(1);
        }
        "--exclusive" | "--exclusive=allocation" | "-n1 --exclusive" => r.shared = Sharing::Exclusive,
        "--exclusive=user" => r.shared = Sharing::User,
        "--exclusive=mcs" => r.shared = Sharing::Mcs,
        "--exclusive=topo" => r.shared = Sharing::Topo,
        "--oversubscribe" => r.shared = Sharing::Oversubscribe,
        "-N2-4 -n8 -c3" => {
            (r.min_nodes, r.max_nodes, r.num_tasks) = (Some(2), Some(4), Some(8));
            (r.cpus_per_task, r.pn_min_cpus, r.min_cpus) = (Some(3), Some(3), Some(24));
        }
        "--gpus=4 --cpus-per-gpu=4" => {
            (r.tres_per_job, r.cpus_per_tres) = (gpu(4), gpu(4));
            // The client counts the CPUs of GPUs since some release after 22.05.
            r.min_cpus = Some(if series == S22_05 { 1 } else { 16 });
        }
        "--gpus=a100:2" => r.tres_per_job = Tres::new("gpu:a100:2"),
        "--gpus-per-node=a100:2" => r.tres_per_node = Tres::new("gpu:a100:2"),
        "--gpus-per-task=1 -n2" => {
            (r.tres_per_task, r.num_tasks, r.min_cpus) = (gpu(1), Some(2), Some(2));
        }
        "--gpus-per-socket=1 --sockets-per-node=1" => r.tres_per_socket = gpu(1),
        "--gres=gpu:a100:2,gpu:a100:1" => r.tres_per_node = Tres::new("gpu:a100:2,gpu:a100:1"),
        "--gres=gpu" => r.tres_per_node = gpu(1),
        "--gres=gpu:0" => r.tres_per_node = gpu(0),
        "--gres=gpu:1 --gpus-per-node=2" => r.tres_per_node = Tres::new("gpu::2,gpu::1"),
        "--tres-per-task=cpu:2,gres/gpu:1 -n2" => {
            // The CPUs in it are told as --cpus-per-task.
            (r.tres_per_task, r.num_tasks) = (gpu(1), Some(2));
            (r.cpus_per_task, r.pn_min_cpus, r.min_cpus) = (Some(2), Some(2), Some(4));
        }
        "--mem=0" => r.memory = Memory::WholeNode,
        "--mem=4G" => r.memory = Memory::PerNode(4096),
        "--mem-per-cpu=2G" => r.memory = Memory::PerCpu(2048),
        "--gpus=1 --mem-per-gpu=10G" => (r.tres_per_job, r.mem_per_tres) = (gpu(1), gpu(10240)),
        "--array=0-3%2" => r.array = Some(ArraySpec::new("0-3%2")),
        "--parsable --array=1-3 --begin=now+1hour" => r.array = Some(ArraySpec::new("1-3")),
        "--array=0-3 -o log_%j.out" => {
            (r.array, r.std_out) = (Some(ArraySpec::new("0-3")), log("log_%j.out"));
        }
        "--array=0-3 -o log_%A_%a.out -e err_%j" => {
            r.array = Some(ArraySpec::new("0-3"));
            (r.std_out, r.std_err) = (log("log_%A_%a.out"), log("err_%j"));
        }
        "--qos=high -p gpu,borrowed" => {
            (r.qos, r.partition) = (Some("high".into()), Some("gpu,borrowed".into()));
        }
        "--time=1:00 --time-min=30" => {
            (r.time_limit, r.time_min) = (TimeLimit::Minutes(1), TimeLimit::Minutes(30));
        }
        "--time=2-0 --requeue --signal=B:USR1@120" => {
            (r.time_limit, r.requeue) = (TimeLimit::Minutes(2880), Some(true));
            r.signal = Some(WarnSignal { signal: 10, time: 120, batch_only: true });
        }
        "--no-requeue" => r.requeue = Some(false),
        "--export=ALL,FOO=a,b,BAR=2" => r.export = Some("ALL,FOO=a,b,BAR=2".into()),
        "--export=NONE" => r.export = Some("NONE".into()),
        "--comment=deny" => r.comment = Some("deny".into()),
        "--comment=info" => r.comment = Some("info".into()),
        "--comment=deny -n1" => (r.comment, r.num_tasks) = (Some("deny".into()), Some(1)),
        "--comment=info -n1" => (r.comment, r.num_tasks) = (Some("info".into()), Some(1)),
        "--dependency=afterok:1:2,afterany:3" => r.dependency = Some("afterok:1:2,afterany:3".into()),
        "--ntasks-per-gpu=2 --gpus=1" => {
            (r.tres_per_job, r.ntasks_per_gpu, r.num_tasks) = (gpu(1), Some(2), Some(2));
        }
        "--ntasks-per-node=2 -N1" => {
            (r.min_nodes, r.max_nodes, r.ntasks_per_node, r.min_cpus) = (Some(1), Some(1), Some(2), Some(2));
            // 22.05's client works the tasks out itself.
            r.num_tasks = (series == S22_05).then_some(2);
        }
        "-w node1 --constraint=x" => {
            (r.req_nodes, r.features) = (Some("node1".into()), Some("x".into()));
            r.min_nodes = Some(1);
        }
        "--nice=100" => r.nice = Some(100),
        "--begin=now+1hour --job-name=hold1" => r.name = Some("hold1".into()),
        "-n1 --wrap=true : -n1 --gpus=1" => {
            r.num_tasks = Some(1);
            r.tres_per_job = if het == Some(1) { gpu(1) } else { Tres::default() };
        }
        "-n1 --gpus=1 : -n1" => {
            r.num_tasks = Some(1);
            r.tres_per_job = if het == Some(0) { gpu(1) } else { Tres::default() };
        }
        "-n1 -o out_%j" | "--justify=why not -n1" => {}
        other => panic!("no expectation for {other}"),
    }
    if client == "srun" {
        // srun's own --output never reaches slurmctld.
        r.num_tasks = Some(1);
    }
    r
}

/// What an update by this command states.
fn updated(command: &str) -> Request<'static> {
    let mut r = Request { privileged: true, ..Request::default() };
    match command.split_once(' ').unwrap().1.split_once(' ').unwrap() {
        ("update", change) => match change.split_once(' ').unwrap() {
            ("jobname=hold1", "partition=borrowed") => {
                (r.name, r.partition) = (Some("hold1".into()), Some("borrowed".into()));
            }
            (_, "partition=borrowed") => r.partition = Some("borrowed".into()),
            (_, "qos=high") => r.qos = Some("high".into()),
            (_, "comment=deny") => r.comment = Some("deny".into()),
            (_, "timelimit=100") => r.time_limit = TimeLimit::Minutes(100),
            (_, "numcpus=2") => r.min_cpus = Some(2),
            (_, "oversubscribe=no") => r.shared = Sharing::Exclusive,
            (_, "stdout=/tmp/x_%j") => r.std_out = Some("/tmp/x_%j".into()),
            other => panic!("no expectation for {other:?}"),
        },
        ("hold", _) => r.priority = Some(0),
        ("release", _) => {}
        other => panic!("no expectation for {other:?}"),
    }
    r
}

fn every_line_is_understood(file: &str, series: Series, submissions: usize, updates: usize) {
    let calls = calls(file);
    let count = |message| calls.iter().filter(|c| c.message == message).count();
    assert_eq!((count(Message::Submit), count(Message::Update)), (submissions, updates));
    for call in &calls {
        let expected = match call.message {
            Message::Submit => {
                let het = call.text("het").map(|n| n.parse().unwrap());
                submitted(call.text("submit_line").unwrap(), het, series)
            }
            Message::Update => updated(&call.command),
        };
        assert_eq!(normal(request(call)), normal(expected), "{:?}: {}", series, call.command);
    }
}

#[test]
fn slurm_22_05_hands_over_what_was_asked() {
    every_line_is_understood(V22_05, S22_05, 49, 2);
}

#[test]
fn slurm_24_11_hands_over_what_was_asked() {
    every_line_is_understood(V24_11, S24_11, 54, 12);
}

#[test]
fn slurm_26_05_hands_over_what_was_asked() {
    every_line_is_understood(V26_05, S26_05, 54, 12);
}

#[test]
fn the_plugin_itself_hands_over_what_was_asked() {
    every_line_is_understood(PLUGIN_22_05, S22_05, 49, 9);
    every_line_is_understood(PLUGIN_24_11, S24_11, 51, 9);
    every_line_is_understood(PLUGIN_26_05, S26_05, 51, 9);
}

#[test]
fn wraps_are_known_and_scripts_are_not_taken_for_one() {
    for call in calls(V26_05).iter().filter(|c| c.text("script").is_some()) {
        assert_eq!(request(call).is_wrapped(), call.command != "sbatch job.sh", "{}", call.command);
    }
}
