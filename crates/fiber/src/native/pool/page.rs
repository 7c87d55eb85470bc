//! The size of a page.

/// Returns the system's size of a page: a power of two.
pub(in crate::native) fn page_size() -> usize {
    // SAFETY: the call reads a constant of the system.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).expect("the system knows the size of its pages")
}
