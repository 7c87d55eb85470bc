//! What a program says of an entity: what it is, and by what it is changed.

use coact_persist::{EntityId, Format};

use crate::snapshots::Snapshots;

/// The state of an entity whose history is stored: what it is now is what its events have made of it.
///
/// Only [`apply`](Self::apply) changes it, so that nothing can bypass the history. What is to happen is decided by
/// [commands](crate::Decide), and by behaviours over several entities.
///
/// ```
/// use coact::durable::{EntityId, EventSourced, stored};
///
/// #[derive(Default)]
/// struct Account { balance: u64 }
///
/// #[stored(name = "bank.account-event")]
/// enum AccountEvent {
///     #[n(0)] Deposited(#[n(0)] u64),
///     #[n(1)] Withdrawn(#[n(0)] u64),
/// }
///
/// impl EventSourced for Account {
///     const KIND: &'static str = "bank.account";
///     type Event = AccountEvent;
///
///     fn new(_: &EntityId) -> Self { Self::default() }
///
///     fn apply(&mut self, event: &AccountEvent) {
///         match event {
///             AccountEvent::Deposited(amount) => self.balance += amount,
///             AccountEvent::Withdrawn(amount) => self.balance -= amount,
///         }
///     }
/// }
///
/// let mut account = Account::default();
/// account.apply(&AccountEvent::Deposited(100));
/// account.apply(&AccountEvent::Withdrawn(30));
/// assert_eq!(account.balance, 70);
/// ```
pub trait EventSourced: Sized + Send + 'static {
    /// The stable name of the type: with a key, it identifies an entity in the store. It does not change with the
    /// program, and no other type has it.
    const KIND: &'static str;

    /// What can happen to it. Events of earlier programs are read by [`Format::read_earlier`].
    type Event: Format;

    /// Returns the state of an entity without events.
    fn new(id: &EntityId) -> Self;

    /// Changes the state by an event that has happened. It must depend on nothing else: it is called when
    /// the event happens, and again whenever the entity is recovered.
    ///
    /// A panic in a recovery stops the entity with a [`RecoveryError`](crate::RecoveryError) that names the event.
    fn apply(&mut self, event: &Self::Event);

    /// Returns when snapshots are stored, so that a recovery need not begin with the first event. By default, never.
    #[must_use]
    fn snapshots() -> Option<Snapshots<Self>> {
        None
    }

    /// Whether an event is the whole state, so that only the last one is stored.
    #[doc(hidden)]
    const IS_STATE: bool = false;
}
