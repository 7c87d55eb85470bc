//! Behaviours on one cown, held exclusively: the shape of a message.
//!
//! One block from the pool: the task header (8 bytes), the request (16 bytes), the body. Nothing is
//! counted, since the token of the one cown is all that the behaviour waits for.

use std::alloc::Layout;
use std::any::type_name;
use std::iter;
use std::mem::{ManuallyDrop, offset_of};
use std::ptr::NonNull;

use coact_sync::pool;
use coact_sync::shim::atomic::AtomicPtr;

use super::append::append_single;
use super::body::{Body, Completion, Ended, take};
use super::grant::grant;
use super::release::release_exclusive;
use super::slot::Slot;
use super::task::{InGroup, RunContext, Task, TaskPtr, TaskVTable};
use crate::cown::access::Cursor;
use crate::cown::header::Member;
use crate::cown::set::CownSet;
use crate::group::turn::{self, Anchor};
use crate::sched::{Successor, schedule};

/// The front of every one-cown behaviour, whatever its body.
#[repr(C)]
struct Front {
    task: Task,
    slot: Slot,
}

#[repr(C)]
pub(crate) struct Single<B> {
    front: Front,
    body: ManuallyDrop<B>,
}

/// The task that a request belongs to.
///
/// # Safety
/// The slot lies in a [`Single`].
#[inline]
pub(crate) unsafe fn single_task(slot: NonNull<Slot>) -> TaskPtr {
    // SAFETY: the slot lies this far behind the start of a `Front`, by the caller's word.
    unsafe { slot.byte_sub(offset_of!(Front, slot)) }.cast()
}

impl<B> Single<B> {
    const LAYOUT: Layout = Layout::new::<Self>();

    /// Puts a one-cown task into a block from the pool.
    #[inline]
    pub(crate) fn allocate(member: Member, vtable: &'static TaskVTable, body: B) -> NonNull<Self> {
        let node = pool::alloc(Self::LAYOUT).cast::<Self>();
        let front = Front { task: Task { vtable }, slot: Slot::new(member) };
        // SAFETY: the block is fresh and has the layout of the node.
        unsafe { node.write(Self { front, body: ManuallyDrop::new(body) }) };
        node
    }

    /// Takes the body out and gives the block back.
    ///
    /// # Safety
    /// The node is the caller's alone; it is gone after this.
    pub(crate) unsafe fn dismantle(node: NonNull<Self>) -> B {
        // SAFETY: alone, and taken once: the node is freed below.
        unsafe {
            let body = take(&mut (*node.as_ptr()).body);
            pool::dealloc(node.cast(), Self::LAYOUT);
            body
        }
    }

    #[inline]
    pub(crate) fn slot(node: NonNull<Self>) -> NonNull<Slot> {
        // SAFETY: the field lies inside the node's block.
        unsafe { NonNull::new_unchecked(&raw mut (*node.as_ptr()).front.slot) }
    }

    /// Spawns the node's task on its cown, which is in no group.
    ///
    /// # Safety
    /// The node is the caller's alone, and is given away. The cown is alive.
    #[inline]
    pub(crate) unsafe fn spawn(node: NonNull<Self>) {
        let slot = Self::slot(node);
        // SAFETY: the node is ours, and the cown alive: by a handle of the caller's, or until this very
        // request, its last, has run. When the queue was empty the request, which stands in it, keeps
        // the cown alive while we have the token.
        unsafe {
            let cown = slot.as_ref().member().header_ptr();
            if append_single(cown.as_ref(), slot) {
                grant(cown, slot, &mut schedule);
            }
        }
    }
}

/// A one-cown task links through the `waiter` word of its cown: nobody waits for readers while the
/// cown is held exclusively, and so the task itself need not be longer.
pub(crate) unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: a one-cown task begins with a `Front`, and, being ready, holds its cown.
    unsafe { NonNull::from(&task.cast::<Front>().as_ref().slot.member().header().waiter) }
}

/// The same for a member of a group: the group is held.
pub(crate) unsafe fn link_in_group(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: as above; the leader's header has the queue.
    unsafe { NonNull::from(&task.cast::<Front>().as_ref().slot.member().header().queue().waiter) }
}

/// The same for a request that stands in no queue: its own place in one.
pub(crate) unsafe fn link_unqueued(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: a one-cown task begins with a `Front`; what the pointers point to is a matter of their
    // users.
    unsafe { NonNull::from(&task.cast::<Front>().as_ref().slot.next).cast() }
}

