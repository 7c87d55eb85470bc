//! What every cown has in front of its state: the words that behaviours are queued, counted and
//! marked with. The protocol on these words is in `queue/README.md`.

use std::ptr::NonNull;

use coact_sync::shim::atomic::{AtomicPtr, AtomicU32, End, Ordering};

use super::counts::Counts;
pub(crate) use super::flags::Flags;
use crate::ids::Birthplace;
use crate::ids::RuntimeId;
use crate::queue::slot::Slot;
#[cfg(not(loom))]
use crate::simulated;

/// The untyped front of a cown: 32 bytes.
///
/// Who may touch what:
///
/// * `tail`: anyone with a handle swaps itself in; the holder of the cown takes itself out.
/// * `counts`: the handles, as in `Arc`.
/// * `readers`: raised only by the *token holder* (the one who owns the queue's head), lowered by
///   each reader at its end.
/// * `waiter`: while the cown is held exclusively, the holder's link in a scheduler list; while
///   readers run, the exclusive request that waits for the last of them. A member of a group has its
///   leader here, and leaves `tail` alone: it stands in the leader's queue. Whether it is in the
///   leader's list of interrupts it has in `readers`.
/// * `flags`: the cown's condition, and whose workers run the behaviours on it, see [`Flags`].
#[repr(C)]
pub(crate) struct CownHeader {
    pub(crate) tail: AtomicPtr<Slot>,
    pub(crate) waiter: AtomicPtr<()>,
    pub(crate) counts: Counts,
    pub(crate) readers: AtomicU32,
    pub(crate) flags: Flags,
    #[cfg(loom)]
    serial: usize,
}

/// One running or granted reader in [`CownHeader::readers`].
pub(crate) const ONE_READER: u32 = 2;
/// The bit of [`CownHeader::readers`] that says that an exclusive request waits in `waiter`.
pub(crate) const WAITER: u32 = 1;

impl CownHeader {
    pub(crate) fn new(runtime: RuntimeId) -> Self {
        Self::with_flags(Flags::new(runtime, 0))
    }

    /// That of a fresh cown, in a block that is as long as most are.
    #[inline]
    pub(crate) fn fresh(place: Birthplace) -> Self {
        Self::with_flags(Flags::of_fresh(place, 0))
    }

    /// The same in a block that is no longer than it must be.
    pub(crate) fn packed(place: Birthplace) -> Self {
        Self::with_flags(Flags::of_fresh(place, Flags::PACKED))
    }

    #[inline]
    fn with_flags(flags: Flags) -> Self {
        Self {
            tail: AtomicPtr::new(std::ptr::null_mut()),
            waiter: AtomicPtr::new(std::ptr::null_mut()),
            counts: Counts::new(),
            readers: AtomicU32::new(0),
            flags,
            #[cfg(loom)]
            serial: serial(),
        }
    }

