//! One job by `scontrol show job` and by `sacct`: a run card, and what Slurm says of its state.
//!
//! Both are asked for times as seconds (`SLURM_TIME_FORMAT=%s`). sacct's fields are set apart by a text
//! that the caller makes up anew each time: a job's name may hold a bar or a line end.

use super::scontrol::Record;
use crate::recorded;
use crate::request::time::Minutes;
use crate::request::{TimeLimit, justification_in_comment, lineage};
use crate::run_card::why::Told;
use crate::run_card::{Array, Card, Exit, Shape, Times, gpus_per_node, lineage_of};

/// What is asked of sacct; of these those that this sacct knows. Users' own texts come last.
pub const FIELDS: [&str; 27] = [
    "JobID",
    "JobIDRaw",
    "Cluster",
    "UID",
    "State",
    "ExitCode",
    "Reason",
    "Account",
    "Partition",
    "QOS",
    "QOSREQ",
    "Timelimit",
    "ReqTRES",
    "AllocTRES",
    "ReqNodes",
    "NNodes",
    "NodeList",
    "Submit",
    "Start",
    "End",
    "Restarts",
    "FailedNode",
    "AdminComment",
    "JobName",
    "Comment",
    "WorkDir",
    "SubmitLine",
];

/// A job as Slurm's commands tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// Its shape, times and state.
    pub card: Card,
    /// What there is to say of the state.
    pub told: Told,
    /// Sluice's part of it is `recorded`.
    pub admin_comment: Option<String>,
    /// The user's own.
    pub comment: Option<String>,
    /// The command that submitted it, its words with blanks in between.
    pub submit_line: Option<String>,
}

/// Where a lineage or a reason was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Written by Sluice when it accepted the job.
    AdminComment,
    /// `--comment`, by the user.
    Comment,
    /// The words of the command, as typed.
    SubmitLine,
}

impl Job {
    /// The same job, told by somebody who may know more.
    pub fn or(mut self, other: Job) -> Job {
        let (card, more) = (&mut self.card, other.card);
        card.requested = std::mem::take(&mut card.requested).or(more.requested);
        card.actual = std::mem::take(&mut card.actual).or(more.actual);
        card.cluster = card.cluster.take().or(more.cluster);
        card.name = card.name.take().or(more.name);
        card.user_id = card.user_id.or(more.user_id);
        card.account = card.account.take().or(more.account);
        card.work_dir = card.work_dir.take().or(more.work_dir);
        card.restarts = card.restarts.or(more.restarts);
        card.exit = card.exit.or(more.exit);
        let times = &mut card.times;
        times.submit = times.submit.or(more.times.submit);
        times.start = times.start.or(more.times.start);
        times.end = times.end.or(more.times.end);
        let (told, more) = (&mut self.told, other.told);
        if told.state == more.state {
            told.cancelled_by = told.cancelled_by.or(more.cancelled_by);
            told.failed_node = told.failed_node.take().or(more.failed_node);
            told.exit = told.exit.or(more.exit);
        }
        self.admin_comment = self.admin_comment.or(other.admin_comment);
        self.comment = self.comment.or(other.comment);
        self.submit_line = self.submit_line.or(other.submit_line);
        self
    }

    /// Puts lineage and justification into the card, as far as they were recorded, and says where they
    /// were found. A job that was accepted without more ado has them in no admin comment.
    pub fn find_recorded(&mut self) -> (Option<Source>, Option<Source>) {
        let comment = self.comment.as_deref().unwrap_or_default();
        let (reason, list) = self.admin_comment.as_deref().map(recorded::texts).unwrap_or_default();
        let typed = |option: &str| self.submit_line.as_deref().and_then(|line| typed(line, option));
        let in_comment = lineage::in_comment(comment).map(str::to_owned).next();
        let (list, list_source) = first([
            (list.map(str::to_owned), Source::AdminComment),
            (in_comment, Source::Comment),
            (typed("--lineage"), Source::SubmitLine),
        ]);
        let (reason, reason_source) = first([
            (justification_in_comment(comment).map(str::to_owned), Source::Comment),
            (reason.map(str::to_owned), Source::AdminComment),
        ]);
        self.card.lineage = list.map(|list| lineage_of(&list));
        self.card.justification = reason;
        (list_source, reason_source)
    }
}

