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

use super::body::{Body, Completion, Ended, Forget, Panicked, take};
use crate::cown::access::Cursor;
use crate::cown::set::CownSet;
use crate::group::turn::{self, Anchor};
use crate::ids::RuntimeId;
use crate::paths::Path;
use crate::queue::append::append_begun;
use crate::queue::grant::grant;
use crate::queue::header::{CownHeader, Member};
use crate::queue::overload;
use crate::queue::release::{release_exclusive, release_to_next};
use crate::queue::slot::Slot;
use crate::sched::worker::Worker;
use crate::sched::{Successor, guest, schedule};
use crate::task::{InGroup, RunContext, Task, TaskPtr, TaskVTable};

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
        let block = pool::alloc(Self::LAYOUT);
        // SAFETY: made for this layout, just now.
        unsafe { Self::fill(block, Slot::new(member), vtable, body) }
    }

    /// # Safety
    /// The block is fresh, and has the layout of the node.
    #[inline(always)]
    unsafe fn fill(
        block: NonNull<u8>,
        slot: Slot,
        vtable: &'static TaskVTable,
        body: B,
    ) -> NonNull<Self> {
        let node = block.cast::<Self>();
        let front = Front { task: Task { vtable }, slot };
        // SAFETY: by the caller's word.
        unsafe { node.write(Self { front, body: ManuallyDrop::new(body) }) };
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
        unsafe { NonNull::new_unchecked(&raw mut (*node.as_ptr()).front.slot) }
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
pub(crate) unsafe fn launch_as_guest(slot: NonNull<Slot>) {
    // SAFETY: by the caller's word.
    unsafe {
        let home = slot.as_ref().member().header().home();
        guest::visit(home, || launch(slot));
    }
}

/// The same by a worker, of a task in a [`Single`] whose request was made as [beginning](Slot::beginning) for this member
/// of this cown. What is rare is called, last of all: so it is a few instructions, fewer than a call of them would take
/// along with what a call forgets.
///
/// # Safety
/// As [`launch`].
#[inline(always)]
unsafe fn launch_by(worker: &Worker, task: TaskPtr, member: Member, cown: NonNull<CownHeader>) {
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
    // SAFETY: a one-cown task begins with a `Front`, and, being ready, holds its cown.
    unsafe { NonNull::from(&task.cast::<Front>().as_ref().slot.member().header().waiter) }
}

/// The request of a one-cown task.
#[inline]
pub(crate) unsafe fn request(task: TaskPtr) -> NonNull<Slot> {
    // SAFETY: a one-cown task begins with a `Front`.
    unsafe { NonNull::from(&task.cast::<Front>().as_ref().slot) }
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

/// Runs a task on a member of a group, and what it leaves in the ring: one whose result nobody waits for, of any type.
///
/// # Safety
/// The task is ready, lies in a [`Single`], has halves, and is run once.
pub(crate) unsafe fn run_forgetting_in_group(
    task: TaskPtr,
    context: &RunContext,
) -> Option<TaskPtr> {
    // SAFETY: by the caller's word; the request of a task that is ready is the head of the leader's queue.
    unsafe {
        let slot = request(task);
        let leader = slot.as_ref().member().queue_ptr();
        let halves = task.as_ref().vtable.in_group.unwrap_unchecked();
        turn::run(leader, Anchor::new(slot, task, halves.dispose), context, || {
            (halves.body)(task, context);
            Ended::Done(Forget, ())
        })
    }
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
        TaskVTable::new(Self::run, link, type_name::<F>).with_backlog(&overload::BACKLOG);

    const VTABLE_IN_GROUP: TaskVTable =
        TaskVTable::new(Self::RUN_IN_GROUP, link_in_group, type_name::<F>).in_group(Self::HALVES);
    const RUN_IN_GROUP: unsafe fn(TaskPtr, &RunContext) -> Option<TaskPtr> =
        if C::FORGETS { run_forgetting_in_group } else { Self::run_in_group };
    const HALVES: InGroup = InGroup { body: Self::run_body, dispose: Self::dispose };

    #[inline]
    pub(crate) fn allocate(member: Member, body: Body<S, F, C>) -> NonNull<Single<Body<S, F, C>>> {
        let node = Single::allocate(member, &Self::VTABLE, body);
        // SAFETY: ours alone, and the cown alive by the caller's set.
        unsafe { Self::note(node, member) };
        node
    }

    /// Spawns a behaviour on a cown that is in no group.
    ///
    /// # Safety
    /// The body is for the member, whose cown a handle of the caller's keeps alive.
    #[inline]
    pub(crate) unsafe fn spawn_by(worker: &Worker, member: Member, body: Body<S, F, C>) {
        let Some(block) = pool::try_alloc(Single::<Body<S, F, C>>::LAYOUT) else {
            // SAFETY: by the caller's word.
            return unsafe { Self::spawn_refilled(worker, member, body) };
        };
        // SAFETY: the block was made for this layout; the rest by the caller's word.
        unsafe { Self::spawn_in(block, worker, member, body) };
    }

    /// The same where the thread has no block at hand.
    ///
    /// # Safety
    /// As [`spawn_by`](Self::spawn_by).
    #[cold]
    #[inline(never)]
    unsafe fn spawn_refilled(worker: &Worker, member: Member, body: Body<S, F, C>) {
        let block = pool::alloc(Single::<Body<S, F, C>>::LAYOUT);
        // SAFETY: as in `spawn_by`.
        unsafe { Self::spawn_in(block, worker, member, body) };
    }

    /// # Safety
    /// As [`spawn_by`](Self::spawn_by), and as [`Single::fill`].
    #[inline(always)]
    unsafe fn spawn_in(block: NonNull<u8>, worker: &Worker, member: Member, body: Body<S, F, C>) {
        // SAFETY: by the caller's word. When the queue was empty the request, which stands in it, keeps the cown
        // alive while we have the token.
        unsafe {
            let node = Single::fill(block, Slot::beginning(member), &Self::VTABLE, body);
            Self::note(node, member);
            launch_by(worker, node.cast(), member, member.header_ptr());
        }
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
        // SAFETY: a ready one-cown behaviour holds its cown. The node stays in the queue, where a
        // successor may write to its `next`, until it is released; then it is ours alone.
        unsafe {
            let member = slot.as_ref().member();
            if member.header().flags.may_be_refused(context) {
                return Self::run_with_care(node, context);
            }
            let body = take(&mut (*node.as_ptr()).body);
            match body.call(&mut Cursor::single(&member)) {
                Ok((completion, value)) => {
                    let (cown, layout) = (member.header_ptr(), Single::<Body<S, F, C>>::LAYOUT);
                    if C::FORGETS {
                        let successor = release_to_next::<true>(slot, cown, &context.home);
                        return pool::dealloc_and_return(node.cast(), layout, successor);
                    }
                    // The result is delivered before the state's destructor runs.
                    let successor = release_to_next::<false>(slot, cown, &context.home);
                    pool::dealloc(node.cast(), layout);
                    Ended::Done(completion, value).deliver();
                    successor
                }
                Err(panicked) => Self::end_panicked(node, panicked, context),
            }
        }
    }

    /// What comes after a body that has panicked.
    ///
    /// # Safety
    /// As [`end`](Self::end).
    #[cold]
    #[inline(never)]
    unsafe fn end_panicked(
        node: NonNull<Single<Body<S, F, C>>>,
        panicked: Panicked<C>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: by the caller's word.
        unsafe {
            let member = Single::slot(node).as_ref().member();
            let ended = panicked.tell::<F>(&Cursor::single(&member), context.home);
            Self::end(node, ended, context)
        }
    }

    /// The same for a behaviour that may have to be refused.
    ///
    /// # Safety
    /// As for `run`.
    #[cold]
    #[inline(never)]
    unsafe fn run_with_care(
        node: NonNull<Single<Body<S, F, C>>>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: as in `run`.
        unsafe {
            let ended = Self::execute(node, context);
            Self::end(node, ended, context)
        }
    }

    /// What comes after the body.
    ///
    /// # Safety
    /// The behaviour holds its cown, and its body was taken.
    #[cold]
    unsafe fn end(
        node: NonNull<Single<Body<S, F, C>>>,
        ended: Ended<C>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        let mut successor = Successor::new(context.home);
        // SAFETY: by the caller's word.
        unsafe {
            release_exclusive(Single::slot(node), &mut successor);
            pool::dealloc(node.cast(), Single::<Body<S, F, C>>::LAYOUT);
        }
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
