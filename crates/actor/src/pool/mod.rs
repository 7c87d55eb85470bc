//! Pools: as many actors of one kind as are needed.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use coact_core::Home;

use crate::recipient::Takes;
use crate::router::{self, InFlight, Routees, Routing, Scatter};
use crate::supervise::Intensity;
use crate::{
    Actor, ActorId, Addr, Ask, MessageTo, Recipient, RouteError, SendActor, SendError, actor,
};

/// Actors of one kind behind one address. Clones are the same pool.
///
/// Each message goes to one member, as with a [`Router`](crate::Router). A member that panics gets a
/// new state and goes on with the messages that it has; the message in which it panicked is lost, and
/// an ask fails. The pool can be [resized](Self::resize) at any time. When its last clone is dropped,
/// the members handle the messages that they have, and end.
///
/// ```
/// use coact_actor::{Actor, Context, Handler, Message, Pool};
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
/// assert_eq!(pool.ask(Number(12))?.wait(), Ok(144));
/// pool.resize(2);
/// assert_eq!(pool.ask(Number(9))?.wait(), Ok(81));
/// # Ok::<(), coact_actor::RouteError<Number>>(())
/// ```
///
/// **Cost.** That of a [`Router`](crate::Router).
pub struct Pool<A: Actor>(Arc<Inner<A>>);

struct Inner<A: Actor> {
    id: ActorId,
    make: Arc<Make<A>>,
    home: Home,
    limit: Intensity,
    members: Routees<Addr<A>>,
    /// How many members there are to be. Looked at under the lock of the members, and set before
    /// it is taken, so of two who resize at once the one that comes last is followed.
    size: AtomicUsize,
}

type Make<A> = dyn Fn() -> A + Send + Sync;

/// Settings for a [`Pool`].
#[must_use = "there is no pool before `spawn` is called"]
pub struct PoolBuilder<A: Actor> {
    make: Arc<Make<A>>,
    size: usize,
    strategy: Routing,
    home: Option<Home>,
    limit: Intensity,
}

impl<A: SendActor> PoolBuilder<A> {
    /// How many members (1 by default).
    pub fn size(self, size: usize) -> Self {
        Self { size, ..self }
    }

    /// How a member is chosen (in turn by default).
    pub fn strategy(self, strategy: Routing) -> Self {
        Self { strategy, ..self }
    }

    /// The runtime whose workers run the members (the current one by default).
    pub fn on(self, home: Home) -> Self {
        Self { home: Some(home), ..self }
    }

    /// How often a member may restart within a time (10 times in 10 seconds by default). One that
    /// panics once more ends, with the panic as its reason, and is taken out of the pool; the next
    /// [`resize`](Pool::resize) fills its place.
    pub fn intensity(self, restarts: u32, within: Duration) -> Self {
        Self { limit: Intensity::new(restarts, within), ..self }
    }

    /// Spawns the members.
    ///
    /// # Panics
    /// If making a member's state panics.
    pub fn spawn(self) -> Pool<A> {
        let Self { make, size, strategy, home, limit } = self;
        let home = home.unwrap_or_else(Home::current);
        let members = Routees::new(strategy);
        let size = AtomicUsize::new(size);
        let pool = Pool(Arc::new(Inner { id: ActorId::next(), make, home, limit, members, size }));
        pool.fill();
        pool
    }
}

impl<A: SendActor> Pool<A> {
    /// A pool of so many members that take turns. The closure makes the state of each, now and after
    /// a panic.
    ///
    /// # Panics
    /// If the closure panics now. Later that ends the member.
    pub fn new(size: usize, make: impl Fn() -> A + Send + Sync + 'static) -> Self {
        Self::builder(make).size(size).spawn()
    }

    /// A pool with other settings.
    pub fn builder(make: impl Fn() -> A + Send + Sync + 'static) -> PoolBuilder<A> {
        PoolBuilder {
            make: Arc::new(make),
            size: 1,
            strategy: Routing::RoundRobin,
            home: None,
            limit: Intensity::new(10, Duration::from_secs(10)),
        }
    }

