//! The partition of a reservation, without knowing how slurmctld keeps reservations: slurmctld packs
//! them all as it would for `scontrol show reservation` (`show_resv`, which takes no lock of
//! slurmctld's, needs the node lock that the hook holds, and changes nothing), and [`packed`] unpacks
//! that into `reserve_info_msg_t`. Where that cannot be done, or the series is one whose `show_resv`
//! was never read, the partition is unknown.

use once_cell::sync::OnceCell;
use std::ffi::c_char;
#[cfg(not(slurm_24_11))]
use std::ffi::c_int;

use super::api::symbol;
use super::packed::{self, Buffer};
use super::strings;
use super::sys::{reserve_info_msg_t, reserve_info_t};

/// `RESPONSE_RESERVATION_INFO` (22.05, 24.11, 26.05).
const RESPONSE_RESERVATION_INFO: u16 = 2025;

/// `show_resv` of 22.05: the packed bytes and their number.
#[cfg(not(slurm_24_11))]
type ShowResv = unsafe extern "C" fn(*mut *mut c_char, *mut c_int, u32, u16);
/// `show_resv` since 24.11: a buffer.
#[cfg(slurm_24_11)]
type ShowResv = unsafe extern "C" fn(u32, u16) -> *mut u8;

/// The functions that it takes.
struct Functions {
    show_resv: ShowResv,
    #[cfg(not(slurm_24_11))]
    create_buf: unsafe extern "C" fn(*mut c_char, u32) -> *mut u8,
    free_info: unsafe extern "C" fn(*mut reserve_info_msg_t),
}

impl Functions {
    fn get() -> Option<&'static Functions> {
        static FUNCTIONS: OnceCell<Option<Functions>> = OnceCell::new();
        FUNCTIONS.get_or_init(Functions::find).as_ref()
    }

    fn find() -> Option<Functions> {
        // SAFETY: each type is the prototype of that symbol (reservation.h, pack.h,
        // slurm_protocol_defs.h, slurm_protocol_pack.h, slurm.h) in the series that this is built for.
        unsafe {
            Some(Functions {
                show_resv: symbol(c"show_resv")?,
                #[cfg(not(slurm_24_11))]
                create_buf: symbol(c"create_buf").or_else(|| symbol(c"slurm_create_buf"))?,
                free_info: symbol(c"slurm_free_reservation_info_msg")?,
            })
        }
    }

    /// All reservations, packed for root, who sees every one. Slurm's; to be freed.
    fn packed(&self, protocol: u16) -> Option<Buffer> {
        #[cfg(slurm_24_11)]
        // SAFETY: the hook holds the node lock.
        let buf = unsafe { (self.show_resv)(0, protocol) };
        #[cfg(not(slurm_24_11))]
        // SAFETY: likewise; the buffer takes over the bytes, which are Slurm's.
        let buf = unsafe {
            let (mut bytes, mut len) = (std::ptr::null_mut(), 0);
            (self.show_resv)(&mut bytes, &mut len, 0, protocol);
            let len = u32::try_from(len).ok().filter(|&n| n > 0 && !bytes.is_null())?;
            (self.create_buf)(bytes, len)
        };
        // SAFETY: made for us by Slurm, and nobody else has it.
        unsafe { Buffer::adopt(buf) }
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
        let mut buffer = functions.packed(packed::protocol()?)?;
        // What slurmctld has packed into it, or for 22.05 all of what was copied into it.
        let packed = if cfg!(slurm_24_11) { buffer.processed() } else { buffer.size() };
        if !cfg!(slurm_24_11) && buffer.processed() != 0 {
            return None;
        }
        let unpacked = buffer.unpack(packed, RESPONSE_RESERVATION_INFO)?;
        let reservations = Reservations { functions, message: unpacked.data.cast() };
        unpacked.whole.then_some(reservations)
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
