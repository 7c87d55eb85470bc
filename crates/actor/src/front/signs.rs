//! The word that says what others are to know of an actor: its number, and above that bits.
//!
//! Where two threads each do something, say so here, and look whether the other has, they agree: both change this one
//! word, so one comes second, and sees the other's bit with all that was done before it was set.
//!
//! | who comes | sets | and sees | who comes meanwhile | sets | and sees |
//! | --- | --- | --- | --- | --- | --- |
//! | the actor's end | ENDED | BEGUN: it ends what was begun | one that has begun something that ends with the actor | BEGUN | ENDED: it ends that itself |
//! | its end is told | TOLD | SIGNALLED: it looks for signals | the sender of a signal | SIGNALLED | TOLD: it answers the signal itself |

use coact_sync::shim::atomic::{AtomicU64, Ordering};

use crate::{ActorId, ExitReason};

/// Other cowns may hold up what waits for it.
const ENTANGLED: u64 = 1 << 63;
/// It has ended.
const ENDED: u64 = 1 << 62;
/// Its end is told: a monitor that comes from now on need not wait for the actor.
const TOLD: u64 = 1 << 61;
/// Others have begun something that is to end with it.
const BEGUN: u64 = 1 << 60;
/// A signal was pushed.
const SIGNALLED: u64 = 1 << 59;
/// The first signal, a stop, waits here.
const STOP: u64 = 1 << 58;
/// It is not to begin yet.
const UNBORN: u64 = 1 << 57;
/// Why it has ended: three reasons that need no block, or another one.
const REASON: u64 = 3 << 55;
const NORMAL: u64 = 0;
const SHUTDOWN: u64 = 1 << 55;
const KILLED: u64 = 2 << 55;
const OTHER: u64 = 3 << 55;
/// The number itself.
const NUMBER: u64 = SHUTDOWN - 1;

pub(super) struct Signs(AtomicU64);

/// That an actor has ended, and why, as far as one word says that.
#[derive(Clone, Copy)]
pub(super) enum End {
    For(&'static ExitReason),
    Other,
}

impl Signs {
    pub(super) fn new(id: ActorId) -> Self {
        Self(AtomicU64::new(id.get()))
    }

    /// Those of an actor that is not to begin before [`be_born`](Self::be_born).
    pub(super) fn unborn(id: ActorId) -> Self {
        Self(AtomicU64::new(id.get() | UNBORN))
    }

    #[inline]
    pub(super) fn id(&self) -> ActorId {
        // ORDERING: Relaxed. The number is constant.
        let number = self.0.load(Ordering::Relaxed) & NUMBER;
        ActorId::from_number(number).expect("made from an identity")
    }

    /// The actor may begin; it is alerted after this.
    pub(super) fn be_born(&self) {
        // ORDERING: Relaxed. Published by the alert.
        self.0.fetch_and(!UNBORN, Ordering::Relaxed);
    }

    pub(super) fn are_unborn(&self) -> bool {
        // ORDERING: Relaxed. Looked at after an alert.
        self.0.load(Ordering::Relaxed) & UNBORN != 0
    }

    #[inline]
    pub(super) fn entangle(&self) {
        if !self.are_entangled() {
            // ORDERING: Relaxed, here and in the look. Whoever finds something behind such a behaviour in the queue is
            // ordered after this by the queue.
            self.0.fetch_or(ENTANGLED, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(super) fn are_entangled(&self) -> bool {
        self.0.load(Ordering::Relaxed) & ENTANGLED != 0
    }

    /// The actor has ended; a reason that needs a block is in its place. Returns whether others have begun something
    /// that is to end with it.
    pub(super) fn end(&self, reason: &ExitReason) -> bool {
        let reason = match reason {
            ExitReason::Normal => NORMAL,
            ExitReason::Shutdown => SHUTDOWN,
            ExitReason::Killed => KILLED,
            _ => OTHER,
        };
        // ORDERING: AcqRel. Release pairs with the acquire in `ended` and in `begin`; acquire pairs with the release
        // there: we see what was begun.
        self.0.fetch_or(ENDED | reason, Ordering::AcqRel) & BEGUN != 0
    }

    /// Whether it has ended, and why.
    pub(super) fn ended(&self) -> Option<End> {
        // ORDERING: Acquire pairs with the release in `end`.
        let signs = self.0.load(Ordering::Acquire);
        if signs & ENDED == 0 {
            return None;
        }
        Some(match signs & REASON {
            NORMAL => End::For(&ExitReason::Normal),
            SHUTDOWN => End::For(&ExitReason::Shutdown),
            KILLED => End::For(&ExitReason::Killed),
            _ => End::Other,
        })
    }

    /// The same as a hint.
    #[inline]
    pub(super) fn may_have_ended(&self) -> bool {
        // ORDERING: Relaxed. A hint.
        self.0.load(Ordering::Relaxed) & ENDED != 0
    }

    /// Something was begun that ends with the actor. Returns whether the actor has ended, and so has not seen it.
    pub(super) fn begin(&self) -> bool {
        // ORDERING: AcqRel, see `end`.
        self.0.fetch_or(BEGUN, Ordering::AcqRel) & ENDED != 0
    }

    /// The end has been announced. Returns whether signals were ever pushed: some may have come since.
    pub(super) fn tell(&self) -> bool {
        // ORDERING: AcqRel. Release pairs with the acquire in `set_signalled`: later answers come behind the announcement.
        // Acquire pairs with the release there: a pushed signal is seen.
        self.0.fetch_or(TOLD, Ordering::AcqRel) & SIGNALLED != 0
    }

    /// A signal was pushed. Returns whether the actor sees it; if not, its end has been announced.
    pub(super) fn set_signalled(&self) -> bool {
        // ORDERING: AcqRel, see `tell`.
        self.0.fetch_or(SIGNALLED, Ordering::AcqRel) & TOLD == 0
    }

    /// Pushes a stop as the first signal. Returns whether the actor sees it.
    pub(super) fn push_stop(&self) -> bool {
        // ORDERING: AcqRel, as in `set_signalled`; release also for `take_stop`.
        self.0.fetch_or(STOP | SIGNALLED, Ordering::AcqRel) & TOLD == 0
    }

    /// Takes the stop that was pushed as the first signal, if it waits.
    pub(super) fn take_stop(&self) -> bool {
        // ORDERING: Acquire, the exchange, pairs with the release in `push_stop`. Relaxed, the look: what is to be seen
        // was followed by an alert.
        self.has_stop() && self.0.fetch_and(!STOP, Ordering::Acquire) & STOP != 0
    }

    pub(super) fn has_stop(&self) -> bool {
        // ORDERING: Relaxed, as above.
        self.0.load(Ordering::Relaxed) & STOP != 0
    }
}
