//! The state of a promise's cell: who has come, and who has left.

use coact_sync::shim::atomic::{AtomicEnd, AtomicU8, Ordering};

/// What the word says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
enum CellWord {
    /// No value yet. Set at creation, and by the consumer when it withdraws its waiter.
    Empty,
    /// The waiter is initialised, and the producer owns it when it arrives. Set by the consumer.
    Waiting,
    /// The producer takes the waiter out; `Ready` follows at once. Set by the producer.
    Taking,
    /// The value is initialised, and the consumer owns it. Set by the producer, as its last step.
    Ready,
    /// There is no consumer: the producer calls a closure with the value. Set at creation.
    Calls,
    /// The producer owns the cell alone. Set by the consumer, as its last step.
    Gone,
    /// Like `Gone`, and the producer reports it. Set by the consumer when it gives up.
    Late,
}

impl CellWord {
    #[inline(always)]
    fn of(word: u8) -> Self {
        debug_assert!(word <= Self::Late as u8, "only states are stored");
        // SAFETY: only states are stored in a cell's word.
        unsafe { std::mem::transmute::<u8, Self>(word) }
    }
}

/// The word that both ends change, at the front of the cell. The producer leaves with its exchange
/// to `Ready`, the consumer with its exchange to `Gone` or `Late`; the second of them frees the
/// cell.
#[repr(transparent)]
pub(super) struct CellState(AtomicU8);

/// What the producer does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ProducerStep {
    /// Takes out the waiter, which it owns now, and [leaves](CellState::leave_with_waiter).
    TakeWaiter,
    /// Nothing: it has left. The consumer may free the cell.
    Leave,
    /// Frees the cell: the consumer left before it.
    Free,
    /// The same, and reports it: the consumer gave up.
    FreeAndReport,
}

/// What the consumer finds when it takes back its waiter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WaiterWithdrawal {
    /// The waiter, which the consumer owns again.
    Waiter,
    /// There is none.
    Nothing,
    /// The producer has come, and may be reading the waiter.
    TooLate,
}

/// How the consumer leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ConsumerExit {
    /// It has no use for the value.
    Drops,
    /// It has waited long enough.
    GivesUp,
}

/// Who frees the cell after the consumer has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CellOwner {
    /// The producer, which has not left.
    Producer,
    /// The caller, together with the value: the producer has left.
    Caller,
}

impl CellState {
    #[inline]
    pub(super) fn empty() -> Self {
        Self(AtomicU8::new(CellWord::Empty as u8))
    }

    /// The state of a block that is called with the value; see [`calls`](Self::calls).
    #[inline]
    pub(super) fn calling() -> Self {
        Self(AtomicU8::new(CellWord::Calls as u8))
    }

    /// The cell is unreachable from here on; a model checks that.
    #[inline]
    pub(super) fn end(&mut self) {
        self.0.end();
    }

    /// Returns whether the block is called with the value. Constant.
    #[inline(always)]
    pub(super) fn calls(&self) -> bool {
        // ORDERING: Relaxed. `Calls` is set at creation and never changes.
        CellWord::of(self.0.load(Ordering::Relaxed)) == CellWord::Calls
    }

    /// Returns whether the consumer has left; a hint.
    #[inline]
    pub(super) fn is_abandoned(&self) -> bool {
        // ORDERING: Relaxed. The result is a hint.
        CellWord::of(self.0.load(Ordering::Relaxed)) >= CellWord::Gone
    }

