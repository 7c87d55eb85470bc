//! Members that are attended to, by whoever holds their group. The protocol is that of `queue/alert.rs`.

use crate::queue::alert::{Notice, look_up};
use std::ptr::NonNull;

use coact_sync::shim::atomic::Ordering;

use crate::queue::guard::{self};
use crate::queue::guard::{Door, is_without_door};
use crate::queue::header::{CownHeader, Flags};
use crate::queue::leader::with;
use crate::queue::leader::{HeldGroup, Leader};
use crate::sched::home::mode_now;
use crate::simulated;
use crate::task::{Mode, RunContext};

/// Marks a member's door as shut, or open. Returns what it is: that of a member that is closed stays open.
fn mark(member: &CownHeader, shut: bool) -> bool {
    if !shut {
        member.flags.open();
        return false;
    }
    member.flags.shut()
}

/// Attends to all members that are alerted, and lets those take their turns that have one of their own. The door is
/// open if none has shut it, now or before; it is [reserved](Door::Reserved) if others are to have the worker first.
///
/// # Safety
/// The caller has the token.
#[cold]
pub(super) unsafe fn attend_to_all(leader: NonNull<Leader>, context: &RunContext) -> Door {
    // SAFETY: a request in the queue keeps a member, and so the leader, alive.
    let this = unsafe { leader.as_ref() };
    this.header.flags.begin_attending();
    simulated::point();
    // ORDERING: Acquire pairs with the release in `push`.
    let mut first = this.alerts.swap(std::ptr::null_mut(), Ordering::Acquire);
    while let Some(guard) = NonNull::new(first) {
        let cown = guard::header_of(guard);
        // SAFETY: a member in the list is alive, and its guard's word ours until its notice is taken.
        // With the token nobody else is at its state.
        unsafe {
            first = guard::next(guard);
            Notice::of(cown.as_ref()).take();
            simulated::point();
            // After the exchange: a shutdown whose deadline passes says so before it alerts.
            let door = (guard::kind(cown).attend)(cown, mode_now(context));
            note_door(leader, cown, door);
        }
    }
    // SAFETY: the token, which stays with the caller.
    unsafe { take_turns(leader, context) }
}

/// Notes what has become of a member's door.
///
/// # Safety
/// The caller has the token, and the member is alive and attended to.
unsafe fn note_door(leader: NonNull<Leader>, member: NonNull<CownHeader>, door: Door) {
    // SAFETY: by the caller's word.
    unsafe {
        let header = member.as_ref();
        // PARKED of a member is the token holder's.
        let was_shut = header.has(Flags::PARKED);
        let mut shut = door == Door::Shut && !is_without_door(header);
        if shut != was_shut {
            shut = mark(header, shut);
        }
        let queues = door == Door::Reserved && !header.is_in_line();
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

/// Lets members take the turns that are reserved for them, unless a door is shut, and until somebody is to be
/// attended to. Returns [`Door::Reserved`] if others are to have the worker first.
///
/// # Safety
/// The caller has the token.
unsafe fn take_turns(leader: NonNull<Leader>, context: &RunContext) -> Door {
    // SAFETY: the token, so a member is alive, and with it the leader.
    let header = unsafe { &leader.as_ref().header };
    while !header.wants_attention() {
        // SAFETY: the token. Who stands in the line is alive, and nobody else is at its state.
        unsafe {
            let member = match with(leader, HeldGroup::next_turn) {
                Ok(member) => member,
                Err(door) => {
                    if door == Door::Reserved {
                        // So that whoever goes on comes back here first.
                        look_up(leader.cast());
                    }
                    return door;
                }
            };
            member.as_ref().set_in_line(false);
            let kind = guard::kind(member);
            let door = match mode_now(context) {
                Mode::Run => (kind.take_turn)(member),
                Mode::Cancel => (kind.attend)(member, Mode::Cancel),
            };
            note_door(leader, member, door);
        }
    }
    // The caller looks again before anything else.
    Door::Open
}

impl HeldGroup {
    /// The member whose turn it is; if it is nobody's, what becomes of the group.
    fn next_turn(&mut self) -> Result<NonNull<CownHeader>, Door> {
        if self.shut > 0 {
            return Err(Door::Shut);
        }
        let Some(line) = self.line.as_mut().filter(|line| !line.0.is_empty()) else {
            return Err(Door::Open);
        };
        if self.budget == 0 {
            return Err(Door::Reserved);
        }
        self.budget -= 1;
        line.0.pop_front().ok_or(Door::Open)
    }
}
