//! Command lines, scripts and environments against what they read as.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::request::Request;

const SCRIPT: &str = "#!/bin/sh\n";

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// Reads a command line; words before the command that look like `NAME=value` are the environment.
fn read(series: Series, line: &str, script: &str) -> Submission {
    let all = words(line);
    let start = all.iter().position(|w| Command::named(w).is_some()).unwrap();
    let environment: HashMap<&str, &str> = all[..start].iter().map(|w| w.split_once('=').unwrap()).collect();
    let argv = &all[start..];
    let command = Command::named(&argv[0]).unwrap();
    let line = CommandLine::new(command, series, argv, &[]);
    let world = World {
        environment: &|name| environment.get(name).map(|v| (*v).to_owned()),
        directory: "/home/u",
        user_id: 1000,
        group_id: 1000,
    };
    let script = (command == Command::Sbatch).then_some(Script { path: "/home/u/job.sh", text: script });
    line.read(&world, script)
}

/// What a request states beyond what every request of its kind does: `name=value`, in the order of
/// their names.
fn stated(request: &Request<'_>) -> String {
    let object = |r: &Request<'_>| match serde_json::to_value(r).unwrap() {
        Value::Object(map) => map,
        other => panic!("{other}"),
    };
    let unset = object(&Request::default());
    let usual =
        ["user_id", "submit_uid", "group_id", "std_in", "work_dir", "name", "command", "arguments", "origin"];
    let mut all: Vec<String> = object(request)
        .into_iter()
        .filter(|(key, value)| unset.get(key) != Some(value) && !usual.contains(&key.as_str()))
        .filter(|(key, value)| !(key == "min_cpus" && value == 1))
        .map(|(key, value)| format!("{key}={}", value.to_string().replace(['"', ' '], "")))
        .collect();
    all.extend(request.export.as_ref().map(|e| format!("export={e}")));
    all.sort();
    all.join(" ")
}

/// Every component, ` | ` between them; what the client refuses instead.
fn outcome(submission: &Submission) -> String {
    let refused: Vec<&str> =
        submission.problems.iter().filter(|p| p.is_the_clients()).map(|p| p.message.as_str()).collect();
    if !refused.is_empty() {
        return format!("refused: {}", refused.join("; "));
    }
    submission.components.iter().map(|c| stated(&c.request)).collect::<Vec<_>>().join(" | ")
}

fn rows(series: Series, rows: &[(&str, &str)]) {
    let wrong: Vec<String> = rows
        .iter()
        .map(|(line, expected)| (line, expected, outcome(&read(series, line, SCRIPT))))
        .filter(|(_, expected, got)| got != *expected)
        .map(|(line, expected, got)| format!("{line}\n  expected {expected:?}\n  got      {got:?}"))
        .collect();
    assert!(wrong.is_empty(), "{series}:\n{}", wrong.join("\n"));
}

#[test]
fn shapes() {
    rows(
        Series::V24_11,
        &[
            ("sbatch -N2 job.sh", "max_nodes=2 min_cpus=2 min_nodes=2"),
            ("sbatch --nodes=2-4 job.sh", "max_nodes=4 min_nodes=2"),
            ("sbatch -N 4 -n2 job.sh", "max_nodes=2 min_cpus=2 min_nodes=2 num_tasks=2"),
            ("sbatch -n8 --ntasks-per-node=3 job.sh", "min_cpus=8 min_nodes=3 ntasks_per_node=3 num_tasks=8"),
            ("sbatch --ntasks-per-node=4 -N2 job.sh", "max_nodes=2 min_cpus=8 min_nodes=2 ntasks_per_node=4"),
            ("sbatch --tasks-per-node=4 job.sh", "min_cpus=4 ntasks_per_node=4"),
            ("sbatch -c4 job.sh", "cpus_per_task=4 min_cpus=4 pn_min_cpus=4"),
            ("sbatch -n3 -c 4 job.sh", "cpus_per_task=4 min_cpus=12 num_tasks=3 pn_min_cpus=4"),
            ("sbatch --mincpus=8 -c4 job.sh", "cpus_per_task=4 min_cpus=4 pn_min_cpus=8"),
            ("sbatch -O -N3 job.sh", "max_nodes=3 min_cpus=3 min_nodes=3 overcommit=true"),
            (
                "sbatch -B 2:8:1 -N1 job.sh",
                "cores_per_socket=8 max_nodes=1 min_cpus=16 min_nodes=1 num_tasks=16 sockets_per_node=2 threads_per_core=1",
            ),
            (
                "sbatch --sockets-per-node=2 -N2 job.sh",
                "max_nodes=2 min_cpus=4 min_nodes=2 num_tasks=4 sockets_per_node=2",
            ),
            ("sbatch --hint=nomultithread job.sh", "threads_per_core=1"),
            ("sbatch --core-spec=2 job.sh", "core_spec=2"),
            ("sbatch --thread-spec=4 job.sh", "core_spec=4"),
            ("sbatch -w node[1-4] job.sh", "min_cpus=4 min_nodes=4 req_nodes=node[1-4]"),
            ("sbatch -w node[1-4] -N2 job.sh", "max_nodes=2 min_cpus=2 min_nodes=2 req_nodes=node[1-4]"),
            ("sbatch -N1,3-5 job.sh", "max_nodes=5 min_nodes=1"),
            ("sbatch -Hn4 job.sh", "min_cpus=4 num_tasks=4 priority=0"),
            ("sbatch -n0 job.sh", "refused: Invalid numeric value \"0\" for --ntasks."),
            ("sbatch -N4-2 job.sh", "refused: Maximum node count 2 is less than minimum node count 4"),
        ],
    );
}

