//! The cache as an actor: gives messages and ends of loads and writes to its state, and executes
//! the commands that come out.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use coact_actor::Addr;
use coact_actor::actor::{ActorId, AskError, Context, Reply, WeakAddr};
use coact_actor::internals::call_with;
use coact_core::Broken;
use coact_core::internals::{CatchDrop, drop_quietly};
use coact_core::runtime::{RuntimeHandle, spawn_future};

use crate::backing::{CacheLoader, DynBacking, LoadResult, OnceLoader, Write};
use crate::builder::{CacheBuilder, CacheSettings, CacheSpec, WriteMode};
use crate::cache_state::{
    CacheCommand, CacheState, CacheTurn, EntryUpdate, GetLookup, LoadCommand, OperationId,
    QueueCommand, WriteCommand,
};
use crate::catch_panic::{CatchPanic, WaitError, within};
use crate::counts::CacheCounts;
use crate::errors::{LoadError, WriteError};
use crate::key_activity::{GetReply, GetRequest, WriteReply};
use crate::key_value::{Key, Value};
use crate::write_flusher;
use crate::write_queue::{QueueEvent, QueueSubscription};

/// A cache, whose address is an `Addr<Cache<K, V>>`.
///
/// Other actors ask it for values by key: [`Caching`](crate::Caching) has the messages as methods.
/// A missing value is loaded once for all who ask meanwhile. Writes go to a store, before or after
/// they are answered.
///
/// ```
/// use coact::cache::{Cache, Caching};
/// use std::time::Duration;
///
/// async fn fetch(user: u64) -> Result<Option<String>, std::io::Error> {
///     Ok((user < 100).then(|| format!("user {user}")))
/// }
///
/// let users = Cache::builder()
///     .max_entries(10_000)
///     .time_to_live(Duration::from_secs(60))
///     .load(|user: u64| async move { Ok(fetch(user).await?) })
///     .load_timeout(Duration::from_secs(2))
///     .build()?
///     .spawn();
/// assert_eq!(users.get(7).wait()??.as_deref(), Some("user 7"));
/// assert_eq!(users.get(700).wait()??, None);
/// let counts = users.counts().wait()?;
/// assert_eq!((counts.hits, counts.misses, counts.loads), (0, 2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Behaviours can name a cache, like any actor. Those that [read](coact_actor::Addr::read) it run
/// in parallel, and [`cached`](Self::cached) counts as use there as well:
///
/// ```
/// # use coact::cache::{Cache, Caching};
/// use coact::call;
///
/// let lengths = Cache::<String, usize>::builder().max_entries(10).build()?.spawn();
/// lengths.put("four".to_owned(), 4).wait()??;
/// assert_eq!(call(lengths.read(), |lengths| lengths.cached("four").copied()).wait()?, Some(4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// **Panics of user code** (hashing, comparing, cloning, weighing, loading, writing or dropping
/// keys and values) fail the request that called it, if any, and are reported like those of
/// behaviours. The cache goes on.
pub struct Cache<K: Key, V: Value> {
    settings: Arc<CacheSettings<K, V>>,
    state: CacheState<K, V>,
    /// Tells this cache of room in the write queue, and of lost writes.
    subscription: Option<QueueSubscription<K, V>>,
    /// The runtime whose clock the times of entries are from.
    home: Option<RuntimeHandle>,
}

impl<K: Key, V: Value> Cache<K, V> {
    /// Returns a builder of caches. It needs a bound, [`max_entries`](CacheBuilder::max_entries) or
    /// [`max_weight`](CacheBuilder::max_weight); all else is optional.
    pub fn builder() -> CacheBuilder<K, V> {
        CacheBuilder::new()
    }

