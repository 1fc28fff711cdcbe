//! A job as slurmctld describes it (`slurm_job_info_t`), and the typed request that it once was.
//!
//! slurmctld completes what the user left out: one node, one CPU a task, the partition's memory.
//! What is known to be such a default is taken for "not stated", so that an update is judged as the
//! submission was; where that cannot be told, what the job will really get counts. Sentinels differ
//! from those of a job description: mostly 0 is "not stated". Neither C nor unsafe is needed here.

use super::description::{
    INFINITE, INFINITE16, NO_VAL, NO_VAL16, memory, per_task, sharing, stated16, time, tres,
};
use super::{ArraySpec, Memory, Origin, Request, Text, TimeLimit, WarnSignal};

/// `bitflags`: `--ntasks` was given (slurm.h).
pub const JOB_NTASKS_SET: u64 = 1 << 14;
/// `bitflags`: `--cpus-per-task` was given (slurm.h).
pub const JOB_CPUS_SET: u64 = 1 << 15;
/// `bitflags`: memory was given, at submission or by an update (slurm.h).
pub const JOB_MEM_SET: u64 = 1 << 23;
/// `job_state`: the job waits (slurm.h, `JOB_STATE_BASE` and `JOB_PENDING`).
const JOB_STATE_BASE: u32 = 0xff;
const JOB_PENDING: u32 = 0;

/// Where a batch job writes that says nothing of it. 26.05 puts this into the job itself.
const DEFAULT_PATHS: [&str; 2] = ["slurm-%j.out", "slurm-%A_%a.out"];

/// The fields of `slurm_job_info_t` that a request is made of, as slurmctld packs them (job_mgr.c,
/// `pack_job`). Names and units are those of slurm.h.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "slurm.h documents each field")]
pub struct JobInfo<'a> {
    pub job_id: u32,
    pub job_state: u32,
    pub bitflags: u64,
    pub user_id: u32,
    pub group_id: u32,
    pub batch_flag: u16,
    pub cronspec: Option<Text<'a>>,
    pub het_job_id: u32,
    pub het_job_offset: u32,
    pub array_job_id: u32,
    pub array_task_id: u32,
    pub array_max_tasks: u32,
    pub array_task_str: Option<Text<'a>>,
    /// Bits set in `array_bitmap`: tasks of this record. The text is cut where there are many.
    pub array_tasks: Option<u64>,

    pub partition: Option<Text<'a>>,
    pub qos: Option<Text<'a>>,
    pub account: Option<Text<'a>>,
    pub resv_name: Option<Text<'a>>,
    pub features: Option<Text<'a>>,
    pub prefer: Option<Text<'a>>,
    pub req_nodes: Option<Text<'a>>,
    pub exc_nodes: Option<Text<'a>>,
    pub licenses: Option<Text<'a>>,

    pub num_nodes: u32,
    pub max_nodes: u32,
    pub num_tasks: u32,
    pub num_cpus: u32,
    pub cpus_per_task: u16,
    pub pn_min_cpus: u16,
    pub ntasks_per_node: u16,
    pub ntasks_per_socket: u16,
    pub ntasks_per_core: u16,
    pub ntasks_per_tres: u16,
    pub sockets_per_node: u16,
    pub cores_per_socket: u16,
    pub threads_per_core: u16,
    pub core_spec: u16,
    pub tres_per_job: Option<Text<'a>>,
    pub tres_per_node: Option<Text<'a>>,
    pub tres_per_socket: Option<Text<'a>>,
    pub tres_per_task: Option<Text<'a>>,
    pub cpus_per_tres: Option<Text<'a>>,
    pub mem_per_tres: Option<Text<'a>>,
    pub pn_min_memory: u64,
    pub pn_min_tmp_disk: u32,
    pub shared: u16,

    pub time_limit: u32,
    pub time_min: u32,
    pub std_out: Option<Text<'a>>,
    pub std_err: Option<Text<'a>>,
    pub std_in: Option<Text<'a>>,
    pub work_dir: Option<Text<'a>>,
    pub requeue: u16,
    pub dependency: Option<Text<'a>>,
    pub comment: Option<Text<'a>>,
    pub admin_comment: Option<Text<'a>>,
    pub name: Option<Text<'a>>,
    pub container: Option<Text<'a>>,
    pub wckey: Option<Text<'a>>,
    pub mail_user: Option<Text<'a>>,
    pub command: Option<Text<'a>>,
}

impl<'a> JobInfo<'a> {
    /// Whether the job waits: what has started has its nodes, and a number of them is an allocation.
    pub fn is_pending(&self) -> bool {
        self.job_state & JOB_STATE_BASE == JOB_PENDING
    }

    /// The job by the number that users type: `7`, `7_3`, `7+1`.
    pub fn label(&self) -> String {
        if self.array_job_id != 0 && self.array_task_id < NO_VAL {
            format!("{}_{}", self.array_job_id, self.array_task_id)
        } else if self.het_job_id != 0 && self.het_job_offset < NO_VAL {
            format!("{}+{}", self.het_job_id, self.het_job_offset)
        } else {
            self.job_id.to_string()
        }
    }

