//! Interruptible members, by whoever holds their group. The protocol is that of `queue/interrupt.rs`.

use crate::queue::interrupt::{Notice, look_up};
use std::ptr::NonNull;

use coact_sync::shim::atomic::Ordering;

use crate::queue::group_header::with;
use crate::queue::group_header::{HeldGroup, Leader};
use crate::queue::header::{CownHeader, Flags};
use crate::queue::interruptible::{self};
use crate::queue::interruptible::{Gate, is_ungated};
use crate::sched::runtime_handle::mode_now;
use crate::simulated;
use crate::task::{Mode, RunContext};

/// Marks a member's gate as shut, or open. Returns what it is: that of a member that is closed stays open.
fn mark(member: &CownHeader, shut: bool) -> bool {
    if !shut {
        member.flags.open();
        return false;
    }
    member.flags.shut()
}

/// Interrupts all members that are interrupted, and lets those take their turns that have one of their own. The gate is
/// open if none has shut it, now or before; it is [reserved](Gate::Reserved) if others are to have the worker first.
///
/// # Safety
/// The caller has the token.
#[cold]
pub(super) unsafe fn interrupt_all(leader: NonNull<Leader>, context: &RunContext) -> Gate {
    // SAFETY: a request in the queue keeps a member, and so the leader, alive.
    let this = unsafe { leader.as_ref() };
    this.header.flags.begin_interrupt();
    simulated::point();
    // ORDERING: Acquire pairs with the release in `push`.
    let mut first = this.interrupts.swap(std::ptr::null_mut(), Ordering::Acquire);
    while let Some(guard) = NonNull::new(first) {
        let cown = interruptible::header_of(guard);
        // SAFETY: a member in the list is alive, and its guard's word ours until its notice is taken.
        // With the token nobody else is at its state.
        unsafe {
            first = interruptible::next(guard);
            Notice::of(cown.as_ref()).take();
            simulated::point();
            // After the exchange: a shutdown whose deadline passes says so before it interrupts.
            let gate = (interruptible::kind(cown).on_interrupt)(cown, mode_now(context));
            note_gate(leader, cown, gate);
        }
    }
    // SAFETY: the token, which stays with the caller.
    unsafe { take_turns(leader, context) }
}

/// Notes what has become of a member's gate.
///
/// # Safety
/// The caller has the token, and the member is alive and interruptible.
unsafe fn note_gate(leader: NonNull<Leader>, member: NonNull<CownHeader>, gate: Gate) {
    // SAFETY: by the caller's word.
    unsafe {
        let header = member.as_ref();
        // PARKED of a member is the token holder's.
        let was_shut = header.has(Flags::PARKED);
        let mut shut = gate == Gate::Shut && !is_ungated(header);
        if shut != was_shut {
            shut = mark(header, shut);
        }
        let queues = gate == Gate::Reserved && !header.is_in_line();
        if queues {
            header.set_in_line(true);
        }
        with(leader, |held| {
            held.shut = held.shut + usize::from(shut) - usize::from(was_shut);
            if queues {
                held.line.get_or_insert_default().0.push_back(member);
            }
        });
    }
}

/// Lets members take the turns that are reserved for them, unless a gate is shut, and until somebody is to be
/// interrupted. Returns [`Gate::Reserved`] if others are to have the worker first.
///
/// # Safety
/// The caller has the token.
unsafe fn take_turns(leader: NonNull<Leader>, context: &RunContext) -> Gate {
    // SAFETY: the token, so a member is alive, and with it the leader.
    let header = unsafe { &leader.as_ref().header };
    while !header.is_interrupted() {
        // SAFETY: the token. Who stands in the line is alive, and nobody else is at its state.
        unsafe {
            let member = match with(leader, HeldGroup::next_turn) {
                Ok(member) => member,
                Err(gate) => {
                    if gate == Gate::Reserved {
                        // So that whoever goes on comes back here first.
                        look_up(leader.cast());
                    }
                    return gate;
                }
            };
            member.as_ref().set_in_line(false);
            let kind = interruptible::kind(member);
            let gate = match mode_now(context) {
                Mode::Run => (kind.take_turn)(member),
                Mode::Cancel => (kind.on_interrupt)(member, Mode::Cancel),
            };
            note_gate(leader, member, gate);
        }
    }
    // The caller looks again before anything else.
    Gate::Open
}

impl HeldGroup {
    /// The member whose turn it is; if it is nobody's, what becomes of the group.
    fn next_turn(&mut self) -> Result<NonNull<CownHeader>, Gate> {
        if self.shut > 0 {
            return Err(Gate::Shut);
        }
        let Some(line) = self.line.as_mut().filter(|line| !line.0.is_empty()) else {
            return Err(Gate::Open);
        };
        if self.budget == 0 {
            return Err(Gate::Reserved);
        }
        self.budget -= 1;
        line.0.pop_front().ok_or(Gate::Open)
    }
}
