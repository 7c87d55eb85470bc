//! Entities without a history.

use coact_persist::{EntityId, Format, read, write};

use crate::durable::Durable;
use crate::event_sourced::EventSourced;
use crate::snapshots::Snapshots;

/// The state of an entity that is stored as it is, without a history: each decision that changes it
/// stores the whole of it anew.
///
/// It is an [`EventSourced`] whose events are its states: all that holds for those holds for it,
/// but that it has no [log](crate::Journal::log). For small states that change often and whose past
/// is of no interest.
///
/// [`Durable::last`] is its version: it grows by one with each step that changes it.
///
/// ```
/// use coact::durable::{DurableState, EntityId, Journal, MemoryStore, stored};
/// use coact::{call, when};
///
/// #[stored(name = "settings")]
/// #[derive(Clone)]
/// struct Settings {
///     #[n(0)] theme: String,
///     #[n(1)] volume: u8,
/// }
///
/// impl DurableState for Settings {
///     const KIND: &'static str = "settings";
///
///     fn new(_: &EntityId) -> Self { Self { theme: "light".into(), volume: 5 } }
/// }
///
/// let journal = Journal::new(MemoryStore::new());
/// let alice = journal.entity::<Settings>("alice");
/// when(&alice, |settings| settings.update(|settings| settings.volume += 1));
/// let seen = call(&alice, |settings| (settings.volume, settings.last().get()));
/// assert_eq!(seen.wait(), Ok((6, 1)));
/// ```
pub trait DurableState: Format + Clone + Send + 'static {
    /// The stable name of the type: with a key, it identifies an entity in the store. It does not
    /// change with the program, and no other type has it.
    const KIND: &'static str;

    /// Returns the state of an entity of which nothing is stored.
    fn new(id: &EntityId) -> Self;
}

impl<S: DurableState> EventSourced for S {
    const KIND: &'static str = S::KIND;

    type Event = S;

    fn new(id: &EntityId) -> Self {
        S::new(id)
    }

    fn apply(&mut self, state: &S) {
        self.clone_from(state);
    }

    fn snapshots() -> Option<Snapshots<Self>> {
        Some(Snapshots::by(write, read))
    }

    const IS_STATE: bool = true;
}

impl<S: DurableState> Durable<S> {
    /// Changes the state, which is stored when the command or behaviour has ended.
    ///
    /// # Panics
    /// As [`persist`](Self::persist), and as `change` does: then nothing of the decision is stored.
    #[track_caller]
    pub fn update(&mut self, change: impl FnOnce(&mut S)) {
        let mut state = (**self).clone();
        change(&mut state);
        self.persist(state);
    }
}