    /// The request that the job is now.
    pub fn request(self) -> Request<'a> {
        let stated = |flag: u64| self.bitflags & flag != 0;
        let pending = self.is_pending();
        // slurmctld works out a number of nodes for show where none was given; there is no upper end
        // then. What has started has as many as it has.
        let (min_nodes, max_nodes) = match (pending, self.max_nodes) {
            (true, 0 | NO_VAL..) => (None, None),
            (true, max) => (Some(self.num_nodes), Some(max)),
            (false, _) => (Some(self.num_nodes), Some(self.num_nodes)),
        };
        let memory = if stated(JOB_MEM_SET) { memory(self.pn_min_memory) } else { Memory::Unset };
        // One a node where nothing was said.
        let num_tasks = Some(self.num_tasks)
            .filter(|&n| n < NO_VAL && n > 0 && (stated(JOB_NTASKS_SET) || n > self.num_nodes));
        let cpus_per_task =
            stated16(self.cpus_per_task).filter(|&n| n > 1 || self.bitflags & JOB_CPUS_SET != 0);
        let array = self.array();
        let origin = self.origin();
        let het_offset = (self.het_job_id != 0).then_some(self.het_job_offset);
        Request {
            user_id: self.user_id,
            group_id: Some(self.group_id),
            partition: text(self.partition),
            qos: text(self.qos),
            account: text(self.account),
            reservation: text(self.resv_name),
            features: text(self.features),
            prefer: text(self.prefer),
            req_nodes: text(self.req_nodes),
            exc_nodes: text(self.exc_nodes),
            licenses: text(self.licenses),
            min_nodes,
            max_nodes,
            num_tasks,
            ntasks_per_node: stated16(self.ntasks_per_node),
            ntasks_per_socket: stated16(self.ntasks_per_socket),
            ntasks_per_core: stated16(self.ntasks_per_core),
            ntasks_per_gpu: stated16(self.ntasks_per_tres),
            cpus_per_task,
            // Of a job that has started this is what it holds, not what it asked for.
            min_cpus: Some(self.num_cpus).filter(|&n| pending && n > 0 && n < NO_VAL),
            pn_min_cpus: stated16(self.pn_min_cpus).filter(|&n| n > 1),
            sockets_per_node: stated16(self.sockets_per_node),
            cores_per_socket: stated16(self.cores_per_socket),
            threads_per_core: stated16(self.threads_per_core),
            core_spec: Some(self.core_spec).filter(|&n| n != 0 && n != NO_VAL16 && n != INFINITE16),
            tres_per_job: tres(self.tres_per_job),
            tres_per_node: tres(self.tres_per_node),
            tres_per_socket: tres(self.tres_per_socket),
            tres_per_task: per_task(self.tres_per_task, cpus_per_task),
            cpus_per_tres: tres(self.cpus_per_tres),
            mem_per_tres: tres(self.mem_per_tres),
            memory,
            pn_min_tmp_disk: Some(self.pn_min_tmp_disk).filter(|&n| n > 0 && n < NO_VAL),
            shared: sharing(self.shared),
            // Where none was given slurmctld shows the partition's, which mostly is none either. Nobody
            // gains by asking for one that is unlimited and then moving: the partition's limit holds.
            time_limit: match self.time_limit {
                INFINITE if pending => TimeLimit::Unset,
                minutes => time(minutes),
            },
            time_min: match self.time_min {
                0 => TimeLimit::Unset,
                minutes => time(minutes),
            },
            array,
            std_out: path(self.std_out),
            std_err: path(self.std_err),
            std_in: text(self.std_in),
            work_dir: text(self.work_dir),
            requeue: (self.requeue < NO_VAL16).then_some(self.requeue != 0),
            // slurmctld does not tell whether there is one, and no update can set one: that it cannot be
            // seen must not count against the user.
            signal: Some(WarnSignal::default()),
            dependency: text(self.dependency),
            comment: text(self.comment),
            admin_comment: text(self.admin_comment),
            name: text(self.name),
            container: text(self.container),
            wckey: text(self.wckey),
            mail_user: text(self.mail_user),
            command: text(self.command),
            origin,
            het_offset,
            ..Request::default()
        }
    }

    /// The array that this record stands for: its tasks that have not started, or one that has been
    /// split off and writes where the array writes.
    fn array(&self) -> Option<ArraySpec<'a>> {
        if self.array_job_id == 0 {
            return None;
        }
        let indices = match &self.array_task_str {
            Some(text) if !text.is_empty() => text.split('%').next().unwrap_or_default().to_owned(),
            _ if self.array_task_id < NO_VAL => self.array_task_id.to_string(),
            _ => return None,
        };
        let mut array = match self.array_max_tasks {
            0 | NO_VAL.. => ArraySpec::new(indices),
            cap => ArraySpec::new(format!("{indices}%{cap}")),
        };
        array.tasks = self.array_tasks.filter(|&n| n > 0).or(array.tasks);
        Some(array)
    }

    fn origin(&self) -> Origin {
        match (self.cronspec.is_some(), self.batch_flag) {
            (true, _) => Origin::Cron,
            (false, 1..) => Origin::Batch,
            // Only the first component of sbatch's heterogeneous jobs has the script.
            (false, 0) if self.het_job_id != 0 => Origin::Unknown,
            (false, 0) => Origin::Interactive,
        }
    }
}

