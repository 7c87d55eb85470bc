//! The topics of events, by type.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use coact_sync::shim::process::Mutex;

use super::counts::EventCounters;
use super::kinds::{
    ActorFailed, ActorRestarted, ActorStarted, ActorStopped, DeadLetter, LateReply, MessageDropped,
};
use super::undelivered::MessageHooks;
use crate::runtime_singleton::RuntimeService;
use crate::topic::Topic;

/// The event bus. The runtime's own events have fields of their own: publishing one without
/// subscribers takes no search and no lock.
#[derive(Default)]
pub(crate) struct EventBus {
    pub(super) started: Topic<ActorStarted>,
    pub(super) stopped: Topic<ActorStopped>,
    pub(super) failed: Topic<ActorFailed>,
    pub(super) restarted: Topic<ActorRestarted>,
    pub(super) dead_letters: Topic<DeadLetter>,
    pub(super) dropped: Topic<MessageDropped>,
    pub(super) late: Topic<LateReply>,
    pub(super) counts: EventCounters,
    pub(super) hooks: Arc<MessageHooks>,
    others: Mutex<HashMap<TypeId, Box<dyn Any + Send + Sync>>>,
}

impl RuntimeService for EventBus {}

impl EventBus {
    pub(super) fn topic<E: Clone + Send + 'static>(&self) -> Topic<E> {
        note_topic_of(TypeId::of::<E>());
        let own: [&dyn Any; 7] = [
            &self.started,
            &self.stopped,
            &self.failed,
            &self.restarted,
            &self.dead_letters,
            &self.dropped,
            &self.late,
        ];
        let own = own.into_iter().find_map(|topic| topic.downcast_ref::<Topic<E>>());
        own.cloned().unwrap_or_else(|| self.other())
    }

    fn other<E: Clone + Send + 'static>(&self) -> Topic<E> {
        let mut others = self.others.lock();
        let topic = others.entry(TypeId::of::<E>()).or_insert_with(|| Box::new(Topic::<E>::new()));
        topic.downcast_ref::<Topic<E>>().expect("kept by its type").clone()
    }
}

/// Whether the topics of actors' starts or stops were ever requested in this process: these events
/// are too frequent to look for subscribers each time.
static ARE_LIVES_WATCHED: AtomicBool = AtomicBool::new(false);

/// Returns whether an actor's start or stop may have subscribers.
#[inline]
pub(super) fn are_lives_watched() -> bool {
    // ORDERING: Relaxed. A subscriber that must see an event subscribed before, which synchronizes
    // by other means.
    ARE_LIVES_WATCHED.load(Ordering::Relaxed)
}

/// Notes that the topic of these events was requested.
fn note_topic_of(event: TypeId) {
    if [TypeId::of::<ActorStarted>(), TypeId::of::<ActorStopped>()].contains(&event) {
        // ORDERING: Relaxed. See `are_lives_watched`.
        ARE_LIVES_WATCHED.store(true, Ordering::Relaxed);
    }
}
