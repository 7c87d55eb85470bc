//! What the request of a behaviour on one cown lies in, and how it gets into its queue.

use std::alloc::Layout;
use std::mem::{ManuallyDrop, offset_of};
use std::ptr::NonNull;

use coact_sync::pool;
use coact_sync::shim::atomic::AtomicPtr;

use super::append::append_begun;
use super::grant::grant;
use super::header::{CownHeader, Member};
use super::slot::Slot;
use crate::ids::RuntimeId;
use crate::paths::Path;
use crate::sched::worker::Worker;
use crate::sched::{external, schedule};
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

    /// Spawns the node's task on its cown, which is in no group.
    ///
    /// # Safety
    /// The node is the caller's alone, and is given away. The cown is alive.
    pub(crate) unsafe fn spawn(node: NonNull<Self>) {
        // SAFETY: the node is ours; the rest by the caller's word.
        unsafe { launch(Self::slot(node)) };
    }
}

/// Puts the request of a one-cown task into its cown's queue; if the queue was empty the task is scheduled.
///
/// # Safety
/// The request is not queued, and is given away. The cown is alive: by a handle of the caller's, or until this very
/// request, its last, has run. It is in no group.
unsafe fn launch(slot: NonNull<Slot>) {
    // SAFETY: ours alone; the rest by the caller's word.
    unsafe {
        let member = (*slot.as_ptr()).begin();
        let cown = member.header_ptr();
        // A hint, until the cown is ours.
        let home = cown.as_ref().home_of_queue();
        enqueue::<false>(slot, member, cown, || home, |task| schedule(task, home));
    }
}

/// As [`launch`], by a thread that is no worker.
///
/// # Safety
/// As there.
#[inline(never)]
pub(crate) unsafe fn launch_externally(slot: NonNull<Slot>) {
    // SAFETY: by the caller's word.
    unsafe {
        let home = slot.as_ref().member().header().home();
        external::within(home, || launch(slot));
    }
}

/// The same by a worker, of a task in a [`Single`] whose request was made as [beginning](Slot::beginning) for this member
/// of this cown. What is rare is called, last of all: so it is a few instructions, fewer than a call of them would take
/// along with what a call forgets.
///
/// # Safety
/// As [`launch`].
#[inline(always)]
pub(crate) unsafe fn launch_by(
    worker: &Worker,
    task: TaskPtr,
    member: Member,
    cown: NonNull<CownHeader>,
) {
    // SAFETY: by the caller's word.
    unsafe {
        let slot = request(task);
        enqueue::<true>(
            slot,
            member,
            cown,
            || worker.id(),
            |task| {
                Path::SingleFree.take();
                worker.push(task);
            },
        );
    }
}

/// Puts a request into its cown's queue. If that was empty, the cown at home there, and nothing about it to be seen to, the
/// task is ready, and `run` has it; otherwise it is granted the usual way.
///
/// # Safety
/// As [`launch`], of a request that has begun, for this member, whose cown it is.
#[inline(always)]
unsafe fn enqueue<const BY_WORKER: bool>(
    slot: NonNull<Slot>,
    member: Member,
    cown: NonNull<CownHeader>,
    home: impl FnOnce() -> RuntimeId,
    run: impl FnOnce(TaskPtr),
) {
    // SAFETY: by the caller's word. When the queue was empty the request, which stands in it, keeps the cown alive
    // while we have the token.
    unsafe {
        let header = cown.as_ref();
        if !append_begun::<BY_WORKER>(header, slot, member) {
            return;
        }
        if !header.is_plainly_free(home()) {
            return grant_with_care(cown, slot);
        }
        run(single_task(slot));
    }
}

/// Grants a cown of which there is something to be seen to. Its queue was empty, so it is not overloaded any more.
///
/// # Safety
/// As [`grant`].
#[cold]
#[inline(never)]
unsafe fn grant_with_care(cown: NonNull<CownHeader>, slot: NonNull<Slot>) {
    // SAFETY: by the caller's word; the request that is not granted yet keeps the cown alive.
    unsafe {
        cown.as_ref().flags.end_overload();
        grant(cown, slot, &mut schedule);
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
