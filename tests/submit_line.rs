//! What real clients sent to three slurmctlds, against what `submit_line` makes of the same
//! command lines. `### command` is what was typed, `SUBMIT field=value ...` what the hook saw.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use sluice::request::Request;
use sluice::request::description::{Description, Message, NO_VAL};
use sluice::submit_line::{Command, CommandLine, Script, Series, World};

/// A command with every submission that the hook saw of it.
struct Recorded {
    typed: String,
    submissions: Vec<Vec<(String, String)>>,
}

fn recorded(text: &str) -> Vec<Recorded> {
    let mut all: Vec<Recorded> = Vec::new();
    for line in text.lines() {
        if let Some(typed) = line.strip_prefix("### ") {
            all.push(Recorded { typed: typed.to_owned(), submissions: Vec::new() });
        } else if let Some(fields) = line.strip_prefix("SUBMIT ") {
            let fields = fields_of(fields);
            // Between two commands the recorder submitted jobs of its own, to have one to update.
            let own =
                fields.iter().any(|(name, value)| name == "submit_line" && value.contains("--parsable"));
            if !own {
                all.last_mut().unwrap().submissions.push(fields);
            }
        }
    }
    all
}

/// `name="text"`, `name=number`, `script=<...>`.
fn fields_of(line: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    let mut rest = line;
    while let Some((name, after)) = rest.split_once('=') {
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap(),
            None if after.starts_with('<') => after.split_once('>').unwrap(),
            None => after.split_once(' ').unwrap_or((after, "")),
        };
        fields.push((name.trim().to_owned(), value.replace("\\n", "\n")));
        rest = next;
    }
    fields
}

/// The request that the recorded description means. Left out, here and in the result of reading
/// the command line:
/// * `script` of `--wrap`, which the recorder did not keep, and `name` of a script that it ran
///   under another name than it noted;
/// * `command`, `arguments`, `sockets_per_node`: the recorder did not keep them;
/// * the environment beyond `--export`, and the session, which says whether it is a test.
fn sent(fields: &[(String, String)]) -> Request<'static> {
    // The recorder did not keep the session, which every submission has and no test.
    let is_test = fields.iter().any(|(_, value)| value.contains("--test-only"));
    let mut d = Description { alloc_sid: if is_test { NO_VAL } else { 1 }, ..Description::default() };
    let mut uid = 0;
    for (name, value) in fields {
        let text = Some(value.clone().into());
        let number = || value.parse::<u64>().unwrap_or_else(|_| panic!("{name}={value}"));
        let (n16, n32) = (|| number() as u16, || number() as u32);
        match name.as_str() {
            "uid" => uid = n32(),
            "user_id" => d.user_id = n32(),
            "partition" => d.partition = text,
            "qos" => d.qos = text,
            "features" => d.features = text,
            "req_nodes" => d.req_nodes = text,
            "min_nodes" => d.min_nodes = n32(),
            "max_nodes" => d.max_nodes = n32(),
            "num_tasks" => d.num_tasks = n32(),
            "ntasks_per_node" => d.ntasks_per_node = n16(),
            "ntasks_per_tres" => d.ntasks_per_tres = n16(),
            "cpus_per_task" => d.cpus_per_task = n16(),
            "min_cpus" => d.min_cpus = n32(),
            "pn_min_cpus" => d.pn_min_cpus = n16(),
            "pn_min_memory" => d.pn_min_memory = number(),
            "tres_per_job" => d.tres_per_job = text,
            "tres_per_node" => d.tres_per_node = text,
            "tres_per_socket" => d.tres_per_socket = text,
            "tres_per_task" => d.tres_per_task = text,
            "cpus_per_tres" => d.cpus_per_tres = text,
            "mem_per_tres" => d.mem_per_tres = text,
            "shared" => d.shared = n16(),
            "time_limit" => d.time_limit = n32(),
            "time_min" => d.time_min = n32(),
            "array_inx" => d.array_inx = text,
            "std_out" => d.std_out = text,
            "std_err" => d.std_err = text,
            "std_in" => d.std_in = text,
            "work_dir" => d.work_dir = text,
            "requeue" => d.requeue = n16(),
            "warn_signal" => d.warn_signal = n16(),
            "warn_time" => d.warn_time = n16(),
            "warn_flags" => d.warn_flags = n16(),
            "dependency" => d.dependency = text,
            "comment" => d.comment = text,
            "name" => d.name = text.filter(|_| value != "s.sh"),
            "nice" => d.nice = n32(),
            "script" => d.script = text.filter(|_| value != "<wrap marker + command"),
            "submit_line" => d.submit_line = text,
            "het" => d.het_job_offset = n32(),
            "env_size" => d.env_size = n32(),
            // sbatch keeps `--export` there.
            "ENV" => d.export = value.strip_prefix("SLURM_EXPORT_ENV=").map(|v| v.to_owned().into()),
            // Recorded with its SPANK option's own name, where Sluice uses a name of its own.
            "SPENV" => {
                d.justify = value.split_once("justify=").map(|(_, reason)| reason.to_owned().into());
            }
            // Set by slurmctld's unpacker, or read by no rule; the tasks that it marks as given are
            // in num_tasks.
            "bitflags" | "immediate" | "spank_env" => {}
            name => panic!("field {name} is not compared"),
        }
    }
    d.request(Message::Submit, uid, uid == 0)
}

