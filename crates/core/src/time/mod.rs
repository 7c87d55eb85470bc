//! Timers: behaviours that are spawned later, once or periodically, and a future that sleeps.

pub(crate) mod fixed_delay;
pub(crate) mod once_caught;
mod sleep;
mod timers;
mod wheel;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use sleep::{Sleep, sleep};
pub use timers::Timer;
pub(crate) use timers::TimerService;
use timers::{Run, TimerEntry, nanos};

use crate::behaviour::spawn::spawn_deferred;
use crate::behaviour::spawn_checks::{self, assert_spawnable};
use crate::body::{Completion, NoResult};
use crate::cown::set::{CownSet, refuse_volatile_beside_durable};
use crate::fault::Broken;
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::runtime_shared;

/// Spawns a behaviour on `set` after `delay`: never earlier, and usually within 2 ms. The behaviour
/// takes its place in the order of its cowns when the timer fires.
///
/// The timer belongs to the runtime that the behaviour would run on now: that of the set's first
/// cown, or the current one if the set is empty ([`RuntimeHandle::after`] selects another). That
/// runtime is not idle until the timer has fired or is cancelled. Timers of one runtime with the
/// same deadline fire in the order in which they were set.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, Runtime};
/// use coact::time::after;
/// use std::time::Duration;
///
/// let runtime = Runtime::builder().workers(1).build()?;
/// let cown = runtime.run(|| {
///     let cown = Cown::new(Vec::new());
///     after(Duration::from_millis(20), &cown, |log| log.push("late"));
///     after(Duration::from_millis(5), &cown, |log| log.push("early"));
///     cown
/// });
/// assert_eq!(cown.into_inner().unwrap(), ["early", "late"]);
/// # Ok::<(), coact::runtime::BuildError>(())
/// ```
///
/// # Panics
/// Panics if the set names a cown twice, or cowns of different pumps.
#[track_caller]
pub fn after<S, F>(delay: Duration, set: S, closure: F) -> Timer
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    const { refuse_volatile_beside_durable::<S>() };
    assert_spawnable(&set);
    RuntimeHandle(spawn_checks::home_of(&set)).after(delay, set, closure)
}

/// Spawns a behaviour on `set` once per `period`, until the timer is cancelled.
///
/// Ticks keep their rate: a late one does not delay the next. A tick is skipped if the behaviour of
/// the previous one is still waiting for its cowns, so a slow cown is not flooded;
/// [`every_with_fixed_delay`] waits for the end of each run instead. The timer belongs to the same
/// runtime as that of [`after`].
///
/// **Until it is cancelled its runtime is never idle**: `run` and `wait_idle` do not return, a
/// shutdown takes its whole deadline, and a simulation does not end.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, call};
/// use coact::time::every;
/// use std::time::Duration;
///
/// let ticks = Cown::new(0);
/// let timer = every(Duration::from_millis(1), &ticks, |ticks| *ticks += 1);
/// while call(&ticks, |ticks| *ticks).wait()? < 3 {}
/// timer.cancel();
/// # Ok::<(), coact::Broken>(())
/// ```
///
/// # Panics
/// Panics if the set names a cown twice, or cowns of different pumps, or if the period is zero.
#[track_caller]
pub fn every<S, F>(period: Duration, set: S, closure: F) -> Timer
where
    S: CownSet,
    S::Owned: Sync,
    F: for<'a> Fn(S::Access<'a>) + Send + Sync + 'static,
{
    const { refuse_volatile_beside_durable::<S>() };
    assert_spawnable(&set);
    RuntimeHandle(spawn_checks::home_of(&set)).every(period, set, closure)
}

impl RuntimeHandle {
    /// Like [`after`](crate::time::after), with a timer of this runtime.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, Runtime};
    /// use std::time::Duration;
    ///
    /// let [clock, bank] = [Runtime::new()?, Runtime::new()?];
    /// let account = bank.run(|| Cown::new(0));
    /// clock.handle().after(Duration::from_millis(1), &account, |balance| *balance += 1);
    /// clock.wait_idle(); // The timer has fired,
    /// bank.wait_idle(); // and its behaviour has run.
    /// assert_eq!(account.into_inner(), Ok(1));
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// See [`after`](crate::time::after).
    #[track_caller]
    pub fn after<S, F>(self, delay: Duration, set: S, closure: F) -> Timer
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
    {
        const { refuse_volatile_beside_durable::<S>() };
        assert_spawnable(&set);
        let set = set.to_owned_set();
        let fire = move || spawn_deferred::<S, _, _>(set, closure, NoResult);
        self.timers().set(delay, TimerEntry::Once(Box::new(fire)))
    }

