//! Asking for a cache line before it is needed.

/// Asks for the line of `address`, to be written to soon, and goes on at once.
///
/// A hint: any address may be given, and where the target has no such instruction nothing happens.
/// Lines that two processors work on by turns cost up to hundreds of nanoseconds each; asked for
/// early, and several at a time, most of that is hidden.
#[inline(always)]
pub fn for_writing<T>(address: *const T) {
    // The intrinsic asks for the line to be read, unless the target's processors all say that they know this instruction;
    // but on each x86-64 processor it either asks for writing, or does nothing.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch does not fault, whatever the address, and changes nothing that a program can see.
    unsafe {
        let address = address.addr();
        std::arch::asm!("prefetchw [{}]", in(reg) address, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}
