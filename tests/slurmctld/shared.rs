//! The two clusters that most cases share, started when a case first asks for them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use libtest_mimic::Failed;

use crate::support::{Builder, Cluster};

/// The policy of both.
pub const POLICY: &str = include_str!("policy.toml");

/// Scripts that lie in every user's folder.
const SCRIPTS: &[(&str, &str)] = &[
    ("job.sh", "#!/bin/sh\ntrue\n"),
    ("whole.sh", include_str!("scripts/whole.sh")),
    ("array.sh", include_str!("scripts/array.sh")),
    ("quoted.sh", include_str!("scripts/quoted.sh")),
    ("het.sh", include_str!("scripts/het.sh")),
    ("late.sh", include_str!("scripts/late.sh")),
];

#[derive(Default)]
pub struct Shared {
    plain: OnceLock<Result<Cluster, String>>,
    accounted: OnceLock<Result<Cluster, String>>,
    updates: OnceLock<Result<Cluster, String>>,
    spank: OnceLock<Result<Cluster, String>>,
    failed: AtomicBool,
}

/// The partitions that the policy speaks of.
pub fn builder() -> Builder {
    Cluster::builder()
        .policy(POLICY)
        // Without it sbatch itself complains of --core-spec.
        .conf("AllowSpecResourcesUsage=YES")
        .partition("gpu", "Nodes=g[1-2] Default=YES")
        .partition("cpu", "Nodes=c1")
        .partition("soft", "Nodes=g[1-2]")
        .partition("exact", "Nodes=g[1-2]")
        .partition("whole", "Nodes=g[1-2] OverSubscribe=EXCLUSIVE")
        .partition("own", "Nodes=g[1-2]")
        .partition("lent", "Nodes=g[1-2]")
        .partition("lent2", "Nodes=g[1-2]")
}

impl Shared {
    /// Without accounting; jobs run.
    pub fn plain(&self) -> &Cluster {
        started(&self.plain, || builder().slurmd())
    }

    /// With accounting: `games` and `man` guest in the account bio, `news` belongs to physics, and
    /// `backup` to both.
    pub fn accounted(&self) -> &Cluster {
        started(&self.accounted, || {
            builder().accounting(&[
                "add cluster sluice",
                "add qos high,scavenger",
                "add account physics,bio",
                "add user games account=bio qos=normal,high,scavenger",
                "add user man account=bio qos=normal,high,scavenger defaultqos=high",
                "add user news account=physics qos=normal,high,scavenger",
                "add user backup account=bio qos=normal,high,scavenger",
                "add user backup account=physics qos=normal,high,scavenger",
            ])
        })
    }

    /// With accounting, for `scontrol update`.
    pub fn updates(&self) -> &Cluster {
        started(&self.updates, crate::updates::builder)
    }

    /// With the plugin in plugstack.conf; jobs run, on one node.
    pub fn spank(&self) -> &Cluster {
        started(&self.spank, crate::spank::builder)
    }

    /// Runs a case; after one that fails the clusters are kept for a person to look at.
    pub fn run(&self, case: fn(&Shared)) -> Result<(), Failed> {
        let outcome = catch_unwind(AssertUnwindSafe(|| case(self)));
        outcome.map_err(|_| {
            self.failed.store(true, Ordering::Relaxed);
            // The panic has said what and where.
            Failed::without_message()
        })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.failed.load(Ordering::Relaxed) {
            for cluster in [&mut self.plain, &mut self.accounted, &mut self.updates, &mut self.spank] {
                if let Some(Ok(cluster)) = cluster.get_mut() {
                    cluster.keep();
                }
            }
        }
    }
}

fn started(cell: &OnceLock<Result<Cluster, String>>, builder: impl FnOnce() -> Builder) -> &Cluster {
    let start = || {
        let cluster = builder().try_start()?;
        for (name, text) in SCRIPTS {
            cluster.file_for_everyone(name, text);
        }
        Ok(cluster)
    };
    cell.get_or_init(start).as_ref().unwrap_or_else(|e| panic!("{e}"))
}
