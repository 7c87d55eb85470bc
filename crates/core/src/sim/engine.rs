//! The simulated runtime: one fiber at a time, chosen by the strategy.

mod report;
mod run;
mod waits;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use coact_sim::{Explorer, Strategy, TaskId, VirtualClock};

use super::creation_order::CreationOrder;
use super::fiber::{Fiber, Left, Who};
use super::wait_tables::Known;
use crate::config::Host;
use crate::current;
use crate::fault::Fault;
use crate::panic::{Payload, drop_quietly, message};
use crate::runtime_ids::RuntimeId;
use crate::sched::shared::{self, Shared};
use crate::task::{TaskPtr, run_task};
use crate::time::Timers;
pub(super) use report::promise;
pub(super) use run::{free_id, run};
pub(super) use waits::{block_for, block_until, give_way, point, pump};

#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) workers: usize,
    pub(super) allow_faults: bool,
    pub(super) max_steps: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { workers: 2, allow_faults: false, max_steps: 1_000_000 }
    }
}

const ALLOW: &str = "If that is part of the test: `Sim::allow_faults(true)`.";

const RUNNABLE: &str = "the strategy chooses a runnable task";

/// One run of one program.
struct Engine<'a> {
    /// The runtime in which the program starts.
    shared: &'static Shared,
    /// The runtimes that the program has built.
    built: RefCell<Vec<&'static Shared>>,
    /// The number of tasks that may still begin, for each pump that is being pumped.
    pumps: RefCell<BTreeMap<u16, usize>>,
    /// The deadlines of waits with a time limit.
    alarms: RefCell<Vec<u64>>,
    explorer: RefCell<&'a mut Explorer>,
    settings: &'a Settings,
    /// Tasks that are ready and have not begun.
    ready: RefCell<BTreeMap<TaskId, Ready>>,
    /// Fibers that are suspended and have not ended.
    fibers: RefCell<BTreeMap<TaskId, Fiber>>,
    /// The runtime whose behaviour the running fiber executes, if any.
    body_of: Cell<Option<RuntimeId>>,
    /// Whether the thread was already panicking: a fiber that an earlier run left behind in a panic
    /// stays so.
    was_panicking: bool,
    /// The number of fibers suspended in the middle of a panic.
    panicking: Cell<usize>,
    next_task: Cell<u32>,
    clock: RefCell<VirtualClock>,
    steps: Cell<u64>,
    /// The fiber that ran last.
    last: Cell<Option<TaskId>>,
    /// The first failure: a panic of the program or of one of its threads, or a fault of a
    /// behaviour.
    failure: RefCell<Option<String>>,
    /// What waits for what.
    known: Known,
    ranks: CreationOrder,
    /// The fibers of the last steps, if the run is about to be given up.
    lately: RefCell<Vec<Who>>,
}

#[derive(Clone, Copy)]
struct Ready {
    task: TaskPtr,
    home: &'static Shared,
}

thread_local! {
    static ENGINE: Cell<*const Engine<'static>> = const { Cell::new(ptr::null()) };
}

/// Returns the current run of this thread.
fn engine<'a>() -> Option<&'a Engine<'static>> {
    // SAFETY: `run` sets the pointer while the engine lives, on its thread; no reference to it
    // outlives a call into this module, and those end before `run` does.
    unsafe { ENGINE.get().as_ref() }
}

#[track_caller]
fn expect_engine<'a>() -> &'a Engine<'static> {
    engine().expect("only simulated programs can do this: call it inside `sim::check`")
}

fn is_active() -> bool {
    !ENGINE.get().is_null()
}

/// Returns whether the thread is simulating a behaviour, which must not block.
pub(super) fn is_inside() -> bool {
    engine().and_then(|engine| engine.body_of.get()).is_some_and(|home| !may_block(home))
}

/// Returns whether the thread is simulating a behaviour, including one that may block.
pub(super) fn runs_body() -> bool {
    engine().is_some_and(|engine| engine.body_of.get().is_some())
}

/// Returns what the current run knows of waits.
pub(super) fn known<'a>() -> Option<&'a Known> {
    engine().map(|engine| &engine.known)
}

