//! Calls of a state, by a thread that has exclusive access to it.

use super::interruptible::Interruptible;
use super::layout;
use crate::cown::layout::CownBox;
use crate::panic::drop_quietly;
use crate::queue::header::Flags;
use crate::queue::interrupt_header::Gate;
use crate::queue::live_cown::LiveCown;
use crate::task::RunMode;

/// Calls the state.
///
/// # Safety
/// The caller has exclusive access to the state, which is an interruptible `T`.
pub(super) unsafe fn on_interrupt<T: Interruptible>(cown: LiveCown, mode: RunMode) -> Gate {
    let call = |state: &mut T, shared: &T::SharedState| match mode {
        RunMode::Run => state.on_interrupt(shared),
        RunMode::Cancel => {
            state.cancel(shared);
            Gate::Open
        }
    };
    // SAFETY: the conditions are those of this function.
    unsafe { call_state(cown, call) }
}

/// Lets the state take a turn of its own.
///
/// # Safety
/// See [`on_interrupt`].
pub(super) unsafe fn take_turn<T: Interruptible>(cown: LiveCown) -> Gate {
    // SAFETY: the conditions are those of this function.
    unsafe { call_state::<T>(cown, |state, shared| state.take_turn(shared)) }
}

/// # Safety
/// See [`on_interrupt`].
pub(super) unsafe fn call_state<T: Interruptible>(
    cown: LiveCown,
    call: impl FnOnce(&mut T, &T::SharedState) -> Gate,
) -> Gate {
    let mut gate = Gate::Open;
    if !cown.header().is_within_reach() {
        // The leftovers of a pump are cancelled by other threads, which must not access the state.
        return gate;
    }
    // SAFETY: the caller has exclusive access to the state, which is a `T`.
    drop_quietly(|| unsafe {
        let state = &mut *CownBox::<T>::state(cown);
        let shared = layout::shared_state::<T>(cown).as_ref();
        gate = call(state, shared);
    });
    // A closed state has no turns of its own.
    let is_over = gate == Gate::Reserved && cown.header().has(Flags::CLOSED);
    if is_over { Gate::Open } else { gate }
}
