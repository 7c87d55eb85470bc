//! Durable actors: actors whose state outlives their process, since what happens to them is stored.
//!
//! An [entity](EventSourced) is changed by events alone. [Commands](Decide) and behaviours decide which; these are stored in
//! a [`Store`], through a [`Journal`]; and what follows from them, answers and messages, leaves when they are. **A behaviour
//! over several durable actors stores the events of all of them as one step, or none.**
//!
//! Users depend on the crate `coact`, which has this as its module `durable` (feature `durable`).
//!
//! Reading order: `event_sourced`, `snapshots`, `state` and `decide` (what a program says of an entity), `durable` and `effects` (the state, and what a
//! decision can do), `recovered` (what is written of it), `handle` (how it takes commands), `pipeline` (commits in order, and what follows from them), `commit_request` and `behaviour_commit` (what the store is asked), `entity` (who has
//! it), `recovery`, `recovery_error`, `store_questions` and `outages` (what it asks the store, and for how long), `access`, `race`, `latch` and `abandonment` (how the store is used), `ranked` (what is stored beside events, in order), `outgoing`, `post`, `timer_table`, `outbox`, `routes` and
//! `delivered` (messages between entities, timers, and what is published), `event_log`, `tag_log`, `follow` and `log_error`, `journal`, `offsets` and
//! `active` (entities by their keys), `builder`, `letters`, `close` and `deliveries` (the end of a journal), and `replay`.

#![forbid(unsafe_code)]

mod abandonment;
mod access;
mod active;
mod behaviour_commit;
mod builder;
mod close;
mod commit_request;
mod decide;
mod delivered;
mod deliveries;
mod durable;
mod effects;
mod entity;
mod event_log;
mod event_sourced;
mod follow;
mod handle;
mod journal;
mod latch;
mod letters;
mod log_error;
mod offsets;
mod once;
mod outages;
mod outbox;
mod outgoing;
mod pipeline;
mod post;
mod race;
mod ranked;
mod recovered;
mod recovery;
mod recovery_error;
mod replay;
mod routes;
mod snapshots;
mod state;
pub mod store;
mod store_questions;
mod tag_log;
mod timer_table;

pub use self::behaviour_commit::DifferentStores;
pub use self::builder::JournalBuilder;
pub use self::close::CloseError;
pub use self::decide::{Decide, Lookup};
pub use self::durable::Durable;
pub use self::event_log::{EventLog, Logged};
pub use self::event_sourced::EventSourced;
pub use self::journal::Journal;
pub use self::letters::{DamagedLetter, DeadLetter, Resumed};
pub use self::log_error::LogError;
pub use self::once::{Once, OtherCommand};
pub use self::outgoing::{Outgoing, SetTimer};
pub use self::pipeline::AlreadyOwned;
pub use self::recovery_error::{RecoveryError, RecoveryFault};
pub use self::replay::replay;
pub use self::routes::Publication;
pub use self::snapshots::Snapshots;
pub use self::state::DurableState;
pub use self::tag_log::TagLog;
pub use coact_core::behaviour::NotCommitted;
pub use coact_core::internals::{ConfirmedQuestion, Pipelined, confirmed, pipelined};
pub use coact_persist::{
    CommitRefusal, EntityId, Event, Format, FormatError, MemoryStore, Position, Seq, Store,
    StoreError, Tags, TypeName,
};
// What `#[stored]` generates names these.
#[doc(hidden)]
pub use coact_persist::{assert_earlier, minicbor};
