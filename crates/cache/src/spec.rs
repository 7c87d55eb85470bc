//! What caches are made of, and how that is said.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::backing::{Backing, Key, Loader, Store, Value};
use crate::bounds::Bounds;
use crate::errors::{BoxError, BuildError};
use crate::flights::Flights;
use crate::queue::Queue;
use crate::write_behind::WriteBehind;

type Weigher<K, V> = dyn Fn(&K, &V) -> u64 + Send + Sync;

/// What a cache is made of.
pub(crate) struct Parts<K, V> {
    pub(crate) bounds: Arc<Bounds>,
    pub(crate) weigher: Option<Arc<Weigher<K, V>>>,
    pub(crate) loader: Option<Loader<K, V>>,
    pub(crate) load_timeout: Option<Duration>,
    pub(crate) writing: Writing<K, V>,
    /// The same for all states, as they share what is on its way.
    pub(crate) hasher: RandomState,
    pub(crate) flights: Arc<Flights<K>>,
}

/// Where writes go.
pub(crate) enum Writing<K, V> {
    Nowhere,
    Through { store: Arc<dyn Store<K, V>>, timeout: Option<Duration> },
    Behind(Arc<Queue<K, V>>),
}

/// Settings of a cache: see [`Cache::builder`](crate::Cache::builder).
#[must_use = "nothing is made until `build` is called"]
pub struct CacheBuilder<K, V> {
    bounds: Bounds,
    weigher: Option<Arc<Weigher<K, V>>>,
    loader: Option<Loader<K, V>>,
    load_timeout: Option<Duration>,
    write_timeout: Option<Duration>,
    writing: Writes<K, V>,
}

/// Where writes are to go.
enum Writes<K, V> {
    Nowhere,
    Through(Arc<dyn Store<K, V>>),
    Behind(Arc<dyn Store<K, V>>, WriteBehind<K, V>),
}

impl<K: Key, V: Value> CacheBuilder<K, V> {
    pub(crate) fn new() -> Self {
        Self {
            bounds: Bounds::default(),
            weigher: None,
            loader: None,
            load_timeout: None,
            write_timeout: None,
            writing: Writes::Nowhere,
        }
    }

    /// Sets how many entries it keeps. The one that was used least recently makes room for a new one.
    pub fn max_entries(mut self, entries: usize) -> Self {
        self.bounds.max_entries = Some(entries);
        self
    }

    /// Sets what its entries may weigh together. An entry that is heavier by itself is not kept. (That there is no value, if that is
    /// [kept](Self::negative_time_to_live), weighs 1.)
    pub fn max_weight(
        mut self,
        weight: u64,
        weigh: impl Fn(&K, &V) -> u64 + Send + Sync + 'static,
    ) -> Self {
        self.bounds.max_weight = Some(weight);
        self.weigher = Some(Arc::new(weigh));
        self
    }

    /// Sets how long a value may be used after it was put, or after its load began.
    pub fn time_to_live(mut self, time: Duration) -> Self {
        self.bounds.time_to_live = Some(time);
        self
    }

    /// Sets after what time without use an entry is dropped.
    pub fn time_to_idle(mut self, time: Duration) -> Self {
        self.bounds.time_to_idle = Some(time);
        self
    }

    /// Has the cache remember for some time that there is no value, or that it could not be loaded. Without this, each get tries again.
    pub fn negative_time_to_live(mut self, time: Duration) -> Self {
        self.bounds.negative_time_to_live = Some(time);
        self
    }

    /// Has entries that were used once make room before those that were used again, of which there are up to four fifths: so one pass over many
    /// keys does not drop what is used all the time. (This is known as a segmented LRU.)
    pub fn scan_resistant(mut self) -> Self {
        self.bounds.is_segmented = true;
        self
    }

    /// Sets what loads a value that is not there: a future, run beside the cache.
    pub fn load<F, L>(mut self, load: F) -> Self
    where
        F: Fn(K) -> L + Send + Sync + 'static,
        L: Future<Output = Result<Option<V>, BoxError>> + Send + 'static,
    {
        self.loader = Some(Loader::of_async(load));
        self
    }

    /// Sets what loads a value that is not there: a function that may block, run on a [blocking thread](coact_core::runtime::blocking).
    pub fn load_blocking<F>(mut self, load: F) -> Self
    where
        F: Fn(K) -> Result<Option<V>, BoxError> + Send + Sync + 'static,
    {
        self.loader = Some(Loader::of_blocking(load));
        self
    }

