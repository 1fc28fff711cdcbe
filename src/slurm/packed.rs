//! What slurmctld packs for its clients, unpacked by its own library into public structs.
//!
//! slurmctld's records have private layouts that change even inside a series; what squeue and scontrol
//! receive of them is public. Two private structs are on the way, a buffer and a message. A few of
//! their members are touched, at offsets known for each series, and before anything is written there
//! they must hold what Slurm has just put into them. Where they do not, nothing is read.

use once_cell::sync::OnceCell;
use std::ffi::{c_int, c_long, c_void};
use std::ptr;

use super::api::symbol;

/// Offsets in `buf_t` (pack.h, the same from 20.11 to 26.05).
const BUF_SIZE: usize = 16;
const BUF_PROCESSED: usize = 20;

/// Offsets in `slurm_msg_t` (slurm_protocol_defs.h) of this series: `data`, `msg_type`,
/// `protocol_version`.
const MSG: (usize, usize, usize) = if cfg!(slurm_25_11) {
    (192, 226, 228)
} else if cfg!(slurm_25_05) {
    (192, 224, 226)
} else if cfg!(slurm_24_11) {
    (200, 212, 214)
} else if cfg!(slurm_24_05) {
    (192, 204, 206)
} else if cfg!(slurm_23_11) {
    (192, 208, 210)
} else {
    (184, 200, 202)
};
/// What `slurm_msg_t_init` puts into the type and the version.
const NOT_SET: u16 = 0xfffe;

/// Room for a `slurm_msg_t`, twice what the largest known one has.
#[repr(C, align(16))]
struct Message([u8; 1024]);

/// The functions that it takes, by the prototypes of 20.11 to 26.05.
struct Functions {
    free_buf: unsafe extern "C" fn(*mut u8),
    msg_init: unsafe extern "C" fn(*mut Message),
    unpack_msg: unsafe extern "C" fn(*mut Message, *mut u8) -> c_int,
    api_version: unsafe extern "C" fn() -> c_long,
}

fn functions() -> Option<&'static Functions> {
    static FUNCTIONS: OnceCell<Option<Functions>> = OnceCell::new();
    let find = || {
        // SAFETY: each type is the prototype of that symbol (pack.h, slurm_protocol_defs.h,
        // slurm_protocol_pack.h, slurm.h), 20.11 to 26.05.
        unsafe {
            Some(Functions {
                free_buf: symbol(c"free_buf").or_else(|| symbol(c"slurm_free_buf"))?,
                msg_init: symbol(c"slurm_msg_t_init")?,
                unpack_msg: symbol(c"unpack_msg")?,
                api_version: symbol(c"slurm_api_version")?,
            })
        }
    };
    FUNCTIONS.get_or_init(find).as_ref()
}

/// The number of the protocol that this Slurm speaks: not its version.
pub fn protocol() -> Option<u16> {
    // SAFETY: returns a number, with the protocol's in the upper bytes.
    u16::try_from(unsafe { (functions()?.api_version)() } >> 8).ok()
}

/// A buffer of Slurm's. Freed when dropped.
pub struct Buffer {
    functions: &'static Functions,
    buf: *mut u8,
}

impl Buffer {
    /// Takes over what one of Slurm's functions made; `None` for NULL.
    ///
    /// # Safety
    /// `buf` is NULL or a `buf_t` that nobody else will free.
    pub unsafe fn adopt(buf: *mut u8) -> Option<Buffer> {
        let functions = functions()?;
        (!buf.is_null()).then_some(Buffer { functions, buf })
    }

    /// The buffer, for Slurm's functions that pack into it.
    pub fn as_ptr(&self) -> *mut u8 {
        self.buf
    }

    /// Bytes that there is room for.
    pub fn size(&self) -> u32 {
        self.read(BUF_SIZE)
    }

    /// Bytes that have been packed, or unpacked.
    pub fn processed(&self) -> u32 {
        self.read(BUF_PROCESSED)
    }

    fn read(&self, offset: usize) -> u32 {
        // SAFETY: the struct has at least 24 bytes in every series, both members are aligned `uint32_t`.
        unsafe { self.buf.add(offset).cast::<u32>().read() }
    }

    /// Unpacks the first `packed` bytes as an answer of this type. `None` where this Slurm is not laid
    /// out as it should be, or takes the bytes for no such answer.
    pub fn unpack(&mut self, packed: u32, kind: u16) -> Option<Unpacked> {
        if packed == 0 || packed > self.size() {
            return None;
        }
        let mut message = Message([0; 1024]);
        // SAFETY: the room is larger than any slurm_msg_t and as aligned as malloc's.
        unsafe { (self.functions.msg_init)(&mut message) };
        let (data, msg_type, version) = MSG;
        // Proof of the layout: what slurm_msg_t_init has just written.
        let fits = message.read(msg_type) == Some(NOT_SET)
            && message.read(version) == Some(NOT_SET)
            && message.read(data) == Some(ptr::null_mut::<c_void>());
        if !fits {
            return None;
        }
        message.write(msg_type, kind);
        message.write(version, protocol()?);
        // SAFETY: as in `read`; the buffer is ours, and not longer than it was.
        unsafe {
            self.buf.add(BUF_SIZE).cast::<u32>().write(packed);
            self.buf.add(BUF_PROCESSED).cast::<u32>().write(0);
        }
        // SAFETY: the message is set up as for an answer that has come in, the buffer holds one.
        let result = unsafe { (self.functions.unpack_msg)(&mut message, self.buf) };
        let data: *mut c_void = message.read(data)?;
        // Proof that both sides mean the same: nothing is left over.
        let whole = self.processed() == packed;
        (result == 0 && !data.is_null()).then_some(Unpacked { data, whole })
    }
}

/// What came out of a buffer: Slurm's, for the caller to free.
#[derive(Clone, Copy, Debug)]
pub struct Unpacked {
    /// The struct that belongs to the type of answer.
    pub data: *mut c_void,
    /// Whether all of the buffer was understood; else nothing of `data` may be believed.
    pub whole: bool,
}

impl Drop for Buffer {
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
