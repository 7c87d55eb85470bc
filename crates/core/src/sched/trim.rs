//! Giving back memory that nobody needs any more.
//!
//! What a burst of work has needed lies in the pool's depots when the burst is over. The last worker of a
//! runtime that falls asleep looks after it: twice, a pause apart, it asks the pool to give back what has not
//! been needed since the look before. Then it sleeps for good, so an idle runtime uses no processor time.
//!
//! The pool belongs to the process, and so do the looks: runtimes that are idle at the same time do not look
//! one directly after the other, or what a third one uses from time to time would be given back.

use std::time::{Duration, Instant};

use coact_sync::pool;
use coact_sync::shim::process::Mutex;
use parking::Parker;

/// How long a runtime is idle before each look.
const PAUSE: Duration = Duration::from_millis(500);

/// After the first look it is known what is there, after the second what of it is not needed.
const LOOKS: u32 = 2;

/// When some runtime looked.
static LAST: Mutex<Option<Instant>> = Mutex::new(None);

/// Parks until there is a permit, or for so long at the most. If that is long, and the runtime idle, surplus
/// memory is given back meanwhile.
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

/// Gives back what has not been needed since the last look, unless that was just now.
fn look() {
    let now = Instant::now();
    let mut last = LAST.lock();
    if last.is_none_or(|last| now.saturating_duration_since(last) >= PAUSE / 2) {
        *last = Some(now);
        drop(last);
        pool::trim_surplus();
    }
}

/// Parks for so long at the most; returns whether there was a permit.
#[cfg(not(loom))]
pub(super) fn park_for(parker: &Parker, time: Duration) -> bool {
    parker.park_timeout(time)
}

/// In a model no worker runs, and a parker knows no time.
#[cfg(loom)]
pub(super) fn park_for(parker: &Parker, _: Duration) -> bool {
    parker.park();
    true
}
