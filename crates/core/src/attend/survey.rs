//! Who cannot run before an attended cown is let go: what a search for deadlocks needs to know.

use std::collections::HashSet;
use std::marker::PhantomData;
use std::ptr::NonNull;

use coact_sync::backoff::Backoff;
use coact_sync::shim::atomic::Ordering;

use super::{Attended, guard};
use crate::behaviour::multi::Multi;
use crate::behaviour::slot::Slot;
use crate::behaviour::spawn;
use crate::behaviour::task::TaskPtr;
use crate::behaviour::when::when;
use crate::cown::handle::{Cown, CownId, WeakCown};
use crate::cown::header::{CownHeader, Flags};
use crate::cown::set::Regardless;
use crate::group::alert as group;
use crate::sched::{guest, schedule};

/// Where a behaviour stands in the queue of a cown. It says something only as long as the behaviour
/// has not run: places are used again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place(usize);

impl Place {
    pub(crate) fn of(slot: NonNull<Slot>) -> Self {
        Self(slot.as_ptr().addr())
    }
}

impl<T: Attended> Cown<T> {
    /// Spawns a behaviour on this cown alone, [regardless](Cown::regardless) of its condition, and
    /// tells where it stands in the queue; nowhere that could be told, if the cown is in a group.
    pub fn spawn_placed(&self, closure: impl FnOnce(&mut T) + Send + 'static) -> Option<Place> {
        if self.header().is_grouped() {
            when(Regardless(self), closure);
            return None;
        }
        Some(spawn::spawn_placed(&Regardless(self), closure))
    }

    /// The identity of the queue that the cown's behaviours stand in: its own, or that of its group.
    pub fn queue_id(&self) -> CownId {
        CownId::of(self.queue())
    }

    /// The task that attends to the cown, or to its group.
    fn door_keeper(&self) -> TaskPtr {
        match self.header().leader() {
            Some(leader) => group::task_of(leader),
            // SAFETY: attended to.
            None => unsafe { guard::task_of(self.header_ptr()) },
        }
    }

    fn queue(&self) -> NonNull<CownHeader> {
        self.header().leader().unwrap_or(self.header_ptr())
    }

    /// If the cown's door is [shut](super::Door::Shut): tells every behaviour that cannot run before
    /// it is opened, by a cown that the behaviour waits for and its place there. These are the
    /// behaviours behind the door, and those that wait, on any cown, behind one of these; but not
    /// those behind a mere reader. No more than `limit` are looked at.
    ///
    /// While `look` runs the door stays shut. Afterwards the state is attended to, as after an
    /// [alert](Cown::alert).
    ///
    /// Returns `None` if the door is open, or if the state is being attended to right now.
    pub fn survey<R>(&self, limit: usize, look: impl FnOnce(Survey<'_>) -> R) -> Option<R> {
        self.assert_attended();
        let home = self.header().home();
        // No scheduling point for the simulation here: whoever searches holds a lock meanwhile.
        guest::visit(home, || {
            let parked = |flags: u8| {
                (flags & (Flags::PARKED | Flags::ALERT) == Flags::PARKED)
                    .then_some(flags | Flags::ALERT)
            };
            // ORDERING: Acquire pairs with the release in `park`: the token, and with it the head. We
            // leave nothing for the state.
            let (ok, failed) = (Ordering::Acquire, Ordering::Relaxed);
            self.header().queue().flags.fetch_update(ok, failed, parked).ok()?;
            let token = Token { queue: self.queue(), task: self.door_keeper(), cown: self };
            Some(look(token.survey(limit)))
        })
    }
}

impl<T: Attended> WeakCown<T> {
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

/// The token of a parked queue. It is given back by having the state attended to.
struct Token<'c, T: Attended> {
    queue: NonNull<CownHeader>,
    /// What attends to it.
    task: TaskPtr,
    cown: &'c Cown<T>,
}

impl<T: Attended> Token<'_, T> {
    fn survey(&self, limit: usize) -> Survey<'_> {
        let mut walk = Walk::new(limit);
        // SAFETY: with the token the head, and all that stands behind it, stays where it is.
        unsafe {
            let (first, waits) = self.first();
            if waits {
                walk.note(self.queue, first);
            }
            walk.from.push((self.queue, first));
            walk.run();
        }
        Survey { is_complete: walk.from.is_empty(), blocked: walk.found, token: PhantomData }
    }

    /// The first request in the queue, and whether it waits.
    fn first(&self) -> (NonNull<Slot>, bool) {
        // SAFETY: the token; the guard is there, as the cown is attended to.
        unsafe {
            match self.cown.header().leader() {
                Some(leader) => group::first_at_door(leader),
                None => (NonNull::new_unchecked((*guard::of(self.queue).as_ptr()).head), true),
            }
        }
    }
}

