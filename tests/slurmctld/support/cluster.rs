//! A private Slurm: built in prose, used like a terminal, gone when dropped.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::accounting::{Accounting, Database};
use super::conf::{self, Conf, free_port};
use super::folder::Folder;
use super::nursery::Daemon;
use super::requirements;
use super::session::{self, Command};
use super::wait::until;

/// How long a daemon may take to answer.
const START: Duration = Duration::from_secs(30);
/// The folder's part that commands are typed in.
const WORK: &str = "work";

/// A node that slurmctld believes in.
#[derive(Clone, Debug)]
pub struct Node {
    pub name: String,
    pub cpus: u32,
    pub memory_mb: u64,
    /// Type and number.
    pub gpus: Option<(String, u32)>,
    pub(super) port: u16,
}

/// What stands in `JobSubmitPlugins`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plugin {
    /// The plugin as cargo built it.
    Sluice,
    /// None: Slurm as it comes.
    None,
}

/// A cluster in the making.
#[must_use = "nothing runs before `start`"]
pub struct Builder {
    policy: Option<String>,
    nodes: Vec<Node>,
    partitions: Vec<(String, String)>,
    more: Vec<String>,
    plugin: Plugin,
    spank: bool,
    slurmd: bool,
    accounting: Option<Vec<String>>,
    users: Vec<String>,
}

/// A running one.
pub struct Cluster {
    folder: Folder,
    nodes: Vec<Node>,
    controller: Daemon,
    slurmds: Vec<Daemon>,
    accounting: Option<Accounting>,
    munge: Daemon,
    kept: bool,
}

impl Cluster {
    /// Two nodes with four A100 each and one without, no partition, the plugin loaded.
    pub fn builder() -> Builder {
        let node = |name: &str, gpus: Option<u32>| Node {
            name: name.to_owned(),
            cpus: 64,
            memory_mb: 512_000,
            gpus: gpus.map(|n| ("a100".to_owned(), n)),
            port: 0,
        };
        Builder {
            policy: None,
            nodes: vec![node("g1", Some(4)), node("g2", Some(4)), node("c1", None)],
            partitions: Vec::new(),
            more: Vec::new(),
            plugin: Plugin::Sluice,
            spank: false,
            slurmd: false,
            accounting: None,
            users: ["games", "man", "news", "backup", "mail", "list"].map(str::to_owned).to_vec(),
        }
    }
}

impl Builder {
    /// The text of `sluice.toml`.
    pub fn policy(mut self, toml: &str) -> Self {
        self.policy = Some(toml.to_owned());
        self
    }

    /// A partition: its name and the rest of its line in `slurm.conf`.
    pub fn partition(mut self, name: &str, rest: &str) -> Self {
        self.partitions.push((name.to_owned(), rest.to_owned()));
        self
    }

    /// A further line of `slurm.conf`.
    pub fn conf(mut self, line: &str) -> Self {
        self.more.push(line.to_owned());
        self
    }

    /// Only these nodes.
    pub fn nodes(mut self, names: &[&str]) -> Self {
        self.nodes.retain(|n| names.contains(&n.name.as_str()));
        self
    }

    pub fn plugin(mut self, plugin: Plugin) -> Self {
        self.plugin = plugin;
        self
    }

    /// The same `.so` in `plugstack.conf`.
    pub fn spank(mut self) -> Self {
        self.spank = true;
        self
    }

    /// With a `slurmd` on each node: jobs run.
    pub fn slurmd(mut self) -> Self {
        self.slurmd = true;
        self
    }

    /// With `slurmdbd`, set up by these `sacctmgr` commands.
    pub fn accounting(mut self, sacctmgr: &[&str]) -> Self {
        self.accounting = Some(sacctmgr.iter().map(|&l| l.to_owned()).collect());
        self
    }

    /// Starts it all and waits until it answers.
    ///
    /// # Panics
    /// Where it does not, with what the daemons said.
    #[track_caller]
    pub fn start(self) -> Cluster {
        self.try_start().unwrap_or_else(|e| panic!("{e}"))
    }