    /// Makes the pool larger or smaller. New members take messages from now on. The youngest members
    /// go first: they get no new messages, handle those that they have, and end (unless somebody
    /// else has their address). No message is lost.
    ///
    /// # Panics
    /// If making a member's state panics; the pool then has the members made so far.
    pub fn resize(&self, size: usize) {
        self.0.size.store(size, Ordering::Relaxed);
        // A message that is on its way to one of those who go keeps its address until it is sent.
        self.0.members.truncate(|| self.0.size.load(Ordering::Relaxed));
        self.fill();
    }

    fn fill(&self) {
        let inner = &self.0;
        inner.members.prune();
        while inner.members.len() < inner.size.load(Ordering::Relaxed) {
            let member = self.member();
            let place = |taken| taken < inner.size.load(Ordering::Relaxed);
            inner.members.add_if(member.id(), member, place);
        }
    }

    fn member(&self) -> Addr<A> {
        let make = Arc::clone(&self.0.make);
        let state = make();
        let member = actor(state).restartable(move || make());
        member.restarts_itself(self.0.limit.clone()).on(self.0.home).spawn()
    }

    /// How many members live.
    pub fn size(&self) -> usize {
        self.0.members.living().len()
    }

    /// The members that live, the oldest first.
    pub fn members(&self) -> Vec<Addr<A>> {
        self.0.members.living()
    }

    /// Sends a message to a member.
    ///
    /// # Errors
    /// Gives the message back if there is no member, or none that has room for it.
    pub fn send<M>(&self, message: M) -> Result<(), RouteError<M>>
    where
        M: MessageTo<A>,
    {
        self.0.members.send(message, None, None)
    }

    /// Asks a member.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn ask<M>(&self, message: M) -> Result<Ask<M::Reply>, RouteError<M>>
    where
        M: MessageTo<A>,
    {
        self.0.members.ask(message, None, None)
    }

    /// Sends a message to the member for a key: see
    /// [`Router::consistent_hash`](crate::Router::consistent_hash).
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn send_by<M>(&self, key: &impl Hash, message: M) -> Result<(), RouteError<M>>
    where
        M: MessageTo<A>,
    {
        self.0.members.send(message, Some(router::hash_of(key)), None)
    }

    /// Asks the member for a key: see
    /// [`Router::consistent_hash`](crate::Router::consistent_hash).
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn ask_by<M>(&self, key: &impl Hash, message: M) -> Result<Ask<M::Reply>, RouteError<M>>
    where
        M: MessageTo<A>,
    {
        self.0.members.ask(message, Some(router::hash_of(key)), None)
    }

    /// Sends a message to all members; returns to how many.
    ///
    /// # Errors
    /// Gives the message back if nobody could take it.
    pub fn broadcast<M>(&self, message: M) -> Result<usize, RouteError<M>>
    where
        M: MessageTo<A> + Clone,
    {
        self.0.members.broadcast(message)
    }

    /// Asks all members; the first answer counts.
    pub fn scatter<M>(&self, message: M) -> Scatter<M::Reply>
    where
        M: MessageTo<A> + Clone,
    {
        self.0.members.scatter(message)
    }

    /// The pool as a recipient: for routers, and for topics.
    pub fn recipient<M>(&self) -> Recipient<M>
    where
        M: MessageTo<A>,
    {
        Recipient::of(Arc::new(self.clone()))
    }
}

impl<A: SendActor, M: MessageTo<A>> Takes<M> for Pool<A> {
    fn send(&self, message: M) -> Result<(), SendError<M>> {
        Pool::send(self, message).map_err(RouteError::into_send_error)
    }

    fn ask(&self, message: M) -> Ask<M::Reply> {
        router::answered(Pool::ask(self, message)).0
    }

    fn send_counted(&self, message: M, guest: Option<InFlight>) -> Result<(), SendError<M>> {
        let sent = self.0.members.send(message, None, guest.as_ref());
        sent.map_err(RouteError::into_send_error)
    }

    fn ask_counted(
        &self,
        message: M,
        guest: Option<InFlight>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        router::answered(self.0.members.ask(message, None, guest.as_ref()))
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
        pool.recipient()
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

impl<A: Actor> fmt::Debug for PoolBuilder<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("PoolBuilder");
        debug.field("size", &self.size).field("strategy", &self.strategy).finish_non_exhaustive()
    }
}
