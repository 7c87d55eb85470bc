//! One run of a program, from its beginning to its end.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

use coact_sim::{Explorer, VirtualClock};

use super::{ENGINE, Engine, RunSettings, is_active};
use crate::runtime;
use crate::runtime_ids::RuntimeId;
use crate::sched::phase::RuntimePhase;
use crate::sched::runtime_shared::RuntimeShared;
use crate::sim::creation_order::CreationOrder;
use crate::sim::stall_watch::StallWatch;
use crate::sim::trace::RunTrace;
use crate::sim::wait_tables::WaitTables;
use crate::simulated::{self, Simulation};
use crate::time::TimerService;

thread_local! {
    /// The simulated runtime of this thread; reused by all runs that end well.
    static RUNTIME: Cell<Option<&'static RuntimeShared>> = const { Cell::new(None) };
    /// The ids of runtimes that programs have built in runs that ended well: a process does not
    /// have enough ids for an exploration that takes new ones in each run.
    static FREE_IDS: RefCell<Vec<RuntimeId>> = const { RefCell::new(Vec::new()) };
}

/// Returns an id of a runtime of an earlier run.
pub(in crate::sim) fn free_id() -> Option<RuntimeId> {
    FREE_IDS.with_borrow_mut(Vec::pop)
}

/// What looks at a run besides the engine.
#[derive(Clone, Copy)]
pub(in crate::sim) struct RunObservers<'a> {
    pub(in crate::sim) watch: &'a StallWatch,
    pub(in crate::sim) trace: Option<&'a RunTrace>,
}

/// Runs a program once.
///
/// # Errors
/// Returns a description of the failure.
#[track_caller]
pub(in crate::sim) fn run(
    explorer: &mut Explorer,
    settings: &RunSettings,
    observers: RunObservers<'_>,
    hooks: &'static dyn Simulation,
    program: impl FnOnce() + 'static,
) -> Result<(), String> {
    assert!(!is_active(), "a simulation cannot run inside another");
    let shared = RUNTIME.take().map_or_else(runtime::new_simulated, Ok);
    let shared = shared.unwrap_or_else(|error| panic!("{error}"));
    shared.config.group_values.forget();
    shared.find_service::<TimerService>().into_iter().for_each(TimerService::begin_run);
    observers.watch.begin_run(explorer);
    let engine = Engine {
        shared,
        built: RefCell::default(),
        pumps: RefCell::default(),
        alarms: RefCell::default(),
        explorer: RefCell::new(explorer),
        settings,
        ready: RefCell::default(),
        fibers: RefCell::default(),
        body_of: Cell::new(None),
        was_panicking: std::thread::panicking(),
        panicking: Cell::new(0),
        next_task: Cell::new(0),
        clock: RefCell::new(VirtualClock::new()),
        steps: Cell::new(0),
        last: Cell::new(None),
        failure: RefCell::new(None),
        known: WaitTables::default(),
        ranks: CreationOrder::default(),
        lately: RefCell::default(),
        watch: observers.watch,
        trace: observers.trace,
    };
    ENGINE.set(ptr::from_ref(&engine).cast());
    simulated::set(Some(hooks));
    // A panic of the strategy must not leave a pointer to a dropped engine behind.
    let result = catch_unwind(AssertUnwindSafe(|| engine.run_program(Box::new(program))));
    engine.forget_stranded();
    simulated::set(None);
    ENGINE.set(ptr::null());
    let built = engine.built.take();
    match result {
        Ok(Ok(())) => {
            RUNTIME.set(Some(shared));
            // So that the next run takes them in the same order.
            FREE_IDS.with_borrow_mut(|ids| ids.extend(built.iter().rev().map(|shared| shared.id)));
            Ok(())
        }
        failed => {
            [shared]
                .into_iter()
                .chain(built)
                .for_each(|shared| shared.set_phase(RuntimePhase::Stopped));
            failed.unwrap_or_else(|payload| resume_unwind(payload))
        }
    }
}
