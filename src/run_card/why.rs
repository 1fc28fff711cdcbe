//! Whose doing a job's state is: the scheduler's, the job's own, or nobody can tell.
//!
//! Slurm's reasons and states in one table (squeue(1), JOB REASON CODES and JOB STATE CODES; slurm.h).
//! "The scheduler" is everything that is not the job: its limits, its nodes, other jobs, administrators.
//! "The job" is what it asks for and does, and what its owner does to it.

use serde::Serialize;

use super::Exit;

/// Whose doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// Nothing that the job could have done about it.
    Scheduler,
    /// What the job asked for or did.
    Job,
    /// Both is possible by what Slurm says.
    CannotBeTold,
}

/// Whose doing a state is, and the fact that decides it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Why {
    /// Whose doing.
    pub by: By,
    /// What decides it, for people to read.
    pub fact: String,
}

/// What Slurm says of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Told {
    /// The state by its name, without anything behind it: `PENDING`, `CANCELLED`.
    pub state: String,
    /// The reason as Slurm words it; `None` for none.
    pub reason: Option<String>,
    /// Owner (uid).
    pub user_id: Option<u32>,
    /// Who cancelled it (uid), where accounting says.
    pub cancelled_by: Option<u32>,
    /// How it ended.
    pub exit: Option<Exit>,
    /// How often it was started anew.
    pub restarts: Option<u32>,
    /// Its time limit.
    pub time_limit: Option<String>,
    /// The node that failed it.
    pub failed_node: Option<String>,
}

/// What a reason of a waiting job means.
const REASONS: &[(&str, By, &str)] = &[
    ("None", By::Scheduler, "the scheduler has not looked at it yet"),
    ("Priority", By::Scheduler, "jobs of a higher priority wait for the same nodes"),
    ("Resources", By::Scheduler, "it is next, and the nodes that it needs are in use"),
    ("Prolog", By::Scheduler, "its nodes are being made ready"),
    ("SchedDefer", By::Scheduler, "the scheduler puts new jobs off"),
    ("Cleaning", By::Scheduler, "its last run is being cleaned up"),
    ("Licenses", By::Scheduler, "its licences are in use"),
    ("NodeDown", By::Scheduler, "a node that it needs is down"),
    (
        "ReqNodeNotAvail",
        By::Scheduler,
        "nodes that it needs are down, drained or reserved; before a reservation a shorter --time may fit",
    ),
    ("PartitionDown", By::Scheduler, "its partition starts no jobs (State=DOWN)"),
    ("PartitionInactive", By::Scheduler, "its partition is switched off (State=INACTIVE)"),
    ("FrontEndDown", By::Scheduler, "no front end is up"),
    ("ReservationDeleted", By::Scheduler, "its reservation was deleted"),
    ("JobHeldAdmin", By::Scheduler, "an administrator holds it, or its priority is 0"),
    ("JobHoldMaxRequeue", By::Scheduler, "Slurm has requeued it so often that it holds it now"),
    ("AssociationJobLimit", By::Scheduler, "the account has as many jobs as it may have"),
    ("QOSJobLimit", By::Scheduler, "the QoS has as many jobs as it may have"),
    ("QOSUsageThreshold", By::Scheduler, "the account has used more than the QoS asks of it"),
    ("BurstBufferResources", By::Scheduler, "the burst buffer is full"),
    ("BurstBufferStageIn", By::Scheduler, "the burst buffer is being filled"),
    ("SystemFailure", By::Scheduler, "Slurm, or a node, has failed"),
    ("JobHeldUser", By::Job, "its owner holds it: scontrol release lets it go"),
    ("Dependency", By::Job, "it waits for the jobs that its --dependency names"),
    ("DependencyNeverSatisfied", By::Job, "what its --dependency asks for will never be: cancel it"),
    ("JobArrayTaskLimit", By::Job, "as many of its array's tasks run as its --array=...%N lets"),
    ("Reservation", By::Job, "it waits for the reservation that it names"),
    ("BadConstraints", By::Job, "no node can ever give what it asks for"),
    ("PartitionTimeLimit", By::Job, "its --time is more than its partition gives"),
    ("PartitionNodeLimit", By::Job, "its --nodes is more or less than its partition gives"),
    ("AccountNotAllowed", By::Job, "its account may not use its partition"),
    ("QOSNotAllowed", By::Job, "its QoS may not use its partition"),
    ("InvalidAccount", By::Job, "its account is none that it may use"),
    ("InvalidQOS", By::Job, "its QoS is none that it may use"),
    ("DeadLine", By::Job, "it cannot end before its --deadline"),
    ("JobLaunchFailure", By::CannotBeTold, "it could not be started: the node's doing, or its folders'"),
    ("BurstBufferOperation", By::CannotBeTold, "the burst buffer has failed"),
];

/// Signals that say who sent them: a program's own mistakes (signal(7)).
const OWN_SIGNALS: [(u32, &str); 7] = [
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
];

