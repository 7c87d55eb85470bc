//! What every cown has in front of its state: the words that behaviours are queued, counted and
//! marked with. The protocol on these words is in `behaviour/README.md`.

use std::ptr::NonNull;

use coact_sync::shim::atomic::{AtomicPtr, AtomicU8, AtomicU32, End, Ordering};
use coact_sync::shim::process::AtomicU16;

use super::counts::Counts;
use crate::attend::live;
use crate::behaviour::slot::Slot;
use crate::runtime::RuntimeId;
#[cfg(not(loom))]
use crate::sim;

/// The untyped front of a cown: 32 bytes.
///
/// Who may touch what:
///
/// * `tail`: anyone with a handle swaps itself in; the holder of the cown takes itself out.
/// * `counts`: the handles, as in `Arc`.
/// * `stepped`: whether the queue ever was one of several that a behaviour was appended to, or of one that reads:
///   set by appenders, and never taken back.
/// * `readers`: raised only by the *token holder* (the one who owns the queue's head), lowered by
///   each reader at its end.
/// * `waiter`: while the cown is held exclusively, the holder's link in a scheduler list; while
///   readers run, the exclusive request that waits for the last of them. A member of a group has its
///   leader here, and leaves `tail` alone: it stands in the leader's queue. Whether it is in the
///   leader's list of alerts it has in `readers`, and whether in its line, in `stepped`.
/// * `flags`: the cown's condition, see [`Flags`].
/// * `runtime`: whose workers run the behaviours on the cown. Written by a holder only.
#[repr(C)]
pub(crate) struct CownHeader {
    pub(crate) tail: AtomicPtr<Slot>,
    pub(crate) waiter: AtomicPtr<()>,
    pub(crate) counts: Counts,
    pub(crate) readers: AtomicU32,
    stepped: AtomicU8,
    pub(crate) flags: AtomicU8,
    runtime: AtomicU16,
    #[cfg(loom)]
    serial: usize,
}

/// The bits of [`CownHeader::flags`].
pub(crate) struct Flags;

impl Flags {
    /// A behaviour panicked while it held the cown exclusively.
    pub(crate) const POISONED: u8 = 1;
    /// The state is gone for good: behaviours are refused, but for those that come
    /// [regardless](crate::attend).
    pub(crate) const CLOSED: u8 = 1 << 1;
    /// A [`Guard`](crate::attend::guard::Guard) lies in front of the header. Constant.
    pub(crate) const ATTENDED: u8 = 1 << 2;
    /// The state wants to be attended to before the next behaviour.
    pub(crate) const ALERT: u8 = 1 << 3;
    /// The token lies in the guard: nothing is granted until the next alert.
    pub(crate) const PARKED: u8 = 1 << 4;
    /// Of a cown that is attended to, for the layer above: something that a sender must look at.
    pub(crate) const MARKED: u8 = 1 << 5;
    /// Of any other: its block is no longer than it must be. Constant.
    pub(crate) const PACKED: u8 = Self::MARKED;
    /// The state is touched by one thread only, that of its home's pump. Constant, as is the home.
    pub(crate) const PINNED: u8 = 1 << 6;
    /// The cown is a member of a [group](crate::group). Constant. On a header that has a queue, which
    /// a member's has not, it says that this is the group's leader.
    pub(crate) const GROUPED: u8 = 1 << 7;
}

/// One running or granted reader in [`CownHeader::readers`].
pub(crate) const ONE_READER: u32 = 2;
/// The bit of [`CownHeader::readers`] that says that an exclusive request waits in `waiter`.
pub(crate) const WAITER: u32 = 1;

impl CownHeader {
    pub(crate) fn new(runtime: RuntimeId) -> Self {
        Self {
            tail: AtomicPtr::new(std::ptr::null_mut()),
            waiter: AtomicPtr::new(std::ptr::null_mut()),
            counts: Counts::new(),
            readers: AtomicU32::new(0),
            stepped: AtomicU8::new(0),
            flags: AtomicU8::new(0),
            runtime: AtomicU16::new(runtime.get()),
            #[cfg(loom)]
            serial: serial(),
        }
    }