    /// Returns the value of a key that has an entry, and counts that as use of the entry. For
    /// behaviours, also those that read in parallel.
    ///
    /// It sees entries alone: neither a value that is being written through, nor one whose entry
    /// was dropped while its write behind waits.
    #[inline]
    pub fn cached<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.state.cached(key, self.now())
    }

    /// Returns the cache's counts.
    pub fn counts(&self) -> CacheCounts {
        let mut counts = self.state.counts();
        if let WriteMode::Behind(queue) = &self.settings.writing {
            queue.count(&mut counts);
        }
        counts
    }

    pub(crate) fn new(settings: Arc<CacheSettings<K, V>>) -> Self {
        let state = CacheState::new(Arc::clone(&settings));
        Self { settings, state, subscription: None, home: None }
    }

    /// Starts the actor: takes over the writes of the state before this one, and listens to the
    /// write queue.
    pub(crate) fn start(&mut self, id: ActorId, this: WeakAddr<Self>) {
        self.home = Some(RuntimeHandle::current());
        for (number, hash, key) in self.settings.pending_writes.of(id) {
            self.state.adopt_write(number, hash, key);
        }
        let WriteMode::Behind(queue) = &self.settings.writing else { return };
        let tell = move |event| {
            let Some(cache) = this.upgrade() else { return };
            call_with(&cache, move |cache, context| {
                cache.turn(context, |state, turn| match event {
                    QueueEvent::Room => state.room_freed(turn),
                    QueueEvent::Lost(key) => state.write_lost(&key, turn),
                });
            });
        };
        let subscription = queue.listen(Arc::new(tell));
        self.state.set_listener(subscription.listener());
        self.subscription = Some(subscription);
    }

    /// Writes what waits without delay, since this cache writes no more.
    pub(crate) fn end(&self) {
        if let WriteMode::Behind(queue) = &self.settings.writing {
            queue.hurry();
        }
    }

    /// Returns the time for lookups: zero if no entry ever expires.
    #[inline]
    fn now(&self) -> Duration {
        if !self.settings.limits.is_timed {
            return Duration::ZERO;
        }
        self.home.unwrap_or_else(RuntimeHandle::current).elapsed()
    }

    /// Returns the time for turns, which the delay of the write queue needs as well.
    fn turn_time(&self) -> Duration {
        match self.settings.writing {
            WriteMode::Behind(_) => self.home.unwrap_or_else(RuntimeHandle::current).elapsed(),
            _ => self.now(),
        }
    }

    /// Gives an event to the state, and executes all its commands: each catches the panics of user
    /// code that it runs, so those behind it are not lost.
    fn turn(
        &mut self,
        context: &mut Context<Self>,
        event: impl FnOnce(&mut CacheState<K, V>, &mut CacheTurn<K, V>),
    ) {
        let mut turn = CacheTurn::new(self.turn_time());
        event(&mut self.state, &mut turn);
        for command in turn.commands {
            self.execute(command, context);
        }
    }

    // Events.

    #[inline]
    pub(crate) fn get(
        &mut self,
        key: K,
        load: Option<OnceLoader<K, V>>,
        reply: GetReply<V>,
        context: &mut Context<Self>,
    ) {
        let (key, load) = (CatchDrop::new(key), load.map(CatchDrop::new));
        let now = self.now();
        match self.state.look_up(&key, now) {
            // If nothing waits for it, the value is dropped here.
            Ok(GetLookup::Hit(answer)) => drop_quietly(|| reply.send(answer)),
            Ok(lookup) => {
                let request = GetRequest { reply, load };
                self.turn(context, |state, turn| state.get(lookup, key, request, turn));
            }
            Err(panic) => answer(reply, Err(panic)),
        }
    }

    pub(crate) fn get_cached(&mut self, key: K, reply: Reply<Option<V>>) {
        let key = CatchDrop::new(key);
        let now = self.now();
        answer(reply, self.state.get_cached(&key, now));
    }

    pub(crate) fn write(
        &mut self,
        key: K,
        value: Option<V>,
        reply: WriteReply,
        context: &mut Context<Self>,
    ) {
        let (key, value) = (CatchDrop::new(key), CatchDrop::new(value));
        self.turn(context, |state, turn| state.write(key, value, reply, turn));
    }

    pub(crate) fn flush(&mut self, reply: WriteReply, context: &mut Context<Self>) {
        self.turn(context, |state, turn| state.flush(reply, turn));
    }

    pub(crate) fn invalidate(&mut self, key: K, reply: Reply<()>, context: &mut Context<Self>) {
        let key = CatchDrop::new(key);
        self.turn(context, |state, turn| state.invalidate(&key, reply, turn));
    }

    pub(crate) fn invalidate_all(&mut self, context: &mut Context<Self>) {
        self.turn(context, CacheState::invalidate_all);
    }

    // Commands.

    fn execute(&mut self, command: CacheCommand<K, V>, context: &mut Context<Self>) {
        match command {
            CacheCommand::AnswerGet(reply, result) => answer(reply, result),
            CacheCommand::AnswerWrite(reply, result) => answer(reply, result),
            CacheCommand::AnswerInvalidation(reply, result) => answer(reply, result),
            CacheCommand::StartLoad(load) => self.start_load(load, context),
            CacheCommand::AbortLoad(handle) => handle.abort(),
            CacheCommand::ReportFailedRefresh(why) => drop_quietly(move || {
                tracing::warn!(%why, "a value of a cache could not be loaded ahead of its expiry");
            }),
            CacheCommand::StartWrite(write) => self.start_write(write, context),
            CacheCommand::Queue(command) => self.execute_for_queue(command),
        }
    }

    fn execute_for_queue(&self, command: QueueCommand<K, V>) {
        let WriteMode::Behind(queue) = &self.settings.writing else { return };
        match command {
            QueueCommand::Start => write_flusher::start(queue),
            QueueCommand::Hurry => queue.hurry(),
            QueueCommand::Flush(reply) => queue.flush(reply),
            QueueCommand::ReportLost(lost) => queue.lose(lost),
        }
    }

    fn start_load(&self, load: LoadCommand<K, V>, context: &mut Context<Self>) {
        let LoadCommand { id, key, loader, abort } = load;
        let (settings, cache) = (Arc::clone(&self.settings), context.weak());
        context.spawn(
            async move { abort.run(run_load(settings, (key, loader), cache, id)).await },
            move |cache, result, context| {
                cache.turn(context, |state, turn| state.load_ended(id, result, turn));
            },
        );
    }

    fn start_write(&self, write: WriteCommand<K, V>, context: &Context<Self>) {
        let WriteMode::Through { store, timeout } = &self.settings.writing else { return };
        let WriteCommand { id, hash, key, value, pending_key, update, reply } = write;
        let pending_writes = &self.settings.pending_writes;
        let pending = pending_writes.begin(id.number, context.id(), (hash, pending_key));
        let (cache, store, timeout) = (context.address(), Arc::clone(store), *timeout);
        drop(spawn_future(async move {
            let written = write_one(store, (key, value), timeout).await;
            let is_stored = written.is_ok();
            let update = if is_stored { update } else { EntryUpdate { entry: None, ..update } };
            drop(pending);
            // The cache learns of it before whatever the answer leads to.
            call_with(&cache, move |cache, context| {
                cache.turn(context, |state, turn| {
                    state.write_ended(id, hash, (update, is_stored), turn);
                });
            });
            reply.send(written);
        }));
    }
}

