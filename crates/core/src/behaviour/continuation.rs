//! Behaviours on one cown that are created before they are spawned, and wait for a value, such as
//! the answer to a question that the cown has asked. The block is created with the question; the
//! resolver writes the answer into it, and spawns it.

use std::any::type_name;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, offset_of};
use std::ptr::NonNull;

use coact_sync::pool;

use super::single::end;
use crate::body::{Body, NoResult, call_site};
use crate::cown::access_guards::Held;
use crate::cown::handle::Cown;
use crate::cown::member_cursor::MemberCursor;
use crate::cown::set::UncheckedHandle;
use crate::fault::Broken;
use crate::path_coverage::FastPath;
use crate::promise::{PromiseCallback, Resolver};
use crate::queue::enqueue_request::enqueue_single_on_worker;
use crate::queue::header::Flags;
use crate::queue::live_cown::LiveCown;
use crate::queue::overload;
use crate::queue::release::release_to_next;
use crate::queue::requested_cown::RequestedCown;
use crate::queue::single_block::{Single, link};
use crate::queue::slot::Slot;
use crate::sched::context;
use crate::simulated;
use crate::task::{RunContext, TaskPtr, TaskVTable};

/// What a cown does with a value when it comes.
pub trait Continuation<R>: Send + Sized + 'static {
    /// The cown's state.
    type State: Send + 'static;

    /// Handles the value, in an [unchecked](Cown::unchecked) behaviour on the cown.
    fn run(self, held: Held<'_, Self::State>, value: Result<R, Broken>);

    /// Spawns a behaviour that does the same as [`run`](Self::run). Called instead of that if the
    /// cown is not [plain](Cown::is_plain) or is in a group, or if the value does not come from a
    /// worker.
    fn spawn(self, cown: Cown<Self::State>, value: Result<R, Broken>);
}

/// Creates a resolver that spawns a behaviour with its value, or with the reason why there is none.
/// The behaviour is ordered as spawned at that time; its block is allocated now.
///
/// **Cost.** That of a behaviour on one cown if a worker resolves it.
#[inline]
pub fn resolver_spawning<R: Send + 'static, K: Continuation<R>>(
    cown: Cown<K::State>,
    continuation: K,
) -> Resolver<R> {
    // A simulation knows a behaviour from the time it is spawned.
    if simulated::is_active() {
        return Resolver::calling(move |value| continuation.spawn(cown, value));
    }
    // SAFETY: the block is new, so no other resolver has it. The cown's handle, the continuation
    // and the value are `Send`.
    unsafe { Resolver::of_callback(WaitingContinuation::allocate(cown, continuation)) }
}

/// The body of such a behaviour. The resolver points to its head.
#[repr(C)]
struct ContinuationBody<R, K> {
    head: PromiseCallback<R>,
    continuation: ManuallyDrop<K>,
}

/// A behaviour that waits for its value. It owns a handle of the cown, by its request.
struct WaitingContinuation<R, K>(PhantomData<(R, K)>);

