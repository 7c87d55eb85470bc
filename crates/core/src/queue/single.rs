//! What the request of a behaviour on one cown lies in: the block, and the scheduler's link of its task.

use std::alloc::Layout;
use std::mem::{ManuallyDrop, offset_of};
use std::ptr::NonNull;

use coact_sync::pool;
use coact_sync::shim::atomic::AtomicPtr;

use super::member::Member;
use super::slot::Slot;
use crate::task::{Task, TaskPtr, TaskVTable};

/// The front of every one-cown behaviour, whatever its body.
#[repr(C)]
struct SingleHead {
    task: Task,
    slot: Slot,
}

#[repr(C)]
pub(crate) struct Single<B> {
    head: SingleHead,
    pub(crate) body: ManuallyDrop<B>,
}

/// The task that a request belongs to.
///
/// # Safety
/// The slot lies in a [`Single`].
#[inline]
pub(crate) unsafe fn single_task(slot: NonNull<Slot>) -> TaskPtr {
    // SAFETY: the slot lies this far behind the start of a `SingleHead`, by the caller's word.
    unsafe { slot.byte_sub(offset_of!(SingleHead, slot)) }.cast()
}

impl<B> Single<B> {
    pub(crate) const LAYOUT: Layout = Layout::new::<Self>();

    /// Puts a one-cown task into a block from the pool.
    #[inline]
    pub(crate) fn allocate(member: Member, vtable: &'static TaskVTable, body: B) -> NonNull<Self> {
        let block = pool::alloc(Self::LAYOUT);
        // SAFETY: made for this layout, just now.
        unsafe { Self::fill(block, Slot::new(member), vtable, body) }
    }

    /// # Safety
    /// The block is fresh, and has the layout of the node.
    #[inline(always)]
    pub(crate) unsafe fn fill(
        block: NonNull<u8>,
        slot: Slot,
        vtable: &'static TaskVTable,
        body: B,
    ) -> NonNull<Self> {
        let node = block.cast::<Self>();
        let head = SingleHead { task: Task { vtable }, slot };
        // SAFETY: by the caller's word.
        unsafe { node.write(Self { head, body: ManuallyDrop::new(body) }) };
        node
    }

    /// Takes the body out and gives the block back.
    ///
    /// # Safety
    /// The node is the caller's alone; it is gone after this.
    pub(crate) unsafe fn dismantle(node: NonNull<Self>) -> B {
        // SAFETY: alone, and taken once: the node is freed here.
        unsafe {
            let body = Self::take_body(node);
            Self::free(node);
            body
        }
    }

    /// Takes the body out.
    ///
    /// # Safety
    /// The task has its turn, and this is done once.
    pub(crate) unsafe fn take_body(node: NonNull<Self>) -> B {
        // SAFETY: by the caller's word.
        unsafe { take(&mut (*node.as_ptr()).body) }
    }

    /// Gives the block back.
    ///
    /// # Safety
    /// The node is the caller's alone, and its body was taken.
    pub(crate) unsafe fn free(node: NonNull<Self>) {
        // SAFETY: by the caller's word.
        unsafe { pool::dealloc(node.cast(), Self::LAYOUT) };
    }

    #[inline]
    pub(crate) fn slot(node: NonNull<Self>) -> NonNull<Slot> {
        // SAFETY: the field lies inside the node's block.
        unsafe { NonNull::new_unchecked(&raw mut (*node.as_ptr()).head.slot) }
    }
}

/// A one-cown task links through the `waiter` word of its cown: nobody waits for readers while the
/// cown is held exclusively, and so the task itself need not be longer.
pub(crate) unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: a one-cown task begins with a `SingleHead`, and, being ready, holds its cown.
    unsafe { NonNull::from(&task.cast::<SingleHead>().as_ref().slot.member().header().waiter) }
}

/// The request of a one-cown task.
#[inline]
pub(crate) unsafe fn request(task: TaskPtr) -> NonNull<Slot> {
    // SAFETY: a one-cown task begins with a `SingleHead`.
    unsafe { NonNull::from(&task.cast::<SingleHead>().as_ref().slot) }
}

/// The same for a member of a group: the group is held.
pub(crate) unsafe fn link_in_group(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: as above; the leader's header has the queue.
    unsafe {
        NonNull::from(&task.cast::<SingleHead>().as_ref().slot.member().header().queue().waiter)
    }
}

/// The same for a request that stands in no queue: its own place in one.
pub(crate) unsafe fn link_unqueued(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: a one-cown task begins with a `SingleHead`; what the pointers point to is a matter of their
    // users.
    unsafe { NonNull::from(&task.cast::<SingleHead>().as_ref().slot.next).cast() }
}

/// Moves a body out of the node that it was stored in.
///
/// # Safety
/// It is moved out once, and the slot is not dropped.
#[inline]
pub(crate) unsafe fn take<B>(slot: &mut ManuallyDrop<B>) -> B {
    // SAFETY: by the caller's word.
    unsafe { ManuallyDrop::take(slot) }
}