#[test]
fn gpus() {
    rows(
        Series::V24_11,
        &[
            ("sbatch --gpus=4 job.sh", "tres_per_job=gres/gpu:4"),
            ("sbatch -G4 job.sh", "tres_per_job=gres/gpu:4"),
            ("sbatch -G a100:4 job.sh", "tres_per_job=gres/gpu:a100:4"),
            ("sbatch --gpus=a100:2,h100:1 job.sh", "tres_per_job=gres/gpu:a100:2,gres/gpu:h100:1"),
            (
                "sbatch --gpus-per-node=a100:2 -N2 job.sh",
                "max_nodes=2 min_cpus=2 min_nodes=2 tres_per_node=gres/gpu:a100:2",
            ),
            ("sbatch --gpus-per-task=1 -n4 job.sh", "min_cpus=4 num_tasks=4 tres_per_task=gres/gpu=1"),
            (
                "sbatch --gpus-per-task=a100:1 -n4 job.sh",
                "min_cpus=4 num_tasks=4 tres_per_task=gres/gpu:a100=1",
            ),
            (
                "sbatch --gpus-per-task=2 --gpus=8 job.sh",
                "num_tasks=4 tres_per_job=gres/gpu:8 tres_per_task=gres/gpu=2",
            ),
            (
                "sbatch --gpus-per-socket=1 --sockets-per-node=2 job.sh",
                "sockets_per_node=2 tres_per_socket=gres/gpu:1",
            ),
            ("sbatch --gres=gpu:2 job.sh", "tres_per_node=gres/gpu:2"),
            ("sbatch --gres=gpu:a100:2,nvme:1 job.sh", "tres_per_node=gres/gpu:a100:2,gres/nvme:1"),
            ("sbatch --gres=gres/gpu:2 job.sh", "tres_per_node=gres/gpu:2"),
            ("sbatch --gres=gpu job.sh", "tres_per_node=gres/gpu"),
            ("sbatch --gres=gpu:0 job.sh", "tres_per_node=gres/gpu:0"),
            ("sbatch --gres=none job.sh", ""),
            ("sbatch --gres=gpu:1 --gpus-per-node=2 job.sh", "tres_per_node=gres/gpu:2,gres/gpu:1"),
            (
                "sbatch --gpus=4 --gpus-per-node=2 job.sh",
                "max_nodes=2 min_nodes=2 tres_per_job=gres/gpu:4 tres_per_node=gres/gpu:2",
            ),
            (
                "sbatch --tres-per-task=cpu:2,gres/gpu:1 -n2 job.sh",
                "cpus_per_task=2 min_cpus=4 num_tasks=2 pn_min_cpus=2 tres_per_task=gres/gpu:1",
            ),
            (
                "sbatch --tres-per-task=cpu=2,gres:gpu=1 -n2 job.sh",
                "cpus_per_task=2 min_cpus=4 num_tasks=2 pn_min_cpus=2 tres_per_task=gres/gpu=1",
            ),
            (
                "sbatch --tres-per-task=gres/gpu=1 -c3 -n2 job.sh",
                "cpus_per_task=3 min_cpus=6 num_tasks=2 pn_min_cpus=3 tres_per_task=gres/gpu=1",
            ),
            (
                "sbatch --gpus=2 --cpus-per-gpu=8 job.sh",
                "cpus_per_tres=gres/gpu:8 min_cpus=16 tres_per_job=gres/gpu:2",
            ),
            (
                "sbatch --gpus-per-node=2 -N2 --cpus-per-gpu=8 job.sh",
                "cpus_per_tres=gres/gpu:8 max_nodes=2 min_cpus=32 min_nodes=2 tres_per_node=gres/gpu:2",
            ),
            (
                "sbatch --gpus=2 --mem-per-gpu=60G job.sh",
                "mem_per_tres=gres/gpu:61440 tres_per_job=gres/gpu:2",
            ),
            (
                "sbatch --ntasks-per-gpu=2 --gpus=3 job.sh",
                "ntasks_per_gpu=2 num_tasks=6 tres_per_job=gres/gpu:3",
            ),
            ("sbatch --ntasks-per-gpu=1 -n4 job.sh", "min_cpus=4 ntasks_per_gpu=1 num_tasks=4"),
            (
                "sbatch --gpus-per-node=2 --gpus-per-task=1 -n4 job.sh",
                "min_cpus=4 ntasks_per_node=2 num_tasks=4 tres_per_node=gres/gpu:2 tres_per_task=gres/gpu=1",
            ),
            (
                "sbatch --gpus-per-node=2 --ntasks-per-node=4 -N2 job.sh",
                "max_nodes=2 min_cpus=8 min_nodes=2 ntasks_per_node=4 tres_per_node=gres/gpu:2",
            ),
            (
                "sbatch --gpus-per-task=1 job.sh",
                "refused: Failed to validate job spec. --gpus-per-task or --tres-per-task used without either --gpus or -n/--ntasks is not allowed.",
            ),
            (
                "sbatch --gpus=5 --gpus-per-node=2 job.sh",
                "refused: Failed to validate job spec, --gpus is not multiple of --gres=gpu/--gpus-per-node",
            ),
            ("sbatch --gpus=1 -N2 job.sh", "refused: Failed to validate job spec, --gpus < -N"),
            (
                "sbatch --cpus-per-gpu=8 job.sh",
                "refused: Requested cpus_per_tres=gres/gpu:8 but did not request any GPU.",
            ),
            (
                "sbatch --cpus-per-gpu=8 -c2 --gpus=1 job.sh",
                "refused: --cpus-per-task, --tres-per-task=cpu:#, and --cpus-per-gpu are mutually exclusive; --cpus-per-gpu is mutually exclusive with --cpus-per-task",
            ),
            ("sbatch --tres-per-task=mem=4G job.sh", "refused: Invalid TRES for --tres-per-task: mem"),
            (
                "sbatch --gpu=1 job.sh",
                "refused: option '--gpu=1' is ambiguous; possibilities: '--gpu-bind' '--gpu-freq' '--gpus' '--gpus-per-node' '--gpus-per-socket' '--gpus-per-task'",
            ),
        ],
    );
}

