//! `scontrol update`: the keys that rules read, as scontrol puts them into a job description
//! (scontrol/update_job.c). Keys are known without regard to case.

use crate::request::memory::parse_mb;
use crate::request::{ArraySpec, Memory, Request, TimeLimit, Tres};

/// The request of an update that states `text`, of a job of the owner of `job`.
///
/// # Errors
/// Where a pair is none, or its key or value is not known.
pub fn change(text: &str, job: &Request<'static>) -> Result<Request<'static>, String> {
    let mut change = Request {
        user_id: job.user_id,
        submit_uid: job.submit_uid,
        privileged: job.privileged,
        group_id: job.group_id,
        ..Request::default()
    };
    for word in shlex::split(text).ok_or("the quotes in `update` do not match")? {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not KEY=VALUE"))?;
        state(&mut change, key, value).ok_or_else(|| format!("`{word}` is not known to these tests"))?;
    }
    Ok(change)
}

fn state(change: &mut Request<'static>, key: &str, value: &str) -> Option<()> {
    let text = || Some(value.to_owned().into());
    // scontrol itself puts the prefix there (23.11 and later), older ones do not: both are read.
    let tres = || Tres::new(value.to_owned());
    let number = || value.parse().ok();
    match key.to_ascii_lowercase().as_str() {
        "qos" => change.qos = text(),
        "partition" => change.partition = text(),
        "account" => change.account = text(),
        "reservation" | "reservationname" => change.reservation = text(),
        "comment" => change.comment = text(),
        "dependency" => change.dependency = text(),
        "stdout" => change.std_out = text(),
        "stderr" => change.std_err = text(),
        "name" | "jobname" => change.name = text(),
        "timelimit" => change.time_limit = TimeLimit::parse(value)?,
        "timemin" => change.time_min = TimeLimit::parse(value)?,
        "numnodes" => {
            let (low, high) = value.split_once('-').unwrap_or((value, value));
            (change.min_nodes, change.max_nodes) = (Some(low.parse().ok()?), Some(high.parse().ok()?));
        }
        "numtasks" => change.num_tasks = Some(number()?),
        "numcpus" => change.min_cpus = Some(number()?),
        "mincpusnode" => change.pn_min_cpus = Some(value.parse().ok()?),
        "cpuspertask" => change.cpus_per_task = Some(value.parse().ok()?),
        "minmemorynode" => {
            change.memory = match parse_mb(value)? {
                0 => Memory::WholeNode,
                mb => Memory::PerNode(mb),
            }
        }
        "minmemorycpu" => change.memory = Memory::PerCpu(parse_mb(value)?),
        "gres" | "trespernode" => change.tres_per_node = tres(),
        "tresperjob" => change.tres_per_job = tres(),
        "trespertask" => change.tres_per_task = tres(),
        "trespersocket" => change.tres_per_socket = tres(),
        "cpuspertres" => change.cpus_per_tres = tres(),
        "mempertres" => change.mem_per_tres = tres(),
        "requeue" => change.requeue = Some(number()? != 0),
        "priority" => change.priority = Some(number()?),
        "nice" => change.nice = Some(value.parse().ok()?),
        "arraytaskthrottle" => change.array = Some(ArraySpec::new(value.to_owned())),
        _ => return None,
    }
    Some(())
}
