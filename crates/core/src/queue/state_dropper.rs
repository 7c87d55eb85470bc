//! Functions that drop a cown's state once it has no handles. The end mark of the queue points to
//! them.

use super::requested_cown::RequestedCown;
use super::single_block::Single;
use super::tail::EndMark;
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use crate::task::TaskVTable;

/// How to drop the state of a cown without handles: one constant per type of state. Its address is
/// in the [mark](EndMark) at the end of a queue.
pub(crate) struct StateDropper {
    /// The functions of the request that drops the state as a task of its own.
    request: TaskVTable,
    /// # Safety
    /// The state is unreachable: there is no handle and no behaviour for it.
    destroy: unsafe fn(LiveCown),
}

impl StateDropper {
    pub(crate) const fn new(request: TaskVTable, destroy: unsafe fn(LiveCown)) -> Self {
        Self { request, destroy }
    }

    pub(crate) fn mark(&'static self) -> EndMark {
        EndMark::new(std::ptr::from_ref(self).cast())
    }

    /// The reverse of [`mark`](Self::mark).
    #[inline(always)]
    pub(crate) fn of_mark(mark: EndMark) -> &'static Self {
        // SAFETY: marks are made only by `mark`, of constants.
        unsafe { &*mark.get().cast() }
    }

    /// Creates the request that drops the state. It is in no queue: nothing follows it.
    ///
    /// # Safety
    /// The cown is of this type.
    pub(crate) unsafe fn request(&'static self, cown: LiveCown) -> LiveSlot {
        let node = Single::allocate(RequestedCown::exclusive(cown), &self.request, ());
        // SAFETY: the node is new, and live until the caller has given the request away.
        unsafe { Single::slot(node) }
    }

    /// The functions of that request.
    pub(crate) fn request_vtable(&'static self) -> &'static TaskVTable {
        &self.request
    }

    /// Drops the state.
    ///
    /// # Safety
    /// See [`request`](Self::request). The caller has the cown exclusively, and its request was the
    /// last in the queue. The cown must not be used afterwards.
    pub(crate) unsafe fn end(&self, cown: LiveCown) {
        // SAFETY: the cown is of this type, the caller's request was the last, and no handle is
        // left, so nothing can reach the state.
        unsafe { (self.destroy)(cown) };
    }
}
