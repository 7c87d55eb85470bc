//! Blocked sets: the behaviours that cannot run before an interruptible cown is released, for the
//! search for deadlocks.

use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use crate::queue::member_interrupt;
use std::collections::HashSet;
use std::fmt;
use std::ptr::NonNull;

use super::interruptible::Interruptible;
use crate::behaviour::here;
use crate::behaviour::single::NamedVTables;
use crate::behaviour::spawn_plain;
use crate::body::{NamedCompletion, NoResult};
use crate::cown::handle::{Cown, CownId, WeakCown};
use crate::cown::set::Unchecked;
use crate::poll_until;
use crate::queue::header::Flags;
use crate::queue::interrupt_header;
use crate::queue::interrupt_header::try_park;
use crate::queue::multi_block::LiveMulti;
use crate::queue::slot::QueuePosition;
use crate::runtime_ids::RuntimeId;
use crate::sched::{hold_open, schedule};
use crate::simulated;
use crate::task::TaskPtr;

impl<T: Interruptible> Cown<T> {
    /// Spawns a behaviour on this cown alone, [unchecked](Cown::unchecked), and returns its
    /// position in the queue, or `None` if the cown is in a group that the caller holds: then it
    /// comes before everything in the queue. Reports name it like the type `N`, since closures of
    /// one type may do what differs.
    #[inline]
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn spawn_placed_as<N: ?Sized, F>(&self, closure: F) -> Option<QueuePosition>
    where
        F: FnOnce(&mut T) + Send + 'static,
    {
        simulated::spawns();
        let set = &Unchecked(self);
        spawn_plain::spawn_placed(set, closure, NamedVTables::of::<N>())
    }

    /// Like [`serve_here`](crate::behaviour::serve_here), [unchecked](Cown::unchecked). If the cown
    /// is not free, the behaviour is spawned, with the code of those on a [path](Self::send_path).
    #[inline(always)]
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn serve_unchecked(&self, batch: u32, closure: impl FnOnce(&mut T) + Send + 'static) {
        if let Some((_, closure, _)) = here::serve(Unchecked(self), batch, closure, NoResult) {
            simulated::spawns();
            spawn_plain::spawn_unchecked(self, closure);
        }
    }

    /// Like [`serve_here`](crate::behaviour::serve_here), [unchecked](Cown::unchecked), with what
    /// may live on the caller's stack. Returns `false` without running it if the cown is not free.
    /// Reports name the behaviour `name`.
    pub fn serve_by_ref(
        &self,
        batch: u32,
        name: fn() -> &'static str,
        work: &mut (dyn FnMut(&mut T) + Send),
    ) -> bool {
        here::serve(Unchecked(self), batch, work, NamedCompletion { completion: NoResult, name })
            .is_none()
    }

    /// Returns the identity of the queue that contains the cown's behaviours: its own, or that of
    /// its group.
    pub fn queue_id(&self) -> CownId {
        // SAFETY: the handle keeps the cown alive, and with it its leader.
        CownId::of(unsafe { self.live_cown() }.queue())
    }

    /// Returns the task that interrupts the cown or its group.
    fn interrupt_task(&self) -> TaskPtr {
        // SAFETY: the handle keeps the cown alive, and with it its leader; the cown is
        // interruptible.
        unsafe {
            let cown = self.live_cown();
            match cown.leader() {
                Some(leader) => member_interrupt::task_of(leader),
                None => interrupt_header::task_of(cown),
            }
        }
    }

    /// If the cown's gate is [shut](crate::queue::interrupt_header::Gate::Shut), returns every
    /// behaviour that cannot run before it opens, each as a cown that it waits for and its position
    /// there. These are the behaviours behind the gate, and those that wait, on any cown, behind
    /// one of these. Examines at most `limit`.
    ///
    /// Until the set is dropped, the gate stays shut and the state is not called; an interrupt that
    /// comes meanwhile is followed by a call afterwards.
    ///
    /// Returns `None` if the gate is open, or if the state is currently being interrupted or
    /// examined.
    pub fn blocked_set(&self, limit: usize) -> Option<BlockedSet> {
        self.assert_interruptible();
        // There is no scheduling point here: a search treats many cowns as one step.
        let token = ParkedToken::take(self)?;
        let walk = token.walk(limit);
        let is_complete = walk.from.is_empty() && !walk.has_missed;
        Some(BlockedSet { blocked: walk.found, is_complete, _token: token })
    }
}