fn first<const N: usize>(from: [(Option<String>, Source); N]) -> (Option<String>, Option<Source>) {
    let found = from.into_iter().find_map(|(text, source)| Some((text?, source)));
    found.map_or((None, None), |(text, source)| (Some(text), Some(source)))
}

/// What was typed behind an option. The words of a submit line are not quoted: a value with blanks is
/// cut at the first.
fn typed(line: &str, option: &str) -> Option<String> {
    let mut words = line.split(' ');
    let mut found = None;
    while let Some(word) = words.next() {
        if word == option {
            found = words.next();
        } else if let Some(value) = word.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')) {
            found = Some(value);
        }
    }
    found.map(str::to_owned)
}

/// The jobs that `scontrol show job` prints.
pub fn scontrol_jobs(text: &str) -> Vec<Job> {
    text.split("\n\n").filter(|part| part.contains("JobId=")).filter_map(scontrol_job).collect()
}

fn scontrol_job(text: &str) -> Option<Job> {
    let record = Record::new(text);
    // These may hold blanks and end with their line.
    let line = |key: &str| {
        let lines = text.lines().map(str::trim_start);
        let value = lines.filter_map(|l| l.strip_prefix(key)?.strip_prefix('=')).next()?;
        some(value.trim_end())
    };
    let number = |key: &str| record.number(key).and_then(|n| u32::try_from(n).ok());
    let id = number("JobId")?;
    let (array, task) = (number("ArrayJobId"), record.get("ArrayTaskId"));
    let label = match (array, task, number("HetJobId"), number("HetJobOffset")) {
        (Some(array), Some(task), ..) if task.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{array}_{task}")
        }
        (Some(array), Some(tasks), ..) => format!("{array}_[{tasks}]"),
        (_, _, Some(leader), Some(offset)) => format!("{leader}+{offset}"),
        _ => id.to_string(),
    };
    let state = record.get("JobState")?.to_owned();
    let waits = state == "PENDING";
    let runs = state == "RUNNING" || state == "SUSPENDED" || state == "COMPLETING";
    let time = |key: &str| record.number(key).filter(|&t| t > 0);
    // Up to 22.05 there is one list, of what was asked for, then of what was got.
    let one = record.get("TRES");
    let asked = record.get("ReqTRES").or(one.filter(|_| waits)).map(Shape::of_tres).unwrap_or_default();
    let got = record.get("AllocTRES").or(one).filter(|_| !waits).map(Shape::of_tres).unwrap_or_default();
    let place = Shape {
        partition: record.get("Partition").map(str::to_owned),
        qos: record.get("QOS").map(str::to_owned),
        time_limit: record.get("TimeLimit").and_then(time_limit),
        ..Shape::default()
    };
    let tasks = record.number("NumTasks");
    let cpus_per_task = record.number("CPUs/Task");
    let requested = Shape {
        partition: place.partition.clone().filter(|_| waits),
        qos: place.qos.clone(),
        time_limit: place.time_limit.clone(),
        gpus_per_node: record.get("TresPerNode").and_then(gpus_per_node),
        cpus_per_task: cpus_per_task.filter(|&n| n > 1),
        ..Shape::default()
    };
    let actual =
        Shape { node_list: record.get("NodeList").map(str::to_owned), tasks, cpus_per_task, ..place };
    let exit = record.get("ExitCode").and_then(Exit::parse).filter(|_| !waits && !runs);
    // `UserId=ann(1001)`.
    let user_id = record.get("UserId").and_then(|u| u.rsplit_once('(')?.1.strip_suffix(')')?.parse().ok());
    let restarts = number("Restarts");
    let card = Card {
        job: Some(label),
        job_id: Some(id),
        // The last of its line.
        name: text.lines().next().and_then(|l| some(l.split_once("JobName=")?.1)),
        user_id,
        account: record.get("Account").map(str::to_owned),
        work_dir: line("WorkDir"),
        requested: requested.or(asked),
        actual: if waits { Shape::default() } else { actual.or(got) },
        array: array.map(|job_id| Array {
            job_id,
            task: task.and_then(|t| t.parse().ok()),
            at_once: number("ArrayTaskThrottle"),
            ..Array::default()
        }),
        times: Times {
            submit: time("SubmitTime"),
            start: time("StartTime").filter(|_| !waits),
            end: time("EndTime").filter(|_| !waits && !runs),
        },
        restarts,
        state: Some(state.clone()),
        exit,
        ..Card::default()
    };
    let told = Told {
        reason: record.get("Reason").map(str::to_owned),
        user_id,
        exit,
        restarts,
        time_limit: card.requested.time_limit.clone(),
        state,
        ..Told::default()
    };
    Some(Job { card, told, admin_comment: line("AdminComment"), comment: line("Comment"), submit_line: None })
}

