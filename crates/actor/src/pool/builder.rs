//! The settings of a pool, and its creation.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use coact_core::runtime::RuntimeHandle;

use super::{MemberFactory, MemberSettings, Pool, PoolInner};
use crate::handler::SendActor;
use crate::host::Host;
use crate::id::ActorId;
use crate::intensity::RestartIntensity;
use crate::parts::Actor;
use crate::router::{Routees, Routing};
use crate::spawn::Spawn;

/// Settings for a [`Pool`].
#[must_use = "no pool exists until `spawn` is called"]
pub struct PoolBuilder<A: Actor> {
    make: Arc<MemberFactory<A>>,
    size: usize,
    strategy: Routing,
    host: Host,
    each: Option<Box<MemberSettings<A>>>,
    limit: RestartIntensity,
}

impl<A: SendActor> PoolBuilder<A> {
    /// Sets the number of members (1 by default).
    pub fn size(self, size: usize) -> Self {
        Self { size, ..self }
    }

    /// Sets how a member is chosen (in turn by default).
    pub fn strategy(self, strategy: Routing) -> Self {
        Self { strategy, ..self }
    }

    /// Sets where the members run (by default on the current runtime): see [`Host`]. If detached,
    /// each has a thread of its own.
    pub fn on(self, host: impl Into<Host>) -> Self {
        Self { host: host.into(), ..self }
    }

    /// Sets up each member when it is spawned: with any setting of [`actor`](crate::actor::actor())
    /// except the closure of a [restart](Spawn::restartable), which is the pool's.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, Message};
    /// use coact::mailbox::Mailbox;
    /// use coact::routing::Pool;
    ///
    /// struct Worker;
    /// struct Job;
    /// impl Message for Job { type Reply = (); }
    /// impl Actor for Worker {}
    /// impl Handler<Job> for Worker {
    ///     fn handle(&mut self, _: Job, _: &mut Context<Self>) {}
    /// }
    ///
    /// let bounded = |worker: coact::actor::Spawn<Worker>| worker.mailbox(Mailbox::bounded(8));
    /// let pool = Pool::builder(|| Worker).size(2).each(bounded).spawn();
    /// assert!(pool.members().iter().all(|worker| worker.mailbox().capacity() == Some(8)));
    /// ```
    pub fn each(self, settings: impl Fn(Spawn<A>) -> Spawn<A> + Send + Sync + 'static) -> Self {
        Self { each: Some(Box::new(settings)), ..self }
    }

    /// Sets how often a member may restart within a time (10 times in 10 seconds by default). A
    /// member that panics once more ends, with the panic as its reason, and is removed from the
    /// pool; the next [`resize`](Pool::resize) replaces it.
    pub fn intensity(self, restarts: u32, within: Duration) -> Self {
        Self { limit: RestartIntensity::new(restarts, within), ..self }
    }

    /// Spawns the members.
    ///
    /// # Panics
    /// Panics if creating a member's state panics, or its [settings](Self::each) do, or
    /// [`Spawn::spawn`] does with these.
    #[must_use = "the members end when the last handle of the pool is dropped: bind it to a name (`let _ =` \
                  drops it at once)"]
    pub fn spawn(self) -> Pool<A> {
        let Self { make, size, strategy, host, each, limit } = self;
        let (id, home) = (ActorId::next(), RuntimeHandle::current());
        let members = Routees::new(strategy);
        let size = AtomicUsize::new(size);
        let inner = PoolInner { id, make, host, home, each, limit, members, size };
        let pool = Pool(Arc::new(inner));
        pool.fill();
        pool
    }
}

impl<A: SendActor> Pool<A> {
    /// Creates a pool of this many members that take turns. The closure makes the state of each,
    /// now and after a panic.
    ///
    /// # Panics
    /// Panics if the closure panics now. Later, such a panic ends the member.
    #[must_use = "the members end when the last handle of the pool is dropped: bind it to a name (`let _ =` \
                  drops it at once)"]
    pub fn new(size: usize, make: impl Fn() -> A + Send + Sync + 'static) -> Self {
        Self::builder(make).size(size).spawn()
    }

    /// Returns a builder for a pool with other settings.
    pub fn builder(make: impl Fn() -> A + Send + Sync + 'static) -> PoolBuilder<A> {
        PoolBuilder {
            make: Arc::new(make),
            size: 1,
            strategy: Routing::RoundRobin,
            host: Host::current(),
            each: None,
            limit: RestartIntensity::new(10, Duration::from_secs(10)),
        }
    }
}

impl<A: Actor> fmt::Debug for PoolBuilder<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("PoolBuilder");
        debug.field("size", &self.size).field("strategy", &self.strategy).finish_non_exhaustive()
    }
}
