//! The same `.so` in plugstack.conf: options that arrive at the hook and nowhere else, and nodes that
//! nothing can drain.

use std::time::Duration;

use crate::Case;
use crate::shared::Shared;
use crate::support::Requirement::{Accounting, Controller};
use crate::support::{Builder, Cluster, Output, at_once, until};

pub const CASES: &[Case] = &[
    ("the plugin in plugstack.conf leaves sbatch, srun and salloc working", Controller, works),
    ("every client has --justify and --lineage, in every spelling", Controller, spellings),
    ("a message names --justify where the client has it", Controller, told),
    ("a text that cannot be carried is refused by the client", Controller, refused_at_once),
    ("any other text arrives whole", Controller, whole),
    ("a justification is for one job, not for those submitted inside", Controller, one_job),
    ("an array task that owns another index is stopped, and nothing else", Controller, index),
    ("the policy names what --compile sets", Accounting, compile),
    ("mistakes in plugstack.conf and policy harm no job and no node", Controller, mistakes),
];

/// One node: an exclusive job that runs takes all of the cluster.
const POLICY: &str = r#"
schema = 1
index_vars = ["TASK_INDEX"]
[site]
name = "Example Lab"
[partition.cpu]
cpus_per_node = 64
[partition.results]
cpus_per_node = 64
[rule.exclusive]
justify = { min_length = 10 }
[rule.lineage]
keys = ["commit", "config"]
when = { partition = ["results"] }
"#;

const DEFAULT: &str = "SLURM_SPANK__SLURM_SPANK_OPTION_sluice_justify";
const SOON: Duration = Duration::from_secs(5);
/// Several commands within one job, on a busy machine.
const LONG: Duration = Duration::from_secs(120);

pub fn builder() -> Builder {
    Cluster::builder()
        .nodes(&["c1"])
        .slurmd()
        .spank()
        .policy(POLICY)
        .partition("cpu", "Nodes=c1 Default=YES")
        .partition("results", "Nodes=c1")
}

fn works(shared: &Shared) {
    let cluster = shared.spank();
    cluster.file_for_everyone("steps.sh", "#!/bin/sh\necho from the job; srun echo from the step\n");
    let output = cluster.user("games", "sbatch --wait -o out.txt steps.sh").run().accepted();
    assert_eq!(output.stderr, "", "{output}");
    assert_eq!(written(cluster, "out.txt"), "from the job\nfrom the step\n");
    let output = cluster.user("games", "srun echo from srun").run().accepted();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("from srun\n", ""), "{output}");
    let output = cluster.user("games", "salloc srun echo from salloc").run().accepted();
    assert_eq!(output.stdout, "from salloc\n", "{output}");
    let output = cluster.user("games", "sbatch --exclusive job.sh").run().refused();
    assert!(output.stderr.contains("[exclusive]"), "{output}");
}

