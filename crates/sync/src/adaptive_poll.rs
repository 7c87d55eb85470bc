//! Adaptive polling: how long a thread polls for something before it parks.

use std::cell::Cell;
use std::num::NonZero;
use std::{hint, thread};

use crate::shim::process::{AtomicUsize, Ordering};

/// The most polls in one wait: a few microseconds, about the cost of parking and waking a thread.
const LOOKS: u32 = 128;

/// One wait in this many polls for the full time, even after failures.
const TRIES: u32 = 16;

/// Adapts how often a thread polls before it gives up: the number halves after each failure, down
/// to zero, and one wait in 16 polls as often as at first. Meant for a thread-local variable, one
/// per kind of event.
///
/// ```
/// use coact_sync::adaptive_poll::AdaptivePoll;
///
/// thread_local!(static POLL: AdaptivePoll = const { AdaptivePoll::new() });
/// let mut left = 3;
/// let found = POLL.with(|poll| {
///     poll.look_for(|| {
///         left -= 1;
///         (left == 0).then_some("here")
///     })
/// });
/// // With a single processor nothing arrives meanwhile.
/// assert!(found == Some("here") || left == 3);
/// ```
#[derive(Debug)]
pub struct AdaptivePoll {
    looks: Cell<u32>,
    waits: Cell<u32>,
}

impl AdaptivePoll {
    /// Creates a state that starts with the most polls.
    #[allow(clippy::new_without_default, reason = "it is made in a constant")]
    pub const fn new() -> Self {
        Self { looks: Cell::new(LOOKS), waits: Cell::new(0) }
    }

    /// Polls `take` without yielding the processor until it returns something, or for some
    /// microseconds.
    pub fn look_for<R>(&self, mut take: impl FnMut() -> Option<R>) -> Option<R> {
        if processors() == 1 {
            return None;
        }
        let found = (0..self.begin()).find_map(|_| {
            hint::spin_loop();
            take()
        });
        self.looks.set(if found.is_some() { LOOKS } else { self.looks.get() / 2 });
        found
    }

    /// Returns the number of polls for this wait.
    fn begin(&self) -> u32 {
        let waits = self.waits.get().wrapping_add(1);
        self.waits.set(waits);
        if waits.is_multiple_of(TRIES) { LOOKS } else { self.looks.get() }
    }
}

/// The number of processors, as far as it is known; queried once.
fn processors() -> usize {
    static KNOWN: AtomicUsize = AtomicUsize::new(0);
    // ORDERING: Relaxed, both: every thread finds the same figure.
    match KNOWN.load(Ordering::Relaxed) {
        0 => {
            let found = thread::available_parallelism().map_or(usize::MAX, NonZero::get);
            KNOWN.store(found, Ordering::Relaxed);
            found
        }
        known => known,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn looks_of(patience: &AdaptivePoll, comes_at: u32) -> u32 {
        let mut looks = 0;
        let _ = patience.look_for(|| {
            looks += 1;
            (looks == comes_at).then_some(())
        });
        looks
    }

    #[test]
    fn it_wears_off_and_comes_back() {
        if processors() == 1 {
            return;
        }
        let patience = AdaptivePoll::new();
        let never = u32::MAX;
        let in_vain: Vec<u32> = (0..10).map(|_| looks_of(&patience, never)).collect();
        assert_eq!(in_vain, [128, 64, 32, 16, 8, 4, 2, 1, 0, 0]);
        let next: u32 = (0..6).map(|_| looks_of(&patience, never)).sum();
        assert_eq!(next, 128, "one of sixteen waits looks as at first");
        // Found in one of these.
        (0..15).for_each(|_| assert_eq!(looks_of(&patience, never), 0));
        assert_eq!(looks_of(&patience, 5), 5);
        assert_eq!(looks_of(&patience, never), 128);
    }
}