#[test]
fn memory_and_sharing() {
    rows(
        Series::V24_11,
        &[
            ("sbatch --mem=0 job.sh", "memory=whole-node"),
            ("sbatch --mem=4G job.sh", "memory={per-node:4096}"),
            ("sbatch --mem=1500 job.sh", "memory={per-node:1500}"),
            ("sbatch --mem-per-cpu=2G job.sh", "memory={per-cpu:2048}"),
            ("sbatch --mem-per-cpu=0 job.sh", "memory={per-cpu:0}"),
            ("sbatch --tmp=10G job.sh", "pn_min_tmp_disk=10240"),
            ("sbatch --mem=4X job.sh", "refused: Invalid --mem specification"),
            (
                "sbatch --mem=1 --mem-per-cpu=1 job.sh",
                "refused: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.",
            ),
            ("sbatch --exclusive job.sh", "shared=exclusive"),
            ("sbatch --exclusive=user job.sh", "shared=user"),
            ("sbatch --exclusive=mcs job.sh", "shared=mcs"),
            ("sbatch --exclusive=topo job.sh", "shared=topo"),
            ("sbatch --exclusive=exclusive job.sh", "shared=exclusive"),
            ("sbatch --exclusive=allocation job.sh", "refused: Invalid --exclusive specification"),
            ("sbatch --exclusive=true job.sh", "refused: Invalid --exclusive specification"),
            ("sbatch --exclusiv job.sh", "shared=exclusive"),
            (
                "sbatch --exclu job.sh",
                "refused: option '--exclu' is ambiguous; possibilities: '--exclude' '--exclusive'",
            ),
            ("sbatch -s job.sh", "shared=oversubscribe"),
            ("sbatch --overs job.sh", "shared=oversubscribe"),
            (
                "sbatch --exclusive -s job.sh",
                "refused: --exclusive and --oversubscribe options are mutually exclusive",
            ),
        ],
    );
}

