//! `--run-card`: a file by the job's user, and whatever goes wrong harms neither job nor node.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::Case;
use crate::shared::Shared;
use crate::support::Requirement::Controller;
use crate::support::{Cluster, Output, at_once, until};

pub const CASES: &[Case] = &[
    ("a batch job writes its run card at its start and at its end", Controller, batch),
    ("--run-card is taken in every spelling, and its path's patterns", Controller, spellings),
    ("each task of an array has a run card of its own", Controller, array),
    ("srun and salloc write the run card of their job", Controller, clients),
    ("a run card is of one job, not of those submitted inside", Controller, one_job),
    ("a run card tells how the job ended", Controller, ends),
    ("a run card that cannot be written harms nothing", Controller, trouble),
    ("a slurmctld that does not answer holds no job up", Controller, silence),
];

const SOON: Duration = Duration::from_secs(10);
const LONG: Duration = Duration::from_secs(120);

fn text(cluster: &Cluster, name: &str) -> String {
    std::fs::read_to_string(cluster.home("games").join(name)).unwrap_or_default()
}

#[track_caller]
fn card(cluster: &Cluster, name: &str) -> Value {
    let text = text(cluster, name);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"))
}

fn cards(cluster: &Cluster) -> Vec<String> {
    let entries = std::fs::read_dir(cluster.home("games")).expect("the folder is there").flatten();
    let names = entries.map(|e| e.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|n| n.starts_with("run-card") || n.ends_with(".new")).collect();
    names.sort();
    names
}

fn user(cluster: &Cluster, line: &str) -> Output {
    cluster.user("games", line).within(LONG).run()
}

/// The script keeps the card that it finds.
const SCRIPT: &str = "#!/bin/sh\numask 077\ncp run-card-$SLURM_JOB_ID.json start.json\ntrue\n";

fn batch(shared: &Shared) {
    let cluster = shared.spank();
    cluster.file_for_everyone("card.sh", SCRIPT);
    let line = "sbatch --wait --run-card --lineage='commit=4f2a,files=a\\,b' --compile=off -J 'my name' \
                --justify='nothing to lift, but a reason' -c2 --mem=300 -t 90 -o out.txt card.sh";
    let id = user(cluster, line).accepted().job_id();
    let (start, end) = (card(cluster, "start.json"), card(cluster, &format!("run-card-{id}.json")));
    assert_eq!(
        (&start["state"], &start["exit"], &start["times"]["end"]),
        (&"RUNNING".into(), &Value::Null, &Value::Null)
    );
    assert_eq!((&end["state"], &end["exit"]["code"]), (&"COMPLETED".into(), &0.into()));
    for card in [&start, &end] {
        assert_eq!(card["run_card"], 1);
        assert_eq!(card["cluster"], "sluice");
        assert_eq!((&card["job"], &card["job_id"]), (&id.to_string().into(), &id.into()));
        assert_eq!((&card["name"], &card["compile"]), (&"my name".into(), &"off".into()));
        assert_eq!(card["lineage"], serde_json::json!({"commit": "4f2a", "files": "a,b"}));
        assert_eq!(card["justification"], "nothing to lift, but a reason");
        assert_eq!(card["work_dir"], cluster.home("games").display().to_string());
        assert_eq!(card["array"], Value::Null);
        let requested = &card["requested"];
        assert_eq!(
            (&requested["nodes"], &requested["cpus"], &requested["cpus_per_task"]),
            (&1.into(), &2.into(), &2.into())
        );
        assert_eq!(
            (&requested["memory_mb"], &requested["gpus"], &requested["gpus_per_node"]),
            (&300.into(), &0.into(), &0.into())
        );
        assert_eq!((&requested["time_limit"], &requested["partition"]), (&"1:30:00".into(), &Value::Null));
        let actual = &card["actual"];
        assert_eq!(
            (&actual["partition"], &actual["node_list"], &actual["nodes"]),
            (&"cpu".into(), &"c1".into(), &1.into())
        );
        let times = &card["times"];
        assert!(
            times["submit"].as_u64() <= times["start"].as_u64() && times["submit"].as_u64() > Some(0),
            "{card}"
        );
    }
    assert!(end["times"]["start"].as_u64() <= end["times"]["end"].as_u64(), "{end}");
    assert_eq!(text(cluster, "out.txt"), "");
    let there =
        std::fs::metadata(cluster.home("games").join(format!("run-card-{id}.json"))).expect("it is there");
    let home = std::fs::metadata(cluster.home("games")).expect("it is there");
    assert_eq!((there.uid(), there.gid()), (home.uid(), home.gid()));
    assert_eq!(there.permissions().mode() & 0o777, 0o644);
    // Nobody asked, nobody writes.
    let id = user(cluster, "sbatch --wait job.sh").accepted().job_id();
    assert_eq!(text(cluster, &format!("run-card-{id}.json")), "");
    assert!(!cards(cluster).iter().any(|name| name.ends_with(".new")), "{:?}", cards(cluster));
}