/// The words of a recorded command; the recorder left quotes out.
fn argv(typed: &str) -> Vec<String> {
    match typed {
        "srun --justify=why not -n1 true" => {
            ["srun", "--justify=why not", "-n1", "true"].map(str::to_owned).into()
        }
        typed => typed.split(' ').map(str::to_owned).collect(),
    }
}

fn compare(series: Series, text: &str, expected: usize) {
    let mut compared = 0;
    for Recorded { typed, submissions } in recorded(text) {
        let argv = argv(&typed);
        let Some(command) = Command::named(&argv[0]) else { continue };
        // Refused by the client, or by a SPANK option that was not installed: nothing was sent.
        if submissions.is_empty() {
            continue;
        }
        let line = CommandLine::new(command, series, &argv, &[]);
        let first = sent(&submissions[0]);
        let directory = first.work_dir.clone().unwrap();
        let world =
            World { environment: &|_| None, directory: &directory, user_id: first.user_id, group_id: 99 };
        let script = line.script().map(|path| Script { path, text: first.script.as_deref().unwrap() });
        let read = line.read(&world, script);
        assert_eq!(read.problems, [], "{typed}");
        assert_eq!(read.components.len(), submissions.len(), "{typed}");
        for (component, fields) in read.components.into_iter().zip(&submissions) {
            let mut request = component.request;
            request.command = None;
            request.arguments = 0;
            request.sockets_per_node = None;
            assert_eq!(request.test_only, typed.contains("--test-only"), "{typed}");
            let mut sent = sent(fields);
            sent.test_only = request.test_only;
            if request.is_wrapped() {
                assert!(fields.iter().any(|(name, _)| name == "script"), "{typed}");
                request.script = None;
                // Nothing but the script proves that it is a batch job.
                sent.origin = request.origin;
            }
            if request.name.as_deref() == Some("job.sh") {
                request.name = None;
            }
            assert_eq!(request, sent, "{series}: {typed}");
            compared += 1;
        }
    }
    assert_eq!(compared, expected);
}

#[test]
fn clients_of_22_05_send_what_is_read() {
    compare(Series::V22_05, include_str!("vectors/job_desc-22.05.8.txt"), 48);
}

#[test]
fn clients_of_24_11_send_what_is_read() {
    compare(Series::V24_11, include_str!("vectors/job_desc-24.11.5.txt"), 52);
}

#[test]
fn clients_of_26_05_send_what_is_read() {
    compare(Series::V26_05, include_str!("vectors/job_desc-26.05.5.txt"), 52);
}

#[test]
fn what_a_client_refused_is_refused() {
    for (series, text) in [
        (Series::V24_11, include_str!("vectors/job_desc-24.11.5.txt")),
        (Series::V26_05, include_str!("vectors/job_desc-26.05.5.txt")),
    ] {
        let all = recorded(text);
        let both =
            all.iter().find(|r| r.typed == "sbatch --gres=gpu:1 --gpus-per-node=2 --wrap=true").unwrap();
        let line = CommandLine::new(Command::Sbatch, series, &argv(&both.typed), &[]);
        let world = World { environment: &|_| None, directory: "/", user_id: 0, group_id: 0 };
        let problems = line.read(&world, None).problems;
        assert_eq!(
            problems.iter().any(|p| p.refuses()),
            both.submissions.is_empty(),
            "{series} {problems:?}"
        );
    }
}
