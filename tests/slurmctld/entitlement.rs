//! Who may use a lent partition under which QoS, with accounts and QoS from a real slurmdbd.

use crate::Case;
use crate::doors::{checker, client};
use crate::shared::Shared;
use crate::support::Output;
use crate::support::Requirement::Accounting;

pub const CASES: &[Case] = &[
    ("a guest with a high QoS is refused", Accounting, high),
    ("a guest with a high QoS is refused inside a partition list", Accounting, list),
    ("a guest without a QoS gets the lent one", Accounting, filled_in),
    ("a default QoS that is too high counts like a typed one", Accounting, default_qos),
    ("the owner is known by the default account", Accounting, owner),
    ("an account that is only typed makes nobody an owner", Accounting, typed),
    ("of two accounts the one in use counts", Accounting, two_accounts),
    ("the command agrees where it is told the user's accounts", Accounting, command),
];

fn entitled(output: &Output) -> bool {
    !output.stderr.contains("[qos-entitlement]")
}

fn high(shared: &Shared) {
    let output = shared.accounted().user("games", "sbatch -p lent --qos=high job.sh").run().refused();
    assert!(!entitled(&output), "{output}");
    assert_eq!(
        output.errors().last(),
        Some(&"sbatch: error: Batch job submission failed: Invalid qos specification"),
        "{output}"
    );
    assert!(output.stderr.contains("use --qos=scavenger"), "{output}");
}

fn list(shared: &Shared) {
    let cluster = shared.accounted();
    let output = cluster.user("games", "sbatch -p own,lent --qos=high job.sh").run().refused();
    assert!(!entitled(&output), "{output}");
    assert!(output.stderr.contains("partition lent "), "{output}");
    assert!(output.stderr.contains("drop lent from --partition"), "{output}");
    cluster.user("games", "sbatch --hold -p own --qos=high job.sh").run().accepted();
}

fn filled_in(shared: &Shared) {
    let cluster = shared.accounted();
    let output = cluster.user("games", "sbatch --hold -p lent job.sh").run().accepted();
    assert_eq!(output.stderr, "sbatch: Example Lab filled in --qos=scavenger\n");
    assert_eq!(cluster.job(output.job_id(), "QOS").as_deref(), Some("scavenger"));
}

fn default_qos(shared: &Shared) {
    let cluster = shared.accounted();
    // Alone it is put right; in a list where it may not be, it is told.
    let output = cluster.user("man", "sbatch --hold -p lent job.sh").run().accepted();
    assert_eq!(cluster.job(output.job_id(), "QOS").as_deref(), Some("scavenger"));
    let output = cluster.user("man", "sbatch -p gpu,lent job.sh").run().refused();
    assert!(output.stderr.contains("the default high is not for guests"), "{output}");
    let output = cluster.user("man", "sbatch --hold -p gpu job.sh").run().accepted();
    assert_eq!(cluster.job(output.job_id(), "QOS").as_deref(), Some("high"));
}

fn owner(shared: &Shared) {
    let cluster = shared.accounted();
    for (line, qos) in [
        ("sbatch --hold -p lent job.sh", "normal"),
        ("sbatch --hold -p lent --qos=high job.sh", "high"),
        ("sbatch --hold -p gpu,lent --qos=high job.sh", "high"),
    ] {
        let output = cluster.user("news", line).run().accepted();
        assert_eq!(output.stderr, "", "{output}");
        assert_eq!(cluster.job(output.job_id(), "QOS").as_deref(), Some(qos), "{output}");
    }
}

fn typed(shared: &Shared) {
    let output = shared.accounted().user("games", "sbatch -p lent -A physics --qos=high job.sh").run();
    assert!(!entitled(&output.refused()));
}

fn two_accounts(shared: &Shared) {
    let cluster = shared.accounted();
    let output = cluster.user("backup", "sbatch -p lent --qos=high job.sh").run().refused();
    assert!(!entitled(&output), "{output}");
    assert!(output.stderr.contains("use --account=physics"), "{output}");
    let line = "sbatch --hold -p lent --qos=high --account=physics job.sh";
    let output = cluster.user("backup", line).run().accepted();
    assert_eq!(cluster.job(output.job_id(), "Account").as_deref(), Some("physics"));
    // Accounts are compared without regard to case, as Slurm does.
    cluster.user("backup", &line.replace("physics", "PHYSICS")).run().accepted();
}

fn command(shared: &Shared) {
    let cluster = shared.accounted();
    for (user, accounts, line) in [
        ("games", "--account=bio", "sbatch -p lent --qos=high job.sh"),
        ("games", "--account=bio", "sbatch -p own,lent --qos=high job.sh"),
        ("games", "--account=bio", "sbatch --hold -p lent job.sh"),
        ("games", "--account=bio", "sbatch -p lent -A physics --qos=high job.sh"),
        ("man", "--account=bio --default-qos=high", "sbatch --hold -p lent job.sh"),
        ("man", "--account=bio --default-qos=high", "sbatch -p gpu,lent job.sh"),
        ("news", "--account=physics --default-qos=normal", "sbatch --hold -p lent job.sh"),
        ("news", "--account=physics --default-qos=normal", "sbatch --hold -p lent --qos=high job.sh"),
        ("backup", "--account=bio --account=physics", "sbatch -p lent --qos=high job.sh"),
        ("backup", "--account=bio --account=physics", "sbatch --hold -p lent --qos=high -A physics job.sh"),
    ] {
        let submitted = cluster.user(user, line).run();
        let checked = cluster.user(user, &format!("sluice check {accounts} -- {line}")).run();
        assert_eq!(Some(client(&submitted)), checker(&checked), "{submitted}\n{checked}");
    }
}
