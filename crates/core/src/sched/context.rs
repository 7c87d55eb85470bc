//! The worker that the current thread is, as the scheduler knows it.

use super::phase::RuntimePhase;
use super::runtime_shared;
use super::worker::Worker;
use crate::current;
use crate::drop_depth;
use crate::runtime_ids::RuntimeId;

/// Returns the worker that this thread is, if it is one.
#[inline]
pub(crate) fn worker<'a>() -> Option<&'a Worker> {
    // SAFETY: [`Worker::as_current`] sets the pointer while the worker lives, on its own thread;
    // references created from it do not outlive the task that creates them.
    unsafe { current::worker_ptr().cast::<Worker>().as_ref() }
}

/// Returns whether this thread is a worker of the runtime.
#[inline]
pub(crate) fn is_worker_of(home: RuntimeId) -> bool {
    worker().is_some_and(|worker| worker.id() == home)
}

/// Returns whether the caller is dropped, or called, because a runtime is past its shutdown's
/// deadline: on a worker of such a runtime, or where another thread drops its work. For destructors
/// of layers above, which must say why something does not come.
pub fn is_cancelling() -> bool {
    let here = worker().map_or_else(current::entered, Worker::id);
    current::is_cancelling()
        || here != RuntimeId::NONE && runtime_shared::get(here).phase() != RuntimePhase::Running
}

/// Panics where blocking could stop the awaited work. Also runs the destructors that this thread
/// has deferred, since they may be awaited, too.
#[track_caller]
pub(crate) fn prepare_to_block(what: &str, instead: &str) {
    assert!(
        !current::is_inside(),
        "{what} would block a worker or held cowns, and could wait forever: {instead}"
    );
    drop_depth::catch_up();
}
