//! Wakers for the cancellation of a runtime.

use std::fmt;
use std::task::Waker;

use super::future::FutureWakers;
use crate::panic::drop_quietly;
use crate::runtime_ids::RuntimeId;
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::runtime_shared;

/// Registers a waker for the cancellation of a runtime; see [`RuntimeHandle::on_cancel`].
#[must_use = "dropping it takes the waker back (bind it to a name: `let _ =` drops it at once)"]
pub struct OnCancel {
    home: RuntimeId,
    number: usize,
}

impl RuntimeHandle {
    /// Registers a waker that is woken when the runtime is cancelled: when the deadline of its
    /// shutdown has passed, and what is queued is dropped instead of run. Woken at once if that has
    /// already happened. This does not count as work: the runtime may be idle meanwhile.
    ///
    /// Wake-ups may be spurious; check [`is_cancelled`](Self::is_cancelled). Costs a lock at both
    /// ends.
    pub fn on_cancel(self, waker: Waker) -> OnCancel {
        let shared = runtime_shared::get(self.0);
        let number = shared.service::<FutureWakers>().insert(waker.clone());
        // The thread that ends the phase wakes those in the list afterwards: either it or this
        // thread sees the other, by the list's lock (or, if the list is new, by the fence of
        // `RuntimeShared::service`).
        if self.is_cancelled() {
            drop_quietly(|| waker.wake());
        }
        OnCancel { home: self.0, number }
    }
}

impl Drop for OnCancel {
    fn drop(&mut self) {
        runtime_shared::get(self.home).service::<FutureWakers>().remove(self.number);
    }
}

impl fmt::Debug for OnCancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnCancel").field(&RuntimeHandle(self.home)).finish()
    }
}
