//! The counts of a cache.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counts of a cache since its state was created, and its sizes now: see
/// [`Counts`](crate::Counts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheCounts {
    /// Lookups that were answered at once: from an entry, or from a write that waits.
    pub hits: u64,
    /// Lookups that were not. Those that share a load are counted one by one.
    pub misses: u64,
    /// Loads begun. Since lookups share them, there are fewer than misses.
    pub loads: u64,
    /// Loads among them that were begun ahead of expiry: see
    /// [`refresh_after_write`](crate::CacheBuilder::refresh_after_write).
    pub refreshes: u64,
    /// Loads that failed, panicked or took too long.
    pub load_failures: u64,
    /// Gets refused because of [`max_loads`](crate::CacheBuilder::max_loads).
    pub refused_loads: u64,
    /// Entries that made room for others.
    pub evicted_for_room: u64,
    /// Entries that expired.
    pub expired: u64,
    /// Entries that were invalidated, removed, or replaced.
    pub replaced: u64,
    /// Values heavier than `max_weight`, which were not kept.
    pub too_heavy: u64,
    /// Writes that the store took, through or behind.
    pub writes: u64,
    /// Failed attempts to write.
    pub write_failures: u64,
    /// Writes behind that the store refused, or that were given up at the end of the runtime: each
    /// was passed to [`on_lost`](crate::WriteBehind::on_lost).
    pub lost_writes: u64,
    /// Entries now, with those that have expired and were not dropped yet.
    pub entries: usize,
    /// Their weight.
    pub weight: u64,
    /// Loads in flight now, stale ones among them.
    pub loading: usize,
    /// Keys with a write behind that waits or is in flight.
    pub waiting_writes: usize,
}

impl CacheCounts {
    /// The share of the lookups that were hits, from 0 to 1; 0 without lookups.
    #[must_use]
    pub fn hit_rate(&self) -> f64 {
        let all = self.hits + self.misses;
        if all == 0 { 0.0 } else { self.hits as f64 / all as f64 }
    }
}

/// A counter that readers in parallel raise as well.
#[derive(Default)]
pub(crate) struct LookupCounter(AtomicU64);

impl LookupCounter {
    #[inline]
    pub(crate) fn raise(&mut self) {
        *self.0.get_mut() += 1;
    }

    #[inline]
    pub(crate) fn raise_shared(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
