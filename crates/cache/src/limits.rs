//! The limits of a cache: how much it keeps, and for how long.

use std::time::Duration;

/// The limits of a cache. `None`: no limit.
#[derive(Clone, Default)]
pub(crate) struct CacheLimits {
    pub(crate) max_entries: Option<usize>,
    pub(crate) max_weight: Option<u64>,
    pub(crate) time_to_live: Option<Duration>,
    pub(crate) time_to_idle: Option<Duration>,
    /// For how long it is kept that there is no value.
    pub(crate) negative_time_to_live: Option<Duration>,
    /// After what time a value is loaded again when it is used.
    pub(crate) refresh_after_write: Option<Duration>,
    /// Whether values have times of their own.
    pub(crate) has_expiry: bool,
    /// Whether it matters what time it is, as [`needs_clock`](Self::needs_clock) has found.
    pub(crate) is_timed: bool,
    /// Whether entries that were used once go before those that were used again.
    pub(crate) is_scan_resistant: bool,
}

impl CacheLimits {
    /// How many of the entries may be safe from those that are used once: four fifths.
    pub(crate) fn max_protected(&self) -> (usize, u64) {
        let entries = self.max_entries.map_or(usize::MAX, |max| max - max.div_ceil(5));
        let weight = self.max_weight.map_or(u64::MAX, |max| max - max.div_ceil(5));
        (entries, weight)
    }

    /// Whether it matters what time it is.
    pub(crate) fn needs_clock(&self) -> bool {
        let lives = [self.time_to_live, self.time_to_idle, self.negative_time_to_live];
        let times = lives.into_iter().chain([self.refresh_after_write]);
        self.has_expiry || times.flatten().next().is_some()
    }
}
