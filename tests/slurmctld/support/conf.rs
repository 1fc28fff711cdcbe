//! The configuration files of a private Slurm.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicU16, Ordering};

use super::cluster::Node;

/// Where the installed Slurm keeps its own plugins: Debian's folder, then that of a plain install.
const PLUGIN_DIRS: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu/slurm-wlm",
    "/usr/lib/aarch64-linux-gnu/slurm-wlm",
    "/usr/lib64/slurm",
    "/usr/lib/slurm",
    "/usr/local/lib/slurm",
];

/// What `slurm.conf` depends on.
pub struct Conf<'a> {
    pub folder: &'a Path,
    pub nodes: &'a [Node],
    pub partitions: &'a [(String, String)],
    pub job_submit: &'a str,
    pub controller_port: u16,
    pub accounting_port: Option<u16>,
    pub more: &'a [String],
}

/// `slurm.conf`: no cgroups, no MPI, nothing of the machine's own Slurm.
pub fn slurm_conf(conf: &Conf<'_>) -> String {
    let folder = conf.folder.display();
    let plugin_dir = PLUGIN_DIRS.iter().find(|d| Path::new(d).is_dir()).unwrap_or(&"/usr/lib/slurm");
    let mut text = format!(
        "ClusterName=sluice\n\
         SlurmctldHost=localhost\n\
         SlurmctldPort={port}\n\
         SlurmUser=root\n\
         SlurmdUser=root\n\
         AuthType=auth/munge\n\
         CredType=cred/munge\n\
         AuthInfo=socket={folder}/munge/socket\n\
         PluginDir={folder}/plugins:{plugin_dir}\n\
         StateSaveLocation={folder}/state\n\
         SlurmdSpoolDir={folder}/spool/%n\n\
         SlurmctldPidFile={folder}/slurmctld.pid\n\
         SlurmdPidFile={folder}/slurmd-%n.pid\n\
         ProctrackType=proctrack/linuxproc\n\
         TaskPlugin=task/none\n\
         MpiDefault=none\n\
         MailProg=/bin/true\n\
         SwitchType=switch/none\n\
         SelectType=select/cons_tres\n\
         SelectTypeParameters=CR_CPU_Memory\n\
         DefMemPerCPU=100\n\
         GresTypes=gpu\n\
         SlurmdParameters=config_overrides\n\
         ReturnToService=2\n\
         KillWait=1\n",
        port = conf.controller_port,
    );
    let mut line = |text_: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{text_}");
    };
    if !conf.job_submit.is_empty() {
        line(format_args!("JobSubmitPlugins={}", conf.job_submit));
    }
    if let Some(port) = conf.accounting_port {
        line(format_args!("AccountingStorageType=accounting_storage/slurmdbd"));
        line(format_args!("AccountingStorageHost=localhost"));
        line(format_args!("AccountingStoragePort={port}"));
        line(format_args!("AccountingStoragePass={folder}/munge/socket"));
        line(format_args!("AccountingStorageEnforce=associations,limits,qos"));
        line(format_args!("AccountingStorageTRES=gres/gpu"));
    }
    for node in conf.nodes {
        let gres = node.gpus.as_ref().map(|(kind, n)| format!(" Gres=gpu:{kind}:{n}")).unwrap_or_default();
        line(format_args!(
            "NodeName={} NodeHostname=localhost NodeAddr=127.0.0.1 Port={} CPUs={cpus} Boards=1 \
             SocketsPerBoard=2 CoresPerSocket={} ThreadsPerCore=1 RealMemory={} State=UNKNOWN{gres}",
            node.name,
            node.port,
            node.cpus / 2,
            node.memory_mb,
            cpus = node.cpus,
        ));
    }
    for (name, rest) in conf.partitions {
        line(format_args!("PartitionName={name} {rest}"));
    }
    for more in conf.more {
        line(format_args!("{more}"));
    }
    text
}

/// `cgroup.conf`: nothing here uses cgroups, but slurmd looks for them, and containers may have none.
/// `version` is what `slurmctld -V` says. Up to 23.02 the old kind does nothing as long as nobody
/// asks it to; later there is a word for none.
pub fn cgroup_conf(version: &str) -> &'static str {
    let series = version.split_whitespace().last().unwrap_or("");
    let mut numbers = series.split('.').map(|n| n.parse::<u32>().unwrap_or(0));
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) if (major, minor) >= (23, 11) => "CgroupPlugin=disabled\n",
        _ => "CgroupPlugin=cgroup/v1\n",
    }
}

/// `gres.conf`: each GPU is a device file of the folder.
pub fn gres_conf(folder: &Path, nodes: &[Node]) -> String {
    let mut text = String::new();
    for node in nodes {
        if let Some((kind, n)) = node.gpus.as_ref().filter(|(_, n)| *n > 0) {
            let last = n - 1;
            let folder = folder.display();
            let _ = writeln!(text, "NodeName={} Name=gpu Type={kind} File={folder}/gpu[0-{last}]", node.name);
        }
    }
    text
}

/// `slurmdbd.conf` for a database on a socket of the folder.
pub fn slurmdbd_conf(folder: &Path, port: u16) -> String {
    let folder = folder.display();
    format!(
        "AuthType=auth/munge\n\
         AuthInfo=socket={folder}/munge/socket\n\
         DbdHost=localhost\n\
         DbdPort={port}\n\
         SlurmUser=root\n\
         PidFile={folder}/slurmdbd.pid\n\
         StorageType=accounting_storage/mysql\n\
         StorageHost=localhost\n\
         StorageUser=root\n\
         StorageLoc=slurm\n"
    )
}

/// A TCP port that nothing listens on, below those that the kernel hands out by itself.
pub fn free_port() -> Result<u16, String> {
    const FIRST: u16 = 20_000;
    const PORTS: u16 = 10_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    for _ in 0..PORTS {
        // Test runs at the same time start at different places.
        let start = (std::process::id() % 400) * 25;
        let offset = NEXT.fetch_add(1, Ordering::Relaxed) % PORTS;
        let port = FIRST + (u16::try_from(start).unwrap_or(0) + offset) % PORTS;
        if TcpListener::bind(("0.0.0.0", port)).is_ok() {
            return Ok(port);
        }
    }
    Err("no free TCP port between 20000 and 30000".to_owned())
}