fn spellings(shared: &Shared) {
    let cluster = shared.spank();
    for client in ["sbatch", "srun", "salloc"] {
        let help = cluster.user("games", &format!("{client} --help")).run().accepted().stdout;
        assert!(help.contains("--justify=TEXT") && help.contains("--lineage=KEY=VALUE,..."), "{help}");
    }
    let script = "#!/bin/sh\n#SBATCH --exclusive --hold --justify='the fabric test, bug #7'\n\
                  #SBATCH --lineage=commit=4f2a,config=a.yaml\ntrue\n";
    cluster.file_for_everyone("justified.sh", script);
    for line in [
        "sbatch --exclusive --hold --justify='the fabric test, bug #7' job.sh",
        "sbatch --exclusive --hold --justify 'the fabric test, bug #7' --export=NONE job.sh",
        "sbatch --exclusive --hold --justify=short --justify='the fabric test, bug #7' job.sh",
        "sbatch --exclusive --hold --justify='the fabric test, bug #7' --array=0-1 job.sh",
        "sbatch justified.sh",
        "srun --exclusive --justify='the fabric test, bug #7' printenv SLURM_JOB_ID",
        "salloc -Q --exclusive --justify='the fabric test, bug #7' printenv SLURM_JOB_ID",
    ] {
        justified(cluster, &cluster.user("games", line).run());
    }
    for line in ["sbatch --exclusive --hold job.sh", "srun --exclusive printenv SLURM_JOB_ID"] {
        let by_environment = cluster.user("games", line).env(DEFAULT, "the fabric test, bug #7");
        justified(cluster, &by_environment.run());
    }
    let line = "sbatch --hold --exclusive --justify='the fabric test, bug #7' : --exclusive job.sh";
    let id = justified(cluster, &cluster.user("games", line).run());
    assert!(admin_comment(cluster, id + 1).contains("the fabric test, bug #7"), "the second component");

    for line in [
        "sbatch -p results --hold --lineage=commit=4f2a,config=a.yaml job.sh",
        "sbatch -p results justified.sh",
        "srun -p results --lineage commit=4f2a,config=a.yaml true",
        "salloc -Q -p results --lineage=commit=4f2a,config=a.yaml true",
    ] {
        cluster.user("games", line).run().accepted();
    }
    let output = cluster.user("games", "sbatch -p results --lineage=commit=4f2a job.sh").run().refused();
    assert!(output.stderr.contains("add config=... to --lineage"), "{output}");
    cluster.root("scancel -u games").run().accepted();
}

/// The job of an accepted command, which carries its reason.
#[track_caller]
fn justified(cluster: &Cluster, output: &Output) -> u32 {
    assert!(output.ok(), "{output}");
    let id = output.stdout.split_whitespace().last().and_then(|w| w.parse().ok()).expect("a job id");
    let comment = admin_comment(cluster, id);
    assert!(comment.contains("exclusive justified: 'the fabric test, bug #7'"), "{output}\n{comment:?}");
    id
}

fn admin_comment(cluster: &Cluster, id: u32) -> String {
    let shown = cluster.root(&format!("scontrol show job {id}")).run().accepted().stdout;
    let line = shown.lines().find_map(|l| l.trim().strip_prefix("AdminComment="));
    line.unwrap_or_default().to_owned()
}

fn told(shared: &Shared) {
    let cluster = shared.spank();
    for client in ["sbatch --exclusive job.sh", "srun --exclusive true", "salloc --exclusive true"] {
        let output = cluster.user("games", client).run().refused();
        assert!(output.stderr.contains("or say why it has to be: --justify='...'"), "{output}");
    }
    // The same client without the plugin.
    let plugstack = cluster.path().join("plugstack.conf");
    let line = std::fs::read_to_string(&plugstack).expect("plugstack.conf");
    std::fs::write(&plugstack, "").expect("it can be written");
    let without = cluster.user("games", "sbatch --exclusive job.sh").run();
    std::fs::write(&plugstack, line).expect("it can be written");
    let without = without.refused();
    assert!(without.stderr.contains("or say why it has to be: --comment='justify: ...'"), "{without}");
}

fn refused_at_once(shared: &Shared) {
    let cluster = shared.spank();
    let before = cluster.queue();
    let long = "x".repeat(4097);
    for (options, why) in [
        ("--justify=", "--justify is empty; it takes --justify=TEXT"),
        ("--justify=' '", "--justify is empty; it takes --justify=TEXT"),
        ("--justify=\"$(printf 'a\\nb')\"", "--justify is one line of plain text; character 2 is a control"),
        ("--justify=\"$LONG\"", "--justify has 4097 bytes; at most 4096 are taken"),
        ("--justify=\"$(printf '\\377')\"", "--justify is not UTF-8 text"),
        ("--lineage=commit", "--lineage: commit is no KEY=VALUE; a comma within a value is written \\,"),
        ("--lineage=seed=1,seed=2", "--lineage: seed is named twice"),
    ] {
        for client in ["sbatch", "srun", "salloc"] {
            let line = format!("{client} {options} ./job.sh");
            let output = cluster.user("games", &line).env("LONG", &long).run();
            assert!(!output.ok(), "{output}");
            assert!(output.stderr.starts_with(&format!("{client}: error: {why}")), "{output}");
        }
    }
    assert_eq!(cluster.queue(), before);
}

