//! A cown's block: its header and its state, preceded in an interruptible cown by the
//! [guard](crate::queue::interrupt_header).

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::ptr::NonNull;

use coact_sync::pool;

use crate::queue::group_header::Leader;
use crate::queue::header::{CownHeader, Flags};
use crate::queue::interrupt_header;
use crate::queue::live_cown::LiveCown;
use crate::runtime_ids::Birthplace;
use crate::runtime_ids::RuntimeId;
use crate::simulated;

/// The unit in which processors exchange memory.
const CACHE_LINE: usize = 64;

#[repr(C)]
pub(crate) struct CownBox<T> {
    header: CownHeader,
    state: UnsafeCell<T>,
}

impl<T> CownBox<T> {
    pub(crate) const LAYOUT: Layout = Layout::new::<Self>();

    /// The layout of a block that shares its cache line with no other cown, if it fits into one:
    /// workers on different cowns do not disturb each other.
    const LINE: Layout = match Layout::from_size_align(CACHE_LINE, Self::LAYOUT.align()) {
        Ok(line) if Self::LAYOUT.size() < CACHE_LINE => line,
        _ => Self::LAYOUT,
    };

    /// Allocates a cown with one strong handle.
    #[inline]
    pub(crate) fn allocate(state: T, place: Birthplace) -> LiveCown {
        // SAFETY: the block was just allocated and has room for the cown.
        unsafe { Self::fill(pool::alloc(Self::LINE), state, CownHeader::fresh(place)) }
    }

    /// The same if the thread has a block at hand. Otherwise returns the state.
    #[inline(always)]
    pub(crate) fn try_allocate(state: T, place: Birthplace) -> Result<LiveCown, T> {
        let Some(block) = pool::try_alloc(Self::LINE) else { return Err(state) };
        // SAFETY: the block was just allocated and has room for the cown.
        Ok(unsafe { Self::fill(block, state, CownHeader::fresh(place)) })
    }

    /// The same in a block of minimal length; also for members of a group, on which only one worker
    /// is active at a time.
    #[inline]
    pub(crate) fn allocate_packed(state: T, place: Birthplace) -> LiveCown {
        let header = CownHeader::packed(place);
        // SAFETY: the block was just allocated and has room for the cown.
        unsafe { Self::fill(pool::alloc(Self::LAYOUT), state, header) }
    }

    /// # Safety
    /// The block is unused, and has room for the cown.
    #[inline(always)]
    unsafe fn fill(block: NonNull<u8>, state: T, header: CownHeader) -> LiveCown {
        let state = UnsafeCell::new(state);
        // SAFETY: the block is unused, and has room for the cown.
        unsafe { block.cast::<Self>().write(Self { header, state }) };
        simulated::made_cown(block.addr().get());
        // SAFETY: the cown is new, and has the caller's handle.
        unsafe { LiveCown::new(block.cast()) }
    }

    /// Writes the header of a cown whose state follows later. It has no strong handle.
    ///
    /// # Safety
    /// The caller owns the memory exclusively, and it has the layout.
    pub(crate) unsafe fn write_header(
        at: NonNull<Self>,
        runtime: RuntimeId,
        flags: u16,
    ) -> LiveCown {
        let header = at.cast::<CownHeader>();
        // SAFETY: the caller owns the memory, which has the layout.
        unsafe { header.write(CownHeader::stillborn(runtime, flags)) };
        simulated::made_cown(header.addr().get());
        // SAFETY: the cown is new, and has the weak handle of its creator.
        unsafe { LiveCown::new(header) }
    }

    /// Returns a pointer to the state. Dereferencing it requires holding the cown.
    ///
    /// # Safety
    /// The cown is of type `T`, and alive.
    #[inline]
    pub(crate) unsafe fn state(cown: LiveCown) -> *mut T {
        // SAFETY: the cown is of type `T`, and alive.
        UnsafeCell::raw_get(unsafe { &raw const (*cown.cast::<Self>().as_ptr()).state })
    }

    /// Frees the block; the state must have been dropped or taken.
    ///
    /// # Safety
    /// No handle, weak handle or request of the cown is left.
    #[inline]
    pub(crate) unsafe fn free(cown: LiveCown) {
        // SAFETY: nothing of the cown is left, and the block was allocated with the layout used
        // here, or with the one that the guard knows. A member owns a count of its leader, which is
        // given up once.
        unsafe {
            let header = cown.header();
            let flags = header.flags.get(Flags::INTERRUPTIBLE | Flags::PACKED | Flags::GROUPED);
            if flags == 0 {
                // The common case.
                return Self::free_plain(cown);
            }
            let (interruptible, packed) =
                (header.has(Flags::INTERRUPTIBLE), header.has(Flags::PACKED));
            let leader = cown.leader();
            if interruptible {
                // Up to here a search may read the header.
                interrupt_header::unlist(cown);
            }
            cown.header_mut().end();
            if interruptible {
                interrupt_header::free(cown);
            } else {
                pool::dealloc(cown.cast(), if packed { Self::LAYOUT } else { Self::LINE });
            }
            if let Some(leader) = leader {
                Leader::release(leader);
            }
        }
    }

    /// The same for a cown that is in no group, and not interruptible or packed.
    ///
    /// # Safety
    /// See [`free`](Self::free).
    #[inline(always)]
    pub(super) unsafe fn free_plain(cown: LiveCown) {
        // SAFETY: nothing of the cown is left, and the block of such a cown was allocated with this
        // layout.
        unsafe {
            cown.header_mut().end();
            pool::dealloc_and_return(cown.cast(), Self::LINE, ());
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::num::NonZeroU16;

    use super::*;

    fn place() -> Birthplace {
        Birthplace::new(RuntimeId::new(NonZeroU16::MIN), false)
    }

    #[test]
    fn a_small_cown_has_a_line_of_its_own_and_a_packed_one_takes_what_it_needs() {
        let sizes = |line: Layout, packed: Layout| (line.size(), packed.size());
        assert_eq!(sizes(CownBox::<()>::LINE, CownBox::<()>::LAYOUT), (64, 32));
        assert_eq!(sizes(CownBox::<u64>::LINE, CownBox::<u64>::LAYOUT), (64, 40));
        assert_eq!(sizes(CownBox::<[u64; 4]>::LINE, CownBox::<[u64; 4]>::LAYOUT), (64, 64));
        assert_eq!(sizes(CownBox::<[u64; 5]>::LINE, CownBox::<[u64; 5]>::LAYOUT), (72, 72));
        assert_eq!(CownBox::<u128>::LINE.align(), align_of::<u128>());
    }

    /// (When the program's allocator serves small blocks, for a sanitizer, their cache lines are
    /// arbitrary.)
    #[cfg(not(any(miri, coact_no_pool)))]
    #[test]
    fn a_line_is_a_line() {
        let cowns: Vec<_> = (0..1000_u64).map(|n| CownBox::allocate(n, place())).collect();
        assert!(cowns.iter().all(|cown| cown.address().is_multiple_of(CACHE_LINE)));
        // SAFETY: the cown was just created, and no other thread knows it.
        cowns.into_iter().for_each(|cown| unsafe { CownBox::<u64>::free(cown) });
    }
}
