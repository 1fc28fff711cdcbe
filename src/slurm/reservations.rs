//! The partition of a reservation, without knowing how slurmctld keeps reservations.
//!
//! slurmctld packs them all as it would for `scontrol show reservation` (`show_resv`, which takes no
//! lock of slurmctld's, needs the node lock that the hook holds, and changes nothing), and its library
//! unpacks that into the public `reserve_info_msg_t`. The same private structs are on the way as for a
//! job, a buffer and a message, and the same proofs are asked before their members are believed; where
//! one fails, or the series is one whose `show_resv` was never read, the partition is unknown.

use std::ffi::{c_char, c_int, c_long, c_void};
use std::ptr;
use std::sync::OnceLock;

use super::api::symbol;
use super::strings;
use super::sys::{reserve_info_msg_t, reserve_info_t};

/// Offsets in `buf_t` (pack.h, the same from 20.11 to 26.05).
const BUF_SIZE: usize = 16;
const BUF_PROCESSED: usize = 20;
/// Offsets of `data`, `msg_type` and `protocol_version` in `slurm_msg_t` (slurm_protocol_defs.h).
const MSG: (usize, usize, usize) = if cfg!(slurm_25_11) {
    (192, 226, 228)
} else if cfg!(slurm_25_05) {
    (192, 224, 226)
} else if cfg!(slurm_24_11) {
    (200, 212, 214)
} else {
    (184, 200, 202)
};
/// What `slurm_msg_t_init` puts into the type and the version.
const NOT_SET: u16 = 0xfffe;
/// `RESPONSE_RESERVATION_INFO` (22.05, 24.11, 26.05).
const RESPONSE_RESERVATION_INFO: u16 = 2025;

/// Room for a `slurm_msg_t`, twice what the largest known one has.
#[repr(C, align(16))]
struct Message([u8; 1024]);

/// `show_resv` of 22.05: the packed bytes and their number.
#[cfg(not(slurm_24_11))]
type ShowResv = unsafe extern "C" fn(*mut *mut c_char, *mut c_int, u32, u16);
/// `show_resv` since 24.11: a buffer.
#[cfg(slurm_24_11)]
type ShowResv = unsafe extern "C" fn(u32, u16) -> *mut u8;

/// The functions that it takes.
struct Functions {
    show_resv: ShowResv,
    free_buf: unsafe extern "C" fn(*mut u8),
    #[cfg(not(slurm_24_11))]
    create_buf: unsafe extern "C" fn(*mut c_char, u32) -> *mut u8,
    msg_init: unsafe extern "C" fn(*mut Message),
    unpack_msg: unsafe extern "C" fn(*mut Message, *mut u8) -> c_int,
    free_info: unsafe extern "C" fn(*mut reserve_info_msg_t),
    api_version: unsafe extern "C" fn() -> c_long,
}

impl Functions {
    fn get() -> Option<&'static Functions> {
        static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
        FUNCTIONS.get_or_init(Functions::find).as_ref()
    }

    fn find() -> Option<Functions> {
        // SAFETY: each type is the prototype of that symbol (reservation.h, pack.h,
        // slurm_protocol_defs.h, slurm_protocol_pack.h, slurm.h) in the series that this is built for.
        unsafe {
            Some(Functions {
                show_resv: symbol(c"show_resv")?,
                free_buf: symbol(c"free_buf").or_else(|| symbol(c"slurm_free_buf"))?,
                #[cfg(not(slurm_24_11))]
                create_buf: symbol(c"create_buf").or_else(|| symbol(c"slurm_create_buf"))?,
                msg_init: symbol(c"slurm_msg_t_init")?,
                unpack_msg: symbol(c"unpack_msg")?,
                free_info: symbol(c"slurm_free_reservation_info_msg")?,
                api_version: symbol(c"slurm_api_version")?,
            })
        }
    }

    /// All reservations, packed for root, who sees every one. Slurm's; to be freed.
    fn packed(&self, protocol: u16) -> Option<Buffer<'_>> {
        #[cfg(slurm_24_11)]
        // SAFETY: the hook holds the node lock.
        let buf = unsafe { (self.show_resv)(0, protocol) };
        #[cfg(not(slurm_24_11))]
        // SAFETY: likewise; the buffer takes over the bytes, which are Slurm's.
        let buf = unsafe {
            let (mut bytes, mut len) = (ptr::null_mut(), 0);
            (self.show_resv)(&mut bytes, &mut len, 0, protocol);
            let len = u32::try_from(len).ok().filter(|&n| n > 0 && !bytes.is_null())?;
            (self.create_buf)(bytes, len)
        };
        (!buf.is_null()).then_some(Buffer { functions: self, buf })
    }
}

