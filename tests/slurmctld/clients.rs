//! srun, salloc and het jobs: the same verdict under each client's own words.

use crate::Case;
use crate::shared::Shared;
use crate::submission::reference;
use crate::support::Requirement::Controller;

pub const CASES: &[Case] = &[
    ("srun is refused in its own words, and runs when it asks for less", Controller, srun),
    ("salloc is refused in its own words, and runs when it asks for less", Controller, salloc),
    ("each component of a het job is judged and named", Controller, het),
    ("a warning is told and the job runs", Controller, warning),
    ("a step inside a job is no submission", Controller, step),
];

fn srun(shared: &Shared) {
    let cluster = shared.plain();
    let output = cluster.user("games", "srun --gpus=1 -c 9 hostname").run().refused();
    assert_eq!(output.stdout, "");
    let lines = output.errors();
    assert_eq!(lines.first(), Some(&"srun: error: Example Lab refuses this job: 1 problem"), "{output}");
    assert_eq!(
        lines.last(),
        Some(&"srun: error: Unable to allocate resources: Access/permission denied"),
        "{output}"
    );
    assert_eq!(reference(&output.stderr).len(), 8);

    let output = cluster.user("games", "srun --gpus=1 echo ran").run().accepted();
    assert_eq!(output.stdout, "ran\n", "{output}");
    assert!(output.errors().contains(&"srun: Example Lab filled in --cpus-per-gpu=4"), "{output}");
}

fn salloc(shared: &Shared) {
    let cluster = shared.plain();
    let output = cluster.user("games", "salloc --exclusive -p cpu true").run().refused();
    let lines = output.errors();
    assert_eq!(lines.first(), Some(&"salloc: error: Example Lab refuses this job: 1 problem"), "{output}");
    assert_eq!(
        lines.last(),
        Some(&"salloc: error: Job submit/allocate failed: Access/permission denied"),
        "{output}"
    );

    let output = cluster.user("games", "salloc --gpus=2 echo inside").run().accepted();
    assert_eq!(output.stdout, "inside\n");
    assert!(output.errors().contains(&"salloc: Example Lab filled in --cpus-per-gpu=4"), "{output}");
}

fn het(shared: &Shared) {
    let cluster = shared.plain();
    let line = "sbatch -p cpu -n 1 : -p gpu --gpus=1 -c 9 : -p gpu --gpus=1 -c 8 job.sh";
    let output = cluster.user("games", line).run().refused();
    let first = output.errors().first().copied();
    assert_eq!(first, Some("sbatch: error: 1: Example Lab refuses this job: 1 problem"), "{output}");

    let line = "salloc -p cpu -n 1 : -p gpu --gpus=1 --exclusive true";
    let output = cluster.user("games", line).run().refused();
    assert!(output.stderr.contains("[exclusive]"), "{output}");

    let line = "srun -p cpu -n 1 hostname : -p gpu --gpus=1 -c 9 hostname";
    let output = cluster.user("games", line).run().refused();
    assert!(output.stderr.contains("[cpus-per-gpu]"), "{output}");
}

fn warning(shared: &Shared) {
    let cluster = shared.plain();
    let line = "sbatch --hold -p soft --array=0-1 -o one.log job.sh";
    let output = cluster.user("games", line).run().accepted();
    let expected = "sbatch: note: [array-logs] 2 array tasks write to one.log";
    assert_eq!(output.errors().first(), Some(&expected), "{output}");
    assert!(cluster.job(output.job_id(), "JobState").is_some());

    let quiet = cluster.user("games", &line.replace("sbatch", "sbatch --quiet")).run().accepted();
    assert_eq!(quiet.stderr, "");
}

/// Inside an allocation srun starts a step: there `--exclusive` asks for CPUs of its own.
fn step(shared: &Shared) {
    let line = "salloc -p cpu -n 2 srun --exclusive -n 1 echo step";
    let output = shared.plain().user("games", line).run().accepted();
    assert_eq!(output.stdout, "step\n", "{output}");
}
