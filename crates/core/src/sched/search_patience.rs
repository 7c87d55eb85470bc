//! Decides how long a worker goes on looking for tasks before it sleeps. README.md, "Sleeping". All
//! times are in nanoseconds.

use std::cell::Cell;

/// A sleep that was shorter than this was hardly worth it: waking a thread takes 3 to 30 µs.
const SHORT_SLEEP: u64 = 100_000;
/// The longest time for which a worker goes on looking.
const LONGEST: u64 = 50_000;
/// What is shorter than this is no longer tried.
const SHORTEST: u64 = 1_000;

/// How long a worker goes on looking: about as long as its last short sleep took. So a thread that
/// asks again as soon as it has its answer finds the worker awake, while a worker that sleeps for
/// long soon goes to sleep at once.
///
/// With a sleep and a wake-up that take as long as the looking, this takes at most twice as long as
/// the best that could be done by knowing when the next task comes (Karlin, Li, Manasse and Owicki,
/// *Empirical studies of competitive spinning for a shared-memory multiprocessor*, 1991).
#[derive(Debug, Default)]
pub(super) struct SearchPatience(Cell<u64>);

impl SearchPatience {
    /// For how long to look; 0 if not at all.
    pub(super) fn lasts(&self) -> u64 {
        self.0.get()
    }

    /// Learns from a sleep of this length.
    pub(super) fn note_sleep(&self, took: u64) {
        let next = if took < SHORT_SLEEP { took.min(LONGEST) } else { self.0.get() / 2 };
        self.0.set(if next < SHORTEST { 0 } else { next });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{LONGEST, SHORT_SLEEP, SearchPatience};

    #[test]
    fn it_lasts_as_long_as_a_short_sleep_and_wears_off() {
        let patience = SearchPatience::default();
        assert_eq!(patience.lasts(), 0);
        patience.note_sleep(20_000);
        assert_eq!(patience.lasts(), 20_000);
        patience.note_sleep(SHORT_SLEEP - 1);
        assert_eq!(patience.lasts(), LONGEST);
        let lengths: Vec<u64> = (0..7)
            .map(|_| {
                patience.note_sleep(SHORT_SLEEP);
                patience.lasts()
            })
            .collect();
        assert_eq!(lengths, [25_000, 12_500, 6_250, 3_125, 1_562, 0, 0]);
    }
}
