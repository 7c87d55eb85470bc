//! Entering a runtime by its [`RuntimeHandle`]: for a while, permanently, or with a future.

use crate::current;
use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::enter_guard::EnterGuard;
use crate::current::EnteredRuntime;
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::runtime_shared;

impl RuntimeHandle {
    /// Makes this the runtime of new cowns, futures, jobs and timers on the current thread until
    /// the guard is dropped, like [`Runtime::enter`](crate::Runtime::enter).
    ///
    /// A guard stays on its thread: it cannot be held across an `await`. For futures, use
    /// [`within`](Self::within).
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, Runtime};
    ///
    /// let runtime = Runtime::builder().workers(1).name("bank").build()?;
    /// let home = runtime.handle();
    /// std::thread::spawn(move || {
    ///     let _entered = home.enter();
    ///     assert_eq!(Cown::new(0).runtime(), home);
    /// }).join().unwrap();
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// Panics if this is the runtime of a [`Pump`](crate::runtime::Pump) and the caller is not its
    /// thread.
    #[track_caller]
    pub fn enter(self) -> EnterGuard<'static> {
        self.assert_enterable();
        EnterGuard::new(self.0)
    }

    /// Makes this the thread's runtime permanently, or until the thread enters another one: for
    /// code that runs when a thread starts.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, Runtime};
    ///
    /// let runtime = Runtime::builder().workers(1).build()?;
    /// let home = runtime.handle();
    /// // Like `on_thread_start(move || home.enter_thread())` of tokio's builder on its threads.
    /// let thread = std::thread::spawn(move || {
    ///     home.enter_thread();
    ///     Cown::new(0)
    /// });
    /// assert_eq!(thread.join().unwrap().runtime(), home);
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// See [`enter`](Self::enter).
    #[track_caller]
    pub fn enter_thread(self) {
        self.assert_enterable();
        current::enter(self.0);
    }

    /// Wraps a future so that it enters this runtime whenever it is polled, and when it is dropped:
    /// for tasks of another executor. (On the workers of a runtime, that one is the current one,
    /// whatever is entered.)
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, Runtime};
    /// use std::future::Future;
    /// use std::pin::pin;
    /// use std::task::{Context, Poll, Waker};
    ///
    /// let runtime = Runtime::builder().workers(1).build()?;
    /// let mut task = pin!(runtime.handle().within(async { Cown::new(0) }));
    /// // As an executor does, on any thread; for example `tokio::spawn(home.within(..))`.
    /// let polled = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    /// assert!(matches!(polled, Poll::Ready(cown) if cown.runtime() == runtime.handle()));
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// Polls panic like [`enter`](Self::enter).
    pub fn within<F: Future>(self, future: F) -> Within<F> {
        Within { home: self, future: ManuallyDrop::new(future) }
    }

    /// Returns a runtime for a timer that any runtime may serve: the current one if one is entered
    /// or the default, otherwise any. No runtime [is
    /// notified](crate::runtime::Builder::expect_entered) of that.
    pub fn of_any() -> Self {
        Self(crate::sched::runtime_handle::any_id())
    }

    #[track_caller]
    fn assert_enterable(self) {
        let shared = runtime_shared::get(self.0);
        assert!(
            !shared.is_pumped() || shared.is_pump_thread(),
            "only its own thread can enter a pump: its cowns stay there"
        );
    }
}

/// The future returned by [`RuntimeHandle::within`].
#[must_use = "a future does nothing unless it is polled"]
pub struct Within<F: Future> {
    home: RuntimeHandle,
    /// Pinned with the whole, and dropped by its destructor.
    future: ManuallyDrop<F>,
}

impl<F: Future> Future for Within<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _entered = self.home.enter();
        // SAFETY: the future is pinned with the whole: nothing moves it out, and it is dropped in
        // place.
        let future = unsafe { self.map_unchecked_mut(|this| &mut *this.future) };
        future.poll(context)
    }
}

impl<F: Future> Drop for Within<F> {
    fn drop(&mut self) {
        let _entered = EnteredRuntime::new(self.home.0);
        // SAFETY: the future is dropped once, here, in place.
        unsafe { ManuallyDrop::drop(&mut self.future) };
    }
}

impl<F: Future> fmt::Debug for Within<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Within").field("home", &self.home).finish_non_exhaustive()
    }
}
