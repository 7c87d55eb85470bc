//! External threads: threads that are not workers, but are at work in a runtime right now. They
//! append requests, or run a body through `when_here`. While there is one, the runtime is not idle,
//! even if all of its workers sleep.
//!
//! An external thread announces itself with a plain store in a cell of its own. A check for
//! external threads pays for it with a heavy barrier.

use std::cell::{Cell, OnceCell, RefCell};
use std::ptr::null;
use std::sync::Arc;

use super::presence_cell::{ExternalThreads, PresenceCell, ThreadPresence};
use crate::runtime_ids::RuntimeId;
use crate::simulated;
use crate::static_shim::Mutex;

static EXTERNAL_THREADS: ExternalThreads = ExternalThreads(Mutex::new(Vec::new()));

struct RegisteredCell(Arc<PresenceCell>);

impl RegisteredCell {
    fn new() -> Self {
        Self(EXTERNAL_THREADS.register())
    }
}

impl Drop for RegisteredCell {
    fn drop(&mut self) {
        EXTERNAL_THREADS.forget(&self.0);
    }
}

/// The cell for the thread's first presence.
struct FirstPresence {
    _registered: RegisteredCell,
}

impl FirstPresence {
    fn new() -> Self {
        let registered = RegisteredCell::new();
        OWN.set(&raw const *registered.0);
        Self { _registered: registered }
    }
}

impl Drop for FirstPresence {
    fn drop(&mut self) {
        OWN.set(null());
    }
}

thread_local! {
    static CELL: OnceCell<FirstPresence> = const { OnceCell::new() };
    /// A pointer to it: null before the first use, and at the thread's end.
    static OWN: Cell<*const PresenceCell> = const { Cell::new(null()) };
    /// Cells for further runtimes that an external thread enters meanwhile; the first of them are
    /// in use.
    static MORE: RefCell<Vec<RegisteredCell>> = const { RefCell::new(Vec::new()) };
    static MORE_IN_USE: Cell<usize> = const { Cell::new(0) };
}

/// Runs `work` as an external thread of the runtime, that is, as a thread that is not its worker.
/// An external thread of one runtime may enter another one meanwhile.
#[inline]
pub(crate) fn within<R>(runtime: RuntimeId, work: impl FnOnce() -> R) -> R {
    // SAFETY: the guard is dropped at the end of this call.
    let _presence = unsafe { enter(runtime) };
    work()
}

/// The presence of the current thread in a runtime, until dropped.
pub(crate) struct ExternalPresence {
    /// `None` for a thread that announces nothing: a simulated one, one at its end, or one that an
    /// outer presence already announces.
    _presence: Option<ThreadPresence<'static>>,
    /// Whether it is in one of the cells of [`MORE`].
    is_another: bool,
}

impl Drop for ExternalPresence {
    #[inline]
    fn drop(&mut self) {
        if self.is_another {
            MORE_IN_USE.set(MORE_IN_USE.get() - 1);
        }
    }
}

/// Like [`within`], until the returned value is dropped.
///
/// # Safety
/// The caller drops it before it returns.
#[inline]
pub(crate) unsafe fn enter(runtime: RuntimeId) -> ExternalPresence {
    // SAFETY: the cell lives until the thread ends or is about to, and the caller drops the
    // presence before that.
    let own = unsafe { OWN.get().as_ref() }.filter(|_| !simulated::is_active());
    match own.and_then(|cell| cell.enter(runtime)) {
        None => enter_otherwise(runtime),
        presence => ExternalPresence { _presence: presence, is_another: false },
    }
}

/// The same for a thread without a cell, or whose cell is in use.
#[cold]
#[inline(never)]
fn enter_otherwise(runtime: RuntimeId) -> ExternalPresence {
    let nothing = ExternalPresence { _presence: None, is_another: false };
    // A fiber may be suspended meanwhile; and what is at work in a simulation is known anyway. At
    // its end the thread has no cell any more.
    if simulated::is_active()
        || CELL.try_with(|cell| _ = cell.get_or_init(FirstPresence::new)).is_err()
    {
        return nothing;
    }
    // SAFETY: the cell lives until the thread ends or is about to, and the caller drops the
    // presence before that.
    let own = unsafe { OWN.get().as_ref() };
    match own.and_then(|cell| cell.enter(runtime)) {
        None => enter_another(runtime).unwrap_or(nothing),
        presence => ExternalPresence { _presence: presence, is_another: false },
    }
}

/// The same for an external thread of another runtime; `None` if it has already announced itself in
/// this one, or is at its end.
fn enter_another(runtime: RuntimeId) -> Option<ExternalPresence> {
    let used = MORE_IN_USE.get();
    let cell = MORE.try_with(|cells| {
        let mut cells = cells.borrow_mut();
        if cells[..used].iter().any(|cell| cell.0.is_in(runtime)) {
            // The outer presence lasts longer than this one.
            return None;
        }
        if cells.len() == used {
            cells.push(RegisteredCell::new());
        }
        Some(&raw const *cells[used].0)
    });
    // SAFETY: cells are not freed before the thread ends, and the caller drops the presence before
    // that.
    let cell = unsafe { &*cell.ok().flatten()? };
    MORE_IN_USE.set(used + 1);
    let presence = cell.enter(runtime).expect("the cell was not in use");
    Some(ExternalPresence { _presence: Some(presence), is_another: true })
}

/// Calls `tell` with each runtime of which the current thread is an external thread.
pub(crate) fn own_runtimes(tell: &mut dyn FnMut(RuntimeId)) {
    // SAFETY: the cell lives until the thread ends or is about to.
    let first = unsafe { OWN.get().as_ref() };
    first.and_then(PresenceCell::runtime).into_iter().for_each(&mut *tell);
    // At its end the thread has no further cells.
    _ = MORE.try_with(|cells| {
        let cells = cells.borrow();
        cells.iter().filter_map(|cell| cell.0.runtime()).for_each(tell);
    });
}

/// Returns whether there is an external thread of the runtime right now.
pub(crate) fn are_there_any(runtime: RuntimeId) -> bool {
    are_there_any_of(&|id| id == runtime)
}

/// Returns whether there is an external thread of one of these runtimes right now.
pub(crate) fn are_there_any_of(runtimes: &dyn Fn(RuntimeId) -> bool) -> bool {
    count(runtimes) > 0
}

/// Returns the number of external threads of these runtimes right now.
pub(crate) fn count(runtimes: &dyn Fn(RuntimeId) -> bool) -> usize {
    EXTERNAL_THREADS.count(runtimes)
}
