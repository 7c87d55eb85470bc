//! What a program says of an entity: what it is, and which events change it.

use coact_persist::{EntityId, Format, Tags};

use crate::snapshots::Snapshots;

/// The state of an entity whose history is stored: what it is now is what its events have made of
/// it.
///
/// Only [`apply`](Self::apply) changes it, so that nothing can bypass the history. What is to
/// happen is decided by [commands](crate::Decide), and by behaviours over several entities.
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
    /// The stable name of the type: with a key, it identifies an entity in the store. It does not
    /// change with the program, and no other type has it.
    const KIND: &'static str;

    /// What can happen to it. Events of earlier programs are read by [`Format::read_earlier`].
    type Event: Format;

    /// Returns the state of an entity without events.
    fn new(id: &EntityId) -> Self;

    /// Changes the state by an event that has happened. It must depend on nothing else: it is
    /// called when the event happens, and again whenever the entity is recovered.
    ///
    /// A panic in a recovery stops the entity with a [`RecoveryError`](crate::RecoveryError) that
    /// names the event.
    fn apply(&mut self, event: &Self::Event);

    /// Returns the tags of an event, by which it is [found](crate::Journal::tagged) among those of
    /// all entities: by default, none. It is called when a decision
    /// [persists](crate::Durable::persist) the event, with the state that the event has made, and
    /// must not depend on anything else.
    ///
    /// An event keeps the tags that it was stored with, whatever a later program says of such
    /// events; those of an event cannot be changed. They go when it is
    /// [trimmed](Snapshots::trimming) or its entity [deleted](crate::Durable::delete). An event
    /// without tags costs nothing, one with tags a row for each.
    ///
    /// ```
    /// # use coact::durable::{EntityId, stored};
    /// use coact::durable::{EventSourced, Tags};
    ///
    /// struct Account { region: String, cents: i64 }
    ///
    /// #[stored(name = "bank.changed")]
    /// struct Changed { #[n(0)] cents: i64 }
    ///
    /// impl EventSourced for Account {
    ///     // ..
    /// #   const KIND: &'static str = "bank.account";
    /// #   type Event = Changed;
    /// #   fn new(_: &EntityId) -> Self { Self { region: "eu".into(), cents: 0 } }
    /// #   fn apply(&mut self, changed: &Changed) { self.cents += changed.cents }
    ///     fn tags(&self, changed: &Changed) -> Tags {
    ///         let region = format!("region:{}", self.region);
    ///         let is_large = changed.cents.abs() >= 1_000_000;
    ///         Tags::new([region].into_iter().chain(is_large.then(|| "large".into())))
    ///     }
    /// }
    ///
    /// // A plain function, which can be tested as it is.
    /// let account = Account { region: "us".into(), cents: 5 };
    /// assert_eq!(account.tags(&Changed { cents: 5 }), Tags::new(["region:us"]));
    /// ```
    ///
    /// A panic in it, that of [`Tags::new`] for bad ones among them, is one of the decision:
    /// nothing of it is stored.
    fn tags(&self, event: &Self::Event) -> Tags {
        let _ = event;
        Tags::NONE
    }

    /// Returns when snapshots are stored, so that a recovery need not begin with the first event.
    /// By default, never.
    #[must_use]
    fn snapshots() -> Option<Snapshots<Self>> {
        None
    }

    /// Whether an event is the whole state, so that only the last one is stored.
    #[doc(hidden)]
    const IS_STATE: bool = false;
}
