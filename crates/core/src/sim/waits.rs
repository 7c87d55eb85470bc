//! Who waits for what: what a report tells of promises, behaviours and futures, noted as they come and go.
//!
//! Promises are known by the address of their cell. Those that are gone stay in the table until their place
//! is used again: only a promise that somebody waits for is looked up.

use std::cell::Cell;

use super::engine::{current, known};
use super::known::{Behaviour, Future, Promised};
use crate::simulated::{Id, Site, What};

thread_local! {
    static NEXT_ID: Cell<Id> = const { Cell::new(Id::MIN) };
}

fn next_id() -> Id {
    NEXT_ID.replace(NEXT_ID.get().saturating_add(1))
}

/// A promise is made.
pub(super) fn made(cell: usize, made_at: Site) {
    if let Some(known) = known() {
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
pub(super) fn owed_by(cell: usize, what: What) {
    note(cell, |promised| promised.owed_by = Some(what));
}

/// A promise takes its value from another one.
pub(super) fn follows(cell: usize, of: usize) {
    note(cell, |promised| promised.follows = Some(of));
}

/// What was asked has been handled, and the answer may come later.
pub(super) fn handled(cell: usize) {
    note(cell, |promised| promised.is_handled = true);
}

/// A promise was polled before it was kept.
pub(super) fn polled(cell: usize) {
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

/// A behaviour is about to be spawned from here.
pub(super) fn spawns(at: Site) {
    if let Some(known) = known() {
        known.site.set(Some(at));
    }
}

/// A behaviour is spawned.
pub(super) fn spawned(name: fn() -> &'static str, promise: Option<usize>) -> Id {
    let id = next_id();
    if let Some(known) = known() {
        let spawned_at = known.site.take();
        let (task, queues, runs_in) = (0, Vec::new(), None);
        let behaviour = Behaviour { name, spawned_at, promise, task, queues, runs_in };
        known.behaviours.borrow_mut().insert(id, behaviour);
    }
    id
}

/// It is in a task, and stands in these queues.
pub(super) fn stands_in(id: Id, task: usize, queues: &mut dyn Iterator<Item = usize>) {
    note_behaviour(id, |behaviour| {
        behaviour.task = task;
        behaviour.queues.extend(queues);
    });
}

/// It holds what it needs, and runs.
pub(super) fn begins(id: Id) {
    note_behaviour(id, |behaviour| behaviour.runs_in = current());
}

fn note_behaviour(id: Id, note: impl FnOnce(&mut Behaviour)) {
    if let Some(known) = known() {
        known.behaviours.borrow_mut().get_mut(&id).map(note);
    }
}

/// A behaviour has ended.
pub(super) fn ended(id: Id) {
    if let Some(known) = known() {
        known.behaviours.borrow_mut().remove(&id);
    }
}

/// A future is about to be polled for the first time.
pub(super) fn future(what: What, promise: Option<usize>, in_thread: bool) -> Id {
    let id = next_id();
    if let Some(known) = known() {
        let future = Future { what, promise, in_thread, awaits: None };
        known.futures.borrow_mut().insert(id, future);
    }
    id
}

/// A future is polled from here on.
pub(super) fn begin_poll() -> Option<usize> {
    known().and_then(|known| known.polled.take())
}

/// It was polled. What it polled in turn is what it waits for.
pub(super) fn end_poll(id: Id, before: Option<usize>) {
    if let Some(known) = known() {
        let awaits = known.polled.replace(before);
        if let Some(future) = known.futures.borrow_mut().get_mut(&id) {
            future.awaits = awaits;
        }
    }
}

/// A future has ended.
pub(super) fn future_ended(id: Id) {
    if let Some(known) = known() {
        known.futures.borrow_mut().remove(&id);
    }
}
