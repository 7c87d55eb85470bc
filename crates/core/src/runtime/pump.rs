//! Pumps: runtimes without threads, whose behaviours run when the owner says so.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use super::enter_guard::EnterGuard;
use super::shutdown::{self, STANDSTILL};
use super::shutdown_report::ShutdownReport;
use super::without_workers::elsewhere;
use crate::config::WorkerConfig;
use crate::current::CancelMark;
use crate::interrupt;
use crate::runtime_ids::RuntimeId;
use crate::sched::context;
use crate::sched::idle_waiters::IdleWatch;
use crate::sched::joint_idleness::{self, RuntimeList};
use crate::sched::phase::RuntimePhase;
use crate::sched::pump;
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::runtime_shared::{self, RuntimeShared};
use crate::sched::start;
use crate::sched::thread_hooks::call_hook;
use crate::sched::worker::Worker;
use crate::simulated;

/// A runtime whose behaviours run on one existing thread of the program, the one that created it,
/// whenever it calls [`run_pending`](Self::run_pending) or a similar method. For what must stay on
/// one thread: a user interface, a test's main thread, a library that is not thread-safe.
///
/// | to run | call |
/// | --- | --- |
/// | what is ready now, in an event loop | [`run_pending`](Self::run_pending) |
/// | until a future is ready | [`run_future`](Self::run_future) |
/// | until all work is done | [`run_until_idle`](Self::run_until_idle), [`run`](Self::run) |
/// | for a time | `pump.run_future(pump.runtime().sleep(time))` |
/// | until a condition holds | `pump.run_future(poll_fn(..))` |
///
/// Cowns created in it are **pinned**: only this thread accesses their states. A behaviour on
/// several cowns, one of which is pinned, runs here; one on cowns of two pumps is
/// [refused](crate::behaviour::Refusal::PinnedApart). Handles can go anywhere, as always, and any
/// thread may spawn. When the last handle is dropped elsewhere, the state is dropped here, when the
/// thread next pumps.
///
/// Dropping the pump stops the runtime and drops what is queued. The states of cowns that still
/// have handles are **leaked** with their last handle, unless this thread drops it: no other thread
/// may access them.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, Runtime, when};
/// use std::thread;
///
/// let pump = Runtime::builder().build_pumped()?;
/// let here = thread::current().id();
/// let window = pump.run(|| Cown::new(Vec::new()));
/// let far = window.clone();
/// let other = thread::spawn(move || {
///     when(&far, move |lines| {
///         assert_eq!(thread::current().id(), here);
///         lines.push("drawn");
///     });
/// });
/// other.join().unwrap();
/// assert_eq!(pump.run_pending(), 1);
/// assert_eq!(window.into_inner().unwrap(), ["drawn"]);
/// # Ok::<(), coact::runtime::BuildError>(())
/// ```
///
/// The methods that run behaviours panic in a behaviour: a pump does not run inside itself.
#[doc(alias = "LocalSet")]
#[doc(alias = "event loop")]
pub struct Pump {
    shared: &'static RuntimeShared,
    worker: Worker,
    not_send: PhantomData<*const ()>,
}

/// Makes the thread of a pump poll its future if it sleeps.
struct PumpWaker(RuntimeId);

impl Pump {
    pub(super) fn new(id: RuntimeId, config: WorkerConfig) -> Self {
        let elsewhere = elsewhere(&config);
        let (shared, parkers) = start::make(id, config, elsewhere);
        let parker = parkers.into_iter().next().expect("a pump is one worker");
        let worker = Worker::new(shared, 0, parker);
        worker.rest();
        pump::register_pump(shared);
        if shared.config.simulated {
            simulated::adopt(shared.id);
        }
        call_hook(shared.config.on_start.as_deref());
        Self { shared, worker, not_send: PhantomData }
    }

    /// Returns a handle of the runtime, which can be copied and stored.
    pub fn runtime(&self) -> RuntimeHandle {
        RuntimeHandle(self.shared.id)
    }

    fn waker(&self) -> Waker {
        Arc::new(PumpWaker(self.shared.id)).into()
    }

