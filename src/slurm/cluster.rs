//! What the rules ask of the cluster, answered from slurmctld's own memory.
//!
//! Associations come from slurmctld's cache, by the same functions and in the same order as
//! slurmctld itself asks when it makes the job. Each look-up takes the cache's lock for reading, copies
//! what it needs and lets go: what the functions hand out points into the cache. slurmctld holds none
//! of these locks during the hook, and nothing here is called while one is held.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char};
use std::ptr;

use super::api::{self, Api, AssocMgrLock, READ_LOCK};
use super::sys::{slurmdb_assoc_rec_t, slurmdb_qos_rec_t, slurmdb_user_rec_t};
use crate::cluster::Cluster;
use crate::request::partition_list;

/// The cluster as slurmctld sees it during one hook.
#[derive(Debug)]
pub struct Slurmctld<'a> {
    slurm: &'static Api,
    /// The request's partitions: an association may hold on one of them only.
    partitions: &'a str,
    /// Whether the client that sent the request has `--justify`.
    justify_option: bool,
}

impl<'a> Slurmctld<'a> {
    /// For a request with this comma list of partitions, from a client with or without `--justify`.
    pub fn new(partitions: Option<&'a str>, justify_option: bool) -> Self {
        Slurmctld { slurm: api::get(), partitions: partitions.unwrap_or(""), justify_option }
    }

    /// Runs `f` under the cache's lock; `None` where there is no cache to ask.
    fn locked<T>(&self, f: impl FnOnce(&Cache<'_>) -> Option<T>) -> Option<T> {
        let (lock, unlock) = (self.slurm.assoc_mgr_lock?, self.slurm.assoc_mgr_unlock?);
        let mut locks =
            AssocMgrLock { assoc: READ_LOCK, qos: READ_LOCK, user: READ_LOCK, ..Default::default() };
        // SAFETY: the lock is free for this thread (module comment); the struct is Slurm's.
        unsafe { lock(&mut locks) };
        let _unlock = OnDrop(|| {
            // SAFETY: undoes the lock above, also when `f` panics.
            unsafe { unlock(&mut locks) };
        });
        f(&Cache { slurm: self.slurm })
    }
}

impl Cluster for Slurmctld<'_> {
    fn default_partition(&self) -> Option<Cow<'_, str>> {
        self.slurm.default_partition().map(CStr::to_string_lossy).filter(|n| !n.is_empty())
    }

    /// A reservation without a partition of its own leaves the job in the cluster's default.
    #[cfg(slurm_show_resv)]
    fn reservation_partition(&self, reservation: &str) -> Option<String> {
        let own = super::reservations::partition_of(reservation)?;
        own.or_else(|| self.default_partition().map(std::borrow::Cow::into_owned))
    }

    /// Not known how to ask in this series.
    #[cfg(not(slurm_show_resv))]
    fn reservation_partition(&self, _: &str) -> Option<String> {
        None
    }

    fn now(&self) -> Option<u64> {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.ok().map(|d| d.as_secs())
    }

    fn user_name(&self, uid: u32) -> Option<String> {
        self.locked(|cache| cache.user(uid)?.name)
    }

    fn default_account(&self, uid: u32) -> Option<String> {
        self.locked(|cache| cache.user(uid)?.default_account)
    }

    fn has_association(&self, uid: u32, account: &str) -> Option<bool> {
        let account = CString::new(account).ok()?;
        self.locked(|cache| {
            // A user without an association is not in the cache at all where associations are not
            // enforced; nothing is known of him then.
            cache.user(uid)?;
            // The cache finds an association for one partition only when asked for that partition.
            let partitions = partition_list::names(self.partitions).filter_map(|n| CString::new(n).ok());
            let found = cache.association(uid, Some(&account), None).is_some()
                || partitions.into_iter().any(|p| cache.association(uid, Some(&account), Some(&p)).is_some());
            Some(found)
        })
    }

    fn default_qos(&self, uid: u32, account: Option<&str>, partition: Option<&str>) -> Option<String> {
        let account = account.map(CString::new).transpose().ok()?;
        let partition = partition.map(CString::new).transpose().ok()?;
        self.locked(|cache| {
            let association = cache.association(uid, account.as_deref(), partition.as_deref())?;
            cache.default_qos(association)
        })
    }

    fn may_use_qos(
        &self,
        uid: u32,
        account: Option<&str>,
        partition: Option<&str>,
        qos: &str,
    ) -> Option<bool> {
        let account = account.map(CString::new).transpose().ok()?;
        let partition = partition.map(CString::new).transpose().ok()?;
        let qos = CString::new(qos).ok()?;
        self.locked(|cache| {
            let association = cache.association(uid, account.as_deref(), partition.as_deref())?;
            cache.allows(association, cache.qos_id(&qos)?)
        })
    }

    fn is_array(&self, job_id: u32) -> Option<bool> {
        self.slurm.is_array(job_id)
    }

    fn has_justify_option(&self) -> bool {
        self.justify_option
    }
}

/// The association cache, locked.
struct Cache<'c> {
    slurm: &'c Api,
}

/// What is known of a user.
struct User {
    name: Option<String>,
    default_account: Option<String>,
}

