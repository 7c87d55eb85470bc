//! Cowns whose state is called before anything else, and at once: how actors begin.
//!
//! Such a cown is made with an [empty request](super::knock) in its queue of which its maker has the token. So whatever is
//! spawned on it, by whoever can reach it first, stands behind, and comes after the state was called; and for that the
//! maker schedules the guard's task, with none of the steps that an [alert](Cown::alert) takes. ALERT is set as if one
//! had come: others who alert the cown meanwhile need not see to it that the state is called.

use super::block;
use crate::queue::alert::alert as alert_member;
use crate::queue::leader::Leader;
use std::ptr::NonNull;

use coact_sync::shim::atomic::Ordering;

use super::{Attended, give_back, knock};
use crate::cown::handle::{Cown, WeakCown};
use crate::group::Group;
use crate::queue::guard;
use crate::queue::header::CownHeader;
use crate::queue::single::Single;
use crate::sched::home::Home;
use crate::sched::{at_work_in, schedule};
use crate::simulated;

impl<T: Attended> Cown<T> {
    /// As [`attended`](Self::attended), and the state is attended to before all behaviours on the cown: at once when
    /// `hand_out` is through, which gets the handle, and whose result this returns.
    ///
    /// **Cost.** Half of what it costs to [alert](Self::alert) a new cown.
    pub fn attended_at_once<R>(
        home: Home,
        front: T::Front,
        make_state: impl FnOnce(WeakCown<T>) -> T,
        hand_out: impl FnOnce(Self) -> R,
    ) -> R {
        at_work_in(home.0, || {
            let header = block::allocate(home.0, None, front, make_state, |header| {
                // SAFETY: fresh, in no group, and without a handle.
                unsafe { put_first_request(header) };
            });
            let _birth = Birth(header);
            // SAFETY: a fresh cown of `T`, with one handle.
            hand_out(unsafe { Self::from_header(header) })
        })
    }
}

/// Puts the first request into the queue of a cown, before which the state is attended to.
///
/// # Safety
/// The cown is attended to, in no group, and nobody else knows it.
unsafe fn put_first_request(cown: NonNull<CownHeader>) {
    let slot = Single::slot(knock::allocate(cown));
    // SAFETY: by the caller's word.
    unsafe {
        let header = cown.as_ref();
        header.flags.begin_alerted();
        // ORDERING: Relaxed. Nobody else knows the cown; published with its first handle.
        header.tail.store(slot.as_ptr(), Ordering::Relaxed);
        guard::leave_token(cown, slot);
    }
}

/// The token of a cown with its first request, which lies in the guard; it is given away in any case.
struct Birth(NonNull<CownHeader>);

impl Drop for Birth {
    fn drop(&mut self) {
        simulated::point();
        // SAFETY: the first request keeps the cown alive, which is attended to, and whose token is ours.
        unsafe { schedule(guard::task_of(self.0), self.0.as_ref().home_of_queue()) };
    }
}

impl Group {
    /// Makes a member whose state is attended to; see [`Cown::attended`].
    pub fn attended<T: Attended>(
        &self,
        front: T::Front,
        make_state: impl FnOnce(WeakCown<T>) -> T,
    ) -> Cown<T> {
        let home = self.home().0;
        // SAFETY: the leader is alive, and counts the member. The cown is fresh, with one handle.
        unsafe {
            let leader = Leader::retain(self.leader);
            Cown::from_header(block::allocate(home, Some(leader), front, make_state, |_| ()))
        }
    }

    /// As [`Cown::attended_at_once`], for a member. Where others are at work in the group it may be attended to
    /// earlier: while `hand_out` runs.
    pub fn attended_at_once<T: Attended, R>(
        &self,
        front: T::Front,
        make_state: impl FnOnce(WeakCown<T>) -> T,
        hand_out: impl FnOnce(Cown<T>) -> R,
    ) -> R {
        at_work_in(self.home().0, || {
            let cown = self.attended(front, make_state);
            // SAFETY: attended to, and a member of this group.
            let is_first = unsafe { alert_member(cown.header_ptr(), self.leader.cast()) };
            let _birth = BirthInGroup { cown: Some(cown.clone()), is_first };
            hand_out(cown)
        })
    }
}

/// The same for a member of a group, whose token nobody has: it has been alerted, and where the request is missing that
/// goes with an alert, it is appended.
struct BirthInGroup<T: Attended> {
    /// Taken at the end.
    cown: Option<Cown<T>>,
    is_first: bool,
}

impl<T: Attended> Drop for BirthInGroup<T> {
    fn drop(&mut self) {
        let Some(cown) = self.cown.take() else { return };
        // It may have been attended to before it was ready, and have shut its door.
        cown.alert();
        if self.is_first {
            // SAFETY: alive by this handle.
            unsafe { super::knock(cown.header_ptr()) };
        }
        give_back(cown);
    }
}
