//! The settings of caches, their builder, and the specification that it makes.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::backing::{Backing, CacheLoader, DynBacking};
use crate::errors::{BoxError, BuildError};
use crate::key_value::{Key, Value};
use crate::limits::CacheLimits;
use crate::pending_writes::PendingWrites;
use crate::removal::{RemovalListener, RemovedEntry};
use crate::write_behind::WriteBehind;
use crate::write_queue::WriteQueue;

/// Returns how long a value may be used, if it has a time of its own.
type ExpiryFn<K, V> = dyn Fn(&K, &V) -> Option<Duration> + Send + Sync;

type WeigherFn<K, V> = dyn Fn(&K, &V) -> u64 + Send + Sync;

/// The settings of a cache, checked, with all that its states share.
pub(crate) struct CacheSettings<K, V> {
    pub(crate) limits: Arc<CacheLimits>,
    weigher: Option<Arc<WeigherFn<K, V>>>,
    expiry: Option<Arc<ExpiryFn<K, V>>>,
    pub(crate) listener: Option<RemovalListener<K, V>>,
    pub(crate) loader: Option<CacheLoader<K, V>>,
    pub(crate) load_timeout: Option<Duration>,
    pub(crate) max_loads: Option<usize>,
    pub(crate) writing: WriteMode<K, V>,
    /// The same for all states, since they share writes in flight.
    pub(crate) hasher: RandomState,
    pub(crate) pending_writes: Arc<PendingWrites<K>>,
}

/// The weight and the time of a value, by the program's functions.
#[derive(Clone, Copy)]
pub(crate) struct EntryMeasure {
    pub(crate) weight: u64,
    /// For how long it may be used, if that is not the same for all.
    pub(crate) time_to_live: Option<Duration>,
}

impl<K, V> CacheSettings<K, V> {
    /// Weighs a value, and asks how long it lives. Calls user code, which may panic.
    pub(crate) fn measure(&self, key: &K, value: &V) -> EntryMeasure {
        EntryMeasure {
            weight: self.weigher.as_ref().map_or(0, |weigh| weigh(key, value)),
            time_to_live: self.expiry.as_ref().and_then(|expiry| expiry(key, value)),
        }
    }
}

/// Where writes go.
pub(crate) enum WriteMode<K, V> {
    Nowhere,
    Through { store: Arc<dyn DynBacking<K, V>>, timeout: Option<Duration> },
    Behind(Arc<WriteQueue<K, V>>),
}

/// Settings of a cache: see [`Cache::builder`](crate::Cache::builder).
#[must_use = "nothing is made until `build` is called"]
pub struct CacheBuilder<K, V> {
    limits: CacheLimits,
    weigher: Option<Arc<WeigherFn<K, V>>>,
    expiry: Option<Arc<ExpiryFn<K, V>>>,
    listener: Option<RemovalListener<K, V>>,
    loader: Option<CacheLoader<K, V>>,
    load_timeout: Option<Duration>,
    max_loads: Option<usize>,
    write_timeout: Option<Duration>,
    writing: WriteTarget<K, V>,
}

/// Where writes go, as far as the builder knows.
enum WriteTarget<K, V> {
    Nowhere,
    Through(Arc<dyn DynBacking<K, V>>),
    Behind(Arc<dyn DynBacking<K, V>>, WriteBehind<K, V>),
}

impl<K: Key, V: Value> CacheBuilder<K, V> {
    pub(crate) fn new() -> Self {
        Self {
            limits: CacheLimits::default(),
            weigher: None,
            expiry: None,
            listener: None,
            loader: None,
            load_timeout: None,
            max_loads: None,
            write_timeout: None,
            writing: WriteTarget::Nowhere,
        }
    }

    /// Sets the maximum number of entries. The least recently used one makes room for a new one.
    pub fn max_entries(mut self, entries: usize) -> Self {
        self.limits.max_entries = Some(entries);
        self
    }

    /// Sets what its entries may weigh together. An entry that is heavier by itself is not kept.
    /// (That there is no value, if that is [kept](Self::negative_time_to_live), weighs 1.)
    pub fn max_weight(
        mut self,
        weight: u64,
        weigh: impl Fn(&K, &V) -> u64 + Send + Sync + 'static,
    ) -> Self {
        self.limits.max_weight = Some(weight);
        self.weigher = Some(Arc::new(weigh));
        self
    }

