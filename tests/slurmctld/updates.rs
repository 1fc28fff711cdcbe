//! `scontrol update`: what is refused at submission cannot be reached afterwards, what makes a job
//! smaller passes, and operators pass.

use crate::Case;
use crate::shared::Shared;
use crate::support::Requirement::Accounting;
use crate::support::{Builder, Cluster, until};

use std::time::Duration;

pub const CASES: &[Case] = &[
    ("updates reach no state that a submission could not", Accounting, updates),
    ("one task of an array, all of an array, components, and jobs by name", Accounting, several),
    ("a stranger's update tells him nothing, a coordinator's is judged", Accounting, others),
];

pub const POLICY: &str = include_str!("updates.toml");

/// How long the helper may take to write a line.
const SOON: Duration = Duration::from_secs(3);

/// An update of a job by its owner.
struct Try {
    /// The job as it was submitted.
    submitted: &'static str,
    /// What is typed after `JobId=N` (or `JobId=N_T`).
    update: &'static str,
    /// What scontrol says of it; empty where it passes.
    refusal: &'static str,
    /// What slurmctld's log says of it.
    log: &'static str,
}

const REFUSED: &[Try] = &[
    // A guest's job under the lent QoS.
    Try {
        submitted: "-p lent --gres=gpu:1",
        update: "QOS=high",
        refusal: "Invalid qos",
        log: "[qos-entitlement] QoS high is not for guests; partition lent takes guests only under scavenger: \
              use --qos=scavenger",
    },
    Try {
        submitted: "-p gpu --gres=gpu:1 --qos=high",
        update: "Partition=lent",
        refusal: "Invalid qos",
        log: "[qos-entitlement] QoS high is not for guests",
    },
    Try {
        submitted: "-p gpu --gres=gpu:1",
        update: "Partition=lent",
        refusal: "Invalid qos",
        log: "[qos-entitlement] QoS normal is not for guests",
    },
    Try {
        submitted: "-p gpu --gres=gpu:1",
        update: "Partition=gpu,lent",
        refusal: "Invalid qos",
        log: "drop lent from --partition",
    },
    Try {
        submitted: "-p gpu --gres=gpu:1",
        update: "Partition=lent QOS=high",
        refusal: "Invalid qos",
        log: "[qos-entitlement] QoS high is not for guests",
    },
    Try {
        submitted: "-p gpu --gres=gpu:4 -c 32",
        update: "Gres=gpu:1",
        refusal: "Access/permission denied",
        log: "[cpus-per-gpu] 32 CPUs for 1 GPU is 32 per GPU; partition gpu gives at most 8",
    },
    Try {
        submitted: "-p gpu --gres=gpu:1",
        update: "NumCPUs=9",
        refusal: "Access/permission denied",
        log: "[cpus-per-gpu] 9 CPUs for 1 GPU",
    },
    Try {
        submitted: "-p gpu --gres=gpu:1",
        update: "CPUsPerTask=9",
        refusal: "Access/permission denied",
        log: "[cpus-per-gpu] 9 CPUs for 1 GPU",
    },
    Try {
        submitted: "-p gpu --gres=gpu:1 --mem=60G",
        update: "MinMemoryNode=204800",
        refusal: "Access/permission denied",
        log: "[memory-per-gpu]",
    },
    Try {
        submitted: "-p gpu --gres=gpu:1",
        update: "MinMemoryNode=0",
        refusal: "Access/permission denied",
        log: "[exclusive] --mem=0 takes all",
    },
    Try {
        submitted: "-p gpu --gres=gpu:1 -t 60",
        update: "TimeLimit=3-00:00:00",
        refusal: "time limit",
        log: "[time-limit]",
    },
    Try {
        submitted: "-p gpu --gres=gpu:1",
        update: "OverSubscribe=no",
        refusal: "Access/permission denied",
        log: "[exclusive] --exclusive takes all 64 CPUs and 4 GPUs of each node",
    },
    Try {
        submitted: "-p gpu --gres=gpu:1 --array=0-9 -o log-%A_%a",
        update: "StdOut=all.log",
        refusal: "Access/permission denied",
        log: "[array-logs] 10 array tasks write to",
    },
    Try {
        submitted: "-p gpu --gres=gpu:1",
        update: "Partition=cpu",
        refusal: "Invalid generic resource",
        log: "[gpu-request]",
    },
];

