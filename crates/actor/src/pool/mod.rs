//! Pools: a variable number of actors of one kind.

mod builder;

use std::fmt;
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coact_core::runtime::RuntimeHandle;

use crate::ask::Ask;
use crate::backpressure::{
    self, ChangeWakers, PermitFuture, RoomCandidate, RoomCandidates, RoomProvider,
};
use crate::block_on::block_on_room;
use crate::handler::{MessageTo, SendActor};
use crate::host::Host;
use crate::id::ActorId;
use crate::in_flight::InFlightToken;
use crate::intensity::RestartIntensity;
use crate::parts::{Actor, Addr};
use crate::recipient::{MessageReceiver, Recipient};
use crate::router::{self, FirstAnswer, RouteError, Routees};
use crate::send_error::{AskError, SendError};
use crate::spawn::{Spawn, actor};
pub use builder::PoolBuilder;

/// Actors of one kind behind one address. Clones are the same pool.
///
/// Each message goes to one member, as with a [`Router`](crate::routing::Router). A member that
/// panics continues with a new state and the messages that it has; the message in which it panicked
/// is lost, and an ask fails. The pool can be [resized](Self::resize) at any time. When its last
/// clone is dropped, the members handle the messages that they have, and end.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context, Handler, Message};
/// use coact::routing::Pool;
///
/// struct Square;
/// struct Number(u64);
/// impl Message for Number { type Reply = u64; }
/// impl Actor for Square {}
/// impl Handler<Number> for Square {
///     fn handle(&mut self, n: Number, _: &mut Context<Self>) -> u64 { n.0 * n.0 }
/// }
///
/// let pool = Pool::new(4, || Square);
/// assert_eq!(pool.ask(Number(12)).wait(), Ok(144));
/// pool.resize(2);
/// assert_eq!(pool.ask(Number(9)).wait(), Ok(81));
/// ```
///
/// **Cost.** That of a [`Router`](crate::routing::Router).
pub struct Pool<A: Actor>(Arc<PoolInner<A>>);

struct PoolInner<A: Actor> {
    id: ActorId,
    make: Arc<MemberFactory<A>>,
    host: Host,
    /// The runtime of creation: hosts are found there, even if the pool is resized elsewhere.
    home: RuntimeHandle,
    each: Option<Box<MemberSettings<A>>>,
    limit: RestartIntensity,
    members: Routees<Addr<A>>,
    /// The target number of members. Set before the lock of the members is taken and read under it,
    /// so of two concurrent resizes the last one takes effect.
    size: AtomicUsize,
}

type MemberFactory<A> = dyn Fn() -> A + Send + Sync;

type MemberSettings<A> = dyn Fn(Spawn<A>) -> Spawn<A> + Send + Sync;

impl<A: SendActor> Pool<A> {
    /// Makes the pool larger or smaller. New members take messages from now on. The youngest
    /// members leave first: they receive no new messages, handle those that they have, and end
    /// (unless another owner has their address). No message is lost.
    ///
    /// # Panics
    /// Panics if creating a member's state panics; the pool then has the members created so far.
    pub fn resize(&self, size: usize) {
        // ORDERING: Relaxed, all. The size is read where the list of the members is locked, which
        // is after this: a thread that locks it later sees this size, or a later one.
        self.0.size.store(size, Ordering::Relaxed);
        // A message in transit to a member that leaves keeps the address until it is sent.
        self.0.members.truncate(|| self.0.size.load(Ordering::Relaxed));
        self.fill();
    }

    fn fill(&self) {
        let inner = &self.0;
        inner.members.prune();
        // ORDERING: Relaxed, both. The first is a hint, the second is read under the lock: see
        // `resize`.
        while inner.members.len() < inner.size.load(Ordering::Relaxed) {
            let member = self.member();
            let place = |taken| taken < inner.size.load(Ordering::Relaxed);
            // A member that has ended is discovered when it is used: there are never more members
            // than the target.
            inner.members.add_if(member.id(), member, None, place);
        }
    }

