//! Interrupts of members, on the side of the group's holder. The protocol is in
//! `queue/member_interrupt.rs`.

use crate::queue::live_cown::LiveCown;
use crate::queue::member_interrupt::look_up;
use crate::queue::member_interrupt_listed::InterruptNotice;
use std::ptr::NonNull;

use coact_sync::shim::atomic::Ordering;

use crate::queue::group_header::with;
use crate::queue::group_header::{HeldGroup, Leader};
use crate::queue::header::{CownHeader, Flags};
use crate::queue::interrupt_header;
use crate::queue::interrupt_header::{Gate, is_ungated};
use crate::sched::runtime_handle::mode_now;
use crate::sched::watchdog::current_task;
use crate::simulated;
use crate::task::{RunContext, RunMode};

/// Marks a member's gate as shut or open. Returns the result: the gate of a closed member stays
/// open.
fn mark(member: &CownHeader, shut: bool) -> bool {
    if !shut {
        member.flags.open();
        return false;
    }
    member.flags.try_shut()
}

/// Serves the interrupts of all members, and lets members take their own turns. Returns
/// [`Gate::Open`] if no gate is shut, and [`Gate::Reserved`] if the group must yield the worker
/// first.
///
/// # Safety
/// The caller has the token.
#[cold]
pub(super) unsafe fn interrupt_all(leader: NonNull<Leader>, context: &RunContext) -> Gate {
    // SAFETY: a request in the queue keeps a member, and so the leader, alive.
    let this = unsafe { leader.as_ref() };
    this.header.flags.begin_interrupt();
    simulated::point();
    // ORDERING: Acquire pairs with the Release in `push`.
    let mut first = this.interrupts.swap(std::ptr::null_mut(), Ordering::Acquire);
    while let Some(guard) = NonNull::new(first) {
        // SAFETY: a member in the list is alive, and this thread owns its guard's word until its
        // notice is taken. With the token this thread has exclusive access to its state.
        unsafe {
            let cown = interrupt_header::header_of(guard);
            first = interrupt_header::next(guard);
            InterruptNotice::of(cown.header()).take();
            simulated::point();
            goes_on_with_member(cown);
            // After the exchange: a shutdown past its deadline says so before it interrupts.
            let gate = (interrupt_header::vtable(cown).on_interrupt)(cown, mode_now(context));
            note_gate(leader, cown, gate);
        }
    }
    // SAFETY: the caller has the token, and keeps it.
    unsafe { take_turns(leader, context) }
}

/// Tells the watchdog that the group's holder calls the state of this member now.
///
/// # Safety
/// The member is alive and interruptible.
unsafe fn goes_on_with_member(member: LiveCown) {
    // SAFETY: the member is alive and interruptible, so it has a guard, which begins with its task.
    current_task::goes_on_with(unsafe { interrupt_header::task_of(member).as_ref() }.vtable.name);
}

/// Records a member's gate.
///
/// # Safety
/// The caller has the token, and the member is alive and interruptible.
unsafe fn note_gate(leader: NonNull<Leader>, member: LiveCown, gate: Gate) {
    // SAFETY: the member is alive, and the caller has the token.
    unsafe {
        let header = member.header();
        // PARKED of a member belongs to the token holder.
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

/// Lets members take their reserved turns, until a gate is shut or there is an interrupt. Returns
/// [`Gate::Reserved`] if the group must yield the worker first.
///
/// # Safety
/// The caller has the token.
unsafe fn take_turns(leader: NonNull<Leader>, context: &RunContext) -> Gate {
    // SAFETY: the token implies that a member is alive, which keeps the leader alive.
    let header = unsafe { &leader.as_ref().header };
    while !header.is_interrupted() {
        // SAFETY: the caller has the token. A member in the line is alive, and only the token
        // holder accesses its state.
        unsafe {
            let member = match with(leader, HeldGroup::next_turn) {
                Ok(member) => member,
                Err(gate) => {
                    if gate == Gate::Reserved {
                        // So that the next holder returns here first.
                        look_up(LiveCown::new(leader.cast()));
                    }
                    return gate;
                }
            };
            member.header().set_in_line(false);
            goes_on_with_member(member);
            let vtable = interrupt_header::vtable(member);
            let gate = match mode_now(context) {
                RunMode::Run => (vtable.take_turn)(member),
                RunMode::Cancel => (vtable.on_interrupt)(member, RunMode::Cancel),
            };
            note_gate(leader, member, gate);
        }
    }
    // The caller checks for interrupts before anything else.
    Gate::Open
}

impl HeldGroup {
    /// Returns the member whose turn it is, or the state of the group's gate if there is none.
    fn next_turn(&mut self) -> Result<LiveCown, Gate> {
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
