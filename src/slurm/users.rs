//! Names of users and groups, as the system resolves them. Only for the helper: a look-up may ask a
//! directory server and take as long as that takes.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int};

use crate::policy::resolve::{Directory, Group};

/// Bytes for one entry at first, and at most: a group's entry holds all its members' names.
const BUFFER: (usize, usize) = (1 << 12, 1 << 24);

/// A look-up that failed, in words; not the same as "no such name".
pub type Failed = String;

/// The system's users and groups, and whether any look-up failed: then what it said is no reason to
/// take anybody's rights away.
#[derive(Debug, Default)]
pub struct System {
    failed: Cell<bool>,
}

impl System {
    /// Whether a look-up failed since this was made.
    pub fn has_failed(&self) -> bool {
        self.failed.get()
    }

    fn noted<T>(&self, found: Result<Option<T>, Failed>) -> Option<T> {
        found.unwrap_or_else(|_| {
            self.failed.set(true);
            None
        })
    }
}

impl Directory for System {
    fn user(&self, name: &str) -> Option<u32> {
        self.noted(user(name))
    }

    fn group(&self, name: &str) -> Option<Group> {
        self.noted(group(name)).map(|(gid, members)| Group { gid, members })
    }
}

/// The uid of a user; `None` where there is none of that name.
pub fn user(name: &str) -> Result<Option<u32>, Failed> {
    let Ok(name) = CString::new(name) else { return Ok(None) };
    look_up(|entry: &mut libc::passwd, buffer, found| {
        // SAFETY: all pointers are valid, the length is the buffer's.
        unsafe { libc::getpwnam_r(name.as_ptr(), entry, buffer.as_mut_ptr(), buffer.len(), found) }
    })
    .map(|found| found.map(|(entry, _)| entry.pw_uid))
}

/// The gid of a group and the uids of the members that its entry names; `None` where there is none
/// of that name. Those whose primary group it is are known by the gid.
pub fn group(name: &str) -> Result<Option<(u32, Vec<u32>)>, Failed> {
    let Ok(name) = CString::new(name) else { return Ok(None) };
    let found = look_up(|entry: &mut libc::group, buffer, found| {
        // SAFETY: all pointers are valid, the length is the buffer's.
        unsafe { libc::getgrnam_r(name.as_ptr(), entry, buffer.as_mut_ptr(), buffer.len(), found) }
    })?;
    let Some((entry, _buffer)) = found else { return Ok(None) };
    let mut members = Vec::new();
    let mut next = entry.gr_mem;
    // SAFETY: an array of text in `_buffer`, ended by NULL.
    while let Some(member) = unsafe { next.as_ref() }.filter(|m| !m.is_null()) {
        // SAFETY: NUL-terminated text in `_buffer`.
        if let Ok(member) = unsafe { CStr::from_ptr(*member) }.to_str() {
            members.extend(user(member)?);
        }
        // SAFETY: this one was not the NULL at the end.
        next = unsafe { next.add(1) };
    }
    Ok(Some((entry.gr_gid, members)))
}

/// Calls a `get*_r` function with as large a buffer as it wants. The entry points into the buffer.
fn look_up<T>(
    mut get: impl FnMut(&mut T, &mut [c_char], &mut *mut T) -> c_int,
) -> Result<Option<(T, Vec<c_char>)>, Failed> {
    let mut size = BUFFER.0;
    loop {
        let mut buffer: Vec<c_char> = vec![0; size];
        // SAFETY: passwd and group are plain C structs; the function fills them in.
        let mut entry: T = unsafe { std::mem::zeroed() };
        let mut found = std::ptr::null_mut();
        match get(&mut entry, &mut buffer, &mut found) {
            0 => return Ok((!found.is_null()).then_some((entry, buffer))),
            libc::ERANGE if size < BUFFER.1 => size = size.saturating_mul(2),
            libc::EINTR => {}
            // What some modules say for "no such name" (getpwnam(3)).
            libc::ENOENT | libc::ESRCH | libc::EBADF | libc::EPERM => return Ok(None),
            code => return Err(std::io::Error::from_raw_os_error(code).to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_system_are_found_and_others_are_not() {
        assert_eq!(user("root"), Ok(Some(0)));
        assert_eq!(user("no-such-user-of-sluice"), Ok(None));
        assert_eq!(user("a\0b"), Ok(None));
        assert_eq!(group("root").unwrap().unwrap().0, 0);
        assert_eq!(group("no-such-group-of-sluice"), Ok(None));
    }
}