/// Of [`FIELDS`] those that sacct knows, by what `sacct --helpformat` prints.
pub fn known_fields(help: &str) -> Vec<&'static str> {
    FIELDS.into_iter().filter(|field| help.split_whitespace().any(|known| known == *field)).collect()
}

/// The jobs that `sacct -n -p -X --delimiter=SEPARATOR --format=FIELDS` prints: each field has the
/// separator behind it, each job a line end.
pub fn sacct_jobs(text: &str, fields: &[&str], separator: &str) -> Vec<Job> {
    let mut values = text.split(separator);
    let mut jobs = Vec::new();
    loop {
        let record: Vec<&str> = values.by_ref().take(fields.len()).collect();
        if record.len() < fields.len() || fields.is_empty() {
            return jobs;
        }
        // The line end of the job before stands before the first field.
        let get = |name: &str| {
            let place = fields.iter().position(|field| *field == name)?;
            some(record.get(place)?.trim_matches('\n'))
        };
        jobs.extend(sacct_job(&get));
    }
}

fn sacct_job(get: &dyn Fn(&str) -> Option<String>) -> Option<Job> {
    let number = |name: &str| get(name)?.parse::<u32>().ok();
    let label = get("JobID")?;
    let text = get("State")?;
    let mut words = text.split(' ');
    let state = words.next()?.trim_end_matches('+').to_owned();
    let cancelled_by = text.strip_prefix("CANCELLED by ").and_then(|uid| uid.trim().parse().ok());
    let time = |name: &str| get(name)?.parse::<u64>().ok().filter(|&t| t > 0);
    let waits = state == "PENDING";
    let over = !waits && !["RUNNING", "SUSPENDED", "COMPLETING"].contains(&state.as_str());
    let started = time("Start").is_some();
    let limit = get("Timelimit").and_then(|t| time_limit(&t));
    let (partition, qos) = (get("Partition"), get("QOS"));
    let asked = get("ReqTRES").map(|t| Shape::of_tres(&t)).unwrap_or_default();
    let got = get("AllocTRES").map(|t| Shape::of_tres(&t)).unwrap_or_default();
    let requested = Shape {
        partition: partition.clone().filter(|_| !started),
        qos: get("QOSREQ").or_else(|| qos.clone()),
        time_limit: limit.clone(),
        ..Shape::default()
    };
    let actual = Shape {
        partition,
        qos,
        time_limit: limit.clone(),
        node_list: get("NodeList").filter(|list| list != "None assigned"),
        ..Shape::default()
    };
    let (array, task) = match label.split_once('_') {
        Some((array, task)) => (array.parse().ok(), task.parse().ok()),
        None => (None, None),
    };
    let user_id = number("UID");
    let exit = get("ExitCode").and_then(|t| Exit::parse(&t)).filter(|_| over);
    let restarts = number("Restarts");
    let card = Card {
        cluster: get("Cluster"),
        job: Some(label),
        job_id: number("JobIDRaw"),
        name: get("JobName"),
        user_id,
        account: get("Account"),
        work_dir: get("WorkDir"),
        requested: requested.or(asked),
        actual: if started { actual.or(got) } else { Shape::default() },
        array: array.map(|job_id| Array { job_id, task, ..Array::default() }),
        times: Times { submit: time("Submit"), start: time("Start"), end: time("End").filter(|_| over) },
        restarts,
        state: Some(state.clone()),
        exit,
        ..Card::default()
    };
    let told = Told {
        reason: get("Reason").filter(|r| r != "None"),
        user_id,
        cancelled_by,
        exit,
        restarts,
        time_limit: limit,
        failed_node: get("FailedNode"),
        state,
    };
    Some(Job {
        card,
        told,
        admin_comment: get("AdminComment"),
        comment: get("Comment"),
        submit_line: get("SubmitLine"),
    })
}