    /// The place of a cown, or leader, in the order in which steps go over several: that of the addresses, unless it is
    /// simulated.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn rank(this: NonNull<Self>) -> usize {
        simulated::rank(this.addr().get())
    }

    /// The same in a model, which must do the same each time that it runs, wherever its memory lies.
    #[cfg(loom)]
    pub(crate) fn rank(this: NonNull<Self>) -> usize {
        // SAFETY: steps go over cowns that are alive; and this never changes.
        unsafe { (*this.as_ptr()).serial }
    }

    /// That of a cown whose state is yet to come: nobody can have a strong handle.
    pub(crate) fn stillborn(runtime: RuntimeId, flags: u16) -> Self {
        let (counts, flags) = (Counts::stillborn(), Flags::new(runtime, flags));
        Self { counts, flags, ..Self::new(runtime) }
    }

    /// Nobody reaches the cown any more; a model checks that.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.tail.end();
        self.waiter.end();
        self.counts.end();
        self.readers.end();
        self.flags.end();
    }

    /// Says that a step over several queues is about to come into this one.
    #[inline]
    pub(crate) fn note_step(&self) {
        self.flags.note_step();
    }

    /// Whether the cown is surely not free: a cheap look before an exchange is tried.
    #[inline]
    pub(crate) fn is_in_use(&self, for_reading: bool) -> bool {
        // ORDERING: Relaxed, both. A hint.
        !self.tail.load(Ordering::Relaxed).is_null()
            || !for_reading && self.readers.load(Ordering::Relaxed) != 0
    }

    /// Whether one of these flags is set, at least.
    #[inline]
    pub(crate) fn has(&self, flags: u16) -> bool {
        self.flags.has(flags)
    }

    /// Sets or clears a flag that is not part of a protocol.
    pub(crate) fn set(&self, flag: u16, on: bool) {
        self.flags.set(flag, on);
    }

    /// Whether a panic has poisoned the state.
    #[inline]
    pub(crate) fn is_poisoned(&self) -> bool {
        self.has(Flags::POISONED)
    }

    /// Whether the state is to be interrupted before the next behaviour. Whoever acts on it has
    /// the token.
    #[inline]
    pub(crate) fn is_interrupted(&self) -> bool {
        self.has(Flags::INTERRUPT)
    }

    /// Whether the token holder, that has found the queue empty, may run an exclusive behaviour on this runtime with
    /// nothing more ado: no reader can be left, there is no interrupt, and no overload to be forgotten. Not for a leader.
    #[inline(always)]
    pub(crate) fn is_plainly_free(&self, home: RuntimeId) -> bool {
        self.flags.is_plain(home, Flags::READ | Flags::INTERRUPT | Flags::OVERLOADED)
    }

    /// Whether the cown has no readers. Exact for the token holder.
    #[inline(always)]
    pub(crate) fn is_unread(&self) -> bool {
        // ORDERING: Acquire pairs with the release in `drop_reader`: what the readers read comes before what the caller
        // writes.
        !self.has(Flags::READ) || self.readers.load(Ordering::Acquire) == 0
    }

    /// Counts one more reader. The token holder's.
    pub(crate) fn add_reader(&self) {
        self.flags.note_reader();
        // ORDERING: Relaxed. Only the token holder raises the count. The next token holder learns of it with the token
        // (release and acquire of `tail` or `next`).
        self.readers.fetch_add(ONE_READER, Ordering::Relaxed);
    }

    /// Whose workers run the behaviours on the cown: a group has one home. Exact for whoever has the
    /// token; for others a hint, once the cown has been moved.
    #[inline]
    pub(crate) fn home(&self) -> RuntimeId {
        self.flags.home_of_its_own().unwrap_or_else(|| self.home_of_group())
    }

    /// The same of a member.
    #[cold]
    #[inline(never)]
    fn home_of_group(&self) -> RuntimeId {
        self.queue().home_of_queue()
    }

    /// The same, of a header that has a queue.
    #[inline]
    pub(crate) fn home_of_queue(&self) -> RuntimeId {
        self.flags.home()
    }

    /// Makes another runtime the home, of the whole group if the cown is in one. For a holder.
    pub(crate) fn set_home(&self, runtime: RuntimeId) {
        self.queue().flags.set_home(runtime);
    }

    #[inline]
    pub(crate) fn is_grouped(&self) -> bool {
        self.has(Flags::GROUPED)
    }

    /// The leader's header, if the cown is a member of a group. Not for a leader.
    #[inline]
    pub(crate) fn leader(&self) -> Option<NonNull<CownHeader>> {
        if !self.is_grouped() {
            return None;
        }
        // ORDERING: Relaxed. Written before there was a handle.
        NonNull::new(self.waiter.load(Ordering::Relaxed).cast())
    }

    /// The header that has the queue: the cown's own, or the leader's. Not for a leader.
    #[inline]
    pub(crate) fn queue(&self) -> &CownHeader {
        match self.leader() {
            // SAFETY: a member keeps its leader alive.
            Some(leader) => unsafe { leader.as_ref() },
            None => self,
        }
    }

    /// Whether the member of a group stands in its leader's line. The token holder's.
    pub(crate) fn is_in_line(&self) -> bool {
        self.has(Flags::IN_LINE)
    }

    /// Says that it does, or does not any more.
    pub(crate) fn set_in_line(&self, is_in_line: bool) {
        self.set(Flags::IN_LINE, is_in_line);
    }

    /// Makes a fresh cown a member of a group.
    pub(crate) fn join(&mut self, leader: NonNull<CownHeader>) {
        // ORDERING: Relaxed. Nobody else knows the cown.
        self.waiter.store(leader.as_ptr().cast(), Ordering::Relaxed);
        self.set(Flags::GROUPED, true);
    }
}

/// Later ones have higher numbers.
#[cfg(loom)]
fn serial() -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};

    static LAST: AtomicUsize = AtomicUsize::new(0);
    // ORDERING: Relaxed. Only the order of one thread's cowns matters: models make them before they begin.
    LAST.fetch_add(1, Ordering::Relaxed)
}