fn spellings(shared: &Shared) {
    let cluster = shared.spank();
    let help = user(cluster, "sbatch --help").accepted().stdout;
    assert!(
        help.contains("--run-card=[PATH]")
            || help.contains("--run-card[=PATH]")
            || help.contains("--run-card=PATH"),
        "{help}"
    );
    let script = |options: &str| format!("#!/bin/sh\n#SBATCH {options}\ntrue\n");
    cluster.file_for_everyone("alone.sh", &script("--run-card"));
    cluster.file_for_everyone("path.sh", &script("--run-card=cards/%x-%j.json"));
    cluster.file_for_everyone("none.sh", &script("--run-card=/dev/null"));
    user(cluster, "mkdir -p cards other").accepted();
    let default = "SLURM_SPANK__SLURM_SPANK_OPTION_sluice_run_card";
    let lines = [
        ("sbatch --wait alone.sh", None, "run-card-%.json"),
        ("sbatch --wait --export=NONE alone.sh", None, "run-card-%.json"),
        ("sbatch --wait -J a/b path.sh", None, "cards/a_b-%.json"),
        ("sbatch --wait --run-card=other/%8j.json path.sh", None, "other/0%.json"),
        ("sbatch --wait --chdir=other --run-card=%A_%a.json job.sh", None, "other/%_0.json"),
        ("sbatch --wait --run-card=$HOME/cards/absolute job.sh", None, "cards/absolute"),
        ("sbatch --wait job.sh", Some(""), "run-card-%.json"),
        ("sbatch --wait job.sh", Some("cards/environment"), "cards/environment"),
    ];
    at_once(lines, |(line, environment, expected)| {
        let mut command = cluster.user("games", line).within(LONG);
        if let Some(value) = environment {
            command = command.env(default, value);
        }
        let output = command.run().accepted();
        let id = output.job_id();
        let name = match expected {
            "other/0%.json" => format!("other/{id:08}.json"),
            other => other.replace('%', &id.to_string()),
        };
        assert_eq!(card(cluster, &name)["job_id"], id, "{output}");
    });
    let before = cards(cluster);
    user(cluster, "sbatch --wait none.sh").accepted();
    assert_eq!(cards(cluster), before);
    let output = user(cluster, "sbatch --run-card=' ' job.sh");
    assert!(output.stderr.starts_with("sbatch: error: --run-card is empty"), "{output}");
}

fn array(shared: &Shared) {
    let cluster = shared.spank();
    let line = "sbatch --wait --array=2-6:2%2 --run-card -o /dev/null job.sh";
    let id = user(cluster, line).accepted().job_id();
    for task in [2, 4, 6] {
        let card = card(cluster, &format!("run-card-{id}_{task}.json"));
        assert_eq!(card["job"], format!("{id}_{task}"));
        let expected = serde_json::json!({
            "job_id": id, "task": task, "tasks": 3, "min": 2, "max": 6, "step": 2, "at_once": 2
        });
        assert_eq!(card["array"], expected);
        assert_eq!(card["state"], "COMPLETED");
    }
    // One path for all is made one for each.
    user(cluster, "mkdir -p tasks").accepted();
    let id = user(cluster, "sbatch --wait --array=0-1 --run-card=tasks/card.json -o /dev/null job.sh")
        .accepted()
        .job_id();
    for task in [0, 1] {
        assert_eq!(card(cluster, &format!("tasks/card_{id}_{task}.json"))["array"]["task"], task);
    }
    // A task that is stopped for its index has never run.
    let line = "sbatch --wait --array=0-1 --run-card=tasks/%a -o /dev/null job.sh";
    cluster.user("games", line).env("TASK_INDEX", "0").within(LONG).run();
    assert_eq!(
        (&card(cluster, "tasks/0")["state"], &card(cluster, "tasks/1")["state"]),
        (&"COMPLETED".into(), &"FAILED".into())
    );
}

