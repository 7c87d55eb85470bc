//! The worker that the current thread is, as the scheduler knows it.

use super::phase::Phase;
use super::shared;
use super::worker::Worker;
use crate::current;
use crate::depth;
use crate::ids::RuntimeId;

/// The worker that this thread is, if it is one.
#[inline]
pub(crate) fn worker<'a>() -> Option<&'a Worker> {
    // SAFETY: set by [`Worker::as_current`] for the time that the worker lives, on its own thread; the
    // references that are made from it do not outlive the task in which they are made.
    unsafe { current::worker_ptr().cast::<Worker>().as_ref() }
}

/// Whether this thread is a worker of the runtime.
#[inline]
pub(crate) fn is_worker_of(home: RuntimeId) -> bool {
    worker().is_some_and(|worker| worker.id() == home)
}

/// Whether the caller is dropped, or called, since a runtime is past its shutdown's deadline: on a
/// worker of such a runtime, or where its work is dropped by others. For destructors of layers above,
/// which are to say why something does not come.
pub fn is_cancelling() -> bool {
    let here = worker().map_or_else(current::entered, Worker::id);
    current::is_cancelling()
        || here != RuntimeId::NONE && shared::get(here).phase() != Phase::Running
}

/// Refuses to block where that could stop the work that is waited for. And does what this thread has put aside, since
/// that may be waited for, too.
#[track_caller]
pub(crate) fn prepare_to_block(what: &str, instead: &str) {
    assert!(
        !current::is_inside(),
        "{what} would block a worker, or cowns that are held, and could wait for ever: {instead}"
    );
    depth::catch_up();
}
