//! The recorded job descriptions: what sbatch, srun and salloc of 22.05.8 sent for real command lines.

use serde_json::{Map, Value};

use crate::job::{Job, NUMBERS, TEXTS};
use crate::plugin::Stubs;

const RECORDED: &str = include_str!("../../tests/vectors/clients-22.05.8.jsonl");

/// The submissions that are timed: a name, and what is set besides what sbatch sends anyhow.
pub const NAMED: &[(&str, &[(&str, &str)])] = &[
    ("accepted, no GPUs", &[("partition", "cpu"), ("time_limit", "60")]),
    (
        "accepted, GPUs",
        &[
            ("partition", "gpu"),
            ("time_limit", "60"),
            ("tres_per_job", "gres:gpu:1"),
            ("cpus_per_tres", "gres:gpu:4"),
            ("mem_per_tres", "gres:gpu:61440"),
        ],
    ),
    (
        "accepted, CPUs filled in",
        &[("partition", "gpu"), ("time_limit", "60"), ("tres_per_job", "gres:gpu:1")],
    ),
    (
        "refused, 4 findings",
        &[
            ("partition", "gpu"),
            ("time_limit", "60"),
            ("tres_per_job", "gres:gpu:4"),
            ("cpus_per_task", "64"),
            ("min_cpus", "64"),
            ("pn_min_cpus", "64"),
            ("pn_min_memory", "0"),
            ("shared", "0"),
            ("array_inx", "0-9"),
            ("std_out", "/home/u/x"),
        ],
    ),
];

/// A submission of `uid` with these fields.
pub fn named(stubs: Stubs, fields: &[(&str, &str)]) -> Job {
    let mut job = ordinary(stubs);
    for (field, value) in fields {
        set(&mut job, field, &Value::from(*value));
    }
    job
}

/// What every submission of sbatch has.
fn ordinary(stubs: Stubs) -> Job {
    Job::by(stubs, 1001)
        .text("work_dir", "/home/u")
        .text("std_in", "/dev/null")
        .text("name", "train.sh")
        .text("script", "#!/bin/bash\n#SBATCH --time=60\nsrun python train.py\n")
}

/// Every recorded command line with the job it became; an ordinary user's instead of root's.
pub fn recorded(stubs: Stubs) -> Vec<(String, Job)> {
    let mut jobs = Vec::new();
    for line in RECORDED.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let argv: Vec<&str> = record["argv"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        for sent in record["sent"].as_array().into_iter().flatten() {
            let mut job = Job::by(stubs, 1001);
            job.clear("script");
            fill(&mut job, sent.as_object().unwrap());
            jobs.push((argv.join(" "), job));
        }
    }
    jobs
}

fn fill(job: &mut Job, fields: &Map<String, Value>) {
    for (field, value) in fields {
        if !["uid", "user_id", "group_id"].contains(&field.as_str()) {
            set(job, field, value);
        }
    }
}

fn set(job: &mut Job, field: &str, value: &Value) {
    if TEXTS.iter().any(|(name, _)| *name == field) {
        job.set_bytes(field, value.as_str().unwrap_or_default().as_bytes());
    } else if NUMBERS.iter().any(|(name, _)| *name == field) && field != "env_size" && field != "argc" {
        let number = value.as_u64().or_else(|| value.as_str().and_then(|t| t.parse().ok()));
        job.set_number(field, number.unwrap_or_else(|| panic!("{field}={value}")));
    }
}
