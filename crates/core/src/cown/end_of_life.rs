//! The end of a cown. If the cown is idle, dropping its last handle drops the state. If not, the handle replaces the
//! queue's tail by a mark, and the request that leaves the queue last drops the state: without a handle nothing can be
//! queued behind it. `queue/README.md` has the argument.

use crate::queue::group_header::run_in_group;
use crate::queue::spawn::spawn_request;
use std::any::type_name;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use coact_sync::shim::atomic::Ordering;

use super::handle::{Cown, destroy};
use crate::queue::end_mark::Last;
use crate::queue::grant::grant;
use crate::queue::group_header::Leader;
use crate::queue::header::{CownHeader, Flags};
use crate::queue::interrupt;
use crate::queue::member::Member;
use crate::queue::single;
use crate::queue::single::Single;
use crate::queue::slot::Slot;
use crate::sched::schedule;
use crate::simulated;
use crate::task::{InGroup, RunContext, TaskPtr, TaskVTable};

/// What drops the states of a type.
pub(super) fn last_of<T: Send + 'static>() -> &'static Last {
    const { &Last::new(TaskVTable::new(run_destroy::<T>, single::link, type_name::<T>), destroy::<T>) }
}

/// Whether a cown without handles has an empty queue and no readers; for a member of a group, whether the whole group
/// has.
pub(super) fn is_idle(header: &CownHeader) -> bool {
    if header.is_grouped() && interrupt::is_noticed(header) {
        return false;
    }
    let header = header.queue();
    // ORDERING: Acquire, both: pair with the releases in `leave` and `drop_reader`, so that the
    // last behaviours' work comes before what is done with the state now. The queue first: a
    // reader is counted before it leaves it.
    header.tail.load(Ordering::Acquire).is_null() && header.readers.load(Ordering::Acquire) == 0
}

/// Drops the state of a cown whose last handle is gone: now, or behind what is queued on it. So
/// requests need not count as handles, and no behaviour pays for keeping its cowns alive.
///
/// # Safety
/// The last handle is gone, and this is called once.
pub(super) unsafe fn retire<T: Send + 'static>(cown: NonNull<CownHeader>) {
    // SAFETY: the handles' weak count keeps the block alive.
    let header = unsafe { cown.as_ref() };
    let is_reached_by_others = header.has(Flags::INTERRUPTIBLE | Flags::GROUPED);
    if !is_reached_by_others && header.is_in_use(false) {
        // SAFETY: by the caller's word.
        return unsafe { leave_to_the_last(cown, last_of::<T>()) };
    }
    if is_idle(header) && header.is_within_reach() {
        // SAFETY: without handles the queue stays empty: the state is ours.
        return unsafe { destroy::<T>(cown) };
    }
    if !is_reached_by_others {
        // SAFETY: by the caller's word.
        return unsafe { leave_to_the_last(cown, last_of::<T>()) };
    }
    // SAFETY: the node is ours; the block, and with it the leader, lives until it has run.
    unsafe {
        if header.flags.get(Flags::INTERRUPTIBLE | Flags::CLOSED) == Flags::INTERRUPTIBLE {
            interrupt::interrupt_last(cown);
        }
        match cown.as_ref().leader() {
            None => Single::spawn(last_request::<T>(cown)),
            Some(leader) => spawn_request(leader, last_request_in_group::<T>(cown, leader)),
        }
    }
}

/// Leaves the end to the last request in the queue; drops the state if the queue is empty.
///
/// # Safety
/// As [`retire`]; `last` is that of the state's type, and the cown can only be reached through handles.
pub(super) unsafe fn leave_to_the_last(cown: NonNull<CownHeader>, last: &'static Last) {
    // SAFETY: the handles' weak count keeps the block alive.
    let header = unsafe { cown.as_ref() };
    // ORDERING: AcqRel. Release: what was appended by way of the handles that are gone, which we have acquired with their
    // count, is linked (acquire in `try_leave_last`). Acquire pairs with the release in `leave`, as in
    // `swap_tail`: the state as its last holder has left it.
    if header.tail.swap(last.as_tail(), Ordering::AcqRel).is_null() {
        // SAFETY: the queue was empty, so this thread has the token; the rest by the caller's word.
        unsafe { end_with_token(cown, last) }
    }
    // Else the last request to leave the queue finds the mark. The cown may be gone already.
}

