//! Whether a member of a group is in its leader's list of interrupts; see `member_interrupt.rs`.

use coact_sync::shim::atomic::{AtomicU32, Ordering};

use super::header::CownHeader;
use crate::poll_until;

/// Whether a member is in its leader's list of interrupts. Uses the header word in which other
/// cowns count readers. Besides the state, the word counts how often the member was removed, so
/// that a late second step of one thread is not mistaken for that of the next interrupt.
pub(crate) struct InterruptNotice<'a>(&'a AtomicU32);

/// The notice is being placed by its owner, which owns the guard's word up to the moment at which
/// the member is in the list.
pub(super) struct NoticeInPlacing(u32);

impl<'a> InterruptNotice<'a> {
    /// Not in the list.
    const NONE: u32 = 0;
    /// A thread is adding it.
    const PLACING: u32 = 1;
    /// In the list, and INTERRUPT of the leader is set.
    const PLACED: u32 = 2;
    const STATE: u32 = 3;

    pub(crate) fn of(member: &'a CownHeader) -> Self {
        Self(member.notice_word())
    }

    /// Begins to place the notice. Returns `None` if an earlier interrupt has placed it and has not
    /// been served yet.
    pub(super) fn place(&self) -> Option<NoticeInPlacing> {
        // ORDERING: Relaxed. The exchange confirms the value.
        let mut now = self.0.load(Ordering::Relaxed);
        loop {
            let next = match now & Self::STATE {
                Self::NONE => now | Self::PLACING,
                Self::PLACED => now,
                _ => {
                    // ORDERING: Relaxed. The exchange confirms the value.
                    now = poll_until::poll_until_some(|| {
                        let later = self.0.load(Ordering::Relaxed);
                        (later != now).then_some(later)
                    });
                    continue;
                }
            };
            // ORDERING: AcqRel. Release publishes what the caller did to the thread that takes the
            // notice, even if the word stays the same. Acquire pairs with the Release in `take`:
            // this thread owns the guard's word until it is in the list; and with that in `placed`:
            // INTERRUPT of the leader is set.
            let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            match self.0.compare_exchange_weak(now, next, ok, failed) {
                Ok(_) => return (next != now).then_some(NoticeInPlacing(next)),
                Err(later) => now = later,
            }
        }
    }

    /// Records that it is in the list, unless it was removed already.
    pub(super) fn placed(&self, NoticeInPlacing(number): NoticeInPlacing) {
        // ORDERING: Release pairs with the Acquire in `place`.
        let (ok, failed) = (Ordering::Release, Ordering::Relaxed);
        let placed = number - Self::PLACING + Self::PLACED;
        let _ = self.0.compare_exchange(number, placed, ok, failed);
    }

    /// Removes the notice, and acquires what the threads that placed it, or found it placed, did
    /// before. The caller has the list.
    pub(crate) fn take(&self) {
        let next = |now: u32| Some((now | Self::STATE).wrapping_add(1));
        // ORDERING: AcqRel. Acquire pairs with the Release in `place`: the call sees what was done
        // before the interrupt. Release gives the guard's word to the next interrupt.
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Relaxed, next);
    }

    /// Returns whether the member is in the list, or about to be.
    pub(crate) fn is_there(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `take`: if the notice was taken, a request is
        // in the leader's queue.
        self.0.load(Ordering::Acquire) & Self::STATE != Self::NONE
    }
}
