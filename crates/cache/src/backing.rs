//! The store behind a cache, and loaders.

use std::future::Future;
use std::sync::Arc;

use coact_core::runtime::blocking;

use crate::catch_panic::BoxFuture;
use crate::errors::{BackingError, BoxError, LoadError};
use crate::key_value::{Key, Value};

/// A store behind a cache, which loads from it and writes to it.
///
/// ```
/// use coact::cache::{Backing, BoxError, Cache, Caching, BackingError, Write};
/// use std::collections::HashMap;
/// use std::sync::Mutex;
///
/// #[derive(Default)]
/// struct Table(Mutex<HashMap<u32, String>>);
///
/// impl Backing<u32, String> for Table {
///     async fn load(&self, key: u32) -> Result<Option<String>, BoxError> {
///         Ok(self.0.lock().unwrap().get(&key).cloned())
///     }
///
///     async fn write(&self, writes: Vec<Write<u32, String>>) -> Result<(), BackingError> {
///         let mut table = self.0.lock().unwrap();
///         for Write { key, value } in writes {
///             match value {
///                 Some(value) => _ = table.insert(key, value),
///                 None => _ = table.remove(&key),
///             }
///         }
///         Ok(())
///     }
/// }
///
/// let cache = Cache::builder().max_entries(100).write_through(Table::default()).build()?.spawn();
/// cache.put(7, "seven".to_owned()).wait()??;
/// assert_eq!(cache.get(7).wait()??.as_deref(), Some("seven"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Backing<K, V>: Send + Sync + 'static {
    /// Loads the value of a key: `None` if there is none.
    fn load(&self, key: K) -> impl Future<Output = Result<Option<V>, BoxError>> + Send;

    /// Writes values of different keys. The writes of one key are made one at a time, in order. It
    /// may be called again with values that it has stored, if that answer was lost: then it stores
    /// the same again.
    ///
    /// With [`write_through`](crate::CacheBuilder::write_through) a call has one write, and calls
    /// for different keys may overlap.
    fn write(
        &self,
        writes: Vec<Write<K, V>>,
    ) -> impl Future<Output = Result<(), BackingError>> + Send;
}

/// A write of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write<K, V> {
    /// The key.
    pub key: K,
    /// Its value from now on: `None` if it is removed.
    pub value: Option<V>,
}

pub(crate) type LoadResult<V> = Result<Option<V>, LoadError>;

/// A loader of any type.
pub(crate) struct CacheLoader<K, V> {
    make: Box<dyn Fn(K) -> BoxFuture<LoadResult<V>> + Send + Sync>,
    is_blocking: bool,
}

impl<K: Key, V: Value> CacheLoader<K, V> {
    pub(crate) fn of_async<F, L>(load: F) -> Self
    where
        F: Fn(K) -> L + Send + Sync + 'static,
        L: Future<Output = Result<Option<V>, BoxError>> + Send + 'static,
    {
        let make = Box::new(move |key| -> BoxFuture<_> {
            let load = load(key);
            Box::pin(async move { load.await.map_err(failed) })
        });
        Self { make, is_blocking: false }
    }

    pub(crate) fn of_blocking<F>(load: F) -> Self
    where
        F: Fn(K) -> Result<Option<V>, BoxError> + Send + Sync + 'static,
    {
        let load = Arc::new(load);
        let make = Box::new(move |key| -> BoxFuture<_> {
            let load = Arc::clone(&load);
            Box::pin(async move { blocking(move || load(key)).await?.map_err(failed) })
        });
        Self { make, is_blocking: true }
    }

    pub(crate) fn of_store(store: Arc<dyn DynBacking<K, V>>) -> Self {
        Self { make: Box::new(move |key| Arc::clone(&store).load(key)), is_blocking: false }
    }

    pub(crate) fn load(&self, key: K) -> BoxFuture<LoadResult<V>> {
        (self.make)(key)
    }

    /// Whether a load goes on, on a blocking thread, when its future is dropped.
    pub(crate) fn blocks(&self) -> bool {
        self.is_blocking
    }
}

/// A loader of one value.
pub(crate) type OnceLoader<K, V> = Box<dyn FnOnce(K) -> BoxFuture<LoadResult<V>> + Send>;

/// Boxes a loader of one value.
pub(crate) fn once_loader<K, V, F, L>(load: F) -> OnceLoader<K, V>
where
    F: FnOnce(K) -> L + Send + 'static,
    L: Future<Output = Result<Option<V>, BoxError>> + Send + 'static,
{
    Box::new(move |key| {
        let load = load(key);
        Box::pin(async move { load.await.map_err(failed) })
    })
}

fn failed(error: BoxError) -> LoadError {
    LoadError::Failed(error.into())
}

/// A [`Backing`] of any type.
pub(crate) trait DynBacking<K, V>: Send + Sync {
    fn load(self: Arc<Self>, key: K) -> BoxFuture<LoadResult<V>>;

    fn write(self: Arc<Self>, writes: Vec<Write<K, V>>) -> BoxFuture<Result<(), BackingError>>;
}

impl<K: Key, V: Value, B: Backing<K, V>> DynBacking<K, V> for B {
    fn load(self: Arc<Self>, key: K) -> BoxFuture<LoadResult<V>> {
        Box::pin(async move { Backing::load(&*self, key).await.map_err(failed) })
    }

    fn write(self: Arc<Self>, writes: Vec<Write<K, V>>) -> BoxFuture<Result<(), BackingError>> {
        Box::pin(async move { Backing::write(&*self, writes).await })
    }
}
