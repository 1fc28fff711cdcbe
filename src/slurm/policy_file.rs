//! The policy file on disk: what it is now, and its text where it may be trusted.
//!
//! As sudo with sudoers: the file decides who may run what, so only root and SlurmUser may have
//! written it. Whatever lies at the path, looking at it never blocks.

use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::api;
use crate::policy::load::LARGEST;

/// Name of the file, beside slurm.conf.
const NAME: &CStr = c"sluice.toml";
/// Bytes that are read at most.
const MAX_BYTES: u64 = LARGEST as u64;

/// What lies at the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A file that may be read. Another stamp means another file or another content.
    File(Stamp),
    /// Nothing.
    Absent,
    /// Something that is not taken for a policy, and why.
    Unfit(String),
}

/// Tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Where the policy is: beside slurm.conf. `None` where Slurm does not say.
/// The environment is not asked: a daemon's policy must not depend on who started it.
pub fn path() -> Option<PathBuf> {
    let slurm = api::get();
    let (find, xfree) = (slurm.get_extra_conf_path?, slurm.xfree?);
    // SAFETY: Slurm reads the name and gives back text of its own allocator, or NULL.
    let mut text: *mut c_char = unsafe { find(NAME.as_ptr().cast_mut()) };
    if text.is_null() {
        return None;
    }
    // SAFETY: NUL-terminated text that is ours; it is freed by the allocator that made it.
    unsafe {
        let path = CString::from(CStr::from_ptr(text));
        xfree((&raw mut text).cast());
        Some(PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes())))
    }
}

/// Looks at the path without opening anything.
pub fn look(path: &Path) -> Found {
    match std::fs::metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Found::Absent,
        Err(e) => Found::Unfit(e.to_string()),
        Ok(meta) => match fit(&meta) {
            Ok(()) => Found::File(Stamp::of(&meta)),
            Err(why) => Found::Unfit(why),
        },
    }
}

/// The text of the file, and the state in which it was read. Everything is checked again on the
/// open file, which may be another by now.
pub fn read(path: &Path) -> Result<(String, Stamp), String> {
    let mut options = OpenOptions::new();
    // A FIFO that took the file's place would block an open, a terminal would become ours.
    options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC);
    let mut file: File = options.open(path).map_err(|e| e.to_string())?;
    let meta = file.metadata().map_err(|e| e.to_string())?;
    fit(&meta)?;
    let mut bytes = Vec::new();
    (&mut file).take(MAX_BYTES).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    let after = file.metadata().map_err(|e| e.to_string())?;
    if Stamp::of(&meta) != Stamp::of(&after) {
        return Err("it changed while it was read".to_owned());
    }
    let text = String::from_utf8(bytes)
        .map_err(|e| format!("it is not UTF-8 text (byte {})", e.utf8_error().valid_up_to()))?;
    Ok((text, Stamp::of(&meta)))
}

/// Whether a file is one to take rules from.
fn fit(meta: &Metadata) -> Result<(), String> {
    let kind = meta.file_type();
    let other = [
        (kind.is_dir(), "a directory"),
        (kind.is_fifo(), "a FIFO"),
        (kind.is_socket(), "a socket"),
        (kind.is_block_device() || kind.is_char_device(), "a device"),
    ];
    if let Some((_, what)) = other.iter().find(|(is, _)| *is) {
        return Err(format!("it is {what}, not a regular file"));
    }
    if !kind.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    // slurmctld runs as SlurmUser.
    // SAFETY: geteuid only returns a number.
    let slurm_user = unsafe { libc::geteuid() };
    if meta.uid() != 0 && meta.uid() != slurm_user {
        return Err(format!("its owner is uid {}, neither root nor SlurmUser", meta.uid()));
    }
    if meta.mode() & 0o002 != 0 || (meta.mode() & 0o020 != 0 && meta.gid() != 0) {
        return Err(format!(
            "others may write it (mode {:o}): chmod go-w, for who can write it can lift every rule",
            meta.mode() & 0o7777
        ));
    }
    if meta.size() > MAX_BYTES {
        return Err(format!("it has {} bytes; at most {MAX_BYTES} are read", meta.size()));
    }
    Ok(())
}

impl Stamp {
    fn of(meta: &Metadata) -> Stamp {
        Stamp {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::File(_) => f.write_str("it is a file"),
            Found::Absent => f.write_str("there is no such file"),
            Found::Unfit(why) => f.write_str(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn folder(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("sluice-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    #[test]
    fn only_a_regular_file_that_others_cannot_write_is_read() {
        let dir = folder("policy-file");
        let path = dir.join("sluice.toml");
        assert_eq!(look(&path), Found::Absent);
        assert!(matches!(look(&dir), Found::Unfit(why) if why.contains("directory")));
        assert!(matches!(look(Path::new("/dev/null")), Found::Unfit(why) if why.contains("device")));

        fs::write(&path, "schema = 1\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(look(&path), Found::File(_)));
        assert_eq!(read(&path).unwrap().0, "schema = 1\n");
        let link = dir.join("link.toml");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(read(&link).is_ok(), "an administrator may keep the file elsewhere");

        fs::set_permissions(&path, fs::Permissions::from_mode(0o646)).unwrap();
        assert!(matches!(look(&path), Found::Unfit(why) if why.contains("others may write")));
        assert!(read(&path).is_err());

        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(read(&path).unwrap_err().contains("UTF-8"));
        fs::write(&path, vec![b'#'; MAX_BYTES as usize + 1]).unwrap();
        assert!(matches!(look(&path), Found::Unfit(why) if why.contains("bytes")));
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_fifo_blocks_nobody() {
        let dir = folder("policy-fifo");
        let path = dir.join("fifo");
        let name = CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
        // SAFETY: a valid path.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        assert!(matches!(look(&path), Found::Unfit(why) if why.contains("FIFO")));
        assert!(read(&path).unwrap_err().contains("FIFO"));
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_change_is_seen() {
        let dir = folder("policy-stamp");
        let path = dir.join("sluice.toml");
        fs::write(&path, "schema = 1\n").unwrap();
        let before = look(&path);
        fs::write(dir.join("new"), "schema = 2\n").unwrap();
        fs::rename(dir.join("new"), &path).unwrap();
        assert_ne!(look(&path), before);
        fs::remove_dir_all(dir).unwrap();
    }
}
