//! The plugins and libslurmfull, by their symbols.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;

use sluice::slurm::sys::job_desc_msg_t;

use crate::job::Job;

/// Where distributions keep Slurm's plugins and libslurmfull.
const FOLDERS: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu/slurm-wlm",
    "/usr/lib/x86_64-linux-gnu/slurm",
    "/usr/lib64/slurm",
    "/usr/local/lib/slurm",
];

/// The allocator of libslurmfull: what `job.rs` calls for text.
#[derive(Clone, Copy)]
pub struct Stubs {
    pub xstrdup: unsafe extern "C" fn(*const c_char) -> *mut c_char,
    pub xfree: unsafe extern "C" fn(*mut *mut c_void),
}

// SAFETY: two functions.
unsafe impl Send for Stubs {}

/// What slurmctld would bring.
pub struct Daemon {
    pub stubs: Stubs,
    queue_changes: unsafe extern "C" fn(),
}

impl Daemon {
    /// Loads libslurmfull and daemon.c, with a queue of so many jobs.
    pub fn start(jobs: u32) -> Daemon {
        let slurm = open(&folder().join("libslurmfull.so"), libc::RTLD_NOW | libc::RTLD_GLOBAL);
        let daemon = open(&daemon_so(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
        // SAFETY: the prototypes are those of Slurm's xmalloc.h and xstring.h, and of daemon.c.
        unsafe {
            let prepare: unsafe extern "C" fn(u32) = symbol(daemon, c"bench_prepare");
            prepare(jobs);
            Daemon {
                stubs: Stubs {
                    xstrdup: symbol(slurm, c"slurm_xstrdup"),
                    xfree: symbol(slurm, c"slurm_xfree"),
                },
                queue_changes: symbol(daemon, c"bench_queue_changes"),
            }
        }
    }

    /// As any submission, start or end of a job does.
    pub fn queue_changes(&self) {
        // SAFETY: adds to a variable.
        unsafe { (self.queue_changes)() }
    }
}

/// A job_submit plugin.
pub struct Plugin {
    submit: unsafe extern "C" fn(*mut job_desc_msg_t, u32, *mut *mut c_char) -> c_int,
    stubs: Stubs,
}

// SAFETY: job_submit is called from many threads at once by slurmctld.
unsafe impl Sync for Plugin {}

impl Plugin {
    /// Loaded and initialised as slurmctld does it.
    pub fn start(path: &Path, stubs: Stubs) -> Plugin {
        let handle = open(path, libc::RTLD_LAZY);
        // SAFETY: job_submit's interface.
        unsafe {
            let init: unsafe extern "C" fn() -> c_int = symbol(handle, c"init");
            assert_eq!(init(), 0, "{} does not start", path.display());
            Plugin { submit: symbol(handle, c"job_submit"), stubs }
        }
    }

    /// Whether the job is accepted; its message is thrown away.
    pub fn accepts(&self, job: &mut Job) -> bool {
        let uid = job.submit_uid;
        let mut message: *mut c_char = std::ptr::null_mut();
        // SAFETY: the job is complete, its text of Slurm's allocator, and so is the message.
        unsafe {
            let code = (self.submit)(job.desc(), uid, &mut message);
            if !message.is_null() {
                (self.stubs.xfree)((&raw mut message).cast());
            }
            code == 0
        }
    }

    /// The message as well.
    pub fn answer(&self, job: &mut Job) -> (c_int, String) {
        let uid = job.submit_uid;
        let mut message: *mut c_char = std::ptr::null_mut();
        // SAFETY: as above.
        unsafe {
            let code = (self.submit)(job.desc(), uid, &mut message);
            if message.is_null() {
                return (code, String::new());
            }
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            (self.stubs.xfree)((&raw mut message).cast());
            (code, text)
        }
    }
}

/// The folder of Slurm's plugins.
pub fn folder() -> PathBuf {
    let named = std::env::var_os("SLURM_PLUGIN_DIR").map(PathBuf::from);
    let usual = FOLDERS.iter().map(PathBuf::from);
    let there = |f: &PathBuf| f.join("job_submit_lua.so").is_file() && f.join("libslurmfull.so").is_file();
    named.into_iter().chain(usual).find(there).expect(
        "job_submit_lua.so and libslurmfull.so: install slurmctld and slurm-wlm-basic-plugins, or set SLURM_PLUGIN_DIR",
    )
}

fn daemon_so() -> PathBuf {
    let so = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-daemon.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/side_by_side/daemon.c");
    let time = |p: &Path| p.metadata().and_then(|m| m.modified()).ok();
    if time(&so) < time(&source) {
        let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
        cc.args(["-O2", "-shared", "-fPIC", "-I", env!("SLUICE_SLURM_INCLUDE"), "-o"]).arg(&so).arg(source);
        assert!(cc.status().expect("a C compiler (cc, or what CC names)").success());
    }
    so
}

fn open(path: &Path, flags: c_int) -> *mut c_void {
    let name = CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
    // SAFETY: a valid path.
    let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
    if handle.is_null() {
        // SAFETY: dlopen failed, so there is a text, NUL-terminated.
        let why = unsafe { CStr::from_ptr(libc::dlerror()) };
        panic!("{}: {}", path.display(), why.to_string_lossy());
    }
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
