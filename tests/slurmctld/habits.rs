//! The rules of habits on a real slurmctld: what only it knows, or only it hands over.

use crate::Case;
use crate::shared::Shared;
use crate::support::Requirement::{Accounting, Controller};
use crate::support::{Cluster, Output};

pub const CASES: &[Case] = &[
    ("habits are told at the hook", Controller, habits),
    ("a probe is pointed to the short QoS that the user may use", Accounting, probe),
];

const POLICY: &str = r#"
schema = 1
[site]
name = "Example Lab"
[partition.gpu]
default = true
[partition.cpu]
[partition.spot]
preemptible = true
[qos.debug]
short = true
[rule.preemptible]
[rule.short-job]
mode = "warn"
[rule.wrap]
[rule.export-list]
[rule.dependency]
mode = "warn"
[rule.duplicate-submission]
[rule.lineage]
keys = ["commit"]
when = { given = ["job-name=traced"] }
"#;

fn cluster() -> crate::support::Builder {
    Cluster::builder()
        .policy(POLICY)
        .conf("JobRequeue=0")
        .partition("gpu", "Nodes=g[1-2] Default=YES")
        .partition("cpu", "Nodes=c1")
        .partition("spot", "Nodes=c1")
}

fn tells(output: &Output, text: &str) -> bool {
    output.stderr.contains(text)
}

fn habits(_: &Shared) {
    let cluster = cluster().slurmd().start();
    cluster.file_for_everyone("job.sh", "#!/bin/sh\ntrue\n");
    cluster.file_for_everyone("show.sh", "#!/bin/sh\necho \"layers=$LAYERS\"\n");
    let games = |line: &str| cluster.user("games", line).run();

    let output = games("sbatch --wrap=true").refused();
    assert!(tells(&output, "[wrap] --wrap runs an inline command"), "{output}");

    let output = games("sbatch --export=ALL,LAYERS=1,2,3 job.sh").refused();
    assert!(tells(&output, "[export-list] --export cuts the value of LAYERS"), "{output}");
    // The remedy is accepted, and the value arrives whole.
    games("sbatch --wait -o shown.txt --export='ALL,\"LAYERS=1,2,3\"' show.sh").accepted();
    let shown = std::fs::read_to_string(cluster.home("games").join("shown.txt")).expect("the job has run");
    assert_eq!(shown, "layers=1,2,3\n");

    let output = games("sbatch --hold -p spot --no-requeue job.sh").refused();
    assert!(tells(&output, "[preemptible] --no-requeue has Slurm cancel this job"), "{output}");
    let output = games("sbatch --hold -p spot -J soon job.sh").accepted();
    assert!(tells(&output, "Example Lab filled in --requeue"), "{output}");
    assert_eq!(cluster.job(output.job_id(), "Requeue").as_deref(), Some("1"));

    let output = games("sbatch -J traced job.sh").refused();
    assert!(tells(&output, "[lineage] no lineage is given"), "{output}");
    games("sbatch --hold -J traced --comment='lineage: commit=4f2a91c' job.sh").accepted();

    let array = games("sbatch --hold --array=0-9 -J shards job.sh").accepted().job_id();
    let single = games("sbatch --hold -J single job.sh").accepted().job_id();
    for whole in [format!("{array}"), format!("{array}_*"), format!("{single}:{array}")] {
        let output = games(&format!("sbatch --hold -J gather -d 'afterok:{whole}' job.sh")).accepted();
        assert!(tells(&output, &format!("once a task of array {array} fails")), "{output}");
    }
    for other in [format!("{array}_3"), format!("{single}")] {
        let output = games(&format!("sbatch --hold -J gather -d 'afterok:{other}' job.sh")).accepted();
        assert!(!tells(&output, "[dependency]"), "{output}");
    }

    // A test submits nothing; a submission is remembered, and so is none of another user's.
    games("sbatch --test-only -p gpu job.sh").accepted();
    let output = games("sbatch --hold -p cpu job.sh").accepted();
    assert!(!tells(&output, "duplicate-submission"), "{output}");
    let output = games("sbatch --hold -p gpu job.sh").accepted();
    assert!(tells(&output, "[duplicate-submission] the same job went to partition cpu"), "{output}");
    assert!(tells(&output, "use --partition=cpu,gpu"), "{output}");
    let output = games("sbatch --hold -p cpu,gpu job.sh").accepted();
    assert!(!tells(&output, "duplicate-submission"), "{output}");
    let output = cluster.user("man", "sbatch --hold -p gpu job.sh").run().accepted();
    assert!(!tells(&output, "duplicate-submission"), "{output}");
    cluster.root("scancel --state=pending").run().accepted();
}

fn probe(_: &Shared) {
    let cluster = cluster()
        .accounting(&[
            "add cluster sluice",
            "add qos debug",
            "add account bio",
            "add user games account=bio qos=normal,debug",
            "add user man account=bio qos=normal",
        ])
        .start();
    cluster.file_for_everyone("job.sh", "#!/bin/sh\ntrue\n");
    let line = "sbatch --hold -t 5 job.sh";
    let output = cluster.user("games", line).run().accepted();
    assert!(tells(&output, "--time=0:05:00 with the default QoS normal; QoS debug is for jobs"), "{output}");
    assert!(tells(&output, "use --qos=debug"), "{output}");
    let output = cluster.user("games", "sbatch --hold -t 5 --qos=debug job.sh").run().accepted();
    assert!(!tells(&output, "short-job"), "{output}");
    let output = cluster.user("man", line).run().accepted();
    assert!(!tells(&output, "short-job"), "{output}");
}
