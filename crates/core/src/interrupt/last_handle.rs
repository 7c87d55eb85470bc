//! Ends a state that has become unreachable; see the
//! [last-handle check](crate::cown::last_handle_check).
//!
//! The last handle goes into a request of its own, behind everything spawned with any handle. If
//! the state is closed there, and nothing is behind that request, then nothing ever will be: the
//! request drops the state as well, and never leaves the queue.
//!
//! Most states have no other handle left than the weak one of their own cown that they were created
//! with. A state that gives it up there [ends](UnreachableCown::try_end) without being seen:
//! nothing need be published, and no count be changed by an exchange. For that the cown must not be
//! found in the [table](super::registry_table) either.

pub(crate) mod interruptible_handle;
pub(super) mod temporary_handle;

use std::any::type_name;
use std::mem::{ManuallyDrop, forget};
use std::ptr::NonNull;

use super::interruptible::{Interruptible, UnreachableCown};
use super::state_callbacks::call_state;
use super::{call_after_queue, empty_request, layout};
use crate::cown::end_of_life::destroy;
use crate::cown::handle::{Cown, WeakCown};
use crate::cown::last_handle_check::LastHandleCheck;
use crate::cown::last_handle_check::drop_last;
use crate::path_coverage::FastPath;
use crate::queue::interrupt_header::{self, Gate, end_state};
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use crate::queue::release::release_to_next;
use crate::queue::requested_cown::RequestedCown;
use crate::queue::single_block;
use crate::queue::single_block::{Single, single_task};
use crate::sched::{ReadySink, Successor, at_work_in};
use crate::task::{RunContext, RunMode, TaskKind, TaskPtr, TaskVTable};

impl<T: Interruptible> UnreachableCown<'_, T> {
    /// Ends the cown if `this` is its only handle of any kind: its state is dropped after the call
    /// in which this is used, and need not be [closed](WeakCown::close).
    ///
    /// **Cost.** No atomic read-modify-write; closing the cown takes one, and dropping the handles
    /// two more.
    ///
    /// # Errors
    /// Returns the handle if there are others, if requests wait, or in a group.
    pub fn try_end(&self, this: WeakCown<T>) -> Result<(), WeakCown<T>> {
        // SAFETY: it is compared, while its handle is there.
        let is_this = unsafe { this.live_cown() } == self.cown;
        if !is_this || !self.request.is_some_and(|slot| self.withdraw(slot)) {
            return Err(this);
        }
        // Its count is given up together with that of the request's handle.
        forget(this);
        self.cown.header().counts.remove_last_and_weak();
        self.has_ended.set(true);
        FastPath::EndedUnseen.take();
        Ok(())
    }

    /// Says that the state does not end yet, since its owner knows of a handle that was made
    /// meanwhile: it is looked at again, behind what was spawned with that.
    pub fn check_again(&self) {
        self.is_wanted.set(true);
    }

    /// Says that neither the state nor the shared state needs to be dropped. If the cown
    /// [ends](Self::try_end), its block is freed without dropping them.
    pub fn skip_drop(&self) {
        self.skips_drop.set(true);
    }

    /// Returns whether the request and the caller own the only handles, and nothing is behind the
    /// request. Then the cown has become unreachable for all other threads.
    fn withdraw(&self, request: LiveSlot) -> bool {
        let header = self.cown.header();
        // A first look: taking the cown out of the table would be in vain.
        if !header.counts.are_last_and_weak() {
            return false;
        }
        // SAFETY: the cown is interruptible, and held exclusively.
        unsafe { layout::unlist(self.cown) };
        // No search can find the cown any more, and one that has found it has added its handle
        // before this look: the handle counts now, or has set LEFT when it was given up. Then
        // only the caller's two handles are left, from which no other thread can make one.
        let is_alone = header.counts.are_last_and_weak();
        let is_last = header.tail.has_last_for_good(request);
        if !(is_alone && is_last) {
            // SAFETY: the cown is interruptible, held exclusively, and was just taken out.
            unsafe { layout::list_again(self.cown) };
        }
        is_alone && is_last
    }

    /// Gives up the last handle. Returns whether the cown is unreachable, and the caller must free
    /// it.
    ///
    /// # Safety
    /// See [`drop_last`]; the state was told.
    unsafe fn give_up(&self, last: Cown<T>, request: LiveSlot) -> bool {
        if self.has_ended.get() {
            // Its count was given up.
            forget(last);
            return true;
        }
        // SAFETY: the conditions are those of this function.
        unsafe { drop_last(last, request) }
    }

    /// Frees the cown, and drops what it must.
    ///
    /// # Safety
    /// [`give_up`](Self::give_up) has returned `true`.
    unsafe fn free(self) {
        // SAFETY: no handle and no request is left. The weak count of the strong handles is the
        // caller's, and the only one if the cown has ended; it is in no group then, and no longer
        // in the table.
        unsafe {
            if self.has_ended.get() && self.skips_drop.get() {
                layout::free_undropped::<T>(self.cown);
            } else {
                destroy::<T>(self.cown);
            }
        }
    }
}

