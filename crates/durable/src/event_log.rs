//! What has happened to all entities of a kind, in the order of commits: for projections, and for whatever follows.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::marker::PhantomData;
use std::mem::replace;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use coact_core::time::after;
use coact_core::{Broken, Promise};
use coact_persist::{EntityId, FormatError, LogEntry, Position, Seq, StoreError, read};
use futures_core::Stream;

use crate::access::{Access, Backoff, asked, or_unavailable};
use crate::event_sourced::EventSourced;

/// An event of an entity, in the order of commits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Logged<E> {
    /// Of which.
    pub entity: EntityId,
    /// Its number among those of its entity.
    pub seq: Seq,
    /// Its commit. Those of one commit follow one another.
    pub position: Position,
    /// What has happened.
    pub event: E,
}

/// What is wrong with a log.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LogError {
    /// An event cannot be read.
    Format {
        /// Of which entity.
        entity: EntityId,
        /// Its number.
        seq: Seq,
        /// Why.
        why: FormatError,
    },
    /// What the store says. (One that cannot be reached is waited for.)
    Store(StoreError),
    /// There are no more, and it [ends](EventLog::until_now) then.
    CaughtUp,
    /// The runtime has ended.
    Ended,
}

impl Display for LogError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format { entity, seq, why } => write!(f, "event {seq} of `{entity}`: {why}"),
            Self::Store(error) => Display::fmt(error, f),
            Self::CaughtUp => f.write_str("there are no more events for now"),
            Self::Ended => f.write_str("the runtime has ended"),
        }
    }
}

impl Error for LogError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Format { why, .. } => Some(why),
            Self::Store(error) => Some(error),
            Self::CaughtUp | Self::Ended => None,
        }
    }
}

/// The events of all entities of a kind, in the order of their commits: those that there are, and then those that come, one at a
/// time, as they are asked for. See [`Journal::log`](crate::Journal::log).
///
/// It is a [`Stream`], which an actor can [attach](coact_actor::actor::Context::attach); on a plain thread there is
/// [`wait_next`](Self::wait_next). It ends with an error.
#[must_use = "a log is read as it is asked"]
pub struct EventLog<E: EventSourced> {
    access: Arc<Access>,
    after: Position,
    poll_every: Option<Duration>,
    read: VecDeque<LogEntry>,
    step: Step,
    /// How many commits had been stored when it was asked last.
    seen: u64,
    backoff: Backoff,
    is_over: bool,
    /// If it ends: with which commit at the latest, if that was known.
    ends: Option<Position>,
    has_failed: bool,
    /// Whether the page that is being given is the last one.
    is_last: bool,
    /// The position of the last commit that was known when it was asked last.
    asked_at: Position,
    /// The same, if the page that is being given has all up to there.
    has_all_to: Position,
    /// Up to there all was given.
    position: Position,
    kind: PhantomData<fn() -> E>,
}

/// What comes next.
enum Step {
    Ask,
    /// For a page.
    Wait(Promise<Result<Vec<LogEntry>, StoreError>>),
    /// Before it is asked again.
    Pause(Promise<()>),
}

/// How many events are read at once.
const PAGE: usize = 256;

impl<E: EventSourced> EventLog<E> {
    pub(crate) fn new(access: Arc<Access>, after: Position) -> Self {
        Self {
            access,
            after,
            poll_every: None,
            read: VecDeque::new(),
            step: Step::Ask,
            seen: 0,
            backoff: Backoff::default(),
            is_over: false,
            ends: None,
            has_failed: false,
            is_last: false,
            asked_at: after,
            has_all_to: after,
            position: after,
            kind: PhantomData,
        }
    }

    /// Has it look for events again and again with this period, if it waits for some. Needed to see those that another process
    /// stores; what this journal stores is seen at once in any case.
    pub fn poll_every(mut self, period: Duration) -> Self {
        self.poll_every = Some(period);
        self
    }

    /// Has it end with the events that there are: as a stream it is over then, and [`wait_next`](Self::wait_next) says
    /// [`LogError::CaughtUp`]. For what is computed now and then.
    pub fn until_now(mut self) -> Self {
        self.ends = Some(self.access.position());
        self
    }

