//! The block of a behaviour on one cown: its request, and the scheduler's link of its task.

use std::alloc::Layout;
use std::mem::{ManuallyDrop, offset_of};
use std::ptr::NonNull;

use coact_sync::pool;
use coact_sync::shim::atomic::AtomicPtr;

use super::requested_cown::RequestedCown;
use super::slot::Slot;
use crate::queue::live_slot::LiveSlot;
use crate::task::{Task, TaskPtr, TaskVTable};

/// The front of every single, whatever its body.
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

/// Returns the task that a request belongs to.
///
/// # Safety
/// The slot is in a [`Single`].
#[inline]
pub(crate) unsafe fn single_task(slot: LiveSlot) -> TaskPtr {
    // SAFETY: the slot is in a `Single`, so it is this far behind the start of its `SingleHead`.
    unsafe { slot.ptr().byte_sub(offset_of!(SingleHead, slot)) }.cast()
}

impl<B> Single<B> {
    pub(crate) const LAYOUT: Layout = Layout::new::<Self>();

    /// Puts a single into a block from the pool.
    #[inline]
    pub(crate) fn allocate(
        member: RequestedCown,
        vtable: &'static TaskVTable,
        body: B,
    ) -> NonNull<Self> {
        let block = pool::alloc(Self::LAYOUT);
        // SAFETY: the block was just allocated with this layout.
        unsafe { Self::fill(block, Slot::new(member), vtable, body) }
    }

    /// # Safety
    /// The block is unused, and has the layout of the node.
    #[inline(always)]
    pub(crate) unsafe fn fill(
        block: NonNull<u8>,
        slot: Slot,
        vtable: &'static TaskVTable,
        body: B,
    ) -> NonNull<Self> {
        let node = block.cast::<Self>();
        let head = SingleHead { task: Task { vtable }, slot };
        // SAFETY: the block is unused and has the layout of the node.
        unsafe { node.write(Self { head, body: ManuallyDrop::new(body) }) };
        node
    }

    /// Moves the body out and frees the block.
    ///
    /// # Safety
    /// The caller owns the node exclusively and must not use it afterwards.
    pub(crate) unsafe fn dismantle(node: NonNull<Self>) -> B {
        // SAFETY: the caller owns the node exclusively; the body is moved out once, since the node
        // is freed here.
        unsafe {
            let body = Self::take_body(node);
            Self::free(node);
            body
        }
    }

    /// Moves the body out.
    ///
    /// # Safety
    /// The task is running, and this is called once.
    pub(crate) unsafe fn take_body(node: NonNull<Self>) -> B {
        // SAFETY: the task is running, so it owns its block, and its body is moved out once.
        unsafe { take(&mut (*node.as_ptr()).body) }
    }

    /// Frees the block.
    ///
    /// # Safety
    /// The caller owns the node exclusively, and its body was moved out.
    pub(crate) unsafe fn free(node: NonNull<Self>) {
        // SAFETY: the caller owns the node, which was allocated with this layout, and nothing in it
        // needs dropping.
        unsafe { pool::dealloc(node.cast(), Self::LAYOUT) };
    }

    /// Returns the request.
    ///
    /// # Safety
    /// The node is live as long as the result, or what is taken from it, is used.
    #[inline]
    pub(crate) unsafe fn slot(node: NonNull<Self>) -> LiveSlot {
        // SAFETY: the field is inside the node's block, and live as long as the node is.
        unsafe { LiveSlot::new(NonNull::new_unchecked(&raw mut (*node.as_ptr()).head.slot)) }
    }

    #[inline]
    pub(crate) fn body(node: NonNull<Self>) -> NonNull<B> {
        // SAFETY: the field is inside the node's block.
        unsafe { NonNull::new_unchecked(&raw mut (*node.as_ptr()).body).cast() }
    }
}

/// A single links through the `waiter` word of its cown, which is unused while the cown is held
/// exclusively, since no request then waits for readers. So the task itself can be shorter.
pub(crate) unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: the task of a single begins with a `SingleHead`; it is ready, so it holds its cown,
    // which is thus alive.
    unsafe { NonNull::from(&task.cast::<SingleHead>().as_ref().slot.member().header().waiter) }
}

/// Returns the request of a single.
///
/// # Safety
/// The task is that of a single, which is live as long as the result is used.
#[inline]
pub(crate) unsafe fn request(task: TaskPtr) -> LiveSlot {
    let head = task.cast::<SingleHead>().as_ptr();
    // SAFETY: the task of a single begins with a `SingleHead`, and is live as this function
    // requires.
    unsafe { LiveSlot::new(NonNull::new_unchecked(&raw mut (*head).slot)) }
}

/// The same for a member of a group: the group is held.
pub(crate) unsafe fn link_in_group(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: the task begins with a `SingleHead`; it is ready, so it holds its group, and the
    // leader's header has the queue.
    unsafe {
        NonNull::from(&task.cast::<SingleHead>().as_ref().slot.member().header().queue().waiter)
    }
}

/// The same for a request that is in no queue: links through its own `next`.
pub(crate) unsafe fn link_unqueued(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: the task of a single begins with a `SingleHead`.
    unsafe { &task.cast::<SingleHead>().as_ref().slot }.as_link()
}

/// Moves a body out of the node that it was stored in.
///
/// # Safety
/// It is moved out once, and `slot` is not dropped.
#[inline]
pub(crate) unsafe fn take<B>(slot: &mut ManuallyDrop<B>) -> B {
    // SAFETY: the value is moved out once, as the caller promises.
    unsafe { ManuallyDrop::take(slot) }
}
