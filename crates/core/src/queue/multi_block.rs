//! The block of a behaviour on several cowns: its requests and their count.

use std::ptr::{NonNull, null_mut, without_provenance_mut};

use coact_sync::shim::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::header::Flags;
use super::requested_cown::RequestedCown;
use super::slot::Slot;
use crate::runtime_ids::RuntimeId;
use crate::sched::ReadySink;
use crate::task::{Task, TaskPtr, TaskVTable};

/// The front of every multi, whatever its body and the number of its cowns.
#[repr(C, align(8))]
pub(crate) struct Multi {
    task: Task,
    /// While the behaviour waits: the runtime that it is bound to, if any, see
    /// [`home`](Self::home). Once it is ready: the scheduler's link.
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

    /// Returns the behaviour that a request belongs to.
    ///
    /// # Safety
    /// The slot is live and in a `Multi`.
    pub(crate) unsafe fn of(slot: NonNull<Slot>) -> NonNull<Multi> {
        // SAFETY: a slot of a `Multi` is the first field of a `MultiSlot` (`repr(C)`).
        unsafe { slot.cast::<MultiSlot>().as_ref() }.owner
    }

    /// The runtime that it runs on: the one that it is bound to, or else that of its first cown.
    /// The first cown may move as long as the behaviour does not hold it; until then this is a
    /// hint.
    ///
    /// # Safety
    /// The behaviour and its cowns are alive, it was bound if it must be, and it has not been passed to
    /// the scheduler yet.
    #[inline]
    pub(crate) unsafe fn home(behaviour: NonNull<Multi>) -> RuntimeId {
        // SAFETY: the behaviour is live, as this function requires.
        let link = unsafe { &behaviour.as_ref().link };
        // ORDERING: Relaxed. `bind` wrote it before the behaviour was appended.
        match NonNull::new(link.load(Ordering::Relaxed)) {
            Some(bound) => RuntimeId::from_raw(bound.addr().get() as u16),
            // SAFETY: the behaviour's cowns are alive, as this function requires. It has one: a
            // behaviour without cowns is bound.
            None => unsafe { Self::first(behaviour).member().header() }.home(),
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

    /// Counts one grant. The last one makes the behaviour ready.
    ///
    /// # Safety
    /// The behaviour misses this grant. It may be gone after this call.
    #[inline(always)]
    pub(crate) unsafe fn resolve_one(behaviour: NonNull<Multi>, ready: &mut impl ReadySink) {
        // SAFETY: the behaviour misses this grant, so it is live. After the last grant the caller
        // owns it, and it holds all its cowns, so the first one cannot move. (If an earlier
        // behaviour has moved it, the thread that granted it knew that, and the count acquires it.)
        unsafe {
            if Self::count_grant(behaviour) {
                ready.ready(behaviour.cast(), Self::home(behaviour));
            }
        }
    }

    /// Counts one grant and returns whether it was the last: then the behaviour is ready, and the
    /// caller must pass it on. Otherwise it may be gone.
    ///
    /// # Safety
    /// The behaviour misses this grant.
    #[inline(always)]
    pub(crate) unsafe fn count_grant(behaviour: NonNull<Multi>) -> bool {
        // SAFETY: it misses a grant, so it has not run and is live.
        let multi = unsafe { behaviour.as_ref() };
        // ORDERING: AcqRel. Release passes on what this thread knows of the granted cown's state
        // (acquired with the token); the last one acquires that of all others, and runs. It need
        // not write: no other thread reads the count any more.
        multi.missing.load(Ordering::Acquire) == 1
            || multi.missing.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Returns whether it certainly runs on this runtime; `false` means that it may.
    ///
    /// # Safety
    /// The behaviour is ready, has cowns, and has not been passed to the scheduler yet.
    #[inline(always)]
    pub(crate) unsafe fn is_plainly_at(behaviour: NonNull<Multi>, home: RuntimeId) -> bool {
        // SAFETY: the behaviour is live, and holds its cowns, which are thus alive.
        let (link, first) = unsafe {
            let first = Self::first(behaviour);
            (&behaviour.as_ref().link, first.member().header())
        };
        // ORDERING: Relaxed, see `home`.
        link.load(Ordering::Relaxed).is_null() && first.flags.is_plain(home, Flags::GROUPED)
    }

    /// Returns a pointer to the first request.
    #[inline]
    pub(crate) fn slots(behaviour: NonNull<Multi>) -> NonNull<MultiSlot> {
        // SAFETY: the slots directly follow the header in the same block.
        unsafe { behaviour.add(1) }.cast()
    }

    /// The first request's slot, by reference.
    ///
    /// # Safety
    /// The behaviour is live for `'a`, and has cowns.
    #[inline(always)]
    pub(crate) unsafe fn first<'a>(behaviour: NonNull<Multi>) -> &'a Slot {
        // SAFETY: the behaviour is live for `'a` and has a first request.
        unsafe { &(*Self::slots(behaviour).as_ptr()).slot }
    }

    /// Returns the slots of its requests.
    ///
    /// # Safety
    /// The behaviour is live for `'a`.
    pub(crate) unsafe fn requests<'a>(
        behaviour: NonNull<Multi>,
    ) -> impl Iterator<Item = &'a Slot> + Clone {
        let first = Self::slots(behaviour);
        // SAFETY: the behaviour is live for `'a`.
        let len = unsafe { Self::len(behaviour) };
        // SAFETY: `len` slots follow the header in the block, which is live for `'a`.
        (0..len).map(move |index| unsafe { &(*first.add(index).as_ptr()).slot })
    }

    /// Prefetches the requests behind this behaviour, whose counts are written at its end.
    ///
    /// # Safety
    /// The behaviour is live.
    #[inline]
    pub(crate) unsafe fn prefetch_successors(behaviour: NonNull<Multi>) {
        // SAFETY: the behaviour is live, as this function requires.
        for slot in unsafe { Self::requests(behaviour) } {
            slot.prefetch_successor();
        }
    }

    /// Returns the number of its requests.
    ///
    /// # Safety
    /// The behaviour is live.
    #[inline]
    pub(crate) unsafe fn len(behaviour: NonNull<Multi>) -> usize {
        // SAFETY: the behaviour is live, and the length constant since its creation.
        unsafe { (*behaviour.as_ptr()).len as usize }
    }
}

pub(crate) unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: the task is a live `Multi`.
    NonNull::from(unsafe { &task.cast::<Multi>().as_ref().link })
}
