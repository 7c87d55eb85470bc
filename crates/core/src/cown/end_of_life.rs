//! The end of a cown. If the cown is idle, dropping its last handle drops the state. Otherwise the
//! handle replaces the queue's tail by a mark, and the request that leaves the queue last drops the
//! state: without a handle nothing can be queued behind it. See `queue/README.md`, "The end of a
//! cown".

use crate::queue::enqueue_request::spawn_request;
use crate::queue::group_header::run_in_group;
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use std::any::type_name;
use std::ptr::NonNull;

use super::layout::CownBox;
use crate::drop_depth::{self, DestructorGuard};
use crate::panic::drop_quietly;
use crate::path_coverage::FastPath;
use crate::queue::grant::grant;
use crate::queue::group_header::Leader;
use crate::queue::header::{CownHeader, Flags};
use crate::queue::member_interrupt;
use crate::queue::member_interrupt_listed::InterruptNotice;
use crate::queue::requested_cown::RequestedCown;
use crate::queue::single_block;
use crate::queue::single_block::Single;
use crate::queue::state_dropper::StateDropper;
use crate::sched::schedule;
use crate::simulated;
use crate::task::{GroupTaskFns, RunContext, TaskPtr, TaskVTable};

/// How to drop states of a type.
pub(super) fn last_of<T: Send + 'static>() -> &'static StateDropper {
    const {
        &StateDropper::new(
            TaskVTable::new(run_destroy::<T>, single_block::link, type_name::<T>),
            destroy::<T>,
        )
    }
}

/// Returns whether a cown without handles has an empty queue and no readers; for a member of a
/// group, whether the whole group has.
pub(super) fn is_idle(header: &CownHeader) -> bool {
    if header.is_grouped() && InterruptNotice::of(header).is_there() {
        return false;
    }
    let header = header.queue();
    // The queue first: a reader is counted before it leaves it.
    header.tail.is_empty() && header.readers().are_gone()
}

/// Drops the state of a cown whose last handle is gone: now, or behind what is queued on it. So
/// requests need not count as handles, and behaviours do not pay for keeping their cowns alive.
///
/// # Safety
/// The last handle is gone, and this is called once.
pub(super) unsafe fn retire<T: Send + 'static>(cown: LiveCown) {
    let header = cown.header();
    let is_reached_by_others = header.has(Flags::INTERRUPTIBLE | Flags::GROUPED);
    if !is_reached_by_others && header.is_in_use(false) {
        // SAFETY: the last handle is gone, this happens once, and the cown is reachable only
        // through handles.
        return unsafe { leave_to_the_last(cown, last_of::<T>()) };
    }
    if is_idle(header) && header.is_within_reach() {
        // SAFETY: without handles the queue stays empty, so nothing else can reach the state.
        return unsafe { destroy::<T>(cown) };
    }
    if !is_reached_by_others {
        // SAFETY: the last handle is gone, this happens once, and the cown is reachable only
        // through handles.
        return unsafe { leave_to_the_last(cown, last_of::<T>()) };
    }
    // SAFETY: this thread owns the new node; the block, and with it the leader, lives until the
    // node has run.
    unsafe {
        if header.flags.get(Flags::INTERRUPTIBLE | Flags::CLOSED) == Flags::INTERRUPTIBLE {
            member_interrupt::interrupt_last(cown);
        }
        match cown.leader() {
            None => Single::spawn(last_request::<T>(cown)),
            Some(leader) => spawn_request(leader, last_request_in_group::<T>(cown, leader)),
        }
    }
}

/// Leaves the end to the last request in the queue; drops the state if the queue is empty.
///
/// # Safety
/// See [`retire`]; `last` is that of the state's type, and the cown is reachable only through
/// handles.
pub(super) unsafe fn leave_to_the_last(cown: LiveCown, last: &'static StateDropper) {
    let header = cown.header();
    if header.tail.end_with(last.mark()) {
        // SAFETY: the queue was empty, so this thread has the token; the other conditions are those
        // of this function.
        unsafe { end_with_token(cown, last) }
    }
    // Otherwise the last request to leave the queue finds the mark. The cown may already be gone.
}

