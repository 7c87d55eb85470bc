//! Behaviours that hold one cown exclusively: the common case of a message.
//!
//! One block from the pool: the task header (8 bytes), the request (16 bytes), the body. There is
//! no count, since the token of the one cown is all that the behaviour waits for.

use crate::queue::enqueue_request::{enqueue_single_anywhere, enqueue_single_on_worker};
use crate::queue::live_slot::LiveSlot;
use crate::queue::single_block::{Single, link, link_in_group, take};
use std::any::type_name;
use std::iter;
use std::marker::PhantomData;
use std::ptr::NonNull;

use coact_sync::pool;

use crate::body::{
    BehaviourName, Body, BodyOutcome, Completion, NamedCompletion, NoResult, PanickedBody,
    call_site,
};
use crate::cown::member_cursor::MemberCursor;
use crate::cown::set::CownSet;
use crate::group::run_ring;
use crate::group::run_ring::run_forgetting_in_group;
use crate::queue::group_header::HoldingRequest;
use crate::queue::header::Flags;
use crate::queue::overload;
use crate::queue::release::{release_exclusive, release_to_next};
use crate::queue::requested_cown::RequestedCown;
use crate::queue::slot::Slot;
use crate::sched::Successor;
use crate::sched::worker::Worker;
use crate::task::{GroupTaskFns, RunContext, TaskPtr, TaskVTable};

/// A single with its body type, which determines its functions.
pub(crate) struct SingleBehaviour<S: CownSet, F, C>(Single<Body<S, F, C>>);

