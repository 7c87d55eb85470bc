//! The pages below each stack that fault.
//!
//! They have 64 KiB: what is compiled from C touches a large frame where it likes, and functions of
//! the C library have frames of 8 to 16 KiB. That takes addresses, but no memory.
//!
//! Linux 6.13 and later can mark pages as a guard within their mapping. Before that, they are
//! protected, which splits the mapping into three: then a hundred thousand stacks take more
//! mappings than a process may have by default (`vm.max_map_count`).

use std::io;
use std::ptr::NonNull;

use coact_sync::shim::process::{AtomicBool, Ordering};

use super::super::size_class::SizeClass;
use super::map_limit;
use super::page::page_size;
use crate::stack_error::StackError;

/// `MADV_GUARD_INSTALL`, which the crate `libc` does not know on all systems.
const MADV_GUARD_INSTALL: libc::c_int = 102;

/// The bytes of a guard, where pages are not larger.
const BYTES: usize = 64 * 1024;

/// Returns the bytes of a guard: whole pages.
pub(super) fn guard_size() -> usize {
    BYTES.max(page_size())
}

/// Whether the system does not know guard markers.
static KNOWS_NO_MARKERS: AtomicBool = AtomicBool::new(false);

/// Makes the pages below a stack fault. `bottom` is the lowest byte of the stack.
///
/// # Safety
/// As many bytes as a [guard](guard_size) has are mapped below `bottom`, which is aligned to a
/// page, and nothing uses them.
pub(super) unsafe fn install(bottom: NonNull<u8>, class: SizeClass) -> Result<(), StackError> {
    // SAFETY: the guard is part of the same mapping.
    let guard = unsafe { bottom.sub(guard_size()) };
    // SAFETY: nothing uses its pages.
    if unsafe { mark(guard) || protect(guard) } {
        return Ok(());
    }
    let source = io::Error::last_os_error();
    if source.raw_os_error() == Some(libc::ENOMEM) {
        return Err(StackError::TooManyMaps { limit: map_limit::limit() });
    }
    Err(StackError::Refused { size: class.bytes(), source })
}

/// # Safety
/// The guard is mapped, and nothing uses it.
unsafe fn mark(guard: NonNull<u8>) -> bool {
    // ORDERING: Relaxed. It saves calls that would fail, and publishes nothing.
    if KNOWS_NO_MARKERS.load(Ordering::Relaxed) {
        return false;
    }
    // SAFETY: what the call throws away is not in use. A system that does not know it does nothing.
    if unsafe { libc::madvise(guard.as_ptr().cast(), guard_size(), MADV_GUARD_INSTALL) } == 0 {
        return true;
    }
    if io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL) {
        // ORDERING: Relaxed, as above.
        KNOWS_NO_MARKERS.store(true, Ordering::Relaxed);
    }
    false
}

/// # Safety
/// The guard is mapped, and nothing uses it.
unsafe fn protect(guard: NonNull<u8>) -> bool {
    // SAFETY: nothing uses the guard.
    unsafe { libc::mprotect(guard.as_ptr().cast(), guard_size(), libc::PROT_NONE) == 0 }
}

/// Makes this process protect all further guards.
#[cfg(test)]
pub(in crate::native) fn refuse_markers() {
    KNOWS_NO_MARKERS.store(true, Ordering::Relaxed);
}
