//! The mark at the end of a queue that nothing can follow.

use std::ptr::NonNull;

use super::header::CownHeader;
use super::member::Member;
use super::single::Single;
use super::slot::Slot;
use crate::task::TaskVTable;

/// How to drop the state of a cown without handles: one constant per type of state. Its address
/// with the [mark](Self::MARK) is the tail of a queue that ends.
pub(crate) struct Last {
    /// The functions of the request that drops the state as a task of its own.
    request: TaskVTable,
    /// # Safety
    /// The state is unreachable: there is no handle and no behaviour for it.
    destroy: unsafe fn(NonNull<CownHeader>),
}

impl Last {
    /// Distinguishes a mark from the address of a request, which is aligned.
    const MARK: usize = 1;

    pub(crate) const fn new(request: TaskVTable, destroy: unsafe fn(NonNull<CownHeader>)) -> Self {
        Self { request, destroy }
    }

    pub(crate) fn as_tail(&'static self) -> *mut Slot {
        let this = std::ptr::from_ref(self).cast_mut();
        this.map_addr(|addr| addr | Self::MARK).cast()
    }

    /// Returns the mark if the tail is one.
    #[inline]
    pub(crate) fn of_tail(tail: *mut Slot) -> Option<&'static Self> {
        let is_marked = tail.addr() & Self::MARK != 0;
        // SAFETY: requests are aligned, so a marked tail comes from `as_tail`.
        is_marked.then(|| unsafe { &*tail.map_addr(|addr| addr & !Self::MARK).cast() })
    }

    /// Creates the request that drops the state. It is in no queue: nothing follows it.
    ///
    /// # Safety
    /// The cown is of this type.
    pub(crate) unsafe fn request(&'static self, cown: NonNull<CownHeader>) -> NonNull<Slot> {
        Single::slot(Single::allocate(Member::exclusive(cown), &self.request, ()))
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
    pub(crate) unsafe fn end(&self, cown: NonNull<CownHeader>) {
        // SAFETY: the cown is of this type, the caller's request was the last, and no handle is
        // left, so nothing can reach the state.
        unsafe { (self.destroy)(cown) };
    }
}
