//! The simulated runtime: what it knows of the run on its thread, and what the program asks of it.

mod drive;
mod report;
mod run;
mod yield_and_block;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use coact_sim::{Explorer, SchedulingStrategy, TaskId, VirtualClock};

use super::creation_order::CreationOrder;
use super::sim_fiber::{FiberSubject, SimFiber};
use super::stall_watch::StallWatch;
use super::trace::{RunTrace, TraceEvent};
use super::wait_tables::WaitTables;
use crate::config::ThreadKind;
use crate::current;
use crate::fault::Fault;
use crate::panic::{PanicPayload, drop_quietly, message};
use crate::runtime_ids::RuntimeId;
use crate::sched::runtime_shared::{self, RuntimeShared};
use crate::simulated::{SimulatedBody, TaskCounts};
use crate::task::TaskPtr;
pub(super) use report::promise;
pub(super) use run::{RunObservers, free_id, run};
pub(super) use yield_and_block::{block_for, block_until, give_way, point, pump};

#[derive(Clone, Debug)]
pub(super) struct RunSettings {
    pub(super) workers: usize,
    pub(super) allow_faults: bool,
    pub(super) max_steps: u64,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self { workers: 2, allow_faults: false, max_steps: 1_000_000 }
    }
}

const ALLOW: &str = "If that is part of the test: `Sim::allow_faults(true)`.";

const RUNNABLE: &str = "the strategy chooses a runnable task";

/// One run of one program.
struct Engine<'a> {
    /// The runtime in which the program starts.
    shared: &'static RuntimeShared,
    /// The runtimes that the program has built.
    built: RefCell<Vec<&'static RuntimeShared>>,
    /// The number of tasks that may still begin, for each pump that is being pumped.
    pumps: RefCell<BTreeMap<u16, usize>>,
    /// The deadlines of waits with a time limit.
    alarms: RefCell<Vec<u64>>,
    explorer: RefCell<&'a mut Explorer>,
    settings: &'a RunSettings,
    /// Tasks that are ready and have not begun.
    ready: RefCell<BTreeMap<TaskId, RunnableTask>>,
    /// Fibers that are suspended and have not ended.
    fibers: RefCell<BTreeMap<TaskId, SimFiber>>,
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
    known: WaitTables,
    ranks: CreationOrder,
    /// The fibers of the last steps, if the run is about to be given up.
    lately: RefCell<Vec<FiberSubject>>,
    watch: &'a StallWatch,
    /// Compares the run with another one, if that is wanted.
    trace: Option<&'a RunTrace>,
}

#[derive(Clone, Copy)]
struct RunnableTask {
    task: TaskPtr,
    home: &'static RuntimeShared,
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

/// Panics outside of a simulation.
#[track_caller]
pub(super) fn expect_run() {
    let _ = expect_engine();
}

fn is_active() -> bool {
    !ENGINE.get().is_null()
}

/// Returns the behaviour that the thread is simulating.
pub(super) fn body() -> Option<SimulatedBody> {
    let home = engine().and_then(|engine| engine.body_of.get())?;
    Some(SimulatedBody { may_block: may_block(home) })
}

/// Returns what the current run knows of waits.
pub(super) fn known<'a>() -> Option<&'a WaitTables> {
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

/// Returns the rank of the cown at this address, if it was created in the run.
pub(super) fn known_rank(cown: usize) -> Option<usize> {
    engine().and_then(|engine| engine.ranks.find(cown))
}

/// Adds an event to the trace, if the run has one.
pub(super) fn trace(event: impl FnOnce() -> TraceEvent) {
    if let Some(engine) = engine() {
        engine.trace(event);
    }
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
    expect_engine().built.borrow_mut().push(runtime_shared::get(runtime));
}

/// Returns the number of tasks of a runtime that are ready, and of those that have begun and not
/// ended.
pub(super) fn tasks_of(home: RuntimeId) -> TaskCounts {
    let of = |engine: &Engine<'_>| TaskCounts {
        ready: engine.ready_of(home),
        begun: engine.bodies_of(home),
    };
    engine().map_or(TaskCounts { ready: 0, begun: 0 }, of)
}

/// Returns the virtual time.
pub(super) fn now() -> u64 {
    expect_engine().clock.borrow().now()
}

/// Adds a ready task.
pub(super) fn ready(task: TaskPtr, home: &'static RuntimeShared) {
    let engine = expect_engine();
    let id = engine.new_task();
    engine.ready.borrow_mut().insert(id, RunnableTask { task, home });
}

/// Starts a thread that runs no task, and may complete a promise at its end.
#[track_caller]
pub(super) fn spawn_outside(
    home: RuntimeId,
    who: FiberSubject,
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
    engine.fibers.borrow_mut().insert(id, SimFiber::new(None, who, keeps, Box::new(main)));
}

/// Runs a part of the program on its fiber. A panic stops there, and fails the run.
fn guarded(part: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(part)) {
        fail(payload);
    }
}

/// Fails the run because of a panic; returns its message.
pub(super) fn fail(payload: PanicPayload) -> Arc<str> {
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
    let engine = expect_engine();
    let value = engine.explorer.borrow_mut().choose_value(bound);
    engine.watch.note_value(value);
    engine.trace(|| TraceEvent::Value { bound, value });
    value
}

impl Engine<'_> {
    fn new_task(&self) -> TaskId {
        let id = self.next_task.get();
        self.next_task.set(id + 1);
        TaskId(id)
    }

    fn run_program(&self, program: Box<dyn FnOnce()>) -> Result<(), String> {
        spawn_outside(self.shared.id, FiberSubject::Main, None, program);
        let driven = self.drive();
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => driven,
        }
    }

    fn trace(&self, event: impl FnOnce() -> TraceEvent) {
        if let Some(trace) = self.trace {
            trace.push(event());
        }
    }

    fn fail(&self, why: &str) {
        self.failure.borrow_mut().get_or_insert_with(|| why.to_owned());
    }

    fn bodies_of(&self, home: RuntimeId) -> usize {
        self.fibers.borrow().values().filter(|fiber| fiber.body_of == Some(home)).count()
    }

    fn ready_of(&self, home: RuntimeId) -> usize {
        self.ready.borrow().values().filter(|ready| ready.home.id == home).count()
    }

    /// Returns whether a fiber other than the running one is panicking.
    fn knows_of_panic(&self) -> bool {
        self.was_panicking || self.panicking.get() > 0
    }

    /// After a failed run, gives up what could not end. Its memory is leaked: unwinding a stack
    /// would run foreign code in the middle of a failed program.
    fn forget_stranded(&self) {
        // One by one: the map itself has memory too, even when empty.
        self.fibers.take().into_values().for_each(std::mem::forget);
        self.ready.borrow_mut().clear();
    }
}

/// Returns whether behaviours of the runtime may block.
fn may_block(home: RuntimeId) -> bool {
    runtime_shared::get(home).config.host == ThreadKind::Blocking
}

/// Handles a fault, which fails the run unless faults are allowed.
pub(super) fn tell(fault: &Fault) {
    if let Some(engine) = engine().filter(|engine| !engine.settings.allow_faults) {
        engine.fail(&format!("{fault}\n{ALLOW}"));
    }
}
