//! Futures that are dropped when they are aborted from elsewhere.

use std::future::{Future, poll_fn};
use std::mem::replace;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use coact_core::internals::drop_quietly;

/// Aborts a future; its clones abort the same one.
#[derive(Clone)]
pub(crate) struct AbortHandle(Arc<Mutex<AbortState>>);

enum AbortState {
    /// With the waker of the future, once it was polled.
    Running(Option<Waker>),
    Aborted,
}

impl AbortHandle {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(AbortState::Running(None))))
    }

    /// Whether both abort the same future.
    #[cfg(test)]
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn state(&self) -> MutexGuard<'_, AbortState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a future until it is aborted. Returns its output, or `None` if it was dropped.
    pub(crate) async fn run<F: Future>(self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        poll_fn(|context| {
            if self.is_aborted(context.waker()) {
                return Poll::Ready(None);
            }
            future.as_mut().poll(context).map(Some)
        })
        .await
    }

    /// Whether the future is to be dropped. Otherwise, it is woken when it is.
    fn is_aborted(&self, waker: &Waker) -> bool {
        // Cloned and dropped without the lock: both run code of the executor.
        let waker = waker.clone();
        let mut state = self.state();
        let before = match &mut *state {
            AbortState::Running(known) => known.replace(waker),
            AbortState::Aborted => return true,
        };
        drop(state);
        drop(before);
        false
    }

    /// Drops the future at its next turn, which comes soon.
    pub(crate) fn abort(&self) {
        let before = replace(&mut *self.state(), AbortState::Aborted);
        if let AbortState::Running(Some(waker)) = before {
            drop_quietly(|| waker.wake());
        }
    }
}
