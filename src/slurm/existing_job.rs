//! The job that an update changes, read without knowing how slurmctld keeps it: slurmctld itself packs
//! it as it would for squeue (`pack_job`), and [`packed`] unpacks that into `slurm_job_info_t`. Where
//! that cannot be done, the job is unreadable, which has a verdict of its own.
//!
//! Takes the association cache's locks for reading: never call it while holding one.

use once_cell::sync::OnceCell;
use std::ffi::{c_char, c_void};

use super::api::{self, AssocMgrLock, READ_LOCK, symbol};
use super::packed::{self, Buffer};
use super::strings;
use super::sys::{job_info_msg_t, slurm_job_info_t};
use crate::request::JobInfo;

/// Bytes of a new buffer; it grows by itself.
const BUFFER: u32 = 4096;
/// `RESPONSE_JOB_INFO`, the same from 20.11 to 26.05.
const RESPONSE_JOB_INFO: u16 = 2004;
/// `SHOW_ALL | SHOW_DETAIL` (slurm.h).
const SHOW: u16 = 3;

/// The functions that it takes, by the prototypes of 20.11 to 26.05.
struct Functions {
    init_buf: unsafe extern "C" fn(u32) -> *mut u8,
    pack32: unsafe extern "C" fn(u32, *mut u8),
    pack_time: unsafe extern "C" fn(i64, *mut u8),
    pack_job: unsafe extern "C" fn(*mut c_void, u16, *mut u8, u16, u32, bool),
    free_job_info: unsafe extern "C" fn(*mut job_info_msg_t),
    bit_set_count: Option<unsafe extern "C" fn(*mut c_void) -> i32>,
}

impl Functions {
    fn get() -> Option<&'static Functions> {
        static FUNCTIONS: OnceCell<Option<Functions>> = OnceCell::new();
        FUNCTIONS.get_or_init(Functions::find).as_ref()
    }

    fn find() -> Option<Functions> {
        // SAFETY: each type is the prototype of that symbol (pack.h, slurmctld.h,
        // slurm_protocol_defs.h, slurm_protocol_pack.h, slurm.h, bitstring.h), 20.11 to 26.05.
        unsafe {
            Some(Functions {
                init_buf: symbol(c"init_buf").or_else(|| symbol(c"slurm_init_buf"))?,
                pack32: symbol(c"pack32").or_else(|| symbol(c"slurm_pack32"))?,
                pack_time: symbol(c"pack_time").or_else(|| symbol(c"slurm_pack_time"))?,
                pack_job: symbol(c"pack_job")?,
                free_job_info: symbol(c"slurm_free_job_info_msg")?,
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

/// Reads a job. `None` where this slurmctld is not laid out as it should be, or has no such functions.
///
/// # Safety
/// `job` is the job record that slurmctld hands to job_modify, which holds its locks meanwhile.
pub unsafe fn read(job: *mut c_void) -> Option<ExistingJob> {
    let functions = Functions::get().filter(|_| !job.is_null())?;
    let protocol = packed::protocol()?;
    // SAFETY: a plain constructor; the buffer is new, and ours.
    let mut buffer = unsafe { Buffer::adopt((functions.init_buf)(BUFFER))? };
    // Proof of the layout: what a new buffer has.
    if buffer.size() != BUFFER || buffer.processed() != 0 {
        return None;
    }
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
        (functions.pack32)(1, buffer.as_ptr());
        (functions.pack_time)(0, buffer.as_ptr());
        if cfg!(slurm_21_08) {
            (functions.pack_time)(0, buffer.as_ptr());
        }
        (functions.pack_job)(job, SHOW, buffer.as_ptr(), protocol, 0, true);
        unlock(&mut locks);
    }
    let unpacked = buffer.unpack(buffer.processed(), RESPONSE_JOB_INFO)?;
    let message = unpacked.data.cast::<job_info_msg_t>();
    let job = ExistingJob { functions, message };
    // SAFETY: unpack_msg has succeeded: the message is whole.
    let one = unsafe { (*message).record_count == 1 && !(*message).job_array.is_null() };
    (unpacked.whole && one).then_some(job)
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
