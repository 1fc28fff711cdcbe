//! The policy file: broken, missing or strange, it never stops slurmctld; changed, it soon holds.

use std::time::{Duration, Instant};

use crate::Case;
use crate::shared::Shared;
use crate::support::Requirement::Controller;
use crate::support::{Builder, Cluster, until};

pub const CASES: &[Case] = &[
    ("slurmctld starts whatever lies where the policy should be, and jobs pass", Controller, starts),
    ("a policy that is put right comes into force without a restart", Controller, put_right),
    ("a changed policy is in force within two seconds", Controller, changed),
    ("a policy that breaks or vanishes replaces no good one and is reported once", Controller, kept),
];

const STRICT: &str = "schema = 1\n[site]\nname = \"Strict\"\n[rule.exclusive]\n";
const LENIENT: &str = "schema = 1\n[site]\nname = \"Lenient\"\n";
const BROKEN: &str = "schema = 1\n[site]\nname = \"Broken\"\n[rule.exclusiv]\n";
/// What the log says of it.
const BROKEN_PLACE: &str = "sluice.toml:4:";

/// How long a change may take.
const SOON: Duration = Duration::from_secs(2);

fn small() -> Builder {
    Cluster::builder().nodes(&["c1"]).partition("cpu", "Nodes=c1 Default=YES")
}

fn refuses(cluster: &Cluster) -> bool {
    let output = cluster.user("games", "sbatch --test-only --exclusive --wrap true").run();
    output.stderr.contains("refuses this job")
}

/// No policy is in force, and the log says why.
#[track_caller]
fn passes(cluster: &Cluster, why: &str) {
    let output = cluster.user("games", "sbatch --hold --exclusive --wrap true").run().accepted();
    assert_eq!(output.stderr, "", "{output}");
    // The policy is loaded beside the start, not before it.
    assert!(until(SOON, || cluster.log().contains(why)), "no `{why}` in\n{}", cluster.log());
    cluster.user("games", "sbatch --hold --exclusive --wrap true").run().accepted();
}

fn starts(_: &Shared) {
    let mut cluster = small().start();
    let path = cluster.policy_path();
    passes(&cluster, "sluice.toml");

    cluster.write_policy(BROKEN);
    cluster.restart_controller();
    passes(&cluster, BROKEN_PLACE);

    std::fs::remove_file(&path).expect("the policy is there");
    std::fs::create_dir(&path).expect("a folder can stand there");
    cluster.restart_controller();
    passes(&cluster, "sluice.toml");

    std::fs::remove_dir(&path).expect("the folder is there");
    cluster.root(&format!("mkfifo {}", path.display())).run().accepted();
    cluster.restart_controller();
    passes(&cluster, "sluice.toml");

    std::fs::remove_file(&path).expect("the pipe is there");
    std::fs::write(&path, [0xff, 0xfe, 0x00]).expect("the policy can be written");
    cluster.restart_controller();
    passes(&cluster, "sluice.toml");

    // As sudo does with sudoers: what others can write is nobody's policy.
    cluster.write_policy(STRICT);
    cluster.root(&format!("chmod 666 {}", path.display())).run().accepted();
    cluster.restart_controller();
    passes(&cluster, "sluice.toml");
}

fn put_right(_: &Shared) {
    let cluster = small().policy(BROKEN).start();
    passes(&cluster, BROKEN_PLACE);
    cluster.write_policy(STRICT);
    assert!(until(SOON, || refuses(&cluster)), "{}", cluster.log());
}

fn changed(_: &Shared) {
    let cluster = small().policy(LENIENT).start();
    assert!(!refuses(&cluster));
    for (policy, refused) in [(STRICT, true), (LENIENT, false), (STRICT, true)] {
        cluster.write_policy(policy);
        let started = Instant::now();
        assert!(until(2 * SOON, || refuses(&cluster) == refused), "{}", cluster.log());
        let took = started.elapsed();
        assert!(took <= SOON, "the change took {took:?}");
    }
}

fn kept(_: &Shared) {
    let cluster = small().policy(STRICT).start();
    assert!(until(SOON, || refuses(&cluster)), "{}", cluster.log());
    let reports = || cluster.log().lines().filter(|l| l.contains("sluice.toml")).count();

    cluster.write_policy(BROKEN);
    assert!(until(2 * SOON, || cluster.log().contains(BROKEN_PLACE)), "{}", cluster.log());
    assert!(refuses(&cluster));

    let before = reports();
    std::fs::remove_file(cluster.policy_path()).expect("the policy is there");
    assert!(until(2 * SOON, || reports() > before), "{}", cluster.log());
    assert!(refuses(&cluster));
    // By now the broken one was looked at several times.
    assert_eq!(cluster.log().matches(BROKEN_PLACE).count(), 1, "{}", cluster.log());
}