    /// The same without a panic.
    pub fn try_start(mut self) -> Result<Cluster, String> {
        for node in &mut self.nodes {
            node.port = free_port()?;
        }
        let folder = self.prepare().map_err(|e| format!("cannot prepare the folder: {e}"))?;
        let root = folder.path();
        let munge = start_munge(&folder)?;
        let database = self.accounting.is_some().then(|| Database::start(&folder)).transpose()?;
        let accounting = database.map(|d| d.slurmdbd(&folder)).transpose()?;
        let text = conf::slurm_conf(&Conf {
            folder: root,
            nodes: &self.nodes,
            partitions: &self.partitions,
            job_submit: if self.plugin == Plugin::Sluice { "sluice" } else { "" },
            controller_port: free_port()?,
            accounting_port: accounting.as_ref().map(|a| a.port),
            more: &self.more,
        });
        folder.write("slurm.conf", text, 0o644).map_err(|e| format!("cannot write slurm.conf: {e}"))?;
        for line in self.accounting.iter().flatten() {
            let output = command(&folder, &format!("sacctmgr -i {line}")).try_run()?;
            if !output.ok() {
                return Err(format!("accounting cannot be set up\n{output}"));
            }
        }
        let controller = start_controller(&folder)?;
        let mut cluster = Cluster {
            folder,
            nodes: self.nodes,
            controller,
            slurmds: Vec::new(),
            accounting,
            munge,
            kept: false,
        };
        if self.slurmd {
            if let Err(e) = cluster.start_slurmds() {
                return Err(format!("{e}\n{}", cluster.controller.tail()));
            }
        }
        Ok(cluster)
    }

    /// Everything of the folder that does not depend on a port.
    fn prepare(&self) -> std::io::Result<Folder> {
        let folder = Folder::new()?;
        let root = folder.path().to_owned();
        for (name, mode) in
            [("munge", 0o755), ("state", 0o700), ("spool", 0o755), ("plugins", 0o755), ("bin", 0o755)]
        {
            folder.dir(name, mode)?;
        }
        for node in &self.nodes {
            folder.dir(&format!("spool/{}", node.name), 0o755)?;
        }
        folder.dir(WORK, 0o755)?;
        for user in &self.users {
            let home = folder.dir(&format!("{WORK}/{user}"), 0o755)?;
            if let Some((uid, gid)) = session::numeric_ids(user) {
                std::os::unix::fs::chown(home, Some(uid), Some(gid))?;
            }
        }
        folder.dir(&format!("{WORK}/root"), 0o755)?;
        let version = Command::new("slurmctld -V", &root).try_run().map_err(std::io::Error::other)?;
        folder.write("cgroup.conf", conf::cgroup_conf(&version.stdout), 0o644)?;
        folder.write("gres.conf", conf::gres_conf(&root, &self.nodes), 0o644)?;
        let gpus = self.nodes.iter().filter_map(|n| n.gpus.as_ref()).map(|(_, n)| *n).max().unwrap_or(0);
        for n in 0..gpus {
            fake_gpu(&root.join(format!("gpu{n}")))?;
        }
        if let Some(policy) = &self.policy {
            folder.write("sluice.toml", policy, 0o644)?;
        }
        if self.plugin == Plugin::Sluice || self.spank {
            let built = requirements::plugin().map_err(std::io::Error::other)?;
            std::fs::copy(built, root.join("plugins/job_submit_sluice.so"))?;
        }
        if self.spank {
            let line = format!("optional {}/plugins/job_submit_sluice.so\n", root.display());
            folder.write("plugstack.conf", line, 0o644)?;
        }
        if let Some(built) = requirements::command() {
            std::fs::copy(built, root.join("bin/sluice"))?;
        }
        Ok(folder)
    }
}

impl Cluster {
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where the policy is looked for.
    pub fn policy_path(&self) -> PathBuf {
        self.path().join("sluice.toml")
    }

    /// Puts a new policy in the old one's place.
    ///
    /// # Panics
    /// Where it cannot be written.
    pub fn write_policy(&self, toml: &str) {
        self.folder.write("sluice.toml", toml, 0o644).expect("the policy can be written");
    }

    /// The folder that `user` types in.
    pub fn home(&self, user: &str) -> PathBuf {
        self.path().join(WORK).join(user)
    }

    /// Puts a file into the folder of every user.
    ///
    /// # Panics
    /// Where it cannot be written.
    pub fn file_for_everyone(&self, name: &str, text: &str) {
        for entry in std::fs::read_dir(self.path().join(WORK)).expect("the folder is there").flatten() {
            std::fs::write(entry.path().join(name), text).expect("the file can be written");
        }
    }

    /// A command line that root is about to type.
    pub fn root(&self, line: &str) -> Command {
        command(&self.folder, line).in_dir(&self.home("root"))
    }

    /// A command line that an ordinary user is about to type.
    pub fn user(&self, name: &str, line: &str) -> Command {
        let home = self.home(name);
        command(&self.folder, line).by_user(name).env("HOME", &home).in_dir(&home)
    }

    /// `KEY=VALUE` of `scontrol show job`; `None` where the job has no such field.
    pub fn job(&self, id: u32, key: &str) -> Option<String> {
        let shown = self.root(&format!("scontrol -o show job {id}")).run().accepted();
        let value = shown.stdout.split_whitespace().find_map(|w| w.strip_prefix(key)?.strip_prefix('='));
        value.map(str::to_owned)
    }

    /// The ids of all jobs that are queued or run.
    pub fn queue(&self) -> Vec<String> {
        let shown = self.root("squeue -h -o %A").run().accepted();
        shown.stdout.lines().map(str::to_owned).collect()
    }