impl<S, F, C> SingleBehaviour<S, F, C>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    pub(crate) const VTABLE: TaskVTable = Self::vtable(type_name::<F>);
    const VTABLE_IN_GROUP: TaskVTable = Self::vtable_in_group(type_name::<F>);

    const fn vtable(name: BehaviourName) -> TaskVTable {
        TaskVTable::new(Self::run, link, name)
            .with_own_name(Self::OWN_NAME)
            .with_backlog(&overload::BACKLOG)
    }

    const fn vtable_in_group(name: BehaviourName) -> TaskVTable {
        TaskVTable::new(Self::RUN_IN_GROUP, link_in_group, name)
            .with_own_name(Self::OWN_NAME)
            .in_group(Self::HALVES)
    }

    const OWN_NAME: Option<unsafe fn(TaskPtr) -> BehaviourName> =
        if C::MAY_RENAME { Some(Self::own_name) } else { None };

    const RUN_IN_GROUP: unsafe fn(TaskPtr, &RunContext) -> Option<TaskPtr> =
        if C::FORGETS { run_forgetting_in_group } else { Self::run_in_group };
    const HALVES: GroupTaskFns = GroupTaskFns { body: Self::run_body, dispose: Self::dispose };

    #[inline]
    pub(crate) fn allocate(
        member: RequestedCown,
        body: Body<S, F, C>,
    ) -> NonNull<Single<Body<S, F, C>>> {
        Self::allocate_with(&Self::VTABLE, member, body)
    }

    /// The same with other functions.
    #[inline]
    pub(super) fn allocate_with(
        vtable: &'static TaskVTable,
        member: RequestedCown,
        body: Body<S, F, C>,
    ) -> NonNull<Single<Body<S, F, C>>> {
        let node = Single::allocate(member, vtable, body);
        // SAFETY: this thread owns the new node, and the caller's set keeps the cown alive.
        unsafe { Self::note(node, member) };
        node
    }

    /// Spawns a behaviour on a cown that is in no group.
    ///
    /// # Safety
    /// The body is for the member, and a handle of the caller keeps the cown alive.
    #[inline]
    pub(crate) unsafe fn spawn_by(worker: &Worker, member: RequestedCown, body: Body<S, F, C>) {
        let Some(block) = pool::try_alloc(Single::<Body<S, F, C>>::LAYOUT) else {
            // SAFETY: the conditions are those of this function.
            return unsafe { Self::spawn_refilled(worker, member, body) };
        };
        // SAFETY: the block was just allocated with this layout; the body is for the member, whose
        // cown is alive.
        unsafe { Self::spawn_in(block, worker, member, body) };
    }

    /// The same if the thread has no block at hand.
    ///
    /// # Safety
    /// See [`spawn_by`](Self::spawn_by).
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn spawn_refilled(
        worker: &Worker,
        member: RequestedCown,
        body: Body<S, F, C>,
    ) {
        let block = pool::alloc(Single::<Body<S, F, C>>::LAYOUT);
        // SAFETY: the block was just allocated with this layout; the body is for the member, whose
        // cown is alive.
        unsafe { Self::spawn_in(block, worker, member, body) };
    }

    /// The same on any thread. (A worker that spawns this way is not throttled.)
    ///
    /// # Safety
    /// See [`spawn_by`](Self::spawn_by).
    #[inline(never)]
    pub(super) unsafe fn spawn_anywhere(member: RequestedCown, body: Body<S, F, C>) {
        let node = Self::allocate(member, body);
        // SAFETY: this thread owns the node, and the cown is alive and in no group.
        unsafe { enqueue_single_anywhere(Single::slot(node)) };
    }

    /// # Safety
    /// See [`spawn_by`](Self::spawn_by) and [`Single::fill`].
    #[inline(always)]
    unsafe fn spawn_in(
        block: NonNull<u8>,
        worker: &Worker,
        member: RequestedCown,
        body: Body<S, F, C>,
    ) {
        // SAFETY: the block has the layout of the node, and the cown is alive. If the queue was
        // empty, the request in it keeps the cown alive while this thread has the token.
        unsafe {
            let node = Single::fill(block, Slot::beginning(member), &Self::VTABLE, body);
            Self::note(node, member);
            enqueue_single_on_worker(worker, node.cast(), member, member.live_cown());
        }
    }

    /// [`allocate`](Self::allocate) for a member of a group; returns the request.
    #[inline]
    pub(crate) fn allocate_in_group(member: RequestedCown, body: Body<S, F, C>) -> LiveSlot {
        let node = Self::allocate_with(&Self::VTABLE_IN_GROUP, member, body);
        // SAFETY: the node is new, and live until the caller has given the request away.
        unsafe { Single::slot(node) }
    }

    /// Tells the simulation which queue the behaviour is in.
    ///
    /// # Safety
    /// The caller owns the node, and the cown is alive.
    #[inline(always)]
    unsafe fn note(node: NonNull<Single<Body<S, F, C>>>, member: RequestedCown) {
        // SAFETY: the caller owns the node, and the cown is alive.
        unsafe {
            let body = &(*node.as_ptr()).body;
            body.spawned.stands_in(node.addr().get(), queue_of(member));
        }
    }

    /// # Safety
    /// The task is ready, of this type, and has not run.
    unsafe fn own_name(task: TaskPtr) -> BehaviourName {
        let node = task.cast::<Single<Body<S, F, C>>>();
        // SAFETY: the task has not run, so its body is there.
        unsafe { &(*node.as_ptr()).body }.name()
    }

    /// # Safety
    /// The task is ready, of this type, and run once.
    unsafe fn run(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        let node = task.cast::<Single<Body<S, F, C>>>();
        // SAFETY: a ready single holds its cown. The node stays in the queue, where a successor may
        // write its `next`, until it is released; then this thread owns it exclusively.
        unsafe {
            let slot = Single::slot(node);
            let member = slot.slot().member();
            if member.header().flags.may_be_refused(context) {
                return Self::run_with_care(node, context);
            }
            if const { S::KIND.may_have_place }
                && member.header().has(Flags::PLACED)
                && let Some(place) = S::place(&mut MemberCursor::single(&member))
                && !place.is_current()
                && place.run(task).is_ok()
            {
                // It runs there. The cown stays held by it.
                return None;
            }
            let body = take(&mut (*node.as_ptr()).body);
            match body.call::<{ call_site::QUEUE }>(&mut MemberCursor::single(&member)) {
                Ok((completion, value)) => {
                    let (cown, layout) = (member.live_cown(), Single::<Body<S, F, C>>::LAYOUT);
                    if C::FORGETS {
                        let successor = release_to_next::<true>(slot, cown, &context.home);
                        return pool::dealloc_and_return(node.cast(), layout, successor);
                    }
                    // The result is delivered before the state's destructor runs.
                    let successor = release_to_next::<false>(slot, cown, &context.home);
                    pool::dealloc(node.cast(), layout);
                    BodyOutcome::Done(completion, value).deliver();
                    successor
                }
                Err(panicked) => Self::end_panicked(node, panicked, context),
            }
        }
    }

    /// Handles a body that has panicked.
    ///
    /// # Safety
    /// See [`end`](Self::end).
    #[cold]
    #[inline(never)]
    unsafe fn end_panicked(
        node: NonNull<Single<Body<S, F, C>>>,
        panicked: PanickedBody<C>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: the behaviour holds its cown, and its body was taken.
        unsafe {
            let member = Single::slot(node).slot().member();
            let ended = panicked.tell(type_name::<F>, &MemberCursor::single(&member), context.home);
            end(node, ended, context)
        }
    }

    /// Runs a behaviour that may have to be refused.
    ///
    /// # Safety
    /// See `run`.
    #[cold]
    #[inline(never)]
    unsafe fn run_with_care(
        node: NonNull<Single<Body<S, F, C>>>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: the behaviour holds its cown; see `run`.
        unsafe {
            let ended = Self::execute(node, context);
            end(node, ended, context)
        }
    }

    /// Runs a behaviour on a member of a group, and then the ring.
    ///
    /// # Safety
    /// See `run`.
    unsafe fn run_in_group(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        let node = task.cast::<Single<Body<S, F, C>>>();
        // SAFETY: the task is ready, so it holds the group, and its request is the head of the
        // leader's queue.
        unsafe {
            let slot = Single::slot(node);
            let leader = slot.slot().member().queue();
            run_ring::run(leader, HoldingRequest::new(slot, task, Self::dispose), context, || {
                Self::execute(node, context)
            })
        }
    }

    /// # Safety
    /// The behaviour of the node holds its cown, and is run once.
    unsafe fn execute(
        node: NonNull<Single<Body<S, F, C>>>,
        context: &RunContext,
    ) -> BodyOutcome<C> {
        // SAFETY: the behaviour holds its cown, and its body is taken once.
        unsafe {
            let member = Single::slot(node).slot().member();
            take(&mut (*node.as_ptr()).body)
                .execute_outlined(MemberCursor::single(&member), context)
        }
    }

    /// # Safety
    /// See [`GroupTaskFns::body`].
    unsafe fn run_body(task: TaskPtr, context: &RunContext) {
        // SAFETY: the behaviour holds its group, and is run once.
        unsafe { Self::execute(task.cast(), context) }.deliver();
    }

    /// # Safety
    /// The task is of this type, and has run and left its queue.
    unsafe fn dispose(task: TaskPtr) {
        // SAFETY: the task has left its queue, so this thread owns the node, and its body was
        // taken.
        unsafe { pool::dealloc(task.cast(), Single::<Body<S, F, C>>::LAYOUT) };
    }
}

