//! Publish and subscribe: each subscriber receives each message.

mod channel;
mod named;
mod path_topic;
mod pattern;
mod subscription;

use std::fmt;
use std::future::{Future, poll_fn};
use std::mem::take;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

use coact_core::cown::Deep;
use coact_core::internals::{CatchDrop, catch};

use crate::block_on::block_on_room;
use crate::id::ActorId;

pub(crate) use channel::{DeliveryFn, DeliveryOutcome, next_id};
use channel::{Subscriber, TopicChannel, to_closure};
pub(crate) use named::NamedTopics;
pub use named::topic;
pub use path_topic::TopicTree;
pub use pattern::BadPattern;
pub(crate) use pattern::PathPattern;
pub use subscription::Subscription;
pub(crate) use subscription::UntypedTopic;

/// A topic, to which messages of one type are published; clones are the same topic.
///
/// Each subscriber receives each message published after it has subscribed, and those of one
/// publisher in the order of publication. Concurrent publishers are not ordered: two subscribers
/// may see their messages in different orders.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context, Handler, Message, spawn};
/// use coact::pubsub::Topic;
///
/// #[derive(Clone)]
/// struct Price(u32);
/// impl Message for Price { type Reply = (); }
///
/// struct Highest(u32);
/// impl Actor for Highest {}
/// impl Handler<Price> for Highest {
///     fn handle(&mut self, price: Price, _: &mut Context<Self>) { self.0 = self.0.max(price.0); }
/// }
///
/// let prices = Topic::new();
/// let highest = spawn(Highest(0));
/// let subscription = prices.subscribe(highest.clone());
/// assert_eq!(prices.publish(Price(7)), 1);
/// drop(subscription);
/// assert_eq!(prices.publish(Price(9)), 0);
/// assert_eq!(coact::call(&highest, |highest| highest.0).wait(), Ok(7));
/// ```
///
/// **Cost.** Without subscribers, one relaxed load. Otherwise a shared lock for the time of a clone
/// of an `Arc`, and a clone of the message per subscriber; the last one receives the message
/// itself. The first message after a change lists the subscribers anew. Subscribing and
/// unsubscribing take logarithmic time; an actor that subscribes is
/// [monitored](crate::Addr::on_down), and is removed when it ends. For large payloads, publish
/// something that is cheap to clone, such as an `Arc`.
#[doc(alias = "PubSub")]
#[doc(alias = "broadcast")]
#[doc(alias = "pg")]
pub struct Topic<M: 'static>(Arc<TopicChannel<M>>);

/// The outcome of a publication: see [`Topic::publish_reporting`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PublishReport {
    /// How many subscribers received it.
    pub taken: usize,
    /// Those that had no room for it.
    pub missed: Vec<ActorId>,
}

