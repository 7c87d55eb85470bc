//! Interruptible members: the two bits of [`on_interrupt`](crate::interrupt) in two places.
//!
//! INTERRUPT of the leader says that there may be something in its list of interrupts; PARKED, that the token lies in the
//! leader, since some member's gate is shut. PARKED of a member says that it is that one's. Whether a member is in the
//! list says its [`Notice`], since to put it there takes two steps, and others must know when both are done.
//!
//! ```text
//!   interrupt of a member                       the token holder, before a behaviour
//!   its notice: is placed?                  INTERRUPT of the leader set?
//!     NONE:    now it is PLACING              INTERRUPT, PARKED of the leader: clear
//!     PLACING: wait for the end of that       take the list; for each member:
//!     PLACED:  done                             its notice: NONE; PARKED: clear; on_interrupt
//!   put it into the list                        shut: set PARKED, count it
//!   INTERRUPT of the leader: set                  none shut: go on
//!   its notice: PLACED                        shut: INTERRUPT clear? set PARKED, leave the token
//!   before that INTERRUPT was
//!     set:     done, somebody is on the way
//!     PARKED:  the token is ours: schedule
//!     neither: append an empty request
//! ```
//!
//! *No interrupt is lost.* The member is in the list before INTERRUPT of the leader is set, and that is cleared
//! before the list is taken. The rest is as in `on_interrupt`, with the leader's bits.
//!
//! *No interrupt comes late.* When one returns, whoever holds the group sees INTERRUPT of the leader before it runs another
//! behaviour, or interrupts the member afterwards, or has done so. That is plain of one that has placed the notice, or
//! that comes when it is placed. But one that comes between (a handler, say, that is to be held from now on, while a
//! thread resumes its actor) must not return before the other thread's steps are done: that thread waits for nobody
//! there, so this is a wait as those in `queue/README.md`, "Why there is no deadlock".
//!
//! *Turns of their own.* Members whose gate is reserved stand in line (`OwnTurns`), which is the token holder's. When no
//! gate is shut they take their turns, one after the other and before the next behaviour; before each the holder looks
//! at INTERRUPT of the leader. If others are to have the worker in between it sets that bit itself, and so comes back here
//! first. A move sets it, too: whoever finds it in another runtime than the group's home gives the group to that one,
//! before it interrupts anybody.
//!
//! *A member in the list is alive.* The last handle does not drop the state of a member with a notice
//! ([`is_idle`](crate::cown::end_of_life)): it appends the last request, which is granted after the list
//! was taken.

use std::ptr::NonNull;

use coact_sync::shim::atomic::{AtomicU32, Ordering};

use super::group_header::{Leader, with};
use super::header::{CownHeader, Flags};
use super::interruptible::{self, Guard, leave_token};
use super::slot::Slot;
use crate::sched::{Ready, schedule};
use crate::simulated;
use crate::steps;
use crate::task::TaskPtr;

/// Whether a member is in its leader's list of interrupts: in the word of its header with which cowns of their own count
/// readers. Beside the state the word counts how often the member was taken off, so that a thread that comes late
/// with its second step is not taken for the next one.
pub(crate) struct Notice<'a>(&'a AtomicU32);

impl<'a> Notice<'a> {
    /// It is not in the list.
    const NONE: u32 = 0;
    /// Some thread puts it there.
    const PLACING: u32 = 1;
    /// It is there, and INTERRUPT of the leader is set.
    const PLACED: u32 = 2;
    const STATE: u32 = 3;

    pub(crate) fn of(member: &'a CownHeader) -> Self {
        Self(&member.readers)
    }

    /// Begins to place it; the guard's word is the caller's then. `None` if another interrupt has placed it, which has not
    /// been interrupted.
    fn place(&self) -> Option<u32> {
        // ORDERING: Relaxed. Confirmed by the exchange.
        let mut now = self.0.load(Ordering::Relaxed);
        loop {
            let next = match now & Self::STATE {
                Self::NONE => now | Self::PLACING,
                Self::PLACED => now,
                _ => {
                    // ORDERING: Relaxed. As above.
                    now = steps::wait_for(|| {
                        let later = self.0.load(Ordering::Relaxed);
                        (later != now).then_some(later)
                    });
                    continue;
                }
            };
            // ORDERING: AcqRel. Release publishes what the caller did to the one that takes the notice, also where
            // the word stays as it is. Acquire pairs with the release there: the guard's word is ours until it is in
            // the list; and with that in `placed`: INTERRUPT of the leader is set.
            let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            match self.0.compare_exchange_weak(now, next, ok, failed) {
                Ok(_) => return (next != now).then_some(next),
                Err(later) => now = later,
            }
        }
    }

    /// It stands in the list; unless it was taken off there already.
    fn placed(&self, number: u32) {
        // ORDERING: Release pairs with the acquire in `place`.
        let (ok, failed) = (Ordering::Release, Ordering::Relaxed);
        let placed = number - Self::PLACING + Self::PLACED;
        let _ = self.0.compare_exchange(number, placed, ok, failed);
    }

    /// Takes it off, with what those did before who have placed it, or found it placed. The caller has the list.
    pub(crate) fn take(&self) {
        let next = |now: u32| Some((now | Self::STATE).wrapping_add(1));
        // ORDERING: AcqRel. Acquire pairs with the release in `place`: what was done before the interrupt is seen by the
        // call. Release gives the guard's word to the next interrupt.
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Relaxed, next);
    }
}

