//! Durable actors: actors whose state outlives their process, since what happens to them is stored.
//!
//! An [entity](EventSourced) is changed by events alone. [Commands](Decide) and behaviours decide
//! which; these are stored in a [`Store`], through a [`Journal`]; and what follows from them,
//! answers and messages, leaves when they are. **A behaviour over several durable actors stores the
//! events of all of them as one step, or none.**
//!
//! Users depend on the crate `coact`, which has this as its module `durable` (feature `durable`).
//!
//! Reading order:
//! * what a program says of an entity: `event_sourced`, `snapshots`, `durable_state`, `decide`;
//! * the state, and what a decision can do: `durable`, `effects`, `entity_state`, `durable_actor`,
//!   `idempotency`;
//! * from a decision to its answer: `joint_commit`, `pipeline`, `commit_request`,
//!   `store_client`, `future_until`, `latch`;
//! * who owns an entity, and how its state is recovered: `entity_ownership`, `recovery`,
//!   `recovery_error`, `store_questions`, `store_outages`;
//! * messages between entities, timers, and publications: `stored_message`, `outbox`,
//!   `message_delivery`, `delivered_message`, `message_routes`, `timer_table`, `ordered_notes`,
//!   `dead_letters`;
//! * logs: `event_log`, `tag_log`, `log_follower`, `event_log_error`, `consumer_offsets`,
//!   `replay_check`;
//! * the journal: `builder`, `journal`, `keep_alive`, `close`, `active_lanes`,
//!   `journal_abandonment`, `store`.

#![forbid(unsafe_code)]

mod active_lanes;
mod builder;
mod close;
mod commit_request;
mod consumer_offsets;
mod dead_letters;
mod decide;
mod delivered_message;
mod durable;
mod durable_actor;
mod durable_state;
mod effects;
mod entity_ownership;
mod entity_state;
mod event_log;
mod event_log_error;
mod event_sourced;
mod future_until;
mod idempotency;
mod joint_commit;
mod journal;
mod journal_abandonment;
mod keep_alive;
mod latch;
mod log_follower;
mod message_delivery;
mod message_routes;
mod ordered_notes;
mod outbox;
mod pipeline;
mod recovery;
mod recovery_error;
mod replay_check;
mod snapshots;
pub mod store;
mod store_client;
mod store_outages;
mod store_questions;
mod stored_message;
mod tag_log;
mod timer_table;

pub use self::builder::JournalBuilder;
pub use self::close::CloseError;
pub use self::dead_letters::{DamagedLetter, DeadLetter, ResumeReport};
pub use self::decide::{AnswerLookup, Decide};
pub use self::durable::Durable;
pub use self::durable_state::DurableState;
pub use self::event_log::{EventLog, LoggedEvent};
pub use self::event_log_error::LogError;
pub use self::event_sourced::EventSourced;
pub use self::idempotency::{IdempotencyKeyReused, Once};
pub use self::joint_commit::DifferentStores;
pub use self::journal::Journal;
pub use self::message_routes::Publication;
pub use self::pipeline::AlreadyOwned;
pub use self::recovery_error::{RecoveryError, RecoveryFault};
pub use self::replay_check::replay;
pub use self::snapshots::Snapshots;
pub use self::stored_message::{OutgoingMessage, ScheduledTimer};
pub use self::tag_log::TagLog;
pub use coact_core::behaviour::NotCommitted;
pub use coact_core::internals::{ConfirmedQuestion, Pipelined, confirmed, pipelined};
pub use coact_persist::{
    CommitRefusal, EntityId, Event, Format, FormatError, MemoryStore, Position, Seq, Store,
    StoreError, Tags, TypeName,
};
// Former names and places, so that programs and tests that use them still compile.
#[doc(hidden)]
pub use self::event_log::LoggedEvent as Logged;
#[doc(hidden)]
pub use coact_persist::{InTransit, StoreFault as Fault, StoreOperation as Operation};
// What `#[stored]` generates names these.
#[doc(hidden)]
pub use coact_persist::{assert_earlier, minicbor};
