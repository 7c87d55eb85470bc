//! The shim for real programs: `std`, with loom's closure-style cell.

/// Atomic integers, pointers and fences.
pub mod atomic {
    pub use std::sync::atomic::{
        AtomicBool, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
        AtomicUsize, Ordering, fence,
    };

    /// Between a `SeqCst` store and a `SeqCst` load which must not pass it: nothing, since the accesses
    /// themselves see to that. (loom takes them for `AcqRel` ones.)
    #[inline(always)]
    pub fn seq_cst_accesses() {}

    /// The end of an atomic whose memory is given back without a destructor.
    pub trait End {
        /// Nothing; in a model it is checked that every access comes before this.
        #[inline(always)]
        fn end(&mut self) {}
    }

    impl<T> End for AtomicPtr<T> {}
    impl End for AtomicU8 {}
    impl End for AtomicU16 {}
    impl End for AtomicU32 {}
    impl End for AtomicU64 {}
}

/// Interior mutability whose accesses have a beginning and an end.
pub mod cell {
    /// [`std::cell::UnsafeCell`], with its pointer given to a closure.
    #[derive(Debug, Default)]
    #[repr(transparent)]
    pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        /// Wraps `value`.
        #[inline(always)]
        pub const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        /// Takes the value out again.
        #[inline(always)]
        pub fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    impl<T: ?Sized> UnsafeCell<T> {
        /// Runs `f` on the pointer, for reading. Nobody may write while `f` runs.
        #[inline(always)]
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        /// Runs `f` on the pointer, for writing. Nobody else may have access while `f` runs.
        #[inline(always)]
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

/// What a waiting loop tells the processor.
pub mod hint {
    pub use std::hint::spin_loop;
}

/// Threads, as far as a wait needs them.
pub mod thread {
    pub use std::thread::{sleep, yield_now};
}

/// Raw memory from the allocator of the program.
pub mod alloc {
    pub use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
}

/// Locks for the cold paths.
pub mod sync {
    pub use crate::shim::process::{Condvar, Mutex, MutexGuard};
    pub use std::sync::Arc;
}
