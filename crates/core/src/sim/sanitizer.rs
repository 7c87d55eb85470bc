//! Tells the address sanitizer which stack the program is on, since it does not notice a switch.
//! Does nothing without that sanitizer.

#[cfg(not(coact_asan))]
pub(super) use disabled::*;
#[cfg(coact_asan)]
pub(super) use enabled::*;

/// A stack: its lowest address and its size.
pub(super) type StackRange = (usize, usize);

#[cfg(not(coact_asan))]
mod disabled {
    use crate::sim::sanitizer::StackRange;

    /// A switch that was announced.
    pub(in crate::sim) struct Switch;

    /// Announces that a stack is about to be used, possibly again.
    pub(in crate::sim) fn cleared(_: StackRange) {}

    /// Announces that the program is about to continue on another stack.
    pub(in crate::sim) fn leaving_for(_: StackRange) -> Switch {
        Switch
    }

    /// Announces that the fiber is about to end, and the program to continue on another stack.
    pub(in crate::sim) fn ending_for(_: StackRange) {}

    /// Announces the return. Returns the stack that was left.
    pub(in crate::sim) fn back(_: Switch) -> StackRange {
        (0, 0)
    }

    /// Announces the start of a fiber. Returns the stack that was left.
    pub(in crate::sim) fn begun() -> StackRange {
        (0, 0)
    }
}

#[cfg(coact_asan)]
mod enabled {
    use std::ffi::c_void;
    use std::ptr;

    use crate::sim::sanitizer::StackRange;

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

    /// What the sanitizer stores for a stack that was left.
    pub(in crate::sim) struct Switch(*mut c_void);

    pub(in crate::sim) fn cleared((low, size): StackRange) {
        // SAFETY: the stack is unused, so the marks of former frames are meaningless.
        unsafe { __asan_unpoison_memory_region(ptr::without_provenance(low), size) };
    }

    pub(in crate::sim) fn leaving_for((low, size): StackRange) -> Switch {
        let mut kept = ptr::null_mut();
        // SAFETY: the stack is alive, and the caller continues there at once.
        unsafe { __sanitizer_start_switch_fiber(&mut kept, ptr::without_provenance(low), size) };
        Switch(kept)
    }

    pub(in crate::sim) fn ending_for((low, size): StackRange) {
        // SAFETY: the stack is alive, and the caller continues there at once. The null pointer
        // makes the sanitizer free what it stores for the current stack.
        unsafe {
            __sanitizer_start_switch_fiber(ptr::null_mut(), ptr::without_provenance(low), size);
        }
    }

    pub(in crate::sim) fn back(switch: Switch) -> StackRange {
        finish(switch.0)
    }

    pub(in crate::sim) fn begun() -> StackRange {
        finish(ptr::null_mut())
    }

    /// Returns the stack that was left.
    fn finish(kept: *mut c_void) -> StackRange {
        let (mut low, mut size) = (ptr::null(), 0);
        // SAFETY: called once, on the stack last passed to `leaving_for` or `ending_for`.
        unsafe { __sanitizer_finish_switch_fiber(kept, &mut low, &mut size) };
        (low.addr(), size)
    }
}