    /// The place of a cown, or leader, in the order in which steps go over several: that of the addresses, unless it is
    /// simulated.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn rank(this: NonNull<Self>) -> usize {
        sim::rank(this.addr().get())
    }

    /// The same in a model, which must do the same each time that it runs, wherever its memory lies.
    #[cfg(loom)]
    pub(crate) fn rank(this: NonNull<Self>) -> usize {
        // SAFETY: steps go over cowns that are alive; and this never changes.
        unsafe { (*this.as_ptr()).serial }
    }

    /// That of a cown in a block that is no longer than it must be.
    pub(crate) fn packed(runtime: RuntimeId) -> Self {
        Self { flags: AtomicU8::new(Flags::PACKED), ..Self::new(runtime) }
    }

    /// That of a cown whose state is yet to come: nobody can have a strong handle.
    pub(crate) fn stillborn(runtime: RuntimeId, flags: u8) -> Self {
        let (counts, flags) = (Counts::stillborn(), AtomicU8::new(flags));
        Self { counts, flags, ..Self::new(runtime) }
    }

    /// Nobody reaches the cown any more; a model checks that.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.tail.end();
        self.waiter.end();
        self.counts.end();
        self.readers.end();
        self.stepped.end();
        self.flags.end();
    }

    /// Says that a step over several queues is about to come into this one.
    #[inline]
    pub(crate) fn note_step(&self) {
        // ORDERING: Relaxed. Published by the exchange of the tail that follows.
        self.stepped.store(1, Ordering::Relaxed);
    }

    /// Whether the request that the caller has just put into the queue may stand behind one of a step over several
    /// queues. Where it does, it may not be missed.
    #[inline]
    pub(crate) fn has_steps(&self) -> bool {
        // ORDERING: Relaxed. If one came before, the caller's exchange of the tail has acquired its own, and with it
        // the note, which is never taken back.
        self.stepped.load(Ordering::Relaxed) != 0
    }

    /// Whether the cown is surely not free: a cheap look before an exchange is tried.
    #[inline]
    pub(crate) fn is_in_use(&self, for_reading: bool) -> bool {
        // ORDERING: Relaxed, both. A hint.
        !self.tail.load(Ordering::Relaxed).is_null()
            || !for_reading && self.readers.load(Ordering::Relaxed) != 0
    }

    /// Which of these flags are set. Exact for a behaviour that holds the cown.
    #[inline]
    pub(crate) fn flags(&self, of: u8) -> u8 {
        // ORDERING: Relaxed. A holder is ordered after the one that set a flag by the queue itself
        // (release of `tail` or `next`, acquire by the next holder); for others it is a hint.
        self.flags.load(Ordering::Relaxed) & of
    }

    #[inline]
    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags(flag) != 0
    }

    /// Sets or clears a flag that is not part of a protocol.
    pub(crate) fn set(&self, flag: u8, on: bool) {
        // ORDERING: Relaxed, as in `flags`.
        if on {
            self.flags.fetch_or(flag, Ordering::Relaxed);
        } else {
            self.flags.fetch_and(!flag, Ordering::Relaxed);
        }
    }

    /// Whether a panic has poisoned the state.
    #[inline]
    pub(crate) fn is_poisoned(&self) -> bool {
        self.has(Flags::POISONED)
    }

    /// Whether the state is to be attended to before the next behaviour. Whoever acts on it has
    /// the token.
    #[inline]
    pub(crate) fn wants_attention(&self) -> bool {
        self.has(Flags::ALERT)
    }

    /// Whether whoever has the token, and has found the queue empty, may run an exclusive behaviour with nothing more
    /// ado. Not for a leader.
    #[inline(always)]
    pub(crate) fn is_plainly_free(&self) -> bool {
        // ORDERING: Acquire pairs with the release in `drop_reader`, as in `grant`.
        self.readers.load(Ordering::Acquire) == 0 && !self.wants_attention()
    }

    /// Whose workers run the behaviours on the cown: a group has one home. Exact for whoever has the
    /// token; for others a hint, once the cown has been moved.
    #[inline]
    pub(crate) fn home(&self) -> RuntimeId {
        self.queue().home_of_queue()
    }

    /// The same, of a header that has a queue.
    #[inline]
    pub(crate) fn home_of_queue(&self) -> RuntimeId {
        // ORDERING: Relaxed. As `flags`.
        RuntimeId::from_raw(self.runtime.load(Ordering::Relaxed))
    }

    /// Makes another runtime the home, of the whole group if the cown is in one. For a holder.
    pub(crate) fn set_home(&self, runtime: RuntimeId) {
        if self.has(Flags::ATTENDED | Flags::GROUPED) {
            live::note_move();
        }
        // ORDERING: Relaxed. As `flags`.
        self.queue().runtime.store(runtime.get(), Ordering::Relaxed);
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
        // ORDERING: Relaxed. It goes with the token.
        self.stepped.load(Ordering::Relaxed) != 0
    }

    /// Says that it does, or does not any more.
    pub(crate) fn set_in_line(&self, is_in_line: bool) {
        // ORDERING: Relaxed, as above.
        self.stepped.store(u8::from(is_in_line), Ordering::Relaxed);
    }

    /// Makes a fresh cown a member of a group.
    pub(crate) fn join(&mut self, leader: NonNull<CownHeader>) {
        // ORDERING: Relaxed, both. Nobody else knows the cown.
        self.waiter.store(leader.as_ptr().cast(), Ordering::Relaxed);
        self.flags.fetch_or(Flags::GROUPED, Ordering::Relaxed);
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

/// A pointer to a cown's header and, in its low bits, how a request wants the cown.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Member(NonNull<CownHeader>);

impl Member {
    const READ: usize = 1;
    const CHECKED: usize = 2;
    const MULTI: usize = 4;
    const TAGS: usize = 7;

    #[inline]
    pub(crate) fn exclusive(header: NonNull<CownHeader>) -> Self {
        Self(header)
    }

    pub(crate) fn read(header: NonNull<CownHeader>) -> Self {
        Self(header).tagged(Self::READ)
    }

    pub(crate) fn checked(header: NonNull<CownHeader>) -> Self {
        Self(header).tagged(Self::CHECKED)
    }

    pub(crate) fn checked_read(header: NonNull<CownHeader>) -> Self {
        Self(header).tagged(Self::READ | Self::CHECKED)
    }

    /// The same member in a behaviour that needs several cowns, or reads, or runs in its caller: in any whose request
    /// does not lie in a one-cown behaviour.
    pub(crate) fn in_multi(self) -> Self {
        self.tagged(Self::MULTI)
    }

    /// The same member in a request of a one-cown behaviour that has not found its place yet. Such a one never reads,
    /// so the bit is free.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn unplaced(self) -> Self {
        debug_assert!(!self.has(Self::READ | Self::MULTI), "the member of a one-cown behaviour");
        self.tagged(Self::READ)
    }

    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn is_unplaced(self) -> bool {
        self.0.addr().get() & (Self::READ | Self::MULTI) == Self::READ
    }

    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn as_ptr(self) -> *mut CownHeader {
        self.0.as_ptr()
    }

    /// # Safety
    /// The pointer is that of a member.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) unsafe fn from_ptr(member: *mut CownHeader) -> Self {
        // SAFETY: by the caller's word.
        Self(unsafe { NonNull::new_unchecked(member) })
    }

    fn tagged(self, tag: usize) -> Self {
        Self(self.0.map_addr(|addr| addr | tag))
    }

    #[inline]
    fn has(self, tag: usize) -> bool {
        self.0.addr().get() & tag != 0
    }

    #[inline]
    pub(crate) fn is_read(self) -> bool {
        self.has(Self::READ)
    }

    #[inline]
    pub(crate) fn is_checked(self) -> bool {
        self.has(Self::CHECKED)
    }

    #[inline]
    pub(crate) fn is_multi(self) -> bool {
        self.has(Self::MULTI)
    }

    /// Whether the request is that of a one-cown behaviour, and has found its place.
    #[inline]
    pub(crate) fn is_single(self) -> bool {
        !self.has(Self::READ | Self::MULTI)
    }

    #[inline]
    pub(crate) fn header_ptr(self) -> NonNull<CownHeader> {
        let untagged = self.0.as_ptr().map_addr(|addr| addr & !Self::TAGS);
        // SAFETY: a header is aligned to 8 and not null, so clearing the three tag bits gives back
        // the address that the member was made with.
        unsafe { NonNull::new_unchecked(untagged) }
    }

    /// The header in whose queue the request stands: the cown's own, or that of its group's leader.
    ///
    /// # Safety
    /// As [`header`](Self::header).
    #[inline]
    pub(crate) unsafe fn queue_ptr(self) -> NonNull<CownHeader> {
        // SAFETY: alive, by the caller's word.
        unsafe { self.header() }.leader().unwrap_or(self.header_ptr())
    }

    /// The header.
    ///
    /// # Safety
    /// The cown must be alive for `'a`: a handle of it exists, or a request stands in its queue.
    #[inline]
    pub(crate) unsafe fn header<'a>(self) -> &'a CownHeader {
        // SAFETY: alive by the caller's word; `header_ptr` is aligned and points to a header.
        unsafe { self.header_ptr().as_ref() }
    }
}
