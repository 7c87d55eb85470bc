//! Pairs: behaviours that hold two cowns exclusively, neither pinned nor in a group. A pair is a
//! [`Multi`] whose length is a compile-time constant, so nothing is counted, collected or sorted.
//! Other modules see only a `Multi`.

mod eligible;
mod launch;
mod release;
mod slots;

use std::alloc::Layout;
use std::any::type_name;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use coact_sync::pool;

use crate::body::{BehaviourName, Body, BodyOutcome, Completion, PanickedBody, call_site};
use crate::cown::set::CownSet;
use crate::queue::multi_block::{LiveMulti, Multi, MultiSlot, link};
use crate::queue::requested_cown::RequestedCown;
use crate::queue::single_block::take;
use crate::task::{RunContext, TaskPtr, TaskVTable};
use launch::launch;
use release::release;
use slots::{cursor, may_be_refused, prefetch_successors};

pub(super) use eligible::{distinct, members, named};

/// One block, like that of any behaviour on two cowns.
#[repr(C)]
struct PairBlock<B> {
    front: Multi,
    slots: [MultiSlot; 2],
    body: ManuallyDrop<B>,
}

impl<B> PairBlock<B> {
    const LAYOUT: Layout = Layout::new::<Self>();
}

/// The functions of a pair of this type.
pub(super) struct PairBehaviour<S: CownSet, F, C>(std::marker::PhantomData<(S, F, C)>);

impl<S, F, C> PairBehaviour<S, F, C>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    const VTABLE: TaskVTable =
        TaskVTable::new(Self::run, link, type_name::<F>).with_own_name(Self::OWN_NAME);
    const OWN_NAME: Option<unsafe fn(TaskPtr) -> BehaviourName> =
        if C::MAY_RENAME { Some(Self::own_name) } else { None };

    /// Spawns a behaviour on two cowns.
    ///
    /// # Safety
    /// They are the [members](members()) of a set of this type, which keeps them alive.
    #[inline]
    pub(super) unsafe fn spawn(members: [RequestedCown; 2], body: Body<S, F, C>) {
        let Some(block) = pool::try_alloc(PairBlock::<Body<S, F, C>>::LAYOUT) else {
            // SAFETY: the conditions are those of this function.
            return unsafe { Self::spawn_refilled(members, body) };
        };
        // SAFETY: the block was just allocated with this layout; the set keeps the members alive.
        unsafe { Self::spawn_in(block, members, body) };
    }

    /// The same if the thread has no block at hand.
    ///
    /// # Safety
    /// See [`spawn`](Self::spawn).
    #[cold]
    #[inline(never)]
    unsafe fn spawn_refilled(members: [RequestedCown; 2], body: Body<S, F, C>) {
        let block = pool::alloc(PairBlock::<Body<S, F, C>>::LAYOUT);
        // SAFETY: the block was just allocated with this layout; the set keeps the members alive.
        unsafe { Self::spawn_in(block, members, body) };
    }

    /// # Safety
    /// See [`spawn`](Self::spawn); the block is unused, and has the layout of the node.
    #[inline(always)]
    unsafe fn spawn_in(block: NonNull<u8>, members: [RequestedCown; 2], body: Body<S, F, C>) {
        let node = block.cast::<PairBlock<Body<S, F, C>>>();
        // By hand and not by `map`, which would be compiled for each type of body.
        let [a, b] = members;
        let slots = [MultiSlot::new(a, node.cast()), MultiSlot::new(b, node.cast())];
        body.spawned.stands_in(node.addr().get(), queues_of(members));
        let front = Multi::new(&Self::VTABLE, 2);
        // SAFETY: the block has the layout of the node, and this thread owns it until `launch`; the
        // members are alive, distinct, and in no group.
        unsafe {
            node.write(PairBlock { front, slots, body: ManuallyDrop::new(body) });
            launch(LiveMulti::new(node.cast()), a.live_cown(), b.live_cown());
        }
    }

    /// # Safety
    /// The task is ready, of this type, and has not run.
    unsafe fn own_name(task: TaskPtr) -> BehaviourName {
        let node = task.cast::<PairBlock<Body<S, F, C>>>();
        // SAFETY: the task has not run, so its body is there.
        unsafe { &(*node.as_ptr()).body }.name()
    }

    /// # Safety
    /// The task is ready, of this type, and run once.
    unsafe fn run(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        let node = task.cast::<PairBlock<Body<S, F, C>>>();
        // SAFETY: a ready behaviour holds its cowns. Its requests stay in their queues, where a
        // successor may write `next`, until they are released one by one; after the last this
        // thread owns the block.
        unsafe {
            let multi = LiveMulti::new(node.cast());
            prefetch_successors(multi);
            let body = take(&mut (*node.as_ptr()).body);
            if may_be_refused(multi, context) {
                return Self::run_with_care(node, body, context);
            }
            match body.call::<{ call_site::QUEUE }>(&mut cursor(multi)) {
                Ok((completion, value)) => {
                    let successor = release(multi, context.home);
                    let layout = PairBlock::<Body<S, F, C>>::LAYOUT;
                    if C::FORGETS {
                        return pool::dealloc_and_return(node.cast(), layout, successor);
                    }
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
        node: NonNull<PairBlock<Body<S, F, C>>>,
        panicked: PanickedBody<C>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: the behaviour still holds its cowns, and its body was taken.
        unsafe {
            let ended =
                panicked.tell(type_name::<F>, &cursor(LiveMulti::new(node.cast())), context.home);
            Self::end(node, ended, context)
        }
    }

    /// Runs a behaviour that may have to be refused.
    ///
    /// # Safety
    /// See `run`; the body is the task's.
    #[cold]
    #[inline(never)]
    unsafe fn run_with_care(
        node: NonNull<PairBlock<Body<S, F, C>>>,
        body: Body<S, F, C>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: the behaviour holds its cowns; see `run`.
        unsafe {
            let ended = body.execute(cursor(LiveMulti::new(node.cast())), context);
            Self::end(node, ended, context)
        }
    }

    /// Releases the cowns after the body, and delivers the outcome.
    ///
    /// # Safety
    /// The behaviour holds its cowns, and its body was taken.
    #[cold]
    unsafe fn end(
        node: NonNull<PairBlock<Body<S, F, C>>>,
        ended: BodyOutcome<C>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: the behaviour holds its cowns until they are released here; then this thread owns
        // the block, whose body was taken.
        let successor = unsafe {
            let successor = release(LiveMulti::new(node.cast()), context.home);
            pool::dealloc(node.cast(), PairBlock::<Body<S, F, C>>::LAYOUT);
            successor
        };
        ended.deliver();
        successor
    }
}

/// The queues of a pair, as the simulation knows them: see [`single`](super::single).
fn queues_of(members: [RequestedCown; 2]) -> impl Iterator<Item = usize> {
    members.into_iter().map(|member| member.live_cown().address())
}
