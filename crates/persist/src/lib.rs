//! The data that stores keep of durable actors, and the interface of stores.
//!
//! An *entity* is what outlives its process: it has a type and a key ([`EntityId`]), and a history
//! of [events](StoredEvent), with a [snapshot](Snapshot) now and then. What changes is written as a
//! [`Commit`]: one step over one or several entities, which is stored as a whole or not at all.
//!
//! A [`Store`] keeps it. This crate has one in [memory](MemoryStore), and does no I/O of its own.
//! All stores pass the same tests (`conformance`, with the feature of that name).
//!
//! ```
//! use coact_persist::{
//!     Commit, EntityId, Event, MemoryStore, Seq, Store, StoreOutcome, StoreReader, wait,
//! };
//!
//! let store = MemoryStore::new();
//! let account = EntityId::new("bank.account", "alice");
//! let claim = wait(|done| store.claim(account.clone(), done))?;
//! assert_eq!(claim.last, Seq::ZERO);
//!
//! let mut commit = Commit::new();
//! let member = commit.member(account.clone(), claim.epoch, claim.last);
//! member.event(Event::new("deposited", 1, b"100".to_vec()), claim.hash);
//! assert!(matches!(wait(|done| store.commit(commit, done)), StoreOutcome::Committed(_)));
//!
//! let events = wait(|done| store.events(account, Seq::ZERO, 10, done))?;
//! assert_eq!((events[0].seq, &*events[0].event.payload), (Seq::new(1), &b"100"[..]));
//! # Ok::<(), coact_persist::StoreError>(())
//! ```
//!
//! Stores keep bytes with the name and the version of a type: [`Format`] encodes values as such.
//!
//! Reading order: `entity` (names and numbers), `type_name`, `tags`, `record` and `note` (the
//! rows), `checksum_check` (are they sound), `calendar`, `format` (encoding), `commit` (one step),
//! `store` (the interface), `memory`.

#![forbid(unsafe_code)]

mod calendar;
mod checksum_check;
mod commit;
#[cfg(feature = "conformance")]
pub mod conformance;
mod entity;
mod error;
mod format;
mod memory;
mod note;
mod record;
mod store;
mod tags;
mod type_name;

pub use self::calendar::date;
pub use self::commit::{
    Commit, CommitId, CommitMember, CommitMemory, CommitRefusal, CommitSettlement, StoreOutcome,
};
pub use self::entity::{EntityId, Epoch, Position, Seq};
pub use self::error::StoreError;
#[doc(hidden)]
pub use self::format::assert_earlier;
pub use self::format::{Format, FormatError, read, write};
pub use self::memory::{InTransit, MemoryStore, StoreFault, StoreOperation};
pub use self::note::{Note, NoteChange, NoteId, NoteKey, NoteKind, NoteQuery};
pub use self::record::{
    EntitySummary, Event, EventHash, LogEntry, LogQuery, RowChecksum, Snapshot, StoredEvent,
};
pub use self::store::{Claim, Store, StoreCallback, StoreReader, wait};
pub use self::tags::Tags;
pub use self::type_name::TypeName;
#[doc(hidden)]
pub use minicbor;
