//! Behaviours on one member of a group.

use std::iter;
use std::ptr::NonNull;

use super::single::SingleBehaviour;
use crate::body::{Body, Completion, NamedCompletion, NoResult};
use crate::cown::member_cursor::MemberCursor;
use crate::cown::set::CownSet;
use crate::group::spawn::{goes_into_ring, push};
use crate::queue::enqueue_request::spawn_from_anywhere;
use crate::queue::group_ring::RingEntry;
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use crate::queue::requested_cown::RequestedCown;
use crate::queue::single_block::Single;
use crate::queue::slot::QueuePosition;
use crate::task::{RunContext, TaskVTable};

/// Spawns a behaviour that holds one member exclusively.
///
/// # Safety
/// The member is alive and in this leader's group; the body is for it.
#[inline]
pub(crate) unsafe fn spawn_single<S, F, C>(
    leader: LiveCown,
    member: RequestedCown,
    body: Body<S, F, C>,
) where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    // SAFETY: the member is alive, which keeps the leader alive. If the behaviour goes into the
    // ring, this thread holds the group.
    unsafe {
        if goes_into_ring(leader) {
            body.spawned.stands_in(0, queue_of(leader));
            push(leader, member, body, run_single::<S, F, C>);
        } else {
            let _place = queue(leader, SingleBehaviour::allocate_in_group(member, body));
        }
    }
}

/// The same with these functions; returns the position in the queue, unless it is in the ring.
///
/// # Safety
/// See [`spawn_single`].
pub(crate) unsafe fn spawn_placed<S, F>(
    leader: LiveCown,
    member: RequestedCown,
    body: Body<S, F, NamedCompletion<NoResult>>,
    vtable: &'static TaskVTable,
) -> Option<QueuePosition>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send,
{
    // SAFETY: the member is alive, which keeps the leader alive. If the behaviour goes into the
    // ring, this thread holds the group.
    unsafe {
        if goes_into_ring(leader) {
            body.spawned.stands_in(0, queue_of(leader));
            push(leader, member, body, run_single::<S, F, NamedCompletion<NoResult>>);
            return None;
        }
        let node = SingleBehaviour::allocate_with(vtable, member, body);
        Some(queue(leader, Single::slot(node)))
    }
}

/// Spawns a behaviour through the queue; returns its position there.
///
/// # Safety
/// See [`spawn_single`]; the request is that of the new behaviour.
unsafe fn queue(leader: LiveCown, slot: LiveSlot) -> QueuePosition {
    let place = QueuePosition::of(slot.slot());
    // SAFETY: this thread owns the request and gives it away; the member is alive and in the
    // leader's group.
    unsafe { spawn_from_anywhere(leader, slot) };
    place
}

/// The queue of a group, as the simulation knows it: see [`single`](super::single).
fn queue_of(leader: LiveCown) -> impl Iterator<Item = usize> {
    iter::once_with(move || leader.address())
}

/// Runs a behaviour on one member.
///
/// # Safety
/// See `RunRingEntry`; the entry was pushed with such a body.
unsafe fn run_single<S, F, C>(entry: NonNull<RingEntry>, context: &RunContext)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    // SAFETY: the entry is taken before anything can be pushed. The group is held, and so is the
    // member, which is alive: its last request would be in the queue.
    let ended = unsafe {
        let (member, body) = RingEntry::take::<Body<S, F, C>>(entry);
        body.execute(MemberCursor::single(&member), context)
    };
    ended.deliver();
}
