//! Handles that the core takes for the time of a call.

use crate::cown::handle::Cown;
use crate::interrupt::interruptible::Interruptible;
use crate::panic::drop_quietly;

/// Gives up a temporary handle. If it has become the last one, tells the owner of the state.
pub(in crate::interrupt) fn give_back<T: Interruptible>(handle: Cown<T>) {
    if let Some(last) = handle.drop_unless_last() {
        drop_quietly(move || T::unreachable(last));
    }
}