impl<T: Interruptible> WeakCown<T> {
    /// Like [`Cown::queue_id`]; for a member of a group only while it has a handle.
    pub fn queue_id(&self) -> Option<CownId> {
        if self.header().is_grouped() {
            return self.upgrade().map(|cown| cown.queue_id());
        }
        // SAFETY: the weak handle keeps the block alive.
        Some(CownId::of(unsafe { self.live_cown() }))
    }
}

/// The token of a parked queue. Dropping it leaves the token there again or, if there was an
/// interrupt meanwhile, gives it to the task that interrupts the state.
struct ParkedToken {
    /// Alive: the request with which the token was parked stays at the head.
    queue: LiveCown,
    /// The task that interrupts it.
    task: TaskPtr,
    /// Whether the queue is a group's.
    is_group: bool,
    home: RuntimeId,
    /// Keeps the runtime active until the token is back.
    _busy: hold_open::HeldOpen,
}

impl ParkedToken {
    fn take<T: Interruptible>(cown: &Cown<T>) -> Option<Self> {
        let queue = cown.header().queue();
        // A hint, which spares queues that are not parked the rest.
        if !queue.has(Flags::PARKED) {
            return None;
        }
        let home = queue.home_of_queue();
        let busy = hold_open::hold_open(home);
        // Nothing is left for the state. From here on the bits are as during an interrupt: an
        // interrupt that finds neither of them appends an empty request, and `try_park` below sees
        // its bit.
        if !queue.flags.try_unpark() {
            return None;
        }
        // SAFETY: the request with which the token was parked keeps the cown, or its group's
        // leader, alive until the token is back.
        let queue = unsafe { cown.live_cown() }.queue();
        let task = cown.interrupt_task();
        Some(Self { queue, task, is_group: cown.header().is_grouped(), home, _busy: busy })
    }

    /// Collects the waiting behaviours, up to a limit.
    fn walk(&self, limit: usize) -> QueueWalk {
        let mut walk = QueueWalk::new(limit);
        // SAFETY: while this thread has the token, the head and everything behind it stay in place.
        unsafe {
            let (first, waits) = self.first();
            if waits {
                walk.note(self.queue, first);
            }
            walk.from.push(WalkStart::Behind(self.queue, first));
            walk.run();
        }
        walk
    }

    /// Returns the first request in the queue, and whether it waits.
    fn first(&self) -> (LiveSlot, bool) {
        // SAFETY: this thread has the token, and the cown is interruptible, so it has a guard.
        unsafe {
            if self.is_group {
                member_interrupt::first_at_gate(self.queue)
            } else {
                (
                    LiveSlot::new(NonNull::new_unchecked(
                        (*interrupt_header::of(self.queue).as_ptr()).head,
                    )),
                    true,
                )
            }
        }
    }
}

impl Drop for ParkedToken {
    fn drop(&mut self) {
        if !try_park(self.queue.header()) {
            schedule(self.task, self.home);
        }
    }
}

/// The result of [`Cown::blocked_set`]. The gate stays shut until it is dropped.
#[must_use = "the gate may open again as soon as it is dropped"]
pub struct BlockedSet {
    /// The waiting behaviours, each as a cown and a position in its queue.
    pub blocked: Vec<(CownId, QueuePosition)>,
    /// Whether this is all of them. If not, there are more than the limit, or a request is
    /// currently being appended or granted.
    pub is_complete: bool,
    _token: ParkedToken,
}

impl fmt::Debug for BlockedSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockedSet")
            .field("blocked", &self.blocked)
            .field("is_complete", &self.is_complete)
            .finish_non_exhaustive()
    }
}

/// A walk over waiting requests. Meanwhile none of them can be granted all its cowns.
struct QueueWalk {
    found: Vec<(CownId, QueuePosition)>,
    limit: usize,
    /// Where queues remain to be examined.
    from: Vec<WalkStart>,
    /// A request may be waiting that cannot be reached now.
    has_missed: bool,
    /// The behaviours on several cowns that were followed.
    seen: HashSet<LiveMulti>,
}

