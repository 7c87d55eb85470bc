//! What the requests of a behaviour on several cowns lie in.

use std::ptr::{NonNull, null_mut, without_provenance_mut};

use coact_sync::prefetch;
use coact_sync::shim::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::header::Flags;
use super::member::Member;
use super::slot::Slot;
use crate::ids::RuntimeId;
use crate::sched::Ready;
use crate::task::{Task, TaskPtr, TaskVTable};

/// The front of every such behaviour, whatever its body and the number of its cowns.
#[repr(C, align(8))]
pub(crate) struct Multi {
    task: Task,
    /// While the behaviour waits: the runtime that it is bound to, if there is one, see
    /// [`home`](Self::home). Once it is ready: the scheduler's link.
    link: AtomicPtr<()>,
    /// Grants that are outstanding.
    missing: AtomicU32,
    len: u32,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Multi>() == 24);

/// A request with the way back to its behaviour.
#[repr(C)]
pub(crate) struct MultiSlot {
    slot: Slot,
    owner: NonNull<Multi>,
}

impl MultiSlot {
    /// A request of the behaviour, which is not queued yet.
    #[inline]
    pub(crate) fn new(member: Member, owner: NonNull<Multi>) -> Self {
        Self { slot: Slot::new(member.in_multi()), owner }
    }
}

impl Multi {
    /// The front of a behaviour on so many cowns, which has none of them yet.
    #[inline]
    pub(crate) fn new(vtable: &'static TaskVTable, len: u32) -> Self {
        Self {
            task: Task { vtable },
            link: AtomicPtr::new(null_mut()),
            missing: AtomicU32::new(len),
            len,
        }
    }

    /// The behaviour that a request belongs to.
    ///
    /// # Safety
    /// The slot is live and lies in a `Multi`.
    pub(crate) unsafe fn of(slot: NonNull<Slot>) -> NonNull<Multi> {
        // SAFETY: a multi slot begins with its slot (`repr(C)`).
        unsafe { slot.cast::<MultiSlot>().as_ref() }.owner
    }

    /// The runtime that it runs on: the one that it is bound to, or else that of its first cown. That may
    /// be moved as long as the behaviour does not hold it; until then this is a hint.
    ///
    /// # Safety
    /// The behaviour is live and settled, and not ready: the scheduler has not got it yet. Its cowns are
    /// alive.
    #[inline]
    pub(crate) unsafe fn home(behaviour: NonNull<Multi>) -> RuntimeId {
        // SAFETY: live, by the caller's word.
        let link = unsafe { &behaviour.as_ref().link };
        // ORDERING: Relaxed. Written by `bind` before the behaviour was appended.
        match NonNull::new(link.load(Ordering::Relaxed)) {
            Some(bound) => RuntimeId::from_raw(bound.addr().get() as u16),
            // SAFETY: alive, by the caller's word. What has no cowns is bound.
            None => unsafe { Self::first(behaviour).member().header() }.home(),
        }
    }

    /// Says that it runs there, whatever becomes of its first cown.
    pub(crate) fn bind(&mut self, home: RuntimeId) {
        let home = without_provenance_mut(usize::from(home.get()));
        // ORDERING: Relaxed. Nobody else knows the behaviour.
        self.link.store(home, Ordering::Relaxed);
    }

    /// So many of its requests have others to stand in the queue for them. Returns how many are left.
    pub(crate) fn stand_for(&mut self, joined: usize) -> u32 {
        // As many as the behaviour has members, at most.
        let queued = self.len - joined as u32;
        // ORDERING: Relaxed. Published when it is appended.
        self.missing.store(queued, Ordering::Relaxed);
        queued
    }

    /// Makes it a task of another type, before it is queued.
    pub(crate) fn set_vtable(&mut self, vtable: &'static TaskVTable) {
        self.task.vtable = vtable;
    }