const PASSES: &[Try] = &[
    pass("-p gpu --gres=gpu:1 -t 60", "TimeLimit=30"),
    pass("-p gpu --gres=gpu:1 -c 8", "NumCPUs=4 CPUsPerTask=4"),
    pass("-p gpu --gres=gpu:1 --mem=60G", "MinMemoryNode=30720"),
    pass("-p gpu --gres=gpu:1", "Gres=gpu:2"),
    pass("-p gpu --gres=gpu:1", "Partition=lent QOS=scavenger"),
    pass("-p gpu --gres=gpu:1 --array=0-9 -o log-%A_%a", "StdOut=other-%A_%a"),
    pass("-p gpu --gres=gpu:1 --array=0-9%2", "ArrayTaskThrottle=5"),
    pass("-p gpu --gres=gpu:1", "JobName=other"),
    pass("-p gpu --gres=gpu:1", "Nice=100"),
    // The reason at submission covers the rule that it was given for, and so does one in the update.
    pass(
        "-p gpu --gres=gpu:1 --exclusive --comment='justify: timing runs alone'",
        "TimeLimit=50 Comment=other",
    ),
    pass("-p cpu --exclusive --comment='justify: timing runs alone'", "MinMemoryNode=0"),
    pass("-p cpu", "MinMemoryNode=0 Comment='justify: measures all memory'"),
];

const fn pass(submitted: &'static str, update: &'static str) -> Try {
    Try { submitted, update, refusal: "", log: "" }
}

/// With accounting: `games` and `man` are guests, `news` is an operator, `backup` coordinates bio.
pub fn builder() -> Builder {
    Cluster::builder()
        .policy(POLICY)
        .partition("gpu", "Nodes=g[1-2] Default=YES")
        .partition("cpu", "Nodes=c1")
        .partition("lent", "Nodes=g[1-2]")
        .accounting(&[
            "add cluster sluice",
            "add qos high,scavenger",
            "add account physics,bio",
            "add user games account=bio qos=normal,high,scavenger",
            "add user man account=bio qos=normal,high,scavenger",
            "add user news account=physics qos=normal,high,scavenger adminlevel=operator",
            "add user backup account=physics qos=normal,high,scavenger",
            "add coordinator account=bio names=backup",
        ])
}

fn submit(cluster: &Cluster, user: &str, options: &str) -> u32 {
    cluster.user(user, &format!("sbatch --hold {options} job.sh")).run().accepted().job_id()
}

fn updates(shared: &Shared) {
    let cluster = shared.updates();
    for t in REFUSED {
        let id = submit(cluster, "games", t.submitted);
        let before = cluster.root(&format!("scontrol -o show job {id}")).run().accepted().stdout;
        let output =
            cluster.user("games", &format!("scontrol update JobId={id} {}", t.update)).run().refused();
        assert!(output.stderr.to_lowercase().contains(&t.refusal.to_lowercase()), "{}\n{output}", t.update);
        let line = format!("refused update of job {id} uid=");
        let told = |log: &str| log.lines().any(|l| l.contains(&line) && l.contains(t.log));
        assert!(until(SOON, || told(&cluster.log())), "{} {}\n{}", t.submitted, t.update, cluster.log());
        let after = cluster.root(&format!("scontrol -o show job {id}")).run().accepted().stdout;
        assert_eq!(before, after, "{}", t.update);

        // An operator may, and so may root.
        let id = if t.update.contains("lent") || t.submitted.contains("lent") {
            id
        } else {
            let output = cluster.user("news", &format!("scontrol update JobId={id} {}", t.update)).run();
            assert!(output.ok(), "an operator: {}\n{output}\n{}", t.update, cluster.log());
            submit(cluster, "games", t.submitted)
        };
        cluster.root(&format!("scontrol update JobId={id} {}", t.update)).run().accepted();
    }
    for t in PASSES {
        let id = submit(cluster, "games", t.submitted);
        let output = cluster.user("games", &format!("scontrol update JobId={id} {}", t.update)).run();
        assert!(output.ok(), "{} {}\n{output}\n{}", t.submitted, t.update, cluster.log());
    }
    for verb in ["release", "hold"] {
        let id = submit(cluster, "games", "-p gpu --gres=gpu:1 --begin=now+1hour");
        cluster.user("games", &format!("scontrol {verb} {id}")).run().accepted();
    }
}

