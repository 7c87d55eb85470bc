//! A worker without a thread of its own: the pumping thread is the worker while it pumps.
//!
//! Between two calls such a worker counts as asleep if there is nothing to do, and as on its way if
//! there is. So everything that holds for sleeping workers holds for it: a thread that leaves a
//! task for it finds it on the list of sleepers, once, takes it off, and wakes it, which here means
//! calling the hook.

use crate::current;
use std::cell::RefCell;
use std::time::{Duration, Instant};

use coact_sync::shim::atomic::Ordering;

use super::pump_state::PumpState;
use super::trim;
use super::worker::Worker;
use crate::panic::drop_quietly;
use crate::sched::idleness::RuntimeActivity;
use crate::sched::phase::RuntimePhase;
use crate::sched::runtime_shared::RuntimeShared;
use crate::task::TaskPtr;

impl RuntimeShared {
    /// Returns whether its behaviours run on a thread that pumps.
    #[inline]
    pub(crate) fn is_pumped(&self) -> bool {
        self.pump.is_some()
    }

    /// Returns whether this is the thread that pumps.
    pub(crate) fn is_pump_thread(&self) -> bool {
        self.pump.as_ref().is_some_and(|pump| pump.thread == current::number())
    }

    fn pump(&self) -> &PumpState {
        self.pump.as_ref().expect("only a pumped runtime is pumped")
    }

    /// Called when a sleeping pump has work: calls the hook, unless it is being pumped.
    pub(super) fn tell_pump(&self) {
        if let (Some(pump), Some(hook)) = (&self.pump, &self.config.on_ready)
            && !pump.is_pumping()
            && self.phase() == RuntimePhase::Running
        {
            // Cowns may be held around this, so blocking calls panic.
            let _nested = current::NestedBody::enter();
            drop_quietly(&**hook);
        }
    }

    /// Makes the thread check its condition.
    pub(crate) fn wake_pump(&self) {
        // ORDERING: Relaxed. Counted for simulations, which have one thread.
        self.pump().wakes.fetch_add(1, Ordering::Relaxed);
        self.unpark(0);
    }
}

/// Takes the place of the list of sleepers in a simulation.
#[cfg_attr(not(feature = "sim"), allow(dead_code))]
impl RuntimeShared {
    pub(crate) fn set_pumping(&self, pumping: bool) {
        self.pump().set_pumping(pumping);
        // ORDERING: Relaxed, here and below. Simulations have one thread.
        self.pump().hook_called.store(false, Ordering::Relaxed);
    }

    pub(crate) fn pump_wakes(&self) -> u64 {
        self.pump().wakes.load(Ordering::Relaxed)
    }

    /// Like [`tell_pump`](Self::tell_pump), once until it is pumped again.
    pub(crate) fn tell_pump_once(&self) {
        if let Some(pump) = &self.pump
            && !pump.is_pumping()
            && !pump.hook_called.swap(true, Ordering::Relaxed)
        {
            self.tell_pump();
        }
    }

    /// Makes the current simulated thread act as the one that pumps.
    #[cfg(feature = "sim")]
    pub(crate) fn act_as_pump_thread(&self) {
        if let Some(pump) = &self.pump {
            current::act_as(pump.thread);
        }
    }
}

impl Worker {
    /// Goes to sleep for the first time: no thread is the worker yet.
    pub(crate) fn rest(&self) {
        self.shared.idle.start_searching();
        self.shared.idle.fall_asleep(self.index);
    }

    /// Runs what is ready at this moment: each task, and those that follow it on the same cown, up
    /// to the throughput. Returns their number.
    pub(crate) fn pump_pending(&self) -> usize {
        self.pump(|| {
            let first = self.take_from_inbox(0);
            let ready = self.with_queue(|tasks| {
                let (aged, held) = (tasks.aged.drain(..), tasks.held.drain(..));
                let mut ready: Vec<_> = aged.chain(tasks.fresh.drain(..)).chain(held).collect();
                ready.extend(tasks.next.take());
                ready
            });
            ready.into_iter().chain(first).map(|task| self.run_as_taken(task)).sum()
        })
    }

    /// Runs tasks, and sleeps while there are none, until `stop` returns `true`. It is called after
    /// each task and when the thread wakes up.
    pub(crate) fn pump_until(&self, mut stop: impl FnMut() -> bool) {
        self.pump(|| {
            while !stop() {
                match self.take_any_way() {
                    Some(task) => self.run_and_follow(task),
                    None => self.doze(),
                }
            }
        });
    }

    /// Runs tasks, and sleeps while there are none, until `activity`, which is called while this
    /// worker sleeps, finds nothing, or the time has passed. Returns whether it has found nothing.
    pub(crate) fn pump_until_idle(
        &self,
        until: Option<Instant>,
        activity: impl Fn() -> RuntimeActivity,
    ) -> bool {
        self.pump(|| {
            while !is_over(until) {
                match self.take_any_way() {
                    Some(task) => self.run_and_follow(task),
                    None if self.doze_until(until, &activity) => return true,
                    None => {}
                }
            }
            false
        })
    }

