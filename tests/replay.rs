//! `sluice replay` on what real daemons wrote, and on what no daemon should have written.
//!
//! `tests/replay/sacct-22.05.8.txt` and `records-22.05.8.jsonl` are the same 21 jobs, recorded by
//! `SLUICE_RECORD=FOLDER cargo test --features plugin --test slurmctld -- past` on Slurm 22.05.8.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by a panic"
)]

#[path = "replay/rows.rs"]
mod rows;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use sluice::date::Date;
use sluice::policy::EXAMPLE;
use sluice::policy::load::load;
use sluice::policy::resolve::NoDirectory;
use sluice::replay::{Options, Source, run};
use sluice::submit_line::Series;

const SACCT: &str = include_str!("replay/sacct-22.05.8.txt");
const RECORDS: &str = include_str!("replay/records-22.05.8.jsonl");
const POLICY: &str = "tests/replay/sluice.toml";

/// What the command says of a text on standard input: exit code, report, standard error.
fn replay(text: &str, arguments: &[&str]) -> (i32, Value, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(["replay", "--slurm", "22.05", "--format", "json", "--policy", POLICY, "-"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let bytes = text.as_bytes().to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&bytes);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code().unwrap(), report, String::from_utf8(output.stderr).unwrap())
}

fn report(text: &str) -> Value {
    let (code, report, stderr) = replay(text, &[]);
    assert_eq!((code, stderr.as_str()), (0, ""), "mode warn refuses nothing");
    report
}

/// What counts of a rule: warned, lifted, filled in, cannot tell.
fn counts(report: &Value, rule: &str) -> [u64; 4] {
    let rules = report["rules"].as_array().unwrap();
    let line = rules.iter().find(|r| r["rule"] == rule).unwrap_or_else(|| panic!("{rule}"));
    let n = |key: &str| line[key].as_u64().unwrap();
    [n("warned"), n("justified") + n("exempt"), n("edited"), n("cannot_tell")]
}

/// Everything of a report but how it was read.
fn verdicts(report: &Value) -> Value {
    let mut report = report.clone();
    report.as_object_mut().unwrap().remove("passed");
    report
}

#[test]
fn jobs_of_a_real_sacct_are_judged_as_they_were() {
    let report = report(SACCT);
    assert_eq!(report["total"]["jobs"], 21);
    assert_eq!(report["passed"]["rows"], 26, "tasks and components are lines of their own");
    for (rule, expected) in [
        ("qos-entitlement", [1, 0, 0, 0]),
        ("gpu-request", [1, 0, 0, 0]),
        ("exclusive", [3, 1, 0, 1]),
        ("cpus-per-gpu", [4, 0, 1, 0]),
        ("memory-per-gpu", [1, 0, 0, 0]),
        ("time-limit", [1, 0, 0, 2]),
        ("array-logs", [1, 0, 0, 1]),
        ("wrap", [9, 1, 0, 0]),
        ("interactive", [1, 0, 0, 0]),
    ] {
        assert_eq!(counts(&report, rule), expected, "{rule}");
    }
}

#[test]
fn records_of_a_real_slurmctld_are_judged_as_they_were() {
    let report = report(RECORDS);
    assert_eq!(report["total"]["jobs"], 21);
    assert_eq!(report["total"]["gpu_hours"], 0.0);
    for (rule, expected) in [
        ("qos-entitlement", [1, 0, 0, 1]),
        ("exclusive", [4, 1, 0, 0]),
        ("cpus-per-gpu", [4, 0, 1, 0]),
        ("time-limit", [2, 0, 0, 0]),
        ("array-logs", [2, 0, 0, 0]),
        ("wrap", [9, 1, 0, 5]),
    ] {
        assert_eq!(counts(&report, rule), expected, "{rule}");
    }
    // As the system log has them, between what others write.
    let logged: String = RECORDS
        .lines()
        .map(|l| format!("Nov 30 12:00:00 ctl sluice[7]: {l}\nNov 30 12:00:00 ctl cron[8]: tick\n"))
        .collect();
    assert_eq!(verdicts(&self::report(&logged)), verdicts(&report));
}

#[test]
fn columns_stand_in_any_order_behind_any_delimiter() {
    let expected = verdicts(&report(SACCT));
    let turned = |line: &str, with: &str| line.split('\u{1f}').rev().collect::<Vec<_>>().join(with) + "\n";
    for delimiter in ["\u{1f}", "\t", "@@", "|"] {
        let text: String = SACCT.lines().map(|l| turned(l, delimiter)).collect();
        assert_eq!(verdicts(&report(&text)), expected, "{delimiter:?}");
    }
    let parsable: String = SACCT.lines().map(|l| l.replace('\u{1f}', "|") + "|\r\n").collect();
    assert_eq!(verdicts(&report(&parsable)), expected);
}

