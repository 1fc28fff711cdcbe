//! SPANK's own functions, found by name like everything of Slurm, and made safe to call.

use once_cell::sync::OnceCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;

use super::child::User;
use crate::request::description::NO_VAL;
use crate::slurm::api::symbol;
use crate::slurm::sys::{self, spank_context, spank_item, spank_option};

/// Bytes of a variable's value that are looked at: no option's text is longer.
const VALUE: usize = super::options::MOST + 1;

/// Prototypes of spank.h, the same from 20.11 to 26.05; `spank_err_t` is an `int` in all of them.
#[derive(Debug)]
struct Functions {
    context: Option<unsafe extern "C" fn() -> spank_context>,
    option_register: Option<unsafe extern "C" fn(*mut c_void, *mut spank_option) -> c_int>,
    get_item: Option<unsafe extern "C" fn(*mut c_void, spank_item, ...) -> c_int>,
    getenv: Option<unsafe extern "C" fn(*mut c_void, *const c_char, *mut c_char, c_int) -> c_int>,
    setenv: Option<unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char, c_int) -> c_int>,
    job_control_setenv:
        Option<unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char, c_int) -> c_int>,
    job_control_unsetenv: Option<unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int>,
    log: Option<unsafe extern "C" fn(*const c_char, ...)>,
}

fn functions() -> &'static Functions {
    static FUNCTIONS: OnceCell<Functions> = OnceCell::new();
    // SAFETY: each type is the prototype of the symbol of that name in spank.h.
    FUNCTIONS.get_or_init(|| unsafe {
        Functions {
            context: symbol(c"spank_context"),
            option_register: symbol(c"spank_option_register"),
            get_item: symbol(c"spank_get_item"),
            getenv: symbol(c"spank_getenv"),
            setenv: symbol(c"spank_setenv"),
            job_control_setenv: symbol(c"spank_job_control_setenv"),
            job_control_unsetenv: symbol(c"spank_job_control_unsetenv"),
            log: symbol(c"slurm_spank_log"),
        }
    })
}

/// Where this process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// sbatch, salloc, scrontab, srun.
    Client,
    /// slurmstepd or a task of it.
    Node,
    /// slurmd itself.
    Slurmd,
    /// Prolog, epilog, or not known.
    Other,
}

/// The context of this process.
pub fn context() -> Context {
    // SAFETY: only says what the process is.
    match functions().context.map(|f| unsafe { f() }) {
        Some(sys::S_CTX_ALLOCATOR | sys::S_CTX_LOCAL) => Context::Client,
        Some(sys::S_CTX_REMOTE) => Context::Node,
        Some(sys::S_CTX_SLURMD) => Context::Slurmd,
        _ => Context::Other,
    }
}

/// Whether this client can hand an entry of the job's SPANK environment to slurmctld. SPANK looks
/// for this function in the program itself; scrontab, which takes plugins' options, has none.
pub fn has_job_environment() -> bool {
    // SAFETY: only the address is looked at.
    unsafe { symbol::<*const c_void>(c"spank_set_job_env") }.is_some()
}

/// A line on the job's stderr, as it is. Text without control characters.
pub fn log(line: &CStr) {
    if let Some(log) = functions().log {
        // SAFETY: printf's grammar under a constant format with one text.
        unsafe { log(c"%s".as_ptr(), line.as_ptr()) };
    }
}

/// An error of the client: `sbatch: error: text`.
pub fn error(text: &str) {
    if let (Some(error), Ok(text)) = (crate::slurm::api::get().error, CString::new(text)) {
        // SAFETY: as above.
        unsafe { error(c"%s".as_ptr(), text.as_ptr()) };
    }
}

/// A plugin's handle during one call.
pub struct Spank<'a> {
    handle: *mut c_void,
    lives: PhantomData<&'a ()>,
}

