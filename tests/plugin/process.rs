//! A process for each test, with a directory of slurm.conf and a log of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Says in the child which test it is for.
const CHILD: &str = "SLUICE_TEST_CHILD";
/// Seconds: a child that takes longer hangs, however busy the machine is.
const TIMEOUT: &str = "900";

/// The directory of slurm.conf, as the child sees it.
pub struct Folder(PathBuf);

impl Folder {
    /// A folder within, in whose place slurm.conf is from the next [`Stubs::load`] on.
    ///
    /// [`Stubs::load`]: crate::plugin::Stubs::load
    pub fn move_into(&self, name: &str) -> Folder {
        let inner = self.0.join(name);
        fs::create_dir_all(&inner).unwrap();
        // SAFETY: the child has no other thread that looks at the environment.
        unsafe { std::env::set_var("STUB_CONF_DIR", &inner) };
        Folder(inner)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn policy_path(&self) -> PathBuf {
        self.0.join("sluice.toml")
    }

    /// Replaces the policy file as an editor does.
    pub fn write_policy(&self, text: &str) {
        let new = self.0.join("new");
        fs::write(&new, text).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o644)).unwrap();
        fs::rename(&new, self.policy_path()).unwrap();
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.0.join("log")).unwrap_or_default()
    }

    /// Waits for a line of the log that holds `text`, after the first `skip` bytes.
    pub fn wait_for(&self, text: &str, skip: usize) {
        let start = Instant::now();
        while !self.log().get(skip..).is_some_and(|log| log.contains(text)) {
            assert!(start.elapsed() < Duration::from_secs(30), "no {text:?} in the log:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// How the child runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Under {
    Nothing,
    Valgrind,
    /// With slurm-stubs/count.c, which counts allocations.
    Counter,
    /// With slurm-stubs/clock.c, whose clock jumps.
    Clock,
}

/// Runs `body` in a process of its own, where `policy` lies beside slurm.conf. `test` is the full
/// name of the test that calls.
pub fn alone(test: &str, policy: Option<&str>, body: impl FnOnce(&Folder)) {
    alone_under(Under::Nothing, test, policy, body);
}

/// The same under valgrind, where any error of it fails the test. Without valgrind nothing runs.
pub fn alone_under(under: Under, test: &str, policy: Option<&str>, body: impl FnOnce(&Folder)) {
    if std::env::var(CHILD).as_deref() == Ok(test) {
        return body(&Folder(std::env::var_os("STUB_CONF_DIR").unwrap().into()));
    }
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new("timeout");
    command.arg(TIMEOUT);
    if under == Under::Valgrind {
        if Command::new("valgrind").arg("--version").output().is_err() {
            eprintln!("valgrind is not installed: {test} is left out");
            return;
        }
        command.args(["valgrind", "--quiet", "--error-exitcode=99", "--leak-check=full"]);
        command.args(["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]);
    }
    let preloaded = match under {
        Under::Nothing | Under::Valgrind => None,
        Under::Counter => Some(compiled("count", &["count.c"])),
        Under::Clock => Some(compiled("clock", &["clock.c"])),
    };
    if let Some(so) = preloaded {
        command.arg("env").arg(format!("LD_PRELOAD={}", so.display()));
    }
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test.replace(':', "_"));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    let folder = Folder(dir.clone());
    if let Some(policy) = policy {
        folder.write_policy(policy);
    }
    command.arg(program).args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(CHILD, test).env("STUB_CONF_DIR", &dir).env("STUB_LOG", dir.join("log"));
    command.env("SLUICE_TEST_SO", so()).env("SLUICE_TEST_STUBS", stubs());
    // slurmctld's environment has no say in which policy is in force.
    command.env("SLUICE_POLICY", "/nonexistent/sluice.toml");
    let output = command.output().unwrap();
    let log = folder.log();
    let lines: Vec<&str> = log.lines().collect();
    let last = &lines[lines.len().saturating_sub(20)..];
    assert!(output.status.success(), "{}\nlog:\n{}", shown(&output), last.join("\n"));
    assert!(shown(&output).contains("1 passed"), "no test is called {test}:\n{}", shown(&output));
    fs::remove_dir_all(dir).unwrap();
}

/// The plugin, built for this run. Cargo gives a cdylib the same name whatever its features are, so
/// what lies in this build's own folder may be another's; hence a folder apart.
pub fn so() -> &'static Path {
    static SO: OnceLock<PathBuf> = OnceLock::new();
    SO.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("build");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--offline", "--locked", "--lib", "--no-default-features"]);
        cargo.args(["--features", "test-hooks", "--manifest-path"]);
        cargo.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).arg("--target-dir").arg(&target);
        let output = cargo.output().unwrap();
        assert!(output.status.success(), "{}", shown(&output));
        target.join("debug/libsluice.so")
    })
}

/// slurm-stubs, compiled for this run against the headers that the plugin was built with.
fn stubs() -> &'static Path {
    static STUBS: OnceLock<PathBuf> = OnceLock::new();
    STUBS.get_or_init(|| compiled("slurm-stubs", &["stubs.c", "spank.c"]))
}

fn compiled(name: &str, sources: &[&str]) -> PathBuf {
    let so = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lib{name}.so"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("slurm-stubs");
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    cc.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-discarded-qualifiers"]);
    cc.args(["-g", "-shared", "-fPIC", "-I", env!("SLUICE_SLURM_INCLUDE"), "-o"]).arg(&so);
    cc.args(sources.iter().map(|name| folder.join(name)));
    let output = cc.output().expect("a C compiler (cc, or what CC names)");
    assert!(output.status.success(), "{}", shown(&output));
    so
}

pub fn shown(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
