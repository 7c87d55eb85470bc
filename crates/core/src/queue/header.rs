//! The header of every cown, in front of its state: the words that queue, count and mark
//! behaviours. The protocol on these words is in `queue/README.md`.

use std::ptr::NonNull;

use coact_sync::shim::atomic::{AtomicEnd, AtomicPtr, AtomicU32, Ordering};

use super::handle_counts::HandleCounts;
use super::readers::Readers;
pub(crate) use super::state_word::{CloseOutcome, Flags, InterruptOutcome};
use super::tail::Tail;
use crate::runtime_ids::Birthplace;
use crate::runtime_ids::RuntimeId;
#[cfg(not(loom))]
use crate::simulated;

/// The untyped header of a cown: 32 bytes.
///
/// Access to the fields:
///
/// * `tail`: the last request. Any owner of a handle swaps one in; the holder of the cown takes
///   itself out.
/// * `counts`: the handles, as in `Arc`.
/// * `readers`: the count of [`Readers`], raised only by the *token holder* (the owner of the
///   queue's head), lowered by each reader at its end. In a member of a group it says instead
///   whether the member is in the leader's list of interrupts: its
///   [`InterruptNotice`](crate::queue::member_interrupt_listed::InterruptNotice).
/// * `waiter`: while the cown is held exclusively, the holder's link in a scheduler list; while
///   readers run, the exclusive request that waits for the last of them. In a member of a group it
///   points to the leader, whose queue the member uses instead of its own `tail`.
/// * `flags`: the cown's flags and its home, see [`Flags`].
#[repr(C)]
pub(crate) struct CownHeader {
    pub(crate) tail: Tail,
    pub(crate) waiter: AtomicPtr<()>,
    pub(crate) counts: HandleCounts,
    readers: AtomicU32,
    pub(crate) flags: Flags,
    #[cfg(loom)]
    serial: usize,
}

impl CownHeader {
    pub(crate) fn new(runtime: RuntimeId) -> Self {
        Self::with_flags(Flags::new(runtime, 0))
    }

    /// The header of a new cown in a block of the usual length.
    #[inline]
    pub(crate) fn fresh(place: Birthplace) -> Self {
        Self::with_flags(Flags::of_fresh(place, 0))
    }

    /// The same in a block of minimal length.
    pub(crate) fn packed(place: Birthplace) -> Self {
        Self::with_flags(Flags::of_fresh(place, Flags::PACKED))
    }

    #[inline]
    fn with_flags(flags: Flags) -> Self {
        Self {
            tail: Tail::empty(),
            waiter: AtomicPtr::new(std::ptr::null_mut()),
            counts: HandleCounts::new(),
            readers: AtomicU32::new(0),
            flags,
            #[cfg(loom)]
            serial: serial(),
        }
    }

