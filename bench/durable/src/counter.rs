//! The entity that most cases are about.

use coact::durable::store::{read, write};
use coact::durable::{Decide, Durable, EntityId, Event, EventSourced, Snapshots, stored};
use coact::prelude::*;

/// How long the note in an event is: with the rest, its payload has 108 bytes.
pub const NOTE: usize = 100;

/// Counts. With `EVERY > 0` it has a snapshot each time that there are that many events more.
#[derive(Default)]
pub struct Counter<const EVERY: u64> {
    /// The sum so far.
    pub sum: u64,
}

/// A counter, as it is stored.
#[stored(name = "bench.counter")]
struct Stored(#[n(0)] u64);

/// What can happen to it.
#[stored(name = "bench.counted")]
pub struct Counted {
    /// By how much.
    #[n(0)]
    pub by: u64,
    /// Makes the event as long as those of programs are.
    #[n(1)]
    pub note: String,
}

impl Counted {
    /// One of the usual length.
    pub fn by(by: u64) -> Counted {
        Counted { by, note: "n".repeat(NOTE) }
    }
}

impl<const EVERY: u64> EventSourced for Counter<EVERY> {
    const KIND: &'static str = "bench.counter";
    type Event = Counted;

    fn new(_: &EntityId) -> Self {
        Self::default()
    }

    fn apply(&mut self, event: &Counted) {
        self.sum += event.by;
    }

    fn snapshots() -> Option<Snapshots<Self>> {
        let by = |counter: &Self| write(&Stored(counter.sum));
        let of = |event: &Event| read(event).map(|Stored(sum)| Self { sum });
        (EVERY > 0).then(|| Snapshots::by(by, of).and_every(EVERY))
    }
}

/// Has it count.
#[derive(Message)]
#[message(reply = u64)]
pub struct Count(pub u64);

impl<const EVERY: u64> Decide<Count> for Counter<EVERY> {
    fn decide(counter: &mut Durable<Self>, Count(by): Count) -> u64 {
        counter.persist(Counted::by(by));
        counter.sum
    }
}
