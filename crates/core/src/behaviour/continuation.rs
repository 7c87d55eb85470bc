//! Behaviours on one cown that are made before they are spawned, and wait for a value: an answer on its way back to the
//! cown that has asked. The block is made with the question; the value is put into it, and then it is spawned.

use std::any::type_name;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, offset_of};
use std::ptr::NonNull;

use coact_sync::pool;

use super::single::end;
use crate::body::{Body, Forget};
use crate::cown::access::Held;
use crate::cown::cursor::Cursor;
use crate::cown::handle::Cown;
use crate::cown::set::UncheckedHandle;
use crate::fault::Broken;
use crate::paths::Path;
use crate::promise::{Call, Resolver};
use crate::queue::header::{CownHeader, Flags};
use crate::queue::member::Member;
use crate::queue::overload;
use crate::queue::release::release_to_next;
use crate::queue::single::{Single, link};
use crate::queue::slot::Slot;
use crate::queue::spawn::launch_by;
use crate::sched::context;
use crate::simulated;
use crate::task::{RunContext, TaskPtr, TaskVTable};

/// What to do with a value on a cown once the value is there.
pub trait Continuation<R>: Send + Sized + 'static {
    /// The cown's state.
    type State: Send + 'static;

    /// Called with the value, in a behaviour on the cown that comes [unchecked](Cown::unchecked).
    fn run(self, held: Held<'_, Self::State>, value: Result<R, Broken>);

    /// Spawns a behaviour that does the same as [`run`](Self::run). Called in place of that where spawning takes more: if the
    /// cown is not [plain](Cown::is_plain), or is in a group, or the value does not come from a worker.
    fn spawn(self, cown: Cown<Self::State>, value: Result<R, Broken>);
}

impl<R: Send + 'static> Resolver<R> {
    /// A resolver that spawns a behaviour with what it is given. The behaviour takes its place in the order of the cown at
    /// that moment; its block is made now.
    ///
    /// **Cost.** That of a behaviour on one cown, if a worker gives the value.
    #[doc(hidden)]
    #[inline]
    pub fn spawning<K: Continuation<R>>(cown: Cown<K::State>, continuation: K) -> Self {
        // The simulation knows behaviours from when they are spawned.
        if simulated::is_active() {
            return Self::calling(move |value| continuation.spawn(cown, value));
        }
        // SAFETY: a fresh block of its own. What it holds is `Send`: the cown's handle, the continuation, the value.
        unsafe { Self::of_call(Waiting::allocate(cown, continuation)) }
    }
}

/// The body of such a behaviour. It begins with what the resolver points to.
#[repr(C)]
struct Parts<R, K> {
    call: Call<R>,
    continuation: ManuallyDrop<K>,
}

/// A behaviour that waits for its value. The handle of the cown is in its request.
struct Waiting<R, K>(PhantomData<(R, K)>);

