//! Lists of names with globs, and the users and groups that the loader has resolved.

use std::collections::HashSet;

use super::glob::Glob;
use crate::cluster::Cluster;
use crate::request::Request;

/// Names of partitions, QoS, accounts, reservations, GPU types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    globs: Vec<Glob>,
    fold_case: bool,
}

impl Names {
    /// Names that are compared as they are (partitions, reservations, GPU types).
    pub fn exact_case(globs: Vec<Glob>) -> Names {
        Names { globs, fold_case: false }
    }

    /// Names that are compared without regard to case (accounts, QoS).
    pub fn any_case(globs: Vec<Glob>) -> Names {
        Names { globs, fold_case: true }
    }

    /// Whether `name` is one of them.
    pub fn contains(&self, name: &str) -> bool {
        self.globs.iter().any(|g| g.matches(name, self.fold_case))
    }

    /// The patterns as written.
    pub fn iter(&self) -> impl Iterator<Item = &Glob> {
        self.globs.iter()
    }

    /// The names that are no glob.
    pub fn literal(&self) -> impl Iterator<Item = &str> {
        self.globs.iter().filter(|g| g.is_literal()).map(Glob::as_str)
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }
}

/// Users, resolved to uids when the policy was loaded; globs match the name that the cluster knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Users {
    /// Resolved.
    pub uids: HashSet<u32>,
    /// Patterns, and names that the loader did not find, matched against the login name.
    pub globs: Vec<Glob>,
}

impl Users {
    /// Whether the owner of `request` is one of them.
    pub fn contains(&self, request: &Request<'_>, cluster: &dyn Cluster) -> bool {
        self.uids.contains(&request.user_id)
            || (!self.globs.is_empty()
                && cluster
                    .user_name(request.user_id)
                    .is_some_and(|n| self.globs.iter().any(|g| g.matches(&n, false))))
    }
}

/// Groups, resolved to their gids and their members' uids when the policy was loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// Group ids, for the primary group of a request's owner.
    pub gids: HashSet<u32>,
    /// Members' uids.
    pub members: HashSet<u32>,
}

impl Groups {
    /// Whether the owner of `request` is in one of them.
    pub fn contains(&self, request: &Request<'_>) -> bool {
        self.members.contains(&request.user_id)
            || request.group_id.is_some_and(|gid| self.gids.contains(&gid))
    }
}
