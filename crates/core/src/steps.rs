//! Waiting for a thread that is between two steps of a protocol, and waits for nobody there.

use coact_sync::backoff::Backoff;

use crate::simulated;

/// Looks until there is something to be seen. The look has no effects.
#[cold]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn wait_for<R>(look: impl Fn() -> Option<R>) -> R {
    let mut backoff = Backoff::new();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        // A simulated thread is between two steps only if it was left there.
        if !simulated::give_way(&|| look().is_some()) {
            backoff.snooze();
        }
    }
}
