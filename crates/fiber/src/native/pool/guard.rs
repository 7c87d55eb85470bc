//! The page below each stack that faults.
//!
//! Linux 6.13 and later can mark a page as a guard within its mapping. Before that, the page is protected,
//! which splits the mapping into three: then a hundred thousand stacks take more mappings than a process
//! may have by default (`vm.max_map_count`).

use std::io;
use std::ptr::NonNull;

use coact_sync::shim::process::{AtomicBool, Ordering};

use super::super::size_class::SizeClass;
use super::map_count;
use super::page::page_size;
use crate::stack_error::StackError;

/// `MADV_GUARD_INSTALL`, which the crate `libc` does not know on all systems.
const MADV_GUARD_INSTALL: libc::c_int = 102;

/// Whether the system does not know guard markers.
static KNOWS_NO_MARKERS: AtomicBool = AtomicBool::new(false);

/// Makes the page below a stack fault. `bottom` is the lowest byte of the stack.
///
/// # Safety
/// The page below `bottom`, which is aligned to a page, is mapped, and nothing uses it.
pub(super) unsafe fn install(bottom: NonNull<u8>, class: SizeClass) -> Result<(), StackError> {
    // SAFETY: the page below is part of the same mapping.
    let page = unsafe { bottom.sub(page_size()) };
    // SAFETY: nothing uses the page.
    if unsafe { mark(page) || protect(page) } {
        return Ok(());
    }
    let source = io::Error::last_os_error();
    if source.raw_os_error() == Some(libc::ENOMEM) {
        return Err(StackError::TooManyMaps { limit: map_count::limit() });
    }
    Err(StackError::Refused { size: class.bytes(), source })
}

/// # Safety
/// The page is mapped, and nothing uses it.
unsafe fn mark(page: NonNull<u8>) -> bool {
    // ORDERING: Relaxed. It saves calls that would fail, and publishes nothing.
    if KNOWS_NO_MARKERS.load(Ordering::Relaxed) {
        return false;
    }
    // SAFETY: what the call throws away is not in use. A system that does not know it does nothing.
    if unsafe { libc::madvise(page.as_ptr().cast(), page_size(), MADV_GUARD_INSTALL) } == 0 {
        return true;
    }
    if io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL) {
        // ORDERING: Relaxed, as above.
        KNOWS_NO_MARKERS.store(true, Ordering::Relaxed);
    }
    false
}

/// # Safety
/// The page is mapped, and nothing uses it.
unsafe fn protect(page: NonNull<u8>) -> bool {
    // SAFETY: nothing uses the page.
    unsafe { libc::mprotect(page.as_ptr().cast(), page_size(), libc::PROT_NONE) == 0 }
}

/// Makes this process protect the pages of all further guards.
#[cfg(test)]
pub(in crate::native) fn refuse_markers() {
    KNOWS_NO_MARKERS.store(true, Ordering::Relaxed);
}