/// Drops the state of a cown with a mark and an empty queue, now or after its readers.
///
/// # Safety
/// See [`leave_to_the_last`]; the caller has the token.
#[inline(never)]
unsafe fn end_with_token(cown: LiveCown, last: &'static StateDropper) {
    simulated::point();
    // SAFETY: nothing can be queued, so only running readers, if there are any, still reach the
    // state.
    unsafe {
        let header = cown.header();
        if header.readers().are_gone() && header.is_within_reach() {
            last.end(cown);
        } else {
            grant(cown, last.request(cown), &mut schedule);
        }
    }
}

/// Creates the request that drops the state of a cown that is reachable without a handle: other
/// requests may follow it.
#[cold]
fn last_request<T: Send + 'static>(cown: LiveCown) -> NonNull<Single<()>> {
    Single::allocate(RequestedCown::exclusive(cown), last_of::<T>().request_vtable(), ())
}

/// The same for a request that is deferred and never queued.
#[cold]
pub(super) fn request_put_aside<T: Send + 'static>(cown: LiveCown) -> NonNull<Single<()>> {
    let vtable =
        const { &TaskVTable::new(run_destroy::<T>, single_block::link_unqueued, type_name::<T>) };
    Single::allocate(RequestedCown::exclusive(cown), vtable, ())
}

/// Runs the last request of a cown.
///
/// # Safety
/// The task is that of a [`last_request`] or a [`StateDropper::request`], or was deferred, and
/// holds the cown.
unsafe fn run_destroy<T: Send + 'static>(task: TaskPtr, _: &RunContext) -> Option<TaskPtr> {
    let node = task.cast::<Single<()>>();
    // SAFETY: no request can follow this one, so no other thread reads the node, and it need not
    // leave the queue.
    unsafe {
        let cown = Single::slot(node).slot().member().live_cown();
        Single::dismantle(node);
        destroy::<T>(cown);
    }
    None
}

/// The last request of a member of a group, with the leader.
type LastInGroup = Single<LiveCown>;

/// Creates the request that drops the state of a member of a group. Others may be queued behind it.
#[cold]
fn last_request_in_group<T: Send + 'static>(cown: LiveCown, leader: LiveCown) -> LiveSlot {
    let vtable = const {
        let in_group = GroupTaskFns { body: destroy_in_group::<T>, dispose: dispose_of_last };
        let (run, link) = (run_in_group, single_block::link_in_group);
        &TaskVTable::new(run, link, type_name::<T>).in_group(in_group)
    };
    let node = Single::allocate(RequestedCown::exclusive(cown), vtable, leader);
    // SAFETY: the node is new, and live until the caller has given the request away.
    unsafe { Single::slot(node) }
}

/// The body of the last request of a member of a group.
///
/// # Safety
/// See [`GroupTaskFns::body`].
unsafe fn destroy_in_group<T: Send + 'static>(task: TaskPtr, _: &RunContext) {
    // SAFETY: the cown keeps the leader alive until it is gone; from then on the request's own
    // count does, up to `dispose_of_last`. No other request is going to be for the cown.
    unsafe {
        let member = Single::slot(task.cast::<LastInGroup>()).slot().member();
        Leader::retain(member.queue().cast());
        destroy::<T>(member.live_cown());
    }
}

/// # Safety
/// The task is a [`last_request_in_group`] that has run and left its queue.
unsafe fn dispose_of_last(task: TaskPtr) {
    // SAFETY: the task has run and left its queue, so this thread owns the node. The node's count
    // keeps the leader alive, and is given up here.
    unsafe { Leader::release(Single::dismantle(task.cast::<LastInGroup>())) };
}

