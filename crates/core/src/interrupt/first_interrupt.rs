//! Cowns whose state is called before anything else, and at once: how actors begin.
//!
//! Such a cown is made with an [empty request](super::empty_request) in its queue of which its maker has the token. So whatever is
//! spawned on it, by whoever can reach it first, stands behind, and comes after the state was called; and for that the
//! maker schedules the guard's task, with none of the steps that an [interrupt](Cown::interrupt) takes. INTERRUPT is set as if one
//! had come: others who interrupt the cown meanwhile need not see to it that the state is called.

use super::layout;
use crate::queue::group_header::Leader;
use crate::queue::interrupt::interrupt_member;
use std::ptr::NonNull;

use coact_sync::shim::atomic::Ordering;

use super::{Interruptible, empty_request, give_back};
use crate::cown::handle::{Cown, WeakCown};
use crate::group::Group;
use crate::queue::header::CownHeader;
use crate::queue::interruptible;
use crate::queue::single::Single;
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::{at_work_in, schedule};
use crate::simulated;

impl<T: Interruptible> Cown<T> {
    /// As [`interruptible`](Self::interruptible), and the state is interrupted before all behaviours on the cown: at once when
    /// `hand_out` is through, which gets the handle, and whose result this returns.
    ///
    /// **Cost.** Half of what it costs to [interrupt](Self::interrupt) a new cown.
    pub fn interrupted_at_once<R>(
        home: RuntimeHandle,
        shared: T::SharedState,
        make_state: impl FnOnce(WeakCown<T>) -> T,
        hand_out: impl FnOnce(Self) -> R,
    ) -> R {
        at_work_in(home.0, || {
            let header = layout::allocate(home.0, None, shared, make_state, |header| {
                // SAFETY: fresh, in no group, and without a handle.
                unsafe { put_first_request(header) };
            });
            let _first_interrupt = FirstInterrupt(header);
            // SAFETY: a fresh cown of `T`, with one handle.
            hand_out(unsafe { Self::from_header(header) })
        })
    }
}

/// Puts the first request into the queue of a cown, before which the state is interrupted.
///
/// # Safety
/// The cown is interruptible, in no group, and nobody else knows it.
unsafe fn put_first_request(cown: NonNull<CownHeader>) {
    let slot = Single::slot(empty_request::allocate(cown));
    // SAFETY: by the caller's word.
    unsafe {
        let header = cown.as_ref();
        header.flags.begin_interrupted();
        // ORDERING: Relaxed. Nobody else knows the cown; published with its first handle.
        header.tail.store(slot.as_ptr(), Ordering::Relaxed);
        interruptible::leave_token(cown, slot);
    }
}

/// The token of a cown with its first request, which lies in the guard; it is given away in any case.
struct FirstInterrupt(NonNull<CownHeader>);

impl Drop for FirstInterrupt {
    fn drop(&mut self) {
        simulated::point();
        // SAFETY: the first request keeps the cown alive, which is interruptible, and whose token is ours.
        unsafe { schedule(interruptible::task_of(self.0), self.0.as_ref().home_of_queue()) };
    }
}

impl Group {
    /// Makes a member whose state is interruptible; see [`Cown::interruptible`].
    pub fn interruptible<T: Interruptible>(
        &self,
        shared: T::SharedState,
        make_state: impl FnOnce(WeakCown<T>) -> T,
    ) -> Cown<T> {
        let home = self.runtime().0;
        // SAFETY: the leader is alive, and counts the member. The cown is fresh, with one handle.
        unsafe {
            let leader = Leader::retain(self.leader);
            Cown::from_header(layout::allocate(home, Some(leader), shared, make_state, |_| ()))
        }
    }

    /// As [`Cown::interrupted_at_once`], for a member. Where others are at work in the group it may be interrupted
    /// earlier: while `hand_out` runs.
    pub fn interrupted_at_once<T: Interruptible, R>(
        &self,
        shared: T::SharedState,
        make_state: impl FnOnce(WeakCown<T>) -> T,
        hand_out: impl FnOnce(Cown<T>) -> R,
    ) -> R {
        at_work_in(self.runtime().0, || {
            let cown = self.interruptible(shared, make_state);
            // SAFETY: interruptible, and a member of this group.
            let is_first = unsafe { interrupt_member(cown.header_ptr(), self.leader.cast()) };
            let _first_interrupt = FirstInterruptInGroup { cown: Some(cown.clone()), is_first };
            hand_out(cown)
        })
    }
}

/// The same for a member of a group, whose token nobody has: it has been interrupted, and where the request is missing that
/// goes with an interrupt, it is appended.
struct FirstInterruptInGroup<T: Interruptible> {
    /// Taken at the end.
    cown: Option<Cown<T>>,
    is_first: bool,
}

impl<T: Interruptible> Drop for FirstInterruptInGroup<T> {
    fn drop(&mut self) {
        let Some(cown) = self.cown.take() else { return };
        // It may have been interrupted before it was ready, and have shut its gate.
        cown.interrupt();
        if self.is_first {
            // SAFETY: alive by this handle.
            unsafe { super::append_empty_request(cown.header_ptr()) };
        }
        give_back(cown);
    }
}
