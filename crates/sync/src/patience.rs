//! How long a thread looks for what may come any moment, before it does something dearer.

use std::cell::Cell;
use std::num::NonZero;
use std::{hint, thread};

use crate::shim::process::{AtomicUsize, Ordering};

/// How often a thread looks, at the most: a few microseconds, about what it costs to park a thread and to wake it.
const LOOKS: u32 = 128;

/// A thread whose looks were in vain looks for longer than a moment in one of this many waits.
const TRIES: u32 = 16;

/// How often a thread polls for something before it gives up: half as often after each failure, down to never, and as
/// often as at first in one wait of 16. Meant for a thread-local variable, one for each kind of thing.
///
/// ```
/// use coact_sync::patience::Patience;
///
/// thread_local!(static PATIENCE: Patience = const { Patience::new() });
/// let mut left = 3;
/// let found = PATIENCE.with(|patience| {
///     patience.look_for(|| {
///         left -= 1;
///         (left == 0).then_some("here")
///     })
/// });
/// // Where there is one processor only, nothing comes meanwhile.
/// assert!(found == Some("here") || left == 3);
/// ```
#[derive(Debug)]
pub struct Patience {
    looks: Cell<u32>,
    waits: Cell<u32>,
}

impl Patience {
    /// Starts with the most polls.
    #[allow(clippy::new_without_default, reason = "it is made in a constant")]
    pub const fn new() -> Self {
        Self { looks: Cell::new(LOOKS), waits: Cell::new(0) }
    }

    /// Polls, without yielding the processor, until there is something, or for some microseconds.
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

    /// How often to look this time.
    fn begin(&self) -> u32 {
        let waits = self.waits.get().wrapping_add(1);
        self.waits.set(waits);
        if waits.is_multiple_of(TRIES) { LOOKS } else { self.looks.get() }
    }
}

/// How many processors there are, as far as that is known; asked for once.
fn processors() -> usize {
    static KNOWN: AtomicUsize = AtomicUsize::new(0);
    // ORDERING: Relaxed, both. Everybody finds the same figure.
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

    fn looks_of(patience: &Patience, comes_at: u32) -> u32 {
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
        let patience = Patience::new();
        let never = u32::MAX;
        let in_vain: Vec<u32> = (0..10).map(|_| looks_of(&patience, never)).collect();
        assert_eq!(in_vain, [128, 64, 32, 16, 8, 4, 2, 1, 0, 0]);
        let next: u32 = (0..6).map(|_| looks_of(&patience, never)).sum();
        assert_eq!(next, 128, "one of sixteen waits looks as at first");
        // Found in such a one.
        (0..15).for_each(|_| assert_eq!(looks_of(&patience, never), 0));
        assert_eq!(looks_of(&patience, 5), 5);
        assert_eq!(looks_of(&patience, never), 128);
    }
}