/// Whose doing the state is; `None` where there is nothing to explain: the job runs.
pub fn why(told: &Told) -> Option<Why> {
    let scheduler = |fact: &str| Some(Why { by: By::Scheduler, fact: fact.to_owned() });
    let job = |fact: &str| Some(Why { by: By::Job, fact: fact.to_owned() });
    match told.state.as_str() {
        "RUNNING" | "COMPLETING" | "CONFIGURING" | "RESIZING" | "STAGE_OUT" | "SIGNALING" => None,
        "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" => Some(waits(told)),
        "SUSPENDED" | "STOPPED" => scheduler("it is suspended, which only operators and gang scheduling do"),
        "COMPLETED" => job("its script or command returned 0"),
        "FAILED" => Some(failed(told)),
        "TIMEOUT" => {
            let limit = told.time_limit.as_deref().map(|t| format!(" of {t}")).unwrap_or_default();
            job(&format!("it ran into its time limit{limit}"))
        }
        "OUT_OF_MEMORY" => job("it needed more memory than it had asked for"),
        "DEADLINE" => job("it could not end before its --deadline"),
        "CANCELLED" => Some(cancelled(told)),
        "PREEMPTED" => scheduler("a job that may push it aside took its nodes"),
        "NODE_FAIL" => {
            let node = told.failed_node.as_deref().unwrap_or("one of its nodes");
            scheduler(&format!("{node} failed while it ran"))
        }
        "BOOT_FAIL" => scheduler("a node did not start"),
        "REVOKED" => scheduler("another cluster of the federation runs it"),
        other => Some(Why { by: By::CannotBeTold, fact: format!("state {other} is not known here") }),
    }
}

fn waits(told: &Told) -> Why {
    let reason = told.reason.as_deref().unwrap_or("None");
    // What follows the name are details: `ReqNodeNotAvail,_UnavailableNodes:c1`.
    let name: &str = reason.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or(reason);
    let (by, what) = match (name, told.restarts) {
        ("BeginTime", Some(n)) if n > 0 => (By::Scheduler, "Slurm lets a requeued job wait a while"),
        ("BeginTime", _) => (By::Job, "its --begin is still to come"),
        _ => REASONS
            .iter()
            .find(|(known, ..)| known.eq_ignore_ascii_case(name))
            .map(|&(_, by, what)| (by, what))
            .or_else(|| limit(name))
            .unwrap_or((By::CannotBeTold, "this reason is not known here")),
    };
    Why { by, fact: format!("{what} (Reason={reason})") }
}

/// The reasons of accounting's limits, which are many and built of the same words.
fn limit(name: &str) -> Option<(By, &'static str)> {
    let group = ["AssocGrp", "QOSGrp"].iter().any(|start| name.starts_with(start));
    let limited = ["Assoc", "QOS", "Max"].iter().any(|start| name.starts_with(start));
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if group {
        return Some((By::Scheduler, "jobs of its account or QoS hold all that these may hold together"));
    }
    if !limited {
        return None;
    }
    if has(&["PerJob", "PerNode"]) {
        return Some((By::Job, "it asks for more than one job may have: it will never start like this"));
    }
    if has(&["Min"]) && !has(&["Minutes"]) {
        return Some((By::Job, "it asks for less than a job must have: it will never start like this"));
    }
    if has(&["PerUser", "PerAccount", "PerAcct", "Jobs", "Submit"]) {
        return Some((By::Scheduler, "other jobs of its owner or account hold all that these may hold"));
    }
    has(&["Limit"]).then_some((By::CannotBeTold, "a limit, of one job or of all: Slurm does not say which"))
}

fn failed(told: &Told) -> Why {
    let says = |by, fact: String| Why { by, fact };
    let reason = told.reason.as_deref().unwrap_or("");
    let launch = ["JobLaunchFailure", "SystemFailure"].iter().any(|r| reason.starts_with(r));
    // Slurm gives this reason to every job that a signal has ended, too.
    if launch && told.exit.is_none_or(|exit| exit == Exit::default()) {
        return says(By::CannotBeTold, format!("it could not be started (Reason={reason})"));
    }
    let own = |signal: u32| OWN_SIGNALS.iter().find(|(n, _)| *n == signal).map(|(_, name)| *name);
    match told.exit {
        None => says(By::CannotBeTold, "its exit code is not known".to_owned()),
        // What slurmstepd answers where it could not even open the output.
        Some(Exit { code: 0, signal: 53 }) => says(
            By::CannotBeTold,
            "it could not be started (exit code 0:53): look at the folders of --output and --chdir"
                .to_owned(),
        ),
        Some(Exit { signal: 0, code }) => match code.checked_sub(128).filter(|n| (1..65).contains(n)) {
            Some(n) if own(n).is_none() => says(
                By::CannotBeTold,
                format!(
                    "it returned {code}, as a shell does for a command that signal {n} killed; who sent it is not known"
                ),
            ),
            _ => says(By::Job, format!("its script or command returned {code}")),
        },
        Some(Exit { signal, .. }) => match own(signal) {
            Some(name) => says(By::Job, format!("{name} ended it: a mistake of the program")),
            None => says(By::CannotBeTold, format!("signal {signal} killed it; who sent it is not known")),
        },
    }
}