    /// Returns up to which position it has given all events of its kind: that of the last whole commit, or of a later one that has no
    /// event of its kind, when there were no more. So one that is read [until now](Self::until_now) has got at least to where
    /// [`Journal::position`](crate::Journal::position) was before.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// Blocks the calling thread until there is another event.
    ///
    /// # Errors
    /// See [`LogError`]. Then there are no more.
    ///
    /// # Panics
    /// As [`Promise::wait`], in handlers and behaviours.
    #[track_caller]
    pub fn wait_next(&mut self) -> Result<Logged<E::Event>, LogError> {
        loop {
            if self.is_over {
                let has_caught_up = self.ends.is_some() && !self.has_failed;
                return Err(if has_caught_up { LogError::CaughtUp } else { LogError::Ended });
            }
            if let Some(entry) = self.read.pop_front() {
                return self.decode(entry);
            }
            match replace(&mut self.step, Step::Ask) {
                Step::Ask => self.ask(),
                Step::Wait(page) => self.take_in(or_unavailable(page.wait()))?,
                Step::Pause(pause) => self.paused(pause.wait())?,
            }
        }
    }

    fn ask(&mut self) {
        if self.is_last {
            self.is_over = true;
            return;
        }
        self.seen = self.access.news();
        // Before it is asked: what is stored by now is in the answer.
        self.asked_at = self.access.position();
        let (store, after) = (self.access.store(), self.after);
        self.step = Step::Wait(asked(|done| store.log(E::KIND.into(), after, PAGE, done)));
    }

    fn take_in(&mut self, page: Result<Vec<LogEntry>, StoreError>) -> Result<(), LogError> {
        match page {
            Ok(page) => {
                self.backoff = Backoff::default();
                self.is_last = self.ends.is_some_and(|end| {
                    let is_there =
                        |last: &LogEntry| end > Position::ZERO && last.stored.position >= end;
                    page.len() < PAGE || page.last().is_some_and(is_there)
                });
                if page.len() < PAGE {
                    self.has_all_to = self.asked_at;
                }
                if page.is_empty() {
                    self.position = self.position.max(self.has_all_to);
                }
                match page.last() {
                    Some(last) => self.after = last.stored.position,
                    None if self.ends.is_some() => self.is_over = true,
                    None => {
                        self.step = Step::Pause(self.access.newer_than(self.seen, self.poll_every))
                    }
                }
                self.read = page.into();
                Ok(())
            }
            Err(StoreError::Unavailable { .. }) => {
                let (resolver, pause) = Promise::channel();
                after(self.backoff.next(), (), move |()| resolver.resolve(()));
                self.step = Step::Pause(pause);
                Ok(())
            }
            Err(error) => Err(self.end(LogError::Store(error))),
        }
    }

    /// A pause that is not ended is one of a runtime that has.
    fn paused(&mut self, pause: Result<(), Broken>) -> Result<(), LogError> {
        pause.map_err(|_| self.end(LogError::Ended))
    }

    fn decode(
        &mut self,
        LogEntry { entity, stored }: LogEntry,
    ) -> Result<Logged<E::Event>, LogError> {
        let has_more = |next: &LogEntry| next.stored.position == stored.position;
        if !self.read.front().is_some_and(has_more) {
            self.position = stored.position;
        }
        if self.read.is_empty() {
            self.position = self.position.max(self.has_all_to);
        }
        match read::<E::Event>(&stored.event) {
            Ok(event) => Ok(Logged { entity, seq: stored.seq, position: stored.position, event }),
            Err(why) => Err(self.end(LogError::Format { entity, seq: stored.seq, why })),
        }
    }

    fn end(&mut self, error: LogError) -> LogError {
        (self.is_over, self.has_failed) = (true, true);
        self.read.clear();
        error
    }
}

impl<E: EventSourced> Stream for EventLog<E> {
    type Item = Result<Logged<E::Event>, LogError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if this.is_over {
                return Poll::Ready(None);
            }
            if let Some(entry) = this.read.pop_front() {
                return Poll::Ready(Some(this.decode(entry)));
            }
            let told = match &mut this.step {
                Step::Ask => {
                    this.ask();
                    continue;
                }
                Step::Wait(page) => {
                    let page = ready!(Pin::new(page).poll(context));
                    this.step = Step::Ask;
                    this.take_in(or_unavailable(page))
                }
                Step::Pause(pause) => {
                    let pause = ready!(Pin::new(pause).poll(context));
                    this.step = Step::Ask;
                    this.paused(pause)
                }
            };
            if let Err(error) = told {
                return Poll::Ready(Some(Err(error)));
            }
        }
    }
}

impl<E: EventSourced> fmt::Debug for EventLog<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventLog")
            .field("kind", &E::KIND)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}
