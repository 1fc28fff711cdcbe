//! `make install` over the `.so` that slurmctld has loaded.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::Case;
use crate::shared::Shared;
use crate::support::Requirement::Controller;
use crate::support::{Cluster, plugin};

pub const CASES: &[Case] = &[(
    "make install replaces the plugin of a running slurmctld, which goes on with the one that it has",
    Controller,
    replaced,
)];

const POLICY: &str = "schema = 1\n[site]\nname = \"Lab\"\n[rule.exclusive]\n";

#[track_caller]
fn refuses(cluster: &Cluster) {
    let output = cluster.user("games", "sbatch --exclusive --wrap true").run().refused();
    assert!(output.stderr.contains("Lab refuses this job"), "{output}");
}

fn replaced(_: &Shared) {
    let mut cluster =
        Cluster::builder().nodes(&["c1"]).partition("cpu", "Nodes=c1 Default=YES").policy(POLICY).start();
    refuses(&cluster);
    let folder = cluster.path().to_owned();
    let loaded = folder.join("plugins/job_submit_sluice.so");
    let inode = |path: &Path| path.metadata().expect("it is there").ino();
    let (before, daemon) = (inode(&loaded), cluster.controller_pid());

    // As after a new build: another content, so that a file written in place would be felt.
    let mut built = std::fs::read(plugin().expect("it is built")).expect("it can be read");
    built.extend_from_slice(&[0; 8192]);
    std::fs::write(folder.join("new.so"), built).expect("it can be written");
    let install = format!(
        "make -C {} --no-print-directory install PLUGIN={}/new.so COMMAND=/bin/true PREFIX={}/usr PLUGINDIR={}/plugins",
        env!("CARGO_MANIFEST_DIR"),
        folder.display(),
        folder.display(),
        folder.display(),
    );
    let output = cluster.root(&install).run().accepted();
    assert!(output.stdout.contains("is for Slurm"), "{output}");
    assert_ne!(inode(&loaded), before, "the loaded file was written in place");
    refuses(&cluster);
    let maps = std::fs::read_to_string(format!("/proc/{daemon}/maps")).expect("slurmctld runs");
    let deleted = |line: &str| line.contains("job_submit_sluice.so") && line.ends_with("(deleted)");
    assert!(maps.lines().any(deleted), "slurmctld has not kept the old file:\n{maps}");

    // The new one is what a restart loads.
    cluster.restart_controller();
    refuses(&cluster);
}
