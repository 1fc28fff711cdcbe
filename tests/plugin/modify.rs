//! Updates: the existing job read through Slurm's own packing, and what becomes of one that cannot
//! be read.

use std::ffi::{CString, c_char, c_void};
use std::fs;

use serde_json::Value;
use sluice::request::description::{NO_VAL, NO_VAL16, NO_VAL64};
use sluice::slurm::sys::slurm_job_info_t;

use crate::job::Job;
use crate::plugin::{Plugin, Stubs};
use crate::process::{Folder, alone};
use crate::verdict::{DENIED, POLICY};

/// `ESLURM_INVALID_QOS`.
const INVALID_QOS: i32 = 2066;

/// A job record as the stubs know it: two GPUs on gpu, in the account bio.
pub struct Existing {
    info: Box<slurm_job_info_t>,
    stubs: Stubs,
}

impl Existing {
    pub fn of(stubs: Stubs, uid: u32) -> Existing {
        // SAFETY: a C struct for which zeros are valid.
        let mut info: Box<slurm_job_info_t> = Box::new(unsafe { std::mem::zeroed() });
        (info.user_id, info.group_id, info.array_task_id) = (uid, uid, NO_VAL);
        #[cfg(not(slurm_25_11))]
        (info.job_id = 77);
        #[cfg(slurm_25_11)]
        (info.step_id.job_id = 77);
        (info.num_nodes, info.num_tasks, info.num_cpus, info.cpus_per_task) = (1, 1, 1, 1);
        (info.shared, info.core_spec, info.time_limit) = (NO_VAL16, NO_VAL16, 60);
        let text = |t: &str| {
            let t = CString::new(t).unwrap();
            // SAFETY: NUL-terminated.
            unsafe { (stubs.xstrdup)(t.as_ptr()) }
        };
        info.partition = text("gpu");
        info.account = text("bio");
        info.qos = text("normal");
        info.tres_per_node = text("gres:gpu:2");
        Existing { info, stubs }
    }

    pub fn record(&self) -> *mut c_void {
        std::ptr::from_ref(&*self.info).cast_mut().cast()
    }
}

impl Drop for Existing {
    fn drop(&mut self) {
        let info = &mut self.info;
        for text in [&mut info.partition, &mut info.account, &mut info.qos, &mut info.tres_per_node] {
            let text: *mut *mut c_char = text;
            // SAFETY: of the stubs' allocator.
            unsafe { (self.stubs.xfree)(text.cast()) };
        }
    }
}

/// An update of 1001's job by `uid` that states nothing yet.
pub fn change(stubs: Stubs, uid: u32) -> Job {
    let mut job = Job::by(stubs, 1001).number("min_cpus", u64::from(NO_VAL));
    job.clear("script");
    job.set_number("pn_min_memory", NO_VAL64);
    job.set_number("het_job_offset", 0);
    job.submit_uid = uid;
    job
}

fn status(folder: &Folder) -> Value {
    let path = folder.policy_path().with_file_name("sluice.status.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap_or_default()).unwrap_or_default()
}

#[test]
fn the_job_is_read_and_only_what_gets_worse_is_refused() {
    alone("modify::the_job_is_read_and_only_what_gets_worse_is_refused", Some(POLICY), |folder| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let job = Existing::of(stubs, 1001);
        let code = |change: &mut Job| plugin.modify(change, job.record()).code;
        assert_eq!(code(&mut change(stubs, 1001).number("min_cpus", 17)), DENIED);
        assert_eq!(code(&mut change(stubs, 1001).number("min_cpus", 16)), 0);
        assert_eq!(code(&mut change(stubs, 1001).text("partition", "lent")), INVALID_QOS);
        assert_eq!(code(&mut change(stubs, 1001).text("partition", "lent").text("qos", "scavenger")), 0);
        // Hold and release.
        assert_eq!(code(&mut change(stubs, 1001).number("priority", 0)), 0);
        // An operator, and a coordinator of the account.
        assert_eq!(code(&mut change(stubs, 2000).number("min_cpus", 17)), 0);
        assert_eq!(code(&mut change(stubs, 3000).number("min_cpus", 17)), DENIED);
        plugin.fini();
        drop(job);
        assert_eq!(stubs.live_blocks(), 0);
        let log = folder.log();
        assert_eq!(log.matches("refused update of job 77 uid=1001").count(), 3, "{log}");
        assert!(log.contains(" by=3000 "), "{log}");
        let status = status(folder);
        assert_eq!(status["decisions"]["findings"]["cpus-per-gpu"]["root"], 1, "{status}");
        assert_eq!((&status["updates"], &status["decisions"]["refused"]), (&7.into(), &3.into()), "{status}");
    });
}

/// Up to 22.05 the hook comes before slurmctld asks whose job it is.
#[test]
#[cfg(not(slurm_23_02))]
fn a_strangers_update_is_left_to_slurm_and_not_written_down() {
    alone("modify::a_strangers_update_is_left_to_slurm_and_not_written_down", Some(POLICY), |folder| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let job = Existing::of(stubs, 1001);
        for uid in [1002, 65534] {
            let mut change = change(stubs, uid).number("min_cpus", 17).text("partition", "lent");
            assert_eq!(plugin.modify(&mut change, job.record()).code, 0);
        }
        plugin.fini();
        assert!(!folder.log().contains("refused"), "{}", folder.log());
        assert_eq!(status(folder)["decisions"]["refused"], 0);
    });
}

/// Whatever does not fit the layout that was built in, nothing is written through it, nothing leaks,
/// and the verdict is the cautious one.
#[test]
fn a_job_that_cannot_be_read_is_judged_by_what_the_change_states() {
    let test = "modify::a_job_that_cannot_be_read_is_judged_by_what_the_change_states";
    alone(test, Some(POLICY), |folder| {
        let stubs = Stubs::load();
        let plugin = Plugin::start(stubs);
        let job = Existing::of(stubs, 1001);
        let live = stubs.live_blocks();
        for what in ["msg", "buf", "left", "unpack"] {
            // SAFETY: the helper reads no environment, and there is no other thread.
            unsafe { std::env::set_var("STUB_BREAK", what) };
            let code = |change: &mut Job| plugin.modify(change, job.record()).code;
            assert_eq!(code(&mut change(stubs, 1001).text("partition", "gpu")), INVALID_QOS, "{what}");
            assert_eq!(code(&mut change(stubs, 1001).text("qos", "high")), INVALID_QOS, "{what}");
            assert_eq!(code(&mut change(stubs, 1001).number("shared", 0)), DENIED, "{what}");
            assert_eq!(code(&mut change(stubs, 1001).number("time_limit", 30)), 0, "{what}");
            assert_eq!(code(&mut change(stubs, 2000).text("partition", "gpu")), 0, "{what}");
            assert_eq!(stubs.live_blocks(), live, "{what}");
        }
        // NULL is no job either.
        let mut change = change(stubs, 1001).text("partition", "gpu");
        assert_eq!(plugin.modify(&mut change, std::ptr::null_mut()).code, INVALID_QOS);
        plugin.fini();
        let told = "refused update of a job that cannot be read uid=1001";
        assert!(folder.log().contains(told), "{}", folder.log());
        assert!(
            folder.log().contains("state QOS= in the same update") || cfg!(slurm_23_02),
            "{}",
            folder.log()
        );
    });
}
