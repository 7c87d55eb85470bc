//! Interrupts of members of a group: the two bits of [`on_interrupt`](crate::interrupt) are in two
//! places.
//!
//! INTERRUPT of the leader says that its list of interrupts may contain members; PARKED of the
//! leader says that it has the token, since the gate of some member is shut. PARKED of a member
//! says that it is this member's gate. A member's [`InterruptNotice`] says whether it is in the
//! list: adding it takes two steps, and other threads must know when both are done.
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
//!     set:     done, another thread is on its way
//!     PARKED:  takes the token: schedule
//!     neither: append an empty request
//! ```
//!
//! *No interrupt is lost.* The member is in the list before INTERRUPT of the leader is set, and
//! that bit is cleared before the list is taken. The rest is as in `on_interrupt`, with the
//! leader's bits.
//!
//! *No interrupt is late.* When an interrupt returns, the holder of the group sees INTERRUPT of the
//! leader before it runs another behaviour, or interrupts the member afterwards, or has done so.
//! This is obvious for an interrupt that has placed the notice, and for one that finds it placed.
//! But one in between (a handler that is to be held from now on, say, while a thread resumes its
//! actor) must not return before the other thread's steps are done. That thread does not wait
//! there, so this wait is one of those in `queue/README.md`, "Why there is no deadlock".
//!
//! *Turns of their own.* Members with a reserved gate are in a line (`OwnTurns`), which belongs
//! to the token holder. While no gate is shut they take their turns, one after the other and before
//! the next behaviour; before each turn the holder checks INTERRUPT of the leader. To yield the
//! worker in between, the holder sets that bit itself, and so returns here first. A move sets it as
//! well: a holder that finds it on a runtime other than the group's home passes the group to that
//! one before it interrupts any member.
//!
//! *A member in the list is alive.* The last handle does not drop the state of a member with a
//! notice ([`is_idle`](crate::cown::end_of_life)): it appends the last request, which is granted
//! after the list was taken.

use std::ptr::NonNull;

use coact_sync::shim::atomic::Ordering;

use super::group_header::{Leader, with};
use super::header::InterruptOutcome;
use super::interrupt_header::{self, InterruptGuard, leave_token};
use super::member_interrupt_listed::InterruptNotice;
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use crate::sched::{ReadySink, schedule};
use crate::simulated;
use crate::task::TaskPtr;

/// Interrupts a member. Returns `true` if the caller must append an empty request.
///
/// # Safety
/// The cown is alive, interruptible, and a member of the leader's group.
pub(crate) unsafe fn interrupt_member(cown: LiveCown, leader: LiveCown) -> bool {
    let (header, leader) = (cown.header(), leader.cast::<Leader>());
    let Some(placing) = InterruptNotice::of(header).place() else { return false };
    simulated::point();
    // SAFETY: the cown is interruptible, and this thread has placed the notice, so it owns the
    // guard's word.
    unsafe { push(leader.as_ref(), interrupt_header::of(cown)) };
    simulated::point();
    // SAFETY: the member is alive, and keeps the leader alive.
    let leading = unsafe { &leader.as_ref().header };
    // Publishes the list to the thread that clears the bit.
    let interrupted = leading.flags.interrupt();
    InterruptNotice::of(header).placed(placing);
    simulated::point();
    match interrupted {
        InterruptOutcome::Pending => false,
        InterruptOutcome::TookToken => {
            schedule(Leader::task(leader), leading.home_of_queue());
            false
        }
        InterruptOutcome::NeedsRequest => true,
    }
}

/// Makes the group's holder check more than the next behaviour: the group has another home, where
/// it must continue, or members that take turns. If the group may be released before, an empty
/// request must follow, as with every interrupt.
pub(crate) fn look_up(leader: LiveCown) {
    leader.header().flags.remember_interrupt();
}

/// # Safety
/// The guard is a member's, and the caller owns its word.
unsafe fn push(leader: &Leader, guard: NonNull<InterruptGuard>) {
    // ORDERING: Relaxed. The list is only taken as a whole, so the first entry is not read here.
    let mut first = leader.interrupts.load(Ordering::Relaxed);
    loop {
        // SAFETY: the caller owns the guard's word up to the exchange.
        unsafe { interrupt_header::set_next(guard, first) };
        // ORDERING: Release publishes the guard's word; pairs with the Acquire in `interrupt_all`.
        let (ok, failed) = (Ordering::Release, Ordering::Relaxed);
        match leader.interrupts.compare_exchange_weak(first, guard.as_ptr(), ok, failed) {
            Ok(_) => return,
            Err(now) => first = now,
        }
    }
}

/// Interrupts the members before `head` is granted the group.
///
/// # Safety
/// The caller has the token of the leader, gives it away, and has seen an interrupt.
pub(crate) unsafe fn enter_group(leader: LiveCown, head: LiveSlot, ready: &mut impl ReadySink) {
    let leader = leader.cast::<Leader>();
    // SAFETY: with the token this thread holds the group, and the request keeps it alive.
    unsafe {
        with(leader, |held| held.head = head.as_ptr());
        ready.ready(Leader::task(leader), leader.as_ref().header.home_of_queue());
    }
}

/// Returns the task that interrupts the members.
pub(crate) fn task_of(leader: LiveCown) -> TaskPtr {
    Leader::task(leader.cast())
}

/// Returns the first request in the queue of a group whose token was left at the gate, and whether
/// it waits: it may be one that has run, and holds the group for those behind it.
///
/// # Safety
/// The caller has taken the token from the gate.
pub(crate) unsafe fn first_at_gate(leader: LiveCown) -> (LiveSlot, bool) {
    // SAFETY: the caller has the token; without a holding request it was left with a head
    // (`enter_group`).
    unsafe {
        with(leader.cast(), |held| match &held.holding {
            Some(holding) => (holding.slot(), false),
            None => (LiveSlot::new(NonNull::new_unchecked(held.head)), true),
        })
    }
}

/// Interrupts the state before `head` is granted the cown.
///
/// # Safety
/// The caller has the token, gives it away, and has seen an interrupt; the cown has no readers.
#[cold]
pub(crate) unsafe fn enter(cown: LiveCown, head: LiveSlot, ready: &mut impl ReadySink) {
    if cown.header().is_grouped() {
        // SAFETY: a grouped header with a queue is a leader; the caller has its token and has seen
        // an interrupt.
        return unsafe { enter_group(cown, head, ready) };
    }
    // SAFETY: only interruptible cowns are interrupted; and with the token and no readers, this
    // thread has exclusive access.
    unsafe {
        leave_token(cown, head);
        ready.ready(interrupt_header::task_of(cown), cown.header().home_of_queue());
    }
}

/// Interrupts a cown whose last handle is gone, since nothing is left that could open its gate. The
/// effects come before the request that ends the cown, which the caller appends next.
///
/// # Safety
/// The cown is interruptible, and the caller's weak count keeps it alive.
#[cold]
pub(crate) unsafe fn interrupt_last(cown: LiveCown) {
    // SAFETY: the cown is interruptible and alive, and keeps its leader alive.
    unsafe {
        let header = cown.header();
        if let Some(leader) = cown.leader() {
            // No empty request is needed: the last request follows.
            interrupt_member(cown, leader);
            return;
        }
        // Otherwise the last request brings the token here.
        if header.flags.interrupt() == InterruptOutcome::TookToken {
            schedule(interrupt_header::task_of(cown), header.home());
        }
    }
}
