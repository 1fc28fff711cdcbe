//! `slurmdbd` with a MariaDB of its own behind it.

use std::time::Duration;

use super::conf::{free_port, slurmdbd_conf};
use super::folder::Folder;
use super::nursery::Daemon;
use super::session::Command;

/// The accounting side, ready for `sacctmgr`.
pub struct Accounting {
    /// Where slurmdbd listens.
    pub port: u16,
    slurmdbd: Daemon,
    mariadb: Daemon,
}

/// Prepares the database's files and starts it; slurmdbd comes with [`Database::slurmdbd`].
pub struct Database {
    socket: String,
    mariadb: Daemon,
}

impl Database {
    pub fn start(folder: &Folder) -> Result<Database, String> {
        let root = folder.path();
        let data = format!("--datadir={}/mariadb", root.display());
        let socket = format!("{}/mariadb.socket", root.display());
        let install = format!(
            "mariadb-install-db --no-defaults --user=root {data} \
             --auth-root-authentication-method=socket --skip-test-db"
        );
        let output = Command::new(install, root).within(Duration::from_secs(120)).try_run()?;
        if !output.ok() {
            return Err(format!("cannot prepare a database\n{output}"));
        }
        let socket_option = format!("--socket={socket}");
        let pid_file = format!("--pid-file={}/mariadb.pid", root.display());
        let args = [
            "--no-defaults",
            "--user=root",
            &data,
            &socket_option,
            &pid_file,
            "--skip-networking",
            "--innodb-flush-log-at-trx-commit=0",
            "--innodb-buffer-pool-size=32M",
        ];
        let mut mariadb = Daemon::start("mariadbd", &root.join("mariadbd.log"), "mariadbd", &args, &[])?;
        let ready = || std::os::unix::net::UnixStream::connect(&socket).is_ok();
        mariadb.wait_until(Duration::from_secs(60), ready)?;
        Ok(Database { socket, mariadb })
    }

    /// Starts slurmdbd, which reads its file beside `slurm.conf`.
    pub fn slurmdbd(self, folder: &Folder) -> Result<Accounting, String> {
        let port = free_port()?;
        let root = folder.path();
        let write = folder.write("slurmdbd.conf", slurmdbd_conf(root, port), 0o600);
        write.map_err(|e| format!("cannot write slurmdbd.conf: {e}"))?;
        let conf = root.join("slurm.conf").display().to_string();
        let env = [("SLURM_CONF", conf.as_str()), ("MYSQL_UNIX_PORT", &self.socket)];
        let log = root.join("slurmdbd.log");
        let mut slurmdbd = Daemon::start("slurmdbd", &log, "slurmdbd", &["-D"], &env)?;
        let ready = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
        slurmdbd.wait_until(Duration::from_secs(60), ready)?;
        Ok(Accounting { port, slurmdbd, mariadb: self.mariadb })
    }
}

impl Accounting {
    pub fn stop(&mut self) {
        self.slurmdbd.stop();
        self.mariadb.stop();
    }
}