/// A one-cown behaviour with its body type, which gives it its functions.
pub(crate) struct SingleBehaviour<S: CownSet, F, C>(Single<Body<S, F, C>>);

impl<S, F, C> SingleBehaviour<S, F, C>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    pub(crate) const VTABLE: TaskVTable =
        TaskVTable { run: Self::run, link, in_group: None, name: type_name::<F>, attended: None };

    const VTABLE_IN_GROUP: TaskVTable = TaskVTable {
        run: Self::run_in_group,
        link: link_in_group,
        in_group: Some(Self::HALVES),
        name: type_name::<F>,
        attended: None,
    };
    const HALVES: InGroup = InGroup { body: Self::run_body, dispose: Self::dispose };

    #[inline]
    pub(crate) fn allocate(member: Member, body: Body<S, F, C>) -> NonNull<Single<Body<S, F, C>>> {
        let node = Single::allocate(member, &Self::VTABLE, body);
        // SAFETY: ours alone, and the cown alive by the caller's set.
        unsafe { Self::note(node, member) };
        node
    }

    /// The same on a member of a group; returns the request.
    #[inline]
    pub(crate) fn allocate_in_group(member: Member, body: Body<S, F, C>) -> NonNull<Slot> {
        let vtable = &Self::VTABLE_IN_GROUP;
        let node = Single::allocate(member, vtable, body);
        // SAFETY: as above.
        unsafe { Self::note(node, member) };
        Single::slot(node)
    }

    /// Tells the simulation where the behaviour stands.
    ///
    /// # Safety
    /// The node is the caller's alone, and the cown alive.
    #[inline(always)]
    unsafe fn note(node: NonNull<Single<Body<S, F, C>>>, member: Member) {
        // SAFETY: by the caller's word, both.
        unsafe {
            let queue = iter::once_with(|| member.queue_ptr().addr().get());
            let body = &(*node.as_ptr()).body;
            body.spawned.stands_in(node.addr().get(), queue);
        }
    }

    /// # Safety
    /// The task is ready, of this type, and run once.
    unsafe fn run(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        let node = task.cast::<Single<Body<S, F, C>>>();
        let slot = Single::slot(node);
        let mut successor = Successor::new(context.home);
        // SAFETY: a ready one-cown behaviour holds its cown. The node stays in the queue, where a
        // successor may write to its `next`, until it is released; then it is ours alone.
        let ended = unsafe {
            let body = take(&mut (*node.as_ptr()).body);
            let ended = body.execute(Cursor::single(&slot.as_ref().member()), context);
            release_exclusive(slot, &mut successor);
            pool::dealloc(node.cast(), Single::<Body<S, F, C>>::LAYOUT);
            ended
        };
        ended.deliver();
        successor.take()
    }

    /// Runs a behaviour on a member of a group, and what it leaves in the ring.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn run_in_group(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        let node = task.cast::<Single<Body<S, F, C>>>();
        let slot = Single::slot(node);
        // SAFETY: as in `run`; the request of a task that is ready is the head of the leader's queue.
        unsafe {
            let leader = slot.as_ref().member().queue_ptr();
            turn::run(leader, Anchor::new(slot, task, Self::dispose), context, || {
                Self::execute(node, context)
            })
        }
    }

    /// # Safety
    /// The node's behaviour holds its cown, and is run once.
    unsafe fn execute(node: NonNull<Single<Body<S, F, C>>>, context: &RunContext) -> Ended<C> {
        // SAFETY: by the caller's word.
        unsafe {
            let member = Single::slot(node).as_ref().member();
            take(&mut (*node.as_ptr()).body).execute_outlined(Cursor::single(&member), context)
        }
    }

    /// # Safety
    /// As for every [`InGroup::body`].
    unsafe fn run_body(task: TaskPtr, context: &RunContext) {
        // SAFETY: by the caller's word.
        unsafe { Self::execute(task.cast(), context) }.deliver();
    }

    /// # Safety
    /// The task is of this type, and has run and left its queue.
    unsafe fn dispose(task: TaskPtr) {
        // SAFETY: the node is ours alone, and its body was taken.
        unsafe { pool::dealloc(task.cast(), Single::<Body<S, F, C>>::LAYOUT) };
    }
}
