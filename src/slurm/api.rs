//! Slurm's functions and data, found once by name in the process that loaded the `.so`.
//!
//! Nothing of Slurm is linked: a symbol that is missing, because the process is no slurmctld or the
//! series has none, is `None` here and degrades one answer instead of failing the load.

use once_cell::sync::OnceCell;
use std::ffi::{CStr, c_char, c_int, c_void};

use super::sys::{slurmdb_assoc_rec_t, slurmdb_qos_rec_t, slurmdb_user_rec_t};
use crate::request::description::INFINITE;

/// `assoc_mgr_lock_t` (assoc_mgr.h, unchanged 20.11 to 26.05): one `lock_level_t` for each list.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct AssocMgrLock {
    /// Associations.
    pub assoc: c_int,
    /// The state file.
    pub file: c_int,
    /// QoS.
    pub qos: c_int,
    /// Resources.
    pub res: c_int,
    /// TRES.
    pub tres: c_int,
    /// Users.
    pub user: c_int,
    /// Workload keys.
    pub wckey: c_int,
}

/// `READ_LOCK` of `lock_level_t` (locks.h).
pub const READ_LOCK: c_int = 1;

/// `slurm_info` and its kin: printf's grammar.
pub type LogFunction = unsafe extern "C" fn(format: *const c_char, ...);
/// `assoc_mgr_fill_in_user|assoc|qos(db_conn, record, enforce, real record, locked)`.
pub type FillIn<T> = unsafe extern "C" fn(*mut c_void, *mut T, c_int, *mut *mut T, bool) -> c_int;

/// Slurm as this process offers it. Prototypes are those of 20.11 to 26.05, where they are the same.
#[expect(missing_docs, reason = "each field is the Slurm symbol that its look-up names")]
#[derive(Debug)]
pub struct Api {
    // Everywhere (libslurmfull).
    pub xfree: Option<unsafe extern "C" fn(*mut *mut c_void)>,
    pub xstrdup: Option<unsafe extern "C" fn(*const c_char) -> *mut c_char>,
    pub xstrcat: Option<unsafe extern "C" fn(*mut *mut c_char, *const c_char)>,
    pub info: Option<LogFunction>,
    pub error: Option<LogFunction>,
    pub get_extra_conf_path: Option<unsafe extern "C" fn(*mut c_char) -> *mut c_char>,
    // The association cache.
    pub assoc_mgr_lock: Option<unsafe extern "C" fn(*mut AssocMgrLock)>,
    pub assoc_mgr_unlock: Option<unsafe extern "C" fn(*mut AssocMgrLock)>,
    pub fill_in_user: Option<FillIn<slurmdb_user_rec_t>>,
    pub fill_in_assoc: Option<FillIn<slurmdb_assoc_rec_t>>,
    pub fill_in_qos: Option<FillIn<slurmdb_qos_rec_t>>,
    pub get_default_qos_info: Option<unsafe extern "C" fn(*mut slurmdb_assoc_rec_t, *mut slurmdb_qos_rec_t)>,
    pub bit_test: Option<unsafe extern "C" fn(*mut i64, i64) -> c_int>,
    pub bit_size: Option<unsafe extern "C" fn(*mut i64) -> i64>,
    // slurmctld only.
    find_job_record: Option<unsafe extern "C" fn(u32) -> *mut c_void>,
    find_job_array_rec: Option<unsafe extern "C" fn(u32, u32) -> *mut c_void>,
    default_part_name: Option<Data<*const c_char>>,
    acct_db_conn: Option<Data<*mut c_void>>,
    accounting_enforce: Option<Data<u16>>,
}

/// The address of one of slurmctld's global variables.
#[derive(Clone, Copy, Debug)]
struct Data<T>(*const T);

// SAFETY: only an address. Slurm writes these variables under its configuration write lock, and
// they are read where slurmctld holds that lock for reading (the hook).
unsafe impl<T> Send for Data<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Data<T> {}

/// Slurm in this process. The first call, in `init`, does all the looking up.
pub fn get() -> &'static Api {
    static API: OnceCell<Api> = OnceCell::new();
    API.get_or_init(Api::find)
}

