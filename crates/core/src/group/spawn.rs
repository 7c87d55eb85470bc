//! Spawning on members of one group: into the ring, or into the queue.

use super::current;
use crate::path_coverage::FastPath;
use crate::queue::group_header::Leader;
use crate::queue::group_header::with;
use crate::queue::group_ring::RunRingEntry;
use crate::queue::live_cown::LiveCown;
use crate::queue::requested_cown::RequestedCown;

/// Returns whether what this thread spawns on the group now comes behind the ring and before
/// everything that is ever going to be in the queue (`queue/README.md`, "Groups").
///
/// # Safety
/// The leader is alive.
#[inline]
pub(crate) unsafe fn goes_into_ring(leader: LiveCown) -> bool {
    let leader = leader.cast::<Leader>();
    // SAFETY: the leader is alive, and `is_unfollowed` is called only if this thread holds the
    // group.
    current::is(leader) && unsafe { leader.as_ref().is_unfollowed() }
}

/// Puts a behaviour into the ring.
///
/// # Safety
/// The calling thread holds the member's group, and `run` takes a `B`.
#[inline]
pub(crate) unsafe fn push<B>(leader: LiveCown, member: RequestedCown, body: B, run: RunRingEntry) {
    FastPath::Ring.take();
    // SAFETY: this thread holds the group.
    unsafe { with(leader.cast(), |held| held.ring.push(member, body, run)) };
}
