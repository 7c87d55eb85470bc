//! The counts of a cown's strong and weak handles, in one word. So the owner of the only handle
//! recognises it with one load, and ends the cown without an atomic read-modify-write.
//!
//! ```text
//!   63          32 31      30    29             0
//!   weak handles   LEAVING LEFT  strong handles
//! ```
//!
//! All strong handles together own one weak count, which is given up when the state ends. LEAVING
//! and LEFT belong to the [last-handle check](crate::cown::last_handle_check).
//!
//! *A load is enough for the last handle.* Handles are created from handles. A thread that owns the
//! only one of a kind, and reads that from the word, is alone with it: a smaller count than the
//! true one would be older than a change made through another handle, which was created from this
//! thread's own and given up before the load; so the thread has seen that change, or a later one.
//! What other threads did with handles that are gone is acquired with the word: each of them gave
//! its handle up with a Release, and changes of an atomic continue each other's release sequences.
//!
//! *One load covers both kinds.* Two loads in a row could miss a weak handle that is upgraded in
//! between and dropped again.

use std::process::abort;

use coact_sync::shim::atomic::{AtomicEnd, AtomicU64, Ordering};

use crate::simulated;

/// A strong handle waits for its check.
const LEAVING: u64 = 1 << 31;
/// Another strong handle has gone since then, with requests possibly behind that check.
const LEFT: u64 = 1 << 30;
/// The count of strong handles.
const STRONG: u64 = LEFT - 1;
/// One weak handle.
const ONE_WEAK: u64 = 1 << 32;

/// Everything in the word except the weak count.
const LOW: u64 = ONE_WEAK - 1;

/// The low half while the last strong handle is used to take the state out, after which it may
/// exist again: the check never leaves this value.
const TAKING_OUT: u64 = LEFT;

/// One strong handle, and the weak count that belongs to it.
const SOLE: u64 = ONE_WEAK | 1;

/// One strong handle that waits for its check, the weak count that belongs to it, and one weak
/// handle.
const LAST_AND_WEAK: u64 = (2 * ONE_WEAK) | LEAVING | 1;

/// Beyond this number of handles of a kind, the count could overflow into its neighbour; only
/// leaking handles can lead there.
const MAX: u64 = STRONG / 2;

pub(crate) struct HandleCounts(AtomicU64);

/// The outcome for a handle that waits for its check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandleParting {
    Last,
    Again,
    Revoked,
}

