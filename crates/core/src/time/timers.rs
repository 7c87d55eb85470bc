//! The timers of one runtime, and the thread that serves them.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use coact_sync::shim::sync::{Condvar, Mutex};

use super::wheel::{TimerKey, TimerWheel};
use crate::body::Completion;
use crate::current::{self, CancelMark};
use crate::drop_depth;
use crate::fault::Broken;
use crate::panic::drop_quietly;
use crate::runtime_ids::RuntimeId;
use crate::sched::runtime_shared::{self, RuntimeShared};
use crate::sched::services::SharedService;
use crate::sched::tracked_thread::TrackedThread;

/// What happens when a timer fires.
pub(super) enum TimerEntry {
    Once(Box<dyn FnOnce() + Send>),
    Every {
        period: u64,
        fire: Box<dyn FnMut() + Send>,
    },
    /// Fires again `delay` after each run has ended.
    Spaced {
        delay: u64,
        run: Arc<dyn Fn(Run) + Send + Sync>,
    },
}

/// The resolution of the wheel. Timers within one tick keep their order, but are examined together.
const TICK: Duration = Duration::from_millis(1);

/// All timers of one runtime. A thread of their own serves them, since workers may be busy with
/// long behaviours; it starts with the first timer.
pub(crate) struct TimerService {
    runtime: RuntimeId,
    /// The timers, and the state of the thread that serves them.
    state: Mutex<TimersState>,
    changed: Condvar,
}

struct TimersState {
    wheel: TimerWheel<(u64, u64, TimerEntry)>,
    /// The timers that have not ended.
    places: HashMap<u64, TimerPosition>,
    next_number: u64,
    driver: TimerDriver,
    thread: Option<TrackedThread>,
}

/// Where a timer is.
enum TimerPosition {
    /// In the wheel.
    Waiting(TimerKey),
    /// It is firing, or its run is in progress, and it is to be set again; it may be cancelled
    /// before that.
    Firing,
}

