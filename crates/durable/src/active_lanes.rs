//! Counts the lanes of the outbox that deliver something. Closing a journal waits for them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use coact_core::Promise;
use coact_core::promise::Resolver;

/// The number of lanes that deliver something.
#[derive(Default)]
pub(crate) struct ActiveLanes(Mutex<DeliveryState>);

#[derive(Default)]
struct DeliveryState {
    count: usize,
    waiters: Vec<Resolver<()>>,
}

impl ActiveLanes {
    fn state(&self) -> MutexGuard<'_, DeliveryState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a lane, until what is returned is dropped.
    pub(crate) fn begin(&self) -> ActiveLane<'_> {
        self.state().count += 1;
        ActiveLane(self)
    }

    pub(crate) fn count(&self) -> usize {
        self.state().count
    }

    /// Waits until none is left.
    pub(crate) async fn wait_until_none(&self) {
        loop {
            let (resolver, changed) = Promise::channel();
            {
                let mut state = self.state();
                if state.count == 0 {
                    return;
                }
                state.waiters.push(resolver);
            }
            let _ = changed.await;
        }
    }
}

/// A lane that delivers something.
pub(crate) struct ActiveLane<'a>(&'a ActiveLanes);

impl Drop for ActiveLane<'_> {
    fn drop(&mut self) {
        let waiters = {
            let mut state = self.0.state();
            state.count -= 1;
            if state.count == 0 { std::mem::take(&mut state.waiters) } else { Vec::new() }
        };
        waiters.into_iter().for_each(|waiter| waiter.resolve(()));
    }
}
