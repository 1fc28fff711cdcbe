//! The folder that a private Slurm lives in.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Names of our folders: `sluice-test-PID-N`.
const PREFIX: &str = "sluice-test-";
/// Marks a folder that is kept for a person to look at.
const KEPT: &str = "KEPT";
/// How long such a folder is kept after the process that made it is gone.
const KEEP: Duration = Duration::from_secs(24 * 60 * 60);

/// A folder under the system's temporary one, removed when dropped unless it is kept.
pub struct Folder {
    path: PathBuf,
    kept: bool,
}

impl Folder {
    /// Makes a new one that every user can enter.
    pub fn new() -> std::io::Result<Folder> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let base = std::env::temp_dir();
        sweep(&base);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("{PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(Folder { path, kept: false })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a folder inside, for `mode`.
    pub fn dir(&self, name: &str, mode: u32) -> std::io::Result<PathBuf> {
        let path = self.path.join(name);
        fs::create_dir_all(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        Ok(path)
    }

    /// Writes a file inside, for `mode`: a new file that takes the old one's place, as an
    /// administrator's tool would do it.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>, mode: u32) -> std::io::Result<PathBuf> {
        let path = self.path.join(name);
        let new = self.path.join(format!("{name}.new"));
        fs::write(&new, text)?;
        fs::set_permissions(&new, fs::Permissions::from_mode(mode))?;
        fs::rename(&new, &path)?;
        Ok(path)
    }

    /// Leaves it behind.
    pub fn keep(&mut self) {
        self.kept = true;
        let _ = fs::write(self.path.join(KEPT), "");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Removes what test runs left behind that were killed before they could clean up.
fn sweep(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|n| n.strip_prefix(PREFIX)).and_then(|n| n.split('-').next())
        else {
            continue;
        };
        if pid.parse::<u32>().is_err() || Path::new("/proc").join(pid).exists() {
            continue;
        }
        let old = || {
            let modified = fs::metadata(entry.path().join(KEPT)).and_then(|m| m.modified());
            modified.map_or(true, |m| m.elapsed().is_ok_and(|age| age > KEEP))
        };
        if old() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
