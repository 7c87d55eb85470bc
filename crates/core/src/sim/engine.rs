//! The simulated runtime: one fiber at a time, chosen by the strategy.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;

use coact_sim::{Explorer, Strategy, TaskId, VirtualClock};

use super::fiber::{self, Fiber, Left, leave};
use crate::behaviour::task::{TaskPtr, run_task};
use crate::panic::{Fault, message};
use crate::runtime;
use crate::sched::context;
use crate::sched::shared::Shared;

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

/// One run of one program.
struct Engine<'a> {
    shared: &'static Shared,
    explorer: RefCell<&'a mut Explorer>,
    settings: &'a Settings,
    /// Tasks that are ready and have not begun.
    ready: RefCell<BTreeMap<TaskId, TaskPtr>>,
    /// Fibers that were left and have not ended.
    fibers: RefCell<BTreeMap<TaskId, Fiber>>,
    /// Whether the fiber that runs now is a behaviour.
    in_body: Cell<bool>,
    next_task: Cell<u32>,
    clock: RefCell<VirtualClock>,
    steps: Cell<u64>,
    fault: RefCell<Option<String>>,
}

thread_local! {
    static ENGINE: Cell<*const Engine<'static>> = const { Cell::new(ptr::null()) };
    /// The simulated runtime of this thread; one serves all runs that come to a good end.
    static RUNTIME: Cell<Option<&'static Shared>> = const { Cell::new(None) };
}

/// The run that goes on on this thread.
fn engine<'a>() -> Option<&'a Engine<'static>> {
    // SAFETY: set by `run` while the engine lives, on its thread; no reference to it is kept beyond
    // a call into this module, and those end before `run` does.
    unsafe { ENGINE.get().as_ref() }
}

#[track_caller]
fn expect_engine<'a>() -> &'a Engine<'static> {
    engine().expect("this is for simulated programs: call it inside of `sim::check`")
}

#[inline]
pub(crate) fn is_active() -> bool {
    !ENGINE.get().is_null()
}

/// Whether the thread simulates a behaviour right now, which must not wait.
pub(crate) fn is_inside() -> bool {
    engine().is_some_and(|engine| engine.in_body.get())
}

/// A scheduling point: lets the strategy decide who goes on. (A timer that fires is none: its turn
/// was decided by the clock.)
#[inline]
pub(crate) fn point() {
    if is_active() && fiber::is_in_fiber() {
        leave(Left::AtPoint);
    }
}

