//! The streams that an actor reads, as its state sees them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coact_core::promise::Resolver;
use coact_sync::shim::process::Mutex;

/// A stream that an actor reads. Dropping this handle does not stop the stream.
#[derive(Clone)]
pub struct AttachedStream(pub(crate) Arc<Mutex<Option<Resolver<StreamStop>>>>);

/// Why reading a stream stops before its end.
pub(crate) enum StreamStop {
    Detached,
    /// The state that attached the stream is gone.
    StateGone,
}

impl AttachedStream {
    /// Stops reading, and drops the stream. Items that were polled before are still handled,
    /// followed by the end: [`StreamEnd::Detached`](crate::stream::StreamEnd::Detached). Returns
    /// whether this came in time, before the stream had ended.
    pub fn detach(&self) -> bool {
        self.stop(StreamStop::Detached)
    }

    /// Returns whether the stream is no longer read.
    pub fn has_ended(&self) -> bool {
        self.0.lock().as_ref().is_none_or(Resolver::is_abandoned)
    }

    fn stop(&self, why: StreamStop) -> bool {
        let resolver = self.0.lock().take();
        // The reader drops the other end when there is nothing more to read.
        let Some(resolver) = resolver.filter(|resolver| !resolver.is_abandoned()) else {
            return false;
        };
        resolver.resolve(why);
        true
    }
}

impl fmt::Debug for AttachedStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttachedStream").field("ended", &self.has_ended()).finish()
    }
}

/// The streams that a state of an actor has attached and whose end it has not seen. They are
/// detached when it is dropped.
#[derive(Default)]
pub(crate) struct AttachedStreams(pub(crate) BTreeMap<FeedNumber, AttachedStream>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FeedNumber(u64);

impl FeedNumber {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // ORDERING: Relaxed. The numbers need only be distinct.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl AttachedStreams {
    pub(crate) fn has(&self, number: FeedNumber) -> bool {
        self.0.contains_key(&number)
    }

    /// Returns whether the stream was there.
    pub(crate) fn forget(&mut self, number: FeedNumber) -> bool {
        self.0.remove(&number).is_some()
    }
}

impl Drop for AttachedStreams {
    fn drop(&mut self) {
        for attached in self.0.values() {
            attached.stop(StreamStop::StateGone);
        }
    }
}
