//! The shim for models: the same names over loom.

/// Atomic integers, pointers and fences that loom explores.
pub mod atomic {
    pub use loom::sync::atomic::{
        AtomicBool, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
        AtomicUsize, Ordering, fence,
    };

    /// Separates a `SeqCst` store from a `SeqCst` load that must not pass it: a fence, since loom
    /// treats such accesses as `AcqRel`.
    pub fn seq_cst_accesses() {
        fence(Ordering::SeqCst);
    }

    /// The end of an atomic whose memory is freed without a destructor.
    pub trait AtomicEnd {
        /// loom checks that every access comes before this.
        fn end(&mut self);
    }

    impl<T> AtomicEnd for AtomicPtr<T> {
        #[track_caller]
        fn end(&mut self) {
            self.with_mut(|_| ());
        }
    }

    impl AtomicEnd for AtomicU8 {
        #[track_caller]
        fn end(&mut self) {
            self.with_mut(|_| ());
        }
    }

    impl AtomicEnd for AtomicU16 {
        #[track_caller]
        fn end(&mut self) {
            self.with_mut(|_| ());
        }
    }

    impl AtomicEnd for AtomicU32 {
        #[track_caller]
        fn end(&mut self) {
            self.with_mut(|_| ());
        }
    }

    impl AtomicEnd for AtomicU64 {
        #[track_caller]
        fn end(&mut self) {
            self.with_mut(|_| ());
        }
    }
}

/// Interior mutability whose accesses loom checks for races.
pub mod cell {
    pub use loom::cell::UnsafeCell;
}

/// What a waiting loop tells the model checker.
pub mod hint {
    pub use loom::hint::spin_loop;
}

/// Threads, as far as a wait needs them.
pub mod thread {
    pub use loom::thread::yield_now;

    /// A model has no clock: sleeping lets the other threads run first.
    pub fn sleep(_: std::time::Duration) {
        yield_now();
    }
}

/// Raw memory whose leaks loom reports at the end of a model.
pub mod alloc {
    pub use loom::alloc::{Layout, alloc, dealloc};
    pub use std::alloc::handle_alloc_error;
}

/// Locks that loom explores.
pub mod sync {
    use std::sync::PoisonError;
    use std::time::Duration;

    pub use loom::sync::{Arc, MutexGuard};

    /// loom's mutex, without poisoning.
    #[derive(Debug)]
    pub struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        /// Wraps `value`.
        pub fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        /// Returns the value.
        pub fn into_inner(self) -> T {
            self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
        }

        /// Acquires the lock, blocking the thread until it is free.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// Acquires the lock if it is free.
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            self.0.try_lock().ok()
        }

        /// Returns the value without locking: the exclusive borrow shows that the lock is free.
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl<T: Default> Default for Mutex<T> {
        fn default() -> Self {
            Self::new(T::default())
        }
    }

    /// loom's condition variable, without poisoning.
    #[derive(Debug)]
    pub struct Condvar(loom::sync::Condvar);

    impl Condvar {
        /// Creates a condition variable.
        pub fn new() -> Self {
            Self(loom::sync::Condvar::new())
        }

        /// Releases the lock, sleeps until notified, and acquires the lock again.
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
        }

        /// Waits without a limit: a model has no clock, so the time never runs out.
        pub fn wait_timeout<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            _limit: Duration,
        ) -> (MutexGuard<'a, T>, bool) {
            (self.wait(guard), false)
        }

        /// Wakes one waiter.
        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        /// Wakes all waiters.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    impl Default for Condvar {
        fn default() -> Self {
            Self::new()
        }
    }
}
