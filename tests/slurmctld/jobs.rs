//! `sluice job` and `sluice compare`: what a job asked for and got, what was recorded, whose doing it is.

use std::time::Duration;

use serde_json::Value;

use crate::Case;
use crate::shared::Shared;
use crate::support::Requirement::{Accounting, Controller};
use crate::support::{Cluster, Output, until};

pub const CASES: &[Case] = &[
    ("sluice job and compare tell of every kind of job", Accounting, with_accounting),
    ("sluice job without accounting asks slurmctld alone", Controller, without),
];

const SOON: Duration = Duration::from_secs(20);
const LONG: Duration = Duration::from_secs(120);

const POLICY: &str = r#"
schema = 1
[site]
name = "Example Lab"
records = "RECORDS"
[partition.gpu]
gpu_types = ["a100"]
gpus_per_node = 4
cpus_per_node = 64
memory_per_node = "500G"
[rule.exclusive]
justify = { min_length = 10 }
"#;

fn user(cluster: &Cluster, line: &str) -> Output {
    cluster.user("games", line).within(LONG).run()
}

/// What `sluice job` says of a job that is one.
#[track_caller]
fn told(cluster: &Cluster, id: &str) -> Value {
    let output = user(cluster, &format!("sluice job --format=json {id}")).accepted();
    let mut all: Vec<Value> = serde_json::from_str(&output.stdout).expect("a list");
    assert_eq!(all.len(), 1, "{output}");
    all.remove(0)
}

/// Waits until whose doing it is has been found out.
#[track_caller]
fn by(cluster: &Cluster, id: &str, expected: &str, fact: &str) {
    let says = || told(cluster, id)["why"].clone();
    let fits = || says()["by"] == expected && says()["fact"].as_str().is_some_and(|f| f.contains(fact));
    assert!(until(SOON, fits), "{id}: {expected}, {fact}\n{}", told(cluster, id));
}

fn with_accounting(_: &Shared) {
    let cluster = Cluster::builder()
        .nodes(&["g1"])
        .slurmd()
        .spank()
        .partition("gpu", "Nodes=g1 Default=YES MaxTime=2-00:00:00")
        .accounting(&[
            "add cluster sluice",
            "add qos one set MaxJobsPerUser=1",
            "add account bio",
            "add user games account=bio qos=normal,one",
        ])
        .start();
    let records = cluster.path().join("records.jsonl");
    cluster.write_policy(&POLICY.replace("RECORDS", &records.display().to_string()));
    assert!(until(SOON, || cluster.log().contains("is in force")), "{}", cluster.log());
    cluster.file_for_everyone("job.sh", "#!/bin/sh\ntrue\n");
    cluster.file_for_everyone("three.sh", "#!/bin/sh\nexit 3\n");

    justified(&cluster);
    ends(&cluster);
    waiting(&cluster);
    lineage(&cluster);
    compared(&cluster);

    for (id, why) in [
        ("99999", "sluice: error: no such job: slurmctld knows no job 99999, nor does accounting\n"),
        ("x", "sluice: error: x is no job's id; an id is 123, 123_4 or 123+1\n"),
        ("1.0", "sluice: error: 1.0 is no job's id; an id is 123, 123_4 or 123+1\n"),
    ] {
        let output = user(&cluster, &format!("sluice job {id}"));
        assert_eq!((output.status.code(), output.stderr.as_str()), (Some(2), why), "{output}");
    }
}

