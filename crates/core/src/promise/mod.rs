//! Promises: values that behaviours, futures and blocking jobs leave for others, or the reason why there is none.

mod cell;
mod wait;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use cell::{Consumer, Producer};

pub use crate::fault::Broken;
use crate::sched::context::prepare_to_block;
use crate::sched::pump;
use crate::simulated::{self, Polled, What};

/// A value that is yet to come: what [`ask`](crate::ask) and its like return.
///
/// It can be
/// * awaited, on any executor: `promise.await`;
/// * waited for on a plain thread: [`wait`](Self::wait), [`wait_timeout`](Self::wait_timeout);
/// * chained to cowns: [`then`](Self::then) spawns a behaviour with the value once it is there;
///   this is what to use inside behaviours, which must not block;
/// * dropped: the work is done all the same.
///
/// Every promise comes to an end: with the value, or with a [`Broken`] that says why there is none.
#[must_use = "a promise may be dropped, but then its error goes unseen too; use `when` if there is no result"]
pub struct Promise<R: Send + 'static>(Consumer<R>);

/// The other end of a [`Promise`]: gives the value. Dropping it breaks the promise
/// ([`Broken::Dropped`]).
pub struct Resolver<R: Send + 'static>(Producer<R>);

impl<R: Send + 'static> Promise<R> {
    /// A promise that the caller keeps himself.
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

    /// A promise that is kept already.
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn ready(value: R) -> Self {
        let (resolver, promise) = Self::channel();
        resolver.resolve(value);
        promise
    }

    /// Blocks the calling thread until the value is there. It looks for the value for some microseconds before it is
    /// parked, unless it has done so in vain.
    ///
    /// # Errors
    /// [`Broken`] says why there is no value.
    ///
    /// # Panics
    /// In a behaviour, a future or elsewhere on a worker: the work that is waited for may stand
    /// behind the caller. Use [`then`](Self::then), or `await` it in a
    /// [`spawn_future`](crate::runtime::spawn_future). And on a thread whose [`Pump`](crate::runtime::Pump) has work, which
    /// might be what is waited for: use [`Pump::run_future`](crate::runtime::Pump::run_future).
    #[track_caller]
    pub fn wait(self) -> Result<R, Broken> {
        self.wait_for(None)
    }

    /// As [`wait`](Self::wait); the deterministic mode says what is waited for.
    #[doc(hidden)]
    #[track_caller]
    pub fn wait_for(self, what: Option<&dyn fmt::Display>) -> Result<R, Broken> {
        let instead = "chain the rest with `Promise::then`, or await it in `spawn_future`";
        self.wait_as("`Promise::wait`", instead, what)
    }

    /// As [`wait`](Self::wait), for the call that the panic names where it may not wait, with what to do
    /// instead. The deterministic mode says what is waited for.
    #[doc(hidden)]
    #[track_caller]
    pub fn wait_as(
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

    /// Like [`wait`](Self::wait), for so long at the most.
    ///
    /// # Errors
    /// Gives the promise back if the time is over.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout(mut self, timeout: Duration) -> Result<Result<R, Broken>, Self> {
        if let Some(result) = self.0.try_take() {
            return Ok(result);
        }
        prepare_to_block(
            "`Promise::wait_timeout`",
            "chain the rest with `Promise::then`, or await it in `spawn_future`",
        );
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

    /// The value, if it is there; the promise, if not.
    ///
    /// # Errors
    /// Gives the promise back if the value is yet to come.
    pub fn try_wait(mut self) -> Result<Result<R, Broken>, Self> {
        self.0.try_take().ok_or(self)
    }

    /// Tells the deterministic mode who is to keep the promise.
    #[doc(hidden)]
    #[inline]
    pub fn owed_by(&self, what: What) {
        simulated::owed_by(self.cell(), what);
    }

    /// A future that a thread polls, which waits for this promise to be woken.
    #[doc(hidden)]
    pub fn wakes(&self, what: What) -> Polled {
        Polled::in_thread(what, self.cell())
    }

    /// Calls the closure with the value, by the thread that gives it, or now if it is there.
    pub(crate) fn on_ready(self, closure: impl FnOnce(Result<R, Broken>) + Send + 'static) {
        self.0.on_ready(closure);
    }

    /// By which the simulation knows the promise.
    #[inline]
    pub(crate) fn cell(&self) -> usize {
        self.0.addr()
    }

    /// Stops waiting because it takes too long: as dropping the promise, but whoever gives the value
    /// [is told](Resolver::resolve_in_time). Returns the value if it has just come. The promise is
    /// not to be used afterwards.
    pub fn give_up(&mut self) -> Option<Result<R, Broken>> {
        self.0.give_up()
    }
}

impl<R: Send + 'static> Resolver<R> {
    /// A resolver without a promise: it calls a closure with what it is given, there and then. The
    /// least that there is between whoever has the value and what is to be done with it.
    ///
    /// The closure is called once, in any case: with [`Broken::Dropped`] if the resolver is dropped.
    /// It must not block. A panic in it goes to whoever resolves.
    ///
    /// **Cost.** One block from a pool, and no atomic operation.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Broken, Cown, ask, when};
    /// use coact::promise::Resolver;
    ///
    /// let sum = Cown::new(1);
    /// let own = sum.clone();
    /// let resolver = Resolver::calling(move |value: Result<i32, Broken>| {
    ///     when(&own, move |sum| *sum += value.unwrap());
    /// });
    /// resolver.resolve(41);
    /// assert_eq!(ask(&sum, |sum| *sum).wait(), Ok(42));
    /// ```
    #[inline]
    pub fn calling(closure: impl FnOnce(Result<R, Broken>) + Send + 'static) -> Self {
        Self(cell::calling(closure))
    }

    /// Gives the value.
    #[inline]
    pub fn resolve(self, value: R) {
        simulated::point();
        self.0.complete(Ok(value));
    }

    /// Gives the value; returns false if it was waited for, but not [so long](Promise::give_up).
    ///
    /// ```
    /// # use coact_core as coact;
    /// let (resolver, mut promise) = coact::Promise::channel();
    /// assert_eq!(promise.give_up(), None);
    /// assert!(!resolver.resolve_in_time(42));
    /// ```
    #[inline]
    pub fn resolve_in_time(self, value: R) -> bool {
        simulated::point();
        self.0.complete(Ok(value))
    }

    /// Says that there will be no value, and why.
    pub fn fail(self, why: Broken) {
        self.0.complete(Err(why));
    }

    /// Tells the deterministic mode that what was asked has been handled, and the value is to come later.
    #[doc(hidden)]
    #[inline]
    pub fn is_kept_back(&self) {
        simulated::handled(self.0.addr());
    }

    /// Whether nobody waits for the value any more.
    pub fn is_abandoned(&self) -> bool {
        self.0.is_abandoned()
    }

    /// By which the simulation knows the promise.
    #[inline]
    pub(crate) fn cell(&self) -> usize {
        self.0.addr()
    }
}

impl<R: Send + 'static> Future for Promise<R> {
    type Output = Result<R, Broken>;

    /// # Panics
    /// If it is polled again after it was ready.
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