    /// Sets how long a value may be used after it was put, or after its load began.
    pub fn time_to_live(mut self, time: Duration) -> Self {
        self.limits.time_to_live = Some(time);
        self
    }

    /// Sets how long each value may be used after it was put, or after its load began: what the
    /// function returns for it. `None`: as long as others. With a
    /// [`time_to_live`](Self::time_to_live) as well, the shorter time counts. A value whose time is
    /// zero is answered, and not kept.
    ///
    /// ```
    /// use coact::cache::{Cache, Caching};
    /// use std::time::Duration;
    ///
    /// #[derive(Clone)]
    /// struct Token { text: String, expires_in: Duration }
    ///
    /// let tokens = Cache::builder()
    ///     .max_entries(1_000)
    ///     .expire_after(|_user: &u64, token: &Token| Some(token.expires_in))
    ///     .load(|user: u64| async move {
    ///         let text = format!("token of {user}");
    ///         Ok(Some(Token { text, expires_in: Duration::from_secs(300) }))
    ///     })
    ///     .build()?
    ///     .spawn();
    /// assert_eq!(tokens.get(7).wait()??.unwrap().text, "token of 7");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// It costs an ordered set of times beside the entries. A panic of the function fails what has
    /// put the value; a value that was loaded is answered then, and not kept.
    pub fn expire_after(
        mut self,
        time: impl Fn(&K, &V) -> Option<Duration> + Send + Sync + 'static,
    ) -> Self {
        self.limits.has_expiry = true;
        self.expiry = Some(Arc::new(time));
        self
    }

