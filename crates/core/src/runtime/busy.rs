//! Work that happens elsewhere, as a runtime knows it: that it is there, and whom to tell when the
//! runtime gives up waiting for it.

use std::fmt;
use std::task::Waker;

use coact_sync::shim::atomic::Ordering;

use super::home::Home;
use crate::ids::RuntimeId;
use crate::panic::drop_quietly;
use crate::sched::shared::{self, Phase};

/// Counts as work of a runtime until it is dropped; see [`Home::hold_open`].
#[must_use = "the runtime is held open until this is dropped"]
pub struct Busy(RuntimeId);

/// Keeps a waker for the moment in which a runtime gives up its work; see [`Home::on_cancel`].
#[must_use = "dropping it takes the waker back"]
pub struct OnCancel {
    home: RuntimeId,
    number: usize,
}

impl Home {
    /// Says that something outside, which will lead to more work, is under way: an answer from
    /// another process, a callback that is yet to come. Until the guard is dropped the runtime is
    /// not idle, and a [shutdown](crate::Runtime::shutdown) waits for it up to its deadline.
    ///
    /// Submit what the answer leads to before the guard is dropped. Costs an atomic operation at
    /// both ends.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, Runtime, when};
    /// use std::thread;
    ///
    /// let runtime = Runtime::builder().workers(1).build()?;
    /// let sum = runtime.run(|| {
    ///     let sum = Cown::new(0);
    ///     let (far, busy) = (sum.clone(), runtime.home().hold_open());
    ///     thread::spawn(move || {
    ///         when(&far, |sum| *sum += 1);
    ///         drop((far, busy));
    ///     });
    ///     sum
    /// });
    /// // The thread has come to its end.
    /// assert_eq!(sum.into_inner().unwrap(), 1);
    /// # Ok::<(), coact::BuildError>(())
    /// ```
    pub fn hold_open(self) -> Busy {
        shared::get(self.0).begin_outstanding();
        Busy(self.0)
    }

    /// Has a waker woken when the runtime gives up: when the deadline of its shutdown has passed, and
    /// what is queued is dropped instead of run. Woken at once if it has done so already. This is no
    /// work: the runtime may be idle meanwhile.
    ///
    /// A waker may be woken without need; [`is_cancelled`](Self::is_cancelled) tells. Costs a lock at
    /// both ends.
    pub fn on_cancel(self, waker: Waker) -> OnCancel {
        let shared = shared::get(self.0);
        let number = shared.futures.insert(waker.clone());
        // Whoever ends the phase wakes those that stand in the list afterwards: one of us sees the
        // other, by the list's lock.
        if self.is_cancelled() {
            drop_quietly(|| waker.wake());
        }
        OnCancel { home: self.0, number }
    }

    /// Counts a piece of the runtime's work that is dropped since the runtime ends, for
    /// [`ShutdownReport::abandoned`](crate::ShutdownReport::abandoned). For layers above, of what they drop themselves.
    pub fn count_abandoned(self) {
        super::count_abandoned(self.0);
    }

    /// Whether a shutdown of the runtime has told what lives in it to end: the actors.
    pub fn is_ending(self) -> bool {
        // ORDERING: Relaxed. See `end_in_order`.
        shared::get(self.0).ending.load(Ordering::Relaxed)
    }

    /// Whether the runtime is past the deadline of its shutdown: what is queued is dropped.
    pub fn is_cancelled(self) -> bool {
        shared::get(self.0).phase() != Phase::Running
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        shared::get(self.0).end_outstanding();
    }
}

impl Drop for OnCancel {
    fn drop(&mut self) {
        shared::get(self.home).futures.remove(self.number);
    }
}

impl fmt::Debug for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Busy").field(&Home(self.0)).finish()
    }
}

impl fmt::Debug for OnCancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnCancel").field(&Home(self.home)).finish()
    }
}