fn whole(shared: &Shared) {
    let cluster = shared.spank();
    let records = cluster.path().join("records.jsonl");
    let policy = POLICY.replace("[site]", &format!("[site]\nrecords = \"{}\"", records.display()));
    let loaded = || cluster.log().matches("is in force").count();
    let before = loaded();
    cluster.write_policy(&policy);
    assert!(until(SOON, || loaded() > before), "{}", cluster.log());
    let mut kilobytes: String = (0..).map(|n| format!("reason-{n}, ")).take(400).collect();
    kilobytes.truncate(4093);
    kilobytes.push_str("end");
    for text in [
        "a=b, c='d' and \"e\"; f\\g $HOME `h` %j",
        "\u{fc}ber \u{65e5}\u{672c}\u{8a9e} \u{1f600} everywhere",
        "  blanks around it  ",
        kilobytes.as_str(),
    ] {
        for (client, end) in [("sbatch --hold", "job.sh"), ("srun", "true"), ("salloc -Q", "true")] {
            let line = format!("{client} --exclusive --justify=\"$TEXT\" --lineage=\"$LINEAGE\" {end}");
            let lineage = r"commit=4f2a,config=a\,b=c.yaml";
            let command = cluster.user("games", &line).env("TEXT", text).env("LINEAGE", lineage);
            let output = command.run().accepted();
            let arrived = || {
                let text = std::fs::read_to_string(&records).unwrap_or_default();
                text.lines().last().and_then(|l| serde_json::from_str::<serde_json::Value>(l).ok())
            };
            let as_typed = |value: serde_json::Value| {
                value["request"]["justify"] == text && value["request"]["lineage"] == lineage
            };
            assert!(until(SOON, || arrived().is_some_and(as_typed)), "{output}\n{:?}", arrived());
            cluster.root("scancel -u games").run().accepted();
        }
    }
    cluster.write_policy(POLICY);
}

/// Commands that need a reason and are given none.
const INNER: &str = r#"#!/bin/bash
say() { if "$@" >>inner.log 2>&1; then echo accepted; else echo refused; fi; }
say sbatch --exclusive --hold job.sh
say salloc --exclusive true
say env -u SLURM_JOB_ID -u SLURM_JOBID sbatch --exclusive --hold job.sh
say env -u SLURM_JOB_ID -u SLURM_JOBID salloc --exclusive true
say env -u SLURM_JOB_ID -u SLURM_JOBID srun --exclusive true
say sbatch --exclusive --hold --justify='a reason of its own' job.sh
"#;
const JUDGED: &str = "refused\nrefused\nrefused\nrefused\nrefused\naccepted\n";

fn one_job(shared: &Shared) {
    let cluster = shared.spank();
    cluster.file_for_everyone("inner.sh", INNER);
    cluster.file_for_everyone("outer.sh", "#!/bin/sh\n./inner.sh\nsrun ./inner.sh\n");
    cluster.root("chmod 755 ../games/inner.sh ../games/outer.sh").run().accepted();
    let user = |line: &str| cluster.user("games", line).within(LONG);

    let line = "sbatch --wait --exclusive --justify='of the outer job' -o batch.txt outer.sh";
    user(line).run().accepted();
    assert_eq!(written(cluster, "batch.txt"), JUDGED.repeat(2), "{}", written(cluster, "inner.log"));

    // By the environment: the user's shell is not the job's.
    user("sbatch --wait --exclusive -o environment.txt outer.sh")
        .env(DEFAULT, "of the outer job")
        .run()
        .accepted();
    assert_eq!(written(cluster, "environment.txt"), JUDGED.repeat(2), "{}", written(cluster, "inner.log"));

    let output = user("salloc -Q --exclusive --justify='of the outer job' ./outer.sh").run().accepted();
    assert_eq!(output.stdout, JUDGED.repeat(2), "{output}\n{}", written(cluster, "inner.log"));

    let output = user("srun --exclusive --justify='of the outer job' ./inner.sh").run().accepted();
    assert_eq!(output.stdout, JUDGED, "{output}\n{}", written(cluster, "inner.log"));
    let by_policy = written(cluster, "inner.log").matches("error: [exclusive]").count();
    assert_eq!(by_policy, 7 * 5, "{}", written(cluster, "inner.log"));
    cluster.root("scancel -u games").run().accepted();
}

