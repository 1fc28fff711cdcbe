//! The loaded `.so` and the stubs, by their symbols.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;

use sluice::slurm::sys::job_desc_msg_t;

use crate::job::Job;

#[cfg(not(slurm_23_02))]
type Modify = unsafe extern "C" fn(*mut job_desc_msg_t, *mut c_void, u32) -> c_int;
#[cfg(slurm_23_02)]
type Modify = unsafe extern "C" fn(*mut job_desc_msg_t, *mut c_void, u32, *mut *mut c_char) -> c_int;
type Submit = unsafe extern "C" fn(*mut job_desc_msg_t, u32, *mut *mut c_char) -> c_int;

/// The functions of slurm-stubs that tests call themselves. Made first: what the plugin looks up
/// must be there when it is loaded.
#[derive(Clone, Copy)]
pub struct Stubs {
    pub xstrdup: unsafe extern "C" fn(*const c_char) -> *mut c_char,
    pub xfree: unsafe extern "C" fn(*mut *mut c_void),
    live_blocks: unsafe extern "C" fn() -> c_int,
    is_locked: unsafe extern "C" fn() -> bool,
}

impl Stubs {
    pub fn load() -> Stubs {
        let handle = open("SLUICE_TEST_STUBS", libc::RTLD_NOW | libc::RTLD_GLOBAL);
        // SAFETY: the prototypes are those of stubs.c.
        unsafe {
            Stubs {
                xstrdup: symbol(handle, c"slurm_xstrdup"),
                xfree: symbol(handle, c"slurm_xfree"),
                live_blocks: symbol(handle, c"stub_live_blocks"),
                is_locked: symbol(handle, c"stub_is_locked"),
            }
        }
    }

    /// Blocks of Slurm's allocator that nobody has freed.
    pub fn live_blocks(self) -> i32 {
        // SAFETY: only reads a counter.
        unsafe { (self.live_blocks)() }
    }

    /// Whether this thread holds a lock of the association cache.
    pub fn is_locked(self) -> bool {
        // SAFETY: only reads this thread's own variable.
        unsafe { (self.is_locked)() }
    }

    /// Text of Slurm's allocator, made ours.
    pub fn take(self, mut text: *mut c_char) -> Option<String> {
        if text.is_null() {
            return None;
        }
        // SAFETY: NUL-terminated text of Slurm's allocator, which nobody else holds.
        unsafe {
            let taken = CStr::from_ptr(text).to_string_lossy().into_owned();
            (self.xfree)((&raw mut text).cast());
            Some(taken)
        }
    }
}

/// The plugin.
pub struct Plugin {
    handle: *mut c_void,
    init: unsafe extern "C" fn() -> c_int,
    fini: unsafe extern "C" fn() -> c_int,
    submit: Submit,
    modify: Modify,
    stubs: Stubs,
}

/// What a submission came to.
#[derive(Debug)]
pub struct Answer {
    pub code: c_int,
    pub message: Option<String>,
}

impl Plugin {
    pub fn load(stubs: Stubs) -> Plugin {
        let handle = open("SLUICE_TEST_SO", libc::RTLD_LAZY);
        // SAFETY: job_submit's interface.
        unsafe {
            Plugin {
                handle,
                init: symbol(handle, c"init"),
                fini: symbol(handle, c"fini"),
                submit: symbol(handle, c"job_submit"),
                modify: symbol(handle, c"job_modify"),
                stubs,
            }
        }
    }

    /// Loaded and initialised, as slurmctld does at start.
    pub fn start(stubs: Stubs) -> Plugin {
        let plugin = Plugin::load(stubs);
        assert_eq!(plugin.init(), 0);
        plugin
    }

    /// # Safety
    /// `F` is the type of that symbol of the plugin.
    pub unsafe fn symbol<F: Copy>(&self, name: &CStr) -> F {
        // SAFETY: by the caller's promise.
        unsafe { symbol(self.handle, name) }
    }

    pub fn init(&self) -> c_int {
        // SAFETY: takes nothing.
        unsafe { (self.init)() }
    }

    pub fn fini(&self) -> c_int {
        // SAFETY: takes nothing.
        unsafe { (self.fini)() }
    }

    pub fn unload(self) {
        // SAFETY: the handle is ours and not used again.
        assert_eq!(unsafe { libc::dlclose(self.handle) }, 0);
    }

    pub fn submit(&self, job: &mut Job) -> Answer {
        self.submit_after(job, None)
    }

    /// Changes a job; there is a message from 23.02 on.
    pub fn modify(&self, change: &mut Job, existing: *mut c_void) -> Answer {
        let uid = change.submit_uid;
        // SAFETY: as for job_submit; the stubs take a `slurm_job_info_t` for a job record.
        #[cfg(slurm_23_02)]
        unsafe {
            let mut message = std::ptr::null_mut();
            let code = (self.modify)(change.desc(), existing, uid, &mut message);
            Answer { code, message: self.stubs.take(message) }
        }
        #[cfg(not(slurm_23_02))]
        // SAFETY: likewise.
        unsafe {
            Answer { code: (self.modify)(change.desc(), existing, uid), message: None }
        }
    }

    /// Submits where an earlier plugin has left a message.
    pub fn submit_after(&self, job: &mut Job, earlier: Option<&str>) -> Answer {
        let earlier = earlier.map(|text| CString::new(text).unwrap());
        let uid = job.submit_uid;
        // SAFETY: the job is complete, text is of Slurm's allocator.
        unsafe {
            let mut message = earlier.map_or(std::ptr::null_mut(), |t| (self.stubs.xstrdup)(t.as_ptr()));
            let code = (self.submit)(job.desc(), uid, &mut message);
            Answer { code, message: self.stubs.take(message) }
        }
    }

    /// Submits without a place for a message.
    pub fn submit_silently(&self, job: &mut Job) -> c_int {
        let uid = job.submit_uid;
        // SAFETY: as above.
        unsafe { (self.submit)(job.desc(), uid, std::ptr::null_mut()) }
    }

    /// Submits nothing at all.
    pub fn submit_null(&self) -> c_int {
        // SAFETY: NULL is what is tested.
        unsafe { (self.submit)(std::ptr::null_mut(), 1001, std::ptr::null_mut()) }
    }
}

// SAFETY: job_submit is called from many threads at once by slurmctld.
unsafe impl Sync for Plugin {}

fn open(variable: &str, flags: c_int) -> *mut c_void {
    let path = CString::new(std::env::var_os(variable).unwrap().as_bytes()).unwrap();
    // SAFETY: a valid path.
    let handle = unsafe { libc::dlopen(path.as_ptr(), flags) };
    assert!(!handle.is_null(), "{path:?} cannot be loaded");
    handle
}

/// # Safety
/// `F` is the type of that symbol.
unsafe fn symbol<F: Copy>(handle: *mut c_void, name: &CStr) -> F {
    // SAFETY: a valid handle and name.
    let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
    assert!(!address.is_null(), "{name:?} is missing");
    // SAFETY: by the caller's promise.
    unsafe { std::mem::transmute_copy(&address) }
}
