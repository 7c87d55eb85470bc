//! What a run knows of promises, behaviours and futures: the tables behind `wait_graph.rs` and the
//! reports.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use coact_sim::TaskId;

use crate::simulated::{SpawnSite, WaitDescription, WorkId};

/// Everything known in one run.
#[derive(Default)]
pub(super) struct WaitTables {
    pub(super) promises: RefCell<BTreeMap<usize, PromiseWait>>,
    /// In spawn order.
    pub(super) behaviours: RefCell<BTreeMap<WorkId, PendingBehaviour>>,
    pub(super) futures: RefCell<BTreeMap<WorkId, FutureWait>>,
    /// The promise that was last polled before it was complete.
    pub(super) polled: Cell<Option<usize>>,
    /// The location from which the next behaviour is spawned.
    pub(super) site: Cell<Option<SpawnSite>>,
}

/// A promise.
#[derive(Clone, Copy)]
pub(super) struct PromiseWait {
    pub(super) made_at: SpawnSite,
    /// What completes it, if known.
    pub(super) owed_by: Option<WaitDescription>,
    /// The promise whose value it takes.
    pub(super) follows: Option<usize>,
    /// The request has been handled; the reply comes later.
    pub(super) is_handled: bool,
}

/// A behaviour that has not ended.
pub(super) struct PendingBehaviour {
    pub(super) name: fn() -> &'static str,
    pub(super) spawned_at: Option<SpawnSite>,
    /// The promise of its result.
    pub(super) promise: Option<usize>,
    /// The address of its task.
    pub(super) task: usize,
    /// The queues that contain its requests, identified by the addresses of the headers.
    pub(super) queues: Vec<usize>,
    /// The task that runs it, once it has begun.
    pub(super) runs_in: Option<TaskId>,
    /// Whether it has its cowns, and waits for its guard.
    pub(super) is_detained: bool,
}

/// A future that has not ended.
pub(super) struct FutureWait {
    pub(super) what: WaitDescription,
    /// The promise that completes with its output, or that wakes it.
    pub(super) promise: Option<usize>,
    /// Whether a thread of the program polls it.
    pub(super) in_thread: bool,
    /// The incomplete promise that it polled last.
    pub(super) awaits: Option<usize>,
}