impl<M: Clone + Send + 'static> Topic<M> {
    /// Creates a topic without subscribers, and without a name; see [`topic`] for named topics.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls a closure with the messages, on the publishers' threads, until the [`Subscription`] is
    /// dropped or cancelled. It must not block, and several publishers may call it at once. If it
    /// panics, that is reported, and it is still called the next time.
    pub fn subscribe_fn(&self, call: impl Fn(M) + Send + Sync + 'static) -> Subscription {
        self.enter(None, to_closure(call))
    }

    /// Publishes a message; returns how many subscribers received it.
    ///
    /// A panic of the message's `Clone` is reported, and one subscriber misses this message.
    pub fn publish(&self, message: M) -> usize {
        self.publish_with(|| message)
    }

    /// Publishes a message that is created only if there is a subscriber.
    pub fn publish_with(&self, make: impl FnOnce() -> M) -> usize {
        self.publish_where(|_| true, make)
    }

    /// Publishes like [`publish`](Self::publish), and returns which subscribers have missed the
    /// message.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, Message};
    /// use coact::actor::actor;
    /// use coact::mailbox::Mailbox;
    /// use coact::pubsub::Topic;
    ///
    /// #[derive(Clone)]
    /// struct Price(u32);
    /// impl Message for Price { type Reply = (); }
    /// struct Slow;
    /// impl Actor for Slow {}
    /// impl Handler<Price> for Slow {
    ///     fn handle(&mut self, _: Price, _: &mut Context<Self>) {}
    /// }
    ///
    /// let prices = Topic::new();
    /// let slow = actor(Slow).mailbox(Mailbox::bounded(1)).spawn();
    /// prices.subscribe(slow.clone()).keep();
    /// slow.suspend()?;
    /// assert_eq!(prices.publish_reporting(Price(7)).taken, 1);
    /// assert_eq!(prices.publish_reporting(Price(9)).missed, [slow.id()]);
    /// # Ok::<(), coact::actor::Stopped>(())
    /// ```
    pub fn publish_reporting(&self, message: M) -> PublishReport {
        let mut published = PublishReport::default();
        self.deliver_to_all(message, false, |delivery| published.note(delivery));
        published
    }

    /// Publishes like [`publish`](Self::publish), but waits for subscribers whose mailbox is full
    /// and lets senders [wait](crate::mailbox::Mailbox::wait). The future is ready when the last
    /// one has received the message, so the slowest subscriber sets the pace: messages of a
    /// publisher that awaits each before the next arrive in order.
    ///
    /// In a future that [holds](crate::Context::hold) its actor, a subscriber that could only take
    /// the message after that actor has continued misses it
    /// ([`SendError::Cycle`](crate::actor::SendError::Cycle)).
    pub fn publish_async(&self, message: M) -> impl Future<Output = PublishReport> + Send + use<M> {
        let this = self.clone();
        let mut begun = Some(message);
        let (mut published, mut pending) = (PublishReport::default(), Vec::new());
        poll_fn(move |context| {
            if let Some(message) = begun.take() {
                this.deliver_to_all(message, true, |delivery| match delivery {
                    DeliveryOutcome::Later(later) => pending.push(later),
                    delivery => published.note(delivery),
                });
            }
            pending.retain_mut(|later| match later.as_mut().poll(context) {
                Poll::Ready(delivery) => {
                    if let DeliveryOutcome::Ended(Some(subscriber)) = delivery {
                        this.0.unsubscribe(subscriber);
                    }
                    published.note(delivery);
                    false
                }
                Poll::Pending => true,
            });
            if pending.is_empty() { Poll::Ready(take(&mut published)) } else { Poll::Pending }
        })
    }

    /// Publishes like [`publish_async`](Self::publish_async), and blocks the calling thread
    /// meanwhile.
    ///
    /// # Panics
    /// Panics if it would have to wait in a behaviour, a handler or a future.
    #[track_caller]
    pub fn publish_blocking(&self, message: M) -> PublishReport {
        let instead = "use `publish`, or `publish_async` in a future";
        block_on_room(("`publish_blocking`", instead), self.publish_async(message))
    }

    fn deliver_to_all(&self, message: M, patient: bool, mut note: impl FnMut(DeliveryOutcome)) {
        let subscribers = self.0.snapshot();
        let mut message = Some(message);
        for (at, subscriber) in subscribers.iter().enumerate() {
            let is_last = at + 1 == subscribers.len();
            let next = || if is_last { message.take() } else { message.clone() };
            note(self.deliver_one(subscriber, patient, next));
        }
    }

    fn publish_where(
        &self,
        concerned: impl Fn(&Subscriber<M>) -> bool,
        make: impl FnOnce() -> M,
    ) -> usize {
        if !self.is_listened_to() {
            return 0;
        }
        let subscribers = self.0.snapshot();
        let mut left = subscribers.iter().filter(|subscriber| concerned(subscriber)).peekable();
        let mut message = left.peek().map(|_| make());
        let mut taken = 0;
        while let Some(subscriber) = left.next() {
            let is_last = left.peek().is_none();
            let next = || if is_last { message.take() } else { message.clone() };
            taken += usize::from(self.deliver(subscriber, next));
        }
        taken
    }

    /// Returns whether there are subscribers: this may change at any time.
    #[inline]
    pub fn is_listened_to(&self) -> bool {
        // ORDERING: Relaxed. A hint; a subscription that happens before the call is seen.
        self.0.listening.load(Ordering::Relaxed) > 0
    }

    /// Returns the number of subscribers.
    pub fn subscribers(&self) -> usize {
        // ORDERING: Relaxed. See `is_listened_to`.
        self.0.listening.load(Ordering::Relaxed)
    }

    fn enter(&self, pattern: Option<PathPattern>, deliver: DeliveryFn<M>) -> Subscription {
        self.enter_as(next_id(), pattern, deliver)
    }

    pub(crate) fn enter_as(
        &self,
        id: u64,
        pattern: Option<PathPattern>,
        deliver: DeliveryFn<M>,
    ) -> Subscription {
        let subscriber =
            Arc::new(Subscriber { id, pattern, deliver: CatchDrop::new(Deep::new(deliver)) });
        self.0.change(|all| _ = all.insert(id, subscriber));
        let topic: Arc<dyn UntypedTopic> = self.0.clone();
        Subscription::new(Arc::downgrade(&topic), id)
    }

    /// Returns a closure that removes a subscriber, if the topic still exists then.
    pub(crate) fn leaving(&self, id: u64) -> impl FnOnce() + Send + use<M> {
        let topic = Arc::downgrade(&self.0);
        move || {
            if let Some(topic) = topic.upgrade() {
                topic.unsubscribe(id);
            }
        }
    }

    /// Removes a subscriber.
    pub(crate) fn remove(&self, id: u64) {
        self.0.unsubscribe(id);
    }

    /// Returns whether the subscriber took the message.
    fn deliver(&self, to: &Subscriber<M>, message: impl FnOnce() -> Option<M>) -> bool {
        matches!(self.deliver_one(to, false, message), DeliveryOutcome::Taken)
    }

    /// Delivers the message to a subscriber; later, if the subscriber lets senders wait and there
    /// is no room.
    fn deliver_one(
        &self,
        to: &Subscriber<M>,
        patient: bool,
        message: impl FnOnce() -> Option<M>,
    ) -> DeliveryOutcome {
        let delivery = catch(|| match message() {
            Some(message) => (to.deliver)(message, patient.then_some(to.id)),
            None => DeliveryOutcome::Missed(None),
        });
        if let Ok(DeliveryOutcome::Ended(_)) = delivery {
            let _ = catch(|| self.0.unsubscribe(to.id));
        }
        delivery.unwrap_or(DeliveryOutcome::Missed(None))
    }
}

impl PublishReport {
    fn note(&mut self, delivery: DeliveryOutcome) {
        match delivery {
            DeliveryOutcome::Taken => self.taken += 1,
            DeliveryOutcome::Missed(by) => self.missed.extend(by),
            DeliveryOutcome::Ended(_) | DeliveryOutcome::Later(_) => {}
        }
    }
}

impl<M: 'static> Default for Topic<M> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<M: 'static> Clone for Topic<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M: 'static> PartialEq for Topic<M> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<M: 'static> Eq for Topic<M> {}

impl<M: 'static> fmt::Debug for Topic<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // ORDERING: Relaxed. Only displayed.
        let listening = self.0.listening.load(Ordering::Relaxed);
        write!(f, "Topic<{}>({listening} subscribers)", std::any::type_name::<M>())
    }
}
