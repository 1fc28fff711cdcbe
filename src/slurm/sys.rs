//! Slurm's types, made by bindgen of the installed headers, and what is asserted of them.
//!
//! `job_desc_msg_t` and slurmdb's records are public (libslurm's ABI) and never change inside a
//! series, which is what `plugin_version` lets Slurm check when it loads the `.so`.

#[allow(
    non_camel_case_types,
    non_upper_case_globals,
    non_snake_case,
    missing_docs,
    dead_code,
    unsafe_op_in_unsafe_fn,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    clippy::indexing_slicing,
    reason = "written by bindgen"
)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/slurm_sys.rs"));
}

pub use generated::*;

use crate::request::description as typed;

/// `bitflags`: the client named no QoS. A federation takes the QoS away again where it stands.
pub const USE_DEFAULT_QOS: u64 = 1 << 27;

const fn joined(high: u32, low: u32) -> u64 {
    ((high as u64) << 32) | low as u64
}

// The constants of the typed request are those of the header.
const _: () = {
    assert!(typed::NO_VAL8 == HEADER_NO_VAL8);
    assert!(typed::NO_VAL16 == HEADER_NO_VAL16);
    assert!(typed::INFINITE16 == HEADER_INFINITE16);
    assert!(typed::NO_VAL == HEADER_NO_VAL);
    assert!(typed::INFINITE == HEADER_INFINITE);
    assert!(typed::NO_VAL64 == joined(HEADER_NO_VAL64_HIGH, HEADER_NO_VAL64_LOW));
    assert!(typed::MEM_PER_CPU == joined(HEADER_MEM_PER_CPU_HIGH, HEADER_MEM_PER_CPU_LOW));
    assert!(typed::NICE_OFFSET == HEADER_NICE_OFFSET);
    assert!(typed::CORE_SPEC_THREAD == HEADER_CORE_SPEC_THREAD);
    assert!(typed::CRON_JOB == HEADER_CRON_JOB);
    assert!(typed::KILL_JOB_BATCH == HEADER_KILL_JOB_BATCH);
    assert!(USE_DEFAULT_QOS == HEADER_USE_DEFAULT_QOS);
};

/// Size of `job_desc_msg_t` on 64-bit Linux in the newest known series of these headers, as
/// compiled from SchedMD's own; a header that differs was changed by someone else.
#[cfg(target_pointer_width = "64")]
const JOB_DESC_SIZE: usize = if cfg!(slurm_26_05) {
    952
} else if cfg!(slurm_25_11) {
    944
} else if cfg!(slurm_25_05) {
    920
} else if cfg!(slurm_24_05) {
    912
} else if cfg!(slurm_23_11) {
    904
} else if cfg!(slurm_23_02) {
    896
} else if cfg!(slurm_22_05) {
    880
} else if cfg!(slurm_21_08) {
    size_of::<job_desc_msg_t>()
} else {
    752
};
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<job_desc_msg_t>() == JOB_DESC_SIZE);
