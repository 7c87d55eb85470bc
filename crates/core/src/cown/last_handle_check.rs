//! The last-handle check: tells the owner of a state that its last handle is gone, after everything
//! that was sent through any handle.
//!
//! An owner of a state with a lifecycle (an actor) wants to be told when its last handle is
//! dropped: behind everything that was spawned with any handle, and not if there is a handle again
//! by then. So the last handle is not dropped but waits in the queue, in a behaviour that calls
//! [`Cown::check_last_handle`]. Meanwhile a weak handle may be upgraded, used, and dropped again:
//! what it has spawned is behind the waiting behaviour. Therefore the [count of
//! handles](crate::queue::handle_counts) has two more bits:
//!
//! ```text
//!   drop_unless_last                          check_last_handle
//!     1 handle:       set LEAVING, return it    other handles: clear both, drop this one
//!     2, and LEAVING: set LEFT, drop it         LEFT:          clear it, check again behind
//!     else:           drop it                                  what was spawned
//!                                               else:          no handle is left
//! ```
//!
//! *Nothing is overtaken.* A handle that is dropped while another one waits for its check sets LEFT
//! in the exchange that drops it, after everything that was spawned with it. (If it is not the last
//! of several such handles, the last one does.)

use std::mem::ManuallyDrop;

use super::end_of_life::retire;
use super::handle::Cown;
use crate::queue::handle_counts::HandleParting;
use crate::queue::header::Flags;
use crate::queue::live_slot::LiveSlot;

/// The result of checking a handle returned by [`Cown::drop_unless_last`].
pub enum LastHandleCheck<T: Send + 'static> {
    /// There is no other handle, and everything that one has spawned has run.
    Last(Cown<T>),
    /// There is no other handle, but there was one meanwhile: check again in a behaviour that is
    /// spawned now.
    Again(Cown<T>),
    /// There are other handles. This one has been dropped.
    Revoked,
}

impl<T: Send + 'static> Cown<T> {
    /// Drops the handle unless it is the last one: that is returned, so that its owner can check it
    /// before the state is dropped. The owner spawns a behaviour with it that
    /// [checks](Self::check_last_handle) it.
    #[inline]
    pub fn drop_unless_last(self) -> Option<Self> {
        let this = ManuallyDrop::new(self);
        this.header().counts.leave().then(|| ManuallyDrop::into_inner(this))
    }

    /// Checks a handle that [`drop_unless_last`](Self::drop_unless_last) has returned. Call this in
    /// a behaviour that was spawned with it.
    pub fn check_last_handle(self) -> LastHandleCheck<T> {
        let this = ManuallyDrop::new(self);
        match this.header().counts.part() {
            HandleParting::Last => LastHandleCheck::Last(ManuallyDrop::into_inner(this)),
            HandleParting::Again => LastHandleCheck::Again(ManuallyDrop::into_inner(this)),
            HandleParting::Revoked => LastHandleCheck::Revoked,
        }
    }
}

/// Gives up a handle in a behaviour that holds the cown. Returns whether it was the last handle of
/// a closed cown with nothing queued behind the behaviour: then nothing ever will be, and the
/// caller must [destroy](super::end_of_life::destroy) the state. Otherwise the cown ends as usual.
///
/// # Safety
/// The slot is that of the behaviour.
pub(crate) unsafe fn drop_last<T: Send + 'static>(handle: Cown<T>, slot: LiveSlot) -> bool {
    // SAFETY: the behaviour's request keeps the cown alive.
    let cown = unsafe { ManuallyDrop::new(handle).live_cown() };
    let header = cown.header();
    if !header.counts.remove() {
        return false;
    }
    let is_alone = header.tail.has_last_for_good(slot);
    if !header.has(Flags::CLOSED) || !is_alone {
        // SAFETY: this was the last handle.
        unsafe { retire::<T>(cown) };
        return false;
    }
    true
}