impl<R: Send + 'static, K: Continuation<R>> WaitingContinuation<R, K> {
    const VTABLE: TaskVTable =
        TaskVTable::new(Self::run, link, type_name::<K>).with_backlog(&overload::BACKLOG);

    #[inline]
    fn allocate(cown: Cown<K::State>, continuation: K) -> NonNull<PromiseCallback<R>> {
        // SAFETY: the handle is the node's from here on, and keeps the cown alive until that runs.
        let cown = unsafe { ManuallyDrop::new(cown).live_cown() };
        let parts = ContinuationBody {
            head: PromiseCallback::new(Self::resolved),
            continuation: ManuallyDrop::new(continuation),
        };
        let block = pool::alloc(Single::<ContinuationBody<R, K>>::LAYOUT);
        let slot = Slot::beginning(RequestedCown::checked(cown));
        // SAFETY: the block was just allocated with this layout.
        let node = unsafe { Single::fill(block, slot, &Self::VTABLE, parts) };
        Single::body(node).cast()
    }

    /// Spawns the behaviour, whose value has come.
    ///
    /// # Safety
    /// The callback comes from `allocate`, and has its value. The caller owns the block exclusively
    /// and must not use it afterwards.
    unsafe fn resolved(callback: NonNull<PromiseCallback<R>>) {
        // SAFETY: the callback is the head of the body, which is this far behind the start of its
        // node, and the pointer was derived from that of the node. The node's handle keeps the cown
        // alive until the behaviour has run; the request was begun for this member, and is
        // unqueued.
        unsafe {
            let node = callback.byte_sub(offset_of!(Single<ContinuationBody<R, K>>, body)).cast();
            PromiseCallback::end(callback);
            let cown = Single::slot(node).slot().member().live_cown();
            let is_plain = !cown.header().has(Flags::CLOSED | Flags::SLOW_PATH | Flags::GROUPED);
            match context::worker() {
                Some(worker) if is_plain => {
                    FastPath::Continued.take();
                    enqueue_single_on_worker(
                        worker,
                        node.cast(),
                        RequestedCown::checked(cown),
                        cown,
                    );
                }
                // A model has no workers.
                None if is_plain && cfg!(loom) => Single::spawn(node),
                _ => Self::spawn_elsewhere(node, cown),
            }
        }
    }

    /// Spawns another behaviour instead of this one.
    ///
    /// # Safety
    /// The node has its value, and owns a handle of this cown. The caller owns the node exclusively
    /// and must not use it afterwards.
    #[inline(never)]
    unsafe fn spawn_elsewhere(node: NonNull<Single<ContinuationBody<R, K>>>, cown: LiveCown) {
        // SAFETY: the caller owns the node; its content is taken once, before it is freed, and so
        // is the handle that `allocate` left to it.
        let ((continuation, value), cown) = unsafe {
            let taken = Self::take(node);
            Single::free(node);
            (taken, Cown::from_header(cown))
        };
        continuation.spawn(cown, value);
    }

    /// Moves the continuation and the value out.
    ///
    /// # Safety
    /// The node has its value. The caller owns the body exclusively, and it is taken once.
    #[inline(always)]
    unsafe fn take(node: NonNull<Single<ContinuationBody<R, K>>>) -> (K, Result<R, Broken>) {
        let parts = Single::body(node);
        // SAFETY: the caller owns the body, whose value is initialised, and takes both parts once.
        unsafe {
            let continuation = ManuallyDrop::take(&mut (*parts.as_ptr()).continuation);
            (continuation, PromiseCallback::take_value(parts.cast()))
        }
    }

    /// # Safety
    /// The task is ready, of this type, and run once.
    unsafe fn run(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        let node = task.cast::<Single<ContinuationBody<R, K>>>();
        // SAFETY: a ready single holds its cown. The node stays in the queue, where a successor may
        // write its `next`, until it is released; then this thread owns it exclusively. The
        // closure, which takes the content, is called once. The handle that the set of the body
        // owns is that of the node.
        unsafe {
            let slot = Single::slot(node);
            let member = slot.slot().member();
            if member.header().flags.may_be_refused(context) {
                return Self::run_with_care(node, context);
            }
            let closure = move |held: Held<'_, K::State>| {
                let (continuation, value) = Self::take(node);
                continuation.run(held, value);
            };
            let body = Body::<UncheckedHandle<K::State>, _, NoResult>::new((), closure, NoResult);
            if let Err(panicked) =
                body.call::<{ call_site::QUEUE }>(&mut MemberCursor::single(&member))
            {
                let ended =
                    panicked.tell(type_name::<K>, &MemberCursor::single(&member), context.home);
                return end(node, ended, context);
            }
            let successor = release_to_next::<true>(slot, member.live_cown(), &context.home);
            pool::dealloc_and_return(
                node.cast(),
                Single::<ContinuationBody<R, K>>::LAYOUT,
                successor,
            )
        }
    }

    /// Runs a behaviour that may have to be refused.
    ///
    /// # Safety
    /// See `run`.
    #[cold]
    #[inline(never)]
    unsafe fn run_with_care(
        node: NonNull<Single<ContinuationBody<R, K>>>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: the behaviour holds its cown, and its content is taken once. The handle that the
        // set of the body owns, and drops if it is refused, is that of the node; see `run`.
        unsafe {
            let member = Single::slot(node).slot().member();
            let (continuation, value) = Self::take(node);
            let closure = move |held: Held<'_, K::State>| continuation.run(held, value);
            let body = Body::<UncheckedHandle<K::State>, _, NoResult>::new((), closure, NoResult);
            let ended = body.execute_outlined(MemberCursor::single(&member), context);
            end(node, ended, context)
        }
    }
}

#[cfg(all(test, loom))]
mod loom;
#[cfg(all(test, not(loom)))]
mod tests;
