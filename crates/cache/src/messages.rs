//! The messages of a cache.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;

use coact_actor::actor::{Addr, Ask, Message};

use crate::backing::{OnceLoader, once_loader};
use crate::cache::Cache;
use crate::counts::CacheCounts;
use crate::errors::{BoxError, LoadError, WriteError};
use crate::key_value::{Key, Value};

/// Asks for the value of a key, and loads it if it is missing. `None`: the key has no value.
pub struct Get<K, V>(pub(crate) K, PhantomData<fn() -> V>);

/// Asks for the value of a key, which is loaded with this function if it is not there and no load
/// of it is current.
pub struct GetWith<K, V> {
    pub(crate) key: K,
    pub(crate) load: OnceLoader<K, V>,
}

/// Asks for the value of a key if the cache has it. Loads nothing, and waits for nothing.
pub struct GetCached<K, V>(pub(crate) K, PhantomData<fn() -> V>);

/// Sets the value of a key: in the cache, and in the store if there is one to be written to.
///
/// The answer comes at once without such a store, when it is stored with
/// [`write_through`](crate::CacheBuilder::write_through), and when it waits to be stored with
/// [`write_behind`](crate::CacheBuilder::write_behind).
pub struct Put<K, V> {
    /// The key.
    pub key: K,
    /// Its value from now on.
    pub value: V,
}

/// Removes a key: from the cache, and from the store if there is one to be written to. It is
/// answered like a [`Put`].
pub struct Remove<K>(pub K);

/// Drops a key from the cache because its value has changed elsewhere. Writes nothing to the store.
pub struct Invalidate<K>(pub K);

/// Drops all keys from the cache.
#[derive(Clone, Copy, Debug)]
pub struct InvalidateAll;

/// Waits until all that was written behind before is stored; without writes behind, for nothing.
#[derive(Clone, Copy, Debug)]
pub struct Flush;

/// Asks for the cache's counts.
#[derive(Clone, Copy, Debug)]
pub struct Counts;

impl<K, V> Get<K, V> {
    /// Asks for this key.
    pub fn new(key: K) -> Self {
        Self(key, PhantomData)
    }
}

impl<K: Key, V: Value> GetWith<K, V> {
    /// Asks for this key, loaded like this.
    pub fn new<F, L>(key: K, load: F) -> Self
    where
        F: FnOnce(K) -> L + Send + 'static,
        L: Future<Output = Result<Option<V>, BoxError>> + Send + 'static,
    {
        Self { key, load: once_loader(load) }
    }
}

impl<K, V> GetCached<K, V> {
    /// Asks for this key.
    pub fn new(key: K) -> Self {
        Self(key, PhantomData)
    }
}

impl<K: Key, V: Value> Message for Get<K, V> {
    type Reply = Result<Option<V>, LoadError>;
}

impl<K: Key, V: Value> Message for GetWith<K, V> {
    type Reply = Result<Option<V>, LoadError>;
}

impl<K: Key, V: Value> Message for GetCached<K, V> {
    type Reply = Option<V>;
}

impl<K: Key, V: Value> Message for Put<K, V> {
    type Reply = Result<(), WriteError>;
}

impl<K: Key> Message for Remove<K> {
    type Reply = Result<(), WriteError>;
}

impl<K: Key> Message for Invalidate<K> {
    type Reply = ();
}

impl Message for InvalidateAll {
    type Reply = ();
}

impl Message for Flush {
    type Reply = Result<(), WriteError>;
}

impl Message for Counts {
    type Reply = CacheCounts;
}

/// The messages of a cache as methods of its address: `cache.get(key)` is
/// `cache.ask(Get::new(key))`.
pub trait Caching<K: Key, V: Value> {
    /// Asks for the value of a key, which is loaded if it is not there: see [`Get`].
    fn get(&self, key: K) -> Ask<Result<Option<V>, LoadError>>;

