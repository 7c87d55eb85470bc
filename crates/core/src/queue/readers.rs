//! The count of a cown's readers, and the request that waits for the last of them. See README.md,
//! "Readers".

use std::ptr::NonNull;

use coact_sync::shim::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::queue::live_slot::LiveSlot;
use crate::simulated;

/// The readers of a cown: two words of its header.
///
/// The count is raised only by the token holder, and lowered by each reader at its end. Its lowest
/// bit says that the token is left with the other word, for the exclusive request at the head of
/// the queue.
#[derive(Clone, Copy)]
pub(crate) struct Readers<'a> {
    count: &'a AtomicU32,
    waiter: &'a AtomicPtr<()>,
}

/// What an exclusive request finds that has to wait for readers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ReaderWait {
    /// There are readers: the last of them passes the token on.
    ForLast,
    /// The last of them has gone: the caller keeps the token.
    Over,
}

impl<'a> Readers<'a> {
    /// One reader.
    const ONE: u32 = 2;
    /// A request waits for the last reader.
    const WAITER: u32 = 1;

    #[inline(always)]
    pub(super) fn new(count: &'a AtomicU32, waiter: &'a AtomicPtr<()>) -> Self {
        Self { count, waiter }
    }

    /// Returns whether there seem to be readers: a hint.
    #[inline(always)]
    pub(super) fn seem_to_be_there(self) -> bool {
        // ORDERING: Relaxed. The result is a hint.
        self.count.load(Ordering::Relaxed) != 0
    }

    /// Returns whether there are none. Exact for the token holder, and if there is no token.
    #[inline(always)]
    pub(crate) fn are_gone(self) -> bool {
        // ORDERING: Acquire pairs with the Release in `end_one`: the readers' reads come before the
        // caller's writes.
        self.count.load(Ordering::Acquire) == 0
    }

    /// Counts one more. Only for the token holder.
    #[inline]
    pub(super) fn begin_one(self) {
        // ORDERING: Relaxed. Only the token holder raises the count; the next token holder learns
        // of it with the token (Release and Acquire of `tail` or `next`).
        self.count.fetch_add(Self::ONE, Ordering::Relaxed);
    }

    /// Leaves the token to the last reader, for the exclusive request at the head of the queue.
    /// Only for the token holder.
    #[inline]
    pub(super) fn wait(self, head: LiveSlot) -> ReaderWait {
        // ORDERING: Relaxed. The addition below publishes it.
        self.waiter.store(head.as_ptr().cast(), Ordering::Relaxed);
        simulated::point();
        // ORDERING: AcqRel. Release publishes the request to the last reader (Acquire in
        // `end_one`). Acquire pairs with the Release there, in case the last one has just gone.
        if self.count.fetch_add(Self::WAITER, Ordering::AcqRel) != 0 {
            return ReaderWait::ForLast;
        }
        // ORDERING: Relaxed. There are no readers, and only the token holder raises the count.
        self.count.store(0, Ordering::Relaxed);
        ReaderWait::Over
    }

    /// Ends one. Returns the request that has waited for this: then it was the last one, and the
    /// caller has the token. Otherwise the cown may be gone.
    #[inline]
    pub(super) fn end_one(self) -> Option<LiveSlot> {
        // ORDERING: AcqRel. Release orders this reader's reads before the writes of the next
        // exclusive holder (Acquire in `are_gone` and `wait` or, through the last reader, here).
        // Acquire pairs with the Release in `wait`, for the request, and with that of the readers
        // that ended before, for the holder to which the last one passes the token.
        if self.count.fetch_sub(Self::ONE, Ordering::AcqRel) != Self::ONE | Self::WAITER {
            return None;
        }
        simulated::point();
        // ORDERING: Relaxed, both. With the token, only this thread accesses the two words.
        self.count.store(0, Ordering::Relaxed);
        let waiter = self.waiter.load(Ordering::Relaxed).cast();
        // SAFETY: the bit says that `wait` has stored a request, for which the token is left.
        Some(unsafe { LiveSlot::new(NonNull::new_unchecked(waiter)) })
    }

    /// Returns the request that waits for the last reader, if there is one. For a thread that keeps
    /// some reader from ending.
    pub(crate) fn waiter(self) -> Option<LiveSlot> {
        // ORDERING: Acquire pairs with the Release in `wait`: the request. It stays there as long
        // as there is a reader.
        if self.count.load(Ordering::Acquire) & Self::WAITER == 0 {
            return None;
        }
        // ORDERING: Relaxed. The bit read above publishes it.
        let waiter = NonNull::new(self.waiter.load(Ordering::Relaxed).cast());
        // SAFETY: a request that waits is in its queue.
        waiter.map(|waiter| unsafe { LiveSlot::new(waiter) })
    }
}
