//! The block of a behaviour on several cowns: its requests and their count.

use std::ptr::{NonNull, null_mut, without_provenance_mut};

use coact_sync::shim::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::header::Flags;
use super::requested_cown::RequestedCown;
use super::slot::Slot;
use crate::queue::live_slot::LiveSlot;
use crate::runtime_ids::RuntimeId;
use crate::sched::ReadySink;
use crate::task::{Task, TaskPtr, TaskVTable};

/// The front of every multi, whatever its body and the number of its cowns.
#[repr(C, align(8))]
pub(crate) struct Multi {
    task: Task,
    /// While the behaviour waits: the runtime that it is bound to, if any, see
    /// [`home`](LiveMulti::home). Once it is ready: the scheduler's link.
    link: AtomicPtr<()>,
    /// The number of outstanding grants.
    missing: AtomicU32,
    len: u32,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Multi>() == 24);

/// A request with a pointer to its behaviour.
#[repr(C)]
pub(crate) struct MultiSlot {
    slot: Slot,
    owner: NonNull<Multi>,
}

impl MultiSlot {
    /// Creates a request of the behaviour, not queued yet.
    #[inline]
    pub(crate) fn new(member: RequestedCown, owner: NonNull<Multi>) -> Self {
        Self { slot: Slot::new(member.in_multi()), owner }
    }
}

impl Multi {
    /// The front of a behaviour on `len` cowns, none of which is granted yet.
    #[inline]
    pub(crate) fn new(vtable: &'static TaskVTable, len: u32) -> Self {
        Self {
            task: Task { vtable },
            link: AtomicPtr::new(null_mut()),
            missing: AtomicU32::new(len),
            len,
        }
    }

    /// Binds it to this runtime, whatever becomes of its first cown.
    pub(crate) fn bind(&mut self, home: RuntimeId) {
        let home = without_provenance_mut(usize::from(home.get()));
        // ORDERING: Relaxed. No other thread knows the behaviour.
        self.link.store(home, Ordering::Relaxed);
    }

    /// Records that `joined` of its requests have others in the queue for them. Returns how many
    /// are left.
    pub(crate) fn stand_for(&mut self, joined: usize) -> u32 {
        // At most the number of the behaviour's members.
        let queued = self.len - joined as u32;
        // ORDERING: Relaxed. Published when it is appended.
        self.missing.store(queued, Ordering::Relaxed);
        queued
    }

    /// Changes the type of its task, before it is queued.
    pub(crate) fn set_vtable(&mut self, vtable: &'static TaskVTable) {
        self.task.vtable = vtable;
    }
}

/// A behaviour on several cowns that is live: its block is not freed while this is used.
///
/// Who creates one from a pointer ([`new`](Self::new)) says why: the behaviour is the caller's own
/// and not spawned, misses a grant, is ready, or runs. It keeps its cowns alive: by the handles of
/// its set before it is spawned, then by its requests. Who gives it away does not use it
/// afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct LiveMulti(NonNull<Multi>);

impl LiveMulti {
    /// # Safety
    /// The pointer is that of a behaviour on several cowns, which is live as long as the value, or
    /// what is taken from it, is used.
    #[inline(always)]
    pub(crate) unsafe fn new(behaviour: NonNull<Multi>) -> Self {
        Self(behaviour)
    }

    /// Returns the behaviour that a request belongs to.
    ///
    /// # Safety
    /// The slot is in a `Multi`, and its pointer comes from that of the block, not from a reference
    /// to the slot.
    #[inline(always)]
    pub(crate) unsafe fn of(slot: LiveSlot) -> Self {
        // SAFETY: a slot of a `Multi` is the first field of a `MultiSlot` (`repr(C)`), which the
        // pointer may access, and live as long as its owner.
        Self(unsafe { slot.cast::<MultiSlot>().as_ref() }.owner)
    }

    #[inline(always)]
    fn multi<'a>(self) -> &'a Multi {
        // SAFETY: the behaviour is live as long as this is used, which is up to its creator.
        unsafe { self.0.as_ref() }
    }

    #[inline(always)]
    pub(crate) fn ptr(self) -> NonNull<Multi> {
        self.0
    }

    /// The task that the behaviour's owner runs or schedules.
    #[inline(always)]
    pub(crate) fn task(self) -> TaskPtr {
        self.0.cast()
    }