#[test]
fn time_arrays_and_behaviour() {
    rows(
        Series::V24_11,
        &[
            ("sbatch -t 30 job.sh", "time_limit={minutes:30}"),
            ("sbatch --time=2-12:30 job.sh", "time_limit={minutes:3630}"),
            ("sbatch --time=0 job.sh", "time_limit=unlimited"),
            ("sbatch --time=UNLIMITED --time-min=10 job.sh", "time_limit=unlimited time_min={minutes:10}"),
            ("sbatch --time=2- job.sh", "time_limit={minutes:2880}"),
            ("sbatch --time=1h job.sh", "refused: Invalid --time specification"),
            ("sbatch --array=0-99%10 job.sh", "array={running_max:10,tasks:100,text:0-99%10}"),
            ("sbatch -a1,3 job.sh", "array={running_max:null,tasks:2,text:1,3}"),
            ("sbatch --no-requeue job.sh", "requeue=false"),
            ("sbatch --no-requeue --requeue job.sh", "requeue=true"),
            ("sbatch --signal=B:USR1@120 job.sh", "signal={batch_only:true,signal:10,time:120}"),
            ("sbatch --signal=TERM job.sh", "signal={batch_only:false,signal:15,time:60}"),
            ("sbatch -d afterok:1:2 job.sh", "dependency=afterok:1:2"),
            ("sbatch --comment=x --nice job.sh", "comment=x nice=100"),
            ("sbatch --nice=-5 job.sh", "nice=-5"),
            ("sbatch -H job.sh", "priority=0"),
            ("sbatch --priority=5 job.sh", ""),
            ("sbatch -p gpu,debug -q high -A physics job.sh", "account=physics partition=gpu,debug qos=high"),
            (
                "sbatch --reservation=r -C a100&ib --prefer=ib job.sh",
                "features=a100&ib prefer=ib reservation=r",
            ),
            ("sbatch -L matlab:2 --wckey=w --mail-user=u job.sh", "licenses=matlab:2 mail_user=u wckey=w"),
            ("sbatch --export=NONE job.sh", "export=NONE"),
            ("sbatch --export=ALL job.sh", ""),
            ("sbatch --export=ALL,A=1,2 job.sh", "export=ALL,A=1,2"),
            ("sbatch --justify=benchmark --lineage=commit=1 job.sh", "justify=benchmark lineage=commit=1"),
            ("sbatch -o log_%j.out -e /abs/err job.sh", "std_err=/abs/err std_out=/home/u/log_%j.out"),
            ("sbatch -o none -e NONE job.sh", "std_err=/dev/null std_out=/dev/null"),
            ("sbatch -D /scratch -o a/b job.sh", "std_out=/scratch/a/b"),
        ],
    );
}

