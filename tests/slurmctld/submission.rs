//! The ordinary user with sbatch.

use crate::Case;
use crate::shared::Shared;
use crate::support::Requirement::Controller;

pub const CASES: &[Case] = &[
    ("a refusal tells every problem at once and queues nothing", Controller, refusal),
    ("the corrected command is accepted", Controller, corrected),
    ("a GPU job that says nothing about CPUs gets the default", Controller, filled_in),
    ("root is not refused", Controller, root),
];

fn refusal(shared: &Shared) {
    let cluster = shared.plain();
    let before = cluster.queue();
    let line = "sbatch --exclusive --gpus=4 -c 64 -p gpu --array=0-99 -o logs/train-%j.out job.sh";
    let output = cluster.user("games", line).run().refused();

    let reference = reference(&output.stderr);
    let expected = format!(
        "\
sbatch: error: Example Lab refuses this job: 3 problems
sbatch: error: [exclusive] --exclusive takes all 64 CPUs and 4 GPUs of each node; partition gpu shares its nodes
sbatch: error:   drop --exclusive
sbatch: error:   or say why it has to be: --comment='justify: ...' (10 characters or more)
sbatch: error: [cpus-per-gpu] 64 CPUs for 4 GPUs is 16 per GPU; partition gpu gives at most 8
sbatch: error:   use --cpus-per-task=32 or less, or use --cpus-per-gpu=8 or less instead of --cpus-per-task
sbatch: error: [array-logs] 100 array tasks write to logs/train-%j.out
sbatch: error:   use --output=logs/train-%A_%a.out
sbatch: error: more: sluice explain exclusive cpus-per-gpu array-logs, https://docs.example.org/slurm
sbatch: error:     (ref {reference})
sbatch: error: Batch job submission failed: Access/permission denied
"
    );
    assert_eq!(output.stderr, expected);
    assert_eq!(output.stdout, "");
    assert_eq!(cluster.queue(), before);
}

/// The eight hexadecimal digits that name the record of a decision.
pub fn reference(text: &str) -> String {
    let digits = text.split("(ref ").nth(1).and_then(|t| t.split(')').next()).unwrap_or("");
    let hex = digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    assert!(hex, "no reference in:\n{text}");
    digits.to_owned()
}

fn corrected(shared: &Shared) {
    let line = "sbatch --gpus=4 -c 32 -p gpu --array=0-99 -o logs/train-%A_%a.out job.sh";
    let output = shared.plain().user("games", line).run().accepted();
    assert_eq!(output.stderr, "");
    assert!(shared.plain().job(output.job_id(), "ArrayTaskId").is_some());
    shared.plain().root(&format!("scancel {}", output.job_id())).run().accepted();
}

fn filled_in(shared: &Shared) {
    let cluster = shared.plain();
    let output = cluster.user("games", "sbatch --hold --gpus=2 job.sh").run().accepted();
    assert_eq!(output.stderr, "sbatch: Example Lab filled in --cpus-per-gpu=4\n");
    assert_eq!(cluster.job(output.job_id(), "CpusPerTres").as_deref(), Some("gres:gpu:4"));

    let output = cluster.user("games", "sbatch --hold --gpus=2 -c 6 job.sh").run().accepted();
    assert_eq!(output.stderr, "");
    assert_eq!(cluster.job(output.job_id(), "CpusPerTres"), None);
}

fn root(shared: &Shared) {
    let output = shared.plain().root("sbatch --hold --exclusive --gpus=4 -c 64 job.sh").run().accepted();
    assert_eq!(output.stderr, "");
}