/// A buffer of Slurm's. Freed when dropped.
struct Buffer<'f> {
    functions: &'f Functions,
    buf: *mut u8,
}

impl Buffer<'_> {
    fn read(&self, offset: usize) -> u32 {
        // SAFETY: the struct has at least 24 bytes in every series, its members are aligned.
        unsafe { self.buf.add(offset).cast::<u32>().read() }
    }

    /// Makes what was packed readable from its start, and says how much it is.
    fn rewind(&mut self) -> Option<u32> {
        let (size, processed) = (self.read(BUF_SIZE), self.read(BUF_PROCESSED));
        // What slurmctld has packed into it, or for 22.05 all of what was copied into it.
        let packed = if cfg!(slurm_24_11) { processed } else { size };
        if packed == 0 || packed > size || (!cfg!(slurm_24_11) && processed != 0) {
            return None;
        }
        // SAFETY: as in `read`; the buffer is ours, and not longer than it was.
        unsafe {
            self.buf.add(BUF_SIZE).cast::<u32>().write(packed);
            self.buf.add(BUF_PROCESSED).cast::<u32>().write(0);
        }
        Some(packed)
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: Slurm's, and nobody else has it.
        unsafe { (self.functions.free_buf)(self.buf) };
    }
}

impl Message {
    fn read<T: Copy>(&self, offset: usize) -> Option<T> {
        let bytes = self.0.get(offset..offset.checked_add(size_of::<T>())?)?;
        // SAFETY: so many bytes are there; T is a number or a pointer, for which any bytes will do.
        Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
    }

    fn write(&mut self, offset: usize, value: u16) {
        let end = offset.saturating_add(size_of::<u16>());
        if let Some(bytes) = self.0.get_mut(offset..end) {
            bytes.copy_from_slice(&value.to_ne_bytes());
        }
    }
}

/// All reservations. Freed when dropped.
struct Reservations {
    functions: &'static Functions,
    message: *mut reserve_info_msg_t,
}

impl Reservations {
    fn read() -> Option<Reservations> {
        let functions = Functions::get()?;
        // SAFETY: returns a number: not Slurm's version, but that of its protocol in the upper bytes.
        let protocol = u16::try_from(unsafe { (functions.api_version)() } >> 8).ok()?;
        let mut message = Message([0; 1024]);
        // SAFETY: the room is larger than any slurm_msg_t and as aligned as malloc's.
        unsafe { (functions.msg_init)(&mut message) };
        let (data, kind, version) = MSG;
        // Proof of the layout: what slurm_msg_t_init has just written.
        let fits = message.read(kind) == Some(NOT_SET)
            && message.read(version) == Some(NOT_SET)
            && message.read(data) == Some(ptr::null_mut::<c_void>());
        if !fits {
            return None;
        }
        message.write(kind, RESPONSE_RESERVATION_INFO);
        message.write(version, protocol);
        let mut buffer = functions.packed(protocol)?;
        let packed = buffer.rewind()?;
        // SAFETY: the message is set up as for an answer that has come in, the buffer holds one.
        let result = unsafe { (functions.unpack_msg)(&mut message, buffer.buf) };
        let info: *mut reserve_info_msg_t = message.read(data)?;
        if result != 0 || info.is_null() {
            return None;
        }
        let reservations = Reservations { functions, message: info };
        // Proof that both sides mean the same: nothing is left over.
        (buffer.read(BUF_PROCESSED) == packed).then_some(reservations)
    }

    fn all(&self) -> &[reserve_info_t] {
        // SAFETY: unpack_msg has made the array of so many, and it lives as long as `self`.
        unsafe {
            let message = &*self.message;
            match usize::try_from(message.record_count) {
                Ok(len) if !message.reservation_array.is_null() => {
                    std::slice::from_raw_parts(message.reservation_array, len)
                }
                _ => &[],
            }
        }
    }
}

impl Drop for Reservations {
    fn drop(&mut self) {
        // SAFETY: from unpack_msg, which made it with Slurm's allocator for its receiver to free.
        unsafe { (self.functions.free_info)(self.message) };
    }
}

/// The partition of the reservation of this name, `Some(None)` where it has none of its own;
/// `None` where there is no such reservation or nothing can be known.
pub fn partition_of(name: &str) -> Option<Option<String>> {
    let reservations = Reservations::read()?;
    // SAFETY: text that was unpacked: NULL or NUL-terminated, and as long-lived as `reservations`.
    let text = |p: *const c_char| unsafe { strings::read(p) };
    let found = reservations.all().iter().find(|r| text(r.name).is_some_and(|n| n == name))?;
    Some(text(found.partition).map(std::borrow::Cow::into_owned).filter(|p| !p.is_empty()))
}
