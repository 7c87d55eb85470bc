//! Durable actors: actors whose state outlives their process, since what happens to them is stored.
//!
//! An [entity](EventSourced) is changed by events alone. [Commands](Decide) and behaviours decide which; these are stored in
//! a [`Store`], through a [`Journal`]; and what follows from them, answers and messages, leaves when they are. **A behaviour
//! over several durable actors stores the events of all of them as one step, or none.**
//!
//! Users depend on the crate `coact`, which has this as its module `durable` (feature `durable`).
//!
//! Reading order: `event_sourced`, `snapshots`, `state` and `decide` (what a program says of an entity), `durable` and `effects` (the state, and what a
//! decision can do), `recovered` (what is written of it), `handle` (how it takes commands), `owner` (what is on its way to the store), `entity` (who has
//! it), `transaction` (a step over several), `recovery`, `access` (how the store is used), `outgoing`, `outbox`, `routes` and
//! `delivered` (messages between entities, timers, and what is published), `event_log`, `tag_log`, `follow` and `log_error`, `journal`, `offsets` and
//! `active` (entities by their keys), `builder`, `letters`, and `replay`.

#![forbid(unsafe_code)]

mod access;
mod active;
mod builder;
mod decide;
mod delivered;
mod durable;
mod effects;
mod entity;
mod event_log;
mod event_sourced;
mod follow;
mod handle;
mod journal;
mod letters;
mod log_error;
mod offsets;
mod once;
mod outbox;
mod outgoing;
mod owner;
mod recovered;
mod recovery;
mod replay;
mod routes;
mod snapshots;
mod state;
mod tag_log;
mod transaction;

pub use self::builder::JournalBuilder;
pub use self::decide::{Decide, Lookup};
pub use self::durable::Durable;
pub use self::event_log::{EventLog, Logged};
pub use self::event_sourced::EventSourced;
pub use self::journal::Journal;
pub use self::letters::{DeadLetter, Resumed};
pub use self::log_error::LogError;
pub use self::once::Once;
pub use self::outgoing::Outgoing;
pub use self::owner::Taken;
pub use self::recovery::{RecoveryError, RecoveryFault};
pub use self::replay::replay;
pub use self::routes::Publication;
pub use self::snapshots::Snapshots;
pub use self::state::DurableState;
pub use self::tag_log::TagLog;
pub use self::transaction::TwoStores;
pub use coact_core::behaviour::NotCommitted;
pub use coact_persist::*;
