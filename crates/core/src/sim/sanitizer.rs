//! Tells the address sanitizer which stack the program is on: it does not see a switch by itself.
//! Without that sanitizer there is nothing to tell.

#[cfg(not(coact_asan))]
pub(super) use disabled::*;
#[cfg(coact_asan)]
pub(super) use enabled::*;

/// Where a stack lies: its lowest address, and its size.
pub(super) type StackRange = (usize, usize);

#[cfg(not(coact_asan))]
mod disabled {
    use super::StackRange;

    /// A switch that was told.
    pub(in crate::sim) struct Switch;

    /// A stack is about to be used, perhaps again.
    pub(in crate::sim) fn cleared(_: StackRange) {}

    /// The program is about to go on at another stack.
    pub(in crate::sim) fn leaving_for(_: StackRange) -> Switch {
        Switch
    }

    /// The fiber is about to end, and the program to go on at another stack.
    pub(in crate::sim) fn ending_for(_: StackRange) {}

    /// It has come back. Returns from which stack.
    pub(in crate::sim) fn back(_: Switch) -> StackRange {
        (0, 0)
    }

    /// A fiber begins. Returns from which stack.
    pub(in crate::sim) fn begun() -> StackRange {
        (0, 0)
    }
}

#[cfg(coact_asan)]
mod enabled {
    use std::ffi::c_void;
    use std::ptr;

    use super::StackRange;

    // Of `sanitizer/common_interface_defs.h` and `sanitizer/asan_interface.h`.
    unsafe extern "C" {
        fn __sanitizer_start_switch_fiber(kept: *mut *mut c_void, low: *const c_void, size: usize);
        fn __sanitizer_finish_switch_fiber(
            kept: *mut c_void,
            low: *mut *const c_void,
            size: *mut usize,
        );
        fn __asan_unpoison_memory_region(low: *const c_void, size: usize);
    }

    /// What the sanitizer keeps of a stack that was left.
    pub(in crate::sim) struct Switch(*mut c_void);

    pub(in crate::sim) fn cleared((low, size): StackRange) {
        // SAFETY: nobody uses the stack: the marks of frames that were there mean nothing.
        unsafe { __asan_unpoison_memory_region(ptr::without_provenance(low), size) };
    }

    pub(in crate::sim) fn leaving_for((low, size): StackRange) -> Switch {
        let mut kept = ptr::null_mut();
        // SAFETY: the stack is alive, and the caller goes on there at once.
        unsafe { __sanitizer_start_switch_fiber(&mut kept, ptr::without_provenance(low), size) };
        Switch(kept)
    }

    pub(in crate::sim) fn ending_for((low, size): StackRange) {
        // SAFETY: as above. Nothing is to be kept: the sanitizer gives back what it has for this stack.
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

    /// Returns which stack was left.
    fn finish(kept: *mut c_void) -> StackRange {
        let (mut low, mut size) = (ptr::null(), 0);
        // SAFETY: called on the stack that `leaving_for` was told last, once.
        unsafe { __sanitizer_finish_switch_fiber(kept, &mut low, &mut size) };
        (low.addr(), size)
    }
}
