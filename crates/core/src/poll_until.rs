//! Waiting for a thread that is between two steps of a protocol and does not itself wait there.

use coact_sync::backoff::SpinBackoff;

use crate::simulated;

/// Polls until `look` returns something. `look` must not have side effects.
#[cold]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn poll_until_some<R>(look: impl Fn() -> Option<R>) -> R {
    poll_until_some_or_report(look, || ())
}

/// The same; calls `say_long` once if the wait takes long: that thread seems to have lost its
/// processor.
#[cold]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn poll_until_some_or_report<R>(
    look: impl Fn() -> Option<R>,
    say_long: impl FnOnce(),
) -> R {
    let mut backoff = SpinBackoff::new();
    let mut say_long = Some(say_long);
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        // A simulated thread is between two steps only if it was suspended there.
        if !simulated::give_way(&|| look().is_some()) {
            backoff.snooze();
            if backoff.is_patient()
                && let Some(say_long) = say_long.take()
            {
                say_long();
            }
        }
    }
}
