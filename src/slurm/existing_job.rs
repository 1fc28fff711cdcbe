//! The job that an update changes, read without knowing how slurmctld keeps it.
//!
//! slurmctld's own record of a job has a private layout that changes even inside a series. So
//! slurmctld itself packs it as it would for squeue (`pack_job`), and its library unpacks that into
//! `slurm_job_info_t`, which is public. Two more private structs are on the way, a buffer and a
//! message; a few of their members are touched at offsets known for each series, and before anything
//! is written there they must hold what Slurm has just put into them. Where they do not, the job is
//! unreadable, which has a verdict of its own.
//!
//! Takes the association cache's locks for reading: never call it while holding one.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use super::api::{self, AssocMgrLock, READ_LOCK, symbol};
use super::strings;
use super::sys::{job_info_msg_t, slurm_job_info_t};
use crate::request::JobInfo;

/// Bytes of a new buffer; it grows by itself.
const BUFFER: u32 = 4096;
/// Offsets in `buf_t` (pack.h, the same from 20.11 to 26.05).
const BUF_SIZE: usize = 16;
const BUF_PROCESSED: usize = 20;

/// Offsets in `slurm_msg_t` (slurm_protocol_defs.h) of this series: `data`, `msg_type`,
/// `protocol_version`.
const MSG: (usize, usize, usize) = if cfg!(slurm_25_11) {
    (192, 226, 228)
} else if cfg!(slurm_25_05) {
    (192, 224, 226)
} else if cfg!(slurm_24_11) {
    (200, 212, 214)
} else if cfg!(slurm_24_05) {
    (192, 204, 206)
} else if cfg!(slurm_23_11) {
    (192, 208, 210)
} else {
    (184, 200, 202)
};
/// What `slurm_msg_t_init` puts into the type and the version.
const NOT_SET: u16 = 0xfffe;
/// `RESPONSE_JOB_INFO`, the same from 20.11 to 26.05.
const RESPONSE_JOB_INFO: u16 = 2004;
/// `SHOW_ALL | SHOW_DETAIL` (slurm.h).
const SHOW: u16 = 3;

/// Room for a `slurm_msg_t`, twice what the largest known one has.
#[repr(C, align(16))]
struct Message([u8; 1024]);

/// The functions that it takes, by the prototypes of 20.11 to 26.05.
struct Functions {
    init_buf: unsafe extern "C" fn(u32) -> *mut u8,
    free_buf: unsafe extern "C" fn(*mut u8),
    pack32: unsafe extern "C" fn(u32, *mut u8),
    pack_time: unsafe extern "C" fn(i64, *mut u8),
    pack_job: unsafe extern "C" fn(*mut c_void, u16, *mut u8, u16, u32, bool),
    msg_init: unsafe extern "C" fn(*mut Message),
    unpack_msg: unsafe extern "C" fn(*mut Message, *mut u8) -> c_int,
    free_job_info: unsafe extern "C" fn(*mut job_info_msg_t),
    api_version: unsafe extern "C" fn() -> std::ffi::c_long,
    bit_set_count: Option<unsafe extern "C" fn(*mut c_void) -> i32>,
}

impl Functions {
    fn get() -> Option<&'static Functions> {
        static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
        FUNCTIONS.get_or_init(Functions::find).as_ref()
    }

    fn find() -> Option<Functions> {
        // SAFETY: each type is the prototype of that symbol (pack.h, slurmctld.h,
        // slurm_protocol_defs.h, slurm_protocol_pack.h, slurm.h, bitstring.h), 20.11 to 26.05.
        unsafe {
            Some(Functions {
                init_buf: symbol(c"init_buf").or_else(|| symbol(c"slurm_init_buf"))?,
                free_buf: symbol(c"free_buf").or_else(|| symbol(c"slurm_free_buf"))?,
                pack32: symbol(c"pack32").or_else(|| symbol(c"slurm_pack32"))?,
                pack_time: symbol(c"pack_time").or_else(|| symbol(c"slurm_pack_time"))?,
                pack_job: symbol(c"pack_job")?,
                msg_init: symbol(c"slurm_msg_t_init")?,
                unpack_msg: symbol(c"unpack_msg")?,
                free_job_info: symbol(c"slurm_free_job_info_msg")?,
                api_version: symbol(c"slurm_api_version")?,
                bit_set_count: symbol(c"slurm_bit_set_count").or_else(|| symbol(c"bit_set_count")),
            })
        }
    }
}

/// A job as it was at the moment of the call. Freed when dropped.
pub struct ExistingJob {
    functions: &'static Functions,
    message: *mut job_info_msg_t,
}

/// A buffer of Slurm's. Freed when dropped.
struct Buffer {
    functions: &'static Functions,
    buf: *mut u8,
}

impl Buffer {
    fn new(functions: &'static Functions) -> Option<Buffer> {
        // SAFETY: a plain constructor.
        let buf = unsafe { (functions.init_buf)(BUFFER) };
        let buffer = (!buf.is_null()).then_some(Buffer { functions, buf })?;
        // Proof of the layout: what a new buffer has.
        (buffer.read(BUF_SIZE) == BUFFER && buffer.read(BUF_PROCESSED) == 0).then_some(buffer)
    }