    /// Like [`every`](crate::time::every), with a timer of this runtime.
    ///
    /// # Panics
    /// See [`every`](crate::time::every).
    #[track_caller]
    pub fn every<S, F>(self, period: Duration, set: S, closure: F) -> Timer
    where
        S: CownSet,
        S::Owned: Sync,
        F: for<'a> Fn(S::Access<'a>) + Send + Sync + 'static,
    {
        const { refuse_volatile_beside_durable::<S>() };
        assert!(!period.is_zero(), "a timer must not have a period of zero");
        assert_spawnable(&set);
        let (set, closure) = (Arc::new(set.to_owned_set()), Arc::new(closure));
        let waiting = Arc::new(AtomicBool::new(false));
        let fire = move || {
            // ORDERING: Relaxed. The flag guards no data: the cowns order the ticks.
            if !waiting.swap(true, Ordering::Relaxed) {
                let closure = Arc::clone(&closure);
                let ended = TickCompletion(Arc::clone(&waiting));
                let set = set.to_owned_set();
                spawn_deferred::<S, _, _>(set, move |access| closure(access), ended);
            }
        };
        self.timers().set(period, TimerEntry::Every { period: nanos(period), fire: Box::new(fire) })
    }

    /// Like [`every_with_fixed_delay`](crate::time::every_with_fixed_delay), with a timer of this
    /// runtime.
    ///
    /// # Panics
    /// See [`every_with_fixed_delay`](crate::time::every_with_fixed_delay).
    #[track_caller]
    pub fn every_with_fixed_delay<S, F>(self, delay: Duration, set: S, closure: F) -> Timer
    where
        S: CownSet,
        S::Owned: Sync,
        F: for<'a> Fn(S::Access<'a>) + Send + Sync + 'static,
    {
        const { refuse_volatile_beside_durable::<S>() };
        assert_spawnable(&set);
        let (set, closure) = (set.to_owned_set(), Arc::new(closure));
        self.repeat(delay, move |run| {
            let closure = Arc::clone(&closure);
            spawn_deferred::<S, _, _>(set.to_owned_set(), move |access| closure(access), run);
        })
    }

    /// Calls a closure after `delay`, and again `delay` after the previous call's [`Run`] is
    /// dropped, until the timer is cancelled. The thread that serves the timers makes the calls.
    ///
    /// # Panics
    /// Panics if the delay is zero.
    #[track_caller]
    fn repeat(self, delay: Duration, run: impl Fn(Run) + Send + Sync + 'static) -> Timer {
        assert!(!delay.is_zero(), "a periodic timer must not have a delay of zero");
        self.timers().set(delay, TimerEntry::Spaced { delay: nanos(delay), run: Arc::new(run) })
    }

    fn timers(self) -> &'static TimerService {
        runtime_shared::get(self.0).service()
    }
}

/// Spawns a behaviour on `set` after `delay`, and again `delay` after each run has ended, until the
/// timer is cancelled. A slow run thus delays the next, and a pause follows each run.
///
/// Until it is cancelled its runtime is never idle: see [`every`].
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, call};
/// use coact::time::every_with_fixed_delay;
/// use std::time::Duration;
///
/// let runs = Cown::new(0);
/// let timer = every_with_fixed_delay(Duration::from_millis(1), &runs, |runs| *runs += 1);
/// while call(&runs, |runs| *runs).wait().unwrap() < 3 {}
/// timer.cancel();
/// ```
///
/// # Panics
/// Panics if the set names a cown twice, or cowns of different pumps, or if the delay is zero.
#[track_caller]
pub fn every_with_fixed_delay<S, F>(delay: Duration, set: S, closure: F) -> Timer
where
    S: CownSet,
    S::Owned: Sync,
    F: for<'a> Fn(S::Access<'a>) + Send + Sync + 'static,
{
    const { refuse_volatile_beside_durable::<S>() };
    assert_spawnable(&set);
    RuntimeHandle(spawn_checks::home_of(&set)).every_with_fixed_delay(delay, set, closure)
}

/// The completion of one tick's behaviour. It is dropped when the behaviour has run or was skipped,
/// or when spawning it failed because a handle panicked.
struct TickCompletion(Arc<AtomicBool>);

impl Drop for TickCompletion {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Completion for TickCompletion {
    type Value = ();

    fn done(self, (): ()) {}

    fn failed(self, _: Broken) {}
}