impl<T: Interruptible> Cown<T> {
    /// Ends the state behind everything spawned on the cown, unless there is another handle by
    /// then, by calling [`Interruptible::last_handle_gone`]. For a handle that
    /// [`drop_unless_last`](Self::drop_unless_last) has returned.
    ///
    /// **Cost.** That of a behaviour, in which the state is dropped as well if it has ended or
    /// closed the cown.
    pub fn spawn_last_handle_check(self) {
        if self.header().is_grouped() {
            return spawn_last_handle_check_in_group(self);
        }
        // The request owns the handle.
        let this = ManuallyDrop::new(self);
        at_work_in(this.header().home(), || {
            // SAFETY: this thread owns the new node; the handle keeps the cown alive until the node
            // has run.
            unsafe { Single::spawn(request::<T>(this.live_cown())) };
        });
    }
}

/// Marks the tasks of these requests.
static MARK: u8 = 0;

fn request<T: Interruptible>(cown: LiveCown) -> NonNull<Single<()>> {
    let vtable = const {
        &TaskVTable::new(run::<T>, single_block::link, type_name::<T>).of_kind(TaskKind::new(&MARK))
    };
    Single::allocate(RequestedCown::exclusive(cown), vtable, ())
}

/// Returns the task of the request behind the head of a queue, if the head is an empty request and
/// that one a last-handle check.
///
/// # Safety
/// The caller has the token of a cown that is in no group, and `head` is the head of its queue.
pub(super) unsafe fn check_behind(head: LiveSlot) -> Option<TaskPtr> {
    // SAFETY: a queued request is live. An empty one is in no step over several queues, so its
    // `next` is null or a request; one that is not part of a larger behaviour is in a single.
    unsafe {
        empty_request::task_of(head)?;
        let next = head.successor()?;
        let task = next.slot().member().is_single().then(|| single_task(next))?;
        task.as_ref().vtable.kind.is_some_and(|kind| kind.is(&MARK)).then_some(task)
    }
}

/// The same for a member of a group, where other requests may follow in any case.
fn spawn_last_handle_check_in_group<T: Interruptible>(last: Cown<T>) {
    // SAFETY: the handle keeps the cown alive, here and in the call that it is given to.
    let cown = unsafe { last.live_cown() };
    // SAFETY: the deferred call holds the cown, which the handle keeps alive up to the end.
    let call = move |mode| unsafe {
        let unreachable = UnreachableCown::new(last.live_cown(), None);
        drop(part(last, mode, &unreachable));
    };
    // SAFETY: the handle owned by the call keeps the cown alive.
    unsafe { call_after_queue::append(cown, Some(Box::new(call))) };
}

/// Runs the request that owns the last handle.
///
/// # Safety
/// The task was created by [`Cown::spawn_last_handle_check`] for a `T`; it holds the cown, and is
/// run once.
pub(super) unsafe fn run<T: Interruptible>(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    let node = task.cast::<Single<()>>();
    // SAFETY: the task holds the cown, and owns the handle. If no handle is left and nothing is
    // behind it, no other thread reads the node, which then need not leave the queue.
    unsafe {
        let slot = Single::slot(node);
        let cown = slot.slot().member().live_cown();
        let unreachable = UnreachableCown::new(cown, Some(slot));
        let last = part(Cown::<T>::from_header(cown), context.mode(), &unreachable);
        let Some(last) = last else { return interrupt_first(task, context) };
        if unreachable.give_up(last, slot) {
            Single::dismantle(node);
            unreachable.free();
            return None;
        }
        let successor = release_to_next::<false>(slot, cown, &context.home);
        Single::dismantle(node);
        successor
    }
}

/// Has the state interrupted before the queue goes on: it may have left something to a check that
/// has not ended it ([`Interruptible::on_last_interrupt`]).
///
/// # Safety
/// The task is that of a last-handle check of an interruptible cown, holds the cown, and has given
/// its handle up or passed it on.
#[cold]
unsafe fn interrupt_first(mut task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    let mut successor = Successor::new(context.home);
    // SAFETY: the task holds the cown, so this thread has the token and alone reads the task; both
    // kinds of request have the same node. The request stays at the head, and keeps the cown alive
    // until the guard's task passes it over.
    unsafe {
        let slot = Single::slot(task.cast::<Single<()>>());
        let cown = slot.slot().member().live_cown();
        task.as_mut().vtable = empty_request::vtable();
        cown.header().flags.remember_interrupt();
        interrupt_header::leave_token(cown, slot);
        successor.ready(interrupt_header::task_of(cown), cown.header().home_of_queue());
    }
    successor.take()
}

/// Ends the state if this is still the last handle. Returns the handle, unless it must be checked
/// again.
///
/// # Safety
/// The caller holds the cown exclusively.
#[inline]
unsafe fn part<T: Interruptible>(
    last: Cown<T>,
    mode: RunMode,
    unreachable: &UnreachableCown<'_, T>,
) -> Option<Cown<T>> {
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
            // SAFETY: the caller holds the cown exclusively.
            unsafe { end(mode, unreachable) };
            if unreachable.is_wanted.get() {
                last.spawn_last_handle_check();
                return None;
            }
            Some(last)
        }
    }
}

/// # Safety
/// The caller holds the cown exclusively.
unsafe fn end<T: Interruptible>(mode: RunMode, unreachable: &UnreachableCown<'_, T>) {
    // SAFETY: the caller has exclusive access to the state, which is a `T`.
    unsafe {
        match mode {
            RunMode::Cancel => _ = end_state(unreachable.cown),
            RunMode::Run => {
                call_state::<T>(unreachable.cown, |state, shared| {
                    state.last_handle_gone(shared, unreachable);
                    Gate::Open
                });
            }
        }
    }
}
