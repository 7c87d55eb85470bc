//! Promises: the future values of behaviours, futures and blocking jobs, or the reason why there is
//! none.

// The shared state is in `cell/`, its protocol in `cell/state.rs`.

mod cell;
pub(crate) mod named_waits;
mod wait;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};
use std::time::Duration;

pub(crate) use cell::PromiseCallback;
use cell::{Consumer, Producer};

pub use crate::fault::Broken;
use crate::sched::context::prepare_to_block;
use crate::sched::pump;
use crate::simulated::{self, WaitDescription};

/// What to do where waiting for a promise is refused.
const INSTEAD_OF_WAITING: &str = "name both cowns in one behaviour, chain the rest with `Promise::then`, await it in \
     `spawn_future`, or have the handler return a future that awaits it";

/// A value that is available later: what [`call`](crate::call) and similar functions return.
///
/// A promise can be
/// * awaited, on any executor: `promise.await`;
/// * waited for by a plain thread: [`wait`](Self::wait), [`wait_timeout`](Self::wait_timeout);
/// * chained to cowns: [`then`](Self::then) spawns a behaviour with the value once it is available;
///   use this inside behaviours, which must not block;
/// * dropped: the work is done anyway.
///
/// Every promise completes: with the value, or with a [`Broken`] that says why there is none.
#[doc(alias = "future")]
#[doc(alias = "oneshot")]
#[must_use = "a promise may be dropped, but then its error goes unseen too; use `when` if there is no result"]
pub struct Promise<R: Send + 'static>(Consumer<R>);

/// The other end of a [`Promise`]: completes it with a value. Dropping it breaks the promise
/// ([`Broken::Dropped`]).
#[doc(alias = "oneshot")]
#[doc(alias = "Sender")]
#[must_use = "dropping a resolver breaks its promise"]
pub struct Resolver<R: Send + 'static>(Producer<R>);

impl<R: Send + 'static> Promise<R> {
    /// Creates a connected resolver and promise.
    ///
    /// ```
    /// # use coact_core as coact;
    /// let (resolver, promise) = coact::Promise::channel();
    /// std::thread::spawn(move || resolver.resolve(42));
    /// assert_eq!(promise.wait(), Ok(42));
    /// ```
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn channel() -> (Resolver<R>, Self) {
        let (producer, consumer) = cell::pair();
        (Resolver(producer), Self(consumer))
    }

    /// Creates a promise that already has its value.
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn ready(value: R) -> Self {
        let (resolver, promise) = Self::channel();
        resolver.resolve(value);
        promise
    }

    /// Blocks the calling thread until the value is available. Polls for some microseconds before
    /// parking, unless recent polling was in vain.
    ///
    /// # Errors
    /// Returns the [`Broken`] that says why there is no value.
    ///
    /// # Panics
    /// Panics in a behaviour, a future or elsewhere on a worker, since the awaited work may be
    /// queued behind the caller. Name the other cown in the caller's own set, use
    /// [`then`](Self::then), or `await` the promise in a
    /// [`spawn_future`](crate::runtime::spawn_future). Also panics on a thread whose
    /// [`Pump`](crate::runtime::Pump) has work, which may be the awaited work: use
    /// [`Pump::run_future`](crate::runtime::Pump::run_future).
    #[track_caller]
    pub fn wait(self) -> Result<R, Broken> {
        self.wait_for(None)
    }

    /// Like [`wait`](Self::wait), with a description of what the thread waits for, for the reports
    /// of the deterministic mode.
    #[track_caller]
    pub(crate) fn wait_for(self, what: Option<&dyn fmt::Display>) -> Result<R, Broken> {
        self.wait_as("`Promise::wait`", INSTEAD_OF_WAITING, what)
    }

    /// Like [`wait`](Self::wait), for a caller with a name of its own: a panic names the call and
    /// what to use instead. `what` describes what the thread waits for, for the reports of the
    /// deterministic mode.
    #[track_caller]
    pub(crate) fn wait_as(
        mut self,
        call: &str,
        instead: &str,
        what: Option<&dyn fmt::Display>,
    ) -> Result<R, Broken> {
        if let Some(result) = self.0.try_take() {
            return result;
        }
        prepare_to_block(call, instead);
        pump::assert_has_no_work(call);
        if simulated::block_until(&simulated::awaited(self.cell(), what), &|| self.0.is_ready()) {
            return self.0.try_take().expect("it is ready");
        }
        match wait::look_for(|| self.0.try_take()) {
            Some(result) => result,
            None => wait::block_on(self),
        }
    }

    /// Like [`wait`](Self::wait), but gives up after `timeout`.
    ///
    /// # Errors
    /// Returns the promise if the timeout has expired.
    ///
    /// # Panics
    /// See [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout(mut self, timeout: Duration) -> Result<Result<R, Broken>, Self> {
        if let Some(result) = self.0.try_take() {
            return Ok(result);
        }
        prepare_to_block("`Promise::wait_timeout`", INSTEAD_OF_WAITING);
        if simulated::is_active() {
            let awaited = simulated::awaited(self.cell(), None);
            simulated::block_for(&awaited, Some(timeout), &|| self.0.is_ready());
            return self.0.try_take().ok_or(self);
        }
        if timeout.is_zero() {
            return Err(self);
        }
        let found = wait::look_for(|| self.0.try_take());
        found.or_else(|| wait::block_on_timeout(&mut self, timeout)).ok_or(self)
    }

    /// Returns the value if it is available.
    ///
    /// # Errors
    /// Returns the promise if the value is not available yet.
    pub fn try_wait(mut self) -> Result<Result<R, Broken>, Self> {
        self.0.try_take().ok_or(self)
    }

    /// Tells the deterministic mode what the promise depends on.
    #[inline]
    pub(crate) fn owed_by(&self, what: WaitDescription) {
        simulated::owed_by(self.cell(), what);
    }

    /// Calls the closure with the value: on the thread that provides it, or now if it is available.
    pub(crate) fn on_ready(self, closure: impl FnOnce(Result<R, Broken>) + Send + 'static) {
        self.0.on_ready(closure);
    }

    /// The promise's identity in a simulation.
    #[inline]
    pub(crate) fn cell(&self) -> usize {
        self.0.addr()
    }

    /// Stops waiting, like dropping the promise, except that the resolver [learns of
    /// it](Resolver::resolve_in_time). Returns the value if it has just arrived. The promise must
    /// not be used afterwards.
    pub fn give_up(&mut self) -> Option<Result<R, Broken>> {
        self.0.give_up()
    }
}