/// Whether a member is in its leader's list of interrupts, or about to be.
pub(crate) fn is_noticed(member: &CownHeader) -> bool {
    // ORDERING: Acquire pairs with the release in `take`: when the notice was taken, a request stands in the leader's
    // queue.
    Notice::of(member).0.load(Ordering::Acquire) & Notice::STATE != Notice::NONE
}

/// Interrupts a member. Returns true if the caller is to append an empty request.
///
/// # Safety
/// The cown is a member of the leader's group, interruptible, and alive.
pub(crate) unsafe fn interrupt_member(
    cown: NonNull<CownHeader>,
    leader: NonNull<CownHeader>,
) -> bool {
    // SAFETY: by the caller's word; the member keeps the leader alive.
    let (header, leader) = unsafe { (cown.as_ref(), leader.cast::<Leader>()) };
    let Some(number) = Notice::of(header).place() else { return false };
    simulated::point();
    // SAFETY: interruptible; and with the notice, which we place, the guard's word is ours.
    unsafe { push(leader.as_ref(), interruptible::of(cown)) };
    simulated::point();
    // SAFETY: as above.
    let leading = unsafe { &leader.as_ref().header };
    // Publishes the list to whoever clears the bit.
    let before = leading.flags.interrupt();
    Notice::of(header).placed(number);
    simulated::point();
    if before & Flags::INTERRUPT != 0 {
        return false;
    }
    if before & Flags::PARKED != 0 {
        schedule(Leader::task(leader), leading.home_of_queue());
        return false;
    }
    true
}

/// Has whoever holds the group look after more than the next behaviour: it has another home, where it goes on, or
/// members that are to take turns. If the group may be let go before, an empty request is to follow, as with every
/// interrupt.
///
/// # Safety
/// The caller holds the group.
pub(crate) unsafe fn look_up(leader: NonNull<CownHeader>) {
    // SAFETY: held, so alive.
    unsafe { leader.as_ref() }.flags.remember_interrupt();
}

/// # Safety
/// The guard is a member's, and its word is the caller's.
unsafe fn push(leader: &Leader, guard: NonNull<Guard>) {
    // ORDERING: Relaxed. The list is only taken as a whole, so what the head leads to is not read.
    let mut first = leader.interrupts.load(Ordering::Relaxed);
    loop {
        // SAFETY: ours until the exchange.
        unsafe { interruptible::set_next(guard, first) };
        // ORDERING: Release publishes the guard's word; pairs with the acquire in `interrupt_all`.
        let (ok, failed) = (Ordering::Release, Ordering::Relaxed);
        match leader.interrupts.compare_exchange_weak(first, guard.as_ptr(), ok, failed) {
            Ok(_) => return,
            Err(now) => first = now,
        }
    }
}

/// Lets the members be interrupted before `head` is granted the group.
///
/// # Safety
/// The caller has the token of the leader, gives it away, and has seen an interrupt.
pub(crate) unsafe fn enter_group(
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

/// The task that interrupts the members.
pub(crate) fn task_of(leader: NonNull<CownHeader>) -> TaskPtr {
    Leader::task(leader.cast())
}

/// The first request in the queue of a group whose token was left at the gate, and whether it waits:
/// it may be one that has run, and holds the group for those behind it.
///
/// # Safety
/// The caller has the token, which came from there.
pub(crate) unsafe fn first_at_gate(leader: NonNull<CownHeader>) -> (NonNull<Slot>, bool) {
    // SAFETY: by the caller's word; without a holding request the token was left with a head (`enter`).
    unsafe {
        with(leader.cast(), |held| match &held.holding {
            Some(holding) => (holding.slot(), false),
            None => (NonNull::new_unchecked(held.head), true),
        })
    }
}

/// Lets the state be interrupted before `head` is granted the cown.
///
/// # Safety
/// The caller has the token, gives it away, and has seen an interrupt; no reader of the cown is left.
#[cold]
pub(crate) unsafe fn enter(cown: NonNull<CownHeader>, head: NonNull<Slot>, ready: &mut impl Ready) {
    // SAFETY: the request keeps the cown alive.
    if unsafe { cown.as_ref() }.is_grouped() {
        // SAFETY: by the caller's word.
        return unsafe { enter_group(cown, head, ready) };
    }
    // SAFETY: only interruptible cowns are interrupted; and with the token we are alone.
    unsafe {
        leave_token(cown, head);
        ready.ready(interruptible::task_of(cown), cown.as_ref().home_of_queue());
    }
}

/// Interrupts a cown whose last handle is gone: there will be nobody who could open its gate. What it leads to comes before
/// the request that ends the cown, which the caller appends next.
///
/// # Safety
/// The cown is interruptible, and kept alive by the caller's weak count.
#[cold]
pub(crate) unsafe fn interrupt_last(cown: NonNull<CownHeader>) {
    // SAFETY: by the caller's word; so the leader is alive, too.
    unsafe {
        let header = cown.as_ref();
        if let Some(leader) = header.leader() {
            // An empty request is not needed: that of the end follows.
            interrupt_member(cown, leader);
            return;
        }
        if header.flags.interrupt() == Flags::PARKED {
            schedule(interruptible::task_of(cown), header.home());
        }
    }
}