async fn run_load<K: Key, V: Value>(
    settings: Arc<CacheSettings<K, V>>,
    (key, once): (CatchDrop<K>, Option<CatchDrop<OnceLoader<K, V>>>),
    cache: WeakAddr<Cache<K, V>>,
    id: OperationId,
) -> LoadResult<V> {
    let limit = settings.load_timeout;
    let is_blocking = once.is_none() && settings.loader.as_ref().is_some_and(CacheLoader::blocks);
    let mut load = CatchPanic::new(move || match (once, &settings.loader) {
        (Some(once), _) => once.into_inner()(key.into_inner()),
        (None, Some(loader)) => loader.load(key.into_inner()),
        (None, None) => Box::pin(async { Ok(None) }),
    });
    let loaded = match within(limit, &mut load).await {
        Ok(loaded) => loaded,
        Err(WaitError::TimedOut(limit)) if is_blocking => {
            if let Some(cache) = cache.upgrade() {
                call_with(&cache, move |cache, context| {
                    cache.turn(context, |state, turn| state.load_overdue(id, limit, turn));
                });
            }
            load.await
        }
        Err(WaitError::TimedOut(limit)) => return Err(LoadError::TimedOut(limit)),
        Err(WaitError::Cancelled) => return Err(LoadError::Cancelled),
    };
    loaded.unwrap_or_else(|panic| Err(panic.into()))
}

async fn write_one<K: Key, V: Value>(
    store: Arc<dyn DynBacking<K, V>>,
    (key, value): (CatchDrop<K>, CatchDrop<Option<V>>),
    timeout: Option<Duration>,
) -> Result<(), WriteError> {
    let mut write = CatchPanic::new(move || {
        store.write(vec![Write { key: key.into_inner(), value: value.into_inner() }])
    });
    match within(timeout, &mut write).await {
        Ok(Ok(Ok(()))) => Ok(()),
        Ok(Ok(Err(error))) => Err(WriteError::Failed(error.into_shared())),
        Ok(Err(panic)) => Err(panic.into()),
        Err(WaitError::TimedOut(limit)) => Err(WriteError::TimedOut(limit)),
        Err(WaitError::Cancelled) => Err(WriteError::Cancelled),
    }
}

/// Sends an answer, or fails the ask with a panic of user code. An answer that nothing waits for is
/// dropped, which may panic as well: that is reported.
fn answer<R: Send + 'static>(reply: Reply<R>, result: Result<R, Broken>) {
    drop_quietly(|| match result {
        Ok(answer) => reply.send(answer),
        Err(Broken::Panicked(message)) => reply.fail(AskError::Panicked(message)),
        Err(_) => reply.fail(AskError::NoReply),
    });
}

impl<K: Key, V: Value> CacheSpec<K, V> {
    /// Makes the state of a cache, for [`actor`](coact_actor::actor::actor) or for the child of a
    /// supervisor.
    #[must_use]
    pub fn cache(&self) -> Cache<K, V> {
        Cache::new(Arc::clone(&self.0))
    }

    /// Spawns a cache in the current runtime, with the default settings of actors.
    pub fn spawn(&self) -> Addr<Cache<K, V>> {
        coact_actor::spawn(self.cache())
    }
}

impl<K: Key, V: Value> Drop for Cache<K, V> {
    fn drop(&mut self) {
        self.end();
        let WriteMode::Behind(queue) = &self.settings.writing else { return };
        self.state.take_lost_writes().into_iter().for_each(|lost| queue.lose(lost));
    }
}

impl<K: Key, V: Value> fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("counts", &self.counts()).finish_non_exhaustive()
    }
}
