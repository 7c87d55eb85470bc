//! Spawning on members of one group: into the ring, or into the queue.

use std::ptr::NonNull;

use super::current;
use crate::queue::group_header::Leader;
use crate::queue::group_header::with;
use crate::queue::header::CownHeader;
use crate::queue::member::Member;
use crate::queue::ring::RunRingEntry;

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
pub(crate) unsafe fn push<B>(
    leader: NonNull<CownHeader>,
    member: Member,
    body: B,
    run: RunRingEntry,
) {
    // SAFETY: held.
    unsafe { with(leader.cast(), |held| held.ring.push(member, body, run)) };
}
