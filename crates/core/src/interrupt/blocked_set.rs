//! Who cannot run before an interruptible cown is let go: what a search for deadlocks needs to know.

use crate::queue::interrupt;
use std::collections::HashSet;
use std::fmt;
use std::ptr::NonNull;

use coact_sync::shim::atomic::Ordering;

use super::Interruptible;
use crate::behaviour::here;
use crate::behaviour::spawn;
use crate::cown::handle::{Cown, CownId, WeakCown};
use crate::cown::set::Unchecked;
use crate::ids::RuntimeId;
use crate::queue::end_mark::Last;
use crate::queue::header::{CownHeader, Flags, WAITER};
use crate::queue::interruptible;
use crate::queue::interruptible::park;
use crate::queue::multi::Multi;
use crate::queue::slot::{QueuePosition, Slot};
use crate::sched::{busy, schedule};
use crate::steps;
use crate::task::TaskPtr;

impl<T: Interruptible> Cown<T> {
    /// Spawns a behaviour on this cown alone, [unchecked](Cown::unchecked) of its condition, and
    /// tells where it stands in the queue; nowhere, if the cown is in a group that the caller holds: then it
    /// comes before all that stands there.
    pub fn spawn_placed(
        &self,
        closure: impl FnOnce(&mut T) + Send + 'static,
    ) -> Option<QueuePosition> {
        spawn::spawn_placed(&Unchecked(self), closure)
    }

    /// As [`serve_here`](crate::behaviour::serve_here), [unchecked](Cown::unchecked) of the cown's condition. Tells
    /// where the behaviour stands in the queue if it has not run.
    pub fn serve_placed(
        &self,
        batch: u32,
        closure: impl FnOnce(&mut T) + Send + 'static,
    ) -> Option<QueuePosition> {
        let (_, closure) = here::serve(Unchecked(self), batch, closure)?;
        self.spawn_placed(closure)
    }

    /// The identity of the queue that the cown's behaviours stand in: its own, or that of its group.
    pub fn queue_id(&self) -> CownId {
        CownId::of(self.queue())
    }

    /// The task that interrupts the cown, or to its group.
    fn interrupt_task(&self) -> TaskPtr {
        match self.header().leader() {
            Some(leader) => interrupt::task_of(leader),
            // SAFETY: interruptible.
            None => unsafe { interruptible::task_of(self.header_ptr()) },
        }
    }

    fn queue(&self) -> NonNull<CownHeader> {
        self.header().leader().unwrap_or(self.header_ptr())
    }

    /// If the cown's gate is [shut](crate::queue::interruptible::Gate::Shut): tells every behaviour that cannot run before
    /// it is opened, by a cown that the behaviour waits for and its place there. These are the
    /// behaviours behind the gate, and those that wait, on any cown, behind one of these. No more than
    /// `limit` are looked at.
    ///
    /// Until the set is dropped the gate stays shut, and the state is not interrupted; an interrupt
    /// that comes meanwhile is followed by a call then.
    ///
    /// Returns `None` if the gate is open, or if the state is being interrupted, or examined, right
    /// now.
    pub fn blocked_set(&self, limit: usize) -> Option<BlockedSet> {
        self.assert_interruptible();
        // No scheduling point for the simulation here: whoever searches looks at many cowns as at one.
        let token = Token::take(self)?;
        let walk = token.walk(limit);
        let is_complete = walk.from.is_empty() && !walk.has_missed;
        Some(BlockedSet { blocked: walk.found, is_complete, _token: token })
    }
}

impl<T: Interruptible> WeakCown<T> {
    /// As [`Cown::queue_id`]; a member's of a group only while somebody has a handle.
    pub fn queue_id(&self) -> Option<CownId> {
        let header = self.header_ptr();
        // SAFETY: a weak handle keeps the header alive.
        if unsafe { header.as_ref() }.is_grouped() {
            return self.upgrade().map(|cown| cown.queue_id());
        }
        Some(CownId::of(header))
    }
}