/// Runs an array of two with a variable that is right for the first only; what each task wrote.
fn array(cluster: &Cluster, variable: &str) -> (String, String) {
    let script = "#!/bin/sh\necho \"task $SLURM_ARRAY_TASK_ID\"\n";
    cluster.file_for_everyone("task.sh", script);
    let line = "rm -f task-*; sbatch --wait --array=0-1 -o task-%a.txt task.sh";
    let output = cluster.user("games", line).env(variable, "0").within(LONG).run();
    let texts = (written(cluster, "task-0.txt"), written(cluster, "task-1.txt"));
    assert_eq!(output.ok(), !texts.1.contains("not started"), "{output}\n{texts:?}");
    idle(cluster);
    texts
}

const STOPPED: &str = "sluice: this task is not started: TASK_INDEX=0 but SLURM_ARRAY_TASK_ID=1; do not set \
                       TASK_INDEX for the whole array, set it in the script: \
                       TASK_INDEX=$SLURM_ARRAY_TASK_ID\n";

fn index(shared: &Shared) {
    let cluster = shared.spank();
    assert_eq!(array(cluster, "TASK_INDEX"), ("task 0\n".to_owned(), STOPPED.to_owned()));
    assert_eq!(array(cluster, "ANOTHER_INDEX"), ("task 0\n".to_owned(), "task 1\n".to_owned()));

    // A step is a task as well.
    let script = "#!/bin/sh\nTASK_INDEX=$SLURM_ARRAY_TASK_ID srun echo right\n\
                  TASK_INDEX=8 srun echo wrong || echo \"stopped: $?\"\n";
    cluster.file_for_everyone("step.sh", script);
    cluster.user("games", "sbatch --wait --array=7 -o step.txt step.sh").within(LONG).run().accepted();
    let text = written(cluster, "step.txt");
    assert!(text.starts_with("right\n") && text.ends_with("stopped: 1\n"), "{text}");
    assert!(text.contains("TASK_INDEX=8 but SLURM_ARRAY_TASK_ID=7"), "{text}");
    assert!(!text.contains("wrong"), "{text}");

    // What is no array has no place to contradict.
    let output = cluster.user("games", "srun echo ran").env("TASK_INDEX", "5").run().accepted();
    assert_eq!(output.stdout, "ran\n");
    idle(cluster);
}

fn mistakes(shared: &Shared) {
    let cluster = shared.spank();
    let plugstack = cluster.path().join("plugstack.conf");
    let good = std::fs::read_to_string(&plugstack).expect("plugstack.conf");
    let ran = ("task 0\n".to_owned(), "task 1\n".to_owned());
    let both = |line: &str| {
        std::fs::write(&plugstack, line).expect("it can be written");
        let srun = cluster.user("games", "srun echo ran").run().accepted();
        (srun, array(cluster, "TASK_INDEX"))
    };
    let line = good.trim();

    let (srun, texts) = both(&format!("{line} index_vars=OTHER\n"));
    assert_eq!((srun.stderr.as_str(), texts), ("", ran.clone()), "the argument goes before the policy");
    let (srun, texts) = both(&format!("{line} index_vars=TASK_INDEX index_var=A\n"));
    let unknown = "srun: error: sluice: plugstack.conf: unknown argument index_var=A; \
                   known is index_vars=NAME,...\n";
    assert_eq!((srun.stderr.as_str(), texts.1.as_str()), (unknown, STOPPED), "the other one holds");
    let required = line.replace("optional", "required");
    let (srun, texts) = both(&format!("{required} nonsense\n"));
    assert_eq!(srun.stdout, "ran\n");
    assert_eq!(texts.1, STOPPED);
    assert_eq!(texts.0, "task 0\n");

    std::fs::write(&plugstack, &good).expect("it can be written");
    for broken in ["index_vars = [\n", "index_vars = 7\n", "index_vars = [\"\\u0000\"]\n"] {
        cluster.write_policy(broken);
        assert_eq!(array(cluster, "TASK_INDEX"), ran, "{broken}");
    }
    std::fs::remove_file(cluster.policy_path()).expect("it is there");
    assert_eq!(array(cluster, "TASK_INDEX"), ran);
    std::fs::create_dir(cluster.policy_path()).expect("it can be made");
    assert_eq!(array(cluster, "TASK_INDEX"), ran);
    std::fs::remove_dir(cluster.policy_path()).expect("it is there");
    cluster.write_policy(POLICY);
    assert_eq!(array(cluster, "TASK_INDEX").1, STOPPED);
}