fn clients(shared: &Shared) {
    let cluster = shared.spank();
    user(cluster, "mkdir -p clients").accepted();
    let line = "srun --run-card=clients/srun --lineage=commit=4f2a cp clients/srun clients/start";
    let output = user(cluster, line).accepted();
    assert_eq!(output.stderr, "", "{output}");
    assert_eq!(
        (&card(cluster, "clients/start")["state"], &card(cluster, "clients/start")["lineage"]["commit"]),
        (&"RUNNING".into(), &"4f2a".into())
    );
    let end = card(cluster, "clients/srun");
    assert_eq!((&end["state"], &end["exit"]["code"]), (&"COMPLETED".into(), &0.into()));
    assert!(end["times"]["end"].as_u64() >= end["times"]["start"].as_u64(), "{end}");

    let output = user(cluster, "srun --run-card=clients/failed sh -c 'exit 3'");
    assert_eq!(output.status.code(), Some(3), "{output}");
    assert_eq!(
        (&card(cluster, "clients/failed")["state"], &card(cluster, "clients/failed")["exit"]["code"]),
        (&"FAILED".into(), &3.into())
    );

    let output = user(cluster, "salloc -Q --run-card=clients/salloc --compile=off srun true").accepted();
    assert_eq!(output.stderr, "", "{output}");
    let end = card(cluster, "clients/salloc");
    assert_eq!((&end["state"], &end["compile"]), (&"COMPLETED".into(), &"off".into()));
    // A step is no job.
    let output = user(cluster, "salloc -Q srun --run-card=clients/step true").accepted();
    assert!(output.stderr.starts_with("sluice: no run card: this srun is a step of job "), "{output}");
    assert_eq!(text(cluster, "clients/step"), "");
    // What srun sends along with a step is known there.
    let log = std::fs::read_to_string(cluster.path().join("slurmd-c1.log")).unwrap_or_default();
    assert!(!log.contains("SPANK plugin"), "{log}");
    // A refused job has none, and one that sbatch hands over has not begun.
    let before = cards(cluster);
    user(cluster, "srun --exclusive --run-card true").refused();
    user(cluster, "salloc --exclusive --run-card true").refused();
    user(cluster, "sbatch --hold --run-card job.sh").accepted();
    assert_eq!(cards(cluster), before);
    cluster.root("scancel -u games").run().accepted();
}

fn one_job(shared: &Shared) {
    let cluster = shared.spank();
    user(cluster, "mkdir -p outer").accepted();
    let inner = "#!/bin/sh\nsbatch --wait job.sh >>inner.txt; srun sbatch --wait job.sh >>inner.txt\n\
                 env -u SLURM_JOB_ID -u SLURM_JOBID sbatch --wait job.sh >>inner.txt\nsrun true\n";
    cluster.file_for_everyone("inner-card.sh", inner);
    let before = cards(cluster);
    let id = user(cluster, "sbatch --wait -n1 --run-card=outer/%j -o inner-out.txt inner-card.sh")
        .accepted()
        .job_id();
    let default = "SLURM_SPANK__SLURM_SPANK_OPTION_sluice_run_card";
    let line = "sbatch --wait -n1 -o inner-out.txt inner-card.sh";
    let other = cluster.user("games", line).env(default, "outer/%j").within(LONG).run().accepted().job_id();
    assert_eq!(text(cluster, "inner.txt").lines().count(), 6, "{}", text(cluster, "inner-out.txt"));
    let entries = std::fs::read_dir(cluster.home("games").join("outer")).expect("it is there").flatten();
    let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort_by_key(|name| name.parse::<u32>().unwrap_or(0));
    assert_eq!(names, [id.to_string(), other.to_string()]);
    assert_eq!(cards(cluster), before);
}

fn ends(shared: &Shared) {
    let cluster = shared.spank();
    user(cluster, "mkdir -p ends").accepted();
    let end = |script: &str| {
        cluster.file_for_everyone("end.sh", &format!("#!/bin/sh\n{script}\n"));
        let line = "sbatch --requeue --run-card=ends/%j -o /dev/null end.sh";
        let path = format!("ends/{}", user(cluster, line).accepted().job_id());
        let ended =
            || text(cluster, &path).contains("\"state\"") && card(cluster, &path)["state"] != "RUNNING";
        assert!(until(SOON, ended), "{}", text(cluster, &path));
        let card = card(cluster, &path);
        (
            card["state"].as_str().map(str::to_owned),
            card["exit"]["code"].as_u64(),
            card["exit"]["signal"].as_u64(),
        )
    };
    let failed = Some("FAILED".to_owned());
    assert_eq!(end("exit 3"), (failed.clone(), Some(3), Some(0)));
    assert_eq!(end("kill -SEGV $$"), (failed, Some(0), Some(11)));
    let (state, ..) = end("scancel $SLURM_JOB_ID; sleep 60");
    assert_eq!(state.as_deref(), Some("CANCELLED"));
    let (state, ..) = end("scontrol requeuehold $SLURM_JOB_ID; sleep 60");
    assert_eq!(state.as_deref(), Some("REQUEUED"));
    cluster.root("scancel -u games").run().accepted();
    idle(cluster);
}

