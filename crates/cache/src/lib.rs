//! Caching actors: values that are asked for often, kept at hand.
//!
//! A [`Cache`] is an actor that keeps values by key, within bounds of number, weight and time. It
//! loads a missing value once for all who ask meanwhile, and writes to a store behind it, before or
//! after it answers.
//!
//! ```
//! use coact::cache::{Cache, Caching};
//!
//! let squares = Cache::builder().max_entries(1_000).load(|n: u64| async move { Ok(Some(n * n)) });
//! let squares = squares.build()?.spawn();
//! assert_eq!(squares.get(12).wait()??, Some(144));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Users depend on the crate `coact`, which has this as its module `cache` (feature `cache`).
//!
//! Reading order: `key_value`, `backing` (where values come from and go to), `builder` (the
//! settings), `messages`, `errors`, `counts`; then `entry_table` (the entries, and which goes
//! first) on `keyed_slab` and `slab_list`, `key_activity` (loads and waiting requests of a key)
//! with `abort`, and `removal`; `cache_state`, the decisions as a state machine without I/O, and
//! `cache`, the actor that drives it, with `handlers`; `pending_writes`; `write_behind`,
//! `write_queue` and `write_flusher`. `catch_panic` runs user futures, which may panic.

#![forbid(unsafe_code)]

mod abort;
mod backing;
mod builder;
mod cache;
mod cache_state;
mod catch_panic;
mod counts;
mod entry_table;
mod errors;
mod handlers;
mod key_activity;
mod key_value;
mod keyed_slab;
mod limits;
mod messages;
mod pending_writes;
mod removal;
mod slab_list;
mod write_behind;
mod write_flusher;
mod write_queue;

pub use self::backing::{Backing, Write};
pub use self::builder::{CacheBuilder, CacheSpec};
pub use self::cache::Cache;
pub use self::counts::CacheCounts;
pub use self::errors::{BackingError, BoxError, BuildError, LoadError, SharedError, WriteError};
pub use self::key_value::{Key, Value};
pub use self::messages::{
    Caching, Counts, Flush, Get, GetCached, GetWith, Invalidate, InvalidateAll, Put, Remove,
};
pub use self::removal::{RemovalCause, RemovedEntry};
pub use self::write_behind::{LostWrite, WriteBehind};
