//! Replays histories in a program's tests, without a store, and checks that they always give the
//! same state.

use std::fmt::Debug;

use coact_persist::EntityId;

use crate::event_sourced::EventSourced;

/// Makes the state of an entity of its events, without a store: for tests. They are applied twice,
/// to two states, which must be the same: what depends on anything but the events, such as the time
/// or the order of a hash map, is found by that now and then.
///
/// ```
/// # use coact::durable::{EntityId, EventSourced, stored};
/// # #[derive(Debug, PartialEq)]
/// # struct Counter(u64);
/// # #[stored(name = "counted")]
/// # struct Counted(#[n(0)] u64);
/// # impl EventSourced for Counter {
/// #     const KIND: &'static str = "counter";
/// #     type Event = Counted;
/// #     fn new(_: &EntityId) -> Self { Self(0) }
/// #     fn apply(&mut self, Counted(n): &Counted) { self.0 += n }
/// # }
/// use coact::durable::replay;
///
/// assert_eq!(replay::<Counter>("visits", &[Counted(2), Counted(3)]), Counter(5));
/// ```
///
/// # Panics
/// If the two states differ.
#[track_caller]
pub fn replay<E: EventSourced + PartialEq + Debug>(key: &str, events: &[E::Event]) -> E {
    let id = EntityId::new(E::KIND, key);
    let (mut one, mut other) = (E::new(&id), E::new(&id));
    for (event, number) in events.iter().zip(1..) {
        one.apply(event);
        other.apply(event);
        assert_eq!(
            one, other,
            "`apply` of event {number} of `{id}` depends on more than the event"
        );
    }
    one
}
