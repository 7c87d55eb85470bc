//! Something that happens once, and that others wait for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use coact_core::Promise;
use coact_core::promise::Resolver;

/// Something that happens once. Those who wait for it are told, also those who come later.
#[derive(Default)]
pub(crate) struct Latch {
    is_open: AtomicBool,
    waiters: Mutex<Vec<Resolver<()>>>,
}

impl Latch {
    pub(crate) fn open(&self) {
        let waiters = {
            let mut waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
            // ORDERING: Release pairs with the Acquire of `is_open`: who finds it open finds what
            // was done before.
            self.is_open.store(true, Ordering::Release);
            std::mem::take(&mut *waiters)
        };
        waiters.into_iter().for_each(|waiter| waiter.resolve(()));
    }

    pub(crate) fn is_open(&self) -> bool {
        // ORDERING: Acquire pairs with the Release of `open`.
        self.is_open.load(Ordering::Acquire)
    }

    /// Returns what is told when it is open.
    pub(crate) fn opened(&self) -> Promise<()> {
        // Before the lock: another simulated thread may go on here.
        let (resolver, opened) = Promise::channel();
        self.add(resolver).into_iter().for_each(|waiter| waiter.resolve(()));
        opened
    }

    /// Adds one who waits. Returns those who wait no longer: this one, if it is open.
    fn add(&self, waiter: Resolver<()>) -> Vec<Resolver<()>> {
        let mut waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        // (Under the lock, under which it is opened.)
        if self.is_open() {
            return vec![waiter];
        }
        let mut gone = Vec::new();
        if waiters.len() >= 64 && waiters.len().is_power_of_two() {
            gone.extend(waiters.extract_if(.., |waiter| waiter.is_abandoned()));
        }
        waiters.push(waiter);
        gone
    }
}
