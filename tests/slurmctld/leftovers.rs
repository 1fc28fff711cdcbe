//! The private Slurm itself: whatever becomes of a test, its daemons end.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::Case;
use crate::shared::Shared;
use crate::support::Requirement::Controller;
use crate::support::{Cluster, Plugin, until};

pub const CASES: &[Case] = &[
    ("a test that panics leaves no daemon behind", Controller, panics),
    ("a test run that is killed leaves no daemon behind", Controller, killed),
];

/// Makes this program a test that starts a cluster and then does what the value says.
const CHILD: &str = "SLUICE_TEST_CHILD";
/// slurmctld takes its time to save what it knows.
const END: Duration = Duration::from_secs(20);

/// The other side of these cases: what the program does where [`CHILD`] is set.
pub fn child() {
    let Ok(what) = std::env::var(CHILD) else { return };
    let cluster =
        Cluster::builder().plugin(Plugin::None).nodes(&["c1"]).partition("cpu", "Nodes=c1").slurmd().start();
    println!("{}", cluster.path().display());
    assert!(what != "panic", "as asked");
    std::thread::sleep(END);
}

/// Starts the other side and returns it with its cluster's folder, once that is up.
fn start(what: &str) -> (Child, String) {
    let program = std::env::current_exe().expect("this program has a path");
    let mut child = Command::new(program)
        .env(CHILD, what)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("this program can be started");
    let mut folder = String::new();
    let stdout = child.stdout.take().expect("stdout is a pipe");
    BufReader::new(stdout).read_line(&mut folder).expect("its folder can be read");
    let folder = folder.trim_end().to_owned();
    assert!(folder.starts_with('/'), "no folder: {folder:?}");
    (child, folder)
}

fn panics(_: &Shared) {
    let (mut child, folder) = start("panic");
    assert!(!child.wait().expect("it ends").success());
    assert_eq!(processes(&folder), Vec::<String>::new());
    // Kept for a person, but nobody will look at this one.
    std::fs::remove_dir_all(folder).expect("the folder is kept");
}

fn killed(_: &Shared) {
    let (mut child, folder) = start("wait");
    assert!(!processes(&folder).is_empty(), "the daemons should run");
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    assert!(until(END, || processes(&folder).is_empty()), "still there: {:?}", processes(&folder));
    // The next cluster sweeps up the folder.
    drop(Cluster::builder().plugin(Plugin::None).nodes(&["c1"]).partition("cpu", "Nodes=c1").start());
    assert!(!Path::new(&folder).exists(), "{folder} is still there");
}

/// Everything that runs with this folder in its arguments or its environment.
fn processes(folder: &str) -> Vec<String> {
    let mentions = |path: &Path| {
        let text = std::fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&text).contains(&format!("{folder}/"))
    };
    let entries = std::fs::read_dir("/proc").expect("/proc is there").flatten();
    entries
        .filter(|e| e.file_name().to_str().is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit())))
        .filter(|e| mentions(&e.path().join("environ")) || mentions(&e.path().join("cmdline")))
        .map(|e| std::fs::read_to_string(e.path().join("comm")).unwrap_or_default())
        .collect()
}