    /// Sets after what time since it was put, or since its load began, a value is loaded again when
    /// a get asks for it. The old value is answered meanwhile, as long as it has not expired. So
    /// what is asked for often is never waited for. It is shorter than the
    /// [`time_to_live`](Self::time_to_live).
    ///
    /// A refresh that fails changes nothing but the counts, and is a `tracing` event; the next get
    /// begins another one. One that finds no value drops the entry. A refresh is a load in all
    /// else: a key has one at a time, a put or an invalidation makes it void, and
    /// [`max_loads`](Self::max_loads) bounds it. Reads by behaviours and
    /// [`GetCached`](crate::GetCached) begin none, nor does a get while a write behind of the key
    /// waits, which is newer than what the store has.
    ///
    /// ```
    /// use coact::cache::{Cache, Caching};
    /// use std::time::Duration;
    ///
    /// let rates = Cache::builder()
    ///     .max_entries(100)
    ///     .time_to_live(Duration::from_secs(60))
    ///     .refresh_after_write(Duration::from_secs(45))
    ///     .load(|currency: &'static str| async move { Ok(Some(currency.len())) })
    ///     .build()?
    ///     .spawn();
    /// assert_eq!(rates.get("EUR").wait()??, Some(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refresh_after_write(mut self, time: Duration) -> Self {
        self.limits.refresh_after_write = Some(time);
        self
    }

    /// Sets what is called with each value that the cache drops, once, and with the reason. A value
    /// whose time is over is dropped late, when its key is next asked for or something else is
    /// kept: in an idle cache never. A refresh replaces the value
    /// ([`Replaced`](crate::RemovalCause::Replaced)). The listener is called in the turn of the
    /// cache, so it should not take long; what takes longer is for an actor that it sends the value
    /// to. A panic of it is reported.
    ///
    /// A value that was put or loaded and is not kept, since it is too heavy or its time is over,
    /// is among them. What a cache has when it ends or restarts is dropped without a call.
    ///
    /// ```
    /// use coact::cache::{Cache, Caching, RemovalCause};
    /// use std::sync::mpsc::channel;
    ///
    /// let (sender, removed) = channel();
    /// let sessions = Cache::builder()
    ///     .max_entries(1)
    ///     .eviction_listener(move |entry| _ = sender.send((entry.key, entry.value, entry.cause)))
    ///     .build()?
    ///     .spawn();
    /// sessions.put(1, "Ann").wait()??;
    /// sessions.put(2, "Bob").wait()??;
    /// sessions.put(2, "Bert").wait()??;
    /// assert_eq!(removed.recv()?, (1, "Ann", RemovalCause::Size));
    /// assert_eq!(removed.recv()?, (2, "Bob", RemovalCause::Replaced));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "removal_listener")]
    pub fn eviction_listener(
        mut self,
        listener: impl Fn(RemovedEntry<K, V>) + Send + Sync + 'static,
    ) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// Sets after what time without use an entry is dropped.
    pub fn time_to_idle(mut self, time: Duration) -> Self {
        self.limits.time_to_idle = Some(time);
        self
    }

    /// Has the cache remember for some time that there is no value, or that it could not be loaded.
    /// Without this, each get tries again.
    pub fn negative_time_to_live(mut self, time: Duration) -> Self {
        self.limits.negative_time_to_live = Some(time);
        self
    }

    /// Has entries that were used once make room before those that were used again, of which there
    /// are up to four fifths: so one pass over many keys does not drop what is used all the time.
    /// (This is known as a segmented LRU.)
    pub fn scan_resistant(mut self) -> Self {
        self.limits.is_scan_resistant = true;
        self
    }

    /// Sets what loads a value that is not there: a future, run beside the cache. `?` makes a
    /// [`BoxError`] of any error: `|key| async move { Ok(fetch(key).await?) }`.
    pub fn load<F, L>(mut self, load: F) -> Self
    where
        F: Fn(K) -> L + Send + Sync + 'static,
        L: Future<Output = Result<Option<V>, BoxError>> + Send + 'static,
    {
        self.loader = Some(CacheLoader::of_async(load));
        self
    }

    /// Sets the function that loads missing values. It may block: it runs on a
    /// [blocking thread](coact_core::runtime::blocking).
    pub fn load_blocking<F>(mut self, load: F) -> Self
    where
        F: Fn(K) -> Result<Option<V>, BoxError> + Send + Sync + 'static,
    {
        self.loader = Some(CacheLoader::of_blocking(load));
        self
    }

    /// Loads missing values from a store, and never writes to it.
    pub fn read_through(mut self, store: impl Backing<K, V>) -> Self {
        self.loader = Some(CacheLoader::of_store(Arc::new(store)));
        self
    }

    /// Sets the time after which a load fails. Its future is dropped then. A function on a blocking
    /// thread goes on, and gets of its key fail at once until it returns.
    ///
    /// Without this, a load that never ends blocks the gets of its key for ever, and no others.
    pub fn load_timeout(mut self, timeout: Duration) -> Self {
        self.load_timeout = Some(timeout);
        self
    }

    /// Sets the maximum number of loads in flight. A get that needs one more is refused with
    /// [`LoadError::Full`](crate::LoadError::Full); gets that find a value or join a load are not.
    /// A load counts until it ends, even if nothing waits for it any more. Without this, each
    /// missing key that is asked for has a load.
    pub fn max_loads(mut self, loads: usize) -> Self {
        self.max_loads = Some(loads);
        self
    }

    /// Loads missing values from a store, and writes to it before a write is answered.
    pub fn write_through(mut self, store: impl Backing<K, V>) -> Self {
        let store: Arc<dyn DynBacking<K, V>> = Arc::new(store);
        self.loader.get_or_insert_with(|| CacheLoader::of_store(Arc::clone(&store)));
        self.writing = WriteTarget::Through(store);
        self
    }

    /// Sets the time after which a write through fails. Its future is dropped then; the store may
    /// have taken the value.
    pub fn write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = Some(timeout);
        self
    }

    /// Loads missing values from a store, and writes to it after writes are answered.
    pub fn write_behind(mut self, store: impl Backing<K, V>, settings: WriteBehind<K, V>) -> Self {
        let store: Arc<dyn DynBacking<K, V>> = Arc::new(store);
        self.loader.get_or_insert_with(|| CacheLoader::of_store(Arc::clone(&store)));
        self.writing = WriteTarget::Behind(store, settings);
        self
    }

    /// Builds the specification.
    ///
    /// # Errors
    /// Fails if there is no bound of entries or weight, if a setting is zero, if there is no loader
    /// for a refresh, or if values would expire before they are refreshed.
    pub fn build(mut self) -> Result<CacheSpec<K, V>, BuildError> {
        self.check()?;
        self.limits.is_timed = self.limits.needs_clock();
        let writing = match self.writing {
            WriteTarget::Nowhere => WriteMode::Nowhere,
            WriteTarget::Through(store) => {
                WriteMode::Through { store, timeout: self.write_timeout }
            }
            WriteTarget::Behind(store, settings) => {
                WriteMode::Behind(WriteQueue::new(store, settings))
            }
        };
        Ok(CacheSpec(Arc::new(CacheSettings {
            limits: Arc::new(self.limits),
            weigher: self.weigher,
            expiry: self.expiry,
            listener: self.listener,
            loader: self.loader,
            load_timeout: self.load_timeout,
            max_loads: self.max_loads,
            writing,
            hasher: RandomState::new(),
            pending_writes: PendingWrites::new(),
        })))
    }

    fn check(&self) -> Result<(), BuildError> {
        let limits = &self.limits;
        if limits.max_entries.is_none() && limits.max_weight.is_none() {
            return Err(BuildError::Unbounded);
        }
        let is_zero = |time: Option<Duration>| time == Some(Duration::ZERO);
        let mut zeros = vec![
            ("max_entries", limits.max_entries == Some(0)),
            ("max_weight", limits.max_weight == Some(0)),
            ("time_to_live", is_zero(limits.time_to_live)),
            ("time_to_idle", is_zero(limits.time_to_idle)),
            ("negative_time_to_live", is_zero(limits.negative_time_to_live)),
            ("refresh_after_write", is_zero(limits.refresh_after_write)),
            ("max_loads", self.max_loads == Some(0)),
            ("load_timeout", is_zero(self.load_timeout)),
            ("write_timeout", is_zero(self.write_timeout)),
        ];
        if let WriteTarget::Behind(_, settings) = &self.writing {
            zeros.extend([
                ("max_batch", settings.max_batch == 0),
                ("max_waiting", settings.max_waiting == 0),
                ("timeout", is_zero(settings.timeout)),
                ("backoff", is_zero(Some(settings.backoff.0.min(settings.backoff.1)))),
            ]);
        }
        if let Some((setting, _)) = zeros.into_iter().find(|(_, is_zero)| *is_zero) {
            return Err(BuildError::Zero(setting));
        }
        if limits.refresh_after_write.is_some() && self.loader.is_none() {
            return Err(BuildError::NoLoader("refresh_after_write"));
        }
        if let (Some(refresh_after_write), Some(time_to_live)) =
            (limits.refresh_after_write, limits.time_to_live)
            && refresh_after_write >= time_to_live
        {
            return Err(BuildError::RefreshAfterExpiry { refresh_after_write, time_to_live });
        }
        Ok(())
    }
}