impl Spank<'_> {
    /// # Safety
    /// `handle` is what SPANK gave to the callback that runs, and lives for `'a`.
    pub unsafe fn new(handle: *mut c_void) -> Self {
        Spank { handle, lives: PhantomData }
    }

    /// Adds an option. Slurm copies it.
    pub fn register(&self, mut option: spank_option) -> bool {
        // SAFETY: the handle is SPANK's own; the option's texts are the caller's and valid.
        functions().option_register.is_some_and(|f| unsafe { f(self.handle, &mut option) } == 0)
    }

    /// Sets an entry of the job's SPANK environment, which slurmctld gets with the request.
    pub fn set_job_entry(&self, name: &CStr, value: &CStr) -> bool {
        let set = functions().job_control_setenv;
        // SAFETY: the handle is SPANK's own; both texts are copied.
        set.is_some_and(|f| unsafe { f(self.handle, name.as_ptr(), value.as_ptr(), 1) } == 0)
    }

    /// Takes such an entry away, where it is.
    pub fn unset_job_entry(&self, name: &CStr) {
        if let Some(unset) = functions().job_control_unsetenv {
            // SAFETY: the handle is SPANK's own; the name is only read.
            unsafe { unset(self.handle, name.as_ptr()) };
        }
    }

    /// On a node: the place of this step's job in its array.
    pub fn array_task_id(&self) -> Option<u32> {
        self.number(sys::S_JOB_ARRAY_TASK_ID).filter(|&id| id < NO_VAL)
    }

    /// On a node, and in srun once it has one: the job's id.
    pub fn job_id(&self) -> Option<u32> {
        self.number(sys::S_JOB_ID).filter(|&id| id < NO_VAL)
    }

    /// On a node: whether this is the step that runs a batch script. Of a job there is one, on its first
    /// node.
    pub fn is_batch(&self) -> bool {
        self.number(sys::S_JOB_STEPID) == Some(sys::HEADER_BATCH_SCRIPT)
    }

    /// On a node, when a task has ended: what `wait` said of it.
    pub fn exit_status(&self) -> Option<u32> {
        // A plain `int *`, as wide as the others and never negative.
        self.number(sys::S_TASK_EXIT_STATUS)
    }

    /// On a node: whom the job runs as.
    pub fn user(&self) -> Option<User> {
        let get = functions().get_item?;
        let (uid, gid) = (self.number(sys::S_JOB_UID)?, self.number(sys::S_JOB_GID)?);
        let (mut groups, mut count): (*mut u32, c_int) = (std::ptr::null_mut(), 0);
        // SAFETY: the handle is SPANK's own; this item is a `gid_t **` and an `int *` (spank.h).
        let answer =
            unsafe { get(self.handle, sys::S_JOB_SUPPLEMENTARY_GIDS, &raw mut groups, &raw mut count) };
        let count = usize::try_from(count).unwrap_or(0);
        let groups = if answer != 0 || groups.is_null() || count == 0 {
            vec![gid]
        } else {
            // SAFETY: so many numbers, of slurmstepd's own, which stay as they are.
            unsafe { std::slice::from_raw_parts(groups, count) }.to_vec()
        };
        Some(User { uid, gid, groups })
    }

    /// An item that is a number of 32 bits.
    fn number(&self, item: spank_item) -> Option<u32> {
        let mut number: u32 = NO_VAL;
        let get = functions().get_item?;
        // SAFETY: the handle is SPANK's own; the items that are asked for above are a `uint32_t *`, a
        // `uid_t *`, a `gid_t *` or an `int *` (spank.h).
        let answer = unsafe { get(self.handle, item, &raw mut number) };
        (answer == 0).then_some(number)
    }

    /// On a node: a variable of the job's environment, as far as it fits; `None` where it is unset
    /// or empty.
    pub fn getenv(&self, name: &CStr) -> Option<String> {
        let get = functions().getenv?;
        let mut value = vec![0_u8; VALUE];
        // SAFETY: the handle is SPANK's own; the buffer has that many bytes and ends with NUL,
        // whatever the answer is: what is too long is cut.
        unsafe { get(self.handle, name.as_ptr(), value.as_mut_ptr().cast(), VALUE as c_int) };
        let text = CStr::from_bytes_until_nul(&value).ok()?.to_string_lossy();
        (!text.is_empty()).then(|| text.into_owned())
    }
    /// On a node: sets a variable of the job's environment; with `replace` also one that is set.
    pub fn setenv(&self, name: &CStr, value: &CStr, replace: bool) {
        if let Some(set) = functions().setenv {
            // SAFETY: the handle is SPANK's own; both texts are copied.
            unsafe { set(self.handle, name.as_ptr(), value.as_ptr(), c_int::from(replace)) };
        }
    }
}
