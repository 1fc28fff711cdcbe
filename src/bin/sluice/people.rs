//! Who the job is judged for, and what is known of them without a cluster: what the command line
//! states, and what the system's name service knows.

use nix::unistd::{Gid, Uid, User};
use sluice::cluster::Cluster;
use sluice::policy::Policy;
use sluice::policy::resolve::{Directory, Group};

use crate::Failure;
use crate::options::Whom;
use crate::slurm;

/// A user.
#[derive(Clone, Copy, Debug)]
pub struct Person {
    /// uid.
    pub uid: u32,
    /// Primary group (gid).
    pub gid: u32,
    /// Root, asked for by name: then the policy exempts it as it does in slurmctld.
    pub privileged: bool,
}

/// The user named, by login name or uid, else the one who runs the command.
///
/// # Errors
/// A name that nobody knows.
pub fn person(name: Option<&str>) -> Result<Person, Failure> {
    let Some(name) = name else {
        return Ok(Person { uid: Uid::current().as_raw(), gid: Gid::current().as_raw(), privileged: false });
    };
    let user = match name.parse::<u32>() {
        Ok(uid) => User::from_uid(Uid::from_raw(uid)),
        Err(_) => User::from_name(name),
    };
    match user {
        Ok(Some(user)) => {
            let uid = user.uid.as_raw();
            Ok(Person { uid, gid: user.gid.as_raw(), privileged: uid == 0 })
        }
        Ok(None) => Err(format!("--user={name}: there is no such user here")),
        Err(error) => Err(format!("--user={name}: {}", error.desc())),
    }
}

/// The system's users and groups.
pub struct System;

impl Directory for System {
    fn user(&self, name: &str) -> Option<u32> {
        User::from_name(name).ok().flatten().map(|u| u.uid.as_raw())
    }

    fn group(&self, name: &str) -> Option<Group> {
        let group = nix::unistd::Group::from_name(name).ok().flatten()?;
        let members = group.mem.iter().filter_map(|name| self.user(name)).collect();
        Some(Group { gid: group.gid.as_raw(), members })
    }
}

/// What the command line and the policy say of a cluster that is not asked.
pub struct Stated<'a> {
    /// The facts.
    pub policy: &'a Policy,
    /// What was stated.
    pub whom: &'a Whom,
}

impl Cluster for Stated<'_> {
    fn default_partition(&self) -> Option<std::borrow::Cow<'_, str>> {
        self.policy.facts.default_partition.as_deref().map(Into::into)
    }

    fn reservation_partition(&self, _: &str) -> Option<String> {
        None
    }

    fn user_name(&self, uid: u32) -> Option<String> {
        User::from_uid(Uid::from_raw(uid)).ok().flatten().map(|u| u.name)
    }

    fn default_account(&self, _: u32) -> Option<String> {
        self.whom.account.first().cloned()
    }

    fn has_association(&self, _: u32, account: &str) -> Option<bool> {
        let stated = &self.whom.account;
        (!stated.is_empty()).then(|| stated.iter().any(|a| a.eq_ignore_ascii_case(account)))
    }

    fn default_qos(&self, _: u32, _: Option<&str>, _: Option<&str>) -> Option<String> {
        self.whom.default_qos.clone()
    }

    fn may_use_qos(&self, _: u32, _: Option<&str>, _: Option<&str>, _: &str) -> Option<bool> {
        None
    }

    fn is_array(&self, _: u32) -> Option<bool> {
        None
    }

    fn has_justify_option(&self) -> bool {
        slurm::has_justify_option()
    }
}