impl Api {
    fn find() -> Api {
        // SAFETY: each type is the prototype of the symbol of that name in Slurm's own headers
        // (xmalloc.h, xstring.h, log.h, read_config.h, assoc_mgr.h, bitstring.h, slurmctld.h),
        // the same from 20.11 to 26.05.
        unsafe {
            Api {
                xfree: symbol(c"slurm_xfree"),
                xstrdup: symbol(c"slurm_xstrdup"),
                xstrcat: symbol(c"slurm_xstrcat"),
                info: symbol(c"slurm_info"),
                error: symbol(c"slurm_error"),
                get_extra_conf_path: symbol(c"slurm_get_extra_conf_path")
                    .or_else(|| symbol(c"get_extra_conf_path")),
                assoc_mgr_lock: symbol(c"assoc_mgr_lock"),
                assoc_mgr_unlock: symbol(c"assoc_mgr_unlock"),
                fill_in_user: symbol(c"assoc_mgr_fill_in_user"),
                fill_in_assoc: symbol(c"assoc_mgr_fill_in_assoc"),
                fill_in_qos: symbol(c"assoc_mgr_fill_in_qos"),
                get_default_qos_info: symbol(c"assoc_mgr_get_default_qos_info"),
                bit_test: symbol(c"slurm_bit_test").or_else(|| symbol(c"bit_test")),
                bit_size: symbol(c"slurm_bit_size").or_else(|| symbol(c"bit_size")),
                find_job_record: symbol(c"find_job_record"),
                find_job_array_rec: symbol(c"find_job_array_rec"),
                default_part_name: symbol(c"default_part_name").map(Data),
                acct_db_conn: symbol(c"acct_db_conn").map(Data),
                accounting_enforce: symbol(c"accounting_enforce").map(Data),
            }
        }
    }

    /// Whether this process is slurmctld: nothing else has a default partition.
    pub fn is_slurmctld(&self) -> bool {
        self.default_part_name.is_some()
    }

    /// Whether this is the id of an array; `None` where slurmctld knows no such job. Only for the
    /// hook. A single task's own id is no array's.
    pub fn is_array(&self, job_id: u32) -> Option<bool> {
        let (record, array) = (self.find_job_record?, self.find_job_array_rec?);
        // "Any task of this array" (slurmctld.h): looked up by array id, which other jobs have not.
        // SAFETY: both only search slurmctld's tables of jobs, under the job lock that slurmctld holds
        // for reading or writing during the hook; what they return is not followed.
        unsafe {
            if !array(job_id, INFINITE).is_null() {
                return Some(true);
            }
            (!record(job_id).is_null()).then_some(false)
        }
    }

    /// The cluster's default partition; `None` where there is none. Only for the hook.
    pub fn default_partition(&self) -> Option<&CStr> {
        let name = self.default_part_name?;
        // SAFETY: the variable lives as long as slurmctld; it is a `char *` that is NULL until the
        // partitions are read, and changes only under the configuration write lock, which nobody
        // holds during the hook.
        unsafe { (*name.0).as_ref().map(|p| CStr::from_ptr(p)) }
    }

    /// slurmctld's handle for its database; NULL where it has none.
    pub fn db_connection(&self) -> *mut c_void {
        // SAFETY: a plain variable of slurmctld, set once when it starts.
        self.acct_db_conn.map_or(std::ptr::null_mut(), |d| unsafe { *d.0 })
    }

    /// `AccountingStorageEnforce` as bits; 0 where nothing is enforced.
    pub fn accounting_enforce(&self) -> c_int {
        // SAFETY: a plain variable of slurmctld, written under the configuration write lock.
        self.accounting_enforce.map_or(0, |d| c_int::from(unsafe { *d.0 }))
    }

    /// What is missing and what that costs, for one line in the log at start.
    pub fn missing(&self) -> Option<&'static str> {
        if self.xstrdup.is_none() || self.xstrcat.is_none() || self.xfree.is_none() {
            return Some("slurm_xstrdup, slurm_xstrcat or slurm_xfree: no messages, nothing filled in");
        }
        if self.fill_in_user.is_none() || self.fill_in_assoc.is_none() || self.assoc_mgr_lock.is_none() {
            return Some("the association cache: default accounts and QoS are unknown");
        }
        None
    }
}

/// The symbol `name` of this process as an `F`, which is a function or data pointer.
///
/// # Safety
/// `F` is the type that Slurm gives that symbol.
pub(super) unsafe fn symbol<F: Copy>(name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: dlsym only reads the name.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: not NULL, of the same size, and by the caller's promise of that type.
    (!address.is_null()).then(|| unsafe { std::mem::transmute_copy(&address) })
}
