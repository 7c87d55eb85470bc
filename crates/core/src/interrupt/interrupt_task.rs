//! The guard's task: what runs when an interrupted cown is granted.

use std::ptr::NonNull;

use super::interruptible::Interruptible;
use super::state_callbacks::{call_state, on_interrupt, take_turn};
use super::{empty_request, last_handle};
use crate::queue::grant::grant;
use crate::queue::header::Flags;
use crate::queue::interrupt_header::{
    self, CALLS_IN_A_ROW, Gate, InterruptGuard, is_ungated, try_park,
};
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use crate::sched::runtime_handle::mode_now;
use crate::sched::{Successor, schedule_last};
use crate::simulated;
use crate::task::{RunContext, RunMode, TaskPtr};

/// The number of turns of its own that it takes before that.
const TURNS_IN_A_ROW: u32 = 64;

/// Runs a guard's task: interrupts the state, then grants the cown or leaves the token.
///
/// # Safety
/// The task is that of the guard of a `T`, and has come with the token.
pub(super) unsafe fn run<T: Interruptible>(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    let guard: NonNull<InterruptGuard> = task.cast();
    // SAFETY: the request at the head, whose token this thread has, keeps the cown alive.
    let cown = unsafe { interrupt_header::header_of(guard) };
    for _ in 0..CALLS_IN_A_ROW {
        let header = cown.header();
        header.flags.begin_interrupt();
        simulated::point();
        // SAFETY: this thread has the token, and a request waits for it.
        let head = unsafe { LiveSlot::new(NonNull::new_unchecked((*guard.as_ptr()).head)) };
        // SAFETY: this thread has the token, and `head` is the head of the queue.
        let check = unsafe { last_handle::check_behind(head) };
        // SAFETY: with the token and no readers, this thread has exclusive access to the state.
        let gate = unsafe { call_and_take_turns::<T>(cown, context, check.is_some()) };
        if gate == Gate::Reserved {
            if header.is_interrupted() {
                continue;
            }
            break;
        }
        if gate == Gate::Open || is_ungated(header) {
            // SAFETY: this thread has the token, and passes it on. The check is the request behind
            // an empty one, which is granted the cown as in `release_to_next`, without another
            // interrupt; then this thread owns the empty one.
            unsafe {
                if let Some(check) = check
                    && header.flags.is_plain(context.home, Flags::INTERRUPT)
                {
                    empty_request::dismantle(head);
                    simulated::point();
                    return last_handle::run::<T>(check, context);
                }
                let mut successor = Successor::new(context.home);
                return match empty_request::pass_over(cown, head, context.home) {
                    Ok(next) => next,
                    Err(head) => {
                        grant(cown, head, &mut successor);
                        successor.take()
                    }
                };
            }
        }
        if try_park(header) {
            return None;
        }
    }
    // There are further interrupts, but other tasks need the worker, too. The token stays with the
    // task.
    schedule_last(task, cown.header().home());
    None
}

/// Calls the state, and lets it take turns of its own until there is an interrupt, or for a while.
/// `is_last`: the last-handle check comes next.
///
/// # Safety
/// See [`on_interrupt`].
unsafe fn call_and_take_turns<T: Interruptible>(
    cown: LiveCown,
    context: &RunContext,
    is_last: bool,
) -> Gate {
    // SAFETY: the caller has exclusive access to the state, so the cown is alive.
    unsafe {
        let mut gate = match mode_now(context) {
            RunMode::Run if is_last => {
                call_state::<T>(cown, |state, shared| state.on_last_interrupt(shared))
            }
            mode => on_interrupt::<T>(cown, mode),
        };
        for _ in 0..TURNS_IN_A_ROW {
            if gate != Gate::Reserved || cown.header().is_interrupted() {
                break;
            }
            gate = match mode_now(context) {
                RunMode::Run => take_turn::<T>(cown),
                RunMode::Cancel => on_interrupt::<T>(cown, RunMode::Cancel),
            };
        }
        gate
    }
}
