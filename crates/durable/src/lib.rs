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
/// Asks a question, a command or a set of durable members, whose answer the store confirms.
///
/// A command or behaviour that persists nothing is answered from what the entity's actor has read:
/// in the ordinary case that is all that is stored. But another process may have taken the entity
/// over, and then the actor here goes on answering from what it has until it first stores
/// something. A confirmed question asks the store, behind the decision: whether all members are, at
/// one moment, as the decision has seen them, and still owned by their actors here. So the answer
/// has in it all that was told to be stored, by any process, before it was asked for (databases
/// call such a read *linearizable*).
///
/// If another process owns a member, the question fails as a commit does: with `NotCommitted`,
/// whose reason is [`Refusal::Fenced`], and the actor here stops. If the store cannot be reached,
/// or the answer of the store is lost, it fails with [`StoreError::Unavailable`], and nothing else
/// changes.
///
/// ```
/// # use coact::durable::{Decide, Durable, EntityId, EventSourced, Journal, MemoryStore, stored};
/// # use coact::prelude::*;
/// # #[derive(Default)]
/// # struct Account { cents: i64 }
/// # #[stored(name = "changed")]
/// # struct Changed(#[n(0)] i64);
/// # impl EventSourced for Account {
/// #     const KIND: &'static str = "account";
/// #     type Event = Changed;
/// #     fn new(_: &EntityId) -> Self { Self::default() }
/// #     fn apply(&mut self, Changed(by): &Changed) { self.cents += by }
/// # }
/// # #[derive(Message)]
/// # #[message(reply = i64)]
/// # struct Balance;
/// # impl Decide<Balance> for Account {
/// #     fn decide(account: &mut Durable<Self>, _: Balance) -> i64 { account.cents }
/// # }
/// use coact::durable::confirmed;
///
/// let store = MemoryStore::new();
/// let [here, there] = [(); 2].map(|()| Journal::new(store.clone()));
/// let [alice, bob] = ["alice", "bob"].map(|key| here.entity::<Account>(key));
/// // A command, and behaviours over one or several, in all their forms.
/// assert_eq!(alice.ask(confirmed(Balance)).wait()?, 0);
/// assert_eq!(call(confirmed(alice.read()), |alice| alice.cents).wait()?, 0);
/// assert_eq!(call(confirmed((&alice, &bob)), |(alice, bob)| alice.cents + bob.cents).wait()?, 0);
///
/// // Another process takes the entity over.
/// call(&there.entity::<Account>("alice"), |alice| alice.persist(Changed(5))).wait()?;
/// assert_eq!(alice.ask(Balance).wait()?, 0);
/// assert!(alice.ask(confirmed(Balance)).wait().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// What persists something is confirmed by its own commit. A handler that wants its answers
/// confirmed, whoever asks, calls [`Durable::confirm`]. Sets may be [pipelined](pipelined()) too.
///
/// The compiler refuses a set without durable members:
///
/// ```compile_fail,E0080
/// # use coact::{Cown, call};
/// # use coact::durable::confirmed;
/// let count = Cown::new(0);
/// call(confirmed(&count), |count| *count);
/// ```
///
/// **Cost.** What a commit costs but for what that writes: a round trip to the store, which it
/// shares with other commits and checks that wait. Nothing is written, nor flushed to a disk.
/// Members are held as for a commit.
pub use coact_core::internals::confirmed;
/// Has a behaviour decide on what is not stored yet, as [commands](crate::Decide) do, so that it waits for no commit but its own.
///
/// Behaviours over durable members begin when all that these have decided before is stored; so one pair of entities takes part in one
/// commit at a time. A pipelined behaviour begins while commits are on their way, and releases its members when its own is. Its result, and
/// what it leaves to be done or sent, come when that is stored, behind all that its members had on their way before. If something
/// that it has seen is not stored, neither is it, and it has the same error.
///
/// ```
/// # use coact::durable::{EntityId, EventSourced, Journal, MemoryStore, stored};
/// # #[derive(Default)]
/// # struct Account { cents: i64 }
/// # #[stored(name = "changed")]
/// # struct Changed(#[n(0)] i64);
/// # impl EventSourced for Account {
/// #     const KIND: &'static str = "account";
/// #     type Event = Changed;
/// #     fn new(_: &EntityId) -> Self { Self::default() }
/// #     fn apply(&mut self, Changed(by): &Changed) { self.cents += by }
/// # }
/// use coact::call;
/// use coact::durable::pipelined;
///
/// let journal = Journal::new(MemoryStore::new());
/// let [house, alice] = ["house", "alice"].map(|key| journal.entity::<Account>(key));
/// // They take a few commits of the store, and not one after the other.
/// let fees: Vec<_> = (0..100)
///     .map(|_| {
///         call(pipelined((&house, &alice)), |(house, alice)| {
///             house.persist(Changed(1));
///             alice.persist(Changed(-1));
///             house.cents
///         })
///     })
///     .collect();
/// for (n, fee) in (1..).zip(fees) {
///     assert_eq!(fee.wait()?, n);
/// }
/// # Ok::<(), coact::Broken>(())
/// ```
///
/// **The closure only decides.** What it reads may never come to be. So whatever others are to learn from it, it returns, sends by
/// [`Durable::send`], or does [on commit](Durable::on_commit); it does not print, or write to a channel. Nothing else sees what is not stored: behaviours
/// that are not pipelined wait, as do those who only read.
///
/// It names a set, or a member of one, which makes the whole behaviour pipelined, in all forms of behaviours. The compiler
/// refuses a set without durable members:
///
/// ```compile_fail,E0080
/// # use coact::{Cown, when};
/// # use coact::durable::pipelined;
/// let count = Cown::new(0);
/// when(pipelined(&count), |count| *count += 1);
/// ```
///
/// **Cost.** An allocation, a lock of each member, and one of the process if there are several, besides those of the behaviour. Its members' bytes
/// on their way are bounded ([`JournalBuilder::most_in_flight`]).
pub use coact_core::internals::pipelined;
pub use coact_core::internals::{ConfirmedQuestion, Pipelined};
pub use coact_persist::*;
