//! What a test says of the cluster: partitions by default, reservations, arrays, users.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use crate::cluster::Cluster;
use crate::policy::Policy;
use crate::policy::resolve::{Group, Table};

/// `[cluster]`. What it does not say is unknown, as it would be to slurmctld.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KnownCluster {
    /// The partition of a job that names none; else the policy's own `default = true`.
    pub default_partition: Option<String>,
    /// Ids of jobs that are arrays. Where it stands, every other job is none.
    pub arrays: Option<Vec<u32>>,
    /// Partitions of reservations.
    pub reservations: HashMap<String, String>,
    /// Users by login name.
    pub users: BTreeMap<String, User>,
    /// Whether `--justify` is there to type (the SPANK side is installed).
    pub spank: bool,
    /// The server's clock, seconds since 1970, in cases with something earlier.
    #[serde(skip)]
    pub now: Option<u64>,
}

/// `[cluster.users.NAME]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// uid.
    pub uid: u32,
    /// Primary group; the same number as `uid` where it is left out.
    pub gid: Option<u32>,
    /// Accounts with an association of this user.
    #[serde(default)]
    pub accounts: Vec<String>,
    /// The account of jobs that name none.
    pub default_account: Option<String>,
    /// The QoS of jobs that name none.
    pub default_qos: Option<String>,
    /// QoS that the user may use. Left out: not known.
    pub qos: Option<Vec<String>>,
    /// Groups, by name.
    #[serde(default)]
    pub groups: Vec<String>,
}

/// The uid of a user of whom nothing is known.
const STRANGER: u32 = 61_000;
/// The first gid of groups, which tests name and never number.
const GROUPS: u32 = 62_000;

impl KnownCluster {
    /// The names that the policy's loader asks for.
    pub fn directory(&self) -> Table {
        let mut table = Table::default();
        for (name, user) in &self.users {
            table.users.insert(name.clone(), user.uid);
            for group in &user.groups {
                let next = GROUPS.saturating_add(u32::try_from(table.groups.len()).unwrap_or(0));
                let known = table.groups.entry(group.clone());
                known.or_insert(Group { gid: next, members: Vec::new() }).members.push(user.uid);
            }
        }
        table
    }

    /// The same cluster, with the default partition that the policy names where the test names none.
    pub fn with_defaults_of(&self, policy: &Policy) -> KnownCluster {
        let named = || policy.facts.default_partition.clone();
        KnownCluster { default_partition: self.default_partition.clone().or_else(named), ..self.clone() }
    }

    /// Who submits.
    ///
    /// # Errors
    /// Where the name is none of the file's.
    pub fn user(&self, name: Option<&str>) -> Result<User, String> {
        let nameless = |uid| User {
            uid,
            gid: None,
            accounts: Vec::new(),
            default_account: None,
            default_qos: None,
            qos: None,
            groups: Vec::new(),
        };
        match name {
            None => Ok(nameless(STRANGER)),
            Some("root") => Ok(nameless(0)),
            Some(name) => {
                self.users.get(name).cloned().ok_or_else(|| format!("`{name}` is not in [cluster.users]"))
            }
        }
    }

    fn known(&self, uid: u32) -> Option<(&String, &User)> {
        self.users.iter().find(|(_, user)| user.uid == uid)
    }
}

impl Cluster for KnownCluster {
    fn default_partition(&self) -> Option<Cow<'_, str>> {
        self.default_partition.as_deref().map(Cow::Borrowed)
    }

    fn reservation_partition(&self, reservation: &str) -> Option<String> {
        self.reservations.get(reservation).cloned()
    }

    fn user_name(&self, uid: u32) -> Option<String> {
        self.known(uid).map(|(name, _)| name.clone())
    }

    fn default_account(&self, uid: u32) -> Option<String> {
        self.known(uid)?.1.default_account.clone()
    }

    fn has_association(&self, uid: u32, account: &str) -> Option<bool> {
        let user = self.known(uid)?.1;
        Some(user.accounts.iter().any(|a| a.eq_ignore_ascii_case(account)))
    }

    fn default_qos(&self, uid: u32, _: Option<&str>, _: Option<&str>) -> Option<String> {
        self.known(uid)?.1.default_qos.clone()
    }

    fn may_use_qos(&self, uid: u32, _: Option<&str>, _: Option<&str>, qos: &str) -> Option<bool> {
        let allowed = self.known(uid)?.1.qos.as_ref()?;
        Some(allowed.iter().any(|q| q.eq_ignore_ascii_case(qos)))
    }

    fn is_array(&self, job_id: u32) -> Option<bool> {
        self.arrays.as_ref().map(|arrays| arrays.contains(&job_id))
    }

    fn now(&self) -> Option<u64> {
        self.now
    }

    fn has_justify_option(&self) -> bool {
        self.spank
    }
}
