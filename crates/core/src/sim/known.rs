//! What a run knows of promises, behaviours and futures.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use coact_sim::TaskId;

use crate::simulated::{Id, Site, What};

/// All that is known in one run.
#[derive(Default)]
pub(super) struct Known {
    pub(super) promises: RefCell<BTreeMap<usize, Promised>>,
    /// In the order in which they were spawned.
    pub(super) behaviours: RefCell<BTreeMap<Id, Behaviour>>,
    pub(super) futures: RefCell<BTreeMap<Id, Future>>,
    /// The promise that was last polled before its time.
    pub(super) polled: Cell<Option<usize>>,
    /// From where the next behaviour is spawned.
    pub(super) site: Cell<Option<Site>>,
}

/// A promise.
#[derive(Clone, Copy)]
pub(super) struct Promised {
    pub(super) made_at: Site,
    /// Who is to keep it, if somebody has said so.
    pub(super) owed_by: Option<What>,
    /// The promise whose value it takes.
    pub(super) follows: Option<usize>,
    /// What was asked has been handled; the answer is to come later.
    pub(super) is_handled: bool,
}

/// A behaviour that has not ended.
pub(super) struct Behaviour {
    pub(super) name: fn() -> &'static str,
    pub(super) spawned_at: Option<Site>,
    /// The promise of its result.
    pub(super) promise: Option<usize>,
    /// The address of its task.
    pub(super) task: usize,
    /// In which queues it stands, each told by the address of the header.
    pub(super) queues: Vec<usize>,
    /// Who runs it, once it has begun.
    pub(super) runs_in: Option<TaskId>,
}

/// A future that has not ended.
pub(super) struct Future {
    pub(super) what: What,
    /// Kept with its output, or when it is to be polled again.
    pub(super) promise: Option<usize>,
    /// Whether a thread of the program polls it.
    pub(super) in_thread: bool,
    /// The promise that it polled last, before that was kept.
    pub(super) awaits: Option<usize>,
}
