//! Ending what nobody reaches any more, after all that was sent to it.
//!
//! An owner of state that has a life of its own (an actor) wants to be told when its last handle goes: behind
//! everything that was spawned with any handle, and not if there is a handle again by then. So the last handle is not
//! dropped, but waits in the queue, in a behaviour that asks [`Cown::farewell`]. Meanwhile a weak handle may be
//! upgraded, used, and dropped again: what it has spawned stands behind the behaviour that waits. The count of handles
//! therefore has two more bits:
//!
//! ```text
//!   drop_unless_last                                farewell
//!     1 handle:           sets LEAVING, given back    other handles: clears both, and this handle goes
//!     2, and LEAVING:     sets LEFT, goes             LEFT:          clears it: once more, behind what was spawned
//!     else:               goes                        else:          nobody is left
//! ```
//!
//! *Nothing is overtaken.* A handle that goes while another one waits to say farewell sets LEFT in the exchange with
//! which it goes, after everything that was spawned with it. (If it is not the last of several such, the last one does.)

use std::mem::ManuallyDrop;

use coact_sync::shim::atomic::Ordering;

use super::handle::Cown;
use crate::sim;

/// In the count of strong handles: one of them waits to say farewell.
const LEAVING: u32 = 1 << 31;
/// And since then another one has gone, of which something may stand behind that one.
const LEFT: u32 = 1 << 30;
/// The handles themselves.
pub(super) const HANDLES: u32 = LEFT - 1;

/// What the count says while the last handle is used to take the state out, and may be there again: no farewell ends
/// with it.
pub(super) const TAKING_OUT: u32 = LEFT;

/// Whether there are handles.
pub(crate) fn has_handles(count: u32) -> bool {
    count & HANDLES != 0 || count == TAKING_OUT
}

/// What becomes of a cown whose last handle was given back by [`Cown::drop_unless_last`].
pub enum Farewell<T: Send + 'static> {
    /// There is no other handle, and nothing that one has spawned is left.
    Last(Cown<T>),
    /// There is no other handle, but there was one meanwhile: ask again in a behaviour that is spawned now.
    Again(Cown<T>),
    /// There are others. This one is gone.
    Revoked,
}

impl<T: Send + 'static> Cown<T> {
    /// Drops the handle, unless it is the last one: then it is given back, so that its owner can say farewell to the
    /// state. The owner spawns a behaviour with it, which asks for the [`farewell`](Self::farewell).
    #[inline]
    pub fn drop_unless_last(self) -> Option<Self> {
        let this = ManuallyDrop::new(self);
        let strong = &this.header().strong;
        // ORDERING: Relaxed. Checked by the exchange.
        let mut count = strong.load(Ordering::Relaxed);
        loop {
            let (is_last, next) = match (count & HANDLES, count & LEAVING) {
                (1, _) => (true, LEAVING | 1),
                (2, LEAVING) => (false, LEAVING | LEFT | 1),
                _ => (false, count - 1),
            };
            sim::point();
            // ORDERING: Release, as in `Cown::drop`, and for `farewell`: what this handle has spawned comes before.
            // Acquire: whoever says farewell comes after all that other handles have spawned.
            let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            match strong.compare_exchange_weak(count, next, ok, failed) {
                Ok(_) if is_last => return Some(ManuallyDrop::into_inner(this)),
                Ok(_) => return None,
                Err(now) => count = now,
            }
        }
    }

    /// Says what becomes of a handle that [`drop_unless_last`](Self::drop_unless_last) has given back, in a behaviour
    /// that was spawned with it.
    pub fn farewell(self) -> Farewell<T> {
        let this = ManuallyDrop::new(self);
        let strong = &this.header().strong;
        // ORDERING: Acquire pairs with the release in `drop_unless_last`: what is spawned from now on comes behind what
        // the handles that have gone have spawned.
        let mut count = strong.load(Ordering::Acquire);
        loop {
            let (handles, next) = match (count & HANDLES, count & LEFT) {
                (1, 0) => return Farewell::Last(ManuallyDrop::into_inner(this)),
                (1, _) => (1, LEAVING | 1),
                (handles, _) => (handles, handles - 1),
            };
            sim::point();
            // ORDERING: Release, as in `Cown::drop`; acquire as above.
            let (ok, failed) = (Ordering::AcqRel, Ordering::Acquire);
            match strong.compare_exchange_weak(count, next, ok, failed) {
                Ok(_) if handles == 1 => return Farewell::Again(ManuallyDrop::into_inner(this)),
                Ok(_) => return Farewell::Revoked,
                Err(now) => count = now,
            }
        }
    }
}
