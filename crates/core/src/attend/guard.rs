//! What lies in front of the header of a cown that is attended to.

use std::alloc::Layout;
use std::any::type_name;
use std::mem::{needs_drop, size_of};
use std::ptr::{NonNull, null_mut};

use coact_sync::pool;
use coact_sync::shim::atomic::AtomicPtr;

use super::live::{self, Listed};
use super::{Attended, Door, Ending};
use crate::cown::handle::WeakCown;
use crate::cown::layout::CownBox;
use crate::depth;
use crate::fault::Broken;
use crate::ids::RuntimeId;
use crate::panic::drop_quietly;
use crate::queue::header::{CownHeader, Flags};
use crate::queue::slot::Slot;
use crate::sched::home::Home;
use crate::task::{self, Mode, Task, TaskPtr, TaskVTable};

/// The untyped part, straight in front of the header: 24 bytes.
///
/// It begins with a task, so that the cown itself can be scheduled.
#[repr(C)]
pub(crate) struct Guard {
    task: Task,
    listed: Listed,
    /// The request for which the token was left here; the token holder's alone. In a member of a group,
    /// for which the token is left with the leader, the next one in the leader's list of alerts.
    pub(super) head: *mut Slot,
}

/// The functions of a guard's type.
pub(crate) struct Kind {
    /// # Safety
    /// The caller holds the cown exclusively.
    pub(super) failed: unsafe fn(NonNull<CownHeader>, &Broken),
    /// # Safety
    /// The caller is alone with the state.
    pub(crate) attend: unsafe fn(NonNull<CownHeader>, Mode) -> Door,
    /// See [`Attended::take_turn`].
    ///
    /// # Safety
    /// As of `attend`.
    pub(crate) take_turn: unsafe fn(NonNull<CownHeader>) -> Door,
    /// Tells the state that its runtime ends, and has it attended to.
    ///
    /// # Safety
    /// The caller has a handle.
    pub(super) end: unsafe fn(NonNull<CownHeader>, &Ending),
    /// See [`Attended::number`].
    ///
    /// # Safety
    /// The caller has a handle.
    pub(super) number: unsafe fn(NonNull<CownHeader>) -> u64,
    /// Gives a handle up.
    ///
    /// # Safety
    /// The handle is the caller's.
    pub(super) release: unsafe fn(NonNull<CownHeader>),
    /// Drops the front and frees the block.
    ///
    /// # Safety
    /// Nothing else of the cown is left.
    free: unsafe fn(NonNull<CownHeader>),
}

/// How the block of an attended `T` is laid out: front, guard, header, state.
struct Block<T>(std::marker::PhantomData<T>);

impl<T: Attended> Block<T> {
    const VTABLE: TaskVTable = TaskVTable::new(super::run::<T>, link, type_name::<T>)
        .of_kind(task::Kind::new(&Self::KIND));
    const KIND: Kind = Kind {
        failed: super::fail::<T>,
        attend: super::attend::<T>,
        take_turn: super::take_turn::<T>,
        end: super::end::<T>,
        number: super::number::<T>,
        release: super::release::<T>,
        free: Self::free,
    };

    /// How far behind the block's start its header lies.
    const fn offset() -> usize {
        let align = Self::align();
        (size_of::<T::Front>() + size_of::<Guard>()).next_multiple_of(align)
    }

    const fn align() -> usize {
        let (front, cown) = (align_of::<T::Front>(), CownBox::<T>::LAYOUT.align());
        if front > cown { front } else { cown }
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
        front: T::Front,
        make_state: impl FnOnce(WeakCown<T>) -> T,
        complete: impl FnOnce(NonNull<CownHeader>),
    ) -> NonNull<CownHeader> {
        let block = pool::alloc(Self::LAYOUT);
        let task = Task { vtable: &Self::VTABLE };
        // SAFETY: the block is fresh; front, guard and cown have their places in it one behind the
        // other, each aligned: the front at the start, the cown at a multiple of the block's
        // alignment, and the guard, whose size is a multiple of its alignment, right before it. The
        // state is written before there is a handle; should making it panic, the weak handle that
        // stands for all handles ends here, and the block with it.
        unsafe {
            block.cast().write(front);
            let cown = block.byte_add(Self::offset()).cast::<CownBox<T>>();
            let mut header = CownBox::write_header(cown, runtime, Flags::ATTENDED);
            header.as_ref().pin_if(Home(runtime).is_pumped());
            if let Some(leader) = leader {
                header.as_mut().join(leader);
            }
            // From now on others may look at the header, and find a cown without handles.
            let listed = live::insert(header, runtime);
            cown.cast::<Guard>().sub(1).write(Guard { task, listed, head: null_mut() });
            let all_handles = WeakCown::<T>::from_header(header);
            let state = make_state(WeakCown::from_header(header));
            CownBox::<T>::state(header).write(state);
            complete(header);
            all_handles.bring_to_life();
            header
        }
    }