    fn read(&self, offset: usize) -> u32 {
        // SAFETY: the struct has at least 24 bytes in every series, both members are aligned `uint32_t`.
        unsafe { self.buf.add(offset).cast::<u32>().read() }
    }

    /// Makes what was packed readable from its start. `None` where it cannot be.
    fn rewind(&mut self) -> Option<u32> {
        let packed = self.read(BUF_PROCESSED);
        if packed == 0 || packed > self.read(BUF_SIZE) {
            return None;
        }
        // SAFETY: as in `read`; the buffer is ours, and shorter than it was.
        unsafe {
            self.buf.add(BUF_SIZE).cast::<u32>().write(packed);
            self.buf.add(BUF_PROCESSED).cast::<u32>().write(0);
        }
        Some(packed)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: from `init_buf`, and nobody else has it.
        unsafe { (self.functions.free_buf)(self.buf) };
    }
}

impl Message {
    fn read<T: Copy>(&self, offset: usize) -> Option<T> {
        let bytes = self.0.get(offset..offset.checked_add(size_of::<T>())?)?;
        // SAFETY: so many bytes are there; T is a number or a pointer, for which any bytes will do.
        Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
    }

    fn write(&mut self, offset: usize, value: u16) {
        let end = offset.saturating_add(size_of::<u16>());
        if let Some(bytes) = self.0.get_mut(offset..end) {
            bytes.copy_from_slice(&value.to_ne_bytes());
        }
    }
}

/// Reads a job. `None` where this slurmctld is not laid out as it should be, or has no such functions.
///
/// # Safety
/// `job` is the job record that slurmctld hands to job_modify, which holds its locks meanwhile.
pub unsafe fn read(job: *mut c_void) -> Option<ExistingJob> {
    let functions = Functions::get().filter(|_| !job.is_null())?;
    // SAFETY: returns a number.
    let version = unsafe { (functions.api_version)() };
    // Not Slurm's version but that of its protocol, in the upper bytes.
    let protocol = u16::try_from(version >> 8).ok()?;

    let mut message = Message([0; 1024]);
    // SAFETY: the room is larger than any slurm_msg_t and as aligned as malloc's.
    unsafe { (functions.msg_init)(&mut message) };
    let (data, kind, version) = MSG;
    // Proof of the layout: what slurm_msg_t_init has just written.
    let fits = message.read(kind) == Some(NOT_SET)
        && message.read(version) == Some(NOT_SET)
        && message.read(data) == Some(ptr::null_mut::<c_void>());
    if !fits {
        return None;
    }
    message.write(kind, RESPONSE_JOB_INFO);
    message.write(version, protocol);

    let mut buffer = Buffer::new(functions)?;
    let (lock, unlock) = (api::get().assoc_mgr_lock?, api::get().assoc_mgr_unlock?);
    // The locks that slurmctld itself holds round every pack_job, which is told so. Left to lock for
    // itself, pack_job of 24.11 and 26.05 unlocks what it did not lock where a pending job states its
    // QoS, and the next one who wants that lock waits for ever.
    let mut locks = AssocMgrLock { assoc: READ_LOCK, qos: READ_LOCK, user: READ_LOCK, ..Default::default() };
    // SAFETY: what squeue would get: the number of records, the time of the answer, since 21.08 that
    // of the last backfill, the record. slurmctld's locks are held (caller), those of the cache are
    // taken here; nothing in between can panic.
    unsafe {
        lock(&mut locks);
        (functions.pack32)(1, buffer.buf);
        (functions.pack_time)(0, buffer.buf);
        if cfg!(slurm_21_08) {
            (functions.pack_time)(0, buffer.buf);
        }
        (functions.pack_job)(job, SHOW, buffer.buf, protocol, 0, true);
        unlock(&mut locks);
    }
    let packed = buffer.rewind()?;
    // SAFETY: the message is set up as for an answer that has come in, the buffer holds one.
    let result = unsafe { (functions.unpack_msg)(&mut message, buffer.buf) };
    let info: *mut job_info_msg_t = message.read(data)?;
    if result != 0 || info.is_null() {
        return None;
    }
    let job = ExistingJob { functions, message: info };
    // Proof that both sides mean the same: nothing is left over, and it is one job.
    // SAFETY: unpack_msg has succeeded: the message is whole.
    let whole = buffer.read(BUF_PROCESSED) == packed
        && unsafe { (*info).record_count == 1 && !(*info).job_array.is_null() };
    whole.then_some(job)
}

impl Drop for ExistingJob {
    fn drop(&mut self) {
        self.free_what_slurm_forgets();
        // SAFETY: from unpack_msg, which made it with Slurm's allocator for its receiver to free.
        unsafe { (self.functions.free_job_info)(self.message) };
    }
}