#[test]
fn the_environment_goes_before_the_script_and_behind_the_command_line() {
    rows(
        Series::V24_11,
        &[
            ("SBATCH_PARTITION=gpu sbatch job.sh", "partition=gpu"),
            ("SBATCH_PARTITION=gpu sbatch -p debug job.sh", "partition=debug"),
            ("SBATCH_EXCLUSIVE= sbatch job.sh", "shared=exclusive"),
            ("SBATCH_EXCLUSIVE=user sbatch -s job.sh", "shared=oversubscribe"),
            ("SBATCH_EXCLUSIVE=true sbatch job.sh", "refused: Invalid --exclusive specification"),
            ("SBATCH_NO_REQUEUE=1 sbatch job.sh", "requeue=false"),
            ("SBATCH_NO_REQUEUE=no sbatch job.sh", ""),
            (
                "SBATCH_GPUS=2 SBATCH_CPUS_PER_GPU=4 sbatch job.sh",
                "cpus_per_tres=gres/gpu:4 min_cpus=8 tres_per_job=gres/gpu:2",
            ),
            (
                "SBATCH_CPUS_PER_GPU=4 sbatch -c2 --gpus=1 job.sh",
                "cpus_per_task=2 min_cpus=2 pn_min_cpus=2 tres_per_job=gres/gpu:1",
            ),
            ("SBATCH_MEM_PER_NODE=1G sbatch --mem-per-cpu=2G job.sh", "memory={per-cpu:2048}"),
            (
                "SBATCH_MEM_PER_NODE=1 SBATCH_MEM_PER_CPU=1 sbatch job.sh",
                "refused: SLURM_MEM_PER_CPU, SLURM_MEM_PER_GPU, and SLURM_MEM_PER_NODE are mutually exclusive.",
            ),
            ("SBATCH_TIMELIMIT=x sbatch job.sh", "refused: Invalid --time specification"),
            (
                "SBATCH_ARRAY_INX=0-3 SBATCH_OUTPUT=o sbatch job.sh",
                "array={running_max:null,tasks:4,text:0-3} std_out=/home/u/o",
            ),
            (
                "SBATCH_TRES_PER_TASK=cpu=4 sbatch -n2 job.sh",
                "cpus_per_task=4 min_cpus=8 num_tasks=2 pn_min_cpus=4",
            ),
            (
                "SBATCH_TRES_PER_TASK=cpu=4,gres/gpu=1 sbatch -n2 -c2 job.sh",
                "cpus_per_task=2 min_cpus=4 num_tasks=2 pn_min_cpus=2 tres_per_task=gres/gpu=1",
            ),
            ("SLURM_PARTITION=gpu sbatch job.sh", ""),
            ("SLURM_EXPORT_ENV=NONE sbatch job.sh", "export=NONE"),
            ("SLURM_PARTITION=gpu SLURM_NTASKS=4 srun true", "min_cpus=4 num_tasks=4 partition=gpu"),
            ("SLURM_CPUS_PER_TASK=4 srun true", "cpus_per_task=4 min_cpus=4 pn_min_cpus=4"),
            ("SALLOC_PARTITION=gpu SALLOC_TIMELIMIT=5 salloc true", "partition=gpu time_limit={minutes:5}"),
        ],
    );
    let script = "#!/bin/sh\n#SBATCH -p script -q script -A script\n";
    let read = read(Series::V24_11, "SBATCH_PARTITION=env SBATCH_QOS=env sbatch -p line job.sh", script);
    assert_eq!(outcome(&read), "account=script partition=line qos=env");
}

#[test]
fn srun_and_salloc() {
    rows(
        Series::V24_11,
        &[
            ("srun -n2 true", "min_cpus=2 num_tasks=2"),
            (
                "srun -N2 --ntasks-per-node=4 true",
                "max_nodes=2 min_cpus=8 min_nodes=2 ntasks_per_node=4 num_tasks=8",
            ),
            ("srun --exclusive -o out true", "shared=exclusive"),
            ("srun -N2 --pty bash", "max_nodes=2 min_cpus=2 min_nodes=2"),
            ("srun -n1 : -n2 true", "het_offset=0 num_tasks=1 | het_offset=1 min_cpus=2 num_tasks=2"),
            ("srun --array=1 true", "refused: unrecognized option '--array=1'"),
            ("srun -W x true", "refused: Invalid numeric value \"x\" for --wait."),
            ("srun", "refused: No command given to execute."),
            ("srun --pty -o x bash", "refused: --error/--input/--output are incompatible with --pty"),
            ("srun --signal=B:USR1 true", "refused: Invalid --signal specification"),
            ("salloc -N2 true", "max_nodes=2 min_cpus=2 min_nodes=2"),
            ("salloc --mem=0 --no-shell", "memory=whole-node"),
            (
                "salloc -p cpu -n1 : -p gpu --gpus=1 true",
                "het_offset=0 num_tasks=1 partition=cpu | het_offset=1 partition=gpu tres_per_job=gres/gpu:1",
            ),
            ("salloc -o x true", "refused: invalid option -- 'o'"),
        ],
    );
}

