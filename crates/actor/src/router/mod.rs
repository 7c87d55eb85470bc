//! Routers: one address in front of many actors.

mod as_recipient;
mod error;
mod fallback_order;
mod first_answer;
mod list;
mod nesting;
mod route_target;
mod routed_ask;
mod routees;
mod strategy;

use std::fmt;
use std::future::Future;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use coact_core::cown::Deep;

use crate::ask::Ask;
use crate::backpressure;
use crate::block_on::block_on_room;
use crate::id::ActorId;
use crate::message::Message;
use crate::recipient::Recipient;
use crate::send_error::AskError;

pub use error::{NoAnswer, RouteError};
pub use first_answer::FirstAnswer;
pub(crate) use routed_ask::{answered, answered_only};
pub(crate) use routees::Routees;
pub use strategy::Routing;

/// Passes each message to one of several actors, its *routees*, or to all of them. Clones are the
/// same router.
///
/// A router is not an actor: the choice happens on the sender's thread, and the message goes
/// directly to the chosen routee. So messages of one sender to the same routee arrive in order, and
/// those to different ones are not ordered. A routee that has ended is skipped and removed; one
/// whose bounded mailbox refuses is skipped.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context, Handler, Message, spawn};
/// use coact::routing::{Router, Routing};
///
/// struct Square;
/// struct Number(u64);
/// impl Message for Number { type Reply = u64; }
/// impl Actor for Square {}
/// impl Handler<Number> for Square {
///     fn handle(&mut self, n: Number, _: &mut Context<Self>) -> u64 { n.0 * n.0 }
/// }
///
/// let router = Router::new(Routing::RoundRobin);
/// for _ in 0..3 {
///     router.add(spawn(Square));
/// }
/// assert_eq!(router.ask(Number(12)).wait(), Ok(144));
/// ```
///
/// **Cost.** A shared lock for the time of the choice (see [`Routing`]) and of a clone of an `Arc`,
/// and the send. Adding or removing a routee takes constant time, however many there are; each is
/// [monitored](crate::Addr::on_down).
pub struct Router<M: Message>(Arc<RouterInner<M>>);

struct RouterInner<M: Message> {
    id: ActorId,
    /// A routee may be a router.
    routees: Deep<Routees<Recipient<M>>>,
    key: Option<KeyOf<M>>,
}

/// The part of a message that decides where it goes.
type KeyOf<M> = Box<dyn Fn(&M) -> u64 + Send + Sync>;

impl<M: Message> Router<M> {
    /// Creates a router without routees.
    pub fn new(strategy: Routing) -> Self {
        Self::with(strategy, None)
    }

    /// Creates a router that sends messages with the same key to the same routee, as long as that
    /// is alive. When a routee is added or removed, only the keys of this routee move.
    ///
    /// The algorithm is rendezvous hashing (D. G. Thaler and C. V. Ravishankar, *Using name-based
    /// mappings to increase hit rates*, IEEE/ACM Transactions on Networking 6(1), 1998): it selects
    /// the routee whose identity, hashed with the key, yields the highest number. So it costs a few
    /// multiplications per routee. A routee whose mailbox is full is not skipped.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::Message;
    /// use coact::routing::Router;
    ///
    /// struct Update { account: String, amount: i64 }
    /// impl Message for Update { type Reply = (); }
    ///
    /// let router = Router::consistent_hash(|update: &Update| update.account.clone());
    /// # let nobody = router.send(Update { account: "a".into(), amount: 1 }).unwrap_err();
    /// # assert_eq!(nobody.into_message().amount, 1);
    /// ```
    pub fn consistent_hash<K: Hash>(key: impl Fn(&M) -> K + Send + Sync + 'static) -> Self {
        let hash = move |message: &M| hash_of(&key(message));
        Self::with(Routing::RoundRobin, Some(Box::new(hash)))
    }

    fn with(strategy: Routing, key: Option<KeyOf<M>>) -> Self {
        let routees = Deep::new(Routees::new(strategy));
        Self(Arc::new(RouterInner { id: ActorId::next(), routees, key }))
    }

    /// Adds a routee, whose actor the router keeps alive. Returns false if it already is one, or
    /// has ended.
    ///
    /// A routee may be a router. A router passes no further a message that has come through 32
    /// routers, or through this one before: for such a message it is skipped, like a routee that
    /// has ended.
    pub fn add(&self, routee: impl Into<Recipient<M>>) -> bool {
        let routee = routee.into();
        if routee.has_ended() {
            return false;
        }
        let (id, this) = (routee.id(), Arc::downgrade(&self.0));
        let forget = move || {
            if let Some(this) = this.upgrade() {
                this.routees.remove(id);
            }
        };
        let watch = routee.watch(forget);
        self.0.routees.add(id, routee, watch)
    }

    /// Removes a routee; returns whether it was one. A message that is being routed at that moment
    /// may still go to it.
    pub fn remove(&self, routee: ActorId) -> bool {
        self.0.routees.remove(routee)
    }

