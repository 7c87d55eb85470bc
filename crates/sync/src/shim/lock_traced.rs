//! The twin of `lock.rs` for the thread sanitizer, which cannot see into the standard library's
//! locks since those are not instrumented: locks and a condition variable made of atomics, which it
//! does see. They wait by yielding.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// A mutex.
#[derive(Debug, Default)]
pub struct Mutex<T: ?Sized> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value moves with the mutex from thread to thread.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: the lock gives one thread at a time access to the value.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// Holds the lock until dropped.
#[derive(Debug)]
pub struct MutexGuard<'a, T: ?Sized>(&'a Mutex<T>);

impl<T> Mutex<T> {
    /// Wraps `value`.
    pub const fn new(value: T) -> Self {
        Self { locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Acquires the lock, yielding until it is free.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        loop {
            match self.try_lock() {
                Some(guard) => return guard,
                None => yield_now(),
            }
        }
    }

    /// Acquires the lock if it is free.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        // ORDERING: Acquire pairs with the Release in the guard's `drop`.
        let was_free = !self.locked.swap(true, Ordering::Acquire);
        was_free.then(|| MutexGuard(self))
    }

    /// Returns the value without locking: the exclusive borrow shows that the lock is free.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock, so no other thread has access.
        unsafe { &*self.0.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the lock, so no other thread has access.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        // ORDERING: Release pairs with the Acquire in `try_lock`.
        self.0.locked.store(false, Ordering::Release);
    }
}

/// A reader-writer lock that admits one at a time, readers too: as a mutex would.
#[derive(Debug, Default)]
pub struct RwLock<T: ?Sized>(Mutex<T>);

/// Holds the lock for reading until dropped.
pub type RwLockReadGuard<'a, T> = MutexGuard<'a, T>;

/// Holds the lock for writing until dropped.
pub type RwLockWriteGuard<'a, T> = MutexGuard<'a, T>;

impl<T> RwLock<T> {
    /// Wraps `value`.
    pub const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Acquires the lock for reading.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.lock()
    }

    /// Acquires the lock for writing.
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.lock()
    }
}

/// A condition variable: a count of notifications.
#[derive(Debug, Default)]
pub struct Condvar(AtomicU64);

impl Condvar {
    /// Creates a condition variable.
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Releases the lock, waits until notified (or spuriously woken), and acquires the lock again.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.wait_timeout(guard, Duration::MAX).0
    }

    /// Like [`wait`](Self::wait), for at most `limit`; the flag tells whether that time ran out.
    #[allow(clippy::disallowed_methods, reason = "this is how it waits")]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
    ) -> (MutexGuard<'a, T>, bool) {
        // ORDERING: Acquire, here and below, pairs with the release in `notify_all`. The count is
        // read under the lock, so a notification that comes after the waiter has tested its
        // condition changes it.
        let (start, lock, before) = (Instant::now(), guard.0, self.0.load(Ordering::Acquire));
        drop(guard);
        let mut late = false;
        while !late && self.0.load(Ordering::Acquire) == before {
            std::thread::sleep(Duration::from_micros(50));
            late = start.elapsed() >= limit;
        }
        (lock.lock(), late)
    }

    /// Wakes at least one waiter.
    pub fn notify_one(&self) {
        self.notify_all();
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        // ORDERING: Release pairs with the Acquires in `wait_timeout`; Acquire orders notifiers.
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}
