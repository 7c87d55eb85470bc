//! A log of a store, page by page, whatever its events are: those that there are, and then those
//! that come.

use std::collections::VecDeque;
use std::mem::replace;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use coact_core::time::{Sleep, sleep};
use coact_core::{Broken, Promise};
use coact_persist::{LogEntry, LogQuery, Position, StoreError};

use crate::event_log_error::LogError;
use crate::store_client::{Backoff, NewsWait, StoreClient, asked, or_unavailable};

/// What follows a log.
pub(crate) struct LogFollower {
    client: Arc<StoreClient>,
    pub(crate) which: LogQuery,
    pub(crate) after: Position,
    pub(crate) poll_every: Option<Duration>,
    read: VecDeque<LogEntry>,
    step: FollowStep,
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
    pub(crate) position: Position,
    /// Whether the store has the commit behind which it has begun.
    has_begun: bool,
}

/// What comes next.
enum FollowStep {
    Ask,
    /// For a page.
    Wait(Promise<Result<Vec<LogEntry>, StoreError>>),
    /// For the last position in the store, since there is nothing behind that from which it is to
    /// go on.
    Look(Promise<Result<Position, StoreError>>),
    /// For another commit, before it is asked again.
    Pause(Promise<()>, Option<NewsWait>),
    /// Before a store is asked again that could not be reached.
    BackOff(Sleep),
}

/// How many events are read at once.
const PAGE: usize = 256;

impl LogFollower {
    pub(crate) fn new(client: Arc<StoreClient>, which: LogQuery, after: Position) -> Self {
        Self {
            client,
            which,
            after,
            poll_every: None,
            read: VecDeque::new(),
            step: FollowStep::Ask,
            seen: 0,
            backoff: Backoff::default(),
            is_over: false,
            ends: None,
            has_failed: false,
            is_last: false,
            asked_at: after,
            has_all_to: after,
            position: after,
            has_begun: after == Position::ZERO,
        }
    }

    /// Ends with the events that there are.
    pub(crate) fn until_now(&mut self) {
        self.ends = Some(self.client.position());
    }

    /// Blocks the calling thread until there is another event. Returns it, and up to where all was
    /// given then.
    #[track_caller]
    pub(crate) fn wait_next(&mut self) -> Result<(LogEntry, Position), LogError> {
        loop {
            if self.is_over {
                let has_caught_up = self.ends.is_some() && !self.has_failed;
                return Err(if has_caught_up { LogError::CaughtUp } else { LogError::Ended });
            }
            if let Some(entry) = self.read.pop_front() {
                return Ok(self.give(entry));
            }
            match replace(&mut self.step, FollowStep::Ask) {
                FollowStep::Ask => self.ask(),
                FollowStep::Wait(page) => self.take_in(or_unavailable(page.wait()))?,
                FollowStep::Look(last) => self.check_start_position(or_unavailable(last.wait()))?,
                FollowStep::Pause(pause, _waits) => self.paused(pause.wait())?,
                FollowStep::BackOff(pause) => self.paused(pause.into_promise().wait())?,
            }
        }
    }

    /// The same for a stream.
    pub(crate) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<(LogEntry, Position), LogError>>> {
        loop {
            if self.is_over {
                return Poll::Ready(None);
            }
            if let Some(entry) = self.read.pop_front() {
                return Poll::Ready(Some(Ok(self.give(entry))));
            }
            let told = match &mut self.step {
                FollowStep::Ask => {
                    self.ask();
                    continue;
                }
                FollowStep::Wait(page) => {
                    let page = ready!(Pin::new(page).poll(context));
                    self.step = FollowStep::Ask;
                    self.take_in(or_unavailable(page))
                }
                FollowStep::Look(last) => {
                    let last = ready!(Pin::new(last).poll(context));
                    self.step = FollowStep::Ask;
                    self.check_start_position(or_unavailable(last))
                }
                FollowStep::Pause(pause, _) => {
                    let pause = ready!(Pin::new(pause).poll(context));
                    self.step = FollowStep::Ask;
                    self.paused(pause)
                }
                FollowStep::BackOff(pause) => {
                    let pause = ready!(Pin::new(pause).poll(context));
                    self.step = FollowStep::Ask;
                    self.paused(pause)
                }
            };
            if let Err(error) = told {
                return Poll::Ready(Some(Err(error)));
            }
        }
    }

    fn ask(&mut self) {
        if self.is_last {
            self.is_over = true;
            return;
        }
        self.seen = self.client.news();
        // Before it is asked: what is stored by now is in the answer.
        self.asked_at = self.client.position();
        let (which, after) = (self.which.clone(), self.after);
        self.step = FollowStep::Wait(match self.client.open_store() {
            Ok(store) => asked(|done| store.log(which, after, PAGE, done)),
            Err(closed) => Promise::ready(Err(closed)),
        });
    }

    fn take_in(&mut self, page: Result<Vec<LogEntry>, StoreError>) -> Result<(), LogError> {
        match page {
            Ok(page) if page.is_empty() && !self.has_begun => {
                let store = self.client.store();
                self.step = FollowStep::Look(asked(|done| store.position(done)));
                Ok(())
            }
            Ok(page) => {
                self.has_begun = true;
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
                        let (news, waits) = self.client.newer_than(self.seen, self.poll_every);
                        self.step = FollowStep::Pause(news, waits);
                    }
                }
                self.read = page.into();
                Ok(())
            }
            Err(error) => self.failed(error),
        }
    }

    /// If the store has reached the start position, the next page is read once more. Otherwise it
    /// ends with [`LogError::Ahead`]: later commits up to that position would be missed.
    fn check_start_position(&mut self, last: Result<Position, StoreError>) -> Result<(), LogError> {
        match last {
            Ok(last) if last < self.after => {
                Err(self.end(LogError::Ahead { after: self.after, last }))
            }
            Ok(_) => {
                self.has_begun = true;
                Ok(())
            }
            Err(error) => self.failed(error),
        }
    }

    /// Asks again later if the store cannot be reached, and ends otherwise.
    fn failed(&mut self, why: StoreError) -> Result<(), LogError> {
        let StoreError::Unavailable { .. } = why else {
            return Err(self.end(LogError::Store(why)));
        };
        self.step = FollowStep::BackOff(sleep(self.backoff.next()));
        Ok(())
    }

    /// A pause fails if the runtime has ended: then the log ends too.
    fn paused(&mut self, pause: Result<(), Broken>) -> Result<(), LogError> {
        pause.map_err(|_| self.end(LogError::Ended))
    }

    /// Moves the position past an event that is given.
    fn give(&mut self, entry: LogEntry) -> (LogEntry, Position) {
        let has_more = |next: &LogEntry| next.stored.position == entry.stored.position;
        if !self.read.front().is_some_and(has_more) {
            self.position = entry.stored.position;
        }
        if self.read.is_empty() {
            self.position = self.position.max(self.has_all_to);
        }
        (entry, self.position)
    }

    /// Ends it with an error.
    pub(crate) fn end(&mut self, error: LogError) -> LogError {
        (self.is_over, self.has_failed) = (true, true);
        self.read.clear();
        error
    }
}
