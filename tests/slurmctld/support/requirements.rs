//! What a private Slurm needs, and how to get what is missing.

use std::path::{Path, PathBuf};

/// What a case needs besides `slurmctld` and the plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// Nothing.
    Controller,
    /// `slurmdbd` with a MariaDB behind it.
    Accounting,
}

const CONTROLLER: &[(&str, &str)] = &[
    ("slurmctld", "slurm-wlm"),
    ("slurmd", "slurm-wlm"),
    ("sbatch", "slurm-wlm"),
    ("scontrol", "slurm-wlm"),
    ("munged", "munge"),
    ("setpriv", "util-linux"),
];
const ACCOUNTING: &[(&str, &str)] = &[
    ("slurmdbd", "slurmdbd"),
    ("sacctmgr", "slurm-wlm"),
    ("mariadbd", "mariadb-server"),
    ("mariadb-install-db", "mariadb-server"),
];

/// All that is missing, each as a line that says how to get it. Empty: the case can run.
pub fn missing(requirement: Requirement) -> Vec<String> {
    let mut lines = Vec::new();
    if !rustix::process::geteuid().is_root() {
        lines.push("not root: a private Slurm runs commands as several users".to_owned());
    }
    let mut packages: Vec<&str> = Vec::new();
    let more: &[_] = if requirement == Requirement::Accounting { ACCOUNTING } else { &[] };
    for &(program, package) in CONTROLLER.iter().chain(more) {
        if find(program).is_none() && !packages.contains(&package) {
            packages.push(package);
        }
    }
    if !packages.is_empty() {
        lines.push(format!("not installed: apt-get install {}", packages.join(" ")));
    }
    if let Err(why) = plugin() {
        lines.push(why);
    }
    lines
}

/// Where a program is.
pub fn find(program: &str) -> Option<PathBuf> {
    super::session::PATH.split(':').map(|dir| Path::new(dir).join(program)).find(|p| p.is_file())
}

/// The plugin: `$SLUICE_PLUGIN`, or as cargo built it together with this program.
pub fn plugin() -> Result<PathBuf, String> {
    let build = "cargo test --features plugin, or make test".to_owned();
    let path = match std::env::var_os("SLUICE_PLUGIN") {
        Some(path) => PathBuf::from(path),
        // PROFILE/deps/test-HASH or PROFILE/examples/demo: the library lies in PROFILE/deps.
        None => std::env::current_exe()
            .ok()
            .and_then(|exe| Some(exe.parent()?.parent()?.join("deps/libsluice.so")))
            .ok_or_else(|| build.clone())?,
    };
    let bytes = std::fs::read(&path).map_err(|_| format!("the plugin is not built: {build}"))?;
    // Cargo keeps one file for every set of features: the last build may have been another.
    let symbol = b"\0job_submit\0";
    if !bytes.windows(symbol.len()).any(|w| w == symbol) {
        return Err(format!("{} is built without the plugin: {build}", path.display()));
    }
    Ok(path)
}

/// The `sluice` command as cargo built it.
pub fn command() -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    let path = exe.parent()?.parent()?.join("sluice");
    path.is_file().then_some(path)
}
