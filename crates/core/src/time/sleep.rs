//! Waiting for a time.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::Timer;
use super::timers::TimerEntry;
use crate::cown::set::CownSet;
use crate::fault::Broken;
use crate::promise::{Promise, Resolver};
use crate::sched::runtime_handle::RuntimeHandle;

impl RuntimeHandle {
    /// [`sleep`](crate::time::sleep) with a timer of this runtime.
    pub fn sleep(self, delay: Duration) -> Sleep {
        let (resolver, promise) = Promise::channel();
        promise.owed_by(|f| f.write_str("a timer"));
        let due = Due(Some(resolver));
        let timer = self.timers().set(delay, TimerEntry::Once(Box::new(move || due.come())));
        Sleep { promise: Some(promise), timer }
    }
}

/// A future that is ready when `delay` has passed, counted from now: to await, or to chain cowns to.
/// Dropping it cancels the timer, which belongs to the current runtime.
///
/// ```
/// # use coact_core as coact;
/// use coact::Cown;
/// use coact::time::sleep;
/// use std::time::Duration;
///
/// let log = Cown::new(Vec::new());
/// let done = sleep(Duration::from_millis(1)).then(&log, |log, _| log.push("late"));
/// done.wait().unwrap();
/// ```
pub fn sleep(delay: Duration) -> Sleep {
    RuntimeHandle::current().sleep(delay)
}

/// Ends a [`Sleep`]: when its time has come, or with the runtime before that.
struct Due(Option<Resolver<()>>);

impl Due {
    fn come(mut self) {
        if let Some(resolver) = self.0.take() {
            resolver.resolve(());
        }
    }
}

impl Drop for Due {
    fn drop(&mut self) {
        // If it was the `Sleep` that has cancelled the timer, nobody waits for this any more.
        if let Some(resolver) = self.0.take() {
            resolver.fail(Broken::Cancelled);
        }
    }
}

/// What [`sleep`] returns.
#[derive(Debug)]
#[must_use = "dropping it cancels the timer"]
pub struct Sleep {
    /// `None` once it was passed on.
    promise: Option<Promise<()>>,
    timer: Timer,
}

impl Sleep {
    /// Blocks the calling thread until the time has come.
    ///
    /// # Errors
    /// The runtime was shut down first.
    ///
    /// # Panics
    /// As [`Promise::wait`].
    #[track_caller]
    pub fn wait(self) -> Result<(), Broken> {
        let instead = "chain the rest with `Sleep::then`, or await it in `spawn_future`";
        self.into_promise().wait_as("`Sleep::wait`", instead, None)
    }

    /// Spawns a behaviour on `set` once the time has come: see [`Promise::then`].
    ///
    /// # Panics
    /// If the set names a cown twice.
    #[track_caller]
    pub fn then<S, F, Q>(self, set: S, closure: F) -> Promise<Q>
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>, Result<(), Broken>) -> Q + Send + 'static,
        Q: Send + 'static,
    {
        self.into_promise().then(set, closure)
    }

    /// The same as a promise, whose end does not cancel the timer.
    pub fn into_promise(mut self) -> Promise<()> {
        self.promise.take().expect("passed on once")
    }
}

impl Future for Sleep {
    type Output = Result<(), Broken>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let promise = self.promise.as_mut().expect("passed on by value only");
        Pin::new(promise).poll(context)
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if self.promise.is_some() {
            self.timer.cancel();
        }
    }
}
