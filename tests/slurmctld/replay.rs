//! Jobs that really ran, read back from a real slurmdbd by the real sacct: replay says of each what its
//! user read when it was submitted, or that it cannot tell.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::Case;
use crate::shared::Shared;
use crate::support::Requirement::Accounting;
use crate::support::{Cluster, Output, until};

pub const CASES: &[Case] =
    &[("past jobs are judged as they were when they were submitted", Accounting, replayed)];

const POLICY: &str = r#"
schema = 1
[site]
name = "Lab"
mode = "warn"
records = "RECORDS"
[partition.gpu]
default = true
gpu_types = ["a100"]
gpus_per_node = 4
cpus_per_node = 64
memory_per_node = "500G"
cpus_per_gpu = { default = 4, max = 8 }
memory_per_gpu = { max = "100G" }
[partition.cpu]
gpu_types = []
cpus_per_node = 64
memory_per_node = "500G"
[partition.lent]
gpu_types = ["a100"]
owner = { accounts = ["physics"] }
lent_qos = ["scavenger"]
[rule.qos-entitlement]
[rule.gpu-request]
[rule.exclusive]
justify = { min_length = 10 }
[rule.cpus-per-gpu]
[rule.memory-per-gpu]
[rule.time-limit]
[rule.array-logs]
[rule.wrap]
mode = "warn"
[[limit]]
name = "interactive"
when = { kind = ["interactive"] }
max_time = "0:10:00"
[[exempt]]
rules = ["wrap"]
users = ["man"]
until = 2099-12-31
reason = "a course"
"#;

/// Lines that accounting tells all of.
const TOLD: &[(&str, &str)] = &[
    ("games", "sbatch -J NAME -p gpu -N1 --gpus=2 -c 2 -t 5 --exclusive --wrap=true"),
    ("games", "srun -J NAME -p gpu --gpus=1 -c 12 -t 5 true"),
    ("games", "srun -J NAME -p cpu true"),
    ("games", "srun -J NAME -p cpu -t 30 true"),
    ("games", "sbatch -J NAME -p gpu -t 5 --wrap true"),
    ("games", "sbatch -J NAME -N1 --gpus=1 -t 5 --mem 1G --wrap 'sleep 0'"),
    ("games", "sbatch -J NAME -p cpu -t 5 --mem=0 --comment='justify: a benchmark of memory' --wrap true"),
    ("games", "sbatch -J NAME -p cpu -t 5 --array=0-2%1 -o one.log --wrap true"),
    ("games", "sbatch -J NAME -p cpu -t 5 --array=0-2 -o log-%A_%a --wrap true"),
    ("games", "srun -J NAME -p cpu -t 5 -n1 : -J NAME -p gpu --gpus=1 -c 20 true"),
    ("games", "salloc -J NAME -p cpu -t 5 --exclusive true"),
    ("games", "sbatch -J NAME -p lent --gpus=1 -c1 --qos=high -t 5 --wrap true"),
    ("games", "sbatch -J NAME -p lent --gpus=1 -c1 --qos=scavenger -t 5 --wrap true"),
    ("news", "sbatch -J NAME -p lent --gpus=1 -c1 -t 5 --wrap true"),
    ("man", "sbatch -J NAME -p cpu -t 5 --wrap true"),
    ("man", "srun -J NAME -p gpu --gpus=1 -c 1 --mem=200G -t 5 true"),
];

/// Lines whose script may say more.
const OPEN: &[(&str, &str)] = &[
    ("games", "sbatch -J NAME -p gpu --gpus=1 -c 32 -t 5 job.sh"),
    ("games", "sbatch -J NAME -p cpu -t 5 --exclusive job.sh"),
    ("games", "sbatch -J NAME -p cpu job.sh"),
    ("games", "sbatch -J NAME said.sh"),
    ("games", "sbatch -J NAME -p cpu --array=0-1 -t 5 logs.sh"),
];

const SAID: &str =
    "#!/bin/sh\n#SBATCH --partition=gpu --gpus=1 --cpus-per-task=16 --time=5 --exclusive\ntrue\n";
const LOGS: &str = "#!/bin/sh\n#SBATCH --output=one.log\ntrue\n";

/// What docs and help recommend.
/// As the manual says.
fn sacct() -> String {
    let format = sluice::replay::FORMAT;
    format!(
        "sacct --allusers --allocations --parsable2 --delimiter=\"$(printf '\\037')\" \
         --starttime=now-1hour --endtime=now+1hour --format={format}"
    )
}

fn builder() -> Cluster {
    let cluster = Cluster::builder()
        .policy(&POLICY.replace("records = \"RECORDS\"\n", ""))
        .conf("AccountingStoreFlags=job_comment")
        .partition("gpu", "Nodes=g[1-2] Default=YES")
        .partition("cpu", "Nodes=c1")
        .partition("lent", "Nodes=g[1-2]")
        .accounting(&[
            "add cluster sluice",
            "add qos high,scavenger",
            "add account physics,bio",
            "add user games account=bio qos=normal,high,scavenger",
            "add user man account=bio qos=normal,high,scavenger",
            "add user news account=physics qos=normal,high,scavenger",
        ])
        .slurmd()
        .start();
    for (name, text) in [("job.sh", "#!/bin/sh\ntrue\n"), ("said.sh", SAID), ("logs.sh", LOGS)] {
        cluster.file_for_everyone(name, text);
    }
    cluster
}

/// The rules that a user reads of, and whether something was filled in.
fn told(output: &Output) -> (BTreeSet<String>, bool) {
    let rules = output.stderr.lines().filter_map(|line| {
        let (_, rest) = line.split_once("note: [")?;
        Some(rest.split_once(']')?.0.to_owned())
    });
    (rules.collect(), output.stderr.contains(" filled in "))
}

