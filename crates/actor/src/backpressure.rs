//! Sends and asks that wait for room, for any receiver: recipients, routers and pools.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use coact_core::runtime::RuntimeHandle;
use coact_core::time::{Sleep, sleep};
use coact_sync::shim::process::Mutex;
use slab::Slab;

use crate::ask::Ask;
use crate::cycle::AskCycle;
use crate::id::ActorId;
use crate::message::Message;
use crate::send_error::{AskError, SendError};

/// The right to send one message to a recipient that has room for it.
pub(crate) trait SendPermit<M: Message>: Send {
    fn send(self: Box<Self>, message: M) -> Result<(), SendError<M>>;
    /// Asks; returns the message if it cannot be delivered.
    fn ask(self: Box<Self>, message: M) -> (Ask<M::Reply>, Result<(), SendError<M>>);
}

/// A [`SendPermit`] to wait for.
pub(crate) type PermitFuture<M> =
    Pin<Box<dyn Future<Output = Result<Box<dyn SendPermit<M>>, Arc<AskCycle>>> + Send>>;

/// A receiver at which sends and asks can wait for room.
pub(crate) trait RoomProvider<M: Message>: Send {
    /// Sends, or returns the message, without waiting.
    fn send_now(&self, message: M) -> Result<(), SendError<M>>;

    /// Asks, or returns the message, without waiting.
    fn ask_now(&self, message: M) -> (Ask<M::Reply>, Result<(), SendError<M>>);

    /// Waits for room for the message; `None` if there is none to wait for.
    fn reserve(&self, message: &M) -> Option<PermitFuture<M>>;

    /// Returns whether sends must wait for a permit first, so that those that have waited longer
    /// come first.
    fn reserves_first(&self) -> bool;
}

/// Sends at once if there is room, otherwise waits for a permit, up to `limit`. The error contains
/// the message that could not be sent.
async fn permit_for<M, P, T>(
    at: &P,
    mut message: M,
    limit: Option<Duration>,
    now: impl Fn(&P, M) -> (T, Result<(), SendError<M>>),
    then: impl Fn(Box<dyn SendPermit<M>>, M) -> (T, Result<(), SendError<M>>),
) -> (Option<T>, Result<(), SendError<M>>)
where
    M: Message,
    P: RoomProvider<M>,
{
    let tries_first = !at.reserves_first();
    let mut alarm = limit.map(sleep);
    loop {
        if tries_first {
            let (made, sent) = now(at, message);
            match sent {
                Err(SendError::Full(back)) => message = back,
                sent => return (Some(made), sent),
            }
        }
        let Some(room) = at.reserve(&message) else {
            if tries_first {
                return (None, Err(SendError::Full(message)));
            }
            let (made, sent) = now(at, message);
            return (Some(made), sent);
        };
        let (made, sent) = match unless(room, &mut alarm).await {
            Some(Ok(permit)) => then(permit, message),
            Some(Err(circle)) => return (None, Err(SendError::Cycle(message, circle))),
            None => return (None, Err(SendError::Full(message))),
        };
        match sent {
            // The recipient that had room has ended; without another one, the next try fails.
            Err(SendError::Stopped(back)) if tries_first => message = back,
            sent => return (Some(made), sent),
        }
    }
}

/// Waits until the work is done or the time is over.
async fn unless<T>(
    mut room: Pin<Box<dyn Future<Output = T> + Send>>,
    alarm: &mut Option<Sleep>,
) -> Option<T> {
    poll_fn(|context| {
        if let Poll::Ready(room) = room.as_mut().poll(context) {
            return Poll::Ready(Some(room));
        }
        match alarm {
            Some(alarm) => Pin::new(alarm).poll(context).map(|_| None),
            None => Poll::Pending,
        }
    })
    .await
}

/// Sends when there is room.
pub(crate) async fn send<M: Message>(
    at: impl RoomProvider<M>,
    message: M,
) -> Result<(), SendError<M>> {
    send_within(at, message, None).await
}

/// Sends when there is room, within a time limit; the error is `Full` otherwise.
pub(crate) async fn send_within<M: Message>(
    at: impl RoomProvider<M>,
    message: M,
    limit: Option<Duration>,
) -> Result<(), SendError<M>> {
    let now = |at: &_, message| ((), RoomProvider::send_now(at, message));
    permit_for(&at, message, limit, now, |permit, message| ((), permit.send(message))).await.1
}

/// Asks when there is room, and waits for the answer.
pub(crate) async fn ask<M: Message>(
    at: impl RoomProvider<M>,
    message: M,
) -> Result<M::Reply, AskError> {
    begin_ask(at, message, None).await?.await
}

/// Asks when there is room, within a time limit, and returns the ask.
pub(crate) async fn begin_ask<M: Message>(
    at: impl RoomProvider<M>,
    message: M,
    limit: Option<Duration>,
) -> Result<Ask<M::Reply>, AskError> {
    let now = |at: &_, message| RoomProvider::ask_now(at, message);
    match permit_for(&at, message, limit, now, |permit, message| permit.ask(message)).await {
        (_, Err(SendError::Full(_))) => Err(AskError::Full),
        (_, Err(SendError::Cycle(_, circle))) => Err(AskError::Cycle(circle)),
        // The ask itself says why the message was not delivered.
        (Some(ask), _) => Ok(ask),
        (None, _) => Err(AskError::Cancelled),
    }
}

