//! The event bus: what happens in a runtime, published to subscribers.

mod bus;
mod counts;
mod kinds;
mod publish;

use std::fmt;

use coact_core::runtime::RuntimeHandle;

use crate::runtime_singleton::RuntimeService;
use crate::topic::{Subscription, Topic};

use bus::Bus;
pub use kinds::{
    ActorFailed, ActorRestarted, ActorStarted, ActorStopped, DeadLetter, DropCause, EventCounts,
    LateReply, MessageDropped,
};
pub(crate) use publish::{Subject, actor_started, actor_stopped, late_reply, message_dropped};

/// Returns the events of the current runtime and the others of its group.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, spawn};
/// use coact::pubsub::{ActorStopped, events};
///
/// struct Worker;
/// impl Actor for Worker {}
///
/// let worker = spawn(Worker);
/// let (tell, told) = std::sync::mpsc::channel();
/// let id = worker.id();
/// let _subscription = events().subscribe_fn(move |stopped: ActorStopped| {
///     if stopped.actor == id {
///         let _ = tell.send(stopped.reason);
///     }
/// });
/// worker.stop()?;
/// assert_eq!(told.recv()?, coact::actor::ExitReason::Shutdown);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn events() -> Events {
    Events(Bus::current())
}

/// The events of a runtime and the others of its group: those of the runtime itself
/// ([`DeadLetter`], [`ActorStarted`], [`ActorStopped`], [`ActorFailed`], [`ActorRestarted`],
/// [`MessageDropped`], [`LateReply`]), and any others that programs publish, by type.
///
/// An event is published on the thread where it happens, in the middle of what happens: closures
/// that subscribe must be short, and must not block. An actor that subscribes receives it as a
/// message.
///
/// **Cost.** An event without subscribers costs one load; if it is [counted](Self::counts), also
/// one addition. Sending, asking and handling messages that arrive are not events.
#[doc(alias = "EventStream")]
#[derive(Clone, Copy)]
pub struct Events(&'static Bus);

impl Events {
    /// Returns the events of another runtime.
    pub fn of(home: RuntimeHandle) -> Self {
        Self(Bus::of(home))
    }

    /// Calls a closure with each event of a type: see [`Topic::subscribe_fn`].
    pub fn subscribe_fn<E: Clone + Send + 'static>(
        self,
        call: impl Fn(E) + Send + Sync + 'static,
    ) -> Subscription {
        self.topic().subscribe_fn(call)
    }

    /// Publishes an event; returns the number of subscribers that received it.
    pub fn publish<E: Clone + Send + 'static>(self, event: E) -> usize {
        self.topic().publish(event)
    }

    /// Returns the topic to which the events of a type are published.
    pub fn topic<E: Clone + Send + 'static>(self) -> Topic<E> {
        self.0.topic()
    }

    /// Returns how often things have gone wrong so far, whether subscribed to or not.
    pub fn counts(self) -> EventCounts {
        self.0.counts.get()
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Events").field(&self.counts()).finish()
    }
}