#[test]
fn heterogeneous_jobs() {
    rows(
        Series::V24_11,
        &[
            (
                "sbatch -n1 : -n2 --exclusive job.sh",
                "het_offset=0 num_tasks=1 | het_offset=1 min_cpus=2 num_tasks=2 shared=exclusive",
            ),
            (
                "sbatch -A a -t 5 -p x -n1 : -n2 job.sh",
                "account=a het_offset=0 num_tasks=1 partition=x time_limit={minutes:5} | account=a het_offset=1 min_cpus=2 num_tasks=2 time_limit={minutes:5}",
            ),
            (
                "sbatch -n1 : -n2 -A late job.sh",
                "account=late het_offset=0 num_tasks=1 | account=late het_offset=1 min_cpus=2 num_tasks=2",
            ),
            (
                "sbatch -n1 : : -n3 job.sh",
                "het_offset=0 num_tasks=1 | het_offset=1 | het_offset=2 min_cpus=3 num_tasks=3",
            ),
            (
                "sbatch -n1 : -n2 job.sh a : b",
                "het_offset=0 num_tasks=1 | het_offset=1 min_cpus=2 num_tasks=2",
            ),
        ],
    );
    let script = "#!/bin/sh\n#SBATCH -n1 -A a\n#SBATCH hetjob\n#SBATCH -n2 -p gpu\n";
    let both = read(Series::V24_11, "sbatch --mem=1G job.sh", script);
    assert_eq!(
        outcome(&both),
        "account=a het_offset=0 memory={per-node:1024} num_tasks=1 | \
         account=a het_offset=1 memory={per-node:1024} min_cpus=2 num_tasks=2 partition=gpu"
    );
}

#[test]
fn series_differ() {
    rows(
        Series::V22_05,
        &[
            ("sbatch --gpus=2 --gres=nvme:1 job.sh", "tres_per_job=gres:gpu:2 tres_per_node=gres:nvme:1"),
            (
                "sbatch -N2 --ntasks-per-node=4 job.sh",
                "max_nodes=2 min_cpus=8 min_nodes=2 ntasks_per_node=4 num_tasks=8",
            ),
            (
                "sbatch --gpus-per-task=1 -n2 -c2 job.sh",
                "cpus_per_task=2 min_cpus=4 num_tasks=2 pn_min_cpus=2 tres_per_task=gres:gpu:1",
            ),
            ("sbatch --exclusive=topo job.sh", "refused: Invalid --exclusive specification"),
            ("sbatch --exclusive -s job.sh", "shared=oversubscribe"),
            ("sbatch --tres-per-task=cpu:1 job.sh", "refused: unrecognized option '--tres-per-task=cpu:1'"),
            ("sbatch -N1,3 job.sh", "refused: \"1,3\" is not a valid node count"),
            ("SLURM_CPUS_PER_TASK=4 srun true", ""),
            ("SRUN_CPUS_PER_TASK=4 srun true", "cpus_per_task=4 min_cpus=4 pn_min_cpus=4"),
        ],
    );
    rows(
        Series::V26_05,
        &[
            (
                "sbatch --gres=gpu:1 --gpus-per-node=2 job.sh",
                "refused: --gpus-per-node and --gres=gpu are mutually exclusive.",
            ),
            ("sbatch --gres=nvme:1 --gpus-per-node=2 job.sh", "tres_per_node=gres/gpu:2,gres/nvme:1"),
            ("sbatch --exclusive=allocation job.sh", "shared=exclusive"),
            ("sbatch --requeue=expedite job.sh", "requeue=true"),
            ("sbatch --requeue=x job.sh", "refused: Invalid --requeue specification"),
            ("sbatch -L a:1 --resources=b:2 job.sh", "licenses=a:1,b:2"),
            (
                "sbatch --gpus-per-task=a100:1,h100:2 -n2 job.sh",
                "min_cpus=2 num_tasks=2 tres_per_task=gres/gpu:h100=2,gres/gpu:a100=1",
            ),
            ("sbatch --power=x job.sh", "refused: unrecognized option '--power=x'"),
            ("srun --signal=B:USR1 true", "signal={batch_only:true,signal:10,time:60}"),
        ],
    );
}

