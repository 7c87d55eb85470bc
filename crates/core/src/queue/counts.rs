//! How many handles a cown has, strong and weak, in one word: so whoever has the only handle there is sees that with
//! one load, and ends the cown without an atomic change.
//!
//! ```text
//!   63          32 31      30    29             0
//!   weak handles   LEAVING LEFT  strong handles
//! ```
//!
//! All strong handles together own one weak count, and whoever ends the state gives it up. LEAVING and LEFT are those
//! of the [last-handle check](crate::cown::last_handle).
//!
//! *A load is enough for the last.* Handles are made from handles. Whoever owns the only one of a kind, and sees that
//! the word says so, is alone with it: a word that says less than what is true would be older than a change that was
//! made through another handle, which was made from his own, and given up before he looks; so he has seen that change,
//! or a later one. What others did with handles that are gone he has acquired with the word: each gave its own up with
//! a release, and changes of an atomic continue each other's release sequences.
//!
//! *One load for both kinds.* Two loads, one after the other, could miss a weak handle that is upgraded in between and
//! dropped again.

use std::process::abort;

use coact_sync::shim::atomic::{AtomicU64, End, Ordering};

use crate::simulated;

/// One strong handle waits for its check.
const LEAVING: u64 = 1 << 31;
/// And since then another one has gone, of which something may stand behind that one.
const LEFT: u64 = 1 << 30;
/// The strong handles themselves.
const STRONG: u64 = LEFT - 1;
/// One weak handle.
const ONE_WEAK: u64 = 1 << 32;

/// All of the word that is not weak handles.
const LOW: u64 = ONE_WEAK - 1;

/// What the low half says while the last strong handle is used to take the state out, and may be there again: no
/// the check ends with it.
const TAKING_OUT: u64 = LEFT;

/// One strong handle, and the weak count that goes with it.
const SOLE: u64 = ONE_WEAK | 1;

/// Beyond this number of handles of a kind the count could run over into what stands next to it; nobody gets there but
/// by leaking them.
const MAX: u64 = STRONG / 2;

pub(crate) struct Counts(AtomicU64);

/// What becomes of a handle that waits for its check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parting {
    Last,
    Again,
    Revoked,
}