/// Drops the only handle of a cown, of any kind: no thread could create another, except for an
/// [interruptible](crate::interrupt) cown.
///
/// # Safety
/// The caller owns the handle and drops it with this call.
#[inline(never)]
pub(super) unsafe fn drop_sole<T: Send + 'static>(cown: LiveCown) {
    const REACHED_BY_OTHERS: u16 = Flags::INTERRUPTIBLE | Flags::GROUPED;
    let header = cown.header();
    // The flags afterwards: a reader is recorded before it leaves the queue.
    let is_queue_empty = header.tail.is_empty();
    let flags = header.flags.get(REACHED_BY_OTHERS | Flags::PINNED | Flags::PACKED | Flags::READ);
    if is_queue_empty && flags == 0 {
        FastPath::SoleHandle.take();
        // SAFETY: the queue stays empty, and there has never been a reader, so nothing else can
        // reach the state.
        unsafe { destroy_plain::<T>(cown) }
    } else if !is_queue_empty && flags & REACHED_BY_OTHERS == 0 {
        FastPath::SoleHandleOfBusy.take();
        header.counts.remove_sole();
        // SAFETY: this was the last handle.
        unsafe { leave_to_the_last(cown, last_of::<T>()) }
    } else {
        // SAFETY: the caller owns the only handle and drops it.
        unsafe { drop_sole_with_care::<T>(cown) }
    }
}

/// The same for a cown that is reachable in other ways, or needs further checks.
///
/// # Safety
/// See [`drop_sole`].
#[inline(never)]
unsafe fn drop_sole_with_care<T: Send + 'static>(cown: LiveCown) {
    let header = cown.header();
    if !header.has(Flags::INTERRUPTIBLE | Flags::GROUPED | Flags::PINNED) && is_idle(header) {
        FastPath::SoleHandle.take();
        // SAFETY: no other thread has a handle or could create one: the queue stays empty, and
        // nothing else can reach the state.
        return unsafe { destroy::<T>(cown) };
    }
    if header.counts.remove() {
        // SAFETY: this was the last handle.
        unsafe { retire::<T>(cown) };
    }
}

/// Drops the state of a cown that has no handle of any kind, and frees its block. For a cown that
/// is in no group, and not interruptible, pinned or packed.
///
/// # Safety
/// See [`destroy`].
#[inline(always)]
unsafe fn destroy_plain<T: Send + 'static>(cown: LiveCown) {
    // SAFETY: the state is unreachable, and no handle of any kind is left.
    unsafe {
        if std::mem::needs_drop::<T>() {
            return destroy::<T>(cown);
        }
        CownBox::<T>::free_plain(cown);
    }
}

/// Drops the state, and gives up the block. The state of a pinned cown whose pump is gone is
/// leaked: no thread is left that may access it.
///
/// # Safety
/// The state is unreachable: there is no handle and no behaviour for it.
pub(crate) unsafe fn destroy<T: Send + 'static>(cown: LiveCown) {
    if std::mem::needs_drop::<T>() && cown.header().is_within_reach() {
        let Some(_depth) = DestructorGuard::enter() else {
            // SAFETY: the cown is unreachable, so the deferred request holds it.
            return unsafe { drop_depth::put_aside(request_put_aside::<T>(cown).cast()) };
        };
        // SAFETY: the state is unreachable, and dropped once.
        drop_quietly(|| unsafe { CownBox::<T>::state(cown).drop_in_place() });
    }
    // SAFETY: the weak count of the strong handles is given up once, after the state is gone.
    unsafe { drop_weak::<T>(cown) };
}

/// Gives up one weak count, and frees the block with the last.
///
/// # Safety
/// The caller owns the count. If it is the last one, the state is gone.
pub(super) unsafe fn drop_weak<T: Send + 'static>(cown: LiveCown) {
    if cown.header().counts.remove_weak() {
        // SAFETY: this was the last count, so nothing of the cown is left.
        unsafe { CownBox::<T>::free(cown) };
    }
}
