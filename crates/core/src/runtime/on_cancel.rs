//! Whom a runtime tells when it gives up its work.

use std::fmt;
use std::task::Waker;

use super::future::Futures;
use crate::ids::RuntimeId;
use crate::panic::drop_quietly;
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::shared;

/// Keeps a waker for the moment in which a runtime gives up its work; see [`RuntimeHandle::on_cancel`].
#[must_use = "dropping it takes the waker back"]
pub struct OnCancel {
    home: RuntimeId,
    number: usize,
}

impl RuntimeHandle {
    /// Has a waker woken when the runtime gives up: when the deadline of its shutdown has passed, and
    /// what is queued is dropped instead of run. Woken at once if it has done so already. This is no
    /// work: the runtime may be idle meanwhile.
    ///
    /// A waker may be woken without need; [`is_cancelled`](Self::is_cancelled) tells. Costs a lock at
    /// both ends.
    pub fn on_cancel(self, waker: Waker) -> OnCancel {
        let shared = shared::get(self.0);
        let number = shared.service::<Futures>().insert(waker.clone());
        // Whoever ends the phase wakes those that stand in the list afterwards: one of us sees the
        // other, by the list's lock (or, if the list is new, by the fence of `Shared::service`).
        if self.is_cancelled() {
            drop_quietly(|| waker.wake());
        }
        OnCancel { home: self.0, number }
    }
}

impl Drop for OnCancel {
    fn drop(&mut self) {
        shared::get(self.home).service::<Futures>().remove(self.number);
    }
}

impl fmt::Debug for OnCancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnCancel").field(&RuntimeHandle(self.home)).finish()
    }
}