impl<R: Send + 'static, K: Continuation<R>> Waiting<R, K> {
    const VTABLE: TaskVTable =
        TaskVTable::new(Self::run, link, type_name::<K>).with_backlog(&overload::BACKLOG);

    #[inline]
    fn allocate(cown: Cown<K::State>, continuation: K) -> NonNull<Call<R>> {
        let cown = ManuallyDrop::new(cown).header_ptr();
        let parts = Parts {
            call: Call::new(Self::resolved),
            continuation: ManuallyDrop::new(continuation),
        };
        let block = pool::alloc(Single::<Parts<R, K>>::LAYOUT);
        let slot = Slot::beginning(Member::checked(cown));
        // SAFETY: the block was made for this layout, just now.
        let node = unsafe { Single::fill(block, slot, &Self::VTABLE, parts) };
        Single::body(node).cast()
    }

    /// The value is there.
    ///
    /// # Safety
    /// The call is one of `allocate`'s, and has its value. The caller owns it exclusively, and must not use it afterwards.
    unsafe fn resolved(call: NonNull<Call<R>>) {
        // SAFETY: the body, which begins with the call, lies this far behind the start of its node. The handle in the
        // request keeps the cown alive until the behaviour has run.
        unsafe {
            let node = call.byte_sub(offset_of!(Single<Parts<R, K>>, body)).cast();
            Call::end(call);
            let cown = Single::slot(node).as_ref().member().header_ptr();
            let is_plain = !cown.as_ref().has(Flags::CLOSED | Flags::SLOW_PATH | Flags::GROUPED);
            match context::worker() {
                Some(worker) if is_plain => {
                    Path::Continued.take();
                    launch_by(worker, node.cast(), Member::checked(cown), cown);
                }
                // A model has no workers.
                None if is_plain && cfg!(loom) => Single::spawn(node),
                _ => Self::spawn_elsewhere(node, cown),
            }
        }
    }

    /// Spawns another behaviour in place of this one.
    ///
    /// # Safety
    /// The node has its value, and a handle of this cown. The caller owns it exclusively, and must not use it afterwards.
    #[inline(never)]
    unsafe fn spawn_elsewhere(node: NonNull<Single<Parts<R, K>>>, cown: NonNull<CownHeader>) {
        // SAFETY: what is in the node is taken once, before it is freed; the handle was left to it.
        let ((continuation, value), cown) = unsafe {
            let taken = Self::take(node);
            Single::free(node);
            (taken, Cown::from_header(cown))
        };
        continuation.spawn(cown, value);
    }

    /// Takes the continuation and the value out.
    ///
    /// # Safety
    /// The node has its value. The caller owns the body exclusively, and takes it once.
    #[inline(always)]
    unsafe fn take(node: NonNull<Single<Parts<R, K>>>) -> (K, Result<R, Broken>) {
        let parts = Single::body(node);
        // SAFETY: taken once, and the value is there.
        unsafe {
            let continuation = ManuallyDrop::take(&mut (*parts.as_ptr()).continuation);
            (continuation, Call::take_value(parts.cast()))
        }
    }

    /// # Safety
    /// The task is ready, of this type, and run once.
    unsafe fn run(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        let node = task.cast::<Single<Parts<R, K>>>();
        let slot = Single::slot(node);
        // SAFETY: a ready one-cown behaviour holds its cown. The node stays in the queue, where a successor may write to its
        // `next`, until it is released; then it is ours alone. The body is called once, so what it takes is taken once.
        unsafe {
            let member = slot.as_ref().member();
            if member.header().flags.may_be_refused(context) {
                return Self::run_with_care(node, context);
            }
            let closure = move |held: Held<'_, K::State>| {
                let (continuation, value) = Self::take(node);
                continuation.run(held, value);
            };
            let body = Body::<UncheckedHandle<K::State>, _, Forget>::new((), closure, Forget);
            if let Err(panicked) = body.call(&mut Cursor::single(&member)) {
                let ended = panicked.tell::<K>(&Cursor::single(&member), context.home);
                return end(node, ended, context);
            }
            let successor = release_to_next::<true>(slot, member.header_ptr(), &context.home);
            pool::dealloc_and_return(node.cast(), Single::<Parts<R, K>>::LAYOUT, successor)
        }
    }

    /// The same for a behaviour that may have to be refused.
    ///
    /// # Safety
    /// As for `run`.
    #[cold]
    #[inline(never)]
    unsafe fn run_with_care(
        node: NonNull<Single<Parts<R, K>>>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: as in `run`. The handle in the request is that of the set.
        unsafe {
            let member = Single::slot(node).as_ref().member();
            let (continuation, value) = Self::take(node);
            let closure = move |held: Held<'_, K::State>| continuation.run(held, value);
            let body = Body::<UncheckedHandle<K::State>, _, Forget>::new((), closure, Forget);
            let ended = body.execute_outlined(Cursor::single(&member), context);
            end(node, ended, context)
        }
    }
}

#[cfg(all(test, loom))]
mod loom;
#[cfg(all(test, not(loom)))]
mod tests;
