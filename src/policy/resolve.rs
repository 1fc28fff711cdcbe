//! User and group names turned into numbers while a policy is loaded, so that no job waits for it.
//!
//! Looking names up may ask a directory server and take seconds: that belongs to the helper thread.
//! To take account of changed groups the same text is loaded again, every few minutes.

use std::collections::HashMap;

/// Who knows users and groups.
pub trait Directory {
    /// The uid of a login name.
    fn user(&self, name: &str) -> Option<u32>;
    /// A group by name.
    fn group(&self, name: &str) -> Option<Group>;
}

/// A group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Its gid.
    pub gid: u32,
    /// The uids of its members; users who have it as primary group need not be among them.
    pub members: Vec<u32>,
}

/// A machine on which no name is known. Users are then known by the login name that the cluster
/// gives them, and group conditions match nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDirectory;

impl Directory for NoDirectory {
    fn user(&self, _: &str) -> Option<u32> {
        None
    }
    fn group(&self, _: &str) -> Option<Group> {
        None
    }
}

/// Names from a table, for tests and for judging as someone else.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// uids by login name.
    pub users: HashMap<String, u32>,
    /// Groups by name.
    pub groups: HashMap<String, Group>,
}

impl Directory for Table {
    fn user(&self, name: &str) -> Option<u32> {
        self.users.get(name).copied()
    }
    fn group(&self, name: &str) -> Option<Group> {
        self.groups.get(name).cloned()
    }
}
