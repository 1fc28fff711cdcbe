//! The parent: a folder for each child, and the tables.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sluice::policy::EXAMPLE;

use crate::rows::NAMED;

/// A folder of slurm.conf.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, policy: &str) -> Folder {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("side-by-side").join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("slurm.conf"), "ClusterName=bench\nSlurmctldHost=localhost\n").unwrap();
        fs::write(dir.join("sluice.toml"), policy).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/policy.lua");
        fs::copy(script, dir.join("job_submit.lua")).unwrap();
        Folder(dir)
    }

    fn run(&self, arguments: &[&str]) -> String {
        let mut child = Command::new("timeout");
        child.arg("600").arg(std::env::current_exe().unwrap()).arg("measure").args(arguments);
        self.output(child)
    }

    fn output(&self, mut child: Command) -> String {
        let log = fs::OpenOptions::new().append(true).create(true).open(self.0.join("log")).unwrap();
        child.env("SLURM_CONF", self.0.join("slurm.conf")).env("SLUICE_SO", so()).stderr(log);
        let output = child.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{child:?}: {text}; see {}", self.0.join("log").display());
        text
    }

    fn nanoseconds(&self, which: &str, row: &str, jobs: u32, threads: u32, queue: &str) -> f64 {
        let text = self.run(&[which, row, &jobs.to_string(), &threads.to_string(), queue]);
        text.trim().parse().unwrap()
    }

    /// Instructions of one decision: those of 2,000 calls without those of 1,000, by callgrind.
    fn instructions(&self, row: &str) -> Option<u64> {
        Command::new("valgrind").arg("--version").output().ok()?;
        let of = |calls: &str| -> u64 {
            let out = self.0.join("callgrind");
            let mut child = Command::new("timeout");
            child.args(["600", "valgrind", "--tool=callgrind", "--toggle-collect=job_submit"]);
            child.arg(format!("--callgrind-out-file={}", out.display()));
            child.arg(std::env::current_exe().unwrap()).args(["measure", "calls", row, "0", calls, "still"]);
            self.output(child);
            let text = fs::read_to_string(&out).unwrap();
            let line = text.lines().find_map(|l| l.strip_prefix("totals: ").or(l.strip_prefix("summary: ")));
            line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap()
        };
        Some((of("2000") - of("1000")) / 1000)
    }
}

fn so() -> PathBuf {
    let named = std::env::var_os("SLUICE_SO").map(PathBuf::from);
    let so =
        named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/job_submit_sluice.so"));
    assert!(so.is_file(), "{} is missing: make plugin", so.display());
    so
}

/// `123 ns`, `4.56 us`, `7.89 ms`.
fn shown(ns: f64) -> String {
    match ns {
        n if n < 1_000.0 => format!("{n:.0} ns"),
        n if n < 1_000_000.0 => format!("{:.2} us", n / 1e3),
        n => format!("{:.2} ms", n / 1e6),
    }
}

pub fn all() {
    let full = std::env::var_os("SLUICE_BENCH_SHORT").is_none();
    let folder = Folder::new("example", EXAMPLE);
    println!("The same verdict (examples/example.toml against benches/policy.lua):");
    let compared = folder.run(&["compare", "-", "0", "1", "still"]);
    println!("{compared}");

    println!("| submission | queue | Sluice | job_submit/lua | ratio |\n|---|---|---|---|---|");
    let queues: &[u32] = if full { &[0, 1_000, 10_000, 100_000] } else { &[0, 1_000] };
    for (row, _) in NAMED {
        for &jobs in queues {
            let ours = folder.nanoseconds("sluice", row, jobs, 1, "changed");
            let lua = folder.nanoseconds("lua", row, jobs, 1, "changed");
            println!("| {row} | {jobs} jobs | {} | {} | {:.0} |", shown(ours), shown(lua), lua / ours);
        }
    }

    println!("\n| submission | threads | Sluice a second | job_submit/lua a second |\n|---|---|---|---|");
    for (row, _) in NAMED {
        for threads in [1, 2, 8] {
            let ours = folder.nanoseconds("sluice", row, 0, threads, "still");
            let lua = folder.nanoseconds("lua", row, 0, threads, "still");
            println!("| {row} | {threads} | {:.0} | {:.0} |", 1e9 / ours, 1e9 / lua);
        }
    }

    println!("\n| submission | instructions (callgrind) |\n|---|---|");
    for (row, _) in NAMED {
        match folder.instructions(row) {
            Some(n) => println!("| {row} | {n} |"),
            None => println!("| {row} | valgrind is not installed |"),
        }
    }

    println!("\n| policy | a plain job | a GPU job |\n|---|---|---|");
    for (name, policy) in curve(full) {
        let folder = Folder::new("curve", &policy);
        let of = |row: &str| shown(folder.nanoseconds("sluice", row, 0, 1, "still"));
        println!("| {name} | {} | {} |", of(NAMED[0].0), of(NAMED[1].0));
    }
}

/// Policies that grow in one direction each.
fn curve(full: bool) -> Vec<(String, String)> {
    let facts = EXAMPLE.split("# ---- Rules").next().unwrap_or_default();
    let rules = [
        "exclusive",
        "cpus-per-gpu",
        "memory-per-gpu",
        "gpu-request",
        "time-limit",
        "array-logs",
        "array-size",
        "qos-entitlement",
        "preemptible",
        "wrap",
        "export-list",
        "dependency",
    ];
    let mut policies = Vec::new();
    for n in [0, 4, 8, 12] {
        let text: String = rules.iter().take(n).map(|r| format!("[rule.{r}]\n")).collect();
        policies.push((format!("{n} rules"), format!("{facts}\n{text}")));
    }
    for n in if full { &[10, 100, 1_000][..] } else { &[100][..] } {
        let text: String = (0..*n)
            .map(|i| {
                format!(
                    "[[limit]]\nname = \"l{i}\"\nwhen = {{ partition = [\"p{i}\"], gpus = {} }}\nmax_cpus = {}\n",
                    i % 8 + 1,
                    i + 1
                )
            })
            .collect();
        policies.push((format!("{n} limits"), format!("{facts}\n{text}")));
    }
    for n in if full { &[10, 100, 500][..] } else { &[100][..] } {
        let text: String = (0..*n)
            .map(|i| {
                format!("[partition.p{i}]\ncpus_per_node = 64\ngpus_per_node = 4\ngpu_types = [\"a100\"]\n")
            })
            .collect();
        policies.push((
            format!("{n} partitions"),
            EXAMPLE.replace("# ---- Rules", &format!("{text}# ---- Rules")),
        ));
    }
    policies
}