impl<T: Attended> Drop for Token<'_, T> {
    fn drop(&mut self) {
        schedule(self.task, self.cown.header().home());
    }
}

/// What [`Cown::survey`] has found.
#[derive(Debug)]
pub struct Survey<'a> {
    /// The behaviours that wait, each by a cown and its place in the queue of that.
    pub blocked: Vec<(CownId, Place)>,
    /// Whether these are all.
    pub is_complete: bool,
    token: PhantomData<&'a ()>,
}

/// A walk over the requests that wait. None of them can be granted all its cowns meanwhile.
struct Walk {
    found: Vec<(CownId, Place)>,
    limit: usize,
    /// Requests from which on the queues are yet to be looked at.
    from: Vec<(NonNull<CownHeader>, NonNull<Slot>)>,
    /// The behaviours on several cowns that were followed.
    seen: HashSet<NonNull<Multi>>,
}

impl Walk {
    fn new(limit: usize) -> Self {
        Self { found: Vec::new(), limit, from: Vec::new(), seen: HashSet::new() }
    }

    /// Notes a request that waits; follows its behaviour to the other cowns.
    ///
    /// # Safety
    /// The request waits, and will until the walk is over.
    unsafe fn note(&mut self, cown: NonNull<CownHeader>, slot: NonNull<Slot>) {
        self.found.push((CownId::of(cown), Place::of(slot)));
        // SAFETY: the request stays, by the caller's word.
        let member = unsafe { slot.as_ref() }.member;
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
                unsafe { (other.member.queue_ptr(), other.member.header().is_grouped()) };
            let leaves_early = other.member.is_read() && !grouped;
            if of != cown && !leaves_early && !other.is_joined() {
                self.from.push((of, NonNull::from(other)));
            }
        }
    }

    /// Notes all requests that stand behind those in `from`, until there are too many.
    ///
    /// # Safety
    /// The requests in `from` wait, and will until the walk is over.
    unsafe fn run(&mut self) {
        while let Some((cown, slot)) = self.from.pop() {
            // SAFETY: what stands behind a request that waits, waits.
            if let Some(next) = unsafe { successor(cown, slot) } {
                self.from.push((cown, next));
                if self.found.len() >= self.limit {
                    return;
                }
                // SAFETY: as above. (Pushed before: those that it leads to come first.)
                unsafe { self.note(cown, next) };
            }
        }
    }
}

/// What stands behind a request in its queue.
///
/// # Safety
/// The request stands in the cown's queue, and does not leave it meanwhile.
unsafe fn successor(cown: NonNull<CownHeader>, slot: NonNull<Slot>) -> Option<NonNull<Slot>> {
    let mut backoff = Backoff::new();
    loop {
        // SAFETY: by the caller's word; the request keeps the cown alive.
        // ORDERING: Acquire, both, as in `leave`; a successor that has swapped itself in is about
        // to link itself.
        unsafe {
            let next = slot.as_ref().next.load(Ordering::Acquire);
            if !next.is_null() {
                return NonNull::new(next);
            }
            if cown.as_ref().tail.load(Ordering::Acquire) == slot.as_ptr() {
                return None;
            }
        }
        backoff.snooze();
    }
}
