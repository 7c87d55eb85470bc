//! The event bus: what happens in a runtime, published to subscribers.

mod bus;
mod counts;
mod kinds;
mod publish;
mod undelivered;

use std::fmt;

use coact_core::runtime::RuntimeHandle;

use crate::message::Message;
use crate::runtime_singleton::RuntimeService;
use crate::topic::{Subscription, Topic};

use bus::EventBus;
pub use kinds::{
    ActorFailed, ActorRestarted, ActorStarted, ActorStopped, DeadLetter, DropCause, EventCounts,
    LateReply, MessageDropped,
};
pub(crate) use publish::{
    EventSubject, actor_started, actor_stopped, drop_undelivered, late_reply, message_dropped,
};
pub use undelivered::{HookTaken, UndeliveredCause, UndeliveredMessage};

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
    Events(EventBus::current())
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
pub struct Events(&'static EventBus);

impl Events {
    /// Returns the events of another runtime.
    pub fn of(home: RuntimeHandle) -> Self {
        Self(EventBus::of(home))
    }

    /// Calls a closure with each event of a type: see [`Topic::subscribe_fn`].
    pub fn subscribe_fn<E: Clone + Send + 'static>(
        self,
        call: impl Fn(E) + Send + Sync + 'static,
    ) -> Subscription {
        self.topic().subscribe_fn(call)
    }

    /// Hands each message of this type that is not delivered to a closure, until the
    /// [`Subscription`] is dropped: each [dead letter](DeadLetter), and each one that a mailbox
    /// [drops](MessageDropped). To keep them, send them again, or log what they say.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, Message, spawn};
    /// use coact::pubsub::{UndeliveredCause, UndeliveredMessage, events};
    ///
    /// struct Order(u32);
    /// impl Message for Order { type Reply = (); }
    ///
    /// struct Desk;
    /// impl Actor for Desk {}
    /// impl Handler<Order> for Desk {
    ///     fn handle(&mut self, _: Order, _: &mut Context<Self>) {}
    /// }
    ///
    /// let (lost, orders) = std::sync::mpsc::channel();
    /// let _hook = events().on_undelivered(move |order: UndeliveredMessage<Order>| {
    ///     let _ = lost.send(order); // The message itself, with its receiver and the cause.
    /// })?;
    ///
    /// let desk = spawn(Desk);
    /// desk.suspend()?;
    /// desk.send(Order(7))?;
    /// desk.stop()?;
    /// let order = orders.recv()?;
    /// assert_eq!((order.message.0, order.actor), (7, desk.id()));
    /// assert!(matches!(order.cause, UndeliveredCause::Ended(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// **Where and when.** The closure is called where the message is lost: for a dead letter on
    /// the actor's host, for one that a mailbox drops on the sender's thread, or the actor's. The
    /// dead letters of an actor come in the order in which they waited, and all that were sent
    /// before its end come before that is [told](crate::Addr::ended), with the exceptions there. It
    /// is called behind the event, and before the ask of the message fails. As for all events, it
    /// must be short and must not block; a panic is reported, and costs that message.
    ///
    /// **What does not come here.** What a send gives back; messages whose ask was given up before
    /// their turn; what waits in a runtime that is dropped, or past the deadline of its shutdown,
    /// and is [cancelled](coact_core::Broken::Cancelled) there; and what is lost while a hook runs,
    /// on its thread and within that call, so that a hook that sends to a full mailbox is not
    /// called without end.
    ///
    /// **Cost.** Nothing where no message is lost, and nothing is kept: the closure owns the
    /// message. It stays alive, with what it owns, until the subscription is dropped. A lost
    /// message takes one load if no type has a hook, and otherwise a shared lock and a search.
    ///
    /// # Errors
    /// Fails if messages of this type have a hook: a message has one owner.
    #[doc(alias = "dead letters")]
    pub fn on_undelivered<M: Message>(
        self,
        hook: impl Fn(UndeliveredMessage<M>) + Send + Sync + 'static,
    ) -> Result<Subscription, HookTaken> {
        self.0.hooks.set(Box::new(hook))
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
