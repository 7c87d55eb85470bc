//! User futures, which may panic and take too long.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use coact_core::Broken;
use coact_core::internals::{CatchDrop, catch};
use coact_core::time::sleep;

pub(crate) type BoxFuture<R> = Pin<Box<dyn Future<Output = R> + Send>>;

/// A future whose panics are caught, reported, and its output; also when it is dropped.
pub(crate) struct CatchPanic<R>(Option<CatchDrop<BoxFuture<R>>>);

/// Why a future has not ended within its time.
pub(crate) enum WaitError {
    /// The time is over.
    TimedOut(Duration),
    /// The runtime has ended before, or has no timers.
    Cancelled,
}

impl<R> CatchPanic<R> {
    /// Makes the future on its first poll.
    pub(crate) fn new(make: impl FnOnce() -> BoxFuture<R> + Send + 'static) -> Self
    where
        R: 'static,
    {
        Self(Some(CatchDrop::new(Box::pin(async move { make().await }))))
    }
}

impl<R> Future for CatchPanic<R> {
    type Output = Result<R, Broken>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(future) = &mut self.0 else { return Poll::Ready(Err(Broken::Dropped)) };
        let output = match catch(|| future.as_mut().poll(context)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(panic) => Err(panic),
        };
        self.0 = None;
        Poll::Ready(output)
    }
}

/// Waits for a future, for some time at most.
///
/// # Errors
/// Says why it has not ended.
pub(crate) async fn within<F: Future + Unpin>(
    limit: Option<Duration>,
    future: &mut F,
) -> Result<F::Output, WaitError> {
    let Some(limit) = limit else { return Ok(future.await) };
    // Without a thread for timers it panics, which is reported: nothing may wait for ever then.
    let Ok(mut timer) = catch(|| sleep(limit)) else { return Err(WaitError::Cancelled) };
    poll_fn(|context| {
        if let Poll::Ready(output) = Pin::new(&mut *future).poll(context) {
            return Poll::Ready(Ok(output));
        }
        let over = Pin::new(&mut timer).poll(context);
        // A timer that fails was cancelled with the runtime: no time has passed.
        over.map(|over| Err(over.map_or(WaitError::Cancelled, |()| WaitError::TimedOut(limit))))
    })
    .await
}

#[cfg(test)]
mod tests;