#[test]
fn every_option_is_placed_where_it_counts() {
    let script = "#!/bin/sh\n#SBATCH -p gpu\n#SBATCH  -c4 --exclusive\n";
    let read = read(Series::V24_11, "SBATCH_QOS=high sbatch -p debug -A a job.sh", script);
    let component = &read.components[0];
    assert_eq!(component.place("partition"), Some(Place::Argument(1)));
    assert_eq!(component.place("account"), Some(Place::Argument(3)));
    assert_eq!(component.place("qos"), Some(Place::Environment("SBATCH_QOS")));
    assert_eq!(component.place("cpus-per-task"), Some(Place::Script { line: 3, column: 10 }));
    assert_eq!(component.place("exclusive"), Some(Place::Script { line: 3, column: 14 }));
    assert_eq!(component.place("gpus"), None);
    assert_eq!(component.place_of_any(&["gpus", "exclusive"]).unwrap().0, "exclusive");
}

#[test]
fn the_script_goes_to_slurmctld_with_the_first_component_alone() {
    let read = read(Series::V24_11, "sbatch -n1 : -n2 job.sh a b", SCRIPT);
    let scripts: Vec<_> = read.components.iter().map(|c| c.request.script.as_deref()).collect();
    assert_eq!(scripts, [Some(SCRIPT), None]);
    assert_eq!(read.components[1].request.command.as_deref(), Some("/home/u/job.sh"));
}

#[test]
fn a_command_that_only_prints_submits_nothing() {
    for line in
        ["sbatch --help", "srun --version", "sbatch --gres=help job.sh", "srun --mpi=list a", "salloc -h"]
    {
        let problems = read(Series::V24_11, line, SCRIPT).problems;
        assert!(problems.iter().any(|p| p.kind == ProblemKind::NoSubmission), "{line}");
    }
    let step = read(Series::V24_11, "SLURM_JOB_ID=1 srun true", SCRIPT).problems;
    assert_eq!(step[0].kind, ProblemKind::NoSubmission);
}

#[test]
fn a_script_of_separators_ends() {
    let script = format!("#!/bin/sh\n{}", "#SBATCH hetjob\n".repeat(10_000));
    let read = read(Series::V24_11, "sbatch job.sh", &script);
    assert_eq!(read.components.len(), 128);
    assert!(read.problems.iter().any(Problem::refuses));
}

#[test]
fn versions_read_like_the_series_before_them() {
    for (version, series) in [
        ("22.05.8", Some(Series::V22_05)),
        ("23.11.4", Some(Series::V22_05)),
        ("24.11", Some(Series::V24_11)),
        ("25.05.1", Some(Series::V24_11)),
        ("26.05.5", Some(Series::V26_05)),
        ("27.11.0", Some(Series::V26_05)),
        ("20.11.4", None),
        ("x", None),
    ] {
        assert_eq!(Series::of_version(version), series, "{version}");
    }
}

proptest! {
    #[test]
    fn any_command_line_script_and_variable_is_read_without_a_panic(
        command in prop::sample::select(vec!["sbatch", "srun", "salloc"]),
        arguments in prop::collection::vec(argument(), 0..8),
        script in "(#SBATCH |#SBATCH hetjob\n|--[a-z]{1,8}=|-[a-zA-Z]|[0-9:,@%-]{0,8}|[ \n\"'\\\\#]|\\PC){0,40}",
        value in "\\PC{0,12}",
        series in prop::sample::select(vec![Series::V22_05, Series::V24_11, Series::V26_05]),
    ) {
        let mut argv = vec![command.to_owned()];
        argv.extend(arguments);
        let command = Command::named(command).unwrap();
        let line = CommandLine::new(command, series, &argv, &[]);
        let world = World {
            environment: &|name| (name.len() % 5 == value.len() % 5).then(|| value.clone()),
            directory: "/home/u",
            user_id: 1000,
            group_id: 1000,
        };
        for script in [None, Some(Script { path: "/home/u/job.sh", text: &script })] {
            let read = line.read(&world, script);
            prop_assert!(!read.components.is_empty());
        }
    }
}

/// Words that are likely to mean something.
fn argument() -> impl Strategy<Value = String> {
    let names: Vec<&str> = options::names().collect();
    let numbers = "(-?[0-9]{1,20}|[0-9]{1,3}[-:,@x][0-9kKmMgG:]{0,6}|gpu:[a-z0-9:=]{0,9}|\\PC{0,10})";
    prop_oneof![
        (prop::sample::select(names), numbers).prop_map(|(name, value)| format!("--{name}={value}")),
        "-[a-zA-Z][0-9a-z:,-]{0,8}",
        Just(":".to_owned()),
        Just("--".to_owned()),
        "\\PC{0,12}",
    ]
}
