//! Consumer offsets: how far the readers of a log have read, if they have no store of their own.

use std::sync::Arc;

use coact_core::{Promise, call};
use coact_persist::minicbor::{self, Decode, Encode};
use coact_persist::{EntityId, Format, Position};

use crate::durable_state::DurableState;
use crate::journal::Journal;

/// How far a consumer has read.
#[derive(Encode, Decode, Clone)]
struct ConsumerOffset {
    #[n(0)]
    position: u64,
}

impl Format for ConsumerOffset {
    const NAME: &'static str = "coact.offset";
    const VERSION: u32 = 1;
}

impl DurableState for ConsumerOffset {
    const KIND: &'static str = "coact.offset";

    fn new(_: &EntityId) -> Self {
        Self { position: 0 }
    }
}

impl Journal {
    /// Returns the position that was [stored](Self::store_offset) last under a name, or
    /// [`Position::ZERO`]: for those who follow a [log](Self::log) and have no store of their own
    /// in which they could keep it.
    ///
    /// What they do for an event, and storing that they have, are two things, between which the
    /// process may end: so they may do it twice. **What is stored is
    /// [`offset`](crate::LoggedEvent::offset)**, or
    /// [`EventLog::position`](crate::EventLog::position): the position of an event is that of its
    /// commit, which may have others that are still to come.
    ///
    /// ```
    /// # use coact::durable::{EntityId, EventSourced, Journal, LogError, MemoryStore, stored};
    /// # #[derive(Default)]
    /// # struct Counter(u64);
    /// # #[stored(name = "counted")]
    /// # struct Counted(#[n(0)] u64);
    /// # impl EventSourced for Counter {
    /// #     const KIND: &'static str = "counter";
    /// #     type Event = Counted;
    /// #     fn new(_: &EntityId) -> Self { Self::default() }
    /// #     fn apply(&mut self, Counted(n): &Counted) { self.0 += n }
    /// # }
    /// let journal = Journal::new(MemoryStore::new());
    /// for n in 1..=2 {
    ///     let visits = journal.entity::<Counter>("visits");
    ///     coact::call(&visits, move |visits| visits.persist(Counted(n))).wait()?;
    ///     let mut log = journal.log::<Counter>(journal.offset("printer").wait()?).until_now();
    ///     loop {
    ///         let counted = match log.wait_next() {
    ///             Ok(counted) => counted,
    ///             Err(LogError::CaughtUp) => break,
    ///             Err(error) => return Err(error.into()),
    ///         };
    ///         assert_eq!(counted.event.0, n, "the first one is printed already");
    ///         journal.store_offset("printer", counted.offset).wait()?;
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As a [`call`](coact_core::call) over a durable actor.
    pub fn offset(&self, name: impl Into<Arc<str>>) -> Promise<Position> {
        let offset = self.entity::<ConsumerOffset>(name);
        call(&offset, |offset| Position::new(offset.position))
    }

    /// Stores how far someone has read, under a name. A lower position than was stored changes
    /// nothing: who begins anew takes another name.
    ///
    /// # Errors
    /// As a [`call`](coact_core::call) over a durable actor.
    pub fn store_offset(&self, name: impl Into<Arc<str>>, position: Position) -> Promise<()> {
        let offset = self.entity::<ConsumerOffset>(name);
        call(&offset, move |offset| {
            if offset.position < position.get() {
                offset.update(|offset| offset.position = position.get());
            }
        })
    }
}
