//! A cown's block: its header and its state; in front of the header, for a cown that is attended
//! to, what that needs ([`attend::guard`](crate::attend::guard)).

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::ptr::NonNull;

use coact_sync::pool;

use super::header::{CownHeader, Flags};
use crate::attend::guard;
use crate::group::leader::Leader;
use crate::runtime::RuntimeId;

#[repr(C)]
pub(crate) struct CownBox<T> {
    header: CownHeader,
    state: UnsafeCell<T>,
}

impl<T> CownBox<T> {
    pub(crate) const LAYOUT: Layout = Layout::new::<Self>();

    /// A new cown with one strong handle.
    #[inline]
    pub(crate) fn allocate(state: T, runtime: RuntimeId) -> NonNull<CownHeader> {
        let block = pool::alloc(Self::LAYOUT).cast::<Self>();
        // SAFETY: the block is fresh and has the layout.
        unsafe {
            block.write(Self { header: CownHeader::new(runtime), state: UnsafeCell::new(state) });
        }
        block.cast()
    }

    /// Makes the header of a cown whose state is yet to come. It has no strong handle.
    ///
    /// # Safety
    /// The memory is the caller's alone, and has the layout.
    pub(crate) unsafe fn write_header(
        at: NonNull<Self>,
        runtime: RuntimeId,
        flags: u8,
    ) -> NonNull<CownHeader> {
        let header = at.cast::<CownHeader>();
        // SAFETY: by the caller's word.
        unsafe { header.write(CownHeader::stillborn(runtime, flags)) };
        header
    }

    /// The state. Dereferencing it is for those who hold the cown.
    ///
    /// # Safety
    /// The cown is of `T`, and alive.
    #[inline]
    pub(crate) unsafe fn state(cown: NonNull<CownHeader>) -> *mut T {
        // SAFETY: by the caller's word.
        UnsafeCell::raw_get(unsafe { &raw const (*cown.cast::<Self>().as_ptr()).state })
    }

    /// Frees the block; the state must have been dropped or taken.
    ///
    /// # Safety
    /// No handle, weak handle or request of the cown is left.
    #[inline]
    pub(crate) unsafe fn free(mut cown: NonNull<CownHeader>) {
        // SAFETY: by the caller's word; the block was made with this layout, or with that which the
        // guard knows. A member gives its count of the leader up.
        unsafe {
            let attended = cown.as_ref().has(Flags::ATTENDED);
            let leader = cown.as_ref().leader();
            cown.as_mut().end();
            if attended {
                guard::free(cown);
            } else {
                pool::dealloc(cown.cast(), Self::LAYOUT);
            }
            if let Some(leader) = leader {
                Leader::release(leader);
            }
        }
    }
}
