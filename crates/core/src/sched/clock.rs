//! The clock that the workers of a runtime measure by.

use std::time::{Duration, Instant};

/// The time since the runtime's start.
pub(crate) struct RuntimeClock(Instant);

impl RuntimeClock {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    /// The same in nanoseconds.
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
