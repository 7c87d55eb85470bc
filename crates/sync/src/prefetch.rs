//! Asking for a cache line before it is needed.

/// Asks for the line of `address`, to be written to soon, and goes on at once.
///
/// A hint: any address may be given, and where the target has no such instruction nothing happens.
/// Lines that two processors work on by turns cost up to hundreds of nanoseconds each; asked for
/// early, and several at a time, most of that is hidden.
#[inline(always)]
pub fn for_writing<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a prefetch does not fault, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(address.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}