impl TimersState {
    /// Removes the due timers and returns them in order.
    fn take_due(&mut self, now: u64) -> Vec<(u64, u64, TimerEntry)> {
        let mut due = Vec::new();
        self.wheel.advance(now, &mut |entry| due.push(entry));
        for (number, _, entry) in &due {
            match entry {
                TimerEntry::Once(_) => self.places.remove(number),
                TimerEntry::Every { .. } | TimerEntry::Spaced { .. } => {
                    self.places.insert(*number, TimerPosition::Firing)
                }
            };
        }
        due
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TimerDriver {
    NotStarted,
    /// The thread wakes at this time (in ns), or when notified.
    Until(u64),
    Stopped,
}

impl SharedService for TimerService {
    fn new(shared: &RuntimeShared) -> Self {
        let state = TimersState {
            wheel: TimerWheel::new(nanos(TICK)),
            places: HashMap::new(),
            next_number: 0,
            driver: TimerDriver::NotStarted,
            thread: None,
        };
        Self { runtime: shared.id, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Drops all timers: the runtime is past its deadline.
    fn stop(&self, shared: &RuntimeShared) {
        let mut numbers: Vec<u64> = {
            let mut state = self.state.lock();
            state.driver = TimerDriver::Stopped;
            state.places.keys().copied().collect()
        };
        // In the order of creation, so that a simulation always does this in the same order.
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

impl TimerService {
    fn shared(&self) -> &'static RuntimeShared {
        runtime_shared::get(self.runtime)
    }

    /// The time since the runtime was created.
    fn now(&self) -> u64 {
        nanos(self.shared().elapsed())
    }

    pub(super) fn set(&'static self, delay: Duration, entry: TimerEntry) -> Timer {
        let deadline = self.now().saturating_add(nanos(delay));
        self.shared().begin_outstanding();
        let mut state = self.state.lock();
        let number = state.next_number;
        state.next_number += 1;
        let key = state.wheel.insert(deadline, (number, deadline, entry));
        state.places.insert(number, TimerPosition::Waiting(key));
        match state.driver {
            TimerDriver::Until(until) if until <= deadline => {}
            TimerDriver::Until(_) => self.changed.notify_one(),
            TimerDriver::NotStarted if self.shared().config.simulated => {}
            TimerDriver::NotStarted => {
                if let Err(error) = self.start_driver(&mut state) {
                    drop(state);
                    self.cancel(number);
                    panic!("the thread that serves timers could not be started: {error}");
                }
            }
            TimerDriver::Stopped => {
                drop(state);
                let _cancelling = CancelMark::enter();
                self.cancel(number);
                self.give_back();
            }
        }
        Timer { runtime: self.runtime, number }
    }

    fn start_driver(&'static self, state: &mut TimersState) -> io::Result<()> {
        let config = &self.shared().config;
        let thread = thread::Builder::new().name(format!("{}-timer", config.name));
        state.thread = Some(TrackedThread::start(thread, || self.drive())?);
        state.driver = TimerDriver::Until(0);
        Ok(())
    }

    pub(super) fn cancel(&self, number: u64) -> bool {
        let entry = {
            let mut state = self.state.lock();
            match state.places.remove(&number) {
                None => return false,
                // It ends instead of being set again.
                Some(TimerPosition::Firing) => return true,
                Some(TimerPosition::Waiting(key)) => state.wheel.cancel(key),
            }
        };
        // The timer's closure may own the guard of the next timer, and so on.
        // SAFETY: an entry is `'static`.
        unsafe { drop_depth::run_destructor(move || drop_quietly(move || drop(entry))) };
        self.shared().end_outstanding();
        true
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.state.lock().places.is_empty()
    }

    /// Returns whether the thread that served the timers, which are cancelled, has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.state.lock().thread.as_ref().is_none_or(TrackedThread::is_over)
    }

    /// Stops waiting for that thread, which ends by itself.
    pub(crate) fn detach(&self) {
        let thread = self.state.lock().thread.take();
        thread.into_iter().for_each(TrackedThread::join_if_over);
    }

    /// Frees the memory of a stopped runtime's timers.
    fn give_back(&self) {
        let mut state = self.state.lock();
        if state.driver == TimerDriver::Stopped && state.places.is_empty() {
            state.places = HashMap::new();
            state.wheel = TimerWheel::new(nanos(TICK));
        }
    }

    /// Returns when a simulation must next look for due timers.
    #[cfg(feature = "sim")]
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.state.lock().wheel.next_deadline()
    }

    /// Begins at time 0 again, for another run of a simulation: so that what the wheel does depends
    /// on that run alone.
    #[cfg(feature = "sim")]
    pub(crate) fn begin_run(&self) {
        let mut state = self.state.lock();
        if state.places.is_empty() {
            state.wheel = TimerWheel::new(nanos(TICK));
            state.next_number = 0;
        }
    }

    /// Fires the timers that are due.
    #[cfg(feature = "sim")]
    pub(crate) fn fire_due(&self, now: u64) {
        let due = self.state.lock().take_due(now);
        due.into_iter().for_each(|entry| self.fire(entry));
    }

    /// The main loop of the thread that serves the timers.
    fn drive(&self) {
        let mut state = self.state.lock();
        while state.driver != TimerDriver::Stopped {
            let now = self.now();
            let due = state.take_due(now);
            if !due.is_empty() {
                drop(state);
                due.into_iter().for_each(|entry| self.fire(entry));
                state = self.state.lock();
                continue;
            }
            let next = state.wheel.next_deadline();
            state.driver = TimerDriver::Until(next.unwrap_or(u64::MAX));
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

    /// Fires one timer, without holding the lock: the closure is foreign code.
    fn fire(&self, timer: (u64, u64, TimerEntry)) {
        // A behaviour without cowns belongs to the timer's runtime, whichever thread serves the
        // timers.
        let _entered = current::EnteredRuntime::new(self.runtime);
        // Blocking here would delay all other timers, and might wait for one of them.
        let _inside = current::NestedBody::enter();
        self.fire_inside(timer);
    }

    fn fire_inside(&self, (number, deadline, entry): (u64, u64, TimerEntry)) {
        match entry {
            TimerEntry::Once(fire) => drop_quietly(fire),
            TimerEntry::Spaced { delay, run } => {
                let entry = Some(TimerEntry::Spaced { delay, run: Arc::clone(&run) });
                let this = Run { runtime: self.runtime, number, entry };
                // Dropping `this` ends the run; without an entry in it, the timer ends too.
                return drop_quietly(move || run(this));
            }
            TimerEntry::Every { period, mut fire } => {
                drop_quietly(&mut fire);
                let next = deadline.saturating_add(period);
                match self.renew(number, next, TimerEntry::Every { period, fire }) {
                    Ok(()) => return,
                    Err(entry) => drop_quietly(move || drop(entry)),
                }
            }
        }
        self.shared().end_outstanding();
    }

    /// Sets a timer again after its run has ended: like `renew`, but on any thread, and counted
    /// from now.
    pub(super) fn set_again(&self, number: u64, entry: TimerEntry) -> Result<(), TimerEntry> {
        let TimerEntry::Spaced { delay, .. } = &entry else { return Err(entry) };
        let deadline = self.now().saturating_add(*delay);
        self.renew(number, deadline, entry)?;
        let state = self.state.lock();
        if matches!(state.driver, TimerDriver::Until(until) if until > deadline) {
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Sets a periodic timer again. If it was cancelled or the runtime stopped meanwhile, returns
    /// the entry, to be dropped without holding the lock.
    fn renew(&self, number: u64, deadline: u64, entry: TimerEntry) -> Result<(), TimerEntry> {
        let mut state = self.state.lock();
        if state.driver == TimerDriver::Stopped || !state.places.contains_key(&number) {
            return Err(entry);
        }
        let key = state.wheel.insert(deadline, (number, deadline, entry));
        state.places.insert(number, TimerPosition::Waiting(key));
        Ok(())
    }
}

pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A timer created by [`after`](super::after), [`every`](super::every) or
/// [`every_with_fixed_delay`](super::every_with_fixed_delay). Dropping it leaves the timer running.
///
/// ```
/// # use coact_core as coact;
/// use coact::Cown;
/// use coact::time::after;
/// use std::time::Duration;
///
/// let gate = Cown::new("locked");
/// let alarm = after(Duration::from_secs(60), &gate, |gate| *gate = "unlocked");
/// assert!(alarm.cancel(), "it has not fired");
/// assert!(!alarm.cancel(), "it was cancelled before");
/// assert_eq!(gate.into_inner(), Ok("locked"));
/// ```
#[derive(Clone)]
pub struct Timer {
    runtime: RuntimeId,
    number: u64,
}

impl Timer {
    /// Cancels the timer. Returns `true` if this prevents it from firing (again). A behaviour that
    /// the timer has already spawned is not affected.
    pub fn cancel(&self) -> bool {
        runtime_shared::get(self.runtime)
            .find_service()
            .is_some_and(|timers: &TimerService| timers.cancel(self.number))
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").field("number", &self.number).finish_non_exhaustive()
    }
}

/// One run of a timer with a fixed delay: the next follows `delay` after this is dropped.
pub struct Run {
    runtime: RuntimeId,
    number: u64,
    /// The timer's entry; `Some` until this is dropped.
    entry: Option<TimerEntry>,
}

impl Drop for Run {
    fn drop(&mut self) {
        let shared = runtime_shared::get(self.runtime);
        let Some(entry) = self.entry.take() else { return };
        if let Err(entry) = shared.service::<TimerService>().set_again(self.number, entry) {
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