/// The token of a queue that was parked. It is left there again in the end, or, if there was an interrupt
/// meanwhile, goes to the task that interrupts the state.
struct Token {
    /// Alive: the request that the token was parked with stays at the head.
    queue: NonNull<CownHeader>,
    /// What interrupts it.
    task: TaskPtr,
    /// Whether the queue is a group's.
    is_group: bool,
    home: RuntimeId,
    /// The runtime is at work until the token is back.
    _busy: busy::HeldOpen,
}

impl Token {
    fn take<T: Interruptible>(cown: &Cown<T>) -> Option<Self> {
        let queue = cown.header().queue();
        // A hint, which spares those that are not parked the rest.
        if !queue.has(Flags::PARKED) {
            return None;
        }
        let home = queue.home_of_queue();
        let busy = busy::hold_open(home);
        // We leave nothing for the state. From here on the bits are as while it is interrupted: an interrupt
        // that finds neither of them appends an empty request, and `park` below sees its bit.
        if !queue.flags.unpark() {
            return None;
        }
        let (queue, task) = (cown.queue(), cown.interrupt_task());
        Some(Self { queue, task, is_group: cown.header().is_grouped(), home, _busy: busy })
    }

    /// The behaviours that wait, up to a limit.
    fn walk(&self, limit: usize) -> Walk {
        let mut walk = Walk::new(limit);
        // SAFETY: with the token the head, and all that stands behind it, stays where it is.
        unsafe {
            let (first, waits) = self.first();
            if waits {
                walk.note(self.queue, first);
            }
            walk.from.push(From::Behind(self.queue, first));
            walk.run();
        }
        walk
    }

    /// The first request in the queue, and whether it waits.
    fn first(&self) -> (NonNull<Slot>, bool) {
        // SAFETY: the token; the guard is there, as the cown is interruptible.
        unsafe {
            if self.is_group {
                interrupt::first_at_gate(self.queue)
            } else {
                (NonNull::new_unchecked((*interruptible::of(self.queue).as_ptr()).head), true)
            }
        }
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        // SAFETY: the request at the head keeps the cown alive while we have the token.
        if !park(unsafe { self.queue.as_ref() }) {
            schedule(self.task, self.home);
        }
    }
}

/// What [`Cown::blocked_set`] has found. The gate stays shut until it is dropped.
#[must_use = "the gate may open again as soon as it is dropped"]
pub struct BlockedSet {
    /// The behaviours that wait, each by a cown and its place in the queue of that.
    pub blocked: Vec<(CownId, QueuePosition)>,
    /// Whether these are all. If not, there are more than were to be looked at, or something is just on its
    /// way.
    pub is_complete: bool,
    _token: Token,
}

impl fmt::Debug for BlockedSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockedSet")
            .field("blocked", &self.blocked)
            .field("is_complete", &self.is_complete)
            .finish_non_exhaustive()
    }
}

/// A walk over the requests that wait. None of them can be granted all its cowns meanwhile.
struct Walk {
    found: Vec<(CownId, QueuePosition)>,
    limit: usize,
    /// Where the queues are yet to be looked at.
    from: Vec<From>,
    /// Something may wait that cannot be reached now.
    has_missed: bool,
    /// The behaviours on several cowns that were followed.
    seen: HashSet<NonNull<Multi>>,
}

/// Where a queue is to be looked at.
enum From {
    /// What stands behind a request that waits.
    Behind(NonNull<CownHeader>, NonNull<Slot>),
    /// What waits for the end of a behaviour that waits itself, and has a cown for reading, or will have.
    Reader(NonNull<CownHeader>, NonNull<Slot>),
}

impl Walk {
    fn new(limit: usize) -> Self {
        Self { found: Vec::new(), limit, from: Vec::new(), has_missed: false, seen: HashSet::new() }
    }