/// Registers a cown, or the leader of a group, created at this address.
pub(super) fn made_cown(at: usize) {
    if let Some(engine) = engine() {
        engine.ranks.made(at);
    }
}

/// Returns the rank of the cown at this address among all cowns.
pub(super) fn rank(cown: usize) -> usize {
    engine().map_or(cown, |engine| engine.ranks.of(cown))
}

/// Returns the running task.
pub(super) fn current() -> Option<TaskId> {
    engine().and_then(|engine| engine.last.get())
}

/// Returns whether the running fiber is panicking, as far as that can be known: the thread counts
/// as panicking if any of its fibers is.
fn is_panicking() -> bool {
    std::thread::panicking() && engine().is_none_or(|engine| !engine.knows_of_panic())
}

/// Makes a runtime that the program has built part of the run.
pub(super) fn adopt(runtime: RuntimeId) {
    expect_engine().built.borrow_mut().push(shared::get(runtime));
}

/// Returns how many of a pump's tasks are ready.
pub(super) fn count_ready(home: RuntimeId) -> usize {
    engine().map_or(0, |engine| engine.ready_of(home))
}

/// Returns the number of bodies of a runtime that have begun and not ended.
pub(super) fn bodies_of(home: RuntimeId) -> usize {
    engine().map_or(0, |engine| engine.bodies_of(home))
}

/// Returns the virtual time.
pub(super) fn now() -> u64 {
    expect_engine().clock.borrow().now()
}

/// Adds a ready task.
pub(super) fn ready(task: TaskPtr, home: &'static Shared) {
    let engine = expect_engine();
    let id = engine.new_task();
    engine.ready.borrow_mut().insert(id, Ready { task, home });
}

/// Starts a thread that runs no task, and may complete a promise at its end.
#[track_caller]
pub(super) fn spawn_outside(
    home: RuntimeId,
    who: Who,
    keeps: Option<usize>,
    main: Box<dyn FnOnce()>,
) {
    let engine = expect_engine();
    let main = move || {
        current::enter(home);
        guarded(main);
        guarded(current::end);
    };
    let id = engine.new_task();
    engine.fibers.borrow_mut().insert(id, Fiber::new(None, who, keeps, Box::new(main)));
}

/// Runs a part of the program on its fiber. A panic stops there, and fails the run.
fn guarded(part: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(part)) {
        fail(payload);
    }
}

/// Fails the run because of a panic; returns its message.
pub(super) fn fail(payload: Payload) -> Arc<str> {
    let message = message(&*payload);
    if let Some(engine) = engine() {
        engine.fail(&message);
    }
    drop_quietly(move || drop(payload));
    message
}

/// Returns the runtime in which the program starts.
#[track_caller]
pub(super) fn home() -> RuntimeId {
    expect_engine().shared.id
}

#[track_caller]
pub(super) fn choose(bound: u64) -> u64 {
    expect_engine().explorer.borrow_mut().choose_value(bound)
}

