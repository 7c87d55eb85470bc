//! What waits for what: promises, behaviours and futures, recorded for reports as they come and go.
//!
//! Promises are identified by the addresses of their cells. Those that are gone stay in the table
//! until their address is reused: only a promise that something waits for is looked up.

use std::cell::Cell;

use super::engine::{current, known, known_rank, trace};
use super::trace::TraceEvent;
use super::wait_tables::{FutureWait, PendingBehaviour, PromiseWait};
use crate::simulated::{SpawnSite, WaitDescription, WorkId};

thread_local! {
    static NEXT_ID: Cell<WorkId> = const { Cell::new(WorkId::MIN) };
}

fn next_id() -> WorkId {
    NEXT_ID.replace(NEXT_ID.get().saturating_add(1))
}

/// Registers a new promise.
pub(super) fn made(cell: usize, made_at: SpawnSite) {
    if let Some(known) = known() {
        let promised = PromiseWait { made_at, owed_by: None, follows: None, is_handled: false };
        known.promises.borrow_mut().insert(cell, promised);
    }
}

fn note(cell: usize, note: impl FnOnce(&mut PromiseWait)) {
    if let Some(known) = known() {
        known.promises.borrow_mut().get_mut(&cell).map(note);
    }
}

/// Records what completes a promise.
pub(super) fn owed_by(cell: usize, what: WaitDescription) {
    note(cell, |promised| promised.owed_by = Some(what));
}

/// Records that a promise takes its value from another one.
pub(super) fn follows(cell: usize, of: usize) {
    note(cell, |promised| promised.follows = Some(of));
}

/// Records that a request has been handled, and its reply may come later.
pub(super) fn handled(cell: usize) {
    note(cell, |promised| promised.is_handled = true);
}

/// Records that a promise was polled before it was complete.
pub(super) fn polled(cell: usize) {
    if let Some(known) = known() {
        known.polled.set(Some(cell));
    }
}

/// Calls a function that may poll promises; also returns the last incomplete one that it polled.
pub(super) fn polls<R>(poll: impl FnOnce() -> R) -> (R, Option<usize>) {
    let Some(known) = known() else { return (poll(), None) };
    let before = known.polled.take();
    let result = poll();
    (result, known.polled.replace(before))
}

/// Records the location from which a behaviour is about to be spawned.
pub(super) fn spawns(at: SpawnSite) {
    if let Some(known) = known() {
        known.site.set(Some(at));
    }
}

/// Registers a spawned behaviour.
pub(super) fn spawned(name: fn() -> &'static str, promise: Option<usize>) -> WorkId {
    let id = next_id();
    if let Some(known) = known() {
        let spawned_at = known.site.take();
        trace(|| {
            let made_at = promise.and_then(|cell| known.promises.borrow().get(&cell).copied());
            let at = spawned_at.or(made_at.map(|promise| promise.made_at));
            TraceEvent::Spawned { name: name(), at }
        });
        let (task, queues, runs_in, is_detained) = (0, Vec::new(), None, false);
        let behaviour =
            PendingBehaviour { name, spawned_at, promise, task, queues, runs_in, is_detained };
        known.behaviours.borrow_mut().insert(id, behaviour);
    }
    id
}

/// Records that it is this task, and waits in these queues.
pub(super) fn stands_in(id: WorkId, task: usize, queues: &mut dyn Iterator<Item = usize>) {
    note_behaviour(id, |behaviour| {
        behaviour.task = task;
        behaviour.queues.extend(queues);
        trace(|| TraceEvent::Queued {
            cowns: behaviour.queues.iter().map(|queue| known_rank(*queue)).collect(),
        });
    });
}

/// Records that it has acquired its cowns and runs.
pub(super) fn begins(id: WorkId) {
    note_behaviour(id, |behaviour| behaviour.runs_in = current());
}

/// Records that it keeps its cowns, and does not run.
pub(super) fn detains(id: WorkId) {
    note_behaviour(id, |behaviour| (behaviour.runs_in, behaviour.is_detained) = (None, true));
}

fn note_behaviour(id: WorkId, note: impl FnOnce(&mut PendingBehaviour)) {
    if let Some(known) = known() {
        known.behaviours.borrow_mut().get_mut(&id).map(note);
    }
}

/// Removes a behaviour that has ended.
pub(super) fn ended(id: WorkId) {
    if let Some(known) = known() {
        known.behaviours.borrow_mut().remove(&id);
    }
}

/// Registers a future that is about to be polled for the first time.
pub(super) fn future(what: WaitDescription, promise: Option<usize>, in_thread: bool) -> WorkId {
    let id = next_id();
    if let Some(known) = known() {
        let future = FutureWait { what, promise, in_thread, awaits: None };
        known.futures.borrow_mut().insert(id, future);
    }
    id
}

/// Begins a poll of a future.
pub(super) fn begin_poll() -> Option<usize> {
    known().and_then(|known| known.polled.take())
}

/// Ends a poll. The promise that the future polled is what it waits for.
pub(super) fn end_poll(id: WorkId, before: Option<usize>) {
    if let Some(known) = known() {
        let awaits = known.polled.replace(before);
        if let Some(future) = known.futures.borrow_mut().get_mut(&id) {
            future.awaits = awaits;
        }
    }
}

/// Removes a future that has ended.
pub(super) fn future_ended(id: WorkId) {
    if let Some(known) = known() {
        known.futures.borrow_mut().remove(&id);
    }
}
