//! Frees memory that is no longer needed.
//!
//! After a burst of work, the memory that it needed is in the pool's depots. The last worker of a
//! runtime that falls asleep takes care of that: twice, with a pause before each, it asks the pool
//! to free what has not been needed since the previous time. Then it sleeps for good, so an idle
//! runtime uses no processor time.
//!
//! The pool belongs to the process, and so do these calls: runtimes that are idle at the same time
//! do not make them in immediate succession, or what a third one uses now and then would be freed.

use std::time::{Duration, Instant};

use coact_sync::pool;
use coact_sync::shim::process::Mutex;
use parking::Parker;

/// How long a runtime is idle before each call.
const PAUSE: Duration = Duration::from_millis(500);

/// The first call finds out what is there, the second what of it is not needed.
const LOOKS: u32 = 2;

/// The time of the last call by any runtime.
static LAST: Mutex<Option<Instant>> = Mutex::new(None);

/// Parks until there is a permit, or for at most this long. If that is long, and the runtime idle,
/// surplus memory is freed meanwhile.
pub(super) fn park(parker: &Parker, patience: Option<Duration>, is_idle: impl Fn() -> bool) {
    let mut patience = patience;
    for _ in 0..LOOKS {
        if patience.is_some_and(|patience| patience <= PAUSE) || !is_idle() {
            break;
        }
        if park_for(parker, PAUSE) {
            return;
        }
        look();
        patience = patience.map(|patience| patience - PAUSE);
    }
    match patience {
        None => parker.park(),
        Some(patience) => _ = park_for(parker, patience),
    }
}

/// Frees what has not been needed since the last call, unless that was just now.
fn look() {
    let now = Instant::now();
    let mut last = LAST.lock();
    if last.is_none_or(|last| now.saturating_duration_since(last) >= PAUSE / 2) {
        *last = Some(now);
        drop(last);
        pool::trim_surplus();
    }
}

/// Parks for at most this long; returns whether there was a permit.
#[cfg(not(loom))]
pub(super) fn park_for(parker: &Parker, time: Duration) -> bool {
    parker.park_timeout(time)
}

/// No worker runs in a model, and its parker has no clock.
#[cfg(loom)]
pub(super) fn park_for(parker: &Parker, _: Duration) -> bool {
    parker.park();
    true
}