/// A record for Slurm to fill in, with room behind it.
#[repr(C)]
struct Record<T> {
    record: T,
    /// Should a site's Slurm write more than its header says, it writes here.
    slack: [u64; 64],
}

impl<T> Record<T> {
    /// # Safety
    /// Zeros are a valid `T`.
    unsafe fn empty() -> Record<T> {
        // SAFETY: by the caller's promise.
        unsafe { std::mem::zeroed() }
    }
}

impl Cache<'_> {
    fn user(&self, uid: u32) -> Option<User> {
        let fill_in = self.slurm.fill_in_user?;
        // SAFETY: slurmdb records are C structs that Slurm itself starts with zeros.
        let mut user = unsafe { Record::<slurmdb_user_rec_t>::empty() };
        user.record.uid = uid;
        let mut found = ptr::null_mut();
        // SAFETY: the user list is locked (`locked` = true says so); the record is ours.
        unsafe {
            fill_in(
                self.slurm.db_connection(),
                &mut user.record,
                self.slurm.accounting_enforce(),
                &mut found,
                true,
            )
        };
        if found.is_null() {
            return None;
        }
        // SAFETY: the texts are the cache's and stay while it is locked.
        unsafe {
            Some(User { name: copy(user.record.name), default_account: copy(user.record.default_acct) })
        }
    }

    /// slurmctld's own record of the association; it lives while the cache is locked. Without an
    /// account the user's default account is meant.
    fn association(
        &self,
        uid: u32,
        account: Option<&CStr>,
        partition: Option<&CStr>,
    ) -> Option<*mut slurmdb_assoc_rec_t> {
        let fill_in = self.slurm.fill_in_assoc?;
        // SAFETY: as in `user`.
        let mut wanted = unsafe { Record::<slurmdb_assoc_rec_t>::empty() };
        wanted.record.uid = uid;
        wanted.record.acct = account.map_or(ptr::null_mut(), |a| a.as_ptr().cast_mut());
        wanted.record.partition = partition.map_or(ptr::null_mut(), |p| p.as_ptr().cast_mut());
        let mut found = ptr::null_mut();
        // SAFETY: associations and users are locked; Slurm only reads the texts.
        unsafe {
            fill_in(
                self.slurm.db_connection(),
                &mut wanted.record,
                self.slurm.accounting_enforce(),
                &mut found,
                true,
            )
        };
        (!found.is_null()).then_some(found)
    }

    /// The QoS that slurmctld takes where none is asked for: the association's, else its only one,
    /// else the root association's, else `normal`.
    fn default_qos(&self, association: *mut slurmdb_assoc_rec_t) -> Option<String> {
        let get = self.slurm.get_default_qos_info?;
        // SAFETY: as in `user`.
        let mut qos = unsafe { Record::<slurmdb_qos_rec_t>::empty() };
        // SAFETY: the association is slurmctld's own record (it reads the usage behind it) and the
        // cache is locked. The name may be a literal: it is copied, never freed.
        unsafe {
            get(association, &mut qos.record);
            if !qos.record.name.is_null() {
                return copy(qos.record.name);
            }
        }
        if qos.record.id == 0 { None } else { self.fill_in_qos(qos.record.id, None)?.0 }
    }

    fn qos_id(&self, name: &CStr) -> Option<u32> {
        self.fill_in_qos(0, Some(name)).map(|(_, id)| id).filter(|&id| id != 0)
    }

    /// Name and id of the QoS with this id or name.
    fn fill_in_qos(&self, id: u32, name: Option<&CStr>) -> Option<(Option<String>, u32)> {
        let fill_in = self.slurm.fill_in_qos?;
        // SAFETY: as in `user`.
        let mut qos = unsafe { Record::<slurmdb_qos_rec_t>::empty() };
        qos.record.id = id;
        qos.record.name = name.map_or(ptr::null_mut(), |n| n.as_ptr().cast_mut());
        let mut found = ptr::null_mut();
        // SAFETY: the QoS list is locked; Slurm only reads the name and sets a NULL one to the
        // cache's.
        unsafe {
            fill_in(
                self.slurm.db_connection(),
                &mut qos.record,
                self.slurm.accounting_enforce(),
                &mut found,
                true,
            );
            (!found.is_null()).then(|| (copy(qos.record.name), qos.record.id))
        }
    }

    /// Whether the association's QoS, its own and inherited ones, hold this one.
    fn allows(&self, association: *mut slurmdb_assoc_rec_t, qos: u32) -> Option<bool> {
        let (bit_test, bit_size) = (self.slurm.bit_test?, self.slurm.bit_size?);
        // SAFETY: slurmctld's own record; `usage` and its bitmap belong to it and stay while it is
        // locked. bit_test reads a bit that bit_size says is there.
        unsafe {
            let valid = (*association).usage.as_ref()?.valid_qos.cast::<i64>();
            if valid.is_null() {
                return None;
            }
            let qos = i64::from(qos);
            Some(qos < bit_size(valid) && bit_test(valid, qos) != 0)
        }
    }
}

/// # Safety
/// `text` is NULL or NUL-terminated.
unsafe fn copy(text: *const c_char) -> Option<String> {
    // SAFETY: by the caller's promise.
    unsafe { super::strings::read(text) }.map(std::borrow::Cow::into_owned).filter(|t| !t.is_empty())
}

/// Runs a closure when it goes.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
