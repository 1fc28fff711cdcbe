//! A job as slurmctld describes it at this moment, for its run card.
//!
//! The question is the public API's own (`slurm_load_job`), asked by the job's user: what scontrol would
//! show. It may take as long as slurmctld takes, so only a child process asks (`child`).

use std::ffi::{c_char, c_int};
use std::ptr;

use crate::request::description::{INFINITE, NO_VAL, NO_VAL16};
use crate::request::job_info::{JOB_CPUS_SET, JOB_NTASKS_SET};
use crate::request::time::Minutes;
use crate::run_card::{Array, Card, Exit, Shape, Times, gpus_per_node, state_name};
use crate::slurm::api::symbol;
use crate::slurm::strings;
use crate::slurm::sys::{job_info_msg_t, slurm_job_info_t};

/// `SHOW_ALL | SHOW_DETAIL` (slurm.h): the GPUs of each node are a detail.
const SHOW: u16 = 3;

/// slurm.h; with a step's id in the place of the number since 26.05.
#[cfg(not(slurm_26_05))]
type LoadJob = unsafe extern "C" fn(*mut *mut job_info_msg_t, u32, u16) -> c_int;
#[cfg(slurm_26_05)]
type LoadJob =
    unsafe extern "C" fn(*mut *mut job_info_msg_t, crate::slurm::sys::slurm_step_id_t, u16) -> c_int;

/// What slurmctld says of one job.
pub struct Described {
    /// The card, but for what only the job itself knows.
    pub card: Card,
    /// `job_state`, with its flags.
    pub state: u32,
}

/// Asks slurmctld. `None` where it does not answer, or knows no such job any more.
pub fn load(job_id: u32) -> Option<Described> {
    // SAFETY: the prototype of slurm.h.
    let load: LoadJob = unsafe { symbol(c"slurm_load_job") }?;
    let mut message: *mut job_info_msg_t = ptr::null_mut();
    #[cfg(not(slurm_26_05))]
    let id = job_id;
    #[cfg(slurm_26_05)]
    let id = crate::slurm::sys::slurm_step_id_t { sluid: 0, job_id, step_het_comp: NO_VAL, step_id: NO_VAL };
    // SAFETY: fills in the pointer with a message of Slurm's own, which is left to the end of this
    // process.
    if unsafe { load(&mut message, id, SHOW) } != 0 || message.is_null() {
        return None;
    }
    // SAFETY: a message that was unpacked whole has so many records, which nobody changes.
    let jobs = unsafe {
        let message = &*message;
        let count = usize::try_from(message.record_count).unwrap_or(0);
        if message.job_array.is_null() {
            &[][..]
        } else {
            std::slice::from_raw_parts(message.job_array, count)
        }
    };
    // The id of an array, or of a heterogeneous job, is answered with all of it.
    jobs.iter()
        .find(|job| id_of(job) == job_id)
        .map(|job| Described { card: card(job), state: job.job_state })
}

fn id_of(job: &slurm_job_info_t) -> u32 {
    #[cfg(slurm_25_11)]
    return job.step_id.job_id;
    #[cfg(not(slurm_25_11))]
    return job.job_id;
}