    /// Notes a request that waits; follows its behaviour to the other cowns.
    ///
    /// # Safety
    /// The request waits, and will until the walk is over.
    unsafe fn note(&mut self, cown: NonNull<CownHeader>, slot: NonNull<Slot>) {
        self.found.push((CownId::of(cown), QueuePosition::of(slot)));
        // SAFETY: the request stays, by the caller's word.
        let member = unsafe { slot.as_ref() }.member();
        if !member.is_multi() {
            return;
        }
        // SAFETY: the member says that the slot lies in a `Multi`, which has not run.
        let behaviour = unsafe { Multi::of(slot) };
        if !self.seen.insert(behaviour) {
            return;
        }
        // SAFETY: as above. All requests of a behaviour are appended before the first is linked, so
        // the others stand in their queues until it has run; but for readers, which leave theirs
        // when they are granted.
        for other in unsafe { Multi::requests(behaviour) } {
            // SAFETY: a behaviour that waits keeps its cowns alive.
            let (of, grouped) =
                unsafe { (other.member().queue_ptr(), other.member().header().is_grouped()) };
            if of == cown || other.is_joined() {
                continue;
            }
            let reads = other.member().is_read() && !grouped;
            let from = if reads { From::Reader } else { From::Behind };
            self.from.push(from(of, NonNull::from(other)));
        }
    }

    /// Notes all requests that wait for those in `from`, until there are too many.
    ///
    /// # Safety
    /// The requests in `from` wait, or their behaviours do, and will until the walk is over.
    unsafe fn run(&mut self) {
        while let Some(from) = self.from.pop() {
            let (cown, next) = match from {
                // SAFETY: what stands behind a request that waits, waits.
                From::Behind(cown, slot) => (cown, unsafe { successor(cown, slot) }),
                // SAFETY: by the caller's word.
                From::Reader(cown, slot) => (cown, unsafe { self.behind_reader(cown, slot) }),
            };
            if let Some(next) = next {
                self.from.push(From::Behind(cown, next));
                if self.found.len() >= self.limit {
                    return;
                }
                // SAFETY: as above. (Pushed before: those that it leads to come first.)
                unsafe { self.note(cown, next) };
            }
        }
    }

    /// What cannot be granted a cown before a behaviour has run that reads it: the exclusive request to
    /// which the token is given by the last of the readers. Those that read beside it wait for nobody.
    ///
    /// # Safety
    /// The slot is of a behaviour that waits, and will until the walk is over; the cown is in no group.
    unsafe fn behind_reader(
        &mut self,
        cown: NonNull<CownHeader>,
        slot: NonNull<Slot>,
    ) -> Option<NonNull<Slot>> {
        // SAFETY: by the caller's word; it keeps the cown alive.
        let (header, slot) = unsafe { (cown.as_ref(), slot.as_ref()) };
        // ORDERING: Acquire pairs with the release in `Slot::reads`: it is among the readers counted below.
        if slot.next.load(Ordering::Acquire) != Slot::READS {
            // Others before it hold the cown up. What stands next to it may be another reader, which may run
            // and be gone at any time.
            self.has_missed = true;
            return None;
        }
        // ORDERING: Acquire pairs with the release in `claim_from_readers`: the request. It stays there as
        // long as one reads.
        if header.readers.load(Ordering::Acquire) & WAITER != 0 {
            // ORDERING: Relaxed. Published by the bit that was seen.
            return NonNull::new(header.waiter.load(Ordering::Relaxed).cast());
        }
        // ORDERING: Acquire, as in `successor`. If something is in the queue, it is about to be granted the
        // cown for reading, or to be put aside as above.
        self.has_missed |= !header.tail.load(Ordering::Acquire).is_null();
        None
    }
}

/// What stands behind a request in its queue.
///
/// # Safety
/// The request stands in the cown's queue, and does not leave it meanwhile.
unsafe fn successor(cown: NonNull<CownHeader>, slot: NonNull<Slot>) -> Option<NonNull<Slot>> {
    // SAFETY: by the caller's word; the request keeps the cown alive.
    let (slot, tail) = unsafe { (slot.as_ref(), &cown.as_ref().tail) };
    steps::wait_for(|| {
        // ORDERING: Acquire, both, as in `leave`; a successor that has swapped itself in is about
        // to link itself.
        let tail = tail.load(Ordering::Acquire);
        let next = NonNull::new(slot.next.load(Ordering::Acquire));
        let is_last = std::ptr::eq(tail, slot) || Last::of_tail(tail).is_some();
        (next.is_some() || is_last).then_some(next)
    })
}