    /// Returns the routees that have not ended.
    pub fn routees(&self) -> Vec<Recipient<M>> {
        self.0.routees.living()
    }

    /// Sends a message to one of the routees.
    ///
    /// # Errors
    /// Returns the message if there is no routee, or none that has room for it.
    pub fn send(&self, message: M) -> Result<(), RouteError<M>> {
        let key = self.key_of(&message);
        self.0.routees.send(message, key, None)
    }

    /// Asks one of the routees: see [`Addr::ask`](crate::Addr::ask). The ask fails immediately with
    /// [`Stopped`](AskError::Stopped), for the reason
    /// [`NoActor`](crate::actor::ExitReason::NoActor), if there is no routee, and with
    /// [`Full`](AskError::Full) if none has room.
    pub fn ask(&self, message: M) -> Ask<M::Reply> {
        let key = self.key_of(&message);
        answered_only(self.0.routees.ask(message, key, None))
    }

    /// Sends a message to one of the routees; if all are full, the future waits for the first that
    /// has room, among those whose policy is to [wait](crate::mailbox::Mailbox::wait). A router
    /// with keys waits for the routee of the message's key. Routees added meanwhile count, and
    /// removed ones no longer do.
    ///
    /// Waiting senders are served in the order of each mailbox. A message does not wait at a routee
    /// that is a router with keys.
    ///
    /// # Errors
    /// Fails like [`send`](Self::send), or with [`RouteError::Cycle`].
    pub fn send_async(
        &self,
        message: M,
    ) -> impl Future<Output = Result<(), RouteError<M>>> + Send + use<M> {
        let this = self.clone();
        async move { backpressure::send(this, message).await.map_err(RouteError::from_send_error) }
    }

    /// Asks one of the routees: waits for room like [`send_async`](Self::send_async), and then for
    /// the answer.
    ///
    /// # Errors
    /// Returns an [`AskError`] that says why there is no answer.
    pub fn ask_async(
        &self,
        message: M,
    ) -> impl Future<Output = Result<M::Reply, AskError>> + Send + use<M> {
        backpressure::ask(self.clone(), message)
    }

    /// Sends like [`send_async`](Self::send_async), and blocks the calling thread meanwhile.
    ///
    /// # Errors
    /// See [`send_async`](Self::send_async).
    ///
    /// # Panics
    /// Panics if it would have to wait in a behaviour, a handler or a future.
    #[track_caller]
    pub fn send_blocking(&self, message: M) -> Result<(), RouteError<M>> {
        block_on_room(backpressure::SEND, self.send_async(message))
    }

    /// Sends a message to all routees; returns how many received it. The last one receives the
    /// message itself, the others clones.
    ///
    /// # Errors
    /// Returns the message if no routee could take it.
    ///
    /// # Panics
    /// Panics if the message's `clone` does: the routees before have received theirs, and the
    /// others none.
    pub fn broadcast(&self, message: M) -> Result<usize, RouteError<M>>
    where
        M: Clone,
    {
        self.0.routees.broadcast(message)
    }

    /// Asks all routees; the first answer counts.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// # use coact::{Actor, Context, Handler, Message, spawn};
    /// # use coact::routing::{Router, Routing};
    /// # #[derive(Clone)]
    /// # struct Where;
    /// # impl Message for Where { type Reply = &'static str; }
    /// # struct Mirror;
    /// # impl Actor for Mirror {}
    /// # impl Handler<Where> for Mirror {
    /// #     fn handle(&mut self, _: Where, _: &mut Context<Self>) -> &'static str { "here" }
    /// # }
    /// let mirrors = Router::new(Routing::RoundRobin);
    /// mirrors.add(spawn(Mirror));
    /// mirrors.add(spawn(Mirror));
    /// assert_eq!(mirrors.ask_first(Where).wait().unwrap(), "here");
    /// ```
    ///
    /// # Panics
    /// See [`broadcast`](Self::broadcast); no answer is awaited then.
    #[doc(alias = "scatter")]
    #[doc(alias = "ScatterGatherFirstCompleted")]
    pub fn ask_first(&self, message: M) -> FirstAnswer<M::Reply>
    where
        M: Clone,
    {
        self.0.routees.ask_first(message)
    }

    /// Returns the router as a recipient: for other routers, and for topics. To these it is a
    /// single recipient: even of a [broadcast](Self::broadcast) it passes on one message, to the
    /// routee of its choice.
    pub fn to_recipient(&self) -> Recipient<M> {
        Recipient::of(Arc::new(self.clone()))
    }

    fn key_of(&self, message: &M) -> Option<u64> {
        self.0.key.as_ref().map(|key| key(message))
    }
}

/// Returns a hash that is the same in the whole process, and in all processes of the same build.
pub(crate) fn hash_of(key: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

impl<M: Message> Clone for Router<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M: Message> fmt::Debug for Router<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router").field("routees", &self.routees()).finish_non_exhaustive()
    }
}