    /// Has values that are not there loaded from a store, which is not written to.
    pub fn read_through(mut self, store: impl Backing<K, V>) -> Self {
        self.loader = Some(Loader::of_store(Arc::new(store)));
        self
    }

    /// Sets after what time a load has failed. Its future is dropped then. A function on a blocking thread goes on, and until it has
    /// returned, gets of its key fail at once.
    ///
    /// Without this, a load that never ends has those who ask for its key wait for ever (others do not).
    pub fn load_timeout(mut self, timeout: Duration) -> Self {
        self.load_timeout = Some(timeout);
        self
    }

    /// Has values loaded from a store, and written to it, before a write is answered.
    pub fn write_through(mut self, store: impl Backing<K, V>) -> Self {
        let store: Arc<dyn Store<K, V>> = Arc::new(store);
        self.loader.get_or_insert_with(|| Loader::of_store(Arc::clone(&store)));
        self.writing = Writes::Through(store);
        self
    }

    /// Sets after what time a write through has failed. Its future is dropped then; it may be stored.
    pub fn write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = Some(timeout);
        self
    }

    /// Has values loaded from a store, and written to it after their writes are answered.
    pub fn write_behind(mut self, store: impl Backing<K, V>, settings: WriteBehind<K, V>) -> Self {
        let store: Arc<dyn Store<K, V>> = Arc::new(store);
        self.loader.get_or_insert_with(|| Loader::of_store(Arc::clone(&store)));
        self.writing = Writes::Behind(store, settings);
        self
    }

    /// Makes the specification.
    ///
    /// # Errors
    /// Fails if there is no bound of entries or weight, or if a setting is zero.
    pub fn build(self) -> Result<CacheSpec<K, V>, BuildError> {
        self.check()?;
        let writing = match self.writing {
            Writes::Nowhere => Writing::Nowhere,
            Writes::Through(store) => Writing::Through { store, timeout: self.write_timeout },
            Writes::Behind(store, settings) => Writing::Behind(Queue::new(store, settings)),
        };
        Ok(CacheSpec(Arc::new(Parts {
            bounds: Arc::new(self.bounds),
            weigher: self.weigher,
            loader: self.loader,
            load_timeout: self.load_timeout,
            writing,
            hasher: RandomState::new(),
            flights: Flights::new(),
        })))
    }

    fn check(&self) -> Result<(), BuildError> {
        let bounds = &self.bounds;
        if bounds.max_entries.is_none() && bounds.max_weight.is_none() {
            return Err(BuildError::Unbounded);
        }
        let is_zero = |time: Option<Duration>| time == Some(Duration::ZERO);
        let mut zeros = vec![
            ("max_entries", bounds.max_entries == Some(0)),
            ("max_weight", bounds.max_weight == Some(0)),
            ("time_to_live", is_zero(bounds.time_to_live)),
            ("time_to_idle", is_zero(bounds.time_to_idle)),
            ("negative_time_to_live", is_zero(bounds.negative_time_to_live)),
            ("load_timeout", is_zero(self.load_timeout)),
            ("write_timeout", is_zero(self.write_timeout)),
        ];
        if let Writes::Behind(_, settings) = &self.writing {
            zeros.extend([
                ("max_batch", settings.max_batch == 0),
                ("max_waiting", settings.max_waiting == 0),
                ("timeout", is_zero(settings.timeout)),
                ("backoff", is_zero(Some(settings.backoff.0.min(settings.backoff.1)))),
            ]);
        }
        let zero = zeros.into_iter().find(|(_, is_zero)| *is_zero);
        zero.map_or(Ok(()), |(setting, _)| Err(BuildError::Zero(setting)))
    }
}

/// What a cache is made of: made by [`Cache::builder`](crate::Cache::builder), cheap to clone.
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
/// With [`write_behind`](CacheBuilder::write_behind), what waits to be written belongs to the specification. So the state that a restart makes
/// has what the one before has left. Several caches of one specification share it; apart from that they know nothing of each
/// other, and what one writes another sees when its own entry is gone.
pub struct CacheSpec<K, V>(pub(crate) Arc<Parts<K, V>>);

impl<K, V> Clone for CacheSpec<K, V> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K, V> fmt::Debug for CacheSpec<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bounds = &self.0.bounds;
        f.debug_struct("CacheSpec")
            .field("max_entries", &bounds.max_entries)
            .field("max_weight", &bounds.max_weight)
            .field("time_to_live", &bounds.time_to_live)
            .field("time_to_idle", &bounds.time_to_idle)
            .finish_non_exhaustive()
    }
}

impl<K, V> fmt::Debug for CacheBuilder<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheBuilder").finish_non_exhaustive()
    }
}