fn card(job: &slurm_job_info_t) -> Card {
    // SAFETY: each text is NULL or what was unpacked, NUL-terminated, and lives as long as the message.
    let text = |p: *mut c_char| unsafe { strings::read(p) }.filter(|t| !t.is_empty()).map(String::from);
    let tres = |p: *mut c_char| text(p).map(|t| Shape::of_tres(&t)).unwrap_or_default();
    let time = |t: i64| u64::try_from(t).ok().filter(|&t| t > 0);
    let known = |n: u32| Some(n).filter(|&n| n < NO_VAL);
    let flag = |bit: u64| job.bitflags & bit != 0;
    let state = state_name(job.job_state);
    let waits = state == Some("PENDING");

    let place = Shape {
        partition: text(job.partition),
        qos: text(job.qos),
        time_limit: match job.time_limit {
            INFINITE => Some("UNLIMITED".to_owned()),
            NO_VAL => None,
            minutes => Some(Minutes(minutes).to_string()),
        },
        ..Shape::default()
    };
    let asked = tres(job.tres_req_str);
    let requested = Shape {
        // Once it has started slurmctld only knows the partition that it chose of a list.
        partition: place.partition.clone().filter(|_| waits),
        gpus_per_node: text(job.tres_per_node).and_then(|t| gpus_per_node(&t)).or(asked.gpus_per_node),
        tasks: known(job.num_tasks).filter(|_| flag(JOB_NTASKS_SET)).map(u64::from),
        cpus_per_task: Some(job.cpus_per_task)
            .filter(|&n| n != NO_VAL16 && (n > 1 || flag(JOB_CPUS_SET)))
            .map(u64::from),
        qos: place.qos.clone(),
        time_limit: place.time_limit.clone(),
        ..asked
    };
    let got = tres(job.tres_alloc_str);
    let actual = if waits {
        Shape::default()
    } else {
        Shape {
            node_list: text(job.nodes),
            gpus_per_node: got.gpus_per_node.or_else(|| on_each_node(job)),
            tasks: known(job.num_tasks).map(u64::from),
            cpus_per_task: Some(job.cpus_per_task).filter(|&n| n != NO_VAL16 && n > 0).map(u64::from),
            ..place
        }
        .or(got)
    };
    let id = id_of(job);
    let (array_job, task) = (job.array_job_id, known(job.array_task_id));
    let label = match (task, job.het_job_id) {
        (Some(task), _) if array_job != 0 => format!("{array_job}_{task}"),
        (_, leader) if leader != 0 => format!("{leader}+{}", job.het_job_offset),
        _ => id.to_string(),
    };
    let at_once = Some(job.array_max_tasks).filter(|&n| n > 0 && n < NO_VAL);
    Card {
        cluster: text(job.cluster),
        job: Some(label),
        job_id: Some(id),
        name: text(job.name),
        user_id: Some(job.user_id),
        account: text(job.account),
        work_dir: text(job.work_dir),
        requested,
        actual,
        array: (array_job != 0).then(|| Array { job_id: array_job, task, at_once, ..Array::default() }),
        times: Times {
            submit: time(job.submit_time),
            start: time(job.start_time).filter(|_| !waits),
            // Of a job that runs this is when its time is up.
            end: time(job.end_time)
                .filter(|_| !waits && state != Some("RUNNING") && state != Some("SUSPENDED")),
        },
        restarts: Some(u32::from(job.restart_cnt)),
        state: state.map(str::to_owned),
        exit: Some(Exit::of_status(job.exit_code)).filter(|_| !waits && state != Some("RUNNING")),
        ..Card::default()
    }
}

/// GPUs of each node, where all have as many (`gpu:a100:4(IDX:0-3)`).
fn on_each_node(job: &slurm_job_info_t) -> Option<u64> {
    let count = usize::try_from(job.gres_detail_cnt).ok()?;
    if job.gres_detail_str.is_null() || count == 0 {
        return None;
    }
    // SAFETY: so many texts were unpacked, each NULL or NUL-terminated.
    let nodes = unsafe { std::slice::from_raw_parts(job.gres_detail_str, count) };
    // SAFETY: as above.
    let gpus =
        |&p: &*mut c_char| unsafe { strings::read(p) }.and_then(|t| gpus_per_node(&without_indices(&t)));
    let mut all = nodes.iter().map(|node| gpus(node).unwrap_or(0));
    let first = all.next()?;
    all.all(|n| n == first).then_some(first)
}

/// `gpu:a100:2(IDX:0,3),nic:1(IDX:0)` without what is in brackets, commas and all.
fn without_indices(gres: &str) -> String {
    let mut plain = String::with_capacity(gres.len());
    for (i, part) in gres.split(['(', ')']).enumerate() {
        if i % 2 == 0 {
            plain.push_str(part);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_of_a_node_are_read_without_their_indices() {
        let gpus = |text: &str| gpus_per_node(&without_indices(text));
        assert_eq!(gpus("gpu:a100:2(IDX:0,3)"), Some(2));
        assert_eq!(gpus("nic:1(IDX:0),gpu:4(IDX:0-3)"), Some(4));
        assert_eq!(gpus("gpu:a100:2(IDX:0,3),gpu:h100:1(IDX:2"), Some(3));
        assert_eq!(gpus("nic:1"), None);
    }
}