fn some(text: &str) -> Option<String> {
    Some(text).filter(|t| !t.is_empty() && *t != "(null)" && *t != "N/A").map(str::to_owned)
}

/// The same limit in the same words, whoever tells it.
fn time_limit(text: &str) -> Option<String> {
    match TimeLimit::parse(text)? {
        TimeLimit::Minutes(minutes) => Some(Minutes(minutes).to_string()),
        TimeLimit::Unlimited => Some("UNLIMITED".to_owned()),
        TimeLimit::Unset => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEPARATOR: &str = "\u{1f}1\u{1f}";

    fn sacct(pairs: &[(&str, &str)]) -> String {
        let value = |field: &&str| pairs.iter().find(|(name, _)| name == field).map_or("", |(_, v)| *v);
        FIELDS.iter().map(value).map(|v| format!("{v}{SEPARATOR}")).collect::<String>() + "\n"
    }

    #[test]
    fn accounting_is_read_whatever_users_write() {
        let text = sacct(&[
            ("JobID", "120_3"),
            ("JobIDRaw", "123"),
            ("UID", "1001"),
            ("State", "CANCELLED by 1001"),
            ("ExitCode", "0:15"),
            ("QOS", "normal"),
            ("Timelimit", "01:30:00"),
            ("ReqTRES", "billing=4,cpu=4,gres/gpu=2,mem=8G,node=1"),
            ("AllocTRES", "billing=4,cpu=4,gres/gpu=2,mem=8G,node=1"),
            ("NodeList", "g1"),
            ("Submit", "1700000000"),
            ("Start", "1700000010"),
            ("End", "1700000020"),
            ("AdminComment", "sluice: exclusive justified: 'too  long...'; lineage: commit=4f2a (ref 1)"),
            ("JobName", "a|b\n999|x"),
            ("Comment", "justify: too  long a reason"),
        ]) + &sacct(&[
            ("JobID", "121"),
            ("State", "PENDING"),
            ("Start", "Unknown"),
            ("Reason", "Priority"),
        ]);
        let mut jobs = sacct_jobs(&text, &FIELDS, SEPARATOR);
        assert_eq!(jobs.len(), 2);
        let (recorded, card) = (jobs[0].find_recorded(), &jobs[0].card);
        assert_eq!(recorded, (Some(Source::AdminComment), Some(Source::Comment)));
        assert_eq!(card.job.as_deref(), Some("120_3"));
        assert_eq!(card.lineage, Some(lineage_of("commit=4f2a")));
        assert_eq!(card.justification.as_deref(), Some("too  long a reason"));
        assert_eq!(
            (card.array.as_ref().map(|a| (a.job_id, a.task)), card.name.as_deref()),
            (Some((120, Some(3))), Some("a|b\n999|x"))
        );
        assert_eq!(
            (card.requested.gpus, card.actual.gpus_per_node, card.requested.time_limit.as_deref()),
            (Some(2), Some(2), Some("1:30:00"))
        );
        assert_eq!((jobs[0].told.cancelled_by, card.state.as_deref()), (Some(1001), Some("CANCELLED")));
        let waiting = &jobs[1];
        assert_eq!((waiting.card.times.start, waiting.card.actual.clone()), (None, Shape::default()));
        assert_eq!(waiting.told.reason.as_deref(), Some("Priority"));
    }

    #[test]
    fn a_sacct_that_knows_less_is_asked_less() {
        let help = "Account             AdminComment        JobID\nState  Timelimit\n";
        let fields = known_fields(help);
        assert_eq!(fields, ["JobID", "State", "Account", "Timelimit", "AdminComment"]);
        let text =
            format!("7{SEPARATOR}COMPLETED{SEPARATOR}bio{SEPARATOR}Partition_Limit{SEPARATOR}{SEPARATOR}\n");
        let jobs = sacct_jobs(&text, &fields, SEPARATOR);
        assert_eq!(
            (jobs[0].card.account.as_deref(), jobs[0].card.requested.time_limit.clone()),
            (Some("bio"), None)
        );
        assert_eq!(sacct_jobs("", &fields, SEPARATOR), []);
        assert_eq!(sacct_jobs("x", &[], SEPARATOR), []);
    }

    const PENDING: &str = "\
JobId=8 ArrayJobId=8 ArrayTaskId=1-3%2 ArrayTaskThrottle=2 JobName=my job Partition=x
   UserId=games(5) GroupId=games(60) MCS_label=N/A
   Priority=4294901757 Nice=0 Account=bio QOS=normal
   JobState=PENDING Reason=JobHeldUser Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0
   RunTime=00:00:00 TimeLimit=1-00:00:00 TimeMin=N/A
   SubmitTime=1700000000 EligibleTime=Unknown
   StartTime=Unknown EndTime=Unknown Deadline=N/A
   Partition=gpu,cpu AllocNode:Sid=login:1
   NodeList=(null)
   NumNodes=1-1 NumCPUs=2 NumTasks=1 CPUs/Task=2 ReqB:S:C:T=0:0:*:*
   TRES=cpu=2,mem=300M,node=1,billing=2,gres/gpu=4
   Command=/home/games/a b.sh
   WorkDir=/home/games/my work
   AdminComment=sluice: filled in --requeue; lineage: commit=4f2a (ref 1) \n   Comment=a  b \n   StdErr=/home/games/x\n   TresPerNode=gres:gpu:4\n\n";

    #[test]
    fn a_waiting_job_is_read_from_scontrol() {
        let mut jobs = scontrol_jobs(PENDING);
        assert_eq!(jobs.len(), 1);
        jobs[0].find_recorded();
        let job = &jobs[0];
        let card = &job.card;
        assert_eq!(
            (card.job.as_deref(), card.name.as_deref()),
            (Some("8_[1-3%2]"), Some("my job Partition=x"))
        );
        assert_eq!((card.user_id, card.work_dir.as_deref()), (Some(5), Some("/home/games/my work")));
        assert_eq!(
            (card.requested.gpus_per_node, card.requested.gpus, card.requested.cpus_per_task),
            (Some(4), Some(4), Some(2))
        );
        assert_eq!(
            (card.requested.time_limit.as_deref(), card.actual.clone()),
            (Some("1-00:00:00"), Shape::default())
        );
        assert_eq!((card.times.submit, card.times.start, card.exit), (Some(1_700_000_000), None, None));
        assert_eq!(card.lineage, Some(lineage_of("commit=4f2a")));
        assert_eq!((job.comment.as_deref(), job.told.reason.as_deref()), (Some("a  b"), Some("JobHeldUser")));
    }

    #[test]
    fn options_are_found_in_a_submit_line() {
        let line = "sbatch --lineage=commit=1 --lineage commit=2 --lineages=x job.sh";
        assert_eq!(typed(line, "--lineage").as_deref(), Some("commit=2"));
        assert_eq!(typed("sbatch job.sh", "--lineage"), None);
    }

    #[test]
    fn two_tellers_make_one_job() {
        let told = |state: &str, by| Told { state: state.to_owned(), cancelled_by: by, ..Told::default() };
        let first = Job { told: told("CANCELLED", None), ..Job::default() };
        let second =
            Job { told: told("CANCELLED", Some(0)), comment: Some("x".to_owned()), ..Job::default() };
        let both = first.or(second.clone());
        assert_eq!((both.told.cancelled_by, both.comment.as_deref()), (Some(0), Some("x")));
        let requeued = Job { told: told("PENDING", None), ..Job::default() }.or(second);
        assert_eq!(requeued.told.cancelled_by, None);
    }
}