impl Counts {
    /// One strong handle.
    #[inline]
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(SOLE))
    }

    /// No strong handle yet, and beside the weak count of them all another one: the state is made with a weak handle.
    pub(crate) fn stillborn() -> Self {
        Self(AtomicU64::new(2 * ONE_WEAK))
    }

    /// The first strong handle of a cown without any.
    pub(crate) fn bring_to_life(&self) {
        // ORDERING: Release publishes the state to whoever upgrades a weak handle: see `retain`.
        self.0.fetch_add(1, Ordering::Release);
    }

    /// One more strong handle, made from one.
    #[inline]
    pub(crate) fn add(&self) {
        // ORDERING: Relaxed. The handle that it is made from keeps the cown alive.
        if self.0.fetch_add(1, Ordering::Relaxed) & STRONG > MAX {
            abort();
        }
    }

    /// One more weak handle, made from any.
    pub(crate) fn add_weak(&self) {
        // ORDERING: Relaxed, as in `add`.
        if self.0.fetch_add(ONE_WEAK, Ordering::Relaxed) / ONE_WEAK > MAX {
            abort();
        }
    }

    /// One more strong handle, made from a weak one, unless all of them are gone.
    pub(crate) fn retain(&self) -> bool {
        // ORDERING: Relaxed, as in `add`; that there are none is final (or the state is about to be taken out).
        let mut counts = self.0.load(Ordering::Relaxed);
        while counts & STRONG != 0 {
            if counts & STRONG > MAX {
                abort();
            }
            // ORDERING: Acquire pairs with the release in `bring_to_life`; otherwise whoever knows the cown has brought
            // along what there is to know.
            let (ok, failed) = (Ordering::Acquire, Ordering::Relaxed);
            match self.0.compare_exchange_weak(counts, counts + 1, ok, failed) {
                Ok(_) => return true,
                Err(now) => counts = now,
            }
        }
        false
    }

    /// Whether the caller's strong handle is the only handle of any kind.
    #[inline]
    pub(crate) fn are_sole(&self) -> bool {
        // ORDERING: Acquire pairs with the release of those who have given a handle up.
        self.0.load(Ordering::Acquire) == SOLE
    }

    /// Gives a strong handle up; returns whether it was the last one.
    #[inline]
    pub(crate) fn remove(&self) -> bool {
        // ORDERING: Release: what was done with this handle comes before the end of the state; pairs with the load below
        // (which could be a fence, but the thread sanitizer knows none), and with that in `are_sole`.
        let was_last = self.0.fetch_sub(1, Ordering::Release) & STRONG == 1;
        if was_last {
            self.0.load(Ordering::Acquire);
        }
        was_last
    }

    /// Gives a strong handle up that is the [only handle of any kind](Self::are_sole).
    pub(crate) fn remove_sole(&self) {
        // ORDERING: Relaxed. Nobody else can change the word, nor look at it but for the one who ends the state. That one
        // learns of the end of the handles by way of the queue (`leave_to_the_last`).
        self.0.store(ONE_WEAK, Ordering::Relaxed);
    }

    /// Gives a weak handle up; returns whether it was the last handle.
    #[inline]
    pub(crate) fn remove_weak(&self) -> bool {
        // ORDERING: Acquire pairs with the release of those who have gone.
        if self.0.load(Ordering::Acquire) / ONE_WEAK == 1 {
            return true;
        }
        // ORDERING: Release pairs with the acquire of the last one: all uses come before the free.
        let was_last = self.0.fetch_sub(ONE_WEAK, Ordering::Release) / ONE_WEAK == 1;
        if was_last {
            self.0.load(Ordering::Acquire);
        }
        was_last
    }

    /// How many strong handles there are; a hint.
    pub(crate) fn strong(&self) -> usize {
        // ORDERING: Relaxed. A hint.
        (self.0.load(Ordering::Relaxed) & STRONG) as usize
    }

    /// Whether there are strong handles; a hint.
    pub(crate) fn have_handles(&self) -> bool {
        // ORDERING: Relaxed. A hint.
        let counts = self.0.load(Ordering::Relaxed) & LOW;
        counts & STRONG != 0 || counts == TAKING_OUT
    }

    /// Uses the last strong handle to take the state out: as long as that takes no weak one is upgraded. Returns what
    /// [`put_back`](Self::put_back) is to be told; `None` if there are others.
    pub(crate) fn take_out(&self) -> Option<u64> {
        // It may be one that `leave` has given back, with more bits than the count.
        // ORDERING: Relaxed. Checked by the exchange.
        let mut counts = self.0.load(Ordering::Relaxed);
        while counts & STRONG == 1 {
            let taken = counts & !LOW | TAKING_OUT;
            // ORDERING: Acquire pairs with the release of the other handles' ends.
            let (ok, failed) = (Ordering::Acquire, Ordering::Relaxed);
            match self.0.compare_exchange_weak(counts, taken, ok, failed) {
                Ok(_) => return Some(counts & LOW),
                // A weak handle has come or gone.
                Err(now) => counts = now,
            }
        }
        None
    }

    /// The state is left where it is, and the handle is one again.
    pub(crate) fn put_back(&self, before: u64) {
        // The difference, as weak handles may come and go.
        // ORDERING: Relaxed. Nothing was read or written meanwhile.
        self.0.fetch_add(before.wrapping_sub(TAKING_OUT), Ordering::Relaxed);
    }

    /// Gives a strong handle up, unless it is the last one: that one waits for its check. Returns whether it does.
    pub(crate) fn leave(&self) -> bool {
        // ORDERING: Relaxed. Checked by the exchange.
        let mut counts = self.0.load(Ordering::Relaxed);
        loop {
            let (is_last, low) = match (counts & STRONG, counts & LEAVING) {
                (1, _) => (true, LEAVING | 1),
                (2, LEAVING) => (false, LEAVING | LEFT | 1),
                _ => (false, (counts & LOW) - 1),
            };
            simulated::point();
            // ORDERING: Release, as in `remove`, and for `part`: what this handle has spawned comes before.
            // Acquire: the check comes after all that other handles have spawned.
            let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            match self.0.compare_exchange_weak(counts, counts & !LOW | low, ok, failed) {
                Ok(_) => return is_last,
                Err(now) => counts = now,
            }
        }
    }

    /// What becomes of a strong handle that has waited for its check.
    pub(crate) fn part(&self) -> Parting {
        // ORDERING: Acquire pairs with the release in `leave`: what is spawned from now on comes behind what the handles
        // that have gone have spawned.
        let mut counts = self.0.load(Ordering::Acquire);
        loop {
            let (parting, low) = match (counts & STRONG, counts & LEFT) {
                (1, 0) => return Parting::Last,
                (1, _) => (Parting::Again, LEAVING | 1),
                (handles, _) => (Parting::Revoked, handles - 1),
            };
            simulated::point();
            // ORDERING: Release, as in `remove`; acquire as above.
            let (ok, failed) = (Ordering::AcqRel, Ordering::Acquire);
            match self.0.compare_exchange_weak(counts, counts & !LOW | low, ok, failed) {
                Ok(_) => return parting,
                Err(now) => counts = now,
            }
        }
    }

    /// Nobody looks at them any more; a model checks that.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.0.end();
    }
}
