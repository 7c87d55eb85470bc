//! The end of a state that nobody reaches any more: see [`cown::farewell`](crate::cown::farewell).
//!
//! The last handle goes into a request of its own, behind all that was spawned with any. If the state is closed there,
//! and nothing stands behind, then nothing ever will: the request drops the state as well, and the queue is never left.

use std::any::type_name;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::{Attended, call_state, errand};
use crate::cown::farewell::Farewell;
use crate::cown::handle::{Cown, destroy};
use crate::cown::last::drop_last;
use crate::queue::guard::{Door, end_state};
use crate::queue::header::{CownHeader, Member};
use crate::queue::release::release_to_next;
use crate::queue::single;
use crate::queue::single::Single;
use crate::sched::at_work_in;
use crate::task::{Mode, RunContext, TaskPtr, TaskVTable};

impl<T: Attended> Cown<T> {
    /// Has the state end behind all that was spawned on the cown, unless there is another handle by then: it is called
    /// by [`Attended::farewell`]. For the handle that [`drop_unless_last`](Self::drop_unless_last) has given back.
    ///
    /// **Cost.** That of a behaviour, in which the state is dropped, too, if it has closed the cown.
    pub fn say_farewell(self) {
        if self.header().is_grouped() {
            return say_farewell_in_group(self);
        }
        // The request takes the handle along.
        let this = ManuallyDrop::new(self);
        at_work_in(this.header().home(), || {
            // SAFETY: the node is fresh; the handle keeps the cown alive until it has run.
            unsafe { Single::spawn(request::<T>(this.header_ptr())) };
        });
    }
}

fn request<T: Attended>(cown: NonNull<CownHeader>) -> NonNull<Single<()>> {
    let vtable = const { &TaskVTable::new(run::<T>, single::link, type_name::<T>) };
    Single::allocate(Member::exclusive(cown), vtable, ())
}

/// The same for a member of a group, which others may come behind in any case.
fn say_farewell_in_group<T: Attended>(last: Cown<T>) {
    let cown = last.header_ptr();
    // SAFETY: the errand holds the cown.
    let errand = move |mode| drop(unsafe { part(last, mode) });
    // SAFETY: alive by the handle that the errand takes along.
    unsafe { errand::append(cown, Box::new(errand)) };
}

/// Runs the request that has the last handle.
///
/// # Safety
/// The task is one that [`Cown::say_farewell`] has made, for a `T`; it holds the cown, and is run once.
unsafe fn run<T: Attended>(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    let node = task.cast::<Single<()>>();
    let slot = Single::slot(node);
    // SAFETY: by the caller's word. The handle was left to the request. Where no handle is left and nothing stands
    // behind, nobody looks at the node any more, and the queue need not be left.
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

/// Ends the state, if this is the last handle still. Gives that back, unless it is to be asked again.
///
/// # Safety
/// The caller holds the cown exclusively.
unsafe fn part<T: Attended>(last: Cown<T>, mode: Mode) -> Option<Cown<T>> {
    match last.farewell() {
        Farewell::Revoked => None,
        Farewell::Last(last) | Farewell::Again(last) if last.is_closed() => Some(last),
        Farewell::Again(last) => {
            last.say_farewell();
            None
        }
        Farewell::Last(last) => {
            // SAFETY: by the caller's word.
            unsafe { end::<T>(last.header_ptr(), mode) };
            Some(last)
        }
    }
}

/// # Safety
/// The caller holds the cown exclusively, which is a `T`.
unsafe fn end<T: Attended>(cown: NonNull<CownHeader>, mode: Mode) {
    // SAFETY: by the caller's word.
    unsafe {
        match mode {
            Mode::Cancel => _ = end_state(cown),
            Mode::Run => {
                call_state::<T>(cown, |state, front| {
                    state.farewell(front);
                    Door::Open
                });
            }
        }
    }
}
