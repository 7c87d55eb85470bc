//! The block of an interruptible cown: shared state, guard, header, state, in this order.

use std::alloc::Layout;
use std::any::type_name;
use std::mem::{needs_drop, size_of};
use std::ptr::{NonNull, null_mut};

use coact_sync::pool;

use super::{Interruptible, registry};
use crate::cown::handle::WeakCown;
use crate::cown::layout::CownBox;
use crate::depth;
use crate::ids::RuntimeId;
use crate::panic::drop_quietly;
use crate::queue::header::{CownHeader, Flags};
use crate::queue::interruptible::{Guard, Kind, link, of};
use crate::sched::runtime_handle::RuntimeHandle;
use crate::task::{self, Task, TaskVTable};

/// The layout of the block of an interruptible `T`.
struct Block<T>(std::marker::PhantomData<T>);

impl<T: Interruptible> Block<T> {
    const VTABLE: TaskVTable = TaskVTable::new(super::run::<T>, link, type_name::<T>)
        .of_kind(task::Kind::new(&Self::KIND));
    const KIND: Kind = Kind {
        failed: super::fail::<T>,
        on_interrupt: super::on_interrupt::<T>,
        take_turn: super::take_turn::<T>,
        end: super::end::<T>,
        number: super::number::<T>,
        release: super::release::<T>,
        unlist: Self::unlist,
        free: Self::free,
    };

    /// The offset of the header in the block.
    const fn offset() -> usize {
        let align = Self::align();
        (size_of::<T::SharedState>() + size_of::<Guard>()).next_multiple_of(align)
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

    fn allocate(
        runtime: RuntimeId,
        leader: Option<NonNull<CownHeader>>,
        shared: T::SharedState,
        make_state: impl FnOnce(WeakCown<T>) -> T,
        complete: impl FnOnce(NonNull<CownHeader>),
    ) -> NonNull<CownHeader> {
        let block = pool::alloc(Self::LAYOUT);
        let task = Task { vtable: &Self::VTABLE };
        // SAFETY: the block was just allocated. Shared state, guard and cown are in it one behind
        // the other, each aligned: the shared state at the start, the cown at a multiple of the
        // block's alignment, and the guard, whose size is a multiple of its alignment, right before
        // it. The state is written before there is a handle; if creating it panics, the weak handle
        // that stands for all handles is dropped here, and the block with it.
        unsafe {
            block.cast().write(shared);
            let cown = block.byte_add(Self::offset()).cast::<CownBox<T>>();
            let mut header = CownBox::write_header(cown, runtime, Flags::INTERRUPTIBLE);
            header.as_ref().pin_if(RuntimeHandle(runtime).is_pumped());
            if let Some(leader) = leader {
                header.as_mut().join(leader);
            }
            // From here on other threads may read the header, and find a cown without handles.
            let listed = registry::insert(header, runtime);
            cown.cast::<Guard>().sub(1).write(Guard { task, listed, head: null_mut() });
            let all_handles = WeakCown::<T>::from_header(header);
            let state = make_state(WeakCown::from_header(header));
            CownBox::<T>::state(header).write(state);
            complete(header);
            all_handles.bring_to_life();
            header
        }
    }

    unsafe fn unlist(cown: NonNull<CownHeader>) {
        // SAFETY: the cown is interruptible, so it has a guard.
        registry::remove(unsafe { (*of(cown).as_ptr()).listed });
    }

    unsafe fn free(cown: NonNull<CownHeader>) {
        // SAFETY: nothing of the cown is left, and its block comes from `allocate`.
        let free = move || unsafe {
            let block = cown.byte_sub(Self::offset());
            drop_quietly(|| block.cast::<T::SharedState>().drop_in_place());
            pool::dealloc(block.cast(), Self::LAYOUT);
        };
        if needs_drop::<T::SharedState>() {
            // SAFETY: a shared state is `'static`, and no other thread knows the block.
            unsafe { depth::run_destructor(free) };
        } else {
            free();
        }
    }
}

/// Allocates a cown with one handle, a shared state and a guard; as a member of the leader's group
/// if one is given (with a count for it). `complete` receives it before there is a handle.
pub(crate) fn allocate<T: Interruptible>(
    runtime: RuntimeId,
    leader: Option<NonNull<CownHeader>>,
    shared: T::SharedState,
    make_state: impl FnOnce(WeakCown<T>) -> T,
    complete: impl FnOnce(NonNull<CownHeader>),
) -> NonNull<CownHeader> {
    Block::<T>::allocate(runtime, leader, shared, make_state, complete)
}

/// Returns the shared state of a cown.
///
/// # Safety
/// The cown is an interruptible `T`.
pub(super) unsafe fn shared_state<T: Interruptible>(
    cown: NonNull<CownHeader>,
) -> NonNull<T::SharedState> {
    // SAFETY: the shared state is at the start of the block.
    unsafe { cown.byte_sub(Block::<T>::offset()) }.cast()
}