    /// Everything that slurmctld has said since its last start.
    pub fn log(&self) -> String {
        self.controller.log()
    }

    pub fn controller_pid(&self) -> u32 {
        self.controller.pid()
    }

    pub fn controller_is_running(&mut self) -> bool {
        self.controller.is_running()
    }

    /// Stops slurmctld and starts it again with what the folder holds now.
    ///
    /// # Panics
    /// Where it does not start.
    #[track_caller]
    pub fn restart_controller(&mut self) {
        self.controller.stop();
        self.controller = start_controller(&self.folder).unwrap_or_else(|e| panic!("{e}"));
    }

    /// Leaves the folder behind and shows what slurmctld said last.
    pub fn keep(&mut self) {
        if !self.kept {
            self.kept = true;
            self.folder.keep();
            eprintln!("{}\n--- kept for a day: {}", self.controller.tail(), self.path().display());
        }
    }

    fn start_slurmds(&mut self) -> Result<(), String> {
        let conf = slurm_conf_path(&self.folder);
        for node in &self.nodes {
            let log = self.path().join(format!("slurmd-{}.log", node.name));
            let args = ["-D", "-N", &node.name];
            let daemon = Daemon::start("slurmd", &log, "slurmd", &args, &[("SLURM_CONF", &conf)])?;
            self.slurmds.push(daemon);
        }
        let (folder, nodes) = (&self.folder, self.nodes.len().to_string());
        let idle = || {
            let count = command(folder, "sinfo -h -N -o '%N %T' | sort -u | grep -cw idle").try_run();
            count.is_ok_and(|o| o.stdout.trim() == nodes)
        };
        match self.slurmds.first_mut() {
            Some(first) => first.wait_until(START, idle),
            None => Ok(()),
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.keep();
        }
        if !self.slurmds.is_empty() && self.controller.is_running() {
            // A job's own processes are slurmd's to end.
            let _ = command(&self.folder, "scancel --state=running; scancel --state=pending").try_run();
            let folder = &self.folder;
            let _ = until(Duration::from_secs(10), || {
                command(folder, "squeue -h -o %A").try_run().is_ok_and(|o| o.stdout.trim().is_empty())
            });
        }
        self.slurmds.clear();
        self.controller.stop();
        if let Some(accounting) = &mut self.accounting {
            accounting.stop();
        }
        self.munge.stop();
    }
}

fn slurm_conf_path(folder: &Folder) -> String {
    folder.path().join("slurm.conf").display().to_string()
}

fn command(folder: &Folder, line: &str) -> Command {
    let path = format!("{}/bin:{}", folder.path().display(), session::PATH);
    Command::new(line, folder.path()).env("SLURM_CONF", slurm_conf_path(folder)).env("PATH", path)
}

fn start_munge(folder: &Folder) -> Result<Daemon, String> {
    let root = folder.path();
    let file = |name: &str| root.join("munge").join(name).display().to_string();
    let mut key = [0; 128];
    let random = std::fs::File::open("/dev/urandom");
    random
        .and_then(|mut f| std::io::Read::read_exact(&mut f, &mut key))
        .and_then(|()| folder.write("munge/key", key, 0o600))
        .map_err(|e| format!("cannot make a munge key: {e}"))?;
    let args = [
        "--foreground".to_owned(),
        format!("--key-file={}", file("key")),
        format!("--socket={}", file("socket")),
        format!("--pid-file={}", file("pid")),
        format!("--log-file={}", file("log")),
        format!("--seed-file={}", file("seed")),
        "--num-threads=2".to_owned(),
    ];
    let args = args.each_ref().map(String::as_str);
    let mut daemon = Daemon::start("munged", &root.join("munged.log"), "munged", &args, &[])?;
    let socket = file("socket");
    daemon.wait_until(START, || std::os::unix::net::UnixStream::connect(&socket).is_ok())?;
    Ok(daemon)
}

fn start_controller(folder: &Folder) -> Result<Daemon, String> {
    let conf = slurm_conf_path(folder);
    let log = folder.path().join("slurmctld.log");
    let mut daemon = Daemon::start("slurmctld", &log, "slurmctld", &["-D"], &[("SLURM_CONF", &conf)])?;
    let up = || command(folder, "scontrol ping").try_run().is_ok_and(|o| o.stdout.contains(" is UP"));
    daemon.wait_until(START, up)?;
    Ok(daemon)
}

/// A device that opens and holds nothing; where devices cannot be made, a file will do.
fn fake_gpu(path: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
    let made = mknodat(CWD, path, FileType::CharacterDevice, Mode::from_raw_mode(0o666), makedev(1, 3));
    made.or_else(|_| std::fs::write(path, "").map_err(|_| rustix::io::Errno::IO))?;
    Ok(())
}