fn text(text: Option<Text<'_>>) -> Option<Text<'_>> {
    text.filter(|t| !t.is_empty())
}

fn path(path: Option<Text<'_>>) -> Option<Text<'_>> {
    text(path).filter(|p| !DEFAULT_PATHS.contains(&p.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Sharing;

    /// `sbatch -p gpu --gpus=2 job.sh`, as 22.05.8 describes it.
    fn plain() -> JobInfo<'static> {
        JobInfo {
            job_id: 7,
            user_id: 1001,
            group_id: 1001,
            batch_flag: 1,
            array_task_id: NO_VAL,
            partition: Some("gpu".into()),
            num_nodes: 1,
            num_tasks: 1,
            num_cpus: 1,
            cpus_per_task: 1,
            pn_min_cpus: 1,
            core_spec: NO_VAL16,
            ntasks_per_core: INFINITE16,
            ntasks_per_socket: INFINITE16,
            sockets_per_node: NO_VAL16,
            cores_per_socket: NO_VAL16,
            threads_per_core: NO_VAL16,
            tres_per_job: Some("gres:gpu:2".into()),
            shared: NO_VAL16,
            time_limit: 60,
            requeue: 1,
            ..JobInfo::default()
        }
    }

    #[test]
    fn what_slurmctld_completes_is_not_stated() {
        let request = plain().request();
        assert_eq!((request.min_nodes, request.max_nodes, request.num_tasks), (None, None, None));
        assert_eq!((request.cpus_per_task, request.pn_min_cpus, request.min_cpus), (None, None, Some(1)));
        assert_eq!((request.memory, request.shared), (Memory::Unset, Sharing::Unset));
        assert_eq!(request.core_spec.or(request.ntasks_per_core).or(request.threads_per_core), None);
        assert_eq!((request.time_limit, request.time_min), (TimeLimit::Minutes(60), TimeLimit::Unset));
        let unlimited = JobInfo { time_limit: INFINITE, ..plain() };
        assert_eq!(unlimited.request().time_limit, TimeLimit::Unset);
        assert_eq!(request.tres_per_job.gpu_count(), Some(2));
        assert_eq!((request.origin, request.het_offset), (Origin::Batch, None));
    }

    #[test]
    fn what_was_stated_is() {
        let stated = JobInfo {
            bitflags: JOB_NTASKS_SET | JOB_CPUS_SET | JOB_MEM_SET,
            pn_min_memory: 0,
            num_nodes: 2,
            max_nodes: 2,
            shared: 0,
            ..plain()
        };
        let request = stated.request();
        assert_eq!((request.min_nodes, request.max_nodes, request.num_tasks), (Some(2), Some(2), Some(1)));
        assert_eq!((request.cpus_per_task, request.memory), (Some(1), Memory::WholeNode));
        assert_eq!(request.shared, Sharing::Exclusive);
    }

    #[test]
    fn a_default_of_memory_is_the_sites_not_the_users() {
        let default = JobInfo { pn_min_memory: 4096, ..plain() };
        assert_eq!(default.clone().request().memory, Memory::Unset);
        assert_eq!(JobInfo { bitflags: JOB_MEM_SET, ..default }.request().memory, Memory::PerNode(4096));
    }

    #[test]
    fn a_job_that_runs_has_the_nodes_that_it_has() {
        let running = JobInfo { job_state: 1, num_nodes: 3, num_cpus: 192, ..plain() };
        let request = running.request();
        assert_eq!((request.min_nodes, request.max_nodes, request.min_cpus), (Some(3), Some(3), None));
    }

    #[test]
    fn an_array_and_a_task_split_from_it_are_told_by_their_numbers() {
        let master = JobInfo {
            array_job_id: 7,
            array_task_str: Some("1-2,4-6,...%2".into()),
            array_max_tasks: 2,
            array_tasks: Some(900),
            ..plain()
        };
        assert_eq!(master.label(), "7");
        let array = master.request().array.expect("an array");
        assert_eq!((array.tasks, array.running_max), (Some(900), Some(2)));

        let task = JobInfo { job_id: 8, array_job_id: 7, array_task_id: 3, ..plain() };
        assert_eq!(task.label(), "7_3");
        assert_eq!(task.request().array.expect("of an array").tasks, Some(1));

        let component = JobInfo { job_id: 10, het_job_id: 9, het_job_offset: 1, ..plain() };
        assert_eq!(component.label(), "9+1");
        assert_eq!(component.request().het_offset, Some(1));
    }

    #[test]
    fn a_path_that_slurmctld_filled_in_is_the_default() {
        let job =
            JobInfo { std_out: Some("slurm-%A_%a.out".into()), std_err: Some("err-%j".into()), ..plain() };
        let request = job.request();
        assert_eq!((request.std_out, request.std_err.as_deref()), (None, Some("err-%j")));
    }
}
