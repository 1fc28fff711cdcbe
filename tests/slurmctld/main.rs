//! Sluice in a real slurmctld: what users type and what they read.
//!
//! The cases run one after the other against two clusters that they share, one of them with
//! accounting, and against clusters of their own where they break something.
#![forbid(unsafe_code)]

mod support;

use support::{Cluster, Plugin};

fn main() {
    let missing = support::missing(support::Requirement::Accounting);
    println!("missing: {missing:?}");
    let t = std::time::Instant::now();
    let cluster = Cluster::builder()
        .plugin(Plugin::None)
        .partition("gpu", "Nodes=g[1-2] Default=YES")
        .partition("cpu", "Nodes=c1")
        .slurmd()
        .start();
    println!("{:?}", t.elapsed());
    cluster.file_for_everyone("job.sh", "#!/bin/sh\ntrue\n");
    println!("{}", cluster.user("games", "sbatch --gpus=4 -c 64 job.sh").run());
    println!("{}", cluster.user("games", "sbatch --test-only --gpus=4 -c 64 --qos=high job.sh").run());
    println!("{}", cluster.user("games", "sbatch --gpus=4 -c 64 --qos=high -A foo job.sh").run());
    println!("{}", cluster.user("games", "srun --gpus=4 env").run());
    println!("{}", cluster.user("games", "salloc -N2 --gpus=4 hostname").run());
    println!("{}", cluster.user("games", "sleep 100; echo bla").within(std::time::Duration::from_millis(100)).try_run().unwrap_err());
    println!("{:?}", t.elapsed());
    drop(cluster);
    println!("{:?}", t.elapsed());
    let cluster = Cluster::builder()
        .plugin(Plugin::None)
        .partition("gpu", "Nodes=g[1-2] Default=YES")
        .accounting(&["add cluster sluice", "add qos high,scavenger", "add account physics,bio", "add user games account=bio qos=normal,high,scavenger defaultqos=high"])
        .start();
    println!("{:?}", t.elapsed());
    println!("{}", cluster.user("games", "hostname > a; sbatch --gpus=4 -c 64 --wrap hostname").run());
    println!("{}", cluster.root("squeue -O UserName,qos,account").run());
    panic!("x");
}
