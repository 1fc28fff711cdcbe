//! The same `.so` in plugstack.conf.

use crate::Case;
use crate::shared::{Shared, builder};
use crate::support::Requirement::Controller;

pub const CASES: &[Case] =
    &[("the plugin in plugstack.conf leaves sbatch, srun and salloc working", Controller, works)];

fn works(_: &Shared) {
    let cluster = builder().slurmd().spank().start();
    cluster.file_for_everyone("job.sh", "#!/bin/sh\necho from the job; srun echo from the step\n");
    let output = cluster.user("games", "sbatch --wait -p cpu -o out.txt job.sh").run().accepted();
    assert_eq!(output.stderr, "", "{output}");
    let out = std::fs::read_to_string(cluster.home("games").join("out.txt")).unwrap_or_default();
    assert_eq!(out, "from the job\nfrom the step\n");
    let output = cluster.user("games", "srun -p cpu echo from srun").run().accepted();
    assert_eq!(output.stdout, "from srun\n", "{output}");
    let output = cluster.user("games", "salloc -p cpu srun echo from salloc").run().accepted();
    assert_eq!(output.stdout, "from salloc\n", "{output}");
    let output = cluster.user("games", "sbatch -p cpu --exclusive job.sh").run().refused();
    assert!(output.stderr.contains("[exclusive]"), "{output}");
}