    /// Runs a task, and those that follow it, as one that was just taken. Returns their number.
    fn run_as_taken(&self, task: TaskPtr) -> usize {
        self.tick();
        self.run_chain::<false>(task) as usize
    }

    /// Takes the next task, including one that gives way.
    fn take_any_way(&self) -> Option<TaskPtr> {
        self.take().or_else(|| self.take_held())
    }

    /// Runs a task, and queues the one that follows it to run next.
    fn run_and_follow(&self, task: TaskPtr) {
        if let Some(successor) = self.run_one::<false>(task) {
            self.push(successor);
        }
    }

    /// Makes this thread the worker for a while.
    fn pump<R>(&self, work: impl FnOnce() -> R) -> R {
        /// A panic of the user's condition may end the work.
        struct LeaveWorker<'a>(&'a Worker);
        impl Drop for LeaveWorker<'_> {
            fn drop(&mut self) {
                self.0.leave_pump();
            }
        }
        self.shared.pump().set_pumping(true);
        self.get_up();
        // Dropped when the thread is no longer a worker: the hook that may then be called is not
        // part of its work.
        let _leave = LeaveWorker(self);
        self.as_current(work)
    }

    /// Stops being a sleeper, whatever has woken it. Tasks left by threads that saw it on its way
    /// are visible from here on.
    fn get_up(&self) {
        self.shared.idle.wake_up(0);
        self.shared.idle.found_work();
    }

    /// Goes to sleep until the next call. If there is something left, the worker stays on its way
    /// instead, and the hook is called.
    fn leave_pump(&self) {
        // The task in `next` is invisible to checks for tasks.
        self.with_queue(|tasks| tasks.aged.extend(tasks.next.take()));
        self.tick();
        self.shared.pump().set_pumping(false);
        self.rest();
        if !self.shared.has_tasks() {
            return self.shared.tell_if_idle();
        }
        // A waker that came first calls the hook itself.
        if self.shared.idle.wake_up(0) {
            self.shared.tell_pump();
        }
    }

    /// Sleeps until woken, unless there is a task.
    fn doze(&self) {
        self.fall_asleep();
        if !self.shared.has_tasks() {
            self.park_for(None);
        }
        self.get_up();
    }

    /// Sleeps until there is a task, the time has passed, or `activity` finds nothing; returns
    /// whether it does. The worker does not get up for the check: others make the same check, and
    /// must not miss each other.
    fn doze_until(&self, until: Option<Instant>, activity: impl Fn() -> RuntimeActivity) -> bool {
        self.fall_asleep();
        let mut idle = false;
        while !self.shared.has_tasks() && self.shared.idle.are_asleep(1) && !is_over(until) {
            let activity = activity();
            idle = activity == RuntimeActivity::Idle;
            if idle {
                break;
            }
            self.park_for([activity.patience(), left(until)].into_iter().flatten().min());
        }
        self.get_up();
        idle
    }

    fn fall_asleep(&self) {
        coact_sync::pool::flush_thread();
        self.rest();
        if !self.shared.has_tasks() {
            self.shared.tell_if_idle();
        }
    }

    /// A leftover permit makes this return early.
    fn park_for(&self, patience: Option<Duration>) {
        trim::park(&self.parker, patience, || !self.shared.has_tasks());
    }
}

fn left(until: Option<Instant>) -> Option<Duration> {
    until.map(|until| until.saturating_duration_since(Instant::now()))
}

fn is_over(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}

thread_local! {
    /// The pumps that this thread has created and not dropped.
    static PUMPS: RefCell<Vec<&'static RuntimeShared>> = const { RefCell::new(Vec::new()) };
}

/// Panics on a thread whose pump has work: the awaited work may be that very work, or behind it.
#[track_caller]
pub(crate) fn assert_has_no_work(what: &str) {
    let find = |pumps: &RefCell<Vec<&'static RuntimeShared>>| {
        let pumps = pumps.borrow();
        pumps.iter().copied().find(|pump| pump.is_pump_thread() && pump.has_tasks())
    };
    if let Ok(Some(pump)) = PUMPS.try_with(find) {
        panic!(
            "{what} stops the pump `{}` of this thread, which has work, and could wait for it forever: \
             await it in `Pump::run_future`, which runs the pump meanwhile",
            pump.config.name
        );
    }
}

/// Records that this thread has created a pump. (A thread that is ending no longer has this list.)
pub(crate) fn register_pump(pump: &'static RuntimeShared) {
    let _ = PUMPS.try_with(|pumps| pumps.borrow_mut().push(pump));
}

/// Records that it has dropped one.
pub(crate) fn unregister_pump(pump: &'static RuntimeShared) {
    let _ = PUMPS.try_with(|pumps| pumps.borrow_mut().retain(|one| one.id != pump.id));
}
