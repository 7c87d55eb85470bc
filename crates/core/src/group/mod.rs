//! Groups: cowns that share one queue, so that what their behaviours send each other costs no atomic
//! read-modify-write.

// A group has a `Leader`: a header with the queue of all members, and beside it the *ring*, plain
// memory that belongs to whoever holds the group. `queue/README.md`, "Groups", has the protocol
// and its proof.
//
// * `turn.rs`: holding the group: the behaviour from the queue, then the ring.
// * `spawn.rs`: whether a behaviour goes into the ring or into the queue.
// * `join.rs`: sets that name several members.
// * `interrupt.rs`: interruptible members.
// * `current.rs`: the group that the thread holds.

#[cfg_attr(all(test, loom), path = "current_in_model.rs")]
mod current;
pub(crate) mod interrupt;
pub(crate) mod join;
#[cfg(all(test, loom))]
mod loom;
pub(crate) mod spawn;
pub(crate) mod turn;

use crate::queue::group_header::Leader;
use std::fmt;
use std::ptr::NonNull;

use crate::cown::handle::Cown;
use crate::cown::layout::CownBox;
use crate::ids::Birthplace;
use crate::sched::runtime_handle::RuntimeHandle;

/// Cowns that share one queue and are scheduled as one.
///
/// For cowns that talk to each other far more than to the rest: the parts of one parser, the stages
/// of one connection. A behaviour on one member that is spawned from a behaviour on another costs a
/// fraction of what it costs elsewhere, and a behaviour on several members is one acquisition. The
/// price is that the members never work at the same time.
///
/// A member is an ordinary [`Cown`], and can be used wherever one can. All that is promised of cowns
/// holds for it, the order of spawning first of all. What differs:
///
/// * Behaviours on different members have one order, as if they were on one cown: no two of them
///   run at the same time, readers included.
/// * [`Cown::into_inner`] gives the state out only if nothing is queued or running in the group.
/// * [`Cown::move_to`] moves the whole group.
/// * A member that is [interruptible](crate::internals::Interruptible) and whose gate is shut shuts the whole group.
/// * The promise of a behaviour is kept when the behaviour has ended; the group is not released
///   before if others of the group wait behind it.
///
/// **Cost.** From a behaviour on one member to another: a copy of the closure, and no atomic
/// read-modify-write; about half of what two cowns of their own cost, or less. What comes from outside
/// is queued as on any cown. In deterministic mode all goes through the queue.
///
/// The handle is cheap to clone. Neither it nor the members need the others to live on.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Group, Runtime, ask, when};
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
/// let both = ask((&parser, &counter), |(line, counter)| (line.len(), *counter)); // One acquisition.
/// assert_eq!(both.wait(), Ok((5, 3)));
/// ```
#[doc(alias = "LocalSet")]
pub struct Group {
    pub(crate) leader: NonNull<Leader>,
}

// SAFETY: the handle gives access to nothing but counts and constants of the leader.
unsafe impl Send for Group {}
// SAFETY: as above.
unsafe impl Sync for Group {}

impl Group {
    /// A group without members, in the current runtime; see [`Cown::new`].
    ///
    /// Costs a block of 136 bytes, and the ring when it is first used.
    pub fn new() -> Self {
        Self::new_in(RuntimeHandle::current())
    }

    /// A group without members in a runtime.
    pub fn new_in(home: RuntimeHandle) -> Self {
        Self { leader: Leader::allocate(home.0, &turn::VTABLE) }
    }

    /// Makes a cown that is a member.
    ///
    /// Costs what [`Cown::new`] does, and an atomic addition.
    pub fn cown<T: Send + 'static>(&self, state: T) -> Cown<T> {
        let home = self.runtime();
        let mut header = CownBox::allocate_packed(state, Birthplace::new(home.0, home.is_pumped()));
        // SAFETY: fresh, and ours alone; the leader is alive, and counts the member.
        unsafe {
            header.as_mut().join(Leader::retain(self.leader));
            Cown::from_header(header)
        }
    }

    /// The runtime whose workers run the behaviours on the members.
    pub fn runtime(&self) -> RuntimeHandle {
        // SAFETY: our count keeps the leader alive.
        RuntimeHandle(unsafe { self.leader.as_ref() }.header.home_of_queue())
    }

    /// Whether the cown is a member.
    pub fn contains<T: Send + 'static>(&self, cown: &Cown<T>) -> bool {
        cown.header().leader() == Some(self.leader.cast())
    }
}

impl<T: Send + 'static> Cown<T> {
    /// The group that the cown is a member of, if it is in one.
    pub fn group(&self) -> Option<Group> {
        let leader = self.header().leader()?.cast();
        // SAFETY: the member keeps the leader alive; the count is the new handle's.
        unsafe { Leader::retain(leader) };
        Some(Group { leader })
    }
}

impl Clone for Group {
    fn clone(&self) -> Self {
        // SAFETY: our count keeps the leader alive; the new one is the new handle's.
        unsafe { Leader::retain(self.leader) };
        Self { leader: self.leader }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // SAFETY: the handle's count.
        unsafe { Leader::release(self.leader.cast()) };
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
