//! The shim for real programs: `std`, with loom's closure-style cell.

/// Atomic integers, pointers and fences.
pub mod atomic {
    pub use std::sync::atomic::{
        AtomicBool, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
        AtomicUsize, Ordering, fence,
    };

    /// Separates a `SeqCst` store from a `SeqCst` load that must not pass it: does nothing, since
    /// the accesses themselves are ordered. (loom treats them as `AcqRel`.)
    #[inline(always)]
    pub fn seq_cst_accesses() {}

    /// The end of an atomic whose memory is freed without a destructor.
    pub trait AtomicEnd {
        /// Does nothing; a model checks that every access comes before this.
        #[inline(always)]
        fn end(&mut self) {}
    }

    impl<T> AtomicEnd for AtomicPtr<T> {}
    impl AtomicEnd for AtomicU8 {}
    impl AtomicEnd for AtomicU16 {}
    impl AtomicEnd for AtomicU32 {}
    impl AtomicEnd for AtomicU64 {}
}

/// Interior mutability whose accesses have an explicit extent.
pub mod cell {
    /// [`std::cell::UnsafeCell`] that passes its pointer to a closure.
    #[derive(Debug, Default)]
    #[repr(transparent)]
    pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        /// Wraps `value`.
        #[inline(always)]
        pub const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        /// Returns the value.
        #[inline(always)]
        pub fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    impl<T: ?Sized> UnsafeCell<T> {
        /// Runs `f` on the pointer, for reading. There must be no write while `f` runs.
        #[inline(always)]
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        /// Runs `f` on the pointer, for writing. There must be no other access while `f` runs.
        #[inline(always)]
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

/// Hints to the processor in a waiting loop.
pub mod hint {
    pub use std::hint::spin_loop;
}

/// Threads, as far as a wait needs them.
pub mod thread {
    pub use std::thread::{sleep, yield_now};
}

/// Raw memory from the program's allocator.
pub mod alloc {
    pub use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
}

/// Locks for the cold paths.
pub mod sync {
    pub use crate::shim::process::{Condvar, Mutex, MutexGuard};
    pub use std::sync::Arc;
}
