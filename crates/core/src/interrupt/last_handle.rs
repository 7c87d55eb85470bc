//! Ends a state that has become unreachable; see [`cown::last_handle`](crate::cown::last_handle).
//!
//! The last handle goes into a request of its own, behind everything spawned with any handle. If
//! the state is closed there, and nothing is behind that request, then nothing ever will be: the
//! request drops the state as well, and never leaves the queue.

use std::any::type_name;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::{Interruptible, call_state, deferred};
use crate::cown::end_of_life::destroy;
use crate::cown::handle::Cown;
use crate::cown::last_handle::LastHandleCheck;
use crate::cown::last_handle::drop_last;
use crate::queue::header::CownHeader;
use crate::queue::interruptible::{Gate, end_state};
use crate::queue::member::Member;
use crate::queue::release::release_to_next;
use crate::queue::single;
use crate::queue::single::Single;
use crate::sched::at_work_in;
use crate::task::{Mode, RunContext, TaskPtr, TaskVTable};

impl<T: Interruptible> Cown<T> {
    /// Ends the state behind everything spawned on the cown, unless there is another handle by
    /// then, by calling [`Interruptible::last_handle_gone`]. For a handle that
    /// [`drop_unless_last`](Self::drop_unless_last) has returned.
    ///
    /// **Cost.** That of a behaviour, in which the state is dropped as well if it has closed the
    /// cown.
    pub fn spawn_last_handle_check(self) {
        if self.header().is_grouped() {
            return spawn_last_handle_check_in_group(self);
        }
        // The request owns the handle.
        let this = ManuallyDrop::new(self);
        at_work_in(this.header().home(), || {
            // SAFETY: this thread owns the new node; the handle keeps the cown alive until the node
            // has run.
            unsafe { Single::spawn(request::<T>(this.header_ptr())) };
        });
    }
}

fn request<T: Interruptible>(cown: NonNull<CownHeader>) -> NonNull<Single<()>> {
    let vtable = const { &TaskVTable::new(run::<T>, single::link, type_name::<T>) };
    Single::allocate(Member::exclusive(cown), vtable, ())
}

/// The same for a member of a group, where other requests may follow in any case.
fn spawn_last_handle_check_in_group<T: Interruptible>(last: Cown<T>) {
    let cown = last.header_ptr();
    // SAFETY: the deferred call holds the cown.
    let call = move |mode| drop(unsafe { part(last, mode) });
    // SAFETY: the handle owned by the call keeps the cown alive.
    unsafe { deferred::append(cown, Box::new(call)) };
}

/// Runs the request that owns the last handle.
///
/// # Safety
/// The task was created by [`Cown::spawn_last_handle_check`] for a `T`; it holds the cown, and is
/// run once.
unsafe fn run<T: Interruptible>(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    let node = task.cast::<Single<()>>();
    let slot = Single::slot(node);
    // SAFETY: the task holds the cown, and owns the handle. If no handle is left and nothing is
    // behind it, no other thread reads the node, which then need not leave the queue.
    unsafe {
        let cown = slot.as_ref().member().header_ptr();
        let last = part(Cown::<T>::from_header(cown), context.mode());
        if last.is_some_and(|last| drop_last(last, slot)) {
            Single::dismantle(node);
            destroy::<T>(cown);
            return None;
        }
        let successor = release_to_next::<false>(slot, cown, &context.home);
        Single::dismantle(node);
        successor
    }
}

/// Ends the state if this is still the last handle. Returns the handle, unless it must be checked
/// again.
///
/// # Safety
/// The caller holds the cown exclusively.
unsafe fn part<T: Interruptible>(last: Cown<T>, mode: Mode) -> Option<Cown<T>> {
    match last.check_last_handle() {
        LastHandleCheck::Revoked => None,
        LastHandleCheck::Last(last) | LastHandleCheck::Again(last) if last.is_closed() => {
            Some(last)
        }
        LastHandleCheck::Again(last) => {
            last.spawn_last_handle_check();
            None
        }
        LastHandleCheck::Last(last) => {
            // SAFETY: the caller holds the cown, of type `T`, exclusively.
            unsafe { end::<T>(last.header_ptr(), mode) };
            Some(last)
        }
    }
}

/// # Safety
/// The caller holds the cown, which is of type `T`, exclusively.
unsafe fn end<T: Interruptible>(cown: NonNull<CownHeader>, mode: Mode) {
    // SAFETY: the caller has exclusive access to the state, which is a `T`.
    unsafe {
        match mode {
            Mode::Cancel => _ = end_state(cown),
            Mode::Run => {
                call_state::<T>(cown, |state, shared| {
                    state.last_handle_gone(shared);
                    Gate::Open
                });
            }
        }
    }
}
