//! slurmctld's StateSaveLocation, read from its configuration.
//!
//! `slurm_conf_t` is public, but nothing proves that the running slurmctld has the layout of the
//! headers. So the memory is asked for through the kernel, which answers where a pointer is wrong
//! instead of ending the process, and the answer must be a folder that this process owns.

use std::ffi::c_void;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use super::api::symbol;
use super::sys::slurm_conf_t;

/// Bytes of the longest path.
const PATH: usize = 4096;

/// The folder; `None` where it cannot be told. Only for the helper: it looks at the folder.
pub fn find() -> Option<PathBuf> {
    // SAFETY: a global variable of Slurm's; only its address is used.
    let conf: *const slurm_conf_t = unsafe { symbol(c"slurm_conf") }?;
    let field = conf.wrapping_byte_add(std::mem::offset_of!(slurm_conf_t, state_save_location));
    let pointer = own_memory(field.cast(), size_of::<usize>())?;
    let text = usize::from_ne_bytes(pointer.try_into().ok()?);
    // To the end of its page at least, further where that can be read.
    let here = 4096usize.saturating_sub(text % 4096);
    let mut bytes = own_memory(std::ptr::without_provenance(text), here)?;
    if !bytes.contains(&0) {
        bytes.extend(own_memory(std::ptr::without_provenance(text.checked_add(here)?), PATH)?);
    }
    let end = bytes.iter().position(|&b| b == 0)?;
    let path = Path::new(std::ffi::OsStr::from_bytes(bytes.get(..end)?));
    let meta = path.metadata().ok().filter(|m| path.is_absolute() && m.is_dir())?;
    // SAFETY: geteuid only returns a number.
    let owned = meta.uid() == 0 || meta.uid() == unsafe { libc::geteuid() };
    owned.then(|| path.to_owned())
}

/// A copy of this process's memory; `None` where there is none.
fn own_memory(from: *const c_void, len: usize) -> Option<Vec<u8>> {
    let (into, mut out) = UnixStream::pair().ok()?;
    // SAFETY: the kernel checks the address, and says EFAULT where it is wrong. So few bytes fit into
    // a socket at once.
    let written = unsafe { libc::write(into.as_raw_fd(), from, len) };
    if usize::try_from(written).ok()? != len {
        return None;
    }
    let mut bytes = vec![0u8; len];
    out.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_is_no_crash() {
        let text = b"here\0";
        assert_eq!(own_memory(text.as_ptr().cast(), 5).as_deref(), Some(&text[..]));
        assert_eq!(own_memory(std::ptr::without_provenance(8), 8), None);
    }
}
