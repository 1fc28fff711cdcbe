//! What the client works out from generic resources before it sends a job: tasks, nodes and CPUs
//! that follow from GPUs, and combinations that it refuses (`gres_job_state_validate`,
//! `_test_gres_cnt`, gres.c). It is not done where `--clusters` names other clusters.

use super::Series;
use crate::request::Tres;
use crate::request::description::{Description, NO_VAL, NO_VAL16};

/// What is asked of one resource, of one type where a type is named.
#[derive(Clone, Debug, Default)]
struct Asked {
    name: String,
    kind: Option<String>,
    per_job: u64,
    per_node: u64,
    per_socket: u64,
    per_task: u64,
    cpus: u64,
    total: u64,
}

/// `text` with `prefix` before each item that has none (`gres_prepend_tres_type`).
pub fn with_prefix(text: &str, prefix: &str) -> String {
    let items: Vec<String> = text
        .split(',')
        .map(|item| if item.starts_with(prefix) { item.to_owned() } else { format!("{prefix}{item}") })
        .collect();
    items.join(",")
}

/// Fills in what follows; the error is what the client says.
pub fn derive(d: &mut Description<'static>, series: Series) -> Result<(), String> {
    implied_tasks(d);
    well_formed(d)?;
    let mut asked = Vec::new();
    collect(d, &mut asked);
    let gpus_asked = asked.iter().any(|a: &Asked| a.name == "gpu" && a.total > 0);

    if !matches!(d.ntasks_per_tres, 0 | NO_VAL16) {
        tasks_of_gpus(d, &mut asked, gpus_asked)?;
    }
    let gpus_asked = gpus_asked || asked.iter().any(|a| a.name == "gpu" && a.per_job > 0);
    if let Some(text) = d.mem_per_tres.as_deref().filter(|_| !gpus_asked) {
        return Err(format!("Requested mem_per_tres={text} but did not request any GPU."));
    }
    if let Some(text) = d.cpus_per_tres.as_deref().filter(|_| !gpus_asked && series >= Series::V24_11) {
        return Err(format!("Requested cpus_per_tres={text} but did not request any GPU."));
    }
    for one in &mut asked {
        fits(one, d, series)?;
    }
    // GPUs whole and GPUs in shares are one or the other.
    let has = |name: &str| asked.iter().any(|a| a.name == name && a.total > 0);
    if has("gpu") && (has("shard") || has("mps")) {
        return Err("Invalid generic resource (gres) specification".to_owned());
    }
    for typed in asked.iter().filter(|a| a.kind.is_some()) {
        let bare = asked.iter().find(|a| a.name == typed.name && a.kind.is_none());
        if bare.is_some_and(|b| [b.per_job, b.per_node, b.per_socket, b.per_task].iter().any(|&n| n > 0)) {
            return Err("Invalid GRES specification (with and without type identification)".to_owned());
        }
    }
    if series >= Series::V24_11 {
        let per_gpu = asked.iter().map(|a| a.cpus).max().unwrap_or(0);
        let gpus = total_gpus(&asked);
        raise_min_cpus(d, per_gpu.saturating_mul(gpus));
    }
    if series >= Series::V26_05 && d.cpus_per_task != NO_VAL16 && d.num_tasks != NO_VAL {
        raise_min_cpus(d, u64::from(d.cpus_per_task).saturating_mul(u64::from(d.num_tasks)));
    }
    Ok(())
}

/// A count that is left out behind its separator is none, and `=` needs a number.
fn well_formed(d: &Description<'static>) -> Result<(), String> {
    let lists = [&d.tres_per_job, &d.tres_per_node, &d.tres_per_socket, &d.tres_per_task];
    let items = lists.into_iter().flatten().flat_map(|text| text.split(','));
    for item in items.filter(|i| i.starts_with("gres")) {
        let number = item.rsplit_once('=').map(|(_, n)| n);
        if item.ends_with([':', '=']) || number.is_some_and(|n| !n.starts_with(|c: char| c.is_ascii_digit()))
        {
            return Err("Invalid generic resource (gres) specification".to_owned());
        }
    }
    Ok(())
}

fn total_gpus(asked: &[Asked]) -> u64 {
    asked.iter().filter(|a| a.name == "gpu").fold(0, |sum, a| sum.saturating_add(a.total))
}

fn raise_min_cpus(d: &mut Description<'static>, cpus: u64) {
    d.min_cpus = d.min_cpus.max(u32::try_from(cpus).unwrap_or(NO_VAL - 1));
}

/// The number of tasks where nodes and tasks per something fix it.
fn implied_tasks(d: &mut Description<'static>) {
    let needed = d.tres_per_task.is_some() || d.ntasks_per_tres != NO_VAL16;
    if !needed || d.num_tasks != NO_VAL || d.min_nodes == NO_VAL || d.min_nodes != d.max_nodes {
        return;
    }
    if d.ntasks_per_tres != NO_VAL16 {
        d.num_tasks = d.min_nodes.saturating_mul(u32::from(d.ntasks_per_tres));
    } else if d.ntasks_per_node != NO_VAL16 {
        d.num_tasks = d.min_nodes.saturating_mul(u32::from(d.ntasks_per_node));
    } else if d.cpus_per_task == NO_VAL16 {
        d.num_tasks = d.min_nodes;
    }
}

