//! Prefetching: requests a cache line before it is needed.

/// Requests the line of `address` for writing, and returns at once.
///
/// A hint: any address is allowed, and on a target without such an instruction this does nothing. A
/// line that two processors write in turn costs up to hundreds of nanoseconds; requesting lines
/// early, several at a time, hides most of that.
#[inline(always)]
pub fn for_writing<T>(address: *const T) {
    // The intrinsic requests the line for reading, unless the target guarantees this instruction;
    // but on every x86-64 processor it either requests for writing or does nothing.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch does not fault, whatever the address, and has no effect that a program can
    // observe.
    unsafe {
        let address = address.addr();
        std::arch::asm!("prefetchw [{}]", in(reg) address, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}