/// Asks when there is room, and waits for the answer, within one time limit for both.
pub(crate) async fn ask_within<M: Message>(
    at: impl RoomProvider<M>,
    message: M,
    limit: Duration,
) -> Result<M::Reply, AskError> {
    let home = RuntimeHandle::current();
    let start = home.elapsed();
    let ask = begin_ask(at, message, Some(limit)).await;
    let waited = home.elapsed().saturating_sub(start);
    match ask {
        Err(AskError::Full) if waited >= limit => Err(AskError::Timeout(limit)),
        Err(why) => Err(why),
        Ok(ask) => match ask.timeout(limit.saturating_sub(waited)).await {
            Err(AskError::Timeout(_)) => Err(AskError::Timeout(limit)),
            answer => answer,
        },
    }
}

/// The name of a call that waits for room, and what to use instead where it must not.
pub(crate) const SEND: (&str, &str) =
    ("`send_blocking`", "use `send`, or `send_async` in a future");

/// A list of wakers that a change wakes.
#[derive(Default)]
pub(crate) struct ChangeWakers(Mutex<WakerList>);

#[derive(Default)]
struct WakerList {
    /// The number of changes.
    changes: u64,
    /// The wakers for the next change. Each keeps its index until it leaves.
    waiting: Slab<Option<Waker>>,
}

impl ChangeWakers {
    /// Records a change and wakes the waiting tasks.
    pub(crate) fn tell(&self) {
        let wakers: Vec<Waker> = {
            let mut watched = self.0.lock();
            watched.changes += 1;
            watched.waiting.iter_mut().filter_map(|(_, waker)| waker.take()).collect()
        };
        wakers.into_iter().for_each(|waker| coact_core::internals::drop_quietly(|| waker.wake()));
    }

    /// Returns the number of changes.
    fn count(&self) -> u64 {
        self.0.lock().changes
    }

    /// Returns the number of changes, and registers for the next one. The caller keeps its `place`,
    /// and [leaves](Self::leave) it in the end.
    fn watch(&self, place: &mut Option<usize>, context: &TaskContext<'_>) -> u64 {
        // Cloned and dropped without the lock: a waker may run user code.
        let waker = context.waker().clone();
        let mut watched = self.0.lock();
        let number = *place.get_or_insert_with(|| watched.waiting.insert(None));
        let before = watched.waiting[number].replace(waker);
        let changes = watched.changes;
        drop(watched);
        drop(before);
        changes
    }

    fn leave(&self, place: usize) {
        let waker = self.0.lock().waiting.remove(place);
        drop(waker);
    }
}

/// The candidates of a race for room, which may change during the race.
pub(crate) trait RoomCandidates<M: Message>: Send + 'static {
    /// Returns the receivers at which to wait.
    fn candidates(&self) -> Vec<(ActorId, RoomCandidate<M>)>;

    fn changes(&self) -> &ChangeWakers;
}

/// Begins to wait at one of several; `alone` says that it is the only one.
pub(crate) type RoomCandidate<M> = Box<dyn FnOnce(bool) -> Option<PermitFuture<M>> + Send>;

/// Waits for the first of several receivers that has room. Returns `None` if there is none at which
/// to wait.
pub(crate) fn race<M: Message>(of: impl RoomCandidates<M>, alone: bool) -> Option<PermitFuture<M>> {
    // Read before the candidates: a change in between is noticed at the first poll.
    let seen = of.changes().count();
    let mut race = RoomRace { of, alone, seen, place: None, pending: Vec::new(), circle: None };
    race.refresh();
    if race.pending.is_empty() {
        return None;
    }
    Some(Box::pin(async move { poll_fn(|context| race.poll(context)).await }))
}

struct RoomRace<M: Message, C: RoomCandidates<M>> {
    of: C,
    alone: bool,
    /// The number of changes seen.
    seen: u64,
    /// The index in the list of wakers.
    place: Option<usize>,
    pending: Vec<(ActorId, PermitFuture<M>)>,
    circle: Option<Arc<AskCycle>>,
}

impl<M: Message, C: RoomCandidates<M>> RoomRace<M, C> {
    /// Waits at new candidates, and stops waiting at those that have left.
    fn refresh(&mut self) {
        let candidates = self.of.candidates();
        let alone = self.alone && candidates.len() == 1;
        let mut before: BTreeMap<_, _> = self.pending.drain(..).collect();
        for (id, candidate) in candidates {
            let room = before.remove(&id).or_else(|| candidate(alone));
            self.pending.extend(room.map(|room| (id, room)));
        }
    }

    fn poll(
        &mut self,
        context: &mut TaskContext<'_>,
    ) -> Poll<Result<Box<dyn SendPermit<M>>, Arc<AskCycle>>> {
        let now = self.of.changes().watch(&mut self.place, context);
        if self.seen != now {
            self.refresh();
        }
        self.seen = now;
        let mut at = 0;
        while let Some((_, room)) = self.pending.get_mut(at) {
            match Pin::new(room).poll(context) {
                Poll::Pending => at += 1,
                Poll::Ready(Ok(permit)) => return Poll::Ready(Ok(permit)),
                Poll::Ready(Err(circle)) => {
                    self.circle = Some(circle);
                    drop(self.pending.remove(at));
                }
            }
        }
        match &self.circle {
            Some(circle) if self.pending.is_empty() => Poll::Ready(Err(Arc::clone(circle))),
            None if self.pending.is_empty() => Poll::Ready(Ok(Box::new(NoCandidate))),
            _ => Poll::Pending,
        }
    }
}

impl<M: Message, C: RoomCandidates<M>> Drop for RoomRace<M, C> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.of.changes().leave(place);
        }
    }
}

/// All candidates have left.
struct NoCandidate;

impl<M: Message> SendPermit<M> for NoCandidate {
    fn send(self: Box<Self>, message: M) -> Result<(), SendError<M>> {
        Err(SendError::Stopped(message))
    }

    fn ask(self: Box<Self>, message: M) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        let failed = Ask::failed(AskError::Stopped(crate::exit::ExitReason::NoActor));
        (failed, Err(SendError::Stopped(message)))
    }
}
