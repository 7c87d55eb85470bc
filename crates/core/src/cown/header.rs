//! What every cown has in front of its state: the words that behaviours are queued, counted and
//! marked with. The protocol on these words is in `behaviour/README.md`.

use std::ptr::NonNull;

use coact_sync::shim::atomic::{AtomicPtr, AtomicU8, AtomicU32, End, Ordering};

use crate::behaviour::slot::Slot;
use crate::runtime::RuntimeId;

/// The untyped front of a cown: 32 bytes.
///
/// Who may touch what:
///
/// * `tail`: anyone with a handle swaps itself in; the holder of the cown takes itself out.
/// * `strong`, `weak`: as in `Arc`; all strong handles together own one weak count.
/// * `append`: appenders of several cowns at once, see [`AppendState`].
/// * `readers`: raised only by the *token holder* (the one who owns the queue's head), lowered by
///   each reader at its end.
/// * `waiter`: while the cown is held exclusively, the holder's link in a scheduler list; while
///   readers run, the exclusive request that waits for the last of them.
/// * `poison`: set by a behaviour that panicked while it held the cown exclusively.
/// * `runtime`: constant.
#[repr(C)]
pub(crate) struct CownHeader {
    pub(crate) tail: AtomicPtr<Slot>,
    pub(crate) waiter: AtomicPtr<()>,
    pub(crate) strong: AtomicU32,
    pub(crate) weak: AtomicU32,
    pub(crate) readers: AtomicU32,
    pub(crate) append: AtomicU8,
    pub(crate) poison: AtomicU8,
    pub(crate) runtime: RuntimeId,
}

/// The states of [`CownHeader::append`].
pub(crate) struct AppendState;

impl AppendState {
    /// No behaviour is being appended together with other cowns.
    pub(crate) const FREE: u8 = 0;
    /// Some thread has the append lock, and has not yet put its request into this queue.
    pub(crate) const LOCKED: u8 = 1;
    /// That thread puts its requests into the queues: it waits for nobody until it is done.
    pub(crate) const APPENDING: u8 = 2;
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
            strong: AtomicU32::new(1),
            weak: AtomicU32::new(1),
            readers: AtomicU32::new(0),
            append: AtomicU8::new(AppendState::FREE),
            poison: AtomicU8::new(0),
            runtime,
        }
    }

    /// Nobody reaches the cown any more; a model checks that.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.tail.end();
        self.waiter.end();
        self.strong.end();
        self.weak.end();
        self.readers.end();
        self.append.end();
        self.poison.end();
    }

    /// Whether the cown is surely not free: a cheap look before an exchange is tried.
    #[inline]
    pub(crate) fn is_in_use(&self, for_reading: bool) -> bool {
        // ORDERING: Relaxed, both. A hint.
        !self.tail.load(Ordering::Relaxed).is_null()
            || !for_reading && self.readers.load(Ordering::Relaxed) != 0
    }

    /// Whether a panic has poisoned the state. Exact for a behaviour that holds the cown.
    #[inline]
    pub(crate) fn is_poisoned(&self) -> bool {
        // ORDERING: Relaxed. A holder is ordered after the one that poisoned by the queue itself
        // (release of `tail` or `next`, acquire by the next holder); for others it is a hint.
        self.poison.load(Ordering::Relaxed) != 0
    }

    pub(crate) fn set_poison(&self, poisoned: bool) {
        // ORDERING: Relaxed, as in `is_poisoned`.
        self.poison.store(u8::from(poisoned), Ordering::Relaxed);
    }
}

/// A pointer to a cown's header and, in its low bits, how a request wants the cown.
#[derive(Clone, Copy, PartialEq, Eq)]
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

    /// The same member in a behaviour that needs several cowns (or reads).
    pub(crate) fn in_multi(self) -> Self {
        self.tagged(Self::MULTI)
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

    #[inline]
    pub(crate) fn header_ptr(self) -> NonNull<CownHeader> {
        let untagged = self.0.as_ptr().map_addr(|addr| addr & !Self::TAGS);
        // SAFETY: a header is aligned to 8 and not null, so clearing the three tag bits gives back
        // the address that `exclusive`, `read` or `checked` was given.
        unsafe { NonNull::new_unchecked(untagged) }
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