#[test]
fn what_is_read_twice_counts_once() {
    let once = report(SACCT);
    let (_, body) = SACCT.split_once('\n').unwrap();
    let twice = report(&format!("{SACCT}{body}"));
    assert_eq!(verdicts(&twice), verdicts(&once));
    assert_eq!(twice["passed"]["repeated"], 26);
    // Put together with their headers, and with steps between.
    let steps = body.lines().next().unwrap().replacen('1', "1.batch", 2);
    let again = report(&format!("{SACCT}{SACCT}{steps}\n"));
    assert_eq!(verdicts(&again), verdicts(&once));
    assert_eq!((&again["passed"]["steps"], &again["passed"]["broken"]), (&1.into(), &0.into()), "{again:#}");
}

#[test]
fn lines_that_are_broken_are_told_and_keep_no_other_from_being_read() {
    let mut lines: Vec<String> = SACCT.lines().map(str::to_owned).collect();
    let whole = report(SACCT);
    lines.insert(1, "cut off\u{1f}here".to_owned());
    lines.insert(9, lines[9].replacen("bio", "bio\u{1f}surplus", 1));
    lines.push(lines[3].replacen(|c: char| c.is_ascii_digit(), "x", 2));
    let (code, report, stderr) = replay(&lines.join("\n"), &[]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(report["passed"]["broken"], 3, "{:#}", report["passed"]);
    let first = report["passed"]["first"][0].as_str().unwrap();
    assert_eq!(first, "standard input:2: columns are missing: the line is cut off");
    assert_eq!(verdicts(&report)["total"], verdicts(&whole)["total"]);
}

#[test]
fn a_comment_over_several_lines_is_one_column() {
    let text = SACCT.replace("justify: a benchmark of memory", "justify: a bench\n\nmark of memory");
    let report = report(&text);
    assert_eq!((&report["total"]["jobs"], &report["passed"]["broken"]), (&21.into(), &0.into()));
    // Such a reason lifts nothing by itself; that it did at the time stands in the admin comment.
    assert_eq!(counts(&report, "exclusive"), [3, 1, 0, 1]);
}

#[test]
fn where_nothing_can_be_read_one_line_says_why() {
    let header = SACCT.lines().next().unwrap();
    for (text, words) in [
        ("", "standard input is empty"),
        ("\n\n", "standard input is empty"),
        (
            "7|ann|gpu\n",
            "standard input is neither sacct --parsable2 output with its header line nor has it records of Sluice",
        ),
        (header, "there is no job to judge"),
        (
            "JobID|User\n7|ann\n",
            "accounting has neither SubmitLine nor ReqTRES of any job: ask sacct for them (--help)",
        ),
        ("JobID|User\nx|ann\n", "standard input:2: x is no job id; there is no other job to judge"),
    ] {
        let (code, report, stderr) = replay(text, &[]);
        assert_eq!((code, report, stderr), (2, Value::Null, format!("sluice: error: {words}\n")), "{text:?}");
    }
}

#[test]
fn without_a_command_line_what_came_of_it_is_judged_and_the_rest_left_open() {
    let header: Vec<&str> = SACCT.lines().next().unwrap().split('\u{1f}').collect();
    let without = |column: &str| {
        let at = header.iter().position(|c| *c == column).unwrap();
        let cut = |line: &str| {
            let mut fields: Vec<&str> = line.split('\u{1f}').collect();
            fields.remove(at);
            fields.join("\u{1f}") + "\n"
        };
        SACCT.lines().map(cut).collect::<String>()
    };
    let report = report(&without("SubmitLine"));
    // 64 CPUs that were not asked for come of --exclusive, or do not: no verdict.
    assert_eq!(counts(&report, "exclusive"), [0, 0, 0, 5]);
    assert_eq!(counts(&report, "cpus-per-gpu")[0], 4);
    assert_eq!(counts(&report, "array-logs"), [0, 0, 0, 3]);
    assert!(report["cannot_tell"].to_string().contains("without SubmitLine"), "{report:#}");
}

#[test]
fn days_and_another_policy() {
    let (code, none, stderr) = replay(SACCT, &["--until", "2026-11-29"]);
    assert_eq!((code, none), (2, Value::Null));
    assert_eq!(stderr, "sluice: error: no job was submitted on the days asked for\n");
    let (_, all, _) = replay(SACCT, &["--since", "2026-11-30", "--until", "2026-11-30"]);
    assert_eq!(all["total"]["jobs"], 21);

    let folder = Folder::new("against");
    let policy = std::fs::read_to_string(POLICY).unwrap();
    let strict = folder.file("strict.toml", &policy.replace("mode = \"warn\"", "mode = \"enforce\""));
    let arguments = ["--policy", strict.as_str(), "--against", POLICY];
    let output = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(["replay", "--slurm", "22.05", "--format", "json", "tests/replay/sacct-22.05.8.txt"])
        .args(arguments)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "jobs are newly refused");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["changes"]["newly_refused"], report["total"]["refused"]);
    assert_eq!(report["changes"]["no_longer_refused"], 0);
    let rules = report["changes"]["rules"].as_array().unwrap();
    let exclusive = rules.iter().find(|r| r["rule"] == "exclusive").unwrap();
    assert_eq!((&exclusive["newly_refused"], &exclusive["newly_noted"]), (&3.into(), &0.into()));
    assert_eq!(exclusive["examples"][0]["job"], "1");
    assert!(exclusive["examples"][0]["words"].as_str().unwrap().starts_with("--exclusive takes all"));
    // The other way round nothing is newly refused, although jobs no longer are.
    let output = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(["replay", "--policy", POLICY, "--against", strict.as_str(), "tests/replay/sacct-22.05.8.txt"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn exemptions_and_enforce_from_count_as_on_the_day_of_submission() {
    let folder = Folder::new("days");
    let policy = "schema = 1\n[partition.cpu]\ncpus_per_node = 64\n[rule.wrap]\nenforce_from = 2026-06-01\n\
                  [[exempt]]\nrules = [\"wrap\"]\nusers = [\"nobody\"]\nuntil = 2026-03-31\nreason = \"a course\"\n";
    let policy = folder.file("sluice.toml", policy);
    let line =
        |id: u32, day: &str| format!("{id}|nobody|65534|2026-{day}T00:00:00|cpu|sbatch -p cpu --wrap=true\n");
    let days = ["03-30", "03-31", "04-01", "05-31", "06-01"];
    let rows: String = days.iter().zip(1..).map(|(day, id)| line(id, day)).collect();
    let jobs = folder.file("jobs", &format!("JobID|User|UID|Submit|Partition|SubmitLine\n{rows}"));
    let output = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(["replay", "--format", "json", "--policy", &policy, &jobs])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let wrap = &report["rules"][0];
    assert_eq!(
        (&wrap["exempt"], &wrap["warned"], &wrap["refused"]),
        (&2.into(), &2.into(), &1.into()),
        "{report:#}"
    );
}

#[test]
fn an_afterok_on_an_array_is_known_by_the_array() {
    let rows = "JobID|JobIDRaw|User|Partition|SubmitLine\n7_0|8|ann|cpu|sbatch -p cpu --array=0-1 --wrap=true\n\
                7_1|7|ann|cpu|sbatch -p cpu --array=0-1 --wrap=true\n\
                9|9|ann|cpu|sbatch -p cpu -d afterok:7 --wrap=true\n10|10|ann|cpu|sbatch -p cpu -d afterok:9 --wrap=true\n";
    let folder = Folder::new("arrays");
    let policy = folder.file("sluice.toml", "schema = 1\n[rule.dependency]\n");
    let jobs = folder.file("jobs", rows);
    let output = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(["replay", "--format", "json", "--policy", &policy, &jobs])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["total"]["jobs"], &report["rules"][0]["refused"]),
        (&3.into(), &1.into()),
        "{report:#}"
    );
}

