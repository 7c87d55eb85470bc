//! The module `durable`: what programs need of durable actors.

#[doc(inline)]
pub use coact_durable::*;
#[doc(inline)]
pub use coact_macros::stored;

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
/// whose reason is [`CommitRefusal::Fenced`], and the actor here stops. If the store cannot be
/// reached, or the answer of the store is lost, it fails with [`StoreError::Unavailable`], and
/// nothing else changes.
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
/// confirmed for all askers calls [`Durable::confirm`]. Sets may be [pipelined](pipelined()) too.
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

/// Makes a behaviour decide on what is not stored yet, as [commands](Decide) do, so that it waits
/// for no commit but its own.
///
/// Other behaviours over durable members begin when everything that the members decided before is
/// stored, so a pair of entities takes part in one commit at a time. A pipelined behaviour begins
/// while commits are pending, and releases its members when its own commit is pending. Its result,
/// and what it sends or leaves to be done, follow when that commit is stored, behind everything
/// that was pending of its members. If something that it has seen is not stored, neither is it, and
/// it fails with the same error.
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
/// **The closure only decides.** What it reads may never be stored. So it returns what others are
/// to learn, or sends it with [`Durable::send`], or does it [on commit](Durable::on_commit); it
/// does not print, or write to a channel. Nothing else sees what is not stored: behaviours that are
/// not pipelined wait, also those that only read.
///
/// Pass it a set, or one member of a set, which makes the whole behaviour pipelined, in all forms
/// of behaviours. The compiler refuses a set without durable members:
///
/// ```compile_fail,E0080
/// # use coact::{Cown, when};
/// # use coact::durable::pipelined;
/// let count = Cown::new(0);
/// when(pipelined(&count), |count| *count += 1);
/// ```
///
/// **Cost.** An allocation, a lock for each member, and one lock of the process if there are
/// several, besides those of the behaviour. The bytes in flight of each member are bounded
/// ([`JournalBuilder::most_in_flight`]).
pub use coact_core::internals::pipelined;