    unsafe fn free(cown: NonNull<CownHeader>) {
        // SAFETY: by the caller's word; made by `allocate`.
        let free = move || unsafe {
            let block = cown.byte_sub(Self::offset());
            drop_quietly(|| block.cast::<T::Front>().drop_in_place());
            pool::dealloc(block.cast(), Self::LAYOUT);
        };
        if needs_drop::<T::Front>() {
            // SAFETY: a front is `'static`, and the block nobody else's.
            unsafe { depth::run_destructor(free) };
        } else {
            free();
        }
    }
}

/// A new cown with one handle, a front and a guard; a member of the leader's group, if one is given
/// (with a count for it). `complete` gets it before there is a handle.
pub(crate) fn allocate<T: Attended>(
    runtime: RuntimeId,
    leader: Option<NonNull<CownHeader>>,
    front: T::Front,
    make_state: impl FnOnce(WeakCown<T>) -> T,
    complete: impl FnOnce(NonNull<CownHeader>),
) -> NonNull<CownHeader> {
    Block::<T>::allocate(runtime, leader, front, make_state, complete)
}

/// The guard of a cown.
///
/// # Safety
/// The cown is attended to.
pub(crate) unsafe fn of(cown: NonNull<CownHeader>) -> NonNull<Guard> {
    // SAFETY: it lies there, by the caller's word.
    unsafe { cown.cast::<Guard>().sub(1) }
}

/// The task by which a cown that is attended to is scheduled.
///
/// # Safety
/// The cown is attended to.
pub(super) unsafe fn task_of(cown: NonNull<CownHeader>) -> TaskPtr {
    // SAFETY: a guard begins with its task.
    unsafe { of(cown) }.cast()
}

/// The cown of a guard.
pub(crate) fn header_of(guard: NonNull<Guard>) -> NonNull<CownHeader> {
    // SAFETY: every guard lies straight in front of a header.
    unsafe { guard.add(1) }.cast()
}

/// # Safety
/// The cown is attended to.
pub(crate) unsafe fn kind(cown: NonNull<CownHeader>) -> &'static Kind {
    // SAFETY: by the caller's word; constant.
    let kind = unsafe { (*of(cown).as_ptr()).task.vtable.kind };
    // SAFETY: the task of a guard has one, of this type.
    unsafe { kind.unwrap_unchecked().get() }
}

/// Leaves the token of a cown in its guard, with the head of its queue.
///
/// # Safety
/// The cown is attended to, in no group, and its token the caller's.
pub(super) unsafe fn leave_token(cown: NonNull<CownHeader>, head: NonNull<Slot>) {
    // SAFETY: by the caller's word.
    unsafe { (*of(cown).as_ptr()).head = head.as_ptr() };
}

/// What comes behind a member in its leader's list of alerts.
///
/// # Safety
/// The guard is that of a member which is in the list, and the caller has taken that.
pub(crate) unsafe fn next(guard: NonNull<Guard>) -> *mut Guard {
    // SAFETY: by the caller's word.
    unsafe { (*guard.as_ptr()).head.cast() }
}

/// Says what will come behind a member in that list.
///
/// # Safety
/// The guard is that of a member, and the caller has just set its ALERT.
pub(crate) unsafe fn set_next(guard: NonNull<Guard>, next: *mut Guard) {
    // SAFETY: by the caller's word.
    unsafe { (*guard.as_ptr()).head = next.cast() };
}

/// The front of a cown.
///
/// # Safety
/// The cown is an attended `T`.
pub(super) unsafe fn front<T: Attended>(cown: NonNull<CownHeader>) -> NonNull<T::Front> {
    // SAFETY: the front lies at the start of the block.
    unsafe { cown.byte_sub(Block::<T>::offset()) }.cast()
}

/// Takes a cown out of the table of those that are attended to: from here on nobody finds it any more.
///
/// # Safety
/// The cown is attended to, nothing else of it is left, and this is called once.
pub(crate) unsafe fn unlist(cown: NonNull<CownHeader>) {
    // SAFETY: by the caller's word.
    live::remove(unsafe { (*of(cown).as_ptr()).listed });
}

/// Drops the front of an attended cown and frees its block.
///
/// # Safety
/// The cown is attended to, nothing else of it is left, and it is not [listed](unlist).
pub(crate) unsafe fn free(cown: NonNull<CownHeader>) {
    // SAFETY: by the caller's word.
    unsafe { (kind(cown).free)(cown) };
}

/// The scheduler's link: the word of the cown that only its holder uses. The token has come with
/// the task.
unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: a guard's task, which has come with the token, so the cown is alive.
    NonNull::from(unsafe { &header_of(task.cast()).as_ref().waiter })
}
