//! What a program says of an entity: what it is, and by what it is changed.

use coact_persist::{EntityId, Event, Format, FormatError, read, write};

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
}

/// When snapshots of an entity are stored, and how a state becomes one.
#[derive(Debug)]
pub struct Snapshots<E> {
    pub(crate) every: u64,
    pub(crate) write: fn(&E) -> Result<Event, FormatError>,
    pub(crate) read: fn(&Event) -> Result<E, FormatError>,
}

impl<E: Format> Snapshots<E> {
    /// One each time that there are `events` more, of a state that is stored as it is.
    ///
    /// # Panics
    /// If it is 0.
    #[must_use]
    pub fn every(events: u64) -> Self {
        Self::by(events, write, read)
    }
}

impl<E> Snapshots<E> {
    /// One each time that there are `events` more, by functions that write a state and read it again.
    ///
    /// # Panics
    /// If it is 0.
    #[must_use]
    pub fn by(
        events: u64,
        write: fn(&E) -> Result<Event, FormatError>,
        read: fn(&Event) -> Result<E, FormatError>,
    ) -> Self {
        assert!(events > 0, "a snapshot with every 0 events");
        Self { every: events, write, read }
    }
}