    /// Counts one grant. The last one makes the behaviour ready.
    ///
    /// # Safety
    /// The behaviour misses this grant. It may be gone after this call.
    #[inline(always)]
    pub(crate) unsafe fn resolve_one(behaviour: NonNull<Multi>, ready: &mut impl Ready) {
        // SAFETY: by the caller's word. If it was the last grant the behaviour is the caller's to pass on, and it has all
        // its cowns now, so nobody moves the first one. (That it was moved by a behaviour before this one was known to
        // whoever granted it, and is acquired with the count.)
        unsafe {
            if Self::count_grant(behaviour) {
                ready.ready(behaviour.cast(), Self::home(behaviour));
            }
        }
    }

    /// Counts one grant; says whether it was the last: then the behaviour is ready, and the caller's to pass on. If not it
    /// may be gone.
    ///
    /// # Safety
    /// The behaviour misses this grant.
    #[inline(always)]
    pub(crate) unsafe fn count_grant(behaviour: NonNull<Multi>) -> bool {
        // SAFETY: it misses a grant, and so has not run.
        let multi = unsafe { behaviour.as_ref() };
        // ORDERING: AcqRel. Release passes on what this thread knows of the granted cown's state
        // (acquired with the token); the last one acquires that of all others, and runs. It need
        // not write: nobody else looks at the count any more.
        multi.missing.load(Ordering::Acquire) == 1
            || multi.missing.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Whether it surely runs on this runtime. It may if not.
    ///
    /// # Safety
    /// The behaviour is ready, has cowns, and the scheduler has not got it yet.
    #[inline(always)]
    pub(crate) unsafe fn is_plainly_at(behaviour: NonNull<Multi>, home: RuntimeId) -> bool {
        // SAFETY: it is live, and holds its cowns.
        let (link, first) = unsafe {
            let first = Self::first(behaviour);
            (&behaviour.as_ref().link, first.member().header())
        };
        // ORDERING: Relaxed, as in `home`.
        link.load(Ordering::Relaxed).is_null() && first.flags.is_plain(home, Flags::GROUPED)
    }

    /// The first request.
    #[inline]
    pub(crate) fn slots(behaviour: NonNull<Multi>) -> NonNull<MultiSlot> {
        // SAFETY: the slots lie straight behind the header, in the same block.
        unsafe { behaviour.add(1) }.cast()
    }

    /// The same, to look at.
    ///
    /// # Safety
    /// The behaviour is live for `'a`, and has cowns.
    #[inline(always)]
    pub(crate) unsafe fn first<'a>(behaviour: NonNull<Multi>) -> &'a Slot {
        // SAFETY: by the caller's word.
        unsafe { &(*Self::slots(behaviour).as_ptr()).slot }
    }

    /// Its requests' slots.
    ///
    /// # Safety
    /// The behaviour is live for `'a`.
    pub(crate) unsafe fn requests<'a>(
        behaviour: NonNull<Multi>,
    ) -> impl Iterator<Item = &'a Slot> + Clone {
        let first = Self::slots(behaviour);
        // SAFETY: so many slots lie behind the header.
        (0..Self::len(behaviour)).map(move |index| unsafe { &(*first.add(index).as_ptr()).slot })
    }

    /// Asks for those that stand behind this behaviour: their counts are written at its end.
    ///
    /// # Safety
    /// The behaviour is live.
    #[inline]
    pub(crate) unsafe fn prefetch_successors(behaviour: NonNull<Multi>) {
        // SAFETY: by the caller's word.
        for slot in unsafe { Self::requests(behaviour) } {
            // ORDERING: Relaxed. Only a hint is made of it.
            prefetch::for_writing(slot.next.load(Ordering::Relaxed));
        }
    }

    /// How many requests it has.
    #[inline]
    pub(crate) fn len(behaviour: NonNull<Multi>) -> usize {
        // SAFETY: constant since the node was made.
        unsafe { (*behaviour.as_ptr()).len as usize }
    }
}

pub(crate) unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: the task is a live `Multi`.
    NonNull::from(unsafe { &task.cast::<Multi>().as_ref().link })
}