/// Where to examine a queue.
enum WalkStart {
    /// The request behind a waiting one.
    Behind(LiveCown, LiveSlot),
    /// The request that waits for the end of a waiting behaviour which is, or will be, a reader of
    /// the cown.
    Reader(LiveCown, LiveSlot),
}

impl QueueWalk {
    fn new(limit: usize) -> Self {
        Self { found: Vec::new(), limit, from: Vec::new(), has_missed: false, seen: HashSet::new() }
    }

    /// Records a waiting request; follows its behaviour to the other cowns.
    ///
    /// # Safety
    /// The request waits, and continues to until the walk is over.
    unsafe fn note(&mut self, cown: LiveCown, slot: LiveSlot) {
        self.found.push((CownId::of(cown), QueuePosition::of(slot.slot())));
        let member = slot.slot().member();
        if !member.is_multi() {
            return;
        }
        // SAFETY: the member says that the slot is in a `Multi`, which has not run.
        let behaviour = unsafe { LiveMulti::of(slot) };
        if !self.seen.insert(behaviour) {
            return;
        }
        for other in behaviour.slots() {
            let member = other.slot().member();
            let (of, grouped) = (member.queue(), member.header().is_grouped());
            if of == cown || other.slot().is_joined() {
                continue;
            }
            let reads = member.is_read() && !grouped;
            let from = if reads { WalkStart::Reader } else { WalkStart::Behind };
            self.from.push(from(of, other));
        }
    }

    /// Records all requests that wait for those in `from`, until there are too many.
    ///
    /// # Safety
    /// The requests in `from` wait, or their behaviours do, and continue to until the walk is over.
    unsafe fn run(&mut self) {
        while let Some(from) = self.from.pop() {
            let (cown, next) = match from {
                // SAFETY: the request waits, or is granted and its behaviour waits, so it stays in
                // its queue; and what was reached through its links has ended its step.
                WalkStart::Behind(cown, slot) => (cown, unsafe { successor(cown, slot) }),
                WalkStart::Reader(cown, slot) => (cown, self.behind_reader(cown, slot)),
            };
            if let Some(next) = next {
                self.from.push(WalkStart::Behind(cown, next));
                if self.found.len() >= self.limit {
                    return;
                }
                // SAFETY: a request behind a waiting one waits as long. (Recorded after the push,
                // so what it leads to comes first.)
                unsafe { self.note(cown, next) };
            }
        }
    }

    /// Returns the request that cannot be granted the cown before a reading behaviour has run: the
    /// exclusive request to which the last of the readers gives the token. Adjacent readers do not
    /// wait.
    fn behind_reader(&mut self, cown: LiveCown, slot: LiveSlot) -> Option<LiveSlot> {
        let (header, slot) = (cown.header(), slot.slot());
        if !slot.is_reading() {
            // Other requests before it hold the cown up. Its neighbour may be another reader, which
            // may run and be gone at any time.
            self.has_missed = true;
            return None;
        }
        // The reader has not run, so it does not end meanwhile.
        let waiter = header.readers().waiter();
        if waiter.is_some() {
            return waiter;
        }
        // If something is in the queue, it is about to be granted the cown for reading, or to wait
        // for the readers.
        self.has_missed |= !header.tail.is_empty();
        None
    }
}

/// Returns the request behind another one in its queue.
///
/// # Safety
/// The request is in the queue of `cown`, and stays there meanwhile; its step is over.
unsafe fn successor(cown: LiveCown, slot: LiveSlot) -> Option<LiveSlot> {
    let tail = &cown.header().tail;
    poll_until::poll_until_some(|| {
        // A successor that has swapped itself in is about to link itself.
        let tail = tail.look();
        // SAFETY: the request stays in its queue, and its step is over, as this function requires.
        let next = unsafe { slot.successor() };
        let is_last = tail.is(slot) || tail.end_mark().is_some();
        (next.is_some() || is_last).then_some(next)
    })
}