impl HandleCounts {
    /// Creates the count of one strong handle.
    #[inline]
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(SOLE))
    }

    /// Creates counts for a state that is created with a weak handle: no strong handle, the weak
    /// count owned by the strong ones, and one more.
    pub(crate) fn stillborn() -> Self {
        Self(AtomicU64::new(2 * ONE_WEAK))
    }

    /// Adds the first strong handle to a cown without any.
    pub(crate) fn bring_to_life(&self) {
        // ORDERING: Release publishes the state to a thread that upgrades a weak handle; see
        // `retain`.
        self.0.fetch_add(1, Ordering::Release);
    }

    /// Adds a strong handle, cloned from another.
    #[inline]
    pub(crate) fn add(&self) {
        // ORDERING: Relaxed. The handle it is cloned from keeps the cown alive.
        if self.0.fetch_add(1, Ordering::Relaxed) & STRONG > MAX {
            abort();
        }
    }

    /// Adds a weak handle, created from any handle.
    pub(crate) fn add_weak(&self) {
        // ORDERING: Relaxed, as in `add`.
        if self.0.fetch_add(ONE_WEAK, Ordering::Relaxed) / ONE_WEAK > MAX {
            abort();
        }
    }

    /// Adds a strong handle, upgraded from a weak one, unless there is none left.
    pub(crate) fn retain(&self) -> bool {
        // ORDERING: Relaxed, as in `add`. That there is none left is final (or the state is about
        // to be taken out).
        let mut counts = self.0.load(Ordering::Relaxed);
        while counts & STRONG != 0 {
            if counts & STRONG > MAX {
                abort();
            }
            // ORDERING: Acquire pairs with the Release in `bring_to_life`; in other cases a thread
            // that knows the cown has already acquired what it must know.
            let (ok, failed) = (Ordering::Acquire, Ordering::Relaxed);
            match self.0.compare_exchange_weak(counts, counts + 1, ok, failed) {
                Ok(_) => return true,
                Err(now) => counts = now,
            }
        }
        false
    }

    /// Returns whether the caller's strong handle is the only handle of any kind.
    #[inline]
    pub(crate) fn are_sole(&self) -> bool {
        // ORDERING: Acquire pairs with the Release of the threads that have given up handles.
        self.0.load(Ordering::Acquire) == SOLE
    }

    /// Gives up a strong handle; returns whether it was the last one.
    #[inline]
    pub(crate) fn remove(&self) -> bool {
        // ORDERING: Release: what was done with this handle comes before the end of the state.
        // Pairs with the load below (which could be a fence, but the thread sanitizer does not
        // support fences), and with that in `are_sole`.
        let was_last = self.0.fetch_sub(1, Ordering::Release) & STRONG == 1;
        if was_last {
            self.0.load(Ordering::Acquire);
        }
        was_last
    }

    /// Gives up a strong handle that is the [only handle of any kind](Self::are_sole).
    pub(crate) fn remove_sole(&self) {
        // ORDERING: Relaxed. No other thread can change the word, and only the thread that ends the
        // state reads it. That thread learns of the end of the handles through the queue
        // (`leave_to_the_last`).
        self.0.store(ONE_WEAK, Ordering::Relaxed);
    }

    /// Returns whether the only handles are a strong one that waits for its check, with no other
    /// one gone meanwhile, and a weak one. The caller owns both, so it is alone with the cown.
    #[inline]
    pub(crate) fn are_last_and_weak(&self) -> bool {
        // ORDERING: Acquire, as in `are_sole`.
        self.0.load(Ordering::Acquire) == LAST_AND_WEAK
    }

    /// Gives up both handles, which are [the only ones](Self::are_last_and_weak). The weak count of
    /// the strong handles is left.
    #[inline]
    pub(crate) fn remove_last_and_weak(&self) {
        // ORDERING: Relaxed. No other thread accesses the word any more.
        self.0.store(ONE_WEAK, Ordering::Relaxed);
    }

    /// Gives up a weak handle; returns whether it was the last handle.
    #[inline]
    pub(crate) fn remove_weak(&self) -> bool {
        // ORDERING: Acquire pairs with the Release of the handles that have gone.
        if self.0.load(Ordering::Acquire) / ONE_WEAK == 1 {
            return true;
        }
        // ORDERING: Release pairs with the Acquire of the last one: all uses come before the free.
        let was_last = self.0.fetch_sub(ONE_WEAK, Ordering::Release) / ONE_WEAK == 1;
        if was_last {
            self.0.load(Ordering::Acquire);
        }
        was_last
    }

    /// Returns the number of strong handles; a hint.
    pub(crate) fn strong(&self) -> usize {
        // ORDERING: Relaxed. The result is a hint.
        (self.0.load(Ordering::Relaxed) & STRONG) as usize
    }

    /// Returns whether there are strong handles; a hint.
    pub(crate) fn have_handles(&self) -> bool {
        // ORDERING: Relaxed. The result is a hint.
        let counts = self.0.load(Ordering::Relaxed) & LOW;
        counts & STRONG != 0 || counts == TAKING_OUT
    }

    /// Uses the last strong handle to take the state out; meanwhile no weak handle can be upgraded.
    /// Returns the argument for [`put_back`](Self::put_back), or `None` if there are other strong
    /// handles.
    pub(crate) fn take_out(&self) -> Option<u64> {
        // The handle may be one returned by `leave`, with more bits than the count.
        // ORDERING: Relaxed. The exchange checks the value.
        let mut counts = self.0.load(Ordering::Relaxed);
        while counts & STRONG == 1 {
            let taken = counts & !LOW | TAKING_OUT;
            // ORDERING: Acquire pairs with the Release of the other handles' ends.
            let (ok, failed) = (Ordering::Acquire, Ordering::Relaxed);
            match self.0.compare_exchange_weak(counts, taken, ok, failed) {
                Ok(_) => return Some(counts & LOW),
                // A weak handle was created or dropped.
                Err(now) => counts = now,
            }
        }
        None
    }

    /// The state stays in place, and the handle is a normal one again.
    pub(crate) fn put_back(&self, before: u64) {
        // Adds the difference, since weak handles may be created and dropped meanwhile.
        // ORDERING: Relaxed. Nothing was read or written meanwhile.
        self.0.fetch_add(before.wrapping_sub(TAKING_OUT), Ordering::Relaxed);
    }

    /// Gives up a strong handle unless it is the last one, which must wait for its check. Returns
    /// whether it does.
    pub(crate) fn leave(&self) -> bool {
        // ORDERING: Relaxed. The exchange checks the value.
        let mut counts = self.0.load(Ordering::Relaxed);
        loop {
            let (is_last, low) = match (counts & STRONG, counts & LEAVING) {
                (1, _) => (true, LEAVING | 1),
                (2, LEAVING) => (false, LEAVING | LEFT | 1),
                _ => (false, (counts & LOW) - 1),
            };
            simulated::point();
            // ORDERING: Release, as in `remove`, and for `part`: what this handle has spawned comes
            // before. Acquire: the check comes after everything that other handles have spawned.
            let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            match self.0.compare_exchange_weak(counts, counts & !LOW | low, ok, failed) {
                Ok(_) => return is_last,
                Err(now) => counts = now,
            }
        }
    }

    /// Decides what becomes of a strong handle that has waited for its check.
    pub(crate) fn part(&self) -> HandleParting {
        // ORDERING: Acquire pairs with the Release in `leave`: what is spawned from now on is
        // behind what the handles that have gone have spawned.
        let mut counts = self.0.load(Ordering::Acquire);
        loop {
            let (parting, low) = match (counts & STRONG, counts & LEFT) {
                (1, 0) => return HandleParting::Last,
                (1, _) => (HandleParting::Again, LEAVING | 1),
                (handles, _) => (HandleParting::Revoked, handles - 1),
            };
            simulated::point();
            // ORDERING: Release, as in `remove`; Acquire, as above.
            let (ok, failed) = (Ordering::AcqRel, Ordering::Acquire);
            match self.0.compare_exchange_weak(counts, counts & !LOW | low, ok, failed) {
                Ok(_) => return parting,
                Err(now) => counts = now,
            }
        }
    }

    /// The counts are unreachable from here on; a model checks that.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.0.end();
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
