//! What the two ends of an actor's stream share: the items on their way, and who waits.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

use coact_core::internals::drop_quietly;
use coact_sync::shim::process::{Mutex, MutexGuard};

/// The identity of an [`ActorStream`](super::ActorStream); its [demands](super::Demand::stream)
/// have the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId(u64);

impl StreamId {
    pub(super) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // ORDERING: Relaxed. The numbers need only be distinct.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Why an [`ActorStream`](super::ActorStream) has no more items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OfferEnd {
    /// The producer finished it: [`Demand::finish`](super::Demand::finish).
    Finished,
    /// The producer dropped a demand without a single item for it: it has ended, panicked, was
    /// restarted, or has no more.
    Dropped,
}

/// Notifies the producer that the consumer is gone.
type GoneHook = Box<dyn FnOnce() + Send>;

pub(super) struct StreamBuffer<T> {
    pub(super) id: StreamId,
    pub(super) room: usize,
    pub(super) state: Mutex<BufferState<T>>,
}

pub(super) struct BufferState<T> {
    pub(super) items: VecDeque<T>,
    /// Whether there is a demand that is not exhausted.
    pub(super) demanded: bool,
    pub(super) end: Option<OfferEnd>,
    pub(super) consumer_gone: bool,
    pub(super) on_gone: Option<GoneHook>,
    pub(super) waker: Option<Waker>,
}

impl<T> StreamBuffer<T> {
    /// Sets the notification of the consumer's end, unless the stream ends first.
    pub(super) fn on_gone(&self, tell: GoneHook) {
        let mut state = self.state.lock();
        if state.consumer_gone && state.end.is_none() {
            drop(state);
            return tell();
        }
        let before = state.on_gone.replace(tell);
        drop(state);
        drop(before);
    }
}

impl<T> Default for BufferState<T> {
    fn default() -> Self {
        Self {
            items: VecDeque::new(),
            demanded: false,
            end: None,
            consumer_gone: false,
            on_gone: None,
            waker: None,
        }
    }
}

/// Wakes the consumer, if it waits, without the lock.
pub(super) fn wake<T>(mut state: MutexGuard<'_, BufferState<T>>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        // User code: a panic of the consumer must not affect the producer.
        drop_quietly(|| waker.wake());
    }
}