    /// The rank of a cown or leader in the order in which a step visits queues: its address, unless
    /// it is simulated.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn rank(this: NonNull<Self>) -> usize {
        simulated::rank(this.addr().get())
    }

    /// The same in a model, which must behave identically in each run, wherever its memory is.
    #[cfg(loom)]
    pub(crate) fn rank(this: NonNull<Self>) -> usize {
        // SAFETY: steps go over cowns that are alive, and the number never changes.
        unsafe { (*this.as_ptr()).serial }
    }

    /// The header of a cown whose state is created later: there are no strong handles yet.
    pub(crate) fn stillborn(runtime: RuntimeId, flags: u16) -> Self {
        let (counts, flags) = (HandleCounts::stillborn(), Flags::new(runtime, flags));
        Self { counts, flags, ..Self::new(runtime) }
    }

    /// The cown is unreachable from here on; a model checks that.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.tail.end();
        self.waiter.end();
        self.counts.end();
        self.readers.end();
        self.flags.end();
    }

    /// Announces a step over several queues that is about to enter this one.
    #[inline]
    pub(crate) fn note_step(&self) {
        self.flags.note_step();
    }

    /// Returns whether the cown is certainly not free: a cheap check before trying an exchange.
    #[inline]
    pub(crate) fn is_in_use(&self, for_reading: bool) -> bool {
        !self.tail.seems_empty() || !for_reading && self.readers().seem_to_be_there()
    }

    /// Returns whether any of these flags is set.
    #[inline]
    pub(crate) fn has(&self, flags: u16) -> bool {
        self.flags.has(flags)
    }

    /// Sets or clears a flag that is not part of a protocol.
    pub(crate) fn set(&self, flag: u16, on: bool) {
        self.flags.set(flag, on);
    }

    /// Returns whether a panic has poisoned the state.
    #[inline]
    pub(crate) fn is_poisoned(&self) -> bool {
        self.has(Flags::POISONED)
    }

    /// Returns whether the state must be interrupted before the next behaviour. Only the token
    /// holder acts on it.
    #[inline]
    pub(crate) fn is_interrupted(&self) -> bool {
        self.has(Flags::INTERRUPT)
    }

    /// For a token holder that has found the queue empty: returns whether an exclusive behaviour
    /// may run on this runtime without further checks, since there can be no reader, no interrupt
    /// and no overload to clear. Not for a leader.
    #[inline(always)]
    pub(crate) fn is_plainly_free(&self, home: RuntimeId) -> bool {
        self.flags.is_plain(home, Flags::READ | Flags::INTERRUPT | Flags::OVERLOADED)
    }

    /// Returns whether the cown has no readers. Exact for the token holder.
    #[inline(always)]
    pub(crate) fn is_unread(&self) -> bool {
        !self.has(Flags::READ) || self.readers().are_gone()
    }

    /// Counts one more reader. Only for the token holder.
    pub(crate) fn add_reader(&self) {
        self.flags.note_reader();
        self.readers().begin_one();
    }

    /// The readers of a cown that is in no group.
    #[inline(always)]
    pub(crate) fn readers(&self) -> Readers<'_> {
        Readers::new(&self.readers, &self.waiter)
    }

    /// The word of a member's notice.
    #[inline]
    pub(super) fn notice_word(&self) -> &AtomicU32 {
        debug_assert!(self.is_grouped(), "other cowns count readers in this word");
        &self.readers
    }

    /// The runtime that runs the behaviours on the cown; a group has one home. Exact for the token
    /// holder; for other threads a hint, since the cown may move.
    #[inline]
    pub(crate) fn home(&self) -> RuntimeId {
        self.flags.home_of_its_own().unwrap_or_else(|| self.home_of_group())
    }

    /// The same for a member.
    #[cold]
    #[inline(never)]
    fn home_of_group(&self) -> RuntimeId {
        self.queue().home_of_queue()
    }

    /// The same for a header with a queue.
    #[inline]
    pub(crate) fn home_of_queue(&self) -> RuntimeId {
        self.flags.home()
    }

    /// Sets the home, for the whole group if the cown is in one. For a holder.
    pub(crate) fn set_home(&self, runtime: RuntimeId) {
        self.queue().flags.set_home(runtime);
    }

    #[inline]
    pub(crate) fn is_grouped(&self) -> bool {
        self.has(Flags::GROUPED)
    }

    /// Returns the leader's header if the cown is a member of a group. Not for a leader.
    #[inline]
    pub(crate) fn leader(&self) -> Option<NonNull<CownHeader>> {
        if !self.is_grouped() {
            return None;
        }
        // ORDERING: Relaxed. Written before there was a handle.
        NonNull::new(self.waiter.load(Ordering::Relaxed).cast())
    }

    /// The same for a cown that is in a group.
    #[inline]
    pub(crate) fn leader_of_member(&self) -> NonNull<CownHeader> {
        debug_assert!(self.is_grouped(), "the cown is in a group");
        // ORDERING: Relaxed, as in `leader`.
        NonNull::new(self.waiter.load(Ordering::Relaxed).cast()).expect("a member has a leader")
    }

    /// Returns the header with the queue: the cown's own, or the leader's. Not for a leader.
    #[inline]
    pub(crate) fn queue(&self) -> &CownHeader {
        match self.leader() {
            // SAFETY: a member keeps its leader alive.
            Some(leader) => unsafe { leader.as_ref() },
            None => self,
        }
    }

    /// Returns whether the member of a group is in its leader's line. Only for the token holder.
    pub(crate) fn is_in_line(&self) -> bool {
        self.has(Flags::IN_LINE)
    }

    /// Records whether it is in the line.
    pub(crate) fn set_in_line(&self, is_in_line: bool) {
        self.set(Flags::IN_LINE, is_in_line);
    }

    /// Makes a new cown a member of a group.
    pub(crate) fn join(&mut self, leader: NonNull<CownHeader>) {
        // ORDERING: Relaxed. No other thread knows the cown.
        self.waiter.store(leader.as_ptr().cast(), Ordering::Relaxed);
        self.set(Flags::GROUPED, true);
    }
}

/// Returns increasing numbers.
#[cfg(loom)]
fn serial() -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};

    static LAST: AtomicUsize = AtomicUsize::new(0);
    // ORDERING: Relaxed. Only the order of one thread's cowns matters: models create them before
    // they spawn threads.
    LAST.fetch_add(1, Ordering::Relaxed)
}