    /// Makes this the runtime of new cowns, futures, jobs and timers on this thread, until the
    /// guard is dropped.
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard::new(self.shared.id)
    }

    /// Runs `main` inside this runtime, then behaviours until no work is left, like
    /// [`Runtime::run`](crate::Runtime::run).
    ///
    /// # Panics
    /// Panics if `main` panics (afterwards), or in a behaviour.
    #[track_caller]
    pub fn run<R>(&self, main: impl FnOnce() -> R) -> R {
        assert_outside();
        let result = {
            let _entered = self.enter();
            catch_unwind(AssertUnwindSafe(main))
        };
        self.run_until_idle(&[]);
        result.unwrap_or_else(|payload| resume_unwind(payload))
    }

    /// Runs what is ready at this moment, and returns the number of tasks: behaviours, turns of
    /// futures, and ends of states whose last handle is gone. It does not wait for work, and leaves
    /// what becomes ready meanwhile for the next call, except behaviours that follow each other on
    /// one cown, up to the [throughput](crate::runtime::Builder::throughput).
    ///
    /// # Panics
    /// Panics in a behaviour.
    #[track_caller]
    pub fn run_pending(&self) -> usize {
        assert_outside();
        self.pump_pending()
    }

    /// Runs behaviours, waiting for more while there are none, until the future is ready, and
    /// returns its output: the way to wait for a [`Promise`](crate::Promise) on this thread, whose
    /// `wait` would stop the pump.
    ///
    /// The future is polled here, and need not be [`Send`]: at the start, after each behaviour, and
    /// when it is woken. So a condition on what behaviours do needs no waker.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, Runtime, call, when};
    /// use std::future::poll_fn;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use std::task::Poll;
    ///
    /// let pump = Runtime::builder().build_pumped()?;
    /// let cown = pump.run(|| Cown::new(20));
    /// assert_eq!(pump.run_future(call(&cown, |n| *n + 1)), Ok(21));
    ///
    /// // Until a condition holds.
    /// let (seen, shared) = (Arc::new(AtomicU32::new(0)), cown.clone());
    /// let count = Arc::clone(&seen);
    /// when(&shared, move |n| count.store(*n, Ordering::Relaxed));
    /// pump.run_future(poll_fn(|_| match seen.load(Ordering::Relaxed) {
    ///     0 => Poll::Pending,
    ///     n => Poll::Ready(assert_eq!(n, 20)),
    /// }));
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// Panics in a behaviour, and if the future panics.
    #[track_caller]
    pub fn run_future<F: Future>(&self, future: F) -> F::Output {
        assert_outside();
        let (mut future, waker) = (pin!(future), self.waker());
        let mut output = None;
        self.pump_until(|| {
            if let Poll::Ready(ready) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                output = Some(ready);
            }
            output.is_some()
        });
        output.expect("the pump runs until it is ready")
    }

    /// Runs behaviours until no work is left: every behaviour has run, and so have all futures,
    /// blocking jobs and timers, here and in the other runtimes at one moment, like
    /// [`Runtime::wait_idle_all`](crate::Runtime::wait_idle_all).
    ///
    /// # Panics
    /// Panics in a behaviour.
    #[track_caller]
    pub fn run_until_idle(&self, others: &[RuntimeHandle]) {
        assert_outside();
        self.pump_until_idle(None, others);
    }

    #[track_caller]
    fn pump_pending(&self) -> usize {
        if self.is_simulated() {
            return simulated::pump_pending(self.shared.id);
        }
        self.worker.pump_pending()
    }

    #[track_caller]
    fn pump_until(&self, mut stop: impl FnMut() -> bool) {
        if self.is_simulated() {
            return simulated::pump_until(self.shared.id, &mut stop);
        }
        self.worker.pump_until(stop);
    }

    #[track_caller]
    fn pump_until_idle(&self, time: Option<Duration>, others: &[RuntimeHandle]) -> bool {
        let homes = [self.runtime()];
        let all: RuntimeList =
            homes.iter().chain(others).map(|home| runtime_shared::get(home.0)).collect();
        if self.is_simulated() {
            return simulated::pump_until_idle(self.shared.id, time, &|| {
                joint_idleness::are_idle(&all)
            });
        }
        let _watch = IdleWatch::new(self.waker());
        self.worker.pump_until_idle(after(time), || joint_idleness::activity(&all))
    }

    fn is_simulated(&self) -> bool {
        self.shared.config.simulated && simulated::is_active()
    }

    /// Runs behaviours for up to `deadline`, until no work is left and its actors have ended (see
    /// [`Runtime::shutdown`](crate::Runtime::shutdown)), then stops the runtime like dropping it,
    /// and reports what was left undone.
    ///
    /// # Panics
    /// Panics in a behaviour.
    #[track_caller]
    pub fn shutdown(self, deadline: Duration) -> ShutdownReport {
        assert_outside();
        let clock = || self.runtime().elapsed();
        let until = clock().saturating_add(deadline);
        self.pump_until_idle(Some(deadline / 2), &[]);
        let (left, home) = (until.saturating_sub(clock()), [self.runtime()]);
        let mut wait = |time| self.pump_until_idle(Some(time), &[]);
        interrupt::end_in_order(&home, left, &clock, &mut wait);
        self.stop()
    }

    /// Drops what is queued.
    fn stop(&self) -> ShutdownReport {
        let shared = self.shared;
        if shared.phase() != RuntimePhase::Stopped {
            let _cancelling = CancelMark::enter();
            shared.set_phase(RuntimePhase::Cancelling);
            shutdown::cancel_hidden_of_pump(shared);
            // The tasks of a runtime past its deadline run without their bodies.
            self.pump_until_idle(Some(STANDSTILL), &[]);
            shared.close();
            shutdown::cancel_hidden_of_pump(shared);
            shutdown::end_blocking(shared);
            shutdown::join_helpers(shared);
            while self.pump_pending() > 0 {}
            call_hook(shared.config.on_stop.as_deref());
            shared.count_out();
        }
        shutdown::report_of_pump(shared)
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.stop();
        pump::unregister_pump(self.shared);
    }
}

fn after(time: Option<Duration>) -> Option<Instant> {
    Instant::now().checked_add(time?)
}

#[track_caller]
fn assert_outside() {
    context::prepare_to_block(
        "running a `Pump`",
        "return from the behaviour: the pump then continues",
    );
}

impl Wake for PumpWaker {
    fn wake(self: Arc<Self>) {
        runtime_shared::get(self.0).wake_pump();
    }
}

impl fmt::Debug for Pump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pump").field("name", &self.shared.config.name).finish_non_exhaustive()
    }
}
