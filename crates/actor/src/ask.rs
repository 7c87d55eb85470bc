//! Asks: answers that are still to come.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use coact_core::cown::CownSet;
use coact_core::internals::{refuse_volatile_beside_durable, wait_as};
use coact_core::runtime::RuntimeHandle;
use coact_core::time::Sleep;
use coact_core::{Broken, Promise};

use crate::block_on::block_on;
use crate::cycle::{AskWait, TrackedWait};
use crate::reply::AskResult;
use crate::send_error::AskError;

/// An answer that is still to come: what [`Addr::ask`](crate::Addr::ask) returns.
///
/// Await it on any executor, [wait](Self::wait) for it on a plain thread, or [chain](Self::then) it
/// to actors and cowns. Inside an actor, [`Context::ask`](crate::Context::ask) passes the answer to
/// the actor itself.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// # use coact::{Actor, Context, Handler, Message, spawn};
/// # struct Oracle;
/// # impl Actor for Oracle {}
/// # struct Double(u32);
/// # impl Message for Double { type Reply = u32; }
/// # impl Handler<Double> for Oracle {
/// #     fn handle(&mut self, Double(n): Double, _: &mut Context<Self>) -> u32 { 2 * n }
/// # }
/// use coact::Cown;
/// use coact::actor::Ask;
/// use std::time::Duration;
///
/// let oracle = spawn(Oracle);
/// let answer: Ask<u32> = oracle.ask(Double(21));
/// assert_eq!(answer.timeout(Duration::from_secs(60)).wait(), Ok(42));
///
/// // Chained to a cown, instead of waiting:
/// let log = Cown::new(vec![0]);
/// let length = oracle.ask(Double(2)).then(&log, |log, answer| {
///     log.extend(answer);
///     log.len()
/// });
/// assert_eq!(length.wait(), Ok(2));
/// ```
#[must_use = "an ask whose answer is not needed is a send"]
pub struct Ask<R: Send + 'static> {
    promise: Promise<AskResult<R>>,
    timeout: Option<AskTimeout>,
    /// Present if the asking actor is held until the answer arrives.
    waiting: Option<TrackedWait>,
}

/// The name of a call that waits, and what to use instead where it is refused.
const WAIT: (&str, &str) = (
    "`Ask::wait`",
    "in a handler ask with `Context::ask`, or await the answer in an async handler; in a body that receives, `request` \
     and `await_` it; elsewhere name both cowns or actors in one behaviour, chain the rest with `Ask::then`, or await \
     it in `spawn_future`",
);

/// A time limit. The timer thread enforces it, because workers may be busy.
struct AskTimeout {
    after: Duration,
    /// The runtime whose timer it is, and when the limit began by that runtime's clock.
    begun: (RuntimeHandle, Duration),
    alarm: Sleep,
}

impl AskTimeout {
    fn new(duration: Duration) -> Self {
        let home = RuntimeHandle::of_any();
        Self { after: duration, begun: (home, home.elapsed()), alarm: home.sleep(duration) }
    }

    /// Returns ready when the time has passed.
    fn poll(&mut self, context: &mut TaskContext<'_>) -> Poll<()> {
        match Pin::new(&mut self.alarm).poll(context) {
            Poll::Ready(Err(_)) => {
                // That runtime has been shut down: another one takes over.
                let (home, start) = self.begun;
                let left = self.after.saturating_sub(home.elapsed().saturating_sub(start));
                self.alarm = RuntimeHandle::of_any().sleep(left);
                Pin::new(&mut self.alarm).poll(context).map(drop)
            }
            polled => polled.map(drop),
        }
    }
}

impl<R: Send + 'static> Ask<R> {
    pub(crate) fn new(promise: Promise<AskResult<R>>) -> Self {
        Self { promise, timeout: None, waiting: None }
    }

    pub(crate) fn tracked(self, wait: Arc<AskWait>) -> Self {
        Self { waiting: Some(TrackedWait::new(wait)), ..self }
    }

    pub(crate) fn failed(why: AskError) -> Self {
        Self::new(Promise::ready(Err(why)))
    }

    /// Fails with [`AskError::Timeout`] if there is no answer after this long, counted from now.
    pub fn timeout(self, duration: Duration) -> Self {
        Self { timeout: Some(AskTimeout::new(duration)), ..self }
    }

    /// Blocks the calling thread until the answer is there.
    ///
    /// # Errors
    /// Returns an [`AskError`] that says why there is no answer.
    ///
    /// # Panics
    /// Panics inside a behaviour, a handler or a future: see [`Promise::wait`]. In a handler, use
    /// [`Context::ask`](crate::Context::ask), or await the answer in an async handler.
    #[track_caller]
    pub fn wait(self) -> Result<R, AskError> {
        if self.timeout.is_none() {
            return flatten(wait_as(self.promise, WAIT.0, WAIT.1));
        }
        let mut this = self;
        block_on(
            WAIT,
            |f| f.write_str("an answer in time"),
            |context| Pin::new(&mut this).poll(context),
        )
    }

    /// Spawns a behaviour on `set` with the answer, once it has arrived: see [`Promise::then`].
    ///
    /// # Panics
    /// Panics if the set names a cown twice.
    #[track_caller]
    pub fn then<S, F, Q>(self, set: S, closure: F) -> Promise<Q>
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>, Result<R, AskError>) -> Q + Send + 'static,
        Q: Send + 'static,
    {
        const { refuse_volatile_beside_durable::<S>() };
        match self.timeout {
            None => self.promise.then(set, move |access, result| closure(access, flatten(result))),
            Some(_) => coact_core::runtime::spawn_future(self).then(set, move |access, result| {
                closure(access, result.unwrap_or_else(|broken| Err(of_broken(&broken))))
            }),
        }
    }
}

/// Stops waiting, unless the answer has just arrived.
fn give_up<R: Send + 'static>(
    promise: &mut Promise<AskResult<R>>,
    after: Duration,
) -> AskResult<R> {
    promise.give_up().map_or(Err(AskError::Timeout(after)), flatten)
}

pub(crate) fn flatten<R>(result: Result<AskResult<R>, Broken>) -> AskResult<R> {
    result.unwrap_or_else(|broken| Err(of_broken(&broken)))
}

/// The error for a message that was dropped before a handler saw it.
fn of_broken(_: &Broken) -> AskError {
    AskError::Cancelled
}

impl<R: Send + 'static> Future for Ask<R> {
    type Output = Result<R, AskError>;

    /// # Panics
    /// Panics if polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Poll::Ready(result) = Pin::new(&mut this.promise).poll(context) {
            // An ask that failed because of a circle is dropped where it waits; the drop is not the
            // reason.
            let cycle = this.waiting.as_ref().and_then(TrackedWait::failure);
            let why = |error| cycle.map_or(error, AskError::Cycle);
            return Poll::Ready(flatten(result).map_err(why));
        }
        if let Some(waiting) = &mut this.waiting {
            waiting.goes_on(context.waker());
            if let Some(cycle) = waiting.failure() {
                return Poll::Ready(Err(AskError::Cycle(cycle)));
            }
        }
        let Some(timeout) = &mut this.timeout else { return Poll::Pending };
        timeout.poll(context).map(|()| give_up(&mut this.promise, timeout.after))
    }
}

impl<R: Send + 'static> fmt::Debug for Ask<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask").field("promise", &self.promise).finish_non_exhaustive()
    }
}
