//! The state of a promise's cell: who has come, and who has left.

use coact_sync::shim::atomic::{AtomicU8, End, Ordering};

/// What the word says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
enum State {
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

impl State {
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
pub(super) enum Next {
    /// Takes out the waiter, which it owns now, and goes on.
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
pub(super) enum Withdrawn {
    /// The waiter, which the consumer owns again.
    Waiter,
    /// There is none.
    Nothing,
    /// The producer has come, and may be reading the waiter.
    TooLate,
}

/// How the consumer leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Leaving {
    /// It has no use for the value.
    Drops,
    /// It has waited long enough.
    GivesUp,
}

/// Who frees the cell after the consumer has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Owner {
    /// The producer, which has not left.
    Producer,
    /// The caller, together with the value: the producer has left.
    Caller,
}

impl CellState {
    #[inline]
    pub(super) fn empty() -> Self {
        Self(AtomicU8::new(State::Empty as u8))
    }

    /// The state of a block that is called with the value; see [`calls`](Self::calls).
    #[inline]
    pub(super) fn calling() -> Self {
        Self(AtomicU8::new(State::Calls as u8))
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
        State::of(self.0.load(Ordering::Relaxed)) == State::Calls
    }

    /// Returns whether the consumer has left; a hint.
    #[inline]
    pub(super) fn is_abandoned(&self) -> bool {
        // ORDERING: Relaxed. The result is a hint.
        State::of(self.0.load(Ordering::Relaxed)) >= State::Gone
    }

    /// Returns whether the producer has left. Then the consumer may take the value.
    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        // ORDERING: Acquire pairs with the Release of `Ready` in `Arriving::next`: the value.
        State::of(self.0.load(Ordering::Acquire)) == State::Ready
    }

    /// The producer comes, after it has written the value.
    #[inline(always)]
    pub(super) fn arrive(&self) -> Arriving<'_> {
        // ORDERING: Relaxed. The exchange in `Arriving::next` confirms the state.
        Arriving { state: self, seen: State::of(self.0.load(Ordering::Relaxed)) }
    }

    /// The consumer leaves a waiter, which it has written in the state `Empty`. Returns whether it
    /// does: otherwise the producer has come, and has not seen the waiter.
    #[inline]
    pub(super) fn try_offer(&self) -> bool {
        // ORDERING: Release publishes the waiter to the producer (Acquire in `Arriving::next`).
        // Relaxed on failure: the state is loaded again before the value is read.
        let (ok, failed) = (Ordering::Release, Ordering::Relaxed);
        self.0.compare_exchange(State::Empty as u8, State::Waiting as u8, ok, failed).is_ok()
    }

    /// The consumer takes back its waiter. Unless this is too late, the waiter's place is the
    /// consumer's afterwards.
    #[inline]
    pub(super) fn withdraw(&self) -> Withdrawn {
        // ORDERING: Relaxed. The waiter is this thread's own. If the producer was first, the state
        // is loaded again with Acquire before anything is read. An `Empty` may be stale, but has
        // not been `Waiting` since: only this thread sets that.
        let (ok, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        match self.0.compare_exchange(State::Waiting as u8, State::Empty as u8, ok, failed) {
            Ok(_) => Withdrawn::Waiter,
            Err(now) if State::of(now) == State::Empty => Withdrawn::Nothing,
            Err(_) => Withdrawn::TooLate,
        }
    }

    /// The consumer leaves.
    #[inline]
    pub(super) fn leave(&self, how: Leaving) -> Owner {
        let state = match how {
            Leaving::Drops => State::Gone,
            Leaving::GivesUp => State::Late,
        };
        // ORDERING: AcqRel. Release: this thread's accesses come before the producer's free (Acquire
        // in `Arriving::next`). Acquire pairs with the Release of `Ready` there, since the caller
        // takes the value.
        let before = State::of(self.0.swap(state as u8, Ordering::AcqRel));
        if before == State::Ready { Owner::Caller } else { Owner::Producer }
    }
}

/// The producer on its way, which takes one or two steps.
pub(super) struct Arriving<'a> {
    state: &'a CellState,
    /// The last state that it has seen.
    seen: State,
}

impl Arriving<'_> {
    /// Takes the next step. After [`Next::TakeWaiter`] the caller takes out the waiter before it
    /// calls this again.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Next {
        let word = &self.state.0;
        while self.seen < State::Gone {
            let takes = self.seen == State::Waiting;
            let next = if takes { State::Taking } else { State::Ready };
            // ORDERING: AcqRel. Release publishes the value with `Ready` (Acquire in `is_ready` and
            // `leave`). Acquire pairs with the Release in `try_offer`, since the waiter is read.
            // Relaxed on failure: the load of `Gone` below is an Acquire.
            let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            match word.compare_exchange(self.seen as u8, next as u8, ok, failed) {
                Err(now) => self.seen = State::of(now),
                Ok(_) if takes => {
                    self.seen = State::Taking;
                    return Next::TakeWaiter;
                }
                Ok(_) => return Next::Leave,
            }
        }
        // ORDERING: Acquire pairs with the Release in `leave`, whose state the loop has seen: the
        // free comes after the consumer's accesses.
        match State::of(word.load(Ordering::Acquire)) {
            State::Late => Next::FreeAndReport,
            _ => Next::Free,
        }
    }
}
