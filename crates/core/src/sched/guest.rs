//! Threads that are no workers, but are at work in a runtime right now: they append requests, or
//! run a body through `when_here`. While there is such a guest the runtime is not idle, even if
//! all of its workers sleep.
//!
//! A guest says so with a plain store in a cell of its own. Who wants to know if there are any pays
//! for it with a heavy barrier.

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

use super::visits::{GuestCell, Guests};
use crate::runtime::{Busy, Home, RuntimeId};
use crate::sim;
use crate::statics::Mutex;

static GUESTS: Guests = Guests(Mutex::new(Vec::new()));

struct Registered(Arc<GuestCell>);

impl Registered {
    fn new() -> Self {
        Self(GUESTS.register())
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        GUESTS.forget(&self.0);
    }
}

thread_local! {
    static CELL: OnceCell<Registered> = const { OnceCell::new() };
    /// For the runtimes that a guest of one visits meanwhile; the first of them are in use.
    static MORE: RefCell<Vec<Registered>> = const { RefCell::new(Vec::new()) };
    static MORE_IN_USE: Cell<usize> = const { Cell::new(0) };
}

/// Runs `work` as a guest of the runtime: as a thread that is no worker of it. A guest of one runtime may
/// visit another one meanwhile.
#[inline]
pub(crate) fn visit<R>(runtime: RuntimeId, work: impl FnOnce() -> R) -> R {
    if sim::is_active() {
        // A fiber may be left in here; and who is at work is known anyway.
        return work();
    }
    let mut work = Some(work);
    let done = CELL.try_with(|cell| {
        let work = work.take().expect("called once");
        let cell = &cell.get_or_init(Registered::new).0;
        match cell.enter(runtime) {
            Some(_visit) => work(),
            None => visit_meanwhile(runtime, work),
        }
    });
    match (done, work) {
        (Ok(result), _) => result,
        // The thread is at its end, and has no cell any more.
        (Err(_), Some(work)) => work(),
        (Err(_), None) => unreachable!("the closure was taken by a visit that took place"),
    }
}

/// What keeps a runtime at work for a guest that may leave later than it came, or in another order.
pub(crate) type HeldOpen = Busy;

/// Keeps a runtime at work.
pub(crate) fn hold_open(runtime: RuntimeId) -> HeldOpen {
    Home(runtime).hold_open()
}

/// The same for a thread that is a guest of another runtime.
#[cold]
#[inline(never)]
fn visit_meanwhile<R>(runtime: RuntimeId, work: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            MORE_IN_USE.set(MORE_IN_USE.get() - 1);
        }
    }
    let used = MORE_IN_USE.get();
    let cell = MORE.try_with(|cells| {
        let mut cells = cells.borrow_mut();
        if cells[..used].iter().any(|cell| cell.0.visits(runtime)) {
            // That visit lasts longer than this one.
            return None;
        }
        if cells.len() == used {
            cells.push(Registered::new());
        }
        Some(Arc::clone(&cells[used].0))
    });
    // Without an own cell, at the end of the thread, as in `visit`.
    let Ok(Some(cell)) = cell else { return work() };
    MORE_IN_USE.set(used + 1);
    let _visit = cell.enter(runtime).expect("the cell was not in use");
    let _leave = Leave;
    work()
}

/// Whether a thread is a guest of the runtime right now.
pub(crate) fn are_there_any(runtime: RuntimeId) -> bool {
    are_there_any_of(&|id| id == runtime)
}

/// Whether a thread is a guest of one of these runtimes right now.
pub(crate) fn are_there_any_of(runtimes: &dyn Fn(RuntimeId) -> bool) -> bool {
    count(runtimes) > 0
}

/// How many threads are guests of one of these runtimes right now.
pub(crate) fn count(runtimes: &dyn Fn(RuntimeId) -> bool) -> usize {
    GUESTS.count(runtimes)
}