    /// Asks for the value of a key, which is loaded with this function if it is not there: see
    /// [`GetWith`].
    ///
    /// A load that is current is joined, and the function is dropped uncalled. So all who ask for
    /// a key load the same, however they do; and what is
    /// [remembered](crate::CacheBuilder::negative_time_to_live) of a key without a value is
    /// answered as well. The result is kept like that of the loader, which the cache need not
    /// have; a [`load_timeout`](crate::CacheBuilder::load_timeout) and the
    /// [bound on loads](crate::CacheBuilder::max_loads) hold for it as well.
    ///
    /// ```
    /// use coact::cache::{Cache, Caching};
    ///
    /// let lengths = Cache::<String, usize>::builder().max_entries(10).build()?.spawn();
    /// let length = |word: String| async move { Ok(Some(word.len())) };
    /// assert_eq!(lengths.get_with("four".to_owned(), length).wait()??, Some(4));
    /// // It is there from now on.
    /// assert_eq!(lengths.get("four".to_owned()).wait()??, Some(4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn get_with<F, L>(&self, key: K, load: F) -> Ask<Result<Option<V>, LoadError>>
    where
        Self: Sized,
        F: FnOnce(K) -> L + Send + 'static,
        L: Future<Output = Result<Option<V>, BoxError>> + Send + 'static;

    /// Asks for the value of a key if it is there: see [`GetCached`].
    fn get_cached(&self, key: K) -> Ask<Option<V>>;

    /// Sets the value of a key: see [`Put`].
    fn put(&self, key: K, value: V) -> Ask<Result<(), WriteError>>;

    /// Removes a key: see [`Remove`].
    fn remove(&self, key: K) -> Ask<Result<(), WriteError>>;

    /// Drops a key from the cache: see [`Invalidate`].
    fn invalidate(&self, key: K) -> Ask<()>;

    /// Drops all keys from the cache: see [`InvalidateAll`].
    fn invalidate_all(&self) -> Ask<()>;

    /// Waits until all that was written before is stored: see [`Flush`].
    fn flush(&self) -> Ask<Result<(), WriteError>>;

    /// Asks for the cache's counts: see [`Counts`].
    fn counts(&self) -> Ask<CacheCounts>;
}

impl<K: Key, V: Value> Caching<K, V> for Addr<Cache<K, V>> {
    fn get(&self, key: K) -> Ask<Result<Option<V>, LoadError>> {
        self.ask(Get::new(key))
    }

    fn get_with<F, L>(&self, key: K, load: F) -> Ask<Result<Option<V>, LoadError>>
    where
        F: FnOnce(K) -> L + Send + 'static,
        L: Future<Output = Result<Option<V>, BoxError>> + Send + 'static,
    {
        self.ask(GetWith::new(key, load))
    }

    fn get_cached(&self, key: K) -> Ask<Option<V>> {
        self.ask(GetCached::new(key))
    }

    fn put(&self, key: K, value: V) -> Ask<Result<(), WriteError>> {
        self.ask(Put { key, value })
    }

    fn remove(&self, key: K) -> Ask<Result<(), WriteError>> {
        self.ask(Remove(key))
    }

    fn invalidate(&self, key: K) -> Ask<()> {
        self.ask(Invalidate(key))
    }

    fn invalidate_all(&self) -> Ask<()> {
        self.ask(InvalidateAll)
    }

    fn flush(&self) -> Ask<Result<(), WriteError>> {
        self.ask(Flush)
    }

    fn counts(&self) -> Ask<CacheCounts> {
        self.ask(Counts)
    }
}

impl<K: fmt::Debug, V> fmt::Debug for Get<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Get").field(&self.0).finish()
    }
}

impl<K: fmt::Debug, V> fmt::Debug for GetWith<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GetWith").field("key", &self.key).finish_non_exhaustive()
    }
}

impl<K: fmt::Debug, V> fmt::Debug for GetCached<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GetCached").field(&self.0).finish()
    }
}