/// Which of a resource's amounts a list states.
#[derive(Clone, Copy)]
enum Of {
    Job,
    Node,
    Socket,
    Task,
    Cpus,
    Memory,
}

fn collect(d: &Description<'static>, asked: &mut Vec<Asked>) {
    let known = |n: u32| (n != NO_VAL).then_some(u64::from(n));
    let known16 = |n: u16| (n != NO_VAL16).then_some(u64::from(n));
    let nodes = known(d.min_nodes);
    let tasks = known(d.num_tasks);
    let sockets = match (nodes, known16(d.sockets_per_node), tasks, known16(d.ntasks_per_socket)) {
        (Some(nodes), Some(sockets), ..) => nodes.saturating_mul(sockets),
        (_, _, Some(tasks), Some(per_socket)) => tasks.div_ceil(per_socket.max(1)),
        (_, Some(sockets), ..) => sockets,
        _ => 1,
    };
    for (of, text) in [
        (Of::Cpus, &d.cpus_per_tres),
        (Of::Job, &d.tres_per_job),
        (Of::Node, &d.tres_per_node),
        (Of::Socket, &d.tres_per_socket),
        (Of::Task, &d.tres_per_task),
        (Of::Memory, &d.mem_per_tres),
    ] {
        let text = text.as_deref().unwrap_or("");
        // cpu= and license= in --tres-per-task are no generic resources.
        for item in text.split(',').filter(|i| i.starts_with("gres")) {
            let tres = Tres::new(item);
            let Some(item) = tres.items().next() else { continue };
            let Some(count) = item.count.filter(|&n| n > 0) else { continue };
            change(asked, item.name, item.kind, |one| {
                let total = match of {
                    Of::Job => {
                        one.per_job = count;
                        count
                    }
                    Of::Node => {
                        one.per_node = count;
                        count.saturating_mul(nodes.unwrap_or(1))
                    }
                    Of::Socket => {
                        one.per_socket = count;
                        count.saturating_mul(sockets)
                    }
                    Of::Task => {
                        one.per_task = count;
                        count.saturating_mul(tasks.unwrap_or(1))
                    }
                    Of::Cpus => {
                        one.cpus = count;
                        0
                    }
                    Of::Memory => 0,
                };
                one.total = one.total.max(total);
            });
        }
    }
}

/// Changes what is asked of one resource, which becomes known by it.
fn change(asked: &mut Vec<Asked>, name: &str, kind: Option<&str>, change: impl FnOnce(&mut Asked)) {
    match asked.iter_mut().find(|a| a.name == name && a.kind.as_deref() == kind) {
        Some(one) => change(one),
        None => {
            let (name, kind) = (name.to_owned(), kind.map(str::to_owned));
            let mut one = Asked { name, kind, ..Asked::default() };
            change(&mut one);
            asked.push(one);
        }
    }
}

/// `--ntasks-per-gpu`: tasks from GPUs, or GPUs from tasks.
fn tasks_of_gpus(d: &mut Description<'static>, asked: &mut Vec<Asked>, gpus: bool) -> Result<(), String> {
    let per_gpu = u64::from(d.ntasks_per_tres);
    if gpus {
        let total = total_gpus(asked);
        d.num_tasks = u32::try_from(total.saturating_mul(per_gpu)).unwrap_or(NO_VAL - 1);
    } else if d.num_tasks != 0 && d.num_tasks != NO_VAL {
        let total = u64::from(d.num_tasks) / per_gpu;
        change(asked, "gpu", None, |one| {
            one.per_job = total;
            one.total = one.total.max(total);
        });
    } else {
        return Err("gres_job_state_validate: --ntasks-per-tres needs either a GRES GPU specification or a \
                    node/ntask specification"
            .to_owned());
    }
    Ok(())
}

