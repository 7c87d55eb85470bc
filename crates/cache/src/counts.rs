//! What a cache has counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a cache has counted since its state was made, and how much it has now: see [`Counts`](crate::Counts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheCounts {
    /// Lookups that were answered at once: from an entry, or from a write that waits.
    pub hits: u64,
    /// Lookups that were not: each asker's, also of those who have shared a load.
    pub misses: u64,
    /// Loads that were begun. With single flight there are fewer of them than misses.
    pub loads: u64,
    /// Those of them that were begun ahead of expiry: see
    /// [`refresh_after_write`](crate::CacheBuilder::refresh_after_write).
    pub refreshes: u64,
    /// Loads that have failed, panicked, or taken too long.
    pub load_failures: u64,
    /// Gets that were refused since [as many loads as may be](crate::CacheBuilder::max_loads) were
    /// under way.
    pub refused_loads: u64,
    /// Entries that made room for others.
    pub evicted_for_room: u64,
    /// Entries whose time was over.
    pub expired: u64,
    /// Entries that were invalidated, removed, or replaced.
    pub replaced: u64,
    /// Values that were heavier than the whole cache may be, and were not kept.
    pub too_heavy: u64,
    /// Writes that the store has taken, of this cache: through, or behind.
    pub writes: u64,
    /// Attempts to write that have failed.
    pub write_failures: u64,
    /// Writes behind that were refused by the store, or given up at the end of the runtime: each was told to
    /// [`on_lost`](crate::WriteBehind::on_lost).
    pub lost_writes: u64,
    /// Entries now. Those that have expired and were not dropped yet are among them.
    pub entries: usize,
    /// What they weigh now.
    pub weight: u64,
    /// Loads under way now, those of which only the askers from before an invalidation are told
    /// among them.
    pub loading: usize,
    /// Keys whose write behind waits now, or is on its way.
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