/// Whether the log comes to hold a refusal of this job with these words.
fn refused_in_log(cluster: &Cluster, job: &str, words: &str) {
    let line = format!("refused update of job {job} uid=");
    let told = |log: &str| log.lines().any(|l| l.contains(&line) && l.contains(words));
    assert!(until(SOON, || told(&cluster.log())), "no `{line}... {words}` in\n{}", cluster.log());
}

fn several(shared: &Shared) {
    let cluster = shared.updates();
    let update = |what: String| cluster.user("games", &format!("scontrol update {what}")).run();
    let id = submit(cluster, "games", "-p lent --gres=gpu:1 --array=0-9 -o log-%A_%a");

    // A task that waits is split off the array first, and writes where the array writes.
    update(format!("JobId={id}_3 QOS=high")).refused();
    refused_in_log(cluster, &format!("{id}_3"), "QoS high is not for guests");
    update(format!("JobId={id}_3 StdOut=mine.log")).refused();
    refused_in_log(cluster, &format!("{id}_3"), "[array-logs] 1 array task writes to mine.log");
    update(format!("JobId={id}_3 TimeLimit=30")).accepted();

    // The array as a whole: what waits together, then the task that was split off.
    let output = update(format!("JobId={id} QOS=high"));
    assert!(!output.ok(), "{output}");
    refused_in_log(cluster, &id.to_string(), "QoS high is not for guests");
    update(format!("JobId={id} ArrayTaskThrottle=3")).accepted();
    update(format!("JobId={id}_5-7 QOS=high")).refused();
    refused_in_log(cluster, &format!("{id}_5"), "QoS high is not for guests");
    let shown = cluster.root(&format!("squeue -h -r -j {id} -o %q")).run().accepted();
    assert!(!shown.stdout.contains("high"), "{shown}");

    // A job by its name, through which nobody gets round either.
    cluster.user("games", "sbatch --hold -J by-name -p gpu --gres=gpu:1 job.sh").run().accepted();
    update("JobName=by-name NumCPUs=9".to_owned()).refused();

    // Components of a heterogeneous job by the leader's number.
    let line = "sbatch --hold -p gpu --gres=gpu:1 : -p gpu --gres=gpu:1 job.sh";
    let het = cluster.user("games", line).run().accepted().job_id();
    update(format!("JobId={het}+1 NumCPUs=9")).refused();
    refused_in_log(cluster, &format!("{het}+1"), "[cpus-per-gpu]");
}

fn others(shared: &Shared) {
    let cluster = shared.updates();
    let id = submit(cluster, "games", "-p lent --gres=gpu:1");
    let lines = || cluster.log().lines().filter(|l| l.contains("sluice: refused ")).count();
    let before = lines();
    // Whatever he asks for, it is Slurm's own answer that he gets, and nothing is written down.
    for update in ["QOS=high", "QOS=scavenger", "Partition=gpu", "MinMemoryNode=0"] {
        let output = cluster.user("man", &format!("scontrol update JobId={id} {update}")).run().refused();
        assert!(output.stderr.contains("Invalid user id"), "{output}");
    }
    cluster.user("games", &format!("scontrol update JobId={id} QOS=high")).run().refused();
    refused_in_log(cluster, &id.to_string(), "QoS high is not for guests");
    assert_eq!(lines(), before + 1, "{}", cluster.log());

    cluster.user("backup", &format!("scontrol update JobId={id} QOS=high")).run().refused();
    refused_in_log(cluster, &id.to_string(), "QoS high is not for guests");
    cluster.user("backup", &format!("scontrol update JobId={id} TimeLimit=30")).run().accepted();
    cluster.user("news", &format!("scontrol update JobId={id} QOS=high")).run().accepted();
}
