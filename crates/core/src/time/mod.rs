//! Timers: behaviours that are spawned later, once or again and again.

pub(crate) mod once_caught;
mod wheel;

use crate::current;
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use coact_sync::shim::sync::{Condvar, Mutex};

use crate::behaviour::body::{Completion, Forget};
use crate::behaviour::spawn::{self, assert_spawnable};
use crate::cown::set::CownSet;
use crate::current::Cancelling;
use crate::depth;
use crate::fault::Broken;
use crate::ids::RuntimeId;
use crate::panic::drop_quietly;
use crate::promise::{Promise, Resolver};
use crate::sched::home::Home;
use crate::sched::services::Service;
use crate::sched::shared::{self, Shared};
use crate::sched::thread::Thread;
use wheel::{Key, Wheel};

/// Spawns a behaviour on `set` when `delay` has passed; never earlier, and usually within 2 ms of
/// it. It takes its place in the order of its cowns at that moment.
///
/// The timer belongs to the runtime that the behaviour would run on now: that of the set's first cown, or
/// the current one if there is none ([`Home::after`] chooses another). It is not idle before the timer has
/// fired or is cancelled. Timers of one runtime that are due at the same time fire in the order in which
/// they were set.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, Runtime, after};
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
/// # Ok::<(), coact::BuildError>(())
/// ```
///
/// # Panics
/// If the set names a cown twice, or cowns of different pumps.
#[track_caller]
pub fn after<S, F>(delay: Duration, set: S, closure: F) -> Timer
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    assert_spawnable(&set);
    Home(spawn::home_of(&set)).after(delay, set, closure)
}

/// Spawns a behaviour on `set` each time `period` has passed, until the timer is cancelled.
///
/// The ticks keep their rate: one that comes late does not delay the next. A tick that finds the
/// behaviour of the one before still waiting for its cowns is skipped, so a slow cown is not
/// flooded; [`every_with_fixed_delay`] waits for the end of each run instead. The timer belongs to the same
/// runtime as that of [`after`].
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, ask, every};
/// use std::time::Duration;
///
/// let ticks = Cown::new(0);
/// let timer = every(Duration::from_millis(1), &ticks, |ticks| *ticks += 1);
/// while ask(&ticks, |ticks| *ticks).wait()? < 3 {}
/// timer.cancel();
/// # Ok::<(), coact::Broken>(())
/// ```
///
/// # Panics
/// If the set names a cown twice, or cowns of different pumps, or if the period is zero.
#[track_caller]
pub fn every<S, F>(period: Duration, set: S, closure: F) -> Timer
where
    S: CownSet,
    S::Owned: Sync,
    F: for<'a> Fn(S::Access<'a>) + Send + Sync + 'static,
{
    assert_spawnable(&set);
    Home(spawn::home_of(&set)).every(period, set, closure)
}

impl Home {
    /// [`after`](crate::after) with a timer of this runtime.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, Runtime};
    /// use std::time::Duration;
    ///
    /// let [clock, bank] = [Runtime::new()?, Runtime::new()?];
    /// let account = bank.run(|| Cown::new(0));
    /// clock.home().after(Duration::from_millis(1), &account, |balance| *balance += 1);
    /// clock.wait_idle(); // The timer has fired,
    /// bank.wait_idle(); // and its behaviour has run.
    /// assert_eq!(account.into_inner(), Ok(1));
    /// # Ok::<(), coact::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// As there.
    #[track_caller]
    pub fn after<S, F>(self, delay: Duration, set: S, closure: F) -> Timer
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
    {
        assert_spawnable(&set);
        let set = set.to_owned_set();
        let fire = move || spawn::with_owned::<S, _, _>(set, closure, Forget);
        self.timers().set(delay, Entry::Once(Box::new(fire)))
    }

