//! Spawning on members of one group: into the ring, or into the queue.

use std::ptr::NonNull;

use super::current;
use super::leader::Leader;
use super::ring::RunEntry;
use super::turn::with;
use crate::queue::append::{append_one, append_single};
use crate::queue::grant::grant;
use crate::queue::header::{CownHeader, Member};
use crate::queue::slot::Slot;
use crate::sched::{at_work_in, schedule};

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
