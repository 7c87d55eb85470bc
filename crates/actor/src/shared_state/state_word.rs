//! The state of an actor in one word: its number, and bits above it.
//!
//! Two threads that each do something, set their own bit here and check the other's bit agree on
//! which was first: both modify this one word, so the second sees the first's bit and everything
//! done before it was set.
//!
//! | one thread | sets | and sees | the other | sets | and sees |
//! | --- | --- | --- | --- | --- | --- |
//! | the actor's end | ENDED | BEGUN: it ends what was begun | a thread that has begun something that ends with the actor | BEGUN | ENDED: it ends that itself |
//! | its end is announced | ANNOUNCED | SIGNALLED: it looks for signals | the sender of a signal | SIGNALLED | ANNOUNCED: it answers the signal itself |

use coact_sync::shim::atomic::{AtomicU64, Ordering};

use crate::exit::ExitReason;
use crate::id::ActorId;

/// Other cowns may hold up what waits for the actor.
const MULTI_COWN_WAITERS: u64 = 1 << 63;
/// It has ended.
const ENDED: u64 = 1 << 62;
/// Its end is announced: a later monitor does not wait for the actor.
const ANNOUNCED: u64 = 1 << 61;
/// Others have begun something that ends with the actor.
const BEGUN: u64 = 1 << 60;
/// A signal was pushed.
const SIGNALLED: u64 = 1 << 59;
/// The first signal, a stop, waits here.
const STOP: u64 = 1 << 58;
/// It must not start yet.
const DEFERRED: u64 = 1 << 57;
/// Why it has ended: one of three reasons that need no block, or another reason.
const REASON: u64 = 3 << 55;
const NORMAL: u64 = 0;
const SHUTDOWN: u64 = 1 << 55;
const KILLED: u64 = 2 << 55;
const OTHER: u64 = 3 << 55;
/// The number itself.
const NUMBER: u64 = SHUTDOWN - 1;

pub(super) struct StateWord(AtomicU64);

/// Why an actor has ended, as far as the word contains it.
#[derive(Clone, Copy)]
pub(super) enum KnownReason {
    For(&'static ExitReason),
    Other,
}

/// Which of two threads that meet here was first. The second one sees what the first has done
/// before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use = "the second one has to see to what the first has left"]
pub(super) enum MeetingOrder {
    First,
    Second,
}

impl MeetingOrder {
    fn second_if(is_second: bool) -> Self {
        if is_second { Self::Second } else { Self::First }
    }
}

impl StateWord {
    pub(super) fn new(id: ActorId) -> Self {
        Self(AtomicU64::new(id.get()))
    }

    /// Creates the word of an actor that does not start before [`allow_start`](Self::allow_start).
    pub(super) fn deferred(id: ActorId) -> Self {
        Self(AtomicU64::new(id.get() | DEFERRED))
    }

    #[inline]
    pub(super) fn id(&self) -> ActorId {
        // ORDERING: Relaxed. The number is constant.
        let number = self.0.load(Ordering::Relaxed) & NUMBER;
        ActorId::from_number(number).expect("made from an identity")
    }

    /// Allows the actor to start; it is interrupted after this.
    pub(super) fn allow_start(&self) {
        // ORDERING: Relaxed. Published by the interrupt.
        self.0.fetch_and(!DEFERRED, Ordering::Relaxed);
    }

    pub(super) fn is_deferred(&self) -> bool {
        // ORDERING: Relaxed. Read after an interrupt.
        self.0.load(Ordering::Relaxed) & DEFERRED != 0
    }

