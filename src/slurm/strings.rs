//! Text in Slurm's own memory. What Slurm will free must come from its allocator, and the other way
//! round: `xfree` steps back over a header that malloc never wrote.

use std::ffi::{CStr, CString, c_char};

use super::api;

/// The text at `p`; `None` for NULL. What is not UTF-8 is replaced lossily.
///
/// # Safety
/// `p` is NULL or NUL-terminated text that lives, unchanged, for `'a`.
pub unsafe fn read<'a>(p: *const c_char) -> Option<std::borrow::Cow<'a, str>> {
    if p.is_null() {
        return None;
    }
    // SAFETY: by the caller's promise.
    let text = unsafe { CStr::from_ptr(p) };
    if text.to_bytes().is_ascii() {
        // Nearly all text is, and this is seen several times as fast as that it is UTF-8.
        // SAFETY: ASCII is UTF-8.
        return Some(unsafe { std::str::from_utf8_unchecked(text.to_bytes()) }.into());
    }
    Some(text.to_string_lossy())
}

/// Puts `text` in the place of what `field` holds. Returns whether that was possible.
///
/// # Safety
/// `field` is NULL or from Slurm's allocator, and nobody reads its old value any more.
pub unsafe fn replace(field: &mut *mut c_char, text: &str) -> bool {
    let slurm = api::get();
    let (Some(xfree), Some(xstrdup), Ok(text)) = (slurm.xfree, slurm.xstrdup, CString::new(text)) else {
        return false;
    };
    // SAFETY: `field` is Slurm's by the caller's promise; xfree takes NULL and sets NULL, xstrdup
    // copies.
    unsafe {
        xfree(std::ptr::from_mut(field).cast());
        *field = xstrdup(text.as_ptr());
    }
    true
}

/// Adds `text` to what `field` holds, after `between` where that is anything.
/// Returns whether that was possible.
///
/// # Safety
/// `field` is NULL or NUL-terminated text from Slurm's allocator that nobody else reads.
pub unsafe fn append(field: &mut *mut c_char, between: &CStr, text: &str) -> bool {
    let (Some(xstrcat), Ok(text)) = (api::get().xstrcat, CString::new(text)) else { return false };
    // SAFETY: by the caller's promise; xstrcat grows or makes the text with Slurm's allocator.
    unsafe {
        let old = field.cast_const();
        let old = if old.is_null() { &[][..] } else { CStr::from_ptr(old).to_bytes() };
        if !old.is_empty() && !old.ends_with(between.to_bytes()) {
            xstrcat(field, between.as_ptr());
        }
        xstrcat(field, text.as_ptr());
    }
    true
}
