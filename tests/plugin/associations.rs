//! Defaults and entitlement from the association cache: default QoS, default account, associations
//! for one partition.

use crate::job::Job;
use crate::plugin::{Plugin, Stubs};
use crate::process::alone;
use crate::verdict::POLICY;

#[test]
fn the_cache_decides_who_may_use_a_lent_partition() {
    let test = "associations::the_cache_decides_who_may_use_a_lent_partition";
    alone(test, Some(POLICY), |_| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let lent = |uid| Job::by(stubs, uid).text("partition", "lent");

        // bio owns nothing: the lent QoS is filled in.
        let mut job = lent(1001);
        assert_eq!(plugin.submit(&mut job).code, 0);
        assert_eq!(job.get("qos").as_deref(), Some("scavenger"));
        drop(job);
        // Where it cannot be, the default QoS counts as if it were typed.
        let answer = plugin.submit(&mut lent(1001).text("partition", "gpu,lent"));
        let message = answer.message.unwrap_or_default();
        assert_ne!(answer.code, 0, "{message}");
        assert!(message.contains("[qos-entitlement]") && message.contains("default high"), "{message}");

        // The owner, by the default account.
        assert_eq!(plugin.submit(&mut lent(1002)).code, 0);

        // An association with the owner for this partition alone.
        assert_eq!(plugin.submit(&mut lent(1003).text("account", "physics")).code, 0);
        // A typed account without an association is no entitlement.
        let typed = plugin.submit(&mut lent(1001).text("account", "physics").text("qos", "high"));
        assert_ne!(typed.code, 0);
        // The lent QoS opens it to everyone.
        assert_eq!(plugin.submit(&mut lent(1001).text("qos", "scavenger")).code, 0);

        assert!(!stubs.is_locked());
        plugin.fini();
        assert_eq!(stubs.live_blocks(), 0);
    });
}
