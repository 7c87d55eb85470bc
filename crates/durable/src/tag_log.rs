//! What has happened to entities of all kinds and has a tag, in the order of commits.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use coact_persist::{Event, LogQuery, Position};
use futures_core::Stream;

use crate::event_log::LoggedEvent;
use crate::event_log_error::LogError;
use crate::log_follower::LogFollower;
use crate::store_client::StoreClient;

/// The events of entities of all kinds that have a tag, in the order of their commits: those that
/// there are, and then those that come, one at a time, as they are asked for. See
/// [`Journal::tagged`](crate::Journal::tagged).
///
/// Its events are as they are stored, and [read](LoggedEvent::read) by their kinds. All else is as
/// for an [`EventLog`](crate::EventLog).
#[must_use = "a log is read as it is asked"]
pub struct TagLog(LogFollower);

impl TagLog {
    pub(crate) fn new(client: Arc<StoreClient>, tag: Arc<str>, after: Position) -> Self {
        Self(LogFollower::new(client, LogQuery::Tag { tag, kind: None }, after))
    }

    /// Looks for new events with this period: see
    /// [`EventLog::poll_every`](crate::EventLog::poll_every).
    pub fn poll_every(mut self, period: Duration) -> Self {
        self.0.poll_every = Some(period);
        self
    }

    /// Ends with the events that there are: see
    /// [`EventLog::until_now`](crate::EventLog::until_now).
    pub fn until_now(mut self) -> Self {
        self.0.until_now();
        self
    }

    /// Returns up to which position it has given all events that have its tag: see
    /// [`EventLog::position`](crate::EventLog::position).
    #[must_use]
    pub fn position(&self) -> Position {
        self.0.position
    }

    /// Blocks the calling thread until there is another event.
    ///
    /// # Errors
    /// See [`LogError`]. Then there are no more.
    ///
    /// # Panics
    /// As [`Promise::wait`](coact_core::Promise::wait), in handlers and behaviours.
    #[track_caller]
    pub fn wait_next(&mut self) -> Result<LoggedEvent<Event>, LogError> {
        self.0.wait_next().map(LoggedEvent::of)
    }
}

impl Stream for TagLog {
    type Item = Result<LoggedEvent<Event>, LogError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.get_mut().0.poll_next(context));
        Poll::Ready(next.map(|entry| entry.map(LoggedEvent::of)))
    }
}

impl fmt::Debug for TagLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TagLog")
            .field("which", &self.0.which)
            .field("after", &self.0.after)
            .finish_non_exhaustive()
    }
}