    /// [`every`](crate::every) with a timer of this runtime.
    ///
    /// # Panics
    /// As there.
    #[track_caller]
    pub fn every<S, F>(self, period: Duration, set: S, closure: F) -> Timer
    where
        S: CownSet,
        S::Owned: Sync,
        F: for<'a> Fn(S::Access<'a>) + Send + Sync + 'static,
    {
        assert!(!period.is_zero(), "a timer with a period of zero would never stop firing");
        assert_spawnable(&set);
        let (set, closure) = (Arc::new(set.to_owned_set()), Arc::new(closure));
        let waiting = Arc::new(AtomicBool::new(false));
        let fire = move || {
            // ORDERING: Relaxed. The flag guards no data: the cowns order the ticks.
            if !waiting.swap(true, Ordering::Relaxed) {
                let closure = Arc::clone(&closure);
                let ended = Tick(Arc::clone(&waiting));
                let set = set.to_owned_set();
                spawn::with_owned::<S, _, _>(set, move |access| closure(access), ended);
            }
        };
        self.timers().set(period, Entry::Every { period: nanos(period), fire: Box::new(fire) })
    }

    /// [`every_with_fixed_delay`](crate::every_with_fixed_delay) with a timer of this runtime.
    ///
    /// # Panics
    /// As there.
    #[track_caller]
    pub fn every_with_fixed_delay<S, F>(self, delay: Duration, set: S, closure: F) -> Timer
    where
        S: CownSet,
        S::Owned: Sync,
        F: for<'a> Fn(S::Access<'a>) + Send + Sync + 'static,
    {
        assert_spawnable(&set);
        let (set, closure) = (set.to_owned_set(), Arc::new(closure));
        self.repeat(delay, move |run| {
            let closure = Arc::clone(&closure);
            spawn::with_owned::<S, _, _>(set.to_owned_set(), move |access| closure(access), run);
        })
    }

    /// Calls a closure when `delay` has passed, and again each time `delay` has passed since what it was
    /// given was dropped, until the timer is cancelled. It is called by the thread that serves the timers.
    ///
    /// # Panics
    /// If the delay is zero.
    #[doc(hidden)]
    #[track_caller]
    pub fn repeat(self, delay: Duration, run: impl Fn(Run) + Send + Sync + 'static) -> Timer {
        assert!(!delay.is_zero(), "a timer with a delay of zero would never stop firing");
        self.timers().set(delay, Entry::Spaced { delay: nanos(delay), run: Arc::new(run) })
    }

    /// [`sleep`](crate::sleep) with a timer of this runtime.
    pub fn sleep(self, delay: Duration) -> Sleep {
        let (resolver, promise) = Promise::channel();
        promise.owed_by(|f| f.write_str("a timer"));
        let due = Due(Some(resolver));
        let timer = self.timers().set(delay, Entry::Once(Box::new(move || due.come())));
        Sleep { promise: Some(promise), timer }
    }

    fn timers(self) -> &'static Timers {
        shared::get(self.0).service()
    }
}

/// Spawns a behaviour on `set` when `delay` has passed, and again each time `delay` has passed since it
/// ended, until the timer is cancelled. So a slow run delays the next, and there is a pause after each.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, ask, every_with_fixed_delay};
/// use std::time::Duration;
///
/// let runs = Cown::new(0);
/// let timer = every_with_fixed_delay(Duration::from_millis(1), &runs, |runs| *runs += 1);
/// while ask(&runs, |runs| *runs).wait().unwrap() < 3 {}
/// timer.cancel();
/// ```
///
/// # Panics
/// If the set names a cown twice, or cowns of different pumps, or if the delay is zero.
#[track_caller]
pub fn every_with_fixed_delay<S, F>(delay: Duration, set: S, closure: F) -> Timer
where
    S: CownSet,
    S::Owned: Sync,
    F: for<'a> Fn(S::Access<'a>) + Send + Sync + 'static,
{
    assert_spawnable(&set);
    Home(spawn::home_of(&set)).every_with_fixed_delay(delay, set, closure)
}

/// One run of a timer that waits for the end of each: the next follows after its delay when this is dropped.
#[doc(hidden)]
pub struct Run {
    runtime: RuntimeId,
    number: u64,
    /// The timer; there until this is dropped.
    entry: Option<Entry>,
}

impl Drop for Run {
    fn drop(&mut self) {
        let shared = shared::get(self.runtime);
        let Some(entry) = self.entry.take() else { return };
        if let Err(entry) = shared.service::<Timers>().set_again(self.number, entry) {
            drop_quietly(move || drop(entry));
            shared.end_outstanding();
        }
    }
}

impl Completion for Run {
    type Value = ();

    fn done(self, (): ()) {}

    fn failed(self, _: Broken) {}
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("timer", &self.number).finish_non_exhaustive()
    }
}