fn compile(_: &Shared) {
    let policy = format!("{POLICY}[compile]\noff = {{ NO_JIT = \"1\" }}\n[qos.debug]\nshort = true\n");
    let cluster = builder()
        .policy(&policy)
        .accounting(&[
            "add cluster sluice",
            "add qos debug",
            "add account bio",
            "add user games account=bio qos=normal,debug",
        ])
        .start();
    let print = "#!/bin/sh\necho ${NO_JIT-unset}; srun /bin/sh -c 'echo ${NO_JIT-unset}'\n";
    cluster.file_for_everyone("jit.sh", print);
    cluster.file_for_everyone("off.sh", &print.replace("sh\n", "sh\n#SBATCH --compile=off\n"));
    let lines = [
        ("jit.sh", "unset"),
        ("--compile=off jit.sh", "1"),
        ("off.sh", "1"),
        ("--compile=on off.sh", "unset"),
        ("--compile=off --export=NONE jit.sh", "1"),
        ("--compile=off --export=ALL,NO_JIT=0 jit.sh", "1"),
        ("--export=ALL,NO_JIT=0 jit.sh", "0"),
        ("--qos=debug jit.sh", "1"),
        ("--qos=debug --compile=on jit.sh", "unset"),
        ("--qos=debug --export=ALL,NO_JIT=0 jit.sh", "0"),
    ];
    at_once(lines.iter().enumerate(), |(n, (options, expected))| {
        let line = format!("sbatch --wait -o jit-{n}.txt {options}");
        let output = cluster.user("games", &line).within(LONG).run().accepted();
        let text = written(&cluster, &format!("jit-{n}.txt"));
        assert_eq!(text, format!("{expected}\n{expected}\n"), "{output}");
    });
    let echo = "sh -c 'echo ${NO_JIT-unset}'";
    for (command, expected) in [
        ("srun --compile=off", "1\n"),
        ("srun", "unset\n"),
        ("srun --qos=debug", "1\n"),
        ("srun --qos=debug --compile=on", "unset\n"),
        ("salloc -Q --compile=off srun", "1\n"),
        ("salloc -Q srun --compile=off", "1\n"),
    ] {
        let output = cluster.user("games", &format!("{command} {echo}")).within(LONG).run().accepted();
        assert_eq!(output.stdout, expected, "{output}");
    }
    let output = cluster.user("games", "sbatch --compile=no jit.sh").run();
    assert!(output.stderr.starts_with("sbatch: error: --compile is on or off, not no\n"), "{output}");
    idle(&cluster);
}

/// The one node is there for the next job: neither drained nor down.
#[track_caller]
fn idle(cluster: &Cluster) {
    let state = || cluster.root("sinfo -h -N -p cpu -o %T").run().accepted().stdout;
    assert!(until(SOON, || state() == "idle\n"), "{}", state());
}

fn written(cluster: &Cluster, name: &str) -> String {
    std::fs::read_to_string(cluster.home("games").join(name)).unwrap_or_default()
}
