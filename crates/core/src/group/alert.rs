//! Members that are attended to: the two bits of [`attend`](crate::attend) in two places.
//!
//! ALERT of a member says that it is in the leader's list of alerts; PARKED, that its door is shut.
//! ALERT of the leader says that there may be something in the list; PARKED, that the token lies in
//! the leader, since some member's door is shut.
//!
//! ```text
//!   alert of a member                       the token holder, before a behaviour
//!   ALERT of the member: set;               ALERT of the leader set?
//!     it was: done                            ALERT, PARKED of the leader: clear
//!   put it into the list                      take the list; for each member:
//!   ALERT of the leader: set; before it was     ALERT, PARKED of the member: clear; attend
//!     set:     done, somebody is on the way     shut: set PARKED, count it
//!     PARKED:  the token is ours: schedule    none shut: go on
//!     neither: append an empty request        shut: ALERT clear? set PARKED, leave the token
//! ```
//!
//! *No alert is lost.* The member is in the list before ALERT of the leader is set, and that is cleared
//! before the list is taken. The rest is as in `attend`, with the leader's bits.
//!
//! *A member in the list is alive.* The last handle does not drop the state of a member with ALERT
//! ([`is_idle`](crate::cown::handle)): it appends the last request, which is granted after the list
//! was taken.

use std::ptr::NonNull;

use coact_sync::shim::atomic::Ordering;

use super::leader::Leader;
use super::turn::with;
use crate::attend::Door;
use crate::attend::guard::{self, Guard};
use crate::behaviour::slot::Slot;
use crate::behaviour::task::{Mode, Ready, TaskPtr};
use crate::cown::header::{CownHeader, Flags};
use crate::sched::schedule;

/// Alerts a member. Returns true if the caller is to append an empty request.
///
/// # Safety
/// The cown is a member of the leader's group, attended to, and alive.
pub(crate) unsafe fn alert(cown: NonNull<CownHeader>, leader: NonNull<CownHeader>) -> bool {
    // SAFETY: by the caller's word; the member keeps the leader alive.
    let (header, leader) = unsafe { (cown.as_ref(), leader.cast::<Leader>()) };
    // ORDERING: AcqRel. Release publishes what the caller did to the one that clears the bit.
    // Acquire pairs with the release there: the guard's word is ours until it is in the list.
    if header.flags.fetch_or(Flags::ALERT, Ordering::AcqRel) & Flags::ALERT != 0 {
        return false;
    }
    // SAFETY: attended to; and with the bit, which we have set, the guard's word is ours.
    unsafe { push(leader.as_ref(), guard::of(cown)) };
    // SAFETY: as above.
    let leading = unsafe { &leader.as_ref().header };
    // ORDERING: AcqRel, as in `attend`: Release publishes the list to whoever clears the bit.
    // Acquire pairs with the release in `park`: the token.
    let before = leading.flags.fetch_or(Flags::ALERT, Ordering::AcqRel);
    if before & Flags::ALERT != 0 {
        return false;
    }
    if before & Flags::PARKED != 0 {
        schedule(Leader::task(leader), leading.home_of_queue());
        return false;
    }
    true
}

/// # Safety
/// The guard is a member's, and its word is the caller's.
unsafe fn push(leader: &Leader, guard: NonNull<Guard>) {
    // ORDERING: Relaxed. The list is only taken as a whole, so what the head leads to is not read.
    let mut first = leader.alerts.load(Ordering::Relaxed);
    loop {
        // SAFETY: ours until the exchange.
        unsafe { guard::set_next(guard, first) };
        // ORDERING: Release publishes the guard's word; pairs with the acquire in `attend_to_all`.
        let (ok, failed) = (Ordering::Release, Ordering::Relaxed);
        match leader.alerts.compare_exchange_weak(first, guard.as_ptr(), ok, failed) {
            Ok(_) => return,
            Err(now) => first = now,
        }
    }
}

/// Lets the members be attended to before `head` is granted the group.
///
/// # Safety
/// The caller has the token of the leader, gives it away, and has seen an alert.
pub(crate) unsafe fn enter(
    leader: NonNull<CownHeader>,
    head: NonNull<Slot>,
    ready: &mut impl Ready,
) {
    let leader = leader.cast::<Leader>();
    // SAFETY: with the token we hold the group, which the request keeps alive.
    unsafe {
        with(leader, |held| held.head = head.as_ptr());
        ready.ready(Leader::task(leader), leader.as_ref().header.home_of_queue());
    }
}

/// The task that attends to the members.
pub(crate) fn task_of(leader: NonNull<CownHeader>) -> TaskPtr {
    Leader::task(leader.cast())
}

/// The first request in the queue of a group whose token was left at the door, and whether it waits:
/// it may be one that has run, and holds the group for those behind it.
///
/// # Safety
/// The caller has the token, which came from there.
pub(crate) unsafe fn first_at_door(leader: NonNull<CownHeader>) -> (NonNull<Slot>, bool) {
    // SAFETY: by the caller's word; without an anchor the token was left with a head (`enter`).
    unsafe {
        with(leader.cast(), |held| match &held.anchor {
            Some(anchor) => (anchor.slot(), false),
            None => (NonNull::new_unchecked(held.head), true),
        })
    }
}

/// Attends to all members that are alerted. The door is open if none has shut it, now or before.
///
/// # Safety
/// The caller has the token.
#[cold]
pub(super) unsafe fn attend_to_all(leader: NonNull<Leader>, mode: Mode) -> Door {
    const BITS: u8 = Flags::ALERT | Flags::PARKED;
    // SAFETY: a request in the queue keeps a member, and so the leader, alive.
    let this = unsafe { leader.as_ref() };
    // ORDERING: AcqRel. Acquire pairs with the release in `alert`. (Release: the next alert may find
    // the bits as this leaves them, and continues from here.)
    this.header.flags.fetch_and(!BITS, Ordering::AcqRel);
    // ORDERING: Acquire pairs with the release in `push`.
    let mut first = this.alerts.swap(std::ptr::null_mut(), Ordering::Acquire);
    while let Some(guard) = NonNull::new(first) {
        let cown = guard::header_of(guard);
        // SAFETY: a member in the list is alive, and its guard's word ours until its bit is cleared.
        // With the token nobody else is at its state.
        unsafe {
            first = guard::next(guard);
            // ORDERING: AcqRel. Acquire pairs with the release in `alert`: what was done before the
            // alert is seen by the call. Release gives the guard's word to the next alert.
            let before = cown.as_ref().flags.fetch_and(!BITS, Ordering::AcqRel);
            let was_shut = before & Flags::PARKED != 0;
            let shut = (guard::kind(cown).attend)(cown, mode) == Door::Shut;
            if shut {
                cown.as_ref().set(Flags::PARKED, true);
            }
            with(leader, |held| held.shut = held.shut + usize::from(shut) - usize::from(was_shut));
        }
    }
    // SAFETY: with the token.
    if unsafe { with(leader, |held| held.shut) } == 0 { Door::Open } else { Door::Shut }
}
