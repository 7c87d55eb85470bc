//! What a cache drops, and why.

use std::sync::Arc;

/// Why a cache has dropped an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RemovalCause {
    /// Its time was over: [`time_to_live`](crate::CacheBuilder::time_to_live),
    /// [`expire_after`](crate::CacheBuilder::expire_after) or
    /// [`time_to_idle`](crate::CacheBuilder::time_to_idle).
    Expired,
    /// It was removed or invalidated, a refresh has found no value any more, or its write behind is
    /// lost.
    Explicit,
    /// Another value was put or loaded in its place.
    Replaced,
    /// There was no room: [`max_entries`](crate::CacheBuilder::max_entries) or
    /// [`max_weight`](crate::CacheBuilder::max_weight).
    Size,
}

impl RemovalCause {
    /// Whether the bounds of the cache are the reason, and not a message.
    ///
    /// ```
    /// use coact::cache::RemovalCause;
    ///
    /// assert!(RemovalCause::Size.was_evicted() && RemovalCause::Expired.was_evicted());
    /// assert!(!RemovalCause::Replaced.was_evicted() && !RemovalCause::Explicit.was_evicted());
    /// ```
    #[must_use]
    pub fn was_evicted(self) -> bool {
        matches!(self, RemovalCause::Expired | RemovalCause::Size)
    }
}

/// An entry that a cache has dropped: see
/// [`eviction_listener`](crate::CacheBuilder::eviction_listener).
#[derive(Debug)]
#[non_exhaustive]
pub struct RemovedEntry<K, V> {
    /// The key.
    pub key: K,
    /// Its value, as it was kept.
    pub value: V,
    /// Why.
    pub cause: RemovalCause,
}

pub(crate) type RemovalListener<K, V> = Arc<dyn Fn(RemovedEntry<K, V>) + Send + Sync>;