    fn member(&self) -> Addr<A> {
        let make = Arc::clone(&self.0.make);
        let state = make();
        let mut member = actor(state).on(self.0.host).within(self.0.home);
        if let Some(each) = &self.0.each {
            member = each(member);
        }
        member.restartable(move || make()).restarts_itself(self.0.limit.clone()).spawn()
    }

    /// Returns how many members are alive.
    pub fn size(&self) -> usize {
        self.0.members.living().len()
    }

    /// Returns the members that are alive, the oldest first.
    pub fn members(&self) -> Vec<Addr<A>> {
        self.0.members.living()
    }

    /// Sends a message to a member.
    ///
    /// # Errors
    /// Returns the message if there is no member, or none that has room for it.
    pub fn send<M>(&self, message: M) -> Result<(), RouteError<M>>
    where
        M: MessageTo<A>,
    {
        self.0.members.send(message, None, None)
    }

    /// Asks a member: see [`Router::ask`](crate::routing::Router::ask).
    pub fn ask<M>(&self, message: M) -> Ask<M::Reply>
    where
        M: MessageTo<A>,
    {
        router::answered_only(self.0.members.ask(message, None, None))
    }

    /// Sends a message to a member; if all are full, the future waits for the first that has room,
    /// among those whose policy is to [wait](crate::mailbox::Mailbox::wait). Members are bounded if
    /// their [settings](PoolBuilder::each) say so.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// # use coact::{Actor, Context, Handler, Message};
    /// # use coact::mailbox::Mailbox;
    /// # use coact::routing::Pool;
    /// # struct Sum(u64);
    /// # struct Add(u64);
    /// # impl Message for Add { type Reply = (); }
    /// # impl Actor for Sum {}
    /// # impl Handler<Add> for Sum {
    /// #     fn handle(&mut self, add: Add, _: &mut Context<Self>) { self.0 += add.0 }
    /// # }
    /// let bounded = Pool::builder(|| Sum(0)).size(2).each(|sum| sum.mailbox(Mailbox::bounded(4)));
    /// let pool = bounded.spawn();
    /// let to = pool.clone();
    /// let producer = coact::runtime::spawn_future(async move {
    ///     for n in 0..1000 {
    ///         to.send_async(Add(n)).await.expect("there are members");
    ///     }
    /// });
    /// producer.wait()?;
    /// # Ok::<(), coact::Broken>(())
    /// ```
    ///
    /// # Errors
    /// Fails like [`send`](Self::send), or with [`RouteError::Cycle`].
    pub fn send_async<M>(
        &self,
        message: M,
    ) -> impl Future<Output = Result<(), RouteError<M>>> + Send + use<A, M>
    where
        M: MessageTo<A>,
    {
        let this = self.clone();
        async move { backpressure::send(this, message).await.map_err(RouteError::from_send_error) }
    }

