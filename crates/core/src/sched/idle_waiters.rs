//! Waiters until runtimes are idle, in some combination. See README.md, "Several runtimes".

use std::task::Waker;

use slab::Slab;

use crate::static_shim::{AtomicUsize, Mutex, Ordering, fence};

/// The waiters until runtimes are idle, in some combination.
#[derive(Default)]
pub(super) struct IdleWatchers {
    list: Mutex<Slab<Waker>>,
    /// Their number, read without the lock.
    count: AtomicUsize,
}

impl IdleWatchers {
    /// Adds a waiter, which checks from now on; returns its number.
    fn add(&self, waker: Waker) -> usize {
        let number = self.list.lock().insert(waker);
        // ORDERING: Relaxed. The fence orders it.
        self.count.fetch_add(1, Ordering::Relaxed);
        // ORDERING: SeqCst pairs with the fence in `tell`: either that sees this waiter, or the
        // waiter's following check sees what `tell` has seen.
        fence(Ordering::SeqCst);
        number
    }

    fn remove(&self, number: usize) {
        // ORDERING: Relaxed. A thread that sees it late finds the list empty.
        self.count.fetch_sub(1, Ordering::Relaxed);
        let waker = self.list.lock().remove(number);
        drop(waker);
    }

    /// Makes all of them check, since a runtime has become idle.
    pub(super) fn tell(&self) {
        // ORDERING: SeqCst pairs with the fence in `add`.
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed. The fence orders it.
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let watchers: Vec<Waker> =
            self.list.lock().iter().map(|(_, waker)| waker.clone()).collect();
        watchers.into_iter().for_each(Waker::wake);
    }
}

#[cfg(not(all(test, loom)))]
pub(super) static WATCHERS: IdleWatchers =
    IdleWatchers { list: Mutex::new(Slab::new()), count: AtomicUsize::new(0) };

#[cfg(all(test, loom))]
::loom::lazy_static! {
    pub(super) static ref WATCHERS: IdleWatchers = IdleWatchers::default();
}

/// Registers a waker for when any runtime becomes idle, until dropped.
pub(crate) struct IdleWatch(usize);

impl IdleWatch {
    pub(crate) fn new(waker: Waker) -> Self {
        Self(WATCHERS.add(waker))
    }
}

impl Drop for IdleWatch {
    fn drop(&mut self) {
        WATCHERS.remove(self.0);
    }
}

/// Called when a runtime has become idle.
pub(crate) fn tell() {
    // Not in models: they never wait for several runtimes, and the fence would hide that others are
    // missing.
    if !cfg!(all(test, loom)) {
        WATCHERS.tell();
    }
}
