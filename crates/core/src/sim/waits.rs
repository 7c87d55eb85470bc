//! Who waits for what: what a report tells of promises, behaviours and futures, noted as they come and go.
//!
//! Promises are known by the address of their cell. Those that are gone stay in the table until their place
//! is used again: only a promise that somebody waits for is looked up.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::num::NonZeroU64;
use std::panic::Location;
use std::task::Poll;

use coact_sim::TaskId;

use super::engine::{current, known, promise};
use crate::promise::{Promise, What};

/// All that is known in one run.
#[derive(Default)]
pub(super) struct Known {
    pub(super) promises: RefCell<BTreeMap<usize, Promised>>,
    /// In the order in which they were spawned.
    pub(super) behaviours: RefCell<BTreeMap<Id, Behaviour>>,
    pub(super) futures: RefCell<BTreeMap<Id, Future>>,
    /// The promise that was last polled before its time.
    polled: Cell<Option<usize>>,
    /// From where the next behaviour is spawned.
    site: Cell<Option<&'static Location<'static>>>,
}

/// A promise.
#[derive(Clone, Copy)]
pub(super) struct Promised {
    pub(super) made_at: &'static Location<'static>,
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
    pub(super) spawned_at: Option<&'static Location<'static>>,
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

/// Never used again, so that what is left of one run is not taken for something of another.
type Id = NonZeroU64;

thread_local! {
    static NEXT_ID: Cell<Id> = const { Cell::new(Id::MIN) };
}

fn next_id() -> Id {
    NEXT_ID.replace(NEXT_ID.get().saturating_add(1))
}

/// A promise is made.
#[track_caller]
pub(crate) fn made(cell: usize) {
    if let Some(known) = known() {
        let made_at = Location::caller();
        let promised = Promised { made_at, owed_by: None, follows: None, is_handled: false };
        known.promises.borrow_mut().insert(cell, promised);
    }
}

fn note(cell: usize, note: impl FnOnce(&mut Promised)) {
    if let Some(known) = known() {
        known.promises.borrow_mut().get_mut(&cell).map(note);
    }
}

/// Who is to keep a promise.
pub(crate) fn owed_by(cell: usize, what: What) {
    note(cell, |promised| promised.owed_by = Some(what));
}

/// A promise takes its value from another one.
pub(crate) fn follows(cell: usize, of: usize) {
    note(cell, |promised| promised.follows = Some(of));
}

/// What was asked has been handled, and the answer may come later.
pub(crate) fn handled(cell: usize) {
    note(cell, |promised| promised.is_handled = true);
}

/// A promise was polled before it was kept.
pub(crate) fn polled(cell: usize) {
    if let Some(known) = known() {
        known.polled.set(Some(cell));
    }
}

/// Does something that may poll a promise; tells the last that it polled before that was kept.
pub(super) fn polls<R>(poll: impl FnOnce() -> R) -> (R, Option<usize>) {
    let Some(known) = known() else { return (poll(), None) };
    let before = known.polled.take();
    let result = poll();
    (result, known.polled.replace(before))
}

/// What a thread waits for: a promise, unless there is more to say.
pub(crate) fn awaited(cell: usize, what: Option<&dyn Display>) -> impl Display {
    fmt::from_fn(move |f| match what {
        Some(what) => what.fmt(f),
        None => promise(cell).fmt(f),
    })
}

/// A behaviour is about to be spawned from here.
#[track_caller]
pub(crate) fn spawns() {
    if let Some(known) = known() {
        known.site.set(Some(Location::caller()));
    }
}

/// A behaviour from its spawning to its end.
pub(crate) struct Spawned(Option<Id>);

impl Spawned {
    pub(crate) fn new(name: fn() -> &'static str, promise: Option<usize>) -> Self {
        Self(known().map(|known| {
            let id = next_id();
            let spawned_at = known.site.take();
            let (task, queues, runs_in) = (0, Vec::new(), None);
            let behaviour = Behaviour { name, spawned_at, promise, task, queues, runs_in };
            known.behaviours.borrow_mut().insert(id, behaviour);
            id
        }))
    }

    fn note(&self, note: impl FnOnce(&mut Behaviour)) {
        if let (Some(id), Some(known)) = (self.0, known()) {
            known.behaviours.borrow_mut().get_mut(&id).map(note);
        }
    }

    /// It is in a task, and stands in these queues.
    pub(crate) fn stands_in(&self, task: usize, queues: impl Iterator<Item = usize>) {
        self.note(|behaviour| {
            behaviour.task = task;
            behaviour.queues.extend(queues);
        });
    }

    /// It holds what it needs, and runs.
    pub(crate) fn begins(&self) {
        self.note(|behaviour| behaviour.runs_in = current());
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        if let (Some(id), Some(known)) = (self.0, known()) {
            known.behaviours.borrow_mut().remove(&id);
        }
    }
}

/// A future that is polled by the runtime, or by a layer above.
#[derive(Debug)]
pub struct Polled(Option<Id>);

impl Polled {
    /// `what` names it in reports.
    pub fn new(what: What) -> Self {
        Self::note(what, None, false)
    }

    /// That of a future that a thread polls, which waits for a promise to be woken.
    pub fn until_woken<R: Send + 'static>(woken: &Promise<R>, what: What) -> Self {
        Self::note(what, Some(woken.cell()), true)
    }

    /// That of a future with whose output a promise is kept.
    pub(crate) fn keeping(what: What, promise: usize) -> Self {
        Self::note(what, Some(promise), false)
    }

    fn note(what: What, promise: Option<usize>, in_thread: bool) -> Self {
        Self(known().map(|known| {
            let id = next_id();
            let future = Future { what, promise, in_thread, awaits: None };
            known.futures.borrow_mut().insert(id, future);
            id
        }))
    }

    /// Polls it. What it polls in turn is what it waits for.
    pub fn polls<R>(&self, poll: impl FnOnce() -> Poll<R>) -> Poll<R> {
        let (result, awaits) = polls(poll);
        if let (Some(id), Some(known)) = (self.0, known())
            && let Some(future) = known.futures.borrow_mut().get_mut(&id)
        {
            future.awaits = awaits;
        }
        result
    }
}

impl Drop for Polled {
    fn drop(&mut self) {
        if let (Some(id), Some(known)) = (self.0, known()) {
            known.futures.borrow_mut().remove(&id);
        }
    }
}
