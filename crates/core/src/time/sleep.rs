//! The future [`Sleep`], which completes after a delay.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::Timer;
use super::timers::TimerEntry;
use crate::cown::set::{CownSet, refuse_volatile_beside_durable};
use crate::fault::Broken;
use crate::promise::{Promise, Resolver};
use crate::sched::runtime_handle::RuntimeHandle;

impl RuntimeHandle {
    /// Like [`sleep`](crate::time::sleep), with a timer of this runtime.
    pub fn sleep(self, delay: Duration) -> Sleep {
        let (resolver, promise) = Promise::channel();
        promise.owed_by(|f| f.write_str("a timer"));
        let due = SleepTimer(Some(resolver));
        let timer = self.timers().set(delay, TimerEntry::Once(Box::new(move || due.come())));
        Sleep { promise: Some(promise), timer }
    }
}

/// Returns a future that completes after `delay`, counted from this call: await it, or chain cowns
/// to it. Dropping it cancels the timer, which belongs to the current runtime.
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

/// Completes a [`Sleep`]: at its deadline, or earlier when the runtime shuts down.
struct SleepTimer(Option<Resolver<()>>);

impl SleepTimer {
    fn come(mut self) {
        if let Some(resolver) = self.0.take() {
            resolver.resolve(());
        }
    }
}

impl Drop for SleepTimer {
    fn drop(&mut self) {
        // If the `Sleep` itself cancelled the timer, nothing waits for this.
        if let Some(resolver) = self.0.take() {
            resolver.fail(Broken::Cancelled);
        }
    }
}

/// The future returned by [`sleep`].
#[derive(Debug)]
#[must_use = "dropping it cancels the timer"]
pub struct Sleep {
    /// `None` once it is passed on.
    promise: Option<Promise<()>>,
    timer: Timer,
}

impl Sleep {
    /// Blocks the calling thread until the delay has passed.
    ///
    /// # Errors
    /// Returns an error if the runtime is shut down first.
    ///
    /// # Panics
    /// See [`Promise::wait`].
    #[track_caller]
    pub fn wait(self) -> Result<(), Broken> {
        let instead = "chain the rest with `Sleep::then`, or await it in `spawn_future`";
        self.into_promise().wait_as("`Sleep::wait`", instead, None)
    }

    /// Spawns a behaviour on `set` after the delay; see [`Promise::then`].
    ///
    /// # Panics
    /// Panics if the set names a cown twice.
    #[track_caller]
    pub fn then<S, F, Q>(self, set: S, closure: F) -> Promise<Q>
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>, Result<(), Broken>) -> Q + Send + 'static,
        Q: Send + 'static,
    {
        const { refuse_volatile_beside_durable::<S>() };
        self.into_promise().then(set, closure)
    }

    /// Converts this into a promise. Dropping the promise does not cancel the timer.
    pub fn into_promise(mut self) -> Promise<()> {
        self.promise.take().expect("passed on once")
    }
}

impl Future for Sleep {
    type Output = Result<(), Broken>;

    /// # Panics
    /// Panics if polled again after it was ready.
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
