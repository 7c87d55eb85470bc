//! Ending what nobody reaches any more, after all that was sent to it.
//!
//! An owner of state that has a life of its own (an actor) wants to be told when its last handle goes: behind
//! everything that was spawned with any handle, and not if there is a handle again by then. So the last handle is not
//! dropped, but waits in the queue, in a behaviour that asks [`Cown::check_last_handle`]. Meanwhile a weak handle may be
//! upgraded, used, and dropped again: what it has spawned stands behind the behaviour that waits. The [count of handles](crate::queue::counts)
//! therefore has two more bits:
//!
//! ```text
//!   drop_unless_last                                check_last_handle
//!     1 handle:           sets LEAVING, given back    other handles: clears both, and this handle goes
//!     2, and LEAVING:     sets LEFT, goes             LEFT:          clears it: once more, behind what was spawned
//!     else:               goes                        else:          nobody is left
//! ```
//!
//! *Nothing is overtaken.* A handle that goes while another one waits for its check sets LEFT in the exchange with
//! which it goes, after everything that was spawned with it. (If it is not the last of several such, the last one does.)

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use coact_sync::shim::atomic::Ordering;

use super::end_of_life::retire;
use super::handle::Cown;
use crate::queue::counts::Parting;
use crate::queue::header::Flags;
use crate::queue::slot::Slot;

/// What becomes of a cown whose last handle was given back by [`Cown::drop_unless_last`].
pub enum LastHandleCheck<T: Send + 'static> {
    /// There is no other handle, and nothing that one has spawned is left.
    Last(Cown<T>),
    /// There is no other handle, but there was one meanwhile: ask again in a behaviour that is spawned now.
    Again(Cown<T>),
    /// There are others. This one is gone.
    Revoked,
}

impl<T: Send + 'static> Cown<T> {
    /// Drops the handle, unless it is the last one: then it is given back, so that its owner can check it before the
    /// state. The owner spawns a behaviour with it, which [checks](Self::check_last_handle) it.
    #[inline]
    pub fn drop_unless_last(self) -> Option<Self> {
        let this = ManuallyDrop::new(self);
        this.header().counts.leave().then(|| ManuallyDrop::into_inner(this))
    }

    /// Says what becomes of a handle that [`drop_unless_last`](Self::drop_unless_last) has given back, in a behaviour
    /// that was spawned with it.
    pub fn check_last_handle(self) -> LastHandleCheck<T> {
        let this = ManuallyDrop::new(self);
        match this.header().counts.part() {
            Parting::Last => LastHandleCheck::Last(ManuallyDrop::into_inner(this)),
            Parting::Again => LastHandleCheck::Again(ManuallyDrop::into_inner(this)),
            Parting::Revoked => LastHandleCheck::Revoked,
        }
    }
}

/// Gives a handle up, in a behaviour that holds the cown. Returns whether it was the last one of a cown that is closed,
/// and nothing stands behind the behaviour: so nothing ever will, and the state is the caller's to
/// [destroy](super::end_of_life::destroy). Else the cown goes its usual way.
///
/// # Safety
/// The slot is that of the behaviour.
pub(crate) unsafe fn drop_last<T: Send + 'static>(handle: Cown<T>, slot: NonNull<Slot>) -> bool {
    let cown = ManuallyDrop::new(handle).header_ptr();
    // SAFETY: the behaviour keeps the cown alive.
    let header = unsafe { cown.as_ref() };
    if !header.counts.remove() {
        return false;
    }
    // ORDERING: Relaxed. Requests are appended by those who have a handle, and they have given it up before us.
    let is_alone = header.tail.load(Ordering::Relaxed) == slot.as_ptr();
    if !header.has(Flags::CLOSED) || !is_alone {
        // SAFETY: this was the last handle.
        unsafe { retire::<T>(cown) };
        return false;
    }
    true
}
