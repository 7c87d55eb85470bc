//! Work of a runtime that happens elsewhere: counts it, and reports how it ended.

use std::fmt;

use coact_sync::shim::atomic::Ordering;

use super::phase::RuntimePhase;
use super::runtime_handle::{RuntimeHandle, count_abandoned};
use super::runtime_shared;
use crate::runtime_ids::RuntimeId;

/// Counts as work of a runtime until dropped; see [`RuntimeHandle::hold_open`].
#[must_use = "the runtime is held open until this is dropped (bind it to a name: `let _ =` \
              drops it at once)"]
pub struct Busy(RuntimeId);

impl RuntimeHandle {
    /// Announces external work in progress that leads to more work: an answer from another process,
    /// a pending callback. Until the guard is dropped the runtime is not idle, and a
    /// [shutdown](crate::Runtime::shutdown) waits for it up to its deadline.
    ///
    /// Submit the resulting work before dropping the guard. Costs an atomic operation at both ends.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, Runtime, when};
    /// use std::thread;
    ///
    /// let runtime = Runtime::builder().workers(1).build()?;
    /// let sum = runtime.run(|| {
    ///     let sum = Cown::new(0);
    ///     let (far, busy) = (sum.clone(), runtime.handle().hold_open());
    ///     thread::spawn(move || {
    ///         when(&far, |sum| *sum += 1);
    ///         drop((far, busy));
    ///     });
    ///     sum
    /// });
    /// // The thread has ended.
    /// assert_eq!(sum.into_inner().unwrap(), 1);
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    pub fn hold_open(self) -> Busy {
        runtime_shared::get(self.0).begin_outstanding_guard();
        Busy(self.0)
    }

    /// Counts a piece of the runtime's work that is dropped because the runtime ends, for
    /// [`ShutdownReport::abandoned`](crate::runtime::ShutdownReport::abandoned). For layers above,
    /// which drop work themselves.
    pub fn count_abandoned(self) {
        count_abandoned(self.0);
    }

    /// Returns whether a shutdown of the runtime has told its live cowns to end: the actors.
    pub fn is_ending(self) -> bool {
        // ORDERING: Relaxed. See `end_in_order`.
        runtime_shared::get(self.0).ending.load(Ordering::Relaxed)
    }

    /// Returns whether the runtime is past the deadline of its shutdown: what is queued is dropped.
    pub fn is_cancelled(self) -> bool {
        runtime_shared::get(self.0).phase() != RuntimePhase::Running
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        runtime_shared::get(self.0).end_outstanding();
    }
}

impl fmt::Debug for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Busy").field(&RuntimeHandle(self.0)).finish()
    }
}

/// Keeps a runtime active for an external thread whose presences may end later, or in another
/// order, than they began.
#[cfg(not(all(test, loom)))]
pub(crate) type HeldOpen = Busy;

/// Keeps a runtime active.
#[cfg(not(all(test, loom)))]
pub(crate) fn hold_open(runtime: RuntimeId) -> HeldOpen {
    RuntimeHandle(runtime).hold_open()
}

/// Models have no runtimes.
#[cfg(all(test, loom))]
pub(crate) type HeldOpen = ();

#[cfg(all(test, loom))]
pub(crate) fn hold_open(_: RuntimeId) -> HeldOpen {}
