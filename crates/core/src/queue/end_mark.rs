//! The mark at the end of a queue behind which nothing will come.

use std::ptr::NonNull;

use super::header::CownHeader;
use super::member::Member;
use super::single::Single;
use super::slot::Slot;
use crate::task::TaskVTable;

/// Drops the state of a cown that has no handles: one constant for each type of state. Its address with the
/// [mark](Self::MARK) is the tail of a queue that ends.
pub(crate) struct Last {
    /// For the request that drops the state as a task of its own.
    request: TaskVTable,
    /// # Safety
    /// No handle and no behaviour can reach the state any more.
    destroy: unsafe fn(NonNull<CownHeader>),
}

impl Last {
    /// Tells a mark from the address of a request, which is aligned.
    const MARK: usize = 1;

    pub(crate) const fn new(request: TaskVTable, destroy: unsafe fn(NonNull<CownHeader>)) -> Self {
        Self { request, destroy }
    }

    pub(crate) fn as_tail(&'static self) -> *mut Slot {
        let this = std::ptr::from_ref(self).cast_mut();
        this.map_addr(|addr| addr | Self::MARK).cast()
    }

    /// The mark, if the tail is one.
    #[inline]
    pub(crate) fn of_tail(tail: *mut Slot) -> Option<&'static Self> {
        let is_marked = tail.addr() & Self::MARK != 0;
        // SAFETY: requests are aligned, so it is what `as_tail` has made.
        is_marked.then(|| unsafe { &*tail.map_addr(|addr| addr & !Self::MARK).cast() })
    }

    /// Makes the request that drops the state. It is in no queue: nothing comes behind it.
    ///
    /// # Safety
    /// The cown is one of this type.
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
    /// As [`request`](Self::request); the caller has the cown exclusively, and its request was the last in the queue. The
    /// cown is gone after this.
    pub(crate) unsafe fn end(&self, cown: NonNull<CownHeader>) {
        // SAFETY: by the caller's word.
        unsafe { (self.destroy)(cown) };
    }
}