#[test]
fn a_page_that_cannot_be_written_leaves_nothing_behind() {
    let folder = Folder::new("page");
    let page = folder.path.join("no/such/folder.html");
    for (path, why) in [(page, "no such file"), (folder.path.clone(), "it is a directory")] {
        let path = path.display().to_string();
        let (code, _, stderr) = replay(SACCT, &["--html", &path]);
        assert_eq!((code, stderr), (2, format!("sluice: error: cannot write {path}: {why}\n")));
    }
    assert_eq!(std::fs::read_dir(&folder.path).unwrap().count(), 0);
}

#[test]
fn however_many_threads_judge_the_report_is_the_same() {
    let today = Date { year: 2026, month: 11, day: 30 };
    let policy = load("example", EXAMPLE, &NoDirectory, today).unwrap().policy;
    let mut text = Vec::new();
    rows::write(&mut text, 20_000, 3).unwrap();
    let of = |workers: usize| {
        let options = Options {
            policy: &policy,
            against: None,
            series: Series::LATEST,
            since: None,
            until: None,
            workers,
            uid: &|_| None,
            name: &|_| None,
            progress: &|_| {},
        };
        let source = Source { name: "rows".to_owned(), reader: Box::new(std::io::Cursor::new(text.clone())) };
        let report = run(&options, vec![source]).unwrap();
        serde_json::to_value(&report).unwrap()
    };
    let one = of(1);
    assert!(one["total"]["refused"].as_u64() > Some(500), "{:#}", one["total"]);
    assert_eq!(one["passed"]["rows"], 20_000);
    assert_eq!(of(2), one);
    assert_eq!(of(5), one);
}

/// A folder that goes when the test ends.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("sluice-replay-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder { path }
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path: &Path = &self.path.join(name);
        std::fs::write(path, text).unwrap();
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[test]
fn the_manual_asks_sacct_for_the_fields_that_are_read() {
    let together = |text: &str| text.replace("\\\n", "").split_whitespace().collect::<String>();
    let help = Command::new(env!("CARGO_BIN_EXE_sluice")).args(["replay", "--help"]).output().unwrap();
    for text in [String::from_utf8(help.stdout).unwrap(), include_str!("../docs/command.md").to_owned()] {
        assert!(together(&text).contains(&format!("--format={}", sluice::replay::FORMAT)), "{text}");
    }
}