fn trouble(shared: &Shared) {
    let cluster = shared.spank();
    let home = cluster.home("games");
    user(cluster, "mkdir -p bad/folder; mkfifo bad/fifo; ln -s /etc/hosts bad/link; touch bad/read-only; chmod 555 bad/folder")
        .accepted();
    let root_only = cluster.path().join("root-only");
    std::fs::create_dir_all(&root_only).expect("it can be made");
    std::fs::set_permissions(&root_only, std::fs::Permissions::from_mode(0o755)).expect("it is there");
    let full = Full::new(&cluster.path().join("full"));
    let long = "x".repeat(300);
    cluster.file_for_everyone("ran.sh", "#!/bin/sh\necho ran\n");
    let paths = [
        (format!("{}/card", root_only.display()), "cannot write"),
        ("bad/folder/card".to_owned(), "cannot write"),
        ("bad/folder".to_owned(), "is there and no regular file"),
        ("bad/fifo".to_owned(), "is there and no regular file"),
        ("bad/link".to_owned(), "is there and no regular file"),
        ("/dev/full".to_owned(), "is there and no regular file"),
        ("/proc/self/mem".to_owned(), "cannot write"),
        ("no/such/folder".to_owned(), "cannot write"),
        (format!("bad/{long}"), "cannot write"),
        (format!("{}/card", full.path.display()), "cannot write"),
    ];
    at_once(paths.iter().enumerate(), |(n, (path, why))| {
        let batch = format!("sbatch --wait -o bad/out-{n}.txt ran.sh; cat bad/out-{n}.txt");
        for end in [batch.as_str(), "srun echo ran", "salloc -Q echo ran"] {
            let line = end.replacen(' ', " --run-card=\"$CARD\" ", 1);
            let output = cluster.user("games", &line).env("CARD", path).within(LONG).run().accepted();
            let said = format!("{}{}", output.stdout, output.stderr);
            let line = said.lines().find(|l| l.starts_with("sluice: no run card: ")).unwrap_or_default();
            assert!(line.contains(why) && said.lines().any(|l| l == "ran"), "{path}\n{output}");
        }
    });
    assert!(
        !home.join("bad/folder/card").exists() && root_only.read_dir().expect("it is there").next().is_none()
    );
    assert!(std::fs::read_to_string("/etc/hosts").is_ok_and(|t| !t.contains("run_card")));
    idle(cluster);
}

/// A file system without room.
struct Full {
    path: std::path::PathBuf,
}

impl Full {
    fn new(path: &Path) -> Full {
        std::fs::create_dir_all(path).expect("it can be made");
        let full = Full { path: path.to_owned() };
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=4k,mode=1777", "tmpfs"])
            .arg(path)
            .status()
            .is_ok_and(|s| s.success());
        if mounted {
            std::fs::write(path.join("all"), [0; 4096]).expect("so much there is room for");
        } else {
            // In a container without rights: a folder that cannot be written is the next best.
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o555)).expect("it is there");
        }
        full
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        let _ =
            std::process::Command::new("umount").arg(&self.path).stderr(std::process::Stdio::null()).status();
    }
}

fn silence(shared: &Shared) {
    let cluster = shared.spank();
    user(cluster, "mkdir -p silent").accepted();
    cluster.file_for_everyone("silent.sh", "#!/bin/sh\nwhile [ ! -e silent/go ]; do sleep 0.1; done\n");
    let id = user(cluster, "sbatch --run-card=silent/card -o /dev/null silent.sh").accepted().job_id();
    assert!(until(SOON, || text(cluster, "silent/card").contains("RUNNING")), "job {id} has begun");
    let signal =
        |name: &str| cluster.root(&format!("kill -{name} {}", cluster.controller_pid())).run().accepted();
    signal("STOP");
    std::fs::write(cluster.home("games").join("silent/go"), "").expect("it can be written");
    // The child that asks slurmctld is ended after five seconds: it would write as soon as it is told.
    let ended = || card(cluster, "silent/card")["state"] != "RUNNING";
    assert!(!until(Duration::from_secs(10), ended), "nobody tells how the job ended");
    signal("CONT");
    assert!(until(LONG, || cluster.queue().is_empty()), "{:?}", cluster.queue());
    assert_eq!(card(cluster, "silent/card")["state"], "RUNNING", "the first card stays");
    idle(cluster);
}

#[track_caller]
fn idle(cluster: &Cluster) {
    let state = || cluster.root("sinfo -h -N -p cpu -o %T").run().accepted().stdout;
    assert!(until(SOON, || state() == "idle\n"), "{}", state());
}
