//! Durable actors: actors whose state outlives their process, since what happens to them is stored.
//!
//! An [entity](EventSourced) is changed by events alone. [Commands](Decide) and behaviours decide which; these are stored in
//! a [`Store`], through a [`Journal`]; and what follows from them, answers and messages, leaves when they are. **A behaviour
//! over several durable actors stores the events of all of them as one step, or none.**
//!
//! Users depend on the crate `coact`, which has this as its module `durable` (feature `durable`).
//!
//! Reading order: `event_sourced`, `snapshots`, `state` and `decide` (what a program says of an entity), `durable` (the state, and what a decision
//! can do), `handle` (how it takes commands), `owner` (what is on its way to the store), `entity` (who has it), `transaction` (a step over
//! several), `recovery`, `access` (how the store is used), `event_log`, `journal` (entities by their keys).

#![forbid(unsafe_code)]

mod access;
mod decide;
mod durable;
mod entity;
mod event_log;
mod event_sourced;
mod handle;
mod journal;
mod owner;
mod recovery;
mod snapshots;
mod state;
mod transaction;

pub use self::decide::Decide;
pub use self::durable::Durable;
pub use self::event_log::{EventLog, LogError, Logged};
pub use self::event_sourced::EventSourced;
pub use self::journal::{Journal, JournalBuilder};
pub use self::owner::Taken;
pub use self::recovery::{RecoveryError, RecoveryFault};
pub use self::snapshots::Snapshots;
pub use self::state::DurableState;
pub use self::transaction::TwoStores;
pub use coact_core::behaviour::NotCommitted;
pub use coact_persist::*;
