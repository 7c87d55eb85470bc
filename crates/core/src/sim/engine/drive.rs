//! How a run proceeds: one fiber at a time, chosen by the strategy, until all have ended.

use coact_sim::{SchedulingStrategy, TaskId};

use super::{Engine, RUNNABLE, RunnableTask, guarded, is_panicking, ready};
use crate::config::ThreadKind;
use crate::current;
use crate::sched::runtime_shared::RuntimeShared;
use crate::sim::sim_fiber::{FiberSubject, SimFiber, SuspendReason};
use crate::sim::trace::{RunTrace, TraceEvent};
use crate::task::run_task;
use crate::time::TimerService;

impl Engine<'_> {
    /// Runs fibers, one at a time, until all have ended.
    pub(super) fn drive(&self) -> Result<(), String> {
        loop {
            if self.steps.get() >= self.settings.max_steps {
                return Err(self.report_endless());
            }
            if self.trace.is_some_and(RunTrace::has_parted) {
                return Err("the second run has parted from the first".to_owned());
            }
            if !self.step() && !self.advance_time() {
                return self.check_all_ended();
            }
        }
    }

    /// Runs one of the runnable fibers. Returns whether there is one.
    pub(super) fn step(&self) -> bool {
        let runnable = self.runnable();
        if runnable.is_empty() {
            return false;
        }
        self.steps.set(self.steps.get() + 1);
        let current = self.last.get().filter(|id| runnable.contains(id));
        let chosen = self.explorer.borrow_mut().choose_task(&runnable, current);
        self.last.set(Some(chosen));
        self.note_step(chosen);
        self.trace(|| TraceEvent::Step {
            runnable: runnable.into(),
            chosen,
            who: self.who(chosen),
        });
        self.go_on(chosen);
        true
    }

    /// Returns what can run: fibers whose condition holds and, if their host has room, tasks.
    fn runnable(&self) -> Vec<TaskId> {
        let fibers = self.fibers.borrow();
        let ready = self.ready.borrow();
        let startable =
            ready.iter().filter(|(_, ready)| self.has_room(ready.home)).map(|(id, _)| *id);
        let going = fibers.iter().filter(|(_, fiber)| fiber.can_go_on()).map(|(id, _)| *id);
        let mut runnable: Vec<TaskId> = startable.chain(going).collect();
        runnable.sort_unstable();
        runnable
    }

    /// Returns whether a task of the runtime can begin.
    fn has_room(&self, home: &'static RuntimeShared) -> bool {
        let bodies = self.bodies_of(home.id);
        match home.config.host {
            ThreadKind::Pump => {
                let left = self.pumps.borrow().get(&home.id.get()).copied();
                bodies == 0 && left.is_some_and(|left| left > 0)
            }
            _ if home.id == self.shared.id => bodies < self.settings.workers,
            _ => bodies < home.config.workers,
        }
    }

    fn go_on(&self, id: TaskId) {
        let started = self.ready.borrow_mut().remove(&id).map(|ready| self.fiber_of(ready));
        let left = started.or_else(|| self.fibers.borrow_mut().remove(&id));
        let mut fiber = left.expect(RUNNABLE);
        self.body_of.set(fiber.body_of);
        self.watch.enter(id, fiber.who);
        self.panicking.update(|fibers| fibers - usize::from(fiber.in_panic));
        let left = fiber.resume();
        fiber.in_panic = is_panicking();
        self.panicking.update(|fibers| fibers + usize::from(fiber.in_panic));
        self.body_of.set(None);
        match left {
            SuspendReason::Ended => {
                self.watch.end_task();
                fiber.recycle();
            }
            _ => {
                self.watch.suspend(id, fiber.who, fiber.waits_at());
                drop(self.fibers.borrow_mut().insert(id, fiber));
            }
        }
    }

    /// Creates a fiber that runs a task as a worker would. A task that becomes ready is not run
    /// next, but offered for choice.
    fn fiber_of(&self, RunnableTask { task, home }: RunnableTask) -> SimFiber {
        if let Some(left) = self.pumps.borrow_mut().get_mut(&home.id.get()) {
            *left -= 1;
        }
        SimFiber::new(
            Some(home.id),
            FiberSubject::task(task, home),
            None,
            Box::new(move || {
                current::enter(home.id);
                home.act_as_pump_thread();
                guarded(|| {
                    // SAFETY: the task is ready, and was removed from the ready ones, so it is run
                    // once.
                    if let Some(successor) = unsafe { run_task(task, home.run_context()) } {
                        ready(successor, home);
                    }
                });
            }),
        )
    }

    /// Jumps to the next timer or the next deadline of a wait. Returns whether there is one.
    fn advance_time(&self) -> bool {
        let runtimes: Vec<_> =
            [self.shared].into_iter().chain(self.built.borrow().iter().copied()).collect();
        let timers = runtimes.iter().filter_map(|shared| {
            shared.find_service().and_then(|timers: &TimerService| timers.next_deadline())
        });
        let now = self.clock.borrow().now();
        let alarm = self.alarms.borrow().iter().copied().filter(|alarm| *alarm > now).min();
        let Some(next) = timers.chain(alarm).min() else { return false };
        self.clock.borrow_mut().advance_to(next);
        self.trace(|| TraceEvent::Time(next));
        for shared in runtimes {
            // Like the thread that serves its timers: a behaviour without cowns runs there.
            let before = current::enter(shared.id);
            if let Some(timers) = shared.find_service::<TimerService>() {
                timers.fire_due(next);
            }
            current::enter(before);
        }
        true
    }

    fn check_all_ended(&self) -> Result<(), String> {
        let are_idle = self.fibers.borrow().values().all(SimFiber::waits_idly);
        if are_idle { Ok(()) } else { Err(self.report_deadlock()) }
    }
}