fn justified(cluster: &Cluster) {
    let line = "sbatch --wait --exclusive --gpus-per-node=2 -N1 -t 90 --justify='the fabric test, bug #7' \
                --lineage=commit=4f2a,config=a.yaml --run-card=card job.sh";
    let id = user(cluster, line).accepted().job_id().to_string();
    let job = told(cluster, &id);
    assert_eq!(
        (&job["state"], &job["exit"]["code"], &job["account"]),
        (&"COMPLETED".into(), &0.into(), &"bio".into())
    );
    assert_eq!(job["lineage"], serde_json::json!({"commit": "4f2a", "config": "a.yaml"}));
    assert_eq!((&job["lineage_from"], &job["lifted"][0]), (&"admin-comment".into(), &"exclusive".into()));
    assert_eq!(
        (&job["justification"], &job["why"]["by"]),
        (&"the fabric test, bug #7".into(), &"job".into())
    );
    assert!(job["decision"].as_str().is_some_and(|r| r.len() == 8), "{job}");
    let (requested, actual) = (&job["requested"], &job["actual"]);
    assert_eq!(
        (&requested["gpus"], &requested["time_limit"], &requested["nodes"]),
        (&2.into(), &"1:30:00".into(), &1.into())
    );
    assert_eq!(
        (&actual["nodes"], &actual["node_list"], &actual["partition"]),
        (&1.into(), &"g1".into(), &"gpu".into())
    );
    assert_eq!((&actual["cpus"], &actual["qos"]), (&64.into(), &"normal".into()));
    // The card that the job wrote says the same.
    let output = user(cluster, &format!("sluice compare card {id}")).accepted();
    assert!(output.stdout.contains("no difference in shape and lineage"), "{output}");
    let text = user(cluster, &format!("sluice job {id}")).accepted().stdout;
    for line in [
        &format!("Job {id} of games (uid "),
        "  the job's own: its script or command returned 0\n",
        "  lineage: commit=4f2a config=a.yaml (admin comment)\n",
        "  justified: 'the fabric test, bug #7' (admin comment)\n",
        "  lifted by it: exclusive\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    // Long after slurmctld has forgotten the job there is accounting alone.
    let forgotten = "sacct -n -X -P -o AdminComment -j ";
    assert!(until(SOON, || user(cluster, &format!("{forgotten}{id}"))
        .stdout
        .contains("lineage: commit=4f2a")));
    let script = "#!/bin/sh\necho 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1\n";
    cluster.file_for_everyone("scontrol", script);
    cluster.root("chmod 755 ../games/scontrol").run().accepted();
    let output = user(cluster, &format!("PATH=$HOME:$PATH sluice job --format=json {id}")).accepted();
    let all: Vec<Value> = serde_json::from_str(&output.stdout).expect("a list");
    for key in [
        "job",
        "job_id",
        "name",
        "user_id",
        "account",
        "lineage",
        "justification",
        "exit",
        "times",
        "state",
        "why",
    ] {
        assert_eq!(all[0][key], job[key], "{key}\n{output}");
    }
    assert_eq!((&all[0]["requested"]["gpus"], &all[0]["actual"]["cpus"]), (&2.into(), &64.into()));
    cluster.root("rm ../games/scontrol").run().accepted();
}

fn ends(cluster: &Cluster) {
    let submit = |line: &str| {
        let output = user(cluster, line);
        output.stdout.split_whitespace().last().map(str::to_owned).expect("a job id")
    };
    by(cluster, &submit("sbatch --wait three.sh"), "job", "returned 3");
    by(cluster, &submit("sbatch --wait --wrap='kill -SEGV $$'"), "job", "SIGSEGV");
    by(cluster, &submit("sbatch --wait --wrap='kill -KILL $$'"), "cannot-be-told", "signal 9");
    let id = submit("sbatch --hold job.sh");
    user(cluster, &format!("scancel {id}")).accepted();
    by(cluster, &id, "job", "its owner");
    let id = submit("sbatch --hold job.sh");
    cluster.root(&format!("scancel {id}")).run().accepted();
    by(cluster, &id, "scheduler", "root, or Slurm itself");
    // Each task of an array and each component by itself, and all of them together.
    let id = submit("sbatch --wait --array=1-2 -o /dev/null --wrap='exit $((SLURM_ARRAY_TASK_ID - 1))'");
    by(cluster, &format!("{id}_1"), "job", "returned 0");
    by(cluster, &format!("{id}_2"), "job", "returned 1");
    let both = user(cluster, &format!("sluice job --format=json {id}")).accepted().stdout;
    assert_eq!(serde_json::from_str::<Vec<Value>>(&both).expect("a list").len(), 2, "{both}");
    let id = submit("sbatch --hold -n1 : -n1 job.sh");
    assert_eq!(told(cluster, &format!("{id}+1"))["job"], format!("{id}+1"));
    cluster.root("scancel -u games").run().accepted();
}

fn waiting(cluster: &Cluster) {
    let submit = |line: &str| user(cluster, line).accepted().job_id().to_string();
    let long = submit("sbatch --qos=one -o /dev/null --wrap='sleep 120'");
    assert!(until(SOON, || told(cluster, &long)["state"] == "RUNNING"));
    let running = told(cluster, &long);
    assert_eq!(
        (&running["why"], &running["times"]["end"], &running["exit"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    by(cluster, &submit("sbatch --qos=one job.sh"), "scheduler", "QOSMaxJobsPerUserLimit");
    let held = submit("sbatch --hold -p gpu -c2 job.sh");
    by(cluster, &held, "job", "JobHeldUser");
    let job = told(cluster, &held);
    assert_eq!((&job["requested"]["partition"], &job["actual"]["partition"]), (&"gpu".into(), &Value::Null));
    by(cluster, &submit(&format!("sbatch -d afterok:{long} job.sh")), "job", "Dependency");
    by(cluster, &submit("sbatch --begin=now+1hour job.sh"), "job", "BeginTime");
    by(cluster, &submit("sbatch -n64 --mem=100 job.sh"), "scheduler", "Resources");
    let other = submit("sbatch --begin=now+1hour job.sh");
    cluster.root(&format!("scontrol hold {other}")).run().accepted();
    by(cluster, &other, "scheduler", "JobHeldAdmin");
    cluster.root("scancel -u games").run().accepted();
    assert!(until(SOON, || cluster.queue().is_empty()), "{:?}", cluster.queue());
}

/// The lineage of a job that was accepted without more ado.
fn lineage(cluster: &Cluster) {
    let id = user(cluster, "sbatch --hold --lineage=commit=77,seed=5 job.sh").accepted().job_id().to_string();
    let records = || std::fs::read_to_string(cluster.path().join("records.jsonl")).unwrap_or_default();
    let recorded = |line: &str| {
        let record: Value = serde_json::from_str(line).unwrap_or_default();
        record["verdict"] == "accepted"
            && record["findings"] == serde_json::json!([])
            && record["request"]["lineage"] == "commit=77,seed=5"
    };
    assert!(until(SOON, || records().lines().any(recorded)), "{}", records());
    let job = told(cluster, &id);
    assert_eq!((&job["admin_comment"], &job["lifted"]), (&Value::Null, &serde_json::json!([])));
    let found = || told(cluster, &id)["lineage_from"] == "submit-line";
    assert!(until(SOON, found), "{}", told(cluster, &id));
    assert_eq!(told(cluster, &id)["lineage"], serde_json::json!({"commit": "77", "seed": "5"}));
    // One that states none leaves no record.
    let before = records().lines().count();
    user(cluster, "sbatch --hold job.sh").accepted();
    user(cluster, "sbatch --test-only --lineage=commit=78 job.sh");
    let id =
        user(cluster, "sbatch --hold --comment='lineage: commit=79' job.sh").accepted().job_id().to_string();
    assert!(until(SOON, || records().lines().count() > before));
    assert_eq!(records().lines().count(), before + 1, "{}", records());
    let job = told(cluster, &id);
    assert_eq!((&job["lineage"]["commit"], &job["lineage_from"]), (&"79".into(), &"comment".into()));
    cluster.root("scancel -u games").run().accepted();
}

fn compared(cluster: &Cluster) {
    let submit = |line: &str| user(cluster, line).accepted().job_id();
    let first = submit("sbatch --wait -n2 --comment='lineage: commit=1' --run-card=first.json job.sh");
    let second = submit("sbatch --wait -n2 --comment='lineage: commit=1' job.sh");
    let third = submit("sbatch --wait -n4 -t 30 --comment='lineage: commit=2' job.sh");
    let output = user(cluster, &format!("sluice compare {first} {second}")).accepted();
    assert_eq!(output.stdout, format!("{first} and {second}: no difference in shape and lineage\n"));
    let output = user(cluster, &format!("sluice compare {first} {third}")).refused();
    for (field, one, other) in
        [("requested cpus", "2", "4"), ("lineage commit", "1", "2"), ("actual cpus", "2", "4")]
    {
        let line = output.stdout.lines().find(|l| l.trim_start().starts_with(field)).unwrap_or_default();
        let values: Vec<&str> = line.split_whitespace().skip(2).collect();
        assert_eq!(values, [one, other], "{field}\n{output}");
    }
    let output = user(cluster, &format!("sluice compare --format=json {first} {third}")).refused();
    let json: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(json["same"], false);
    let array = submit("sbatch --wait --array=0-1 -o /dev/null job.sh");
    user(cluster, &format!("sluice compare {array}_0 {array}_1")).accepted();
    for (operands, why) in [
        (
            format!("{array} {first}"),
            format!("{array} is several jobs: name one, such as {array}_0, {array}_1"),
        ),
        (format!("{first} 99999"), "no such job".to_owned()),
        (format!("{first} job.sh"), "cannot read job.sh: it is no run card".to_owned()),
        (format!("nothing {first}"), "nothing is neither a job's id".to_owned()),
        (format!("/dev/zero {first}"), "cannot read /dev/zero: it is no run card".to_owned()),
    ] {
        let output = user(cluster, &format!("sluice compare {operands}"));
        assert!(output.status.code() == Some(2) && output.stderr.contains(&why), "{why}\n{output}");
    }
}

fn without(shared: &Shared) {
    let cluster = shared.spank();
    let id = user(cluster, "sbatch --hold -c2 job.sh").accepted().job_id();
    let job = told(cluster, &id.to_string());
    assert_eq!(
        (&job["state"], &job["reason"], &job["why"]["by"]),
        (&"PENDING".into(), &"JobHeldUser".into(), &"job".into())
    );
    assert_eq!((&job["requested"]["cpus"], &job["actual"]["cpus"]), (&2.into(), &Value::Null));
    let output = user(cluster, "sluice job 99999");
    let why = "sluice: error: no such job: slurmctld knows no job 99999, and there is no accounting\n";
    assert_eq!((output.status.code(), output.stderr.as_str()), (Some(2), why), "{output}");
    cluster.root("scancel -u games").run().accepted();
}
