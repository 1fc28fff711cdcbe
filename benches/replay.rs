//! How fast past jobs are judged: `cargo bench --bench replay` makes two million rows of accounting,
//! gives them to `sluice replay`, and prints the time and the most memory that it took.
//! `cargo bench --bench replay -- ROWS FILE` makes so many, and keeps them in FILE.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench reports and fails loudly"
)]

#[path = "../tests/replay/rows.rs"]
mod rows;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let count: u64 = arguments.first().map_or(2_000_000, |n| n.parse().unwrap());
    let kept = arguments.get(1).map(PathBuf::from);
    let path = kept
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(format!("sluice-rows-{}", std::process::id())));
    let mut file = BufWriter::new(File::create(&path).unwrap());
    rows::write(&mut file, count, 7).unwrap();
    file.flush().unwrap();
    let bytes = std::fs::metadata(&path).unwrap().len();
    println!("{count} rows, {} MB", bytes / 1_000_000);
    for policy in ["examples/example.toml", "examples/gpu-and-cpu-centre.toml", "examples/university.toml"] {
        let start = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_sluice"))
            .args(["replay", "--policy", policy, "--format", "json"])
            .arg(&path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let (mut peak, mut busy) = (0, 0.0);
        while child.try_wait().unwrap().is_none() {
            peak = memory(child.id()).unwrap_or(0).max(peak);
            busy = processor(child.id()).unwrap_or(busy);
            std::thread::sleep(Duration::from_millis(5));
        }
        let took = start.elapsed().as_secs_f64();
        println!(
            "{policy:34} {took:6.2} s, {busy:6.2} s of processors, {:>9.0} rows/s, {:>4} MB at most",
            count as f64 / took,
            peak / 1024
        );
    }
    if kept.is_none() {
        std::fs::remove_file(&path).unwrap();
    }
}

/// Seconds that a process has kept processors busy (proc(5), stat: utime and stime, in hundredths): what
/// it takes on a machine that others use as well.
fn processor(pid: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<f64>().ok();
    Some((next()? + next()?) / 100.0)
}

/// The most memory that a process has had so far, in kB (proc(5), VmHWM).
fn memory(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
