//! `job_desc_msg_t`: read into a [`Description`], and the closed list of edits written back.

use std::ffi::{CStr, c_char};

use super::strings;
use super::sys::{USE_DEFAULT_QOS, job_desc_msg_t};
use crate::request::description::{Description, EXPORT_ENV, JUSTIFY_ENV, LINEAGE_ENV, SPANK_ENV, digest};
use crate::request::{Text, Tres};
use crate::verdict::Edit;

/// What stands before `gpu` in `cpus_per_tres` and `mem_per_tres` of this series
/// (`gres_prepend_tres_type`; as seen on 20.11, 22.05, 24.11, 26.05).
const GRES_PREFIX: &str = if cfg!(slurm_23_11) {
    "gres/"
} else if cfg!(slurm_21_08) {
    "gres:"
} else {
    ""
};

/// Reads a job description. Nothing is copied but text that is not UTF-8.
///
/// # Safety
/// `desc` is what slurmctld hands to job_submit or job_modify: every pointer in it is NULL or valid,
/// text is NUL-terminated, arrays of text end with NULL (`unpackstr_array`), and nothing of it changes
/// during `'a`.
pub unsafe fn read<'a>(desc: *const job_desc_msg_t) -> Description<'a> {
    // SAFETY: by the caller's promise.
    let d = unsafe { &*desc };
    // SAFETY: likewise, for each text.
    let text = |p: *mut c_char| unsafe { strings::read(p) };
    // SAFETY: likewise, for each array.
    let (environment, spank, argv) = unsafe {
        (
            Array::new(d.environment, d.env_size),
            Array::new(d.spank_job_env, d.spank_job_env_size),
            Array::new(d.argv, d.argc),
        )
    };
    #[cfg(slurm_21_08)]
    let (bitflags, container, submit_line) = (d.bitflags, text(d.container), text(d.submit_line));
    #[cfg(not(slurm_21_08))]
    let (bitflags, container, submit_line) = (u64::from(d.bitflags), None, None);
    #[cfg(slurm_22_05)]
    let prefer = text(d.prefer);
    #[cfg(not(slurm_22_05))]
    let prefer = None;
    Description {
        user_id: d.user_id,
        group_id: d.group_id,
        bitflags,
        has_crontab_entry: !d.crontab_entry.is_null(),
        het_job_offset: d.het_job_offset,
        alloc_sid: d.alloc_sid,
        alloc_resp_port: d.alloc_resp_port,
        other_port: d.other_port,
        env_size: if d.environment.is_null() { 0 } else { d.env_size },
        partition: text(d.partition),
        qos: text(d.qos),
        account: text(d.account),
        reservation: text(d.reservation),
        features: text(d.features),
        prefer,
        req_nodes: text(d.req_nodes),
        exc_nodes: text(d.exc_nodes),
        licenses: text(d.licenses),
        min_nodes: d.min_nodes,
        max_nodes: d.max_nodes,
        num_tasks: d.num_tasks,
        ntasks_per_node: d.ntasks_per_node,
        ntasks_per_socket: d.ntasks_per_socket,
        ntasks_per_core: d.ntasks_per_core,
        ntasks_per_tres: d.ntasks_per_tres,
        cpus_per_task: d.cpus_per_task,
        min_cpus: d.min_cpus,
        pn_min_cpus: d.pn_min_cpus,
        overcommit: d.overcommit,
        sockets_per_node: d.sockets_per_node,
        cores_per_socket: d.cores_per_socket,
        threads_per_core: d.threads_per_core,
        core_spec: d.core_spec,
        tres_per_job: text(d.tres_per_job),
        tres_per_node: text(d.tres_per_node),
        tres_per_socket: text(d.tres_per_socket),
        tres_per_task: text(d.tres_per_task),
        cpus_per_tres: text(d.cpus_per_tres),
        mem_per_tres: text(d.mem_per_tres),
        pn_min_memory: d.pn_min_memory,
        pn_min_tmp_disk: d.pn_min_tmp_disk,
        shared: d.shared,
        time_limit: d.time_limit,
        time_min: d.time_min,
        array_inx: text(d.array_inx),
        std_out: text(d.std_out),
        std_err: text(d.std_err),
        std_in: text(d.std_in),
        work_dir: text(d.work_dir),
        requeue: d.requeue,
        warn_flags: d.warn_flags,
        warn_signal: d.warn_signal,
        warn_time: d.warn_time,
        dependency: text(d.dependency),
        comment: text(d.comment),
        admin_comment: text(d.admin_comment),
        name: text(d.name),
        nice: d.nice,
        priority: d.priority,
        container,
        wckey: text(d.wckey),
        mail_user: text(d.mail_user),
        x11: d.x11,
        script: text(d.script),
        submit_line,
        command: argv.clone().next().map(CStr::to_string_lossy),
        arguments: digest(argv.skip(1).map(CStr::to_bytes)),
        // sbatch does not overwrite it: within a job it may be the outer job's.
        export: environment
            .clone()
            .value_of(EXPORT_ENV)
            .filter(|_| environment.value_of("SLURM_JOB_ID").is_none()),
        justify: spank.clone().value_of(JUSTIFY_ENV),
        lineage: spank.clone().value_of(LINEAGE_ENV),
        spank: spank.value_of(SPANK_ENV).is_some(),
    }
}

