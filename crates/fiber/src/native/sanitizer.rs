//! Tells the address sanitizer which stack the program is on, since it does not notice a switch.
//! Does nothing without that sanitizer.

#[cfg(not(coact_asan))]
pub(super) use disabled::*;
#[cfg(coact_asan)]
pub(super) use enabled::*;

#[cfg(not(coact_asan))]
mod disabled {
    /// A stack, as the sanitizer knows it.
    #[derive(Clone, Copy)]
    pub(in crate::native) struct StackRange;

    impl StackRange {
        /// The stack between two addresses.
        #[inline(always)]
        pub(in crate::native) fn new(_low: usize, _high: usize) -> Self {
            Self
        }
    }

    /// A switch that was announced.
    pub(in crate::native) struct StackSwitch;

    /// Announces that a stack is not used any more, and may be used again.
    #[inline(always)]
    pub(in crate::native) fn cleared(_: StackRange) {}

    /// Announces that the program is about to continue on another stack.
    #[inline(always)]
    pub(in crate::native) fn leaving_for(_: StackRange) -> StackSwitch {
        StackSwitch
    }

    /// Announces that the fiber is about to end, and the program to continue on another stack.
    #[inline(always)]
    pub(in crate::native) fn ending_for(_: StackRange) {}

    /// Announces the return. Returns the stack that was left for it.
    #[inline(always)]
    pub(in crate::native) fn back(_: StackSwitch) -> StackRange {
        StackRange
    }

    /// Announces the start of a fiber. Returns the stack that was left for it.
    #[inline(always)]
    pub(in crate::native) fn begun() -> StackRange {
        StackRange
    }
}

#[cfg(coact_asan)]
mod enabled {
    use std::ffi::c_void;
    use std::ptr;

    // From `sanitizer/common_interface_defs.h` and `sanitizer/asan_interface.h`.
    unsafe extern "C" {
        fn __sanitizer_start_switch_fiber(kept: *mut *mut c_void, low: *const c_void, size: usize);
        fn __sanitizer_finish_switch_fiber(
            kept: *mut c_void,
            low: *mut *const c_void,
            size: *mut usize,
        );
        fn __asan_unpoison_memory_region(low: *const c_void, size: usize);
    }

    /// A stack, as the sanitizer knows it.
    #[derive(Clone, Copy)]
    pub(in crate::native) struct StackRange {
        low: *const c_void,
        size: usize,
    }

    impl StackRange {
        pub(in crate::native) fn new(low: usize, high: usize) -> Self {
            Self { low: ptr::without_provenance(low), size: high - low }
        }
    }

    /// What the sanitizer stores for a stack that was left.
    pub(in crate::native) struct StackSwitch(*mut c_void);

    pub(in crate::native) fn cleared(range: StackRange) {
        // SAFETY: the stack is unused, so the marks of former frames are meaningless.
        unsafe { __asan_unpoison_memory_region(range.low, range.size) };
    }

    #[inline(always)]
    pub(in crate::native) fn leaving_for(range: StackRange) -> StackSwitch {
        let mut kept = ptr::null_mut();
        // SAFETY: the stack is alive, and the caller continues there at once.
        unsafe { __sanitizer_start_switch_fiber(&mut kept, range.low, range.size) };
        StackSwitch(kept)
    }

    // Part of the caller's frame, as the sanitizer may have put other frames into what it frees
    // here.
    #[inline(always)]
    pub(in crate::native) fn ending_for(range: StackRange) {
        // SAFETY: the stack is alive, and the caller continues there at once. The null pointer
        // makes the sanitizer free what it stores for the current stack.
        unsafe { __sanitizer_start_switch_fiber(ptr::null_mut(), range.low, range.size) };
    }

    #[inline(always)]
    pub(in crate::native) fn back(switch: StackSwitch) -> StackRange {
        finish(switch.0)
    }

    #[inline(always)]
    pub(in crate::native) fn begun() -> StackRange {
        finish(ptr::null_mut())
    }

    /// Returns the stack that was left.
    #[inline(always)]
    fn finish(kept: *mut c_void) -> StackRange {
        let (mut low, mut size) = (ptr::null(), 0);
        // SAFETY: called once, on the stack last passed to `leaving_for` or `ending_for`.
        unsafe { __sanitizer_finish_switch_fiber(kept, &mut low, &mut size) };
        StackRange { low, size }
    }
}