    /// The runtime that it runs on: the one that it is bound to, or else that of its first cown.
    /// The first cown may move as long as the behaviour does not hold it; until then this is a
    /// hint.
    ///
    /// # Safety
    /// The behaviour has cowns, or was bound; and it has not been passed to the scheduler yet,
    /// which uses the same word.
    #[inline]
    pub(crate) unsafe fn home(self) -> RuntimeId {
        // ORDERING: Relaxed. `bind` wrote it before the behaviour was appended.
        match NonNull::new(self.multi().link.load(Ordering::Relaxed)) {
            Some(bound) => RuntimeId::from_raw(bound.addr().get() as u16),
            // SAFETY: the behaviour is not bound, so it has cowns, as this function requires.
            None => unsafe { self.first() }.member().header().home(),
        }
    }

    /// Counts one grant. The last one makes the behaviour ready.
    ///
    /// # Safety
    /// The behaviour misses this grant. It may be gone after this call.
    #[inline(always)]
    pub(crate) unsafe fn resolve_one(self, ready: &mut impl ReadySink) {
        // SAFETY: the behaviour misses this grant, so it has cowns. After the last grant the caller
        // owns it, and it holds all its cowns, so the first one cannot move. (If an earlier
        // behaviour has moved it, the thread that granted it knew that, and the count acquires it.)
        unsafe {
            if self.count_grant() {
                ready.ready(self.task(), self.home());
            }
        }
    }

    /// Counts one grant and returns whether it was the last: then the behaviour is ready, and the
    /// caller must pass it on. Otherwise it may be gone.
    ///
    /// # Safety
    /// The behaviour misses this grant.
    #[inline(always)]
    pub(crate) unsafe fn count_grant(self) -> bool {
        let multi = self.multi();
        // ORDERING: AcqRel. Release passes on what this thread knows of the granted cown's state
        // (acquired with the token); the last one acquires that of all others, and runs. It need
        // not write: no other thread reads the count any more.
        multi.missing.load(Ordering::Acquire) == 1
            || multi.missing.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Returns whether it certainly runs on this runtime; `false` means that it may.
    ///
    /// # Safety
    /// The behaviour has cowns. (It is ready, and has not been passed to the scheduler yet.)
    #[inline(always)]
    pub(crate) unsafe fn is_plainly_at(self, home: RuntimeId) -> bool {
        // SAFETY: the behaviour has cowns, as this function requires.
        let first = unsafe { self.first() }.member().header();
        // ORDERING: Relaxed, see `home`.
        self.multi().link.load(Ordering::Relaxed).is_null()
            && first.flags.is_plain(home, Flags::GROUPED)
    }

    /// Returns a pointer to the first request.
    #[inline]
    pub(crate) fn first_slot(self) -> NonNull<MultiSlot> {
        // SAFETY: the slots directly follow the header in the same block.
        unsafe { self.0.add(1) }.cast()
    }

    /// The first request's slot, by reference.
    ///
    /// # Safety
    /// The behaviour has cowns.
    #[inline(always)]
    pub(crate) unsafe fn first<'a>(self) -> &'a Slot {
        // SAFETY: the behaviour has a first request.
        unsafe { &(*self.first_slot().as_ptr()).slot }
    }

    /// Returns its requests. None of the block is read while they are iterated over.
    #[inline]
    pub(crate) fn slots(self) -> impl Iterator<Item = LiveSlot> + Clone {
        let first = self.first_slot();
        // SAFETY: as many slots as its length follow the header in the block.
        (0..self.len()).map(move |index| unsafe { LiveSlot::new(first.add(index).cast()) })
    }

    /// The same, by reference.
    pub(crate) fn requests<'a>(self) -> impl Iterator<Item = &'a Slot> + Clone {
        self.slots().map(LiveSlot::slot)
    }

    /// Prefetches the requests behind this behaviour, whose counts are written at its end.
    #[inline]
    pub(crate) fn prefetch_successors(self) {
        for slot in self.requests() {
            slot.prefetch_successor();
        }
    }

    /// Returns the number of its requests.
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.multi().len as usize
    }
}

pub(crate) unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: the task is a live `Multi`.
    NonNull::from(unsafe { &task.cast::<Multi>().as_ref().link })
}
