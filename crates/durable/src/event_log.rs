//! What has happened to all entities of a kind, in the order of commits: for projections, and for
//! whatever follows.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use coact_persist::{
    EntityId, Event, FormatError, LogEntry, LogQuery, Position, Seq, StoredEvent, Tags, read,
};
use futures_core::Stream;

use crate::event_log_error::LogError;
use crate::event_sourced::EventSourced;
use crate::log_follower::LogFollower;
use crate::store_client::StoreClient;

/// An event of an entity, in the order of commits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoggedEvent<E> {
    /// Of which.
    pub entity: EntityId,
    /// Its number among those of its entity.
    pub seq: Seq,
    /// Its commit. Those of one commit follow one another, so this is not from where to go on: that
    /// is [`offset`](Self::offset).
    pub position: Position,
    /// From where a log is to go on if all up to this event was done: behind its commit, if it is
    /// the last of that; otherwise behind the commit before, so that this one comes again, as a
    /// whole.
    pub offset: Position,
    /// What has happened.
    pub event: E,
    /// What it was [tagged](EventSourced::tags) with when it was stored.
    pub tags: Tags,
}

impl LoggedEvent<Event> {
    pub(crate) fn of((LogEntry { entity, stored }, offset): (LogEntry, Position)) -> Self {
        let StoredEvent { seq, position, event, tags, .. } = stored;
        Self { entity, seq, position, offset, event, tags }
    }

    /// Reads the event, if it is one of an `E`: `None` if it is of an entity of another kind. For
    /// [logs of all kinds](crate::TagLog).
    ///
    /// # Errors
    /// It is one of an `E`, and cannot be read.
    pub fn read<E: EventSourced>(&self) -> Result<Option<E::Event>, FormatError> {
        if self.entity.kind() == E::KIND { read(&self.event).map(Some) } else { Ok(None) }
    }
}

/// The events of all entities of a kind, in the order of their commits: those that there are, and
/// then those that come, one at a time, as they are asked for. See
/// [`Journal::log`](crate::Journal::log).
///
/// It is a [`Stream`], which an actor can [attach](coact_actor::actor::Context::attach); on a plain
/// thread there is [`wait_next`](Self::wait_next). It ends with an error.
#[must_use = "a log is read as it is asked"]
pub struct EventLog<E: EventSourced> {
    follow: LogFollower,
    kind: PhantomData<fn() -> E>,
}

impl<E: EventSourced> EventLog<E> {
    pub(crate) fn new(client: Arc<StoreClient>, after: Position) -> Self {
        let follow = LogFollower::new(client, LogQuery::Kind(E::KIND.into()), after);
        Self { follow, kind: PhantomData }
    }

    /// Gives only those events that were [tagged](EventSourced::tags) with this when they
    /// were stored. The store finds them by an index: others cost nothing.
    ///
    /// To be called before the first event is read. Of two tags, the last one holds.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use coact::durable::{EntityId, EventSourced, stored};
    /// # #[derive(Default)]
    /// # struct Order;
    /// # #[stored(name = "ordered")]
    /// # struct Ordered { #[n(0)] region: String, #[n(1)] cents: u64 }
    /// use coact::durable::{Journal, LogError, MemoryStore, Position, Tags};
    ///
    /// impl EventSourced for Order {
    ///     // ..
    /// #   const KIND: &'static str = "order";
    /// #   type Event = Ordered;
    /// #   fn new(_: &EntityId) -> Self { Self }
    /// #   fn apply(&mut self, _: &Ordered) {}
    ///     fn tags(&self, ordered: &Ordered) -> Tags {
    ///         Tags::new([format!("region:{}", ordered.region)])
    ///     }
    /// }
    ///
    /// let journal = Journal::new(MemoryStore::new());
    /// for (key, region, cents) in [("1", "eu", 500), ("2", "us", 700), ("3", "eu", 900)] {
    ///     let ordered = Ordered { region: region.into(), cents };
    ///     coact::call(&journal.entity::<Order>(key), |order| order.persist(ordered)).wait()?;
    /// }
    /// let mut log = journal.log::<Order>(Position::ZERO).tagged("region:eu").until_now();
    /// assert_eq!([log.wait_next()?.event.cents, log.wait_next()?.event.cents], [500, 900]);
    /// assert!(matches!(log.wait_next(), Err(LogError::CaughtUp)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tagged(mut self, tag: impl Into<Arc<str>>) -> Self {
        let (tag, kind) = (tag.into(), Some(E::KIND.into()));
        self.follow.which = LogQuery::Tag { tag, kind };
        self
    }

    /// Looks for new events with this period while it waits for some. Needed to see
    /// those that another process stores; what this journal stores is seen at once in any case.
    pub fn poll_every(mut self, period: Duration) -> Self {
        self.follow.poll_every = Some(period);
        self
    }

    /// Ends with the events that there are: as a stream it is over then, and
    /// [`wait_next`](Self::wait_next) says [`LogError::CaughtUp`]. For what is computed now and
    /// then.
    pub fn until_now(mut self) -> Self {
        self.follow.until_now();
        self
    }

    /// Returns up to which position it has given all events of its kind: that of the last whole
    /// commit, or of a later one that has no event of its kind, when there were no more. So one
    /// that is read [until now](Self::until_now) has got at least to where
    /// [`Journal::position`](crate::Journal::position) was before. (Of one with a
    /// [tag](Self::tagged), the same holds for events with that.)
    #[must_use]
    pub fn position(&self) -> Position {
        self.follow.position
    }

    /// Blocks the calling thread until there is another event.
    ///
    /// # Errors
    /// See [`LogError`]. Then there are no more.
    ///
    /// # Panics
    /// As [`Promise::wait`](coact_core::Promise::wait), in handlers and behaviours.
    #[track_caller]
    pub fn wait_next(&mut self) -> Result<LoggedEvent<E::Event>, LogError> {
        let entry = self.follow.wait_next()?;
        self.decode(entry)
    }

    fn decode(&mut self, entry: (LogEntry, Position)) -> Result<LoggedEvent<E::Event>, LogError> {
        let LoggedEvent { entity, seq, position, offset, event, tags } = LoggedEvent::of(entry);
        match read::<E::Event>(&event) {
            Ok(event) => Ok(LoggedEvent { entity, seq, position, offset, event, tags }),
            Err(why) => Err(self.follow.end(LogError::Format { entity, seq, why })),
        }
    }
}

impl<E: EventSourced> Stream for EventLog<E> {
    type Item = Result<LoggedEvent<E::Event>, LogError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let next = ready!(this.follow.poll_next(context));
        Poll::Ready(next.map(|entry| entry.and_then(|entry| this.decode(entry))))
    }
}

impl<E: EventSourced> fmt::Debug for EventLog<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventLog")
            .field("kind", &E::KIND)
            .field("after", &self.follow.after)
            .finish_non_exhaustive()
    }
}