impl ExistingJob {
    /// The job's facts, borrowed from it.
    pub fn info(&self) -> JobInfo<'_> {
        // SAFETY: `read` saw one record; it lives, unchanged, as long as `self`.
        let job: &slurm_job_info_t = unsafe { &*(*self.message).job_array };
        // SAFETY: each text is NULL or what was unpacked, NUL-terminated, and lives likewise.
        let text = |p: *mut c_char| unsafe { strings::read(p) };
        #[cfg(slurm_25_11)]
        let job_id = job.step_id.job_id;
        #[cfg(not(slurm_25_11))]
        let job_id = job.job_id;
        #[cfg(slurm_21_08)]
        let (bitflags, container) = (job.bitflags, text(job.container));
        #[cfg(not(slurm_21_08))]
        let (bitflags, container) = (u64::from(job.bitflags), None);
        #[cfg(slurm_22_05)]
        let prefer = text(job.prefer);
        #[cfg(not(slurm_22_05))]
        let prefer = None;
        JobInfo {
            job_id,
            job_state: job.job_state,
            bitflags,
            user_id: job.user_id,
            group_id: job.group_id,
            batch_flag: job.batch_flag,
            cronspec: text(job.cronspec),
            het_job_id: job.het_job_id,
            het_job_offset: job.het_job_offset,
            array_job_id: job.array_job_id,
            array_task_id: job.array_task_id,
            array_max_tasks: job.array_max_tasks,
            array_task_str: text(job.array_task_str),
            array_tasks: self.bits_set(job.array_bitmap.cast()),
            partition: text(job.partition),
            qos: text(job.qos),
            account: text(job.account),
            resv_name: text(job.resv_name),
            features: text(job.features),
            prefer,
            req_nodes: text(job.req_nodes),
            exc_nodes: text(job.exc_nodes),
            licenses: text(job.licenses),
            num_nodes: job.num_nodes,
            max_nodes: job.max_nodes,
            num_tasks: job.num_tasks,
            num_cpus: job.num_cpus,
            cpus_per_task: job.cpus_per_task,
            pn_min_cpus: job.pn_min_cpus,
            ntasks_per_node: job.ntasks_per_node,
            ntasks_per_socket: job.ntasks_per_socket,
            ntasks_per_core: job.ntasks_per_core,
            ntasks_per_tres: job.ntasks_per_tres,
            sockets_per_node: job.sockets_per_node,
            cores_per_socket: job.cores_per_socket,
            threads_per_core: job.threads_per_core,
            core_spec: job.core_spec,
            tres_per_job: text(job.tres_per_job),
            tres_per_node: text(job.tres_per_node),
            tres_per_socket: text(job.tres_per_socket),
            tres_per_task: text(job.tres_per_task),
            cpus_per_tres: text(job.cpus_per_tres),
            mem_per_tres: text(job.mem_per_tres),
            pn_min_memory: job.pn_min_memory,
            pn_min_tmp_disk: job.pn_min_tmp_disk,
            shared: job.shared,
            time_limit: job.time_limit,
            time_min: job.time_min,
            std_out: text(job.std_out),
            std_err: text(job.std_err),
            std_in: text(job.std_in),
            work_dir: text(job.work_dir),
            requeue: job.requeue,
            dependency: text(job.dependency),
            comment: text(job.comment),
            admin_comment: text(job.admin_comment),
            name: text(job.name),
            container,
            wckey: text(job.wckey),
            mail_user: text(job.mail_user),
            command: text(job.command),
        }
    }

    /// Up to 22.05, in parts up to 24.11, slurm_free_job_info_members leaves some texts behind: squeue
    /// ends soon, slurmctld does not. Where Slurm frees them it finds NULL.
    fn free_what_slurm_forgets(&mut self) {
        let Some(xfree) = api::get().xfree else { return };
        // SAFETY: as in `info`; nothing is borrowed from `self` any more.
        let job = unsafe { &mut *(*self.message).job_array };
        #[cfg(slurm_22_05)]
        let prefer = Some(&mut job.prefer);
        #[cfg(not(slurm_22_05))]
        let prefer = None;
        #[cfg(slurm_24_11)]
        let resv_ports = Some(&mut job.resv_ports);
        #[cfg(not(slurm_24_11))]
        let resv_ports = None;
        let forgotten = [
            Some(&mut job.admin_comment),
            Some(&mut job.cluster_features),
            Some(&mut job.cronspec),
            Some(&mut job.system_comment),
            prefer,
            resv_ports,
        ];
        for text in forgotten.into_iter().flatten() {
            // SAFETY: NULL or of Slurm's allocator; it is NULL afterwards.
            unsafe { xfree(std::ptr::from_mut::<*mut c_char>(text).cast()) };
        }
    }

    fn bits_set(&self, bits: *mut c_void) -> Option<u64> {
        let count = self.functions.bit_set_count.filter(|_| !bits.is_null())?;
        // SAFETY: a bitmap that Slurm unpacked, with its own header.
        u64::try_from(unsafe { count(bits) }).ok()
    }
}
