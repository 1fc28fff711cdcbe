//! What `scontrol` and `sacctmgr` say, whatever it is; a policy is drafted of it and must load.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice::live::{Live, accounts, compare, config_value, draft, nodes, partitions, qos};
use sluice::policy::EXAMPLE;
use sluice_fuzz::policies;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.splitn(4, '\0');
    let mut part = || parts.next().unwrap_or("");
    let live = Live {
        name: config_value(&text, "ClusterName").map(str::to_owned),
        partitions: partitions(part(), "PreemptType = preempt/partition_prio"),
        nodes: nodes(part()),
        qos: Some(qos(part())),
        accounts: Some(accounts(part())),
    };
    let _ = draft(&live);
    let _ = compare("example", EXAMPLE, &policies()[0], &live);
});