/// Whether the amounts of one resource agree; each that follows from others is filled in.
fn fits(a: &mut Asked, d: &mut Description<'static>, series: Series) -> Result<(), String> {
    let n = a.name.clone();
    let refuse = |words: String| Err(words);
    let above = |part: u64, whole: u64| part > 0 && whole > 0 && part > whole;
    if [a.per_node, a.per_task, a.per_socket].into_iter().any(|part| above(part, a.per_job)) {
        return refuse(format!("Failed to ensure --{n}s >= --gres={n}/--{n}s-per-node >= --{n}s-per-socket"));
    }
    if above(a.per_task, a.per_node) || above(a.per_socket, a.per_node) {
        return refuse(format!("Failed to ensure --{n}s >= --{n}s-per-task"));
    }
    if a.per_socket > 0 && d.sockets_per_node == NO_VAL16 {
        return refuse(format!("--{n}s-per-socket option requires --sockets-per-node specification"));
    }
    if a.cpus > 0 && d.cpus_per_task != NO_VAL16 {
        return refuse(format!("--cpus-per-{n} is mutually exclusive with --cpus-per-task"));
    }
    if a.per_job > 0 && a.per_node > 0 {
        if a.per_job % a.per_node != 0 {
            return refuse(format!(
                "Failed to validate job spec, --{n}s is not multiple of --gres={n}/--{n}s-per-node"
            ));
        }
        let nodes = u32::try_from(a.per_job / a.per_node).unwrap_or(NO_VAL - 1);
        if (d.min_nodes != NO_VAL && nodes < d.min_nodes) || nodes > d.max_nodes {
            return refuse(format!(
                "Failed to validate job spec. Based on --{n} and --gres={n}/--{n}s-per-node required nodes \
                 ({nodes}) doesn't fall between min_nodes ({}) and max_nodes ({}) boundaries.",
                d.min_nodes, d.max_nodes
            ));
        }
        (d.min_nodes, d.max_nodes) = (nodes, nodes);
    }
    if a.per_node > 0 && a.per_socket > 0 {
        if a.per_node % a.per_socket != 0 {
            return refuse(format!(
                "Failed to validate job spec, --gres={n}/--{n}s-per-node not multiple of --{n}s-per-socket."
            ));
        }
        if u64::from(d.sockets_per_node) != a.per_node / a.per_socket {
            return refuse(format!(
                "Failed to validate job spec. Based on --gres={n}/--{n}s-per-node and --{n}s-per-socket \
                 required number of sockets differ from --sockets-per-node."
            ));
        }
    }
    let per_tres = u32::from(d.ntasks_per_tres);
    if !matches!(d.ntasks_per_tres, 0 | NO_VAL16) && d.num_tasks != NO_VAL && d.num_tasks % per_tres != 0 {
        return refuse(format!(
            "Failed to validate job spec, -n/--ntasks has to be a multiple of --ntasks-per-{n}."
        ));
    }
    if a.per_task > 0 {
        per_task(a, d, series)?;
    }
    if a.per_job > 0 {
        let count = u32::try_from(a.per_job).unwrap_or(NO_VAL - 1);
        if d.min_nodes != NO_VAL && count < d.min_nodes {
            return refuse(format!("Failed to validate job spec, --{n}s < -N"));
        }
        if d.max_nodes != NO_VAL && count < d.max_nodes {
            d.max_nodes = count;
        }
    }
    Ok(())
}

fn per_task(a: &mut Asked, d: &mut Description<'static>, series: Series) -> Result<(), String> {
    let n = &a.name;
    let narrow = |n: u64| u16::try_from(n).unwrap_or(NO_VAL16 - 1);
    if a.per_job > 0 {
        if a.per_job % a.per_task != 0 {
            return Err(format!("Failed to validate job spec, --{n}s not multiple of --{n}s-per-task"));
        }
        let tasks = u32::try_from(a.per_job / a.per_task).unwrap_or(NO_VAL - 1);
        if d.num_tasks == NO_VAL {
            d.num_tasks = tasks;
        } else if d.num_tasks != tasks {
            return Err(format!(
                "Failed to validate job spec. Based on --{n}s and --{n}s-per-task number of requested tasks \
                 differ from -n/--ntasks."
            ));
        }
    } else if d.num_tasks == NO_VAL {
        let either = if series < Series::V24_11 { "" } else { " or --tres-per-task" };
        return Err(format!(
            "Failed to validate job spec. --{n}s-per-task{either} used without either --{n}s or -n/--ntasks \
             is not allowed."
        ));
    } else {
        a.per_job = u64::from(d.num_tasks).saturating_mul(a.per_task);
    }
    if a.per_node > 0 {
        if a.per_node % a.per_task != 0 {
            return Err(format!(
                "Failed to validate job spec, --gres={n}/--{n}s-per-node not multiple of --{n}s-per-task."
            ));
        }
        let tasks = narrow(a.per_node / a.per_task);
        match d.ntasks_per_node {
            0 | NO_VAL16 => d.ntasks_per_node = tasks,
            asked if asked != tasks => {
                return Err(format!(
                    "Failed to validate job spec. Based on --gres={n}/--{n}s-per-node and --{n}s-per-task \
                     requested number of tasks per node differ from --ntasks-per-node."
                ));
            }
            _ => {}
        }
    }
    if a.per_socket > 0 {
        if a.per_socket % a.per_task != 0 {
            return Err(format!(
                "Failed to validate job spec, --{n}s-per-socket not multiple of --{n}s-per-task."
            ));
        }
        let tasks = narrow(a.per_socket / a.per_task);
        match d.ntasks_per_socket {
            0 | NO_VAL16 => d.ntasks_per_socket = tasks,
            asked if asked != tasks => {
                return Err(format!(
                    "Failed to validate job spec. Based on --{n}s-per-socket and --{n}s-per-task requested \
                     number of tasks per sockets differ from --ntasks-per-socket."
                ));
            }
            _ => {}
        }
    }
    if a.cpus > 0 {
        d.cpus_per_task = narrow(a.cpus.saturating_mul(a.per_task));
    }
    Ok(())
}
