//! Streams that an actor reads, as its state knows them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coact_core::promise::Resolver;
use coact_sync::shim::process::Mutex;

/// A stream that an actor reads. Dropping this lets it go on.
#[derive(Clone)]
pub struct Attached(pub(crate) Arc<Mutex<Option<Resolver<Stop>>>>);

/// Why a stream is left before its end.
pub(crate) enum Stop {
    Detached,
    /// The state that has attached it is gone.
    StateGone,
}

impl Attached {
    /// Stops reading, and drops the stream. Items that were polled before are still handled, and then
    /// the end is told: [`StreamEnd::Detached`](crate::stream::StreamEnd::Detached). Returns whether that came in time: whether the
    /// stream had not ended.
    pub fn detach(&self) -> bool {
        self.stop(Stop::Detached)
    }

    /// Whether the stream is read no more.
    pub fn has_ended(&self) -> bool {
        self.0.lock().as_ref().is_none_or(Resolver::is_abandoned)
    }

    fn stop(&self, why: Stop) -> bool {
        let resolver = self.0.lock().take();
        // The reader lets go of the other end when there is no more to read.
        let Some(resolver) = resolver.filter(|resolver| !resolver.is_abandoned()) else {
            return false;
        };
        resolver.resolve(why);
        true
    }
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attached").field("ended", &self.has_ended()).finish()
    }
}

/// The streams that a state of an actor has attached, and that have not told their end. They are
/// left when it is dropped.
#[derive(Default)]
pub(crate) struct Feeds(pub(crate) BTreeMap<FeedNumber, Attached>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FeedNumber(u64);

impl FeedNumber {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // ORDERING: Relaxed. Only distinct.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Feeds {
    pub(crate) fn has(&self, number: FeedNumber) -> bool {
        self.0.contains_key(&number)
    }

    /// Returns whether it was there.
    pub(crate) fn forget(&mut self, number: FeedNumber) -> bool {
        self.0.remove(&number).is_some()
    }
}

impl Drop for Feeds {
    fn drop(&mut self) {
        for attached in self.0.values() {
            attached.stop(Stop::StateGone);
        }
    }
}
