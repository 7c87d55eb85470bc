//! The block of an interruptible cown: shared state, guard, header, state.

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

/// How the block of an interruptible `T` is laid out: shared state, guard, header, state.
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

    /// How far behind the block's start its header lies.
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
        // SAFETY: the block is fresh; shared state, guard and cown have their places in it one behind the
        // other, each aligned: the shared state at the start, the cown at a multiple of the block's
        // alignment, and the guard, whose size is a multiple of its alignment, right before it. The
        // state is written before there is a handle; should making it panic, the weak handle that
        // stands for all handles ends here, and the block with it.
        unsafe {
            block.cast().write(shared);
            let cown = block.byte_add(Self::offset()).cast::<CownBox<T>>();
            let mut header = CownBox::write_header(cown, runtime, Flags::INTERRUPTIBLE);
            header.as_ref().pin_if(RuntimeHandle(runtime).is_pumped());
            if let Some(leader) = leader {
                header.as_mut().join(leader);
            }
            // From now on others may look at the header, and find a cown without handles.
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
        // SAFETY: by the caller's word.
        registry::remove(unsafe { (*of(cown).as_ptr()).listed });
    }

    unsafe fn free(cown: NonNull<CownHeader>) {
        // SAFETY: by the caller's word; made by `allocate`.
        let free = move || unsafe {
            let block = cown.byte_sub(Self::offset());
            drop_quietly(|| block.cast::<T::SharedState>().drop_in_place());
            pool::dealloc(block.cast(), Self::LAYOUT);
        };
        if needs_drop::<T::SharedState>() {
            // SAFETY: a shared state is `'static`, and the block nobody else's.
            unsafe { depth::run_destructor(free) };
        } else {
            free();
        }
    }
}

/// A new cown with one handle, a shared state and a guard; a member of the leader's group, if one is given
/// (with a count for it). `complete` gets it before there is a handle.
pub(crate) fn allocate<T: Interruptible>(
    runtime: RuntimeId,
    leader: Option<NonNull<CownHeader>>,
    shared: T::SharedState,
    make_state: impl FnOnce(WeakCown<T>) -> T,
    complete: impl FnOnce(NonNull<CownHeader>),
) -> NonNull<CownHeader> {
    Block::<T>::allocate(runtime, leader, shared, make_state, complete)
}

/// The shared of a cown.
///
/// # Safety
/// The cown is an interruptible `T`.
pub(super) unsafe fn shared_state<T: Interruptible>(
    cown: NonNull<CownHeader>,
) -> NonNull<T::SharedState> {
    // SAFETY: the shared state lies at the start of the block.
    unsafe { cown.byte_sub(Block::<T>::offset()) }.cast()
}
