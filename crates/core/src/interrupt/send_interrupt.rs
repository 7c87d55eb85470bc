//! The interrupting side: records the interrupt. If nothing else is about to bring the token to the
//! state, it queues an empty request that does.

use super::{call_after_queue, empty_request};
use crate::queue::header::InterruptOutcome;
use crate::queue::interrupt_header;
use crate::queue::live_cown::LiveCown;
use crate::queue::member_interrupt::interrupt_member;
use crate::runtime_ids::RuntimeId;
use crate::sched::{at_work_in, schedule};
use crate::simulated;

/// Interrupts the state of a cown.
///
/// # Safety
/// The cown is interruptible, and the caller has a handle that keeps it alive.
pub(super) unsafe fn interrupt(cown: LiveCown) {
    let home = cown.header().home();
    // SAFETY: the conditions are those of this function.
    at_work_in(home, || unsafe { interrupt_inside(cown, home) });
}

/// # Safety
/// See [`interrupt`].
unsafe fn interrupt_inside(cown: LiveCown, home: RuntimeId) {
    // SAFETY: the cown is interruptible and alive, and keeps the leader of its group alive.
    unsafe {
        let header = cown.header();
        if let Some(leader) = cown.leader() {
            // A member of a group.
            if interrupt_member(cown, leader) {
                append_empty_request(cown);
            }
            return;
        }
        let interrupted = header.flags.interrupt();
        simulated::point();
        match interrupted {
            InterruptOutcome::Pending => {}
            InterruptOutcome::TookToken => schedule(interrupt_header::task_of(cown), home),
            InterruptOutcome::NeedsRequest => append_empty_request(cown),
        }
    }
}

/// Appends a request before which the state is interrupted.
///
/// # Safety
/// The cown is alive.
pub(super) unsafe fn append_empty_request(cown: LiveCown) {
    // SAFETY: the cown is alive, and keeps the leader of its group alive.
    unsafe {
        if cown.header().is_grouped() {
            call_after_queue::append(cown, None);
        } else {
            empty_request::append(cown);
        }
    }
}
