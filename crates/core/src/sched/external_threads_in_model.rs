//! The twin of `external_threads.rs` for models: they do not check for external threads, and the
//! barrier with which an external thread announces itself would hide orderings that are too weak
//! elsewhere. The models of external threads, in `runtime_shared/loom.rs`, use `presence_cell.rs`
//! itself.

use crate::runtime_ids::RuntimeId;

pub(crate) fn within<R>(_: RuntimeId, work: impl FnOnce() -> R) -> R {
    work()
}

pub(crate) struct ExternalPresence;

/// # Safety
/// There are no requirements.
pub(crate) unsafe fn enter(_: RuntimeId) -> ExternalPresence {
    ExternalPresence
}

pub(crate) fn own_runtimes(_: &mut dyn FnMut(RuntimeId)) {}

pub(crate) fn are_there_any_of(_: &dyn Fn(RuntimeId) -> bool) -> bool {
    false
}

pub(crate) fn are_there_any(_: RuntimeId) -> bool {
    false
}

pub(crate) fn count(_: &dyn Fn(RuntimeId) -> bool) -> usize {
    0
}