    /// Returns whether the producer has left. Then the consumer may take the value.
    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        // ORDERING: Acquire pairs with the Release of `Ready` in `arrive` and `leave_with_waiter`:
        // the value.
        CellWord::of(self.0.load(Ordering::Acquire)) == CellWord::Ready
    }

    /// The producer comes, after it has written the value, and leaves at once if there is no
    /// waiter.
    #[inline(always)]
    pub(super) fn arrive(&self) -> ProducerStep {
        // ORDERING: Relaxed. The exchange confirms the state.
        let mut now = CellWord::of(self.0.load(Ordering::Relaxed));
        while now < CellWord::Gone {
            let next = if now == CellWord::Waiting { CellWord::Taking } else { CellWord::Ready };
            // ORDERING: AcqRel. Release publishes the value with `Ready` (Acquire in `is_ready` and
            // `leave`). Acquire pairs with the Release in `try_offer`, since the waiter is read.
            // Relaxed on failure: `after_consumer` loads the state again.
            let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            match self.0.compare_exchange(now as u8, next as u8, ok, failed) {
                Ok(_) if next == CellWord::Taking => return ProducerStep::TakeWaiter,
                Ok(_) => return ProducerStep::Leave,
                Err(other) => now = CellWord::of(other),
            }
        }
        self.after_consumer()
    }

    /// The producer leaves, after it has taken out the waiter.
    #[inline(always)]
    pub(super) fn leave_with_waiter(&self) -> ProducerStep {
        // ORDERING: Release publishes the value, as in `arrive`. Relaxed on failure, as there.
        let (ok, failed) = (Ordering::Release, Ordering::Relaxed);
        match self.0.compare_exchange(CellWord::Taking as u8, CellWord::Ready as u8, ok, failed) {
            Ok(_) => ProducerStep::Leave,
            // Only the consumer changes the state meanwhile, by leaving.
            Err(_) => self.after_consumer(),
        }
    }

    /// What the producer does when the consumer has left.
    #[inline(always)]
    fn after_consumer(&self) -> ProducerStep {
        // ORDERING: Acquire pairs with the Release in `leave`, whose state the caller has seen: the
        // free comes after the consumer's accesses.
        match CellWord::of(self.0.load(Ordering::Acquire)) {
            CellWord::Late => ProducerStep::FreeAndReport,
            _ => ProducerStep::Free,
        }
    }

    /// The consumer leaves a waiter, which it has written in the state `Empty`. Returns whether it
    /// does: otherwise the producer has come, and has not seen the waiter.
    #[inline]
    pub(super) fn try_offer(&self) -> bool {
        // ORDERING: Release publishes the waiter to the producer (Acquire in `arrive`).
        // Relaxed on failure: the state is loaded again before the value is read.
        let (ok, failed) = (Ordering::Release, Ordering::Relaxed);
        self.0.compare_exchange(CellWord::Empty as u8, CellWord::Waiting as u8, ok, failed).is_ok()
    }

    /// The consumer takes back its waiter. Unless this is too late, the waiter's place is the
    /// consumer's afterwards.
    #[inline]
    pub(super) fn withdraw(&self) -> WaiterWithdrawal {
        // ORDERING: Relaxed. The waiter is this thread's own. If the producer was first, the state
        // is loaded again with Acquire before anything is read. An `Empty` may be stale, but has
        // not been `Waiting` since: only this thread sets that.
        let (ok, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        match self.0.compare_exchange(CellWord::Waiting as u8, CellWord::Empty as u8, ok, failed) {
            Ok(_) => WaiterWithdrawal::Waiter,
            Err(now) if CellWord::of(now) == CellWord::Empty => WaiterWithdrawal::Nothing,
            Err(_) => WaiterWithdrawal::TooLate,
        }
    }

    /// The consumer leaves.
    #[inline]
    pub(super) fn leave(&self, how: ConsumerExit) -> CellOwner {
        let state = match how {
            ConsumerExit::Drops => CellWord::Gone,
            ConsumerExit::GivesUp => CellWord::Late,
        };
        // ORDERING: AcqRel. Release: this thread's accesses come before the producer's free
        // (Acquire in `after_consumer`). Acquire pairs with the Release of `Ready`, as in
        // `is_ready`, since the caller takes the value.
        let before = CellWord::of(self.0.swap(state as u8, Ordering::AcqRel));
        if before == CellWord::Ready { CellOwner::Caller } else { CellOwner::Producer }
    }
}