/// A C array of text: ends with NULL and after its stated length, whichever comes first. The length
/// is the client's word, the NULL is Slurm's.
#[derive(Clone)]
struct Array<'a> {
    next: *const *mut c_char,
    left: u32,
    lives: std::marker::PhantomData<&'a CStr>,
}

impl<'a> Array<'a> {
    /// # Safety
    /// `first` is NULL or an array that ends with NULL, of text that lives for `'a`.
    unsafe fn new(first: *const *mut c_char, len: u32) -> Array<'a> {
        let left = if first.is_null() { 0 } else { len };
        Array { next: first, left, lives: std::marker::PhantomData }
    }

    /// The value of `NAME=value`.
    fn value_of(mut self, name: &str) -> Option<Text<'a>> {
        self.find_map(|entry| {
            entry.to_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"=").map(String::from_utf8_lossy)
        })
    }
}

impl<'a> Iterator for Array<'a> {
    type Item = &'a CStr;

    fn next(&mut self) -> Option<&'a CStr> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: not past the final NULL: once that is seen, `left` is 0 for good.
        let text = unsafe { *self.next };
        if text.is_null() {
            self.left = 0;
            return None;
        }
        // SAFETY: the array goes on at least to its NULL; text is valid by the promise of `new`.
        unsafe {
            self.next = self.next.add(1);
            Some(CStr::from_ptr(text))
        }
    }
}

/// Writes one edit. Doing it again changes nothing. Returns whether it could be written.
///
/// # Safety
/// As for [`read`], text is from Slurm's allocator, and nothing borrowed from `desc` is used again.
pub unsafe fn apply(desc: &mut job_desc_msg_t, edit: &Edit) -> bool {
    // SAFETY: each field is Slurm's, by the caller's promise.
    unsafe {
        match edit {
            Edit::CpusPerGpu(n) => per_gpu(&mut desc.cpus_per_tres, *n),
            Edit::MemoryPerGpu(mb) => per_gpu(&mut desc.mem_per_tres, *mb),
            Edit::Requeue => {
                desc.requeue = 1;
                true
            }
            Edit::Qos(name) => {
                let written = strings::replace(&mut desc.qos, name);
                if written {
                    // The width of `bitflags` differs between series, the bit does not.
                    desc.bitflags &= !(USE_DEFAULT_QOS as Bitflags);
                }
                written
            }
        }
    }
}

#[cfg(slurm_21_08)]
type Bitflags = u64;
#[cfg(not(slurm_21_08))]
type Bitflags = u32;

/// Adds `gpu:N` in the series' own form, unless the list says something of GPUs already.
///
/// # Safety
/// `field` is NULL or text from Slurm's allocator.
unsafe fn per_gpu(field: &mut *mut c_char, n: u64) -> bool {
    // SAFETY: by the caller's promise; the borrow ends before the field is written.
    let stated = unsafe { strings::read(*field) }.is_some_and(|t| Tres::new(t).gpu_count().is_some());
    // SAFETY: by the caller's promise.
    stated || unsafe { strings::append(field, c",", &format!("{GRES_PREFIX}gpu:{n}")) }
}