/// A future that is ready when `delay` has passed, counted from now: to await, or to chain cowns to.
/// Dropping it cancels the timer, which belongs to the current runtime.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, sleep};
/// use std::time::Duration;
///
/// let log = Cown::new(Vec::new());
/// let done = sleep(Duration::from_millis(1)).then(&log, |log, _| log.push("late"));
/// done.wait().unwrap();
/// ```
pub fn sleep(delay: Duration) -> Sleep {
    Home::current().sleep(delay)
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

/// One tick's behaviour. When this is dropped it has run, or was skipped, or could not be spawned since a
/// handle panicked.
struct Tick(Arc<AtomicBool>);

impl Drop for Tick {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Completion for Tick {
    type Value = ();

    fn done(self, (): ()) {}

    fn failed(self, _: Broken) {}
}

/// A timer that was set by [`after`] or [`every`]. Dropping it leaves the timer running.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, after};
/// use std::time::Duration;
///
/// let door = Cown::new("locked");
/// let alarm = after(Duration::from_secs(60), &door, |door| *door = "unlocked");
/// assert!(alarm.cancel(), "it has not fired");
/// assert!(!alarm.cancel(), "it was cancelled before");
/// assert_eq!(door.into_inner(), Ok("locked"));
/// ```
#[derive(Clone)]
pub struct Timer {
    runtime: RuntimeId,
    number: u64,
}

impl Timer {
    /// Cancels the timer. Returns whether that came in time: whether it would have fired (again).
    /// A behaviour that a timer has spawned already is not called back.
    pub fn cancel(&self) -> bool {
        shared::get(self.runtime)
            .find_service()
            .is_some_and(|timers: &Timers| timers.cancel(self.number))
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").field("number", &self.number).finish_non_exhaustive()
    }
}

/// What a timer does.
enum Entry {
    Once(Box<dyn FnOnce() + Send>),
    Every {
        period: u64,
        fire: Box<dyn FnMut() + Send>,
    },
    /// Again when each run has ended.
    Spaced {
        delay: u64,
        run: Arc<dyn Fn(Run) + Send + Sync>,
    },
}

/// The resolution of the wheel: timers within one tick are told apart, but are looked at together.
const TICK: Duration = Duration::from_millis(1);

/// All timers of one runtime. A thread of its own serves them, since workers may be deep in long
/// behaviours; it starts with the first timer.
pub(crate) struct Timers {
    runtime: RuntimeId,
    /// Whether a simulation serves the timers, in virtual time.
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    wheel: Wheel<(u64, u64, Entry)>,
    /// The timers that have not had their end.
    places: HashMap<u64, Place>,
    next_number: u64,
    driver: Driver,
    thread: Option<Thread>,
}

/// Where a timer is.
enum Place {
    /// In the wheel.
    Waiting(Key),
    /// It fires right now, or its run goes on, and is to be set again: it may be cancelled before it is.
    Firing,
}

impl State {
    /// Takes out the timers that are due, in their order.
    fn take_due(&mut self, now: u64) -> Vec<(u64, u64, Entry)> {
        let mut due = Vec::new();
        self.wheel.advance(now, &mut |entry| due.push(entry));
        for (number, _, entry) in &due {
            match entry {
                Entry::Once(_) => self.places.remove(number),
                Entry::Every { .. } | Entry::Spaced { .. } => {
                    self.places.insert(*number, Place::Firing)
                }
            };
        }
        due
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    NotStarted,
    /// Looks again at this time (in ns), or when it is told to.
    Until(u64),
    Stopped,
}

impl Service for Timers {
    fn new(shared: &Shared) -> Self {
        let state = State {
            wheel: Wheel::new(nanos(TICK)),
            places: HashMap::new(),
            next_number: 0,
            driver: Driver::NotStarted,
            thread: None,
        };
        Self { runtime: shared.id, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Drops all timers: the runtime is past its deadline.
    fn stop(&self, shared: &Shared) {
        let mut numbers: Vec<u64> = {
            let mut state = self.state.lock();
            state.driver = Driver::Stopped;
            state.places.keys().copied().collect()
        };
        // As they were set, each time that a simulation comes here.
        numbers.sort_unstable();
        self.changed.notify_all();
        for number in numbers {
            if self.cancel(number) {
                shared.abandoned.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.give_back();
    }
}

impl Timers {
    fn shared(&self) -> &'static Shared {
        shared::get(self.runtime)
    }

    /// The time since the runtime was made.
    fn now(&self) -> u64 {
        nanos(self.shared().elapsed())
    }

    fn set(&'static self, delay: Duration, entry: Entry) -> Timer {
        let deadline = self.now().saturating_add(nanos(delay));
        self.shared().begin_outstanding();
        let mut state = self.state.lock();
        let number = state.next_number;
        state.next_number += 1;
        let key = state.wheel.insert(deadline, (number, deadline, entry));
        state.places.insert(number, Place::Waiting(key));
        match state.driver {
            Driver::Until(until) if until <= deadline => {}
            Driver::Until(_) => self.changed.notify_one(),
            Driver::NotStarted if self.shared().config.simulated => {}
            Driver::NotStarted => {
                if let Err(error) = self.start_driver(&mut state) {
                    drop(state);
                    self.cancel(number);
                    panic!("the thread that serves timers could not be started: {error}");
                }
            }
            Driver::Stopped => {
                drop(state);
                let _cancelling = Cancelling::enter();
                self.cancel(number);
                self.give_back();
            }
        }
        Timer { runtime: self.runtime, number }
    }

    fn start_driver(&'static self, state: &mut State) -> io::Result<()> {
        let config = &self.shared().config;
        let thread = thread::Builder::new().name(format!("{}-timer", config.name));
        state.thread = Some(Thread::start(thread, || self.drive())?);
        state.driver = Driver::Until(0);
        Ok(())
    }

    fn cancel(&self, number: u64) -> bool {
        let entry = {
            let mut state = self.state.lock();
            match state.places.remove(&number) {
                None => return false,
                // It ends where it would be set again.
                Some(Place::Firing) => return true,
                Some(Place::Waiting(key)) => state.wheel.cancel(key),
            }
        };
        // What it was to do may own the guard of the next timer.
        // SAFETY: an entry is `'static`.
        unsafe { depth::run_destructor(move || drop_quietly(move || drop(entry))) };
        self.shared().end_outstanding();
        true
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.state.lock().places.is_empty()
    }

    /// Whether the thread that served the timers, which have been cancelled, has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.state.lock().thread.as_ref().is_none_or(Thread::is_over)
    }

    /// Waits for that thread no longer: it ends by itself.
    pub(crate) fn detach(&self) {
        let thread = self.state.lock().thread.take();
        thread.into_iter().for_each(Thread::join_if_over);
    }

    /// Gives back the memory of a stopped runtime's timers.
    fn give_back(&self) {
        let mut state = self.state.lock();
        if state.driver == Driver::Stopped && state.places.is_empty() {
            state.places = HashMap::new();
            state.wheel = Wheel::new(nanos(TICK));
        }
    }

    /// When a simulation must look for due timers next.
    #[cfg(feature = "sim")]
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.state.lock().wheel.next_deadline()
    }

    /// Fires the timers that are due.
    #[cfg(feature = "sim")]
    pub(crate) fn fire_due(&self, now: u64) {
        let due = self.state.lock().take_due(now);
        due.into_iter().for_each(|entry| self.fire(entry));
    }

    /// The thread that serves the timers.
    fn drive(&self) {
        let mut state = self.state.lock();
        while state.driver != Driver::Stopped {
            let now = self.now();
            let due = state.take_due(now);
            if !due.is_empty() {
                drop(state);
                due.into_iter().for_each(|entry| self.fire(entry));
                state = self.state.lock();
                continue;
            }
            let next = state.wheel.next_deadline();
            state.driver = Driver::Until(next.unwrap_or(u64::MAX));
            state = match next {
                None => self.changed.wait(state),
                Some(next) => {
                    let left = Duration::from_nanos(next.saturating_sub(now));
                    self.changed.wait_timeout(state, left).0
                }
            };
        }
        drop(state);
        self.give_back();
    }

    /// Fires one timer, without the lock: what it does is foreign code.
    fn fire(&self, timer: (u64, u64, Entry)) {
        // A behaviour without cowns belongs to the timer's runtime, whoever serves the timers.
        let _entered = current::Entered::new(self.runtime);
        // What waits here keeps all other timers, and might wait for one of them.
        let _inside = current::Nested::enter();
        self.fire_inside(timer);
    }

    fn fire_inside(&self, (number, deadline, entry): (u64, u64, Entry)) {
        match entry {
            Entry::Once(fire) => drop_quietly(fire),
            Entry::Spaced { delay, run } => {
                let entry = Some(Entry::Spaced { delay, run: Arc::clone(&run) });
                let this = Run { runtime: self.runtime, number, entry };
                // The end of the run, and of the timer, is the end of this.
                return drop_quietly(move || run(this));
            }
            Entry::Every { period, mut fire } => {
                drop_quietly(&mut fire);
                let next = deadline.saturating_add(period);
                match self.renew(number, next, Entry::Every { period, fire }) {
                    Ok(()) => return,
                    Err(entry) => drop_quietly(move || drop(entry)),
                }
            }
        }
        self.shared().end_outstanding();
    }

    /// Sets a timer again whose run has ended: as `renew`, but by any thread, and counted from now.
    fn set_again(&self, number: u64, entry: Entry) -> Result<(), Entry> {
        let Entry::Spaced { delay, .. } = &entry else { return Err(entry) };
        let deadline = self.now().saturating_add(*delay);
        self.renew(number, deadline, entry)?;
        let state = self.state.lock();
        if matches!(state.driver, Driver::Until(until) if until > deadline) {
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Sets a periodic timer again, unless it was cancelled, or the runtime stopped, meanwhile: then
    /// the timer comes back, to be dropped without the lock.
    fn renew(&self, number: u64, deadline: u64, entry: Entry) -> Result<(), Entry> {
        let mut state = self.state.lock();
        if state.driver == Driver::Stopped || !state.places.contains_key(&number) {
            return Err(entry);
        }
        let key = state.wheel.insert(deadline, (number, deadline, entry));
        state.places.insert(number, Place::Waiting(key));
        Ok(())
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
