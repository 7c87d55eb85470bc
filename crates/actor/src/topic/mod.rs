//! Publish and subscribe: everybody who is interested gets each message.

mod named;
mod pattern;
mod subscription;
mod tree;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use coact_core::catch;
use parking_lot::RwLock;

use crate::events::{self, DropCause};
use crate::{Message, Recipient, SendError};

pub(crate) use named::Named;
pub use named::topic;
pub use pattern::BadPattern;
use pattern::Pattern;
use subscription::Leave;
pub use subscription::Subscription;
pub use tree::TopicTree;

/// Something that messages of one type are published to; clones are the same topic.
///
/// Each subscriber gets each message that is published after it has subscribed, and those of one
/// publisher in the order in which they were published. Publishers that run at the same time are not
/// ordered: two subscribers may see their messages in different orders.
///
/// ```
/// use coact_actor::{Actor, Context, Handler, Message, Topic, spawn};
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
/// assert_eq!(coact_core::ask(&highest, |highest| highest.0).wait(), Ok(7));
/// ```
///
/// **Cost.** Without subscribers one relaxed load. Otherwise a shared lock for the time of a clone
/// of an `Arc`, and for each subscriber a clone of the message; the last one gets the message itself.
/// For payloads that are large, publish something that is cheap to clone, like an `Arc`.
pub struct Topic<M>(Arc<Channel<M>>);

struct Channel<M> {
    /// How many subscribers there are: the one look of those who publish to nobody.
    listening: AtomicUsize,
    /// Replaced as a whole, so that nobody publishes under the lock.
    subscribers: RwLock<Arc<[Arc<Subscriber<M>>]>>,
}

struct Subscriber<M> {
    id: u64,
    /// Which paths of a [`TopicTree`] it is interested in.
    pattern: Option<Pattern>,
    deliver: Deliver<M>,
}

type Deliver<M> = Box<dyn Fn(M) -> Delivery + Send + Sync>;

enum Delivery {
    Taken,
    /// The subscriber has no room for it.
    Missed,
    /// The subscriber has ended.
    Ended,
}

impl<M> Default for Channel<M> {
    fn default() -> Self {
        Self { listening: AtomicUsize::new(0), subscribers: RwLock::new(Arc::from([])) }
    }
}

impl<M: Clone + Send + 'static> Topic<M> {
    /// A topic without subscribers, and without a name; see [`topic`] for those that have one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has an actor get the messages, until the [`Subscription`] is dropped or cancelled, or the
    /// actor has ended. The topic keeps the actor alive as long.
    ///
    /// A message that the actor's bounded mailbox refuses is lost to this actor, and reported as
    /// [`MessageDropped`](crate::MessageDropped).
    pub fn subscribe(&self, subscriber: impl Into<Recipient<M>>) -> Subscription
    where
        M: Message,
    {
        self.enter(None, to_recipient(subscriber.into()))
    }

    /// Has a closure called with the messages, on the publishers' threads, until the
    /// [`Subscription`] is dropped or cancelled. It must not block, and may be called by several
    /// publishers at once. Should it panic, that is reported, and it is called all the same the next
    /// time.
    pub fn subscribe_fn(&self, call: impl Fn(M) + Send + Sync + 'static) -> Subscription {
        self.enter(None, to_closure(call))
    }

    /// Publishes a message; returns how many subscribers have got it.
    ///
    /// A panic of the message's `Clone` is reported, and costs one subscriber this message.
    pub fn publish(&self, message: M) -> usize {
        self.publish_with(|| message)
    }

    /// Publishes a message that is made only if there is a subscriber.
    pub fn publish_with(&self, make: impl FnOnce() -> M) -> usize {
        self.publish_where(|_| true, make)
    }

    fn publish_where(
        &self,
        concerned: impl Fn(&Subscriber<M>) -> bool,
        make: impl FnOnce() -> M,
    ) -> usize {
        if !self.is_listened_to() {
            return 0;
        }
        let subscribers = Arc::clone(&self.0.subscribers.read());
        let mut left = subscribers.iter().filter(|subscriber| concerned(subscriber)).peekable();
        let mut message = left.peek().map(|_| make());
        let mut taken = 0;
        while let Some(subscriber) = left.next() {
            let is_last = left.peek().is_none();
            let next = || if is_last { message.take() } else { message.clone() };
            taken += usize::from(self.deliver(subscriber, next));
        }
        // Closures of some who have left meanwhile may go with it.
        let _ = catch(move || drop(subscribers));
        taken
    }

    /// Whether there are subscribers: others may come and go any time.
    #[inline]
    pub fn is_listened_to(&self) -> bool {
        self.0.listening.load(Ordering::Relaxed) > 0
    }

    /// How many subscribers there are. Those whose end was not noticed yet count.
    pub fn subscribers(&self) -> usize {
        self.0.listening.load(Ordering::Relaxed)
    }

    fn enter(&self, pattern: Option<Pattern>, deliver: Deliver<M>) -> Subscription {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let subscriber = Arc::new(Subscriber { id, pattern, deliver });
        self.0.replace(|all| all.iter().cloned().chain([subscriber]).collect());
        let topic: Arc<dyn Leave> = self.0.clone();
        Subscription::new(Arc::downgrade(&topic), id)
    }

    /// Returns whether the subscriber has taken the message.
    fn deliver(&self, to: &Subscriber<M>, message: impl FnOnce() -> Option<M>) -> bool {
        let taken = catch(|| match message().map(|message| (to.deliver)(message)) {
            Some(Delivery::Taken) => true,
            Some(Delivery::Ended) => {
                self.0.leave(to.id);
                false
            }
            Some(Delivery::Missed) | None => false,
        });
        taken.unwrap_or(false)
    }
}

fn to_recipient<M: Message>(recipient: Recipient<M>) -> Deliver<M> {
    Box::new(move |message| match recipient.send(message) {
        Ok(()) => Delivery::Taken,
        Err(SendError::Stopped(_)) => Delivery::Ended,
        Err(SendError::Full(_)) => {
            events::message_dropped(recipient.id(), std::any::type_name::<M>(), DropCause::Full);
            Delivery::Missed
        }
    })
}

fn to_closure<M>(call: impl Fn(M) + Send + Sync + 'static) -> Deliver<M> {
    Box::new(move |message| {
        call(message);
        Delivery::Taken
    })
}

impl<M> Channel<M> {
    fn replace(&self, change: impl FnOnce(&[Arc<Subscriber<M>>]) -> Arc<[Arc<Subscriber<M>>]>) {
        let before = {
            let mut subscribers = self.subscribers.write();
            let after = change(&subscribers);
            self.listening.store(after.len(), Ordering::Relaxed);
            std::mem::replace(&mut *subscribers, after)
        };
        // Without the lock: closures of others may go with it.
        drop(before);
    }
}

impl<M: Send + 'static> Leave for Channel<M> {
    fn leave(&self, id: u64) {
        self.replace(|all| all.iter().filter(|other| other.id != id).cloned().collect());
    }
}

impl<M> Default for Topic<M> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<M> Clone for Topic<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M> PartialEq for Topic<M> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<M> Eq for Topic<M> {}

impl<M> fmt::Debug for Topic<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listening = self.0.listening.load(Ordering::Relaxed);
        write!(f, "Topic<{}>({listening} subscribers)", std::any::type_name::<M>())
    }
}