fn cancelled(told: &Told) -> Why {
    let says = |by, fact: String| Why { by, fact };
    let reason = told.reason.as_deref().unwrap_or("");
    if reason.starts_with("DependencyNeverSatisfied") {
        return says(By::Job, "what its --dependency asks for would never have been".to_owned());
    }
    match (told.cancelled_by, told.user_id) {
        (Some(by), Some(owner)) if by == owner => says(By::Job, format!("its owner (uid {by}) cancelled it")),
        (Some(0), _) => says(By::Scheduler, "root, or Slurm itself, cancelled it".to_owned()),
        (Some(by), Some(owner)) => {
            says(By::Scheduler, format!("uid {by} cancelled it, who is not its owner (uid {owner})"))
        }
        (Some(by), None) => says(By::CannotBeTold, format!("uid {by} cancelled it; its owner is not known")),
        (None, _) => says(By::CannotBeTold, "it was cancelled; who did it is only in accounting".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(reason: &str) -> By {
        let told = Told { state: "PENDING".to_owned(), reason: Some(reason.to_owned()), ..Told::default() };
        let why = why(&told).unwrap();
        assert!(why.fact.ends_with(&format!("(Reason={reason})")), "{why:?}");
        why.by
    }

    #[test]
    fn each_reason_has_its_side() {
        for reason in [
            "None",
            "Priority",
            "Resources",
            "ReqNodeNotAvail,_UnavailableNodes:c1",
            "QOSMaxJobsPerUserLimit",
            "QOSMaxGRESPerUser",
            "MaxGRESPerAccount",
            "AssocGrpGRES",
            "AssocGrpCPUMinutesLimit",
            "QOSGrpNodeLimit",
            "AssocMaxJobsLimit",
            "QOSMaxSubmitJobPerUserLimit",
            "JobHeldAdmin",
        ] {
            assert_eq!(waiting(reason), By::Scheduler, "{reason}");
        }
        for reason in [
            "Dependency",
            "DependencyNeverSatisfied",
            "BeginTime",
            "JobHeldUser",
            "BadConstraints",
            "PartitionTimeLimit",
            "QOSMaxWallDurationPerJobLimit",
            "AssocMaxCpuPerJobLimit",
            "QOSMaxCpuMinutesPerJobLimit",
            "QOSMinGRES",
            "QOSMinCpuNotSatisfied",
            "QOSMaxGRESPerNode",
        ] {
            assert_eq!(waiting(reason), By::Job, "{reason}");
        }
        for reason in ["NewInSlurm99", "QOSTimeLimit", "JobLaunchFailure"] {
            assert_eq!(waiting(reason), By::CannotBeTold, "{reason}");
        }
    }

    fn ended(state: &str, cancelled_by: Option<u32>, exit: Option<(u32, u32)>) -> (By, String) {
        let exit = exit.map(|(code, signal)| Exit { code, signal });
        let told =
            Told { state: state.to_owned(), user_id: Some(1001), cancelled_by, exit, ..Told::default() };
        let why = why(&told).unwrap();
        (why.by, why.fact)
    }

    #[test]
    fn each_end_has_its_side() {
        assert_eq!(ended("CANCELLED", Some(1001), None).0, By::Job);
        assert_eq!(ended("CANCELLED", Some(0), None).0, By::Scheduler);
        assert_eq!(ended("CANCELLED", Some(1002), None).0, By::Scheduler);
        assert_eq!(ended("CANCELLED", None, None).0, By::CannotBeTold);
        assert_eq!(
            ended("FAILED", None, Some((3, 0))),
            (By::Job, "its script or command returned 3".to_owned())
        );
        assert_eq!(ended("FAILED", None, Some((0, 11))).0, By::Job);
        assert_eq!(ended("FAILED", None, Some((139, 0))).0, By::Job);
        assert_eq!(ended("FAILED", None, Some((137, 0))).0, By::CannotBeTold);
        assert_eq!(ended("FAILED", None, Some((0, 9))).0, By::CannotBeTold);
        assert_eq!(ended("FAILED", None, Some((255, 0))).0, By::Job);
        for state in ["NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "REVOKED", "SUSPENDED"] {
            assert_eq!(ended(state, None, None).0, By::Scheduler, "{state}");
        }
        for state in ["TIMEOUT", "OUT_OF_MEMORY", "DEADLINE", "COMPLETED"] {
            assert_eq!(ended(state, None, None).0, By::Job, "{state}");
        }
        assert_eq!(why(&Told { state: "RUNNING".to_owned(), ..Told::default() }), None);
    }

    #[test]
    fn a_requeued_job_waits_for_the_scheduler() {
        let told = Told {
            state: "PENDING".to_owned(),
            reason: Some("BeginTime".to_owned()),
            restarts: Some(1),
            ..Told::default()
        };
        assert_eq!(why(&told).unwrap().by, By::Scheduler);
    }
}
