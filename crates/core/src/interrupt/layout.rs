//! The block of an interruptible cown: shared state, guard, header, state, in this order.

use std::alloc::Layout;
use std::mem::{needs_drop, size_of};
use std::ptr::{NonNull, null_mut};

use coact_sync::pool;

use super::interruptible::Interruptible;
use super::registry;
use crate::cown::handle::WeakCown;
use crate::cown::layout::CownBox;
use crate::drop_depth;
use crate::panic::drop_quietly;
use crate::queue::header::Flags;
use crate::queue::interrupt_header::{InterruptGuard, TablePosition, of};
use crate::queue::live_cown::LiveCown;
use crate::runtime_ids::RuntimeId;
use crate::sched::runtime_handle::RuntimeHandle;
use crate::task::{Task, TaskVTable};

/// The layout of the block of an interruptible `T`.
pub(super) struct InterruptibleBlock<T>(std::marker::PhantomData<T>);

impl<T: Interruptible> InterruptibleBlock<T> {
    /// The offset of the header in the block.
    const fn offset() -> usize {
        let align = Self::align();
        (size_of::<T::SharedState>() + size_of::<InterruptGuard>()).next_multiple_of(align)
    }

    const fn align() -> usize {
        let (shared, cown) = (align_of::<T::SharedState>(), CownBox::<T>::LAYOUT.align());
        if shared > cown { shared } else { cown }
    }

    const LAYOUT: Layout = {
        let size = Self::offset() + CownBox::<T>::LAYOUT.size();
        match Layout::from_size_align(size, Self::align()) {
            Ok(layout) => layout,
            Err(_) => panic!("a cown's state is too large"),
        }
    };

    /// See [`vtable::allocate`](super::vtable::allocate).
    pub(super) fn allocate(
        vtable: &'static TaskVTable,
        runtime: RuntimeId,
        leader: Option<LiveCown>,
        shared: T::SharedState,
        make_state: impl FnOnce(WeakCown<T>) -> T,
        complete: impl FnOnce(LiveCown),
    ) -> LiveCown {
        let block = pool::alloc(Self::LAYOUT);
        let task = Task { vtable };
        // SAFETY: the block was just allocated. Shared state, guard and cown are in it one behind
        // the other, each aligned: the shared state at the start, the cown at a multiple of the
        // block's alignment, and the guard, whose size is a multiple of its alignment, right before
        // it. The state is written before there is a handle; if creating it panics, the weak handle
        // that stands for all handles is dropped here, and the block with it.
        unsafe {
            block.cast().write(shared);
            let cown = block.byte_add(Self::offset()).cast::<CownBox<T>>();
            let header = CownBox::write_header(cown, runtime, Flags::INTERRUPTIBLE);
            header.header().pin_if(RuntimeHandle(runtime).is_pumped());
            if let Some(leader) = leader {
                header.header_mut().join(leader.ptr());
            }
            // From here on other threads may read the header, and find a cown without handles.
            let listed = registry::insert(header, runtime);
            cown.cast::<InterruptGuard>().sub(1).write(InterruptGuard {
                task,
                listed,
                head: null_mut(),
            });
            let all_handles = WeakCown::<T>::from_header(header);
            let state = make_state(WeakCown::from_header(header));
            CownBox::<T>::state(header).write(state);
            complete(header);
            all_handles.bring_to_life();
            header
        }
    }

    /// Frees the block of a cown of which nothing else is left, and drops the shared state.
    ///
    /// # Safety
    /// Nothing else of the cown is left, which comes from [`allocate`](Self::allocate).
    pub(super) unsafe fn free(cown: LiveCown) {
        // SAFETY: nothing of the cown is left, and its block comes from `allocate`.
        let free = move || unsafe {
            let shared = cown.ptr().byte_sub(Self::offset()).cast::<T::SharedState>();
            drop_quietly(|| shared.drop_in_place());
            Self::dealloc(cown);
        };
        if needs_drop::<T::SharedState>() {
            // SAFETY: a shared state is `'static`, and no other thread knows the block.
            unsafe { drop_depth::run_destructor(free) };
        } else {
            free();
        }
    }

    /// Frees the block without dropping anything in it.
    ///
    /// # Safety
    /// Nothing of the cown is left.
    unsafe fn dealloc(cown: LiveCown) {
        // SAFETY: nothing of the cown is left, and its block comes from `allocate`.
        unsafe { pool::dealloc(cown.ptr().byte_sub(Self::offset()).cast(), Self::LAYOUT) };
    }
}

/// Returns the shared state of a cown.
///
/// # Safety
/// The cown is an interruptible `T`.
pub(super) unsafe fn shared_state<T: Interruptible>(cown: LiveCown) -> NonNull<T::SharedState> {
    // SAFETY: the shared state is at the start of the block.
    unsafe { cown.ptr().byte_sub(InterruptibleBlock::<T>::offset()) }.cast()
}

/// Removes a cown from the table, if it is there: from here on it cannot be found, and a search
/// that has found it has a handle.
///
/// # Safety
/// The cown is interruptible, and the caller holds it exclusively, or nothing else of it is left.
pub(super) unsafe fn unlist(cown: LiveCown) {
    // SAFETY: an interruptible cown has a guard, and only the caller accesses the position in it.
    let listed = unsafe { &mut (*of(cown).as_ptr()).listed };
    registry::remove(std::mem::replace(listed, TablePosition::NOWHERE));
}

/// Puts a cown back into the table.
///
/// # Safety
/// The cown is interruptible and not in the table, and the caller holds it exclusively.
#[cold]
pub(super) unsafe fn list_again(cown: LiveCown) {
    // SAFETY: an interruptible cown has a guard, and only the caller accesses the position in it.
    unsafe { (*of(cown).as_ptr()).listed = registry::insert(cown, cown.header().home()) };
}

/// Frees the block of a cown whose state and shared state need not be dropped.
///
/// # Safety
/// The cown is an interruptible `T` in no group, nothing else of it is left, and it is not
/// [listed](unlist).
pub(super) unsafe fn free_undropped<T: Interruptible>(cown: LiveCown) {
    // SAFETY: nothing else of the cown is left, and it has no leader.
    unsafe {
        cown.header_mut().end();
        InterruptibleBlock::<T>::dealloc(cown);
    }
}
