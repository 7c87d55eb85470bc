//! Cowns whose state is called at once, before anything else: how actors start.
//!
//! Such a cown is created with an [empty request](super::empty_request) in its queue, of which its
//! creator has the token. So whatever is spawned on it, by any thread that can reach it first, is
//! behind that request, and runs after the state was called. To call it, the creator schedules the
//! guard's task directly, without the steps of an [interrupt](Cown::interrupt). INTERRUPT is set as
//! if there had been one, so threads that interrupt the cown meanwhile need not cause a call.

use crate::path_coverage::FastPath;
use crate::queue::group_header::Leader;
use crate::queue::live_cown::LiveCown;
use crate::queue::member_interrupt::interrupt_member;

use super::interruptible::Interruptible;
use super::last_handle::temporary_handle::give_back;
use super::{empty_request, send_interrupt, vtable};
use crate::cown::handle::{Cown, WeakCown};
use crate::group::Group;
use crate::queue::interrupt_header;
use crate::queue::single_block::Single;
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::{self, at_work_in, schedule};
use crate::simulated;

impl<T: Interruptible> Cown<T> {
    /// Like [`interruptible`](Self::interruptible), and the state is called before all behaviours
    /// on the cown: right after `hand_out`, which receives the handle, and whose result this
    /// returns.
    ///
    /// **Cost.** Half of what it costs to [interrupt](Self::interrupt) a new cown.
    pub fn interrupted_at_once<R>(
        home: RuntimeHandle,
        shared: T::SharedState,
        make_state: impl FnOnce(WeakCown<T>) -> T,
        hand_out: impl FnOnce(Self) -> R,
    ) -> R {
        // SAFETY: the presence is dropped at the end of this call.
        let _presence = unsafe { sched::enter(home.0) };
        let header = vtable::allocate(home.0, None, shared, make_state, |header| {
            // SAFETY: the cown is new, in no group, and has no handle yet.
            unsafe { put_first_request(header) };
        });
        FastPath::FirstRequest.take();
        let _first_interrupt = FirstInterrupt(header);
        // SAFETY: a new cown of type `T`, with one handle that is owned here.
        hand_out(unsafe { Self::from_header(header) })
    }
}

/// Puts the first request, before which the state is interrupted, into the queue of a cown.
///
/// # Safety
/// The cown is interruptible and in no group, and no other thread knows it.
unsafe fn put_first_request(cown: LiveCown) {
    // SAFETY: no other thread knows the cown, which is interruptible. The request is new, and stays
    // at the head of the queue until its token is given on.
    unsafe {
        let slot = Single::slot(empty_request::allocate(cown));
        let header = cown.header();
        header.flags.begin_interrupted();
        header.tail.begin_with(slot);
        interrupt_header::leave_token(cown, slot);
    }
}

/// The token of a cown with its first request, which is in the guard; given away when this is
/// dropped.
struct FirstInterrupt(LiveCown);

impl Drop for FirstInterrupt {
    fn drop(&mut self) {
        simulated::point();
        // SAFETY: the first request keeps the cown alive, which is interruptible, and this thread
        // has its token.
        unsafe { schedule(interrupt_header::task_of(self.0), self.0.header().home_of_queue()) };
    }
}

impl Group {
    /// Creates a member with an interruptible state; see [`Cown::interruptible`].
    pub fn interruptible<T: Interruptible>(
        &self,
        shared: T::SharedState,
        make_state: impl FnOnce(WeakCown<T>) -> T,
    ) -> Cown<T> {
        let home = self.runtime().0;
        // SAFETY: the leader is alive, and counts the member. The cown is new, with one handle that
        // is owned here.
        unsafe {
            let leader = Leader::retain(self.leader);
            Cown::from_header(vtable::allocate(home, Some(leader), shared, make_state, |_| ()))
        }
    }

    /// Like [`Cown::interrupted_at_once`], for a member. If other threads use the group, it may be
    /// called earlier: while `hand_out` runs.
    pub fn interrupted_at_once<T: Interruptible, R>(
        &self,
        shared: T::SharedState,
        make_state: impl FnOnce(WeakCown<T>) -> T,
        hand_out: impl FnOnce(Cown<T>) -> R,
    ) -> R {
        at_work_in(self.runtime().0, || {
            let cown = self.interruptible(shared, make_state);
            // SAFETY: the cown is interruptible, alive, and a member of this group.
            let is_first =
                unsafe { interrupt_member(cown.live_cown(), LiveCown::new(self.leader.cast())) };
            let _first_interrupt = FirstInterruptInGroup { cown: Some(cown.clone()), is_first };
            hand_out(cown)
        })
    }
}

/// The same for a member of a group, whose token may be with any thread: the member has an
/// interrupt, and if the request that belongs to an interrupt is missing, this appends it when
/// dropped.
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
            // SAFETY: this handle keeps the cown alive.
            unsafe { send_interrupt::append_empty_request(cown.live_cown()) };
        }
        give_back(cown);
    }
}
