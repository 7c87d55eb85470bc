//! Spawning on members of one group: into the ring, or into the queue.

use std::iter;
use std::ptr::NonNull;

use super::current;
use super::leader::Leader;
use super::ring::{Entry, RunEntry};
use super::turn::with;
use crate::attend::Place;
use crate::behaviour::body::{Body, Completion};
use crate::behaviour::single::SingleBehaviour;
use crate::cown::access::Cursor;
use crate::cown::set::CownSet;
use crate::queue::append::{append_one, append_single};
use crate::queue::grant::grant;
use crate::queue::header::{CownHeader, Member};
use crate::queue::slot::Slot;
use crate::sched::{at_work_in, schedule};
use crate::task::RunContext;

/// Spawns a behaviour on one member, held exclusively.
///
/// # Safety
/// The member is alive, and of this leader's group; the body is for it.
#[inline(never)]
pub(crate) unsafe fn spawn_single<S, F, C>(
    leader: NonNull<CownHeader>,
    member: Member,
    body: Body<S, F, C>,
) where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    // SAFETY: by the caller's word. Where it goes into the ring this thread holds the group.
    unsafe {
        if goes_into_ring(leader) {
            body.spawned.stands_in(0, iter::once_with(|| leader.addr().get()));
            push(leader, member, body, run_single::<S, F, C>);
        } else {
            let _place = queue_single(leader, member, body);
        }
    }
}

/// The same; tells where the behaviour stands in the queue, if it is not in the ring.
///
/// # Safety
/// As there.
pub(crate) unsafe fn spawn_placed<S, F, C>(
    leader: NonNull<CownHeader>,
    member: Member,
    body: Body<S, F, C>,
) -> Option<Place>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    // SAFETY: by the caller's word. Where it goes into the ring this thread holds the group.
    unsafe {
        if goes_into_ring(leader) {
            body.spawned.stands_in(0, iter::once_with(|| leader.addr().get()));
            push(leader, member, body, run_single::<S, F, C>);
            return None;
        }
        Some(queue_single(leader, member, body))
    }
}

/// Spawns the behaviour by the queue; tells where it stands there.
///
/// # Safety
/// As [`spawn_single`].
unsafe fn queue_single<S, F, C>(
    leader: NonNull<CownHeader>,
    member: Member,
    body: Body<S, F, C>,
) -> Place
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    let slot = SingleBehaviour::allocate_in_group(member, body);
    let place = Place::of(slot);
    // SAFETY: the request is ours; and by the caller's word.
    unsafe { spawn_from_anywhere(leader, slot) };
    place
}

/// As [`spawn_request`], for a thread that may be no worker.
///
/// # Safety
/// As there; the leader is alive in any case.
pub(crate) unsafe fn spawn_from_anywhere(leader: NonNull<CownHeader>, slot: NonNull<Slot>) {
    // SAFETY: alive, by the caller's word.
    let home = unsafe { leader.as_ref() }.home_of_queue();
    // SAFETY: by the caller's word.
    at_work_in(home, || unsafe { spawn_request(leader, slot) });
}

/// Puts the one request of a behaviour on members of one group into the queue.
///
/// # Safety
/// The request is the caller's, and is given away; its behaviour misses nothing else. A member of the
/// leader's group for which it is is alive, until the request has run at least.
pub(crate) unsafe fn spawn_request(leader: NonNull<CownHeader>, slot: NonNull<Slot>) {
    // SAFETY: by the caller's word. If the queue was empty the request keeps the leader alive.
    unsafe {
        let append = if slot.as_ref().member().is_multi() { append_one } else { append_single };
        if append(leader.as_ref(), slot) {
            grant(leader, slot, &mut schedule);
        }
    }
}

/// Whether what this thread spawns on the group now comes behind the ring, and before all that will
/// ever stand in the queue (the section on groups of `queue/README.md`).
///
/// # Safety
/// The leader is alive.
#[inline]
pub(crate) unsafe fn goes_into_ring(leader: NonNull<CownHeader>) -> bool {
    let leader = leader.cast::<Leader>();
    // SAFETY: alive; and held by this thread when it is asked for its queue.
    current::is(leader) && unsafe { leader.as_ref().is_unfollowed() }
}

/// Puts a behaviour into the ring.
///
/// # Safety
/// The calling thread holds the group, of which the member is; and `run` takes a `B`.
#[inline]
pub(crate) unsafe fn push<B>(leader: NonNull<CownHeader>, member: Member, body: B, run: RunEntry) {
    // SAFETY: held.
    unsafe { with(leader.cast(), |held| held.ring.push(member, body, run)) };
}

/// Runs a behaviour on one member.
///
/// # Safety
/// As for every [`RunEntry`]; the entry was pushed with such a body.
unsafe fn run_single<S, F, C>(entry: NonNull<Entry>, context: &RunContext)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    // SAFETY: taken before anything can be pushed. The group is held, and with it the member, which
    // is alive: its last request would stand in the queue.
    let ended = unsafe {
        let (member, body) = Entry::take::<Body<S, F, C>>(entry);
        body.execute(Cursor::single(&member), context)
    };
    ended.deliver();
}
