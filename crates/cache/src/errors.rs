//! What can go wrong.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use coact_core::Broken;

/// The error of a loader or a store, shared by all that are told of it.
pub type SharedError = Arc<dyn Error + Send + Sync>;

/// The error of a loader or a store: any error can be made one by `?`, and texts by `into`.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Why a cache is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// Neither the number of entries nor their weight has a bound, so the cache would grow for
    /// ever.
    Unbounded,
    /// This setting is zero.
    Zero(&'static str),
    /// This setting needs a loader.
    NoLoader(&'static str),
    /// Values would expire before they are loaded again, so they would be waited for all the same.
    RefreshAfterExpiry {
        /// The [`refresh_after_write`](crate::CacheBuilder::refresh_after_write).
        refresh_after_write: Duration,
        /// The [`time_to_live`](crate::CacheBuilder::time_to_live).
        time_to_live: Duration,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Unbounded => {
                f.write_str("a cache needs a bound: `max_entries`, `max_weight`, or both")
            }
            BuildError::Zero(setting) => write!(f, "`{setting}` of a cache is not zero"),
            BuildError::NoLoader(setting) => {
                write!(f, "`{setting}` of a cache needs a loader: `load`, `read_through`, a store")
            }
            BuildError::RefreshAfterExpiry { refresh_after_write, time_to_live } => write!(
                f,
                "`refresh_after_write` of a cache ({refresh_after_write:?}) is shorter than its `time_to_live` ({time_to_live:?})"
            ),
        }
    }
}

impl Error for BuildError {}

/// Why a [`Get`](crate::Get) has no answer. All that have waited for one load are told the same.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The loader has returned this error.
    Failed(SharedError),
    /// The loader has panicked, with this message.
    Panicked(Arc<str>),
    /// The load took longer than this, or, on a blocking thread, takes longer still.
    TimedOut(Duration),
    /// As many loads as this are under way, and no more [may be](crate::CacheBuilder::max_loads).
    Full(usize),
    /// The loader was dropped, at the end of the runtime.
    Cancelled,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Failed(error) => write!(f, "the value could not be loaded: {error}"),
            LoadError::Panicked(message) => write!(f, "the loader has panicked: {message}"),
            LoadError::TimedOut(after) => write!(f, "the value was not loaded within {after:?}"),
            LoadError::Full(loads) => {
                write!(f, "the value was not loaded: {loads} loads are under way (`max_loads`)")
            }
            LoadError::Cancelled => f.write_str("the load was cut off"),
        }
    }
}

impl Error for LoadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // (The text has what it says itself.)
            LoadError::Failed(error) => error.source(),
            _ => None,
        }
    }
}

impl From<Broken> for LoadError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Panicked(message) => LoadError::Panicked(message),
            _ => LoadError::Cancelled,
        }
    }
}

/// Why a write was not stored, or is not known to be.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The store has returned this error.
    Failed(SharedError),
    /// The store has panicked, with this message.
    Panicked(Arc<str>),
    /// The store has not answered within this time: it may still store it.
    TimedOut(Duration),
    /// As many writes behind wait as may, and as many again wait to wait.
    Full,
    /// The runtime has ended before it was known: it may be stored.
    Cancelled,
    /// This many writes, of those that were waited for, are lost.
    Lost(u64),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Failed(error) => write!(f, "it was not stored: {error}"),
            WriteError::Panicked(message) => write!(f, "the store has panicked: {message}"),
            WriteError::TimedOut(after) => {
                write!(f, "the store has not answered within {after:?}: it may be stored")
            }
            WriteError::Full => f.write_str("too many writes wait for the store"),
            WriteError::Cancelled => f.write_str("the runtime has ended: it may be stored"),
            WriteError::Lost(count) => write!(f, "{count} writes are lost"),
        }
    }
}

impl Error for WriteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            WriteError::Failed(error) => error.source(),
            _ => None,
        }
    }
}

impl From<Broken> for WriteError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Panicked(message) => WriteError::Panicked(message),
            _ => WriteError::Cancelled,
        }
    }
}

/// Why a store has not taken writes.
#[derive(Debug)]
#[non_exhaustive]
pub enum BackingError {
    /// It may take them later: writes behind are tried again.
    Unavailable(BoxError),
    /// It will never take them: a write behind is [lost](crate::WriteBehind::on_lost).
    Refused(BoxError),
}

impl BackingError {
    pub(crate) fn into_shared(self) -> SharedError {
        match self {
            BackingError::Unavailable(error) | BackingError::Refused(error) => error.into(),
        }
    }
}

impl<E: Into<BoxError>> From<E> for BackingError {
    /// Takes any error for one that may pass.
    fn from(error: E) -> Self {
        BackingError::Unavailable(error.into())
    }
}
