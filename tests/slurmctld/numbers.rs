//! The rules of numbers and a site's own limits on a real slurmctld: refused in one spelling, accepted
//! in the nearest that is allowed.

use crate::Case;
use crate::shared::Shared;
use crate::support::Cluster;
use crate::support::Requirement::Controller;

pub const CASES: &[Case] = &[("numbers are judged at the hook", Controller, numbers)];

const POLICY: &str = r#"
schema = 1
[site]
name = "Example Lab"
confirm = true
[partition.gpu]
gpu_types = ["a100"]
gpus_per_node = 4
cpus_per_node = 64
memory_per_node = "500G"
memory_per_gpu = { default = "60G", max = "120G" }
max_time = "2-00:00:00"
[partition.cpu]
gpu_types = []
[rule.gpu-request]
[rule.memory-per-gpu]
[[rule.explicit-shape]]
require = ["time"]
when = { account = ["strict"] }
[[rule.explicit-shape]]
when = { gpus = "2-" }
[rule.time-limit]
[rule.array-size]
max_tasks = 1000
throttle_from = 100
[[limit]]
name = "few-nodes"
max_nodes = 4
[[limit]]
name = "sessions"
when = { kind = ["interactive"] }
max_time = "4:00:00"
why = "long sessions keep GPUs idle"
"#;

fn numbers(_: &Shared) {
    let cluster = Cluster::builder()
        .policy(POLICY)
        .conf("MaxArraySize=5000")
        .partition("gpu", "Nodes=g[1-2] Default=YES")
        .partition("cpu", "Nodes=c1")
        .start();
    cluster.file_for_everyone("job.sh", "#!/bin/sh\ntrue\n");
    let games = |line: &str| cluster.user("games", line).run();
    let refused = |line: &str, texts: &[&str]| {
        let output = games(line).refused();
        for text in texts {
            assert!(output.stderr.contains(text), "{line}: {text}\n{output}");
        }
    };

    refused("sbatch --hold -t 60 job.sh", &["[gpu-request]", "partition gpu"]);
    refused("sbatch --hold -t 60 --gres=gpu:0 job.sh", &["[gpu-request] the job requests 0 GPUs"]);
    refused(
        "sbatch --hold -t 60 -p cpu --gpus=1 job.sh",
        &["[gpu-request] the job requests 1 GPU; partition cpu has none", "drop --gpus"],
    );
    let plain = games("sbatch --hold -t 60 -p cpu job.sh").accepted();
    let shape = "Example Lab understands: 1 node, 1 CPU, 1:00:00 in partition cpu";
    assert!(plain.stderr.contains(shape), "{plain}");

    refused(
        "sbatch --hold -t 60 --gpus=1 --mem=200G job.sh",
        &[
            "[memory-per-gpu] 200G for 1 GPU is 200G per GPU; partition gpu gives at most 120G",
            "use --mem=120G or less",
        ],
    );
    games("sbatch --hold -t 60 --gpus=1 --mem=120G job.sh").accepted();
    let filled = games("sbatch --hold -t 60 --gpus=1 job.sh").accepted();
    assert!(filled.stderr.contains("Example Lab filled in --mem-per-gpu=60G"), "{filled}");
    let memory = cluster.job(filled.job_id(), "MemPerTres");
    assert_eq!(memory.as_deref(), Some("gres:gpu:61440"));

    refused("sbatch --hold -t 60 --gpus=4 job.sh", &["[explicit-shape] --gpus=4 may be on one node or on 4"]);
    games("sbatch --hold -t 60 --gpus=4 --nodes=1 job.sh").accepted();

    refused("sbatch --hold --gpus=1 job.sh", &["[time-limit]", "Time limit specification required"]);
    refused(
        "sbatch --hold --gpus=1 -t 3-0 job.sh",
        &["[time-limit] --time=3-00:00:00", "use --time=2-00:00:00 or less"],
    );
    games("sbatch --hold --gpus=1 -t 2-0 job.sh").accepted();

    refused("sbatch --hold --gpus=1 -t 60 --array=0-199 job.sh", &["[array-size]", "%"]);
    refused("sbatch --hold --gpus=1 -t 60 --array=0-1999%10 job.sh", &["[array-size]", "1000"]);
    games("sbatch --hold --gpus=1 -t 60 --array=0-199%50 job.sh").accepted();

    refused("sbatch --hold -p cpu -t 60 -N5 job.sh", &["[few-nodes] 5 nodes; the site allows at most 4"]);
    refused(
        "salloc -p cpu -t 8:00:00 true",
        &["[sessions]", "long sessions keep GPUs idle", "use --time=4:00:00"],
    );
    cluster.root("scancel --state=pending").run().accepted();
}
