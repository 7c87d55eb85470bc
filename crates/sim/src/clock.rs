//! Virtual time, which passes only when the driver says so.

use std::time::Duration;

/// A clock that stands still until it is advanced, and never runs backwards.
///
/// A driver reads [`now`](Self::now) for its program, and when every task waits for a timer it
/// advances the clock straight to the earliest deadline. A program that sleeps for an hour thus
/// takes no time to test, and behaves the same in every run.
///
/// ```
/// # mod coact { pub use coact_sim as sim; }
/// use coact::sim::VirtualClock;
/// use std::time::Duration;
///
/// let mut clock = VirtualClock::new();
/// assert_eq!(clock.advance_to(5_000), Duration::from_nanos(5_000));
/// assert_eq!(clock.advance_to(2_000), Duration::ZERO); // already past: stays
/// assert_eq!(clock.now(), 5_000);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VirtualClock {
    nanos: u64,
}

impl VirtualClock {
    /// Creates a clock at zero.
    pub const fn new() -> Self {
        VirtualClock { nanos: 0 }
    }

    /// Nanoseconds since the start of the run.
    pub const fn now(&self) -> u64 {
        self.nanos
    }

    /// Returns the instant `delay` from now, saturating at the end of time (584 years).
    pub fn after(&self, delay: Duration) -> u64 {
        let delay = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        self.nanos.saturating_add(delay)
    }

    /// Advances the clock to `instant` and returns by how much. Does nothing if that has passed.
    pub fn advance_to(&mut self, instant: u64) -> Duration {
        let moved = instant.saturating_sub(self.nanos);
        self.nanos += moved;
        Duration::from_nanos(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_deadline_beyond_the_end_of_time_is_the_end_of_time() {
        let mut clock = VirtualClock::new();
        clock.advance_to(7);
        assert_eq!(clock.after(Duration::from_nanos(3)), 10);
        assert_eq!(clock.after(Duration::MAX), u64::MAX);
        clock.advance_to(u64::MAX);
        assert_eq!(clock.after(Duration::from_nanos(1)), u64::MAX);
    }

    proptest! {
        #[test]
        fn never_runs_backwards(instants: Vec<u64>) {
            let mut clock = VirtualClock::new();
            for instant in instants {
                let before = clock.now();
                let moved = clock.advance_to(instant);
                prop_assert_eq!(clock.now(), before.max(instant));
                prop_assert_eq!(u128::from(clock.now() - before), moved.as_nanos());
            }
        }
    }
}