    #[inline]
    pub(super) fn set_multi_cown_waiters(&self) {
        if !self.has_multi_cown_waiters() {
            // ORDERING: Relaxed, here and in the load. A thread that finds something queued behind
            // such a behaviour is ordered after this by the queue.
            self.0.fetch_or(MULTI_COWN_WAITERS, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(super) fn has_multi_cown_waiters(&self) -> bool {
        self.0.load(Ordering::Relaxed) & MULTI_COWN_WAITERS != 0
    }

    /// Marks the end; a reason that needs a block was stored before. The second one ends what
    /// others have begun that ends with the actor.
    pub(super) fn end(&self, reason: &ExitReason) -> MeetingOrder {
        let reason = match reason {
            ExitReason::Normal => NORMAL,
            ExitReason::Shutdown => SHUTDOWN,
            ExitReason::Killed => KILLED,
            _ => OTHER,
        };
        // ORDERING: AcqRel. Release pairs with the acquire in `ended` and in `begin`; acquire pairs
        // with the release there, so what was begun is visible.
        MeetingOrder::second_if(self.0.fetch_or(ENDED | reason, Ordering::AcqRel) & BEGUN != 0)
    }

    /// Returns whether it has ended, and why.
    pub(super) fn ended(&self) -> Option<KnownReason> {
        // ORDERING: Acquire pairs with the release in `end`.
        let word = self.0.load(Ordering::Acquire);
        if word & ENDED == 0 {
            return None;
        }
        Some(match word & REASON {
            NORMAL => KnownReason::For(&ExitReason::Normal),
            SHUTDOWN => KnownReason::For(&ExitReason::Shutdown),
            KILLED => KnownReason::For(&ExitReason::Killed),
            _ => KnownReason::Other,
        })
    }

    /// Returns [whether it has ended](Self::ended), as a hint.
    #[inline]
    pub(super) fn may_have_ended(&self) -> bool {
        // ORDERING: Relaxed. A hint.
        self.0.load(Ordering::Relaxed) & ENDED != 0
    }

    /// Notes that something was begun that ends with the actor. The second one ends it: the actor
    /// has ended without seeing it.
    pub(super) fn begin(&self) -> MeetingOrder {
        // ORDERING: AcqRel, see `end`.
        MeetingOrder::second_if(self.0.fetch_or(BEGUN, Ordering::AcqRel) & ENDED != 0)
    }

    /// Notes that the end has been announced. The second one looks for signals: some may have
    /// arrived since.
    pub(super) fn set_announced(&self) -> MeetingOrder {
        // ORDERING: AcqRel. Release pairs with the acquire in `set_signalled`: later answers come
        // behind the announcement. Acquire pairs with the release there: a pushed signal is seen.
        MeetingOrder::second_if(self.0.fetch_or(ANNOUNCED, Ordering::AcqRel) & SIGNALLED != 0)
    }

    /// Notes that a signal was pushed. The second one answers it: the end has been announced, and
    /// the actor does not see it.
    pub(super) fn set_signalled(&self) -> MeetingOrder {
        // ORDERING: AcqRel, see `set_announced`.
        MeetingOrder::second_if(self.0.fetch_or(SIGNALLED, Ordering::AcqRel) & ANNOUNCED != 0)
    }

    /// Pushes a stop as the first signal; like [`set_signalled`](Self::set_signalled).
    pub(super) fn push_stop(&self) -> MeetingOrder {
        // ORDERING: AcqRel, as in `set_signalled`; release also for `take_stop`.
        MeetingOrder::second_if(
            self.0.fetch_or(STOP | SIGNALLED, Ordering::AcqRel) & ANNOUNCED != 0,
        )
    }

    /// Takes the stop that was pushed as the first signal, if it waits.
    pub(super) fn take_stop(&self) -> bool {
        // ORDERING: Acquire, the exchange, pairs with the release in `push_stop`. Relaxed, the
        // load: a stop that must be seen was followed by an interrupt.
        self.has_stop() && self.0.fetch_and(!STOP, Ordering::Acquire) & STOP != 0
    }

    pub(super) fn has_stop(&self) -> bool {
        // ORDERING: Relaxed. See `take_stop`.
        self.0.load(Ordering::Relaxed) & STOP != 0
    }
}