/// The rules for which a count of the report is not zero.
fn rules(report: &Value, count: &str) -> BTreeSet<String> {
    let rules = report["rules"].as_array().expect("rules");
    let counted = rules.iter().filter(|r| r[count].as_u64().is_some_and(|n| n > 0));
    counted.filter_map(|r| Some(r["rule"].as_str()?.to_owned())).collect()
}

fn replay(cluster: &Cluster, file: &Path) -> Value {
    let line = format!(
        "sluice replay --slurm 22.05 --policy {} --format json {}",
        cluster.policy_path().display(),
        file.display()
    );
    let output = cluster.root(&line).run();
    serde_json::from_str(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output}"))
}

fn replayed(_: &Shared) {
    let cluster = builder();
    let records = cluster.path().join("records");
    cluster.write_policy(&POLICY.replace("RECORDS", &records.display().to_string()));
    let in_force = || cluster.log().matches(" is in force: ").count() > 1;
    assert!(until(Duration::from_secs(5), in_force), "{}", cluster.log());

    let mut submitted = Vec::new();
    for (number, (user, line)) in TOLD.iter().chain(OPEN).enumerate() {
        let name = format!("r{number}");
        let output = cluster.user(user, &line.replace("NAME", &name)).run().accepted();
        submitted.push((name, number >= TOLD.len(), told(&output), output));
    }
    assert!(until(Duration::from_secs(60), || cluster.queue().is_empty()), "{:?}", cluster.queue());
    // slurmdbd hears of it a moment later.
    let accounted = || cluster.root(&sacct()).run().accepted().stdout;
    let ended = |text: &str| {
        let states = ["PENDING", "RUNNING", "Unknown"];
        submitted.iter().all(|(name, ..)| text.contains(&format!("\u{1f}{name}\u{1f}")))
            && !text.split('\u{1f}').any(|field| states.contains(&field))
    };
    assert!(until(Duration::from_secs(30), || ended(&accounted())), "{}", accounted());
    let text = accounted();
    let (header, rows) = text.split_once('\n').expect("a header");

    let file = cluster.path().join("one-job");
    for (name, open, (rules_told, filled_in), output) in &submitted {
        let of_job = rows.lines().filter(|row| row.split('\u{1f}').any(|field| field == name));
        let lines: Vec<&str> = std::iter::once(header).chain(of_job).collect();
        std::fs::write(&file, lines.join("\n")).expect("the file can be written");
        let report = replay(&cluster, &file);
        let context = || format!("{output}\n{}\n{report:#}", lines.join("\n"));
        assert_eq!(report["total"]["jobs"], 1, "{}", context());
        let (warned, open_rules) = (rules(&report, "warned"), rules(&report, "cannot_tell"));
        if !open {
            assert_eq!(&warned, rules_told, "{}", context());
            assert!(open_rules.is_empty(), "{}", context());
            assert_eq!(!rules(&report, "edited").is_empty(), *filled_in, "{}", context());
            continue;
        }
        assert!(warned.is_subset(rules_told), "{}", context());
        let covered: BTreeSet<String> = warned.union(&open_rules).cloned().collect();
        assert!(rules_told.is_subset(&covered), "{}", context());
    }

    // All of it together, and what lifts a rule.
    std::fs::write(&file, &text).expect("the file can be written");
    let report = replay(&cluster, &file);
    assert_eq!(report["total"]["jobs"].as_u64(), Some(submitted.len() as u64), "{report:#}");
    let rule = |name: &str| {
        let rules = report["rules"].as_array().expect("rules").clone();
        rules.into_iter().find(|r| r["rule"] == name).unwrap_or_default()
    };
    assert_eq!(
        (&rule("exclusive")["justified"], &rule("wrap")["exempt"]),
        (&1.into(), &1.into()),
        "{report:#}"
    );
    assert_eq!(rule("array-logs")["warned"], 1, "{report:#}");
    assert!(rule("array-logs")["cannot_tell"].as_u64() >= Some(1), "{report:#}");

    of_records(&cluster, &records);
    if let Some(folder) = std::env::var_os("SLUICE_RECORD") {
        let folder = Path::new(&folder);
        std::fs::write(folder.join("sacct.txt"), &text).expect("the file can be written");
        std::fs::copy(&records, folder.join("records.jsonl")).expect("the file can be written");
    }
}

/// The plugin's own records are judged as they were.
fn of_records(cluster: &Cluster, file: &Path) {
    let read = || {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.lines().map(|l| serde_json::from_str(l).expect("a line of JSON")).collect::<Vec<Value>>()
    };
    assert!(until(Duration::from_secs(5), || read().len() > 10), "{:?}", read());
    std::thread::sleep(Duration::from_millis(600));
    let all = read();
    let report = replay(cluster, file);
    let submissions = all.iter().filter(|r| r["kind"] == "submit").count();
    assert_eq!(report["total"]["jobs"].as_u64(), Some(submissions as u64), "{report:#}");
    for rule in report["rules"].as_array().expect("rules") {
        for (outcome, count) in [("warned", "warned"), ("justified", "justified"), ("exempt", "exempt")] {
            let is = |finding: &&Value| finding["rule"] == rule["rule"] && finding["outcome"] == outcome;
            let has = |r: &&Value| r["findings"].as_array().is_some_and(|f| f.iter().any(|f| is(&f)));
            let recorded = all.iter().filter(|r| r["kind"] == "submit").filter(has).count();
            // Whose QoS is a default one is not in a record where no rule had to look it up.
            assert_eq!(
                rule[count].as_u64(),
                Some(recorded as u64),
                "{}: {outcome}\n{report:#}",
                rule["rule"]
            );
        }
    }
}