/// Drops the state of a cown behind whose mark nothing will be queued, now or after its readers.
///
/// # Safety
/// As [`leave_to_the_last`]; the caller has the token.
#[inline(never)]
unsafe fn end_with_token(cown: NonNull<CownHeader>, last: &'static Last) {
    simulated::point();
    // ORDERING: Acquire, as in `is_idle`.
    // SAFETY: only running readers, if there are any, still reach the state.
    unsafe {
        let header = cown.as_ref();
        if header.readers.load(Ordering::Acquire) == 0 && header.is_within_reach() {
            last.end(cown);
        } else {
            grant(cown, last.request(cown), &mut schedule);
        }
    }
}

/// The request that drops the state of a cown that can be reached without a handle: other requests may follow it.
#[cold]
fn last_request<T: Send + 'static>(cown: NonNull<CownHeader>) -> NonNull<Single<()>> {
    Single::allocate(Member::exclusive(cown), last_of::<T>().request_vtable(), ())
}

/// The same for a request that is put aside, and never queued.
#[cold]
pub(super) fn request_put_aside<T: Send + 'static>(
    cown: NonNull<CownHeader>,
) -> NonNull<Single<()>> {
    let vtable =
        const { &TaskVTable::new(run_destroy::<T>, single::link_unqueued, type_name::<T>) };
    Single::allocate(Member::exclusive(cown), vtable, ())
}

/// Runs the last request of a cown.
///
/// # Safety
/// The task is that of a [`last_request`] or a [`Last::request`], or was put aside, and holds the cown.
unsafe fn run_destroy<T: Send + 'static>(task: TaskPtr, _: &RunContext) -> Option<TaskPtr> {
    let node = task.cast::<Single<()>>();
    // SAFETY: no request can follow this one, so no other thread reads the node, and the queue
    // need not be left.
    unsafe {
        let cown = Single::slot(node).as_ref().member().header_ptr();
        Single::dismantle(node);
        destroy::<T>(cown);
    }
    None
}

/// The last request of a member, with the leader of its group.
type LastInGroup = Single<NonNull<CownHeader>>;

/// The request that drops the state of a member of a group. Others may come behind it.
#[cold]
fn last_request_in_group<T: Send + 'static>(
    cown: NonNull<CownHeader>,
    leader: NonNull<CownHeader>,
) -> NonNull<Slot> {
    let vtable = const {
        let in_group = InGroup { body: destroy_in_group::<T>, dispose: dispose_of_last };
        let (run, link) = (run_in_group, single::link_in_group);
        &TaskVTable::new(run, link, type_name::<T>).in_group(in_group)
    };
    Single::slot(Single::allocate(Member::exclusive(cown), vtable, leader))
}

/// The body of the last request of a member of a group.
///
/// # Safety
/// As for every [`InGroup::body`].
unsafe fn destroy_in_group<T: Send + 'static>(task: TaskPtr, _: &RunContext) {
    // SAFETY: the cown keeps the leader alive until it is gone; from then on our own count does, up to
    // `dispose_of_last`. No other request will be for the cown.
    unsafe {
        let member = Single::slot(task.cast::<LastInGroup>()).as_ref().member();
        Leader::retain(member.queue_ptr().cast());
        destroy::<T>(member.header_ptr());
    }
}

/// # Safety
/// The task is a [`last_request_in_group`] that has run and left its queue.
unsafe fn dispose_of_last(task: TaskPtr) {
    // SAFETY: the node is ours alone. The leader is alive by the count that we give up here.
    unsafe { Leader::release(Single::dismantle(task.cast::<LastInGroup>())) };
}

/// Gives a handle up, in a behaviour that holds the cown. Returns whether it was the last one of a cown that is closed,
/// and nothing stands behind the behaviour: so nothing ever will, and the state is the caller's to
/// [destroy](destroy). Else the cown goes its usual way.
///
/// # Safety
/// The slot is that of the behaviour.
pub(crate) unsafe fn drop_last<T: Send + 'static>(handle: Cown<T>, slot: NonNull<Slot>) -> bool {
    let cown = ManuallyDrop::new(handle).header_ptr();
    // SAFETY: the behaviour keeps the cown alive.
    let header = unsafe { cown.as_ref() };
    if !header.counts.remove() {
        return false;
    }
    // ORDERING: Relaxed. Requests are appended by those who have a handle, and they have given it up before us.
    let is_alone = header.tail.load(Ordering::Relaxed) == slot.as_ptr();
    if !header.has(Flags::CLOSED) || !is_alone {
        // SAFETY: this was the last handle.
        unsafe { retire::<T>(cown) };
        return false;
    }
    true
}
