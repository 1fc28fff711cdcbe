//! Who may change whose job, asked as slurmctld itself asks.

use once_cell::sync::OnceCell;
use std::ffi::{CString, c_char, c_void};

use super::api::{self, symbol};
use crate::request::Request;

/// slurmctld's own answers. Both take the association cache's lock.
struct Functions {
    validate_operator: Option<unsafe extern "C" fn(u32) -> bool>,
    /// The fourth argument came in 23.02; before, nobody looks at it.
    is_coordinator: Option<unsafe extern "C" fn(*mut c_void, u32, *mut c_char, bool) -> bool>,
}

fn functions() -> &'static Functions {
    static FUNCTIONS: OnceCell<Functions> = OnceCell::new();
    // SAFETY: the prototypes of proc_req.h and assoc_mgr.h, 20.11 to 26.05.
    FUNCTIONS.get_or_init(|| unsafe {
        Functions {
            validate_operator: symbol(c"validate_operator"),
            is_coordinator: symbol(c"assoc_mgr_is_user_acct_coord"),
        }
    })
}

/// Root or SlurmUser, as whom slurmctld runs.
pub fn is_root(uid: u32) -> bool {
    // Asked once: it is a system call, and slurmctld changes its user before it loads a plugin.
    static OWN: OnceCell<u32> = OnceCell::new();
    // SAFETY: geteuid only returns a number.
    uid == 0 || uid == *OWN.get_or_init(|| unsafe { libc::geteuid() })
}

/// Root, SlurmUser, or an operator or administrator by the accounting database.
pub fn is_operator(uid: u32) -> bool {
    // SAFETY: takes a number; the lock that it takes is free for this thread during the hook.
    is_root(uid) || functions().validate_operator.is_some_and(|f| unsafe { f(uid) })
}

/// Whether slurmctld will let `uid`, who is no operator, change this job: its owner, or a
/// coordinator of its account.
pub fn may_change(uid: u32, job: &Request<'_>) -> bool {
    // From 23.02 on it has asked that before the hook.
    if cfg!(slurm_23_02) || uid == job.user_id {
        return true;
    }
    let account = job.account.as_deref().and_then(|a| CString::new(a).ok());
    let (Some(account), Some(ask)) = (account, functions().is_coordinator) else { return false };
    // SAFETY: the account is only read; the lock is free for this thread during the hook.
    unsafe { ask(api::get().db_connection(), uid, account.as_ptr().cast_mut(), false) }
}