impl<R: Send + 'static> Resolver<R> {
    /// Creates a resolver without a promise, which calls a closure with the value immediately. This
    /// is the cheapest way to pass on a result.
    ///
    /// The closure is called exactly once, with [`Broken::Dropped`] if the resolver is dropped. It
    /// must not block. A panic in it propagates to the caller of `resolve`.
    ///
    /// **Cost.** One block from the pool, and no atomic operation.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Broken, Cown, call, when};
    /// use coact::promise::Resolver;
    ///
    /// let sum = Cown::new(1);
    /// let own = sum.clone();
    /// let resolver = Resolver::calling(move |value: Result<i32, Broken>| {
    ///     when(&own, move |sum| *sum += value.unwrap());
    /// });
    /// resolver.resolve(41);
    /// assert_eq!(call(&sum, |sum| *sum).wait(), Ok(42));
    /// ```
    #[inline]
    pub fn calling(closure: impl FnOnce(Result<R, Broken>) + Send + 'static) -> Self {
        Self(cell::calling(closure))
    }

    /// Creates the resolver that calls this.
    ///
    /// # Safety
    /// There is no other one. The block stays alive until it is called, which may happen on any
    /// thread.
    #[inline]
    pub(crate) unsafe fn of_callback(callback: NonNull<PromiseCallback<R>>) -> Self {
        // SAFETY: the conditions are those of `Producer::of_callback`.
        Self(unsafe { Producer::of_callback(callback) })
    }

    /// Completes the promise with the value.
    #[inline]
    pub fn resolve(self, value: R) {
        simulated::point();
        self.0.complete(Ok(value));
    }

    /// Completes the promise with the value. Returns `false` if the waiter has [given
    /// up](Promise::give_up).
    ///
    /// ```
    /// # use coact_core as coact;
    /// let (resolver, mut promise) = coact::Promise::channel();
    /// assert_eq!(promise.give_up(), None);
    /// assert!(!resolver.resolve_in_time(42));
    /// ```
    #[inline]
    pub fn resolve_in_time(self, value: R) -> bool {
        self.resolve_in_time_with(|| value)
    }

    /// The same with a value that is created in place. `value` must not panic: the block would
    /// leak.
    #[inline(always)]
    fn resolve_in_time_with(self, value: impl FnOnce() -> R) -> bool {
        simulated::point();
        self.0.complete_with(|| Ok(value()))
    }

    /// Breaks the promise with this reason.
    pub fn fail(self, why: Broken) {
        self.0.complete(Err(why));
    }

    /// Returns whether the promise has been dropped, so that nothing waits for the value.
    pub fn is_abandoned(&self) -> bool {
        self.0.is_abandoned()
    }

    /// The promise's identity in a simulation.
    #[inline]
    pub(crate) fn cell(&self) -> usize {
        self.0.addr()
    }
}

impl<R: Send + 'static> Future for Promise<R> {
    type Output = Result<R, Broken>;

    /// # Panics
    /// Panics if polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(context.waker())
    }
}

impl<R: Send + 'static> fmt::Debug for Promise<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Promise").field("ready", &self.0.is_ready()).finish()
    }
}

impl<R: Send + 'static> fmt::Debug for Resolver<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolver").field("abandoned", &self.is_abandoned()).finish()
    }
}
