//! A job description as slurmctld would hand it over, in the stubs' memory.

use std::ffi::{CString, c_char};

use sluice::request::description::{NO_VAL, NO_VAL8, NO_VAL16, NO_VAL64};
use sluice::slurm::sys::job_desc_msg_t;

use crate::plugin::Stubs;

/// One submission.
pub struct Job {
    desc: Box<job_desc_msg_t>,
    pub submit_uid: u32,
    stubs: Stubs,
}

macro_rules! texts {
    ($($field:ident)*) => {
        /// Every text of a job description that the plugin reads, by name.
        pub const TEXTS: &[(&str, Text)] = &[$((stringify!($field), |d| &mut d.$field)),*];
    };
}
type Text = fn(&mut job_desc_msg_t) -> &mut *mut c_char;

texts! {
    account admin_comment array_inx comment cpus_per_tres dependency exc_nodes features licenses
    mail_user mem_per_tres name partition qos req_nodes reservation script std_err std_in std_out
    tres_per_job tres_per_node tres_per_socket tres_per_task wckey work_dir
}

macro_rules! numbers {
    ($($field:ident)*) => {
        /// Every number that it reads, by name: sets it, cut to its width.
        pub const NUMBERS: &[(&str, Number)] = &[$((stringify!($field), |d, n| d.$field = n as _)),*];
    };
}
type Number = fn(&mut job_desc_msg_t, u64);

numbers! {
    alloc_resp_port argc bitflags core_spec cores_per_socket cpus_per_task env_size group_id
    het_job_offset max_nodes min_cpus min_nodes nice ntasks_per_core ntasks_per_node
    ntasks_per_socket ntasks_per_tres num_tasks other_port overcommit pn_min_cpus pn_min_memory
    pn_min_tmp_disk priority requeue shared sockets_per_node spank_job_env_size threads_per_core
    time_limit time_min user_id warn_flags warn_signal warn_time x11
}

impl Job {
    /// A submission by `uid` that says nothing at all.
    pub fn by(stubs: Stubs, uid: u32) -> Job {
        // SAFETY: a C struct that Slurm itself starts with zeros.
        let mut d: Box<job_desc_msg_t> = Box::new(unsafe { std::mem::zeroed() });
        (d.user_id, d.group_id, d.het_job_offset) = (uid, uid, NO_VAL);
        (d.core_spec, d.cores_per_socket, d.cpus_per_task) = (NO_VAL16, NO_VAL16, NO_VAL16);
        (d.max_nodes, d.min_nodes, d.min_cpus, d.num_tasks) = (NO_VAL, NO_VAL, 1, NO_VAL);
        (d.nice, d.priority, d.time_limit, d.time_min) = (NO_VAL, NO_VAL, NO_VAL, NO_VAL);
        (d.ntasks_per_core, d.ntasks_per_node, d.ntasks_per_socket) = (NO_VAL16, NO_VAL16, NO_VAL16);
        (d.ntasks_per_tres, d.pn_min_cpus, d.requeue, d.shared) = (NO_VAL16, NO_VAL16, NO_VAL16, NO_VAL16);
        (d.sockets_per_node, d.threads_per_core, d.overcommit) = (NO_VAL16, NO_VAL16, NO_VAL8);
        (d.pn_min_memory, d.pn_min_tmp_disk) = (NO_VAL64, NO_VAL);
        let job = Job { desc: d, submit_uid: uid, stubs };
        job.text("script", "#!/bin/sh\ntrue\n")
    }

    /// With a text, of the stubs' memory.
    pub fn text(mut self, field: &str, value: &str) -> Job {
        self.set_bytes(field, value.as_bytes());
        self
    }

    /// With a number.
    pub fn number(mut self, field: &str, value: u64) -> Job {
        self.set_number(field, value);
        self
    }

    pub fn set_number(&mut self, field: &str, value: u64) {
        let (_, set) = NUMBERS.iter().find(|(name, _)| *name == field).expect(field);
        set(&mut self.desc, value);
    }

    /// Sets a text to any bytes but NUL.
    pub fn set_bytes(&mut self, field: &str, value: &[u8]) {
        let value = CString::new(value).unwrap();
        self.clear(field);
        let stubs = self.stubs;
        // SAFETY: NUL-terminated; the field was cleared.
        *self.field(field) = unsafe { (stubs.xstrdup)(value.as_ptr()) };
    }

    /// Sets a text to NULL.
    pub fn clear(&mut self, field: &str) {
        let stubs = self.stubs;
        let field = self.field(field);
        // SAFETY: NULL or of the stubs' allocator.
        unsafe { (stubs.xfree)(std::ptr::from_mut(field).cast()) };
    }

    /// What a text is now.
    pub fn get(&mut self, field: &str) -> Option<String> {
        let p = *self.field(field);
        // SAFETY: NULL or NUL-terminated.
        (!p.is_null()).then(|| unsafe { std::ffi::CStr::from_ptr(p) }.to_string_lossy().into_owned())
    }

    pub fn desc(&mut self) -> &mut job_desc_msg_t {
        &mut self.desc
    }

    fn field(&mut self, field: &str) -> &mut *mut c_char {
        let (_, field) = TEXTS.iter().find(|(name, _)| *name == field).expect(field);
        field(&mut self.desc)
    }
}

impl Drop for Job {
    /// Frees every text as slurmctld does: what is not of its allocator aborts the test.
    fn drop(&mut self) {
        for (name, _) in TEXTS {
            self.clear(name);
        }
    }
}