impl Engine<'_> {
    fn new_task(&self) -> TaskId {
        let id = self.next_task.get();
        self.next_task.set(id + 1);
        TaskId(id)
    }

    fn run_program(&self, program: Box<dyn FnOnce()>) -> Result<(), String> {
        spawn_outside(self.shared.id, Who::Main, None, program);
        let driven = self.drive();
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => driven,
        }
    }

    fn fail(&self, why: &str) {
        self.failure.borrow_mut().get_or_insert_with(|| why.to_owned());
    }

    /// Runs fibers, one at a time, until all have ended.
    fn drive(&self) -> Result<(), String> {
        loop {
            if self.steps.get() >= self.settings.max_steps {
                return Err(self.report_endless());
            }
            if !self.step() && !self.advance_time() {
                return self.check_all_ended();
            }
        }
    }

    /// Runs one of the runnable fibers. Returns whether there is one.
    fn step(&self) -> bool {
        let runnable = self.runnable();
        if runnable.is_empty() {
            return false;
        }
        self.steps.set(self.steps.get() + 1);
        let current = self.last.get().filter(|id| runnable.contains(id));
        let chosen = self.explorer.borrow_mut().choose_task(&runnable, current);
        self.last.set(Some(chosen));
        self.note_step(chosen);
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
    fn has_room(&self, home: &'static Shared) -> bool {
        let bodies = self.bodies_of(home.id);
        match home.config.host {
            Host::Pump => {
                let left = self.pumps.borrow().get(&home.id.get()).copied();
                bodies == 0 && left.is_some_and(|left| left > 0)
            }
            _ if home.id == self.shared.id => bodies < self.settings.workers,
            _ => bodies < home.config.workers,
        }
    }

    fn bodies_of(&self, home: RuntimeId) -> usize {
        self.fibers.borrow().values().filter(|fiber| fiber.body_of == Some(home)).count()
    }

    fn ready_of(&self, home: RuntimeId) -> usize {
        self.ready.borrow().values().filter(|ready| ready.home.id == home).count()
    }

    fn go_on(&self, id: TaskId) {
        let started = self.ready.borrow_mut().remove(&id).map(|ready| self.fiber_of(ready));
        let left = started.or_else(|| self.fibers.borrow_mut().remove(&id));
        let mut fiber = left.expect(RUNNABLE);
        self.body_of.set(fiber.body_of);
        self.panicking.update(|fibers| fibers - usize::from(fiber.in_panic));
        let left = fiber.resume();
        fiber.in_panic = is_panicking();
        self.panicking.update(|fibers| fibers + usize::from(fiber.in_panic));
        self.body_of.set(None);
        match left {
            Left::Ended => fiber.recycle(),
            _ => drop(self.fibers.borrow_mut().insert(id, fiber)),
        }
    }

    /// Returns whether a fiber other than the running one is panicking.
    fn knows_of_panic(&self) -> bool {
        self.was_panicking || self.panicking.get() > 0
    }

    /// Creates a fiber that runs a task as a worker would. A task that becomes ready is not run
    /// next, but offered for choice.
    fn fiber_of(&self, Ready { task, home }: Ready) -> Fiber {
        if let Some(left) = self.pumps.borrow_mut().get_mut(&home.id.get()) {
            *left -= 1;
        }
        Fiber::new(
            Some(home.id),
            Who::task(task, home),
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
            shared.find_service().and_then(|timers: &Timers| timers.next_deadline())
        });
        let now = self.clock.borrow().now();
        let alarm = self.alarms.borrow().iter().copied().filter(|alarm| *alarm > now).min();
        let Some(next) = timers.chain(alarm).min() else { return false };
        self.clock.borrow_mut().advance_to(next);
        for shared in runtimes {
            // Like the thread that serves its timers: a behaviour without cowns runs there.
            let before = current::enter(shared.id);
            if let Some(timers) = shared.find_service::<Timers>() {
                timers.fire_due(next);
            }
            current::enter(before);
        }
        true
    }

    fn check_all_ended(&self) -> Result<(), String> {
        match self.fibers.borrow().len() {
            0 => Ok(()),
            _ => Err(self.report_deadlock()),
        }
    }

    /// After a failed run, gives up what could not end. Its memory is leaked: unwinding a stack
    /// would run foreign code in the middle of a failed program.
    fn forget_stranded(&self) {
        // One by one: the map itself has memory too, even when empty.
        self.fibers.take().into_values().for_each(std::mem::forget);
        self.ready.borrow_mut().clear();
    }

    fn has_tasks(&self, home: RuntimeId) -> bool {
        self.ready_of(home) > 0 || self.bodies_of(home) > 0
    }
}

/// Returns whether behaviours of the runtime may block.
fn may_block(home: RuntimeId) -> bool {
    shared::get(home).config.host == Host::Blocking
}

/// Returns whether tasks of the runtime are ready or running.
pub(super) fn has_tasks(home: RuntimeId) -> bool {
    engine().is_some_and(|engine| engine.has_tasks(home))
}

/// Handles a fault, which fails the run unless faults are allowed.
pub(super) fn tell(fault: &Fault) {
    if let Some(engine) = engine().filter(|engine| !engine.settings.allow_faults) {
        engine.fail(&format!("{fault}\n{ALLOW}"));
    }
}