/// The specification of a cache, from [`Cache::builder`](crate::Cache::builder). Cheap to clone.
///
/// ```
/// use coact::actor::actor;
/// use coact::cache::{Cache, Caching};
/// use coact::mailbox::Mailbox;
/// use coact::supervise::{Supervisor, permanent};
///
/// let squares = Cache::builder().max_entries(1_000).load(|n: u64| async move { Ok(Some(n * n)) });
/// let squares = squares.build()?;
///
/// // An actor with the default settings, one with others, and the child of a supervisor.
/// let cache = squares.spawn();
/// let named = actor(squares.cache()).named("squares").mailbox(Mailbox::bounded(10_000)).spawn();
/// let supervisor = Supervisor::dynamic().spawn();
/// let child = supervisor.start_child(permanent(move || squares.cache())).wait()?;
/// for cache in [cache, named, child] {
///     assert_eq!(cache.get(12).wait()??, Some(144));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// With [`write_behind`](CacheBuilder::write_behind), the writes that wait belong to the
/// specification, so they survive a restart of the actor. Several caches of one specification share
/// them. Otherwise such caches are independent: one sees the writes of another once its own entry
/// is gone.
pub struct CacheSpec<K, V>(pub(crate) Arc<CacheSettings<K, V>>);

impl<K, V> Clone for CacheSpec<K, V> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K, V> fmt::Debug for CacheSpec<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = &self.0.limits;
        f.debug_struct("CacheSpec")
            .field("max_entries", &limits.max_entries)
            .field("max_weight", &limits.max_weight)
            .field("time_to_live", &limits.time_to_live)
            .field("time_to_idle", &limits.time_to_idle)
            .finish_non_exhaustive()
    }
}

impl<K, V> fmt::Debug for CacheBuilder<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheBuilder").finish_non_exhaustive()
    }
}
