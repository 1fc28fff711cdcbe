//! `make demo`: a private Slurm with four fake GPUs, and every line that its users see.
//!
//! With `--offline` the same submissions are judged by `sluice check`, which needs neither Slurm
//! nor root. Either way it fails where an answer is not the expected one.

use std::path::Path;
use std::process::ExitCode;

#[path = "../../tests/slurmctld/support/mod.rs"]
mod support;

use support::{Cluster, Command, Folder, Output};

const POLICY: &str = include_str!("sluice.toml");
const SCRIPT: &str = include_str!("train.sh");

const REFUSED: &str = "sbatch --exclusive --gpus=4 -c 64 -p gpu --array=0-99 -o logs/train-%j.out train.sh";
const CORRECTED: &str = "sbatch --gpus=4 -c 32 -p gpu --array=0-99 -o logs/train-%A_%a.out train.sh";
const EDITED: &str = "sbatch --gpus=2 -p gpu train.sh";

/// A user that every Debian has.
const USER: &str = "games";

type Done = Result<(), String>;

fn main() -> ExitCode {
    let offline = std::env::args().any(|a| a == "--offline");
    match if offline { offline_door() } else { private_slurm() } {
        Ok(()) => {
            println!("\ndemo: every answer was the expected one");
            ExitCode::SUCCESS
        }
        Err(what) => {
            eprintln!("\ndemo FAILED: {what}");
            ExitCode::FAILURE
        }
    }
}

/// sbatch against a slurmctld that holds the policy.
fn private_slurm() -> Done {
    heading("a private Slurm: one node, four fake GPUs, and this policy");
    show_policy();
    let mut cluster = Cluster::builder()
        .policy(POLICY)
        .nodes(&["g1"])
        .partition("gpu", "Nodes=g1 Default=YES")
        .slurmd()
        .try_start()?;
    cluster.file_for_everyone("train.sh", SCRIPT);
    let done = in_cluster(&cluster);
    if done.is_err() {
        cluster.keep();
    }
    done
}

fn in_cluster(cluster: &Cluster) -> Done {
    let user = |line: &str| run(cluster.user(USER, line), USER);
    user("mkdir logs")?;
    refused(&user(REFUSED)?)?;
    corrected(&user(CORRECTED)?)?;
    user("squeue")?;
    let output = user(EDITED)?;
    edited(&output)?;
    let shown = user(&format!("scontrol show job {} | grep CpusPerTres", output.job_id()))?;
    expect(&shown, shown.stdout.contains("CpusPerTres=gres:gpu:4"))?;
    heading("before submission, the same words from a command that needs no Slurm");
    refused(&user(&format!("sluice check -- {REFUSED}"))?)
}

/// `sluice check` by itself.
fn offline_door() -> Done {
    let sluice = support::command().ok_or("the command is not built: cargo build --release --bin sluice")?;
    let folder = Folder::new().map_err(|e| format!("cannot make a folder: {e}"))?;
    let write = |name, text| folder.write(name, text, 0o644).map_err(|e| format!("cannot write {name}: {e}"));
    let policy = write("sluice.toml", POLICY)?;
    write("train.sh", SCRIPT)?;
    heading("no Slurm here: `sluice check` judges by this policy");
    show_policy();
    let bin = sluice.parent().unwrap_or(Path::new(".")).display().to_string();
    let user = |line: &str| {
        let command = Command::new(line, folder.path()).env("SLUICE_POLICY", &policy);
        run(command.env("PATH", format!("{bin}:{}", support::PATH)), "you")
    };
    user("mkdir logs")?;
    refused(&user(&format!("sluice check -- {REFUSED}"))?)?;
    corrected(&user(&format!("sluice check -- {CORRECTED}"))?)?;
    edited(&user(&format!("sluice check -- {EDITED}"))?)
}

fn refused(output: &Output) -> Done {
    let rules = ["[exclusive]", "[cpus-per-gpu]", "[array-logs]"];
    let text = format!("{}{}", output.stdout, output.stderr);
    expect(output, output.status.code() == Some(1) && rules.iter().all(|rule| text.contains(rule)))
}

fn corrected(output: &Output) -> Done {
    expect(output, output.ok() && !output.stderr.contains('['))
}

fn edited(output: &Output) -> Done {
    let text = format!("{}{}", output.stdout, output.stderr);
    expect(output, output.ok() && text.contains("filled in --cpus-per-gpu=4"))
}

fn expect(output: &Output, holds: bool) -> Done {
    if holds { Ok(()) } else { Err(format!("not the expected answer to `{}`", output.line)) }
}

/// Shows the line, what came back, and how it ended where that was not well.
fn run(command: Command, who: &str) -> Result<Output, String> {
    let output = command.try_run()?;
    println!("\n{who}$ {}", output.line);
    print!("{}{}", output.stderr, output.stdout);
    if !output.ok() {
        println!("(exit code {})", output.status.code().unwrap_or(-1));
    }
    Ok(output)
}

fn heading(text: &str) {
    println!("\n== {text}");
}

fn show_policy() {
    println!();
    for line in POLICY.lines() {
        println!("    {line}");
    }
}
