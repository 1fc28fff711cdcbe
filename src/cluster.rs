//! What only the cluster knows: defaults, associations, names. Asked lazily, one question a method.
//!
//! slurmctld answers from its association cache (`slurm::cluster`), the command from the policy's
//! facts and its own options, tests from their data. `None` is "unknown", and unknown is never
//! guessed: it matches no condition and no allow-list.

use std::borrow::Cow;

/// Questions that the rules may put while judging one request.
///
/// Implementations must not block, and must not do I/O on the submission path.
pub trait Cluster {
    /// The partition that a request without `--partition` gets.
    /// Asked for every request without `--partition`: lent, so that accepting one allocates nothing.
    fn default_partition(&self) -> Option<Cow<'_, str>>;
    /// The partition of a reservation, which goes before the cluster's default.
    fn reservation_partition(&self, reservation: &str) -> Option<String>;
    /// The login name of a user.
    fn user_name(&self, uid: u32) -> Option<String>;
    /// The account that a user's requests without `--account` are charged to.
    fn default_account(&self, uid: u32) -> Option<String>;
    /// Whether the user has an association with this account.
    fn has_association(&self, uid: u32, account: &str) -> Option<bool>;
    /// The QoS that slurmctld uses for a request without `--qos`.
    fn default_qos(&self, uid: u32, account: Option<&str>, partition: Option<&str>) -> Option<String>;
    /// Whether the user's association allows this QoS.
    fn may_use_qos(
        &self,
        uid: u32,
        account: Option<&str>,
        partition: Option<&str>,
        qos: &str,
    ) -> Option<bool>;
    /// Whether this job is an array.
    fn is_array(&self, job_id: u32) -> Option<bool>;
    /// Seconds since 1970 by the server's clock; `None` where a verdict must not depend on it.
    fn now(&self) -> Option<u64> {
        None
    }
    /// Whether `--justify` is there for the user to type (the SPANK side is installed).
    fn has_justify_option(&self) -> bool {
        false
    }
}

/// A cluster of which nothing is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnknownCluster;

impl Cluster for UnknownCluster {
    fn default_partition(&self) -> Option<Cow<'_, str>> {
        None
    }
    fn reservation_partition(&self, _: &str) -> Option<String> {
        None
    }
    fn user_name(&self, _: u32) -> Option<String> {
        None
    }
    fn default_account(&self, _: u32) -> Option<String> {
        None
    }
    fn has_association(&self, _: u32, _: &str) -> Option<bool> {
        None
    }
    fn default_qos(&self, _: u32, _: Option<&str>, _: Option<&str>) -> Option<String> {
        None
    }
    fn may_use_qos(&self, _: u32, _: Option<&str>, _: Option<&str>, _: &str) -> Option<bool> {
        None
    }
    fn is_array(&self, _: u32) -> Option<bool> {
        None
    }
}
