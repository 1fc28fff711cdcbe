//! What real clients sent to three slurmctlds, against what `submit_line` makes of the same
//! command lines. `### command` is what was typed, `SUBMIT field=value ...` what the hook saw.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod recorded;

use sluice::request::Request;
use sluice::request::description::{Description, Message, NO_VAL};
use sluice::submit_line::{Command, CommandLine, Script, Series, World};

/// A command with every submission that the hook saw of it.
struct Recorded {
    typed: String,
    submissions: Vec<Vec<(String, String)>>,
}

fn recorded(text: &str) -> Vec<Recorded> {
    let mut all: Vec<Recorded> = text
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .map(|typed| Recorded { typed: typed.to_owned(), submissions: Vec::new() })
        .collect();
    for call in recorded::calls(text).into_iter().filter(|c| c.message == Message::Submit) {
        // Between two commands the recorder submitted jobs of its own, to have one to update.
        let own = call.text("submit_line").is_some_and(|line| line.contains("--parsable"));
        if !own {
            let command = all.iter_mut().rfind(|r| r.typed == call.command).unwrap();
            command.submissions.push(call.fields);
        }
    }
    all
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
        match name.as_str() {
            "uid" => uid = value.parse().unwrap(),
            "name" if value == "s.sh" => {}
            "script" if value.contains("created by sbatch --wrap") => {}
            // Recorded with its SPANK option's own name, where Sluice uses a name of its own.
            "SPENV" => {
                d.justify = value.split_once("justify=").map(|(_, reason)| reason.to_owned().into());
            }
            // Set by slurmctld's unpacker, or read by no rule; the tasks that it marks as given are
            // in num_tasks.
            "bitflags" | "immediate" | "spank_env" => {}
            name => recorded::set(&mut d, name, value),
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
