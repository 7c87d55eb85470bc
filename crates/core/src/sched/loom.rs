//! What all models share: a substitute for the workers, and a state that records its accesses.
//!
//! # Running the models
//!
//! ```text
//! ci/loom.sh [NAME]
//! ```
//!
//! Each model is beside the code that it checks, in a module `loom`, and is named after its race.
//! loom runs it under every interleaving with up to [`PREEMPTIONS`] preemptions, and under every
//! value that a weak memory order lets a load return. That takes some two minutes on two cores, and
//! half a minute with `LOOM_MAX_PREEMPTIONS=3` in front. Models that take a minute or more use
//! [`check_bounded`] with a bound of their own, or [`check_long`]: they run in full if
//! `COACT_LOOM_LONG` is set (to anything). Each runs in a process of its own, whose time the
//! command prints: check it after a change, since one more word that changes often can turn a model
//! of seconds into one of hours.
//!
//! A model says in its comment which weakening of the code makes it fail. Repeat that after a
//! change of an ordering.
//!
//! # What a model cannot detect
//!
//! * loom treats `SeqCst` accesses as `AcqRel` (its `SeqCst` fences are right); see
//!   `seq_cst_accesses` of the shim.
//! * Read-modify-writes take effect in the order in which loom runs them. A missing Acquire that
//!   only orders two of them on different words goes undetected: those of the waits for a request's
//!   placement.
//! * The barriers of `asym` are `SeqCst` fences in a model, as their contract says, but stronger
//!   than they are: two light ones order each other as well.
//! * What would order too much in all models is left out of those that do not check it: the
//!   barriers of external threads (`external_threads_in_model.rs`), the table of interruptible
//!   cowns (`registry_in_model.rs`), and the fence with which a runtime notifies waiters for
//!   several (`idle_waiters::tell`). Each has its own models.
//! * loom reports races on memory that it knows: its atomics, its cells, and blocks of the pool,
//!   which must be freed, and are overwritten when they are. Nodes of behaviours are written before
//!   they are published and read after; for that, the queues' orderings are checked through the
//!   closures' and cowns' own cells.

use crate::current;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::num::NonZeroU16;

use coact_sync::shim::sync::{Condvar, Mutex};
use loom::cell::UnsafeCell;
use loom::model::Builder;

use crate::cown::handle::Cown;
use crate::runtime_ids::RuntimeId;
use crate::task::{RunContext, RunMode, TaskPtr, run_task};

/// The number of preemptions of a model, unless `LOOM_MAX_PREEMPTIONS` is set.
const PREEMPTIONS: usize = 4;

/// The runtime that the cowns of a model belong to. It does not exist.
fn home() -> RuntimeId {
    RuntimeId::new(NonZeroU16::MIN)
}

/// Explores a model.
pub(crate) fn check(model: impl Fn() + Sync + Send + 'static) {
    check_bounded(PREEMPTIONS, model);
}

/// Explores a model with at most this many preemptions, whatever the environment says, unless long
/// models are enabled.
pub(crate) fn check_bounded(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    let asked = builder.preemption_bound.unwrap_or(PREEMPTIONS);
    let most = if preemptions < PREEMPTIONS && !is_long() { preemptions } else { usize::MAX };
    builder.preemption_bound = Some(asked.min(most));
    builder.max_branches = builder.max_branches.max(10_000);
    builder.check(move || {
        current::enter(home());
        model();
    });
}

fn is_long() -> bool {
    std::env::var_os("COACT_LOOM_LONG").is_some()
}

/// Explores a model that takes long, if these are enabled.
pub(crate) fn check_long(model: impl Fn() + Sync + Send + 'static) {
    if is_long() {
        check(model);
    }
}

loom::thread_local! {
    static READY: RefCell<VecDeque<ReadyTask>> = RefCell::new(VecDeque::new());
}

/// Keeps a ready task for [`run_ready`], on the same thread: the models of the queues do not check
/// the handover from one worker to another, which would only add orderings.
pub(crate) fn schedule(task: TaskPtr, home: RuntimeId) {
    READY.with(|ready| ready.borrow_mut().push_back(ReadyTask(task, home)));
}

/// Runs what this thread has made ready, and what that leads to.
pub(crate) fn run_ready() {
    while let Some(task) = take_ready() {
        task.run();
    }
}

/// Returns the task that this thread made ready first, if there is one.
pub(crate) fn take_ready() -> Option<ReadyTask> {
    READY.with(|ready| ready.borrow_mut().pop_front())
}

/// A ready task, to be run here or on another thread.
#[must_use = "the model must run it"]
pub(crate) struct ReadyTask(TaskPtr, RuntimeId);

// SAFETY: a ready task may run anywhere.
unsafe impl Send for ReadyTask {}

impl ReadyTask {
    /// Counts what waits behind the task, as a worker does with the next task of a long queue.
    pub(crate) fn look(&self, many: u32) {
        // SAFETY: the task is ready, and owned by this thread until it runs.
        unsafe {
            let backlog = self.0.as_ref().vtable.backlog.expect("the task is that of a single");
            (backlog.look)(self.0, many);
        }
    }

    /// Runs the task, and its successors on the same cown.
    pub(crate) fn run(self) {
        let context = RunContext::new(self.1, RunMode::Run);
        let mut next = Some(self.0);
        while let Some(task) = next {
            // SAFETY: the task is ready, and run once: it was taken off the list, or is a
            // successor.
            next = unsafe { run_task(task, &context) };
        }
    }
}

/// A state that records its writers. loom reports a write that is not ordered with every other
/// access, and a read that is not ordered with every write.
#[derive(Default)]
pub(crate) struct Log(UnsafeCell<Vec<u8>>);

// SAFETY: loom checks each access.
unsafe impl Sync for Log {}

impl Log {
    pub(crate) fn push(&mut self, who: u8) {
        // SAFETY: the access is exclusive, or loom would report it.
        self.0.with_mut(|log| unsafe { (*log).push(who) });
    }

    pub(crate) fn read(&self) -> Vec<u8> {
        // SAFETY: there is no concurrent write, or loom would report it.
        self.0.with(|log| unsafe { (*log).clone() })
    }
}

/// A cown with a log.
pub(crate) fn log() -> Cown<Log> {
    Cown::new(Log::default())
}

/// Wakes a waiting thread: one permit, as in the parker of a worker.
#[derive(Default)]
pub(crate) struct WakePermit {
    given: Mutex<bool>,
    changed: Condvar,
}

impl WakePermit {
    pub(crate) fn park(&self) {
        let mut given = self.given.lock();
        while !std::mem::take(&mut *given) {
            given = self.changed.wait(given);
        }
    }

    pub(crate) fn unpark(&self) {
        *self.given.lock() = true;
        self.changed.notify_one();
    }
}

/// Two cowns with logs. (Appenders follow the order of their creation: `CownHeader::rank`.)
pub(crate) fn two_logs() -> (Cown<Log>, Cown<Log>) {
    (log(), log())
}

/// Returns what was written to a cown on which all behaviours have run.
///
/// The runtime catches a panic in a behaviour, including loom's report of a race; it shows here as
/// a poisoned cown.
pub(crate) fn written(cown: Cown<Log>) -> Vec<u8> {
    assert!(!cown.is_poisoned(), "a behaviour has panicked: see above");
    let log = cown.into_inner().expect("no behaviour is left, and no other handle");
    log.read()
}