/// The functions of behaviours on one cown that are reported under another name than that of their
/// closure's type.
pub(crate) struct NamedVTables<S, F> {
    pub(super) name: BehaviourName,
    pub(super) alone: &'static TaskVTable,
    pub(super) in_group: &'static TaskVTable,
    of: PhantomData<fn(S, F)>,
}

impl<S, F> NamedVTables<S, F>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send,
{
    /// Those with the name of type `N`.
    #[inline]
    pub(crate) fn of<N: ?Sized>() -> Self {
        Self {
            name: type_name::<N>,
            alone: const { &SingleBehaviour::<S, F, NamedCompletion<NoResult>>::vtable(type_name::<N>) },
            in_group: const {
                &SingleBehaviour::<S, F, NamedCompletion<NoResult>>::vtable_in_group(type_name::<N>)
            },
            of: PhantomData,
        }
    }
}

/// The queue of a member, as the simulation knows it. (An iterator made where the body is known
/// would have a type of its own for each, with a table of all functions of iterators.)
fn queue_of(member: RequestedCown) -> impl Iterator<Item = usize> {
    iter::once_with(move || member.queue().address())
}

/// Releases the cown after the body, frees the block, and delivers the outcome.
///
/// # Safety
/// The behaviour holds its cown, and its body was taken.
#[cold]
pub(super) unsafe fn end<B, C: Completion>(
    node: NonNull<Single<B>>,
    ended: BodyOutcome<C>,
    context: &RunContext,
) -> Option<TaskPtr> {
    let mut successor = Successor::new(context.home);
    // SAFETY: the behaviour holds its cown until it is released here; then this thread owns the
    // node, whose body was taken.
    unsafe {
        release_exclusive(Single::slot(node), &mut successor);
        Single::free(node);
    }
    ended.deliver();
    successor.take()
}