    /// Asks a member: waits for room like [`send_async`](Self::send_async), and then for the
    /// answer.
    ///
    /// # Errors
    /// Returns an [`AskError`] that says why there is no answer.
    pub fn ask_async<M>(
        &self,
        message: M,
    ) -> impl Future<Output = Result<M::Reply, AskError>> + Send + use<A, M>
    where
        M: MessageTo<A>,
    {
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
    pub fn send_blocking<M>(&self, message: M) -> Result<(), RouteError<M>>
    where
        M: MessageTo<A>,
    {
        block_on_room(backpressure::SEND, self.send_async(message))
    }

    /// Sends a message to the member for a key: see
    /// [`Router::consistent_hash`](crate::routing::Router::consistent_hash).
    ///
    /// # Errors
    /// Fails like [`send`](Self::send).
    pub fn send_by<M>(&self, key: &impl Hash, message: M) -> Result<(), RouteError<M>>
    where
        M: MessageTo<A>,
    {
        self.0.members.send(message, Some(router::hash_of(key)), None)
    }

    /// Asks the member for a key: see [`ask`](Self::ask), and
    /// [`Router::consistent_hash`](crate::routing::Router::consistent_hash).
    pub fn ask_by<M>(&self, key: &impl Hash, message: M) -> Ask<M::Reply>
    where
        M: MessageTo<A>,
    {
        router::answered_only(self.0.members.ask(message, Some(router::hash_of(key)), None))
    }

    /// Sends a message to all members; returns how many received it.
    ///
    /// # Errors
    /// Returns the message if no member could take it.
    ///
    /// # Panics
    /// Panics if the message's `clone` does: the members before have received theirs, and the
    /// others none.
    pub fn broadcast<M>(&self, message: M) -> Result<usize, RouteError<M>>
    where
        M: MessageTo<A> + Clone,
    {
        self.0.members.broadcast(message)
    }

    /// Asks all members; the first answer counts.
    ///
    /// # Panics
    /// See [`broadcast`](Self::broadcast); no answer is awaited then.
    #[doc(alias = "scatter")]
    #[doc(alias = "ScatterGatherFirstCompleted")]
    pub fn ask_first<M>(&self, message: M) -> FirstAnswer<M::Reply>
    where
        M: MessageTo<A> + Clone,
    {
        self.0.members.ask_first(message)
    }

    /// Returns the pool as a recipient: for routers, and for topics.
    pub fn to_recipient<M>(&self) -> Recipient<M>
    where
        M: MessageTo<A>,
    {
        Recipient::of(Arc::new(self.clone()))
    }
}

impl<A: SendActor, M: MessageTo<A>> RoomProvider<M> for Pool<A> {
    fn send_now(&self, message: M) -> Result<(), SendError<M>> {
        MessageReceiver::send(self, message)
    }

    fn ask_now(&self, message: M) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        self.ask_counted(message, None)
    }

    fn reserve(&self, message: &M) -> Option<PermitFuture<M>> {
        MessageReceiver::reserve(self, Some(message), true)
    }

    fn reserves_first(&self) -> bool {
        false
    }
}

impl<A: SendActor, M: MessageTo<A>> RoomCandidates<M> for Pool<A> {
    fn candidates(&self) -> Vec<(ActorId, RoomCandidate<M>)> {
        self.0.members.candidates(None)
    }

    fn changes(&self) -> &ChangeWakers {
        self.0.members.changes()
    }
}

impl<A: SendActor, M: MessageTo<A>> MessageReceiver<M> for Pool<A> {
    fn send(&self, message: M) -> Result<(), SendError<M>> {
        Pool::send(self, message).map_err(RouteError::into_send_error)
    }

    fn ask(&self, message: M) -> Ask<M::Reply> {
        Pool::ask(self, message)
    }

    fn send_counted(&self, message: M, token: Option<InFlightToken>) -> Result<(), SendError<M>> {
        let sent = self.0.members.send(message, None, token.as_ref());
        sent.map_err(RouteError::into_send_error)
    }

    fn ask_counted(
        &self,
        message: M,
        token: Option<InFlightToken>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        router::answered(self.0.members.ask(message, None, token.as_ref()))
    }

    fn reserve(&self, _: Option<&M>, alone: bool) -> Option<PermitFuture<M>> {
        backpressure::race(self.clone(), alone)
    }

    fn reserves_first(&self) -> bool {
        false
    }

    fn id(&self) -> ActorId {
        self.0.id
    }

    /// It may be resized at any time.
    fn has_ended(&self) -> bool {
        false
    }
}

impl<A: SendActor, M: MessageTo<A>> From<Pool<A>> for Recipient<M> {
    fn from(pool: Pool<A>) -> Self {
        pool.to_recipient()
    }
}

impl<A: Actor> Clone for Pool<A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<A: SendActor> fmt::Debug for Pool<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("members", &self.members()).finish_non_exhaustive()
    }
}
