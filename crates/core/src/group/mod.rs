//! Groups: cowns that share one queue, so that behaviours on them send to each other without atomic
//! read-modify-writes.

// A group has a `Leader`: a header with the queue of all members and, beside it, the *ring*: plain
// memory that belongs to the holder of the group. For the protocol and its proof, see
// `queue/README.md`, "Groups".
//
// * `run_ring.rs`: holding a group: the behaviour from the queue, then the ring.
// * `spawn.rs`: chooses between the ring and the queue.
// * `joined_requests.rs`: sets that name several members.
// * `serve_interrupts.rs`: interruptible members.
// * `current.rs`: the group that the thread holds.

#[cfg_attr(all(test, loom), path = "current_in_model.rs")]
mod current;
pub(crate) mod joined_requests;
#[cfg(all(test, loom))]
mod loom;
pub(crate) mod run_ring;
pub(crate) mod serve_interrupts;
pub(crate) mod spawn;

use crate::queue::group_header::Leader;
use crate::queue::live_cown::LiveCown;
use std::fmt;
use std::ptr::NonNull;

use crate::cown::handle::Cown;
use crate::cown::layout::CownBox;
use crate::runtime_ids::Birthplace;
use crate::sched::runtime_handle::RuntimeHandle;

/// A group of cowns that share one queue and are scheduled as one.
///
/// For cowns that interact with each other far more than with the rest: the parts of one parser,
/// the stages of one connection. Spawning a behaviour on one member from a behaviour on another
/// costs a fraction of the usual cost, and a behaviour on several members needs a single
/// acquisition. In return, the members never run in parallel.
///
/// A member is an ordinary [`Cown`], and can be used wherever one can. All guarantees of cowns hold
/// for it, above all the spawn order. The differences:
///
/// * Behaviours on different members share one order, as if they were on one cown: no two of them
///   run at the same time, readers included.
/// * [`Cown::into_inner`] returns the state only if nothing is queued or running in the group.
/// * [`Cown::move_to`] moves the whole group.
/// * A shut gate of an [interruptible](crate::internals::Interruptible) member shuts the whole
///   group.
/// * The promise of a behaviour completes when the behaviour has ended, possibly before the group
///   is released, if others of the group wait behind it.
///
/// **Cost.** From a behaviour on one member to another: a copy of the closure, and no atomic
/// read-modify-write; at most about half of what two ungrouped cowns cost. Work from outside is
/// queued as on any cown. In deterministic mode everything goes through the queue.
///
/// The handle is cheap to clone. The group lives as long as it has a handle or a member.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Group, Runtime, call, when};
/// use coact::cown::Held;
///
/// let group = Group::new();
/// let (parser, counter) = (group.cown(String::new()), group.cown(0));
/// let far = counter.clone();
/// when(&parser, move |line| {
///     line.push_str("a b c");
///     let words = line.split(' ').count();
///     when(&far, move |counter| *counter += words); // Into the group's ring.
/// });
/// # Runtime::global().wait_idle();
/// let both = call((&parser, &counter), |(line, counter)| (line.len(), *counter)); // One acquisition.
/// assert_eq!(both.wait(), Ok((5, 3)));
/// ```
#[doc(alias = "LocalSet")]
pub struct Group {
    pub(crate) leader: NonNull<Leader>,
}

// SAFETY: the handle gives access only to counts and constants of the leader.
unsafe impl Send for Group {}
// SAFETY: the handle gives access only to counts and constants of the leader.
unsafe impl Sync for Group {}

impl Group {
    /// Creates a group without members, in the current runtime; see [`Cown::new`].
    ///
    /// Costs a block of 136 bytes, and the ring on its first use.
    pub fn new() -> Self {
        Self::new_in(RuntimeHandle::current())
    }

    /// Creates a group without members in a runtime.
    pub fn new_in(home: RuntimeHandle) -> Self {
        Self { leader: Leader::allocate(home.0, &run_ring::VTABLE) }
    }

    /// Creates a cown that is a member.
    ///
    /// Costs as much as [`Cown::new`], and an atomic addition.
    pub fn cown<T: Send + 'static>(&self, state: T) -> Cown<T> {
        let home = self.runtime();
        let header = CownBox::allocate_packed(state, Birthplace::new(home.0, home.is_pumped()));
        // SAFETY: the cown was just created, so no other thread knows it; the leader is alive, and
        // counts the member.
        unsafe {
            header.header_mut().join(Leader::retain(self.leader).ptr());
            Cown::from_header(header)
        }
    }

    /// Returns the runtime whose workers run the behaviours on the members.
    pub fn runtime(&self) -> RuntimeHandle {
        // SAFETY: this handle's count keeps the leader alive.
        RuntimeHandle(unsafe { self.leader.as_ref() }.header.home_of_queue())
    }

    /// Returns whether the cown is a member.
    pub fn contains<T: Send + 'static>(&self, cown: &Cown<T>) -> bool {
        cown.header().leader() == Some(self.leader.cast())
    }
}

impl<T: Send + 'static> Cown<T> {
    /// Returns the group of the cown, if it is in one.
    pub fn group(&self) -> Option<Group> {
        let leader = self.header().leader()?.cast();
        // SAFETY: the member keeps the leader alive; the new handle owns the count.
        unsafe { Leader::retain(leader) };
        Some(Group { leader })
    }
}

impl Clone for Group {
    fn clone(&self) -> Self {
        // SAFETY: this handle's count keeps the leader alive; the new handle owns the new one.
        unsafe { Leader::retain(self.leader) };
        Self { leader: self.leader }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // SAFETY: the handle owns its count, and is not used afterwards.
        unsafe { Leader::release(LiveCown::new(self.leader.cast())) };
    }
}

impl Default for Group {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Group {
    fn eq(&self, other: &Self) -> bool {
        self.leader == other.leader
    }
}

impl Eq for Group {}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Group({:#x})", self.leader.as_ptr().addr())
    }
}