/// Waits, in a simulation, until the condition holds. Returns false, at once, elsewhere.
pub(crate) fn block_until(condition: &dyn Fn() -> bool) -> bool {
    if !is_active() {
        return false;
    }
    while !condition() {
        // SAFETY: only the lifetime is changed. The reference is used while this fiber is
        // suspended in this very call.
        let condition: *const (dyn Fn() -> bool + 'static) =
            unsafe { std::mem::transmute(ptr::from_ref(condition)) };
        leave(Left::Until(condition));
    }
    true
}

/// The virtual time, in a simulation.
pub(crate) fn now() -> Option<u64> {
    engine().map(|engine| engine.clock.borrow().now())
}

/// Takes a task that is ready.
pub(crate) fn ready(task: TaskPtr) {
    let Some(engine) = engine() else {
        panic!("a behaviour on a simulated cown was spawned outside of its simulation");
    };
    let id = engine.new_task();
    engine.ready.borrow_mut().insert(id, task);
}

#[track_caller]
pub(crate) fn spawn_outside(main: Box<dyn FnOnce()>) {
    let engine = expect_engine();
    let home = engine.shared.id;
    let main = Box::new(move || {
        context::enter(home);
        main();
    });
    let id = engine.new_task();
    engine.fibers.borrow_mut().insert(id, Fiber::new(false, main));
}

#[track_caller]
pub(super) fn choose(bound: u64) -> u64 {
    expect_engine().explorer.borrow_mut().choose_value(bound)
}

/// Runs a program once.
///
/// # Errors
/// Says what was wrong.
#[track_caller]
pub(super) fn run(
    explorer: &mut Explorer,
    settings: &Settings,
    program: impl FnOnce() + 'static,
) -> Result<(), String> {
    assert!(!is_active(), "a simulation cannot be started inside of another");
    let shared = RUNTIME.take().map_or_else(runtime::new_simulated, Ok);
    let shared = shared.unwrap_or_else(|error| panic!("{error}"));
    let engine = Engine {
        shared,
        explorer: RefCell::new(explorer),
        settings,
        ready: RefCell::default(),
        fibers: RefCell::default(),
        in_body: Cell::new(false),
        next_task: Cell::new(0),
        clock: RefCell::new(VirtualClock::new()),
        steps: Cell::new(0),
        fault: RefCell::new(None),
    };
    ENGINE.set(ptr::from_ref(&engine).cast());
    let result = engine.run_program(Box::new(program));
    engine.forget_stranded();
    ENGINE.set(ptr::null());
    if result.is_ok() {
        RUNTIME.set(Some(shared));
    }
    result
}

impl Engine<'_> {
    fn new_task(&self) -> TaskId {
        let id = self.next_task.get();
        self.next_task.set(id + 1);
        TaskId(id)
    }

    fn run_program(&self, program: Box<dyn FnOnce()>) -> Result<(), String> {
        let panicked = Rc::new(RefCell::new(None));
        let seen = Rc::clone(&panicked);
        spawn_outside(Box::new(move || {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(program)) {
                *seen.borrow_mut() = Some(message(&*payload).to_string());
            }
        }));
        let driven = self.drive();
        if let Some(message) = panicked.take() {
            return Err(message);
        }
        driven?;
        match self.fault.take() {
            Some(fault) if !self.settings.allow_faults => Err(fault),
            _ => Ok(()),
        }
    }

    /// Lets fibers run, one after the other, until all have ended.
    fn drive(&self) -> Result<(), String> {
        let mut last = None;
        loop {
            let runnable = self.runnable();
            if runnable.is_empty() {
                if self.advance_time() {
                    continue;
                }
                return self.check_all_ended();
            }
            self.steps.set(self.steps.get() + 1);
            if self.steps.get() > self.settings.max_steps {
                return Err(format!(
                    "no end after {} scheduling decisions",
                    self.settings.max_steps
                ));
            }
            let current = last.filter(|id| runnable.contains(id));
            let chosen = self.explorer.borrow_mut().choose_task(&runnable, current);
            self.go_on(chosen);
            last = Some(chosen);
        }
    }

    /// Who could go on: fibers whose condition holds, and, if a worker is free, tasks.
    fn runnable(&self) -> Vec<TaskId> {
        let fibers = self.fibers.borrow();
        let bodies = fibers.values().filter(|fiber| fiber.is_body).count();
        let ready = self.ready.borrow();
        let startable = ready.keys().filter(|_| bodies < self.settings.workers).copied();
        let going = fibers.iter().filter(|(_, fiber)| fiber.can_go_on()).map(|(id, _)| *id);
        let mut runnable: Vec<TaskId> = startable.chain(going).collect();
        runnable.sort_unstable();
        runnable
    }

    fn go_on(&self, id: TaskId) {
        let started = self.ready.borrow_mut().remove(&id).map(|task| self.fiber_of(task));
        let left = started.or_else(|| self.fibers.borrow_mut().remove(&id));
        let mut fiber = left.expect("the strategy chooses among those that are runnable");
        self.in_body.set(fiber.is_body);
        let left = fiber.resume();
        self.in_body.set(false);
        match left {
            Left::Ended => fiber.recycle(),
            _ => drop(self.fibers.borrow_mut().insert(id, fiber)),
        }
    }

    /// A fiber that runs a task as a worker would. What it makes ready is not run next, but put up
    /// for choice.
    fn fiber_of(&self, task: TaskPtr) -> Fiber {
        let shared = self.shared;
        Fiber::new(
            true,
            Box::new(move || {
                context::enter(shared.id);
                // SAFETY: ready, and taken by us alone.
                if let Some(successor) = unsafe { run_task(task, &shared.run_context()) } {
                    ready(successor);
                }
            }),
        )
    }

    /// Jumps to the next timer. Returns whether there is one.
    fn advance_time(&self) -> bool {
        let Some(deadline) = self.shared.timers.next_deadline() else { return false };
        self.clock.borrow_mut().advance_to(deadline);
        self.shared.timers.fire_due(deadline);
        true
    }

    fn check_all_ended(&self) -> Result<(), String> {
        match self.fibers.borrow().len() {
            0 => Ok(()),
            waiting => Err(format!(
                "deadlock: {waiting} simulated threads wait, and nothing is left that could wake them"
            )),
        }
    }

    /// After a failed run, gives up what could not come to its end. Its memory is lost: to unwind a
    /// stack would run foreign code in the middle of a failed program.
    fn forget_stranded(&self) {
        std::mem::forget(self.fibers.take());
        self.ready.borrow_mut().clear();
    }

    fn is_quiet(&self) -> bool {
        let fibers = self.fibers.borrow();
        self.ready.borrow().is_empty()
            && !fibers.values().any(|fiber| fiber.is_body)
            && self.shared.has_nothing_outstanding()
    }
}

/// Whether no work of the simulated runtime is left.
pub(crate) fn is_quiet() -> bool {
    engine().is_none_or(Engine::is_quiet)
}

/// Keeps the first fault, to fail the run with.
pub(crate) fn tell(fault: &Fault) {
    if let Some(engine) = engine() {
        engine.fault.borrow_mut().get_or_insert_with(|| fault.to_string());
    }
}
