//! The subscribers of a topic, and how a message reaches one of them.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use coact_core::cown::Deep;
use coact_core::internals::CatchDrop;
use coact_sync::shim::process::RwLock;

use super::pattern::PathPattern;
use super::subscription::UntypedTopic;
use crate::id::ActorId;

pub(super) struct TopicChannel<M: 'static> {
    /// The number of subscribers: the only value that publishing to none reads.
    pub(super) listening: AtomicUsize,
    pub(super) subscribers: RwLock<SubscriberList<M>>,
}

/// The subscribers of a topic. Adding or removing one takes logarithmic time; nothing is published
/// under the lock.
pub(super) struct SubscriberList<M: 'static> {
    /// By their numbers, which increase.
    pub(super) all: BTreeMap<u64, Arc<Subscriber<M>>>,
    /// Created by the first publication after a change.
    pub(super) snapshot: Option<SubscriberSnapshot<M>>,
}

/// The subscribers at some moment.
pub(super) type SubscriberSnapshot<M> = Arc<[Arc<Subscriber<M>>]>;

pub(super) struct Subscriber<M: 'static> {
    pub(super) id: u64,
    /// The paths of a [`TopicTree`](super::TopicTree) that it subscribes to.
    pub(super) pattern: Option<PathPattern>,
    /// May own another topic.
    pub(super) deliver: CatchDrop<Deep<DeliveryFn<M>>>,
}

/// Delivers a message; with the subscriber's number, possibly later.
pub(crate) type DeliveryFn<M> = Box<dyn Fn(M, Option<u64>) -> DeliveryOutcome + Send + Sync>;

pub(crate) enum DeliveryOutcome {
    Taken,
    /// The subscriber, if it is an actor, has no room for it.
    Missed(Option<ActorId>),
    /// The subscriber has ended; its number, if the delivery was deferred.
    Ended(Option<u64>),
    /// It waits for room.
    Later(Pin<Box<dyn Future<Output = DeliveryOutcome> + Send>>),
}

impl<M: 'static> Default for TopicChannel<M> {
    fn default() -> Self {
        let list = SubscriberList { all: BTreeMap::new(), snapshot: None };
        Self { listening: AtomicUsize::new(0), subscribers: RwLock::new(list) }
    }
}

impl<M: 'static> TopicChannel<M> {
    pub(super) fn snapshot(&self) -> SubscriberSnapshot<M> {
        if let Some(snapshot) = &self.subscribers.read().snapshot {
            return Arc::clone(snapshot);
        }
        let mut list = self.subscribers.write();
        let SubscriberList { all, snapshot } = &mut *list;
        Arc::clone(snapshot.get_or_insert_with(|| all.values().cloned().collect()))
    }

    /// The change must return what it removes, so that it is dropped without the lock: its
    /// destructor may be user code.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&mut BTreeMap<u64, Arc<Subscriber<M>>>) -> T,
    ) {
        let before = {
            let mut list = self.subscribers.write();
            let removed = change(&mut list.all);
            // ORDERING: Relaxed. The list itself is read under the lock.
            self.listening.store(list.all.len(), Ordering::Relaxed);
            (removed, list.snapshot.take())
        };
        drop(before);
    }
}

impl<M: Send + 'static> UntypedTopic for TopicChannel<M> {
    fn unsubscribe(&self, id: u64) {
        self.change(|all| all.remove(&id));
    }
}

/// Returns the number of a new subscriber.
pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // ORDERING: Relaxed. The numbers are distinct, and increase for each thread.
    NEXT.fetch_add(1, Ordering::Relaxed)
}

pub(super) fn to_closure<M>(call: impl Fn(M) + Send + Sync + 'static) -> DeliveryFn<M> {
    Box::new(move |message, _| {
        call(message);
        DeliveryOutcome::Taken
    })
}
