//! The biased lock of a worker's queue: the owner enters with two stores and a load, a thief with a
//! system call. For the argument, see the scheduler's README, "The local queue".

use coact_sync::asym;
use coact_sync::shim::atomic::{AtomicBool, AtomicU8, Ordering, fence};
use coact_sync::shim::hint::spin_loop;
use coact_sync::shim::process::compiler_fence;
use coact_sync::shim::thread;

/// How often a thief checks whether the owner has left.
const PATIENCE: u32 = if cfg!(loom) { 2 } else { 100 };

pub(super) struct BiasedLock {
    /// Whether the owner is inside.
    busy: AtomicBool,
    /// What keeps the owner from the fast path.
    hindrance: Hindrance,
}

impl BiasedLock {
    pub(super) fn new() -> Self {
        Self { busy: AtomicBool::new(false), hindrance: Hindrance::new() }
    }

    /// Enters as the owner, unless a thief is inside or about to be.
    #[inline(always)]
    pub(super) fn try_enter(&self) -> bool {
        // ORDERING: Relaxed; the barrier orders it before the load below, and pairs with the heavy
        // one in `try_break_in`: either the owner sees the claim, or the thief sees `busy`. Without
        // a hindrance the thief's system call also serves as the processor's barrier on this side,
        // so only the compiler is restrained.
        self.busy.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        self.hindrance.is_none() || self.try_enter_with_care()
    }

    /// The same without the call on the slow path: a function whose only call is a tail call saves
    /// no registers. The caller has another way.
    #[inline(always)]
    pub(super) fn try_enter_at_once(&self) -> bool {
        // ORDERING: Relaxed, see `try_enter`.
        self.busy.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let is_in = self.hindrance.is_none();
        if !is_in {
            self.leave();
        }
        is_in
    }

    #[cold]
    #[inline(never)]
    fn try_enter_with_care(&self) -> bool {
        // ORDERING: SeqCst pairs with the fence in the heavy barrier of `try_break_in`; see
        // `try_enter`.
        fence(Ordering::SeqCst);
        let is_in = !self.hindrance.is_thief();
        if !is_in {
            self.leave();
        }
        is_in
    }

    /// Enters as the owner; waits for a thief to leave.
    #[inline]
    pub(super) fn enter(&self) {
        while !self.try_enter() {
            self.wait_for_thief();
        }
    }

    #[inline(always)]
    pub(super) fn leave(&self) {
        // ORDERING: Release pairs with the Acquire in `owner_is_outside`: a thief that finds the
        // owner outside sees what the owner did when it was last inside.
        self.busy.store(false, Ordering::Release);
    }

    #[cold]
    fn wait_for_thief(&self) {
        // A thief stays inside for a heavy barrier and a few moves. It may be preempted, so the
        // wait must not hold the processor; but it is too short for a nap.
        while self.hindrance.is_thief() {
            thread::yield_now();
        }
    }

    /// Runs `work` inside as a thief, unless another thief or the owner is inside.
    pub(super) fn try_break_in(&self, work: impl FnOnce()) {
        let Some(claim) = self.hindrance.claim() else { return };
        // Pairs with the barrier in `try_enter`: from here on the owner sees the claim.
        asym::heavy();
        if !claim.owner_puts_fences && !asym::is_asymmetric() {
            // The owner may have entered without a fence, relying on a call that is now refused.
            self.hindrance.require_fences();
            asym::wait_out();
        }
        if self.owner_is_outside() {
            work();
        }
        self.hindrance.end_claim();
    }

    /// Waits a moment for the owner to leave. It is inside for a few instructions at a time, unless
    /// it is preempted there: then it is better to go elsewhere.
    fn owner_is_outside(&self) -> bool {
        for _ in 0..PATIENCE {
            // ORDERING: Acquire pairs with the Release in `leave`.
            if !self.busy.load(Ordering::Acquire) {
                return true;
            }
            spin_loop();
        }
        false
    }
}

/// A thief's claim on the queue.
struct ThiefClaim {
    /// Whether the owner already executes a fence when it enters.
    owner_puts_fences: bool,
}

/// Why the owner cannot take the fast path: bits of one byte, so that one load tells that there is
/// no reason.
struct Hindrance(AtomicU8);

impl Hindrance {
    /// A thief is inside, or about to be.
    const THIEF: u8 = 1;
    /// The owner must execute a fence, since thieves cannot make its processor do so. Never
    /// cleared.
    const FENCES: u8 = 1 << 1;

    fn new() -> Self {
        Self(AtomicU8::new(if asym::is_asymmetric() { 0 } else { Self::FENCES }))
    }

    #[inline(always)]
    fn is_none(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `end_claim`.
        self.0.load(Ordering::Acquire) == 0
    }

    fn is_thief(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `end_claim`.
        self.0.load(Ordering::Acquire) & Self::THIEF != 0
    }

    /// Claims the queue for a thief, unless another one has.
    fn claim(&self) -> Option<ThiefClaim> {
        // ORDERING: Acquire pairs with the Release of the previous thief.
        let before = self.0.fetch_or(Self::THIEF, Ordering::Acquire);
        let is_free = before & Self::THIEF == 0;
        is_free.then_some(ThiefClaim { owner_puts_fences: before & Self::FENCES != 0 })
    }

    fn end_claim(&self) {
        // ORDERING: Release pairs with the Acquires of the owner and of the next thief.
        self.0.fetch_and(!Self::THIEF, Ordering::Release);
    }

    /// Makes the owner execute a fence from here on.
    fn require_fences(&self) {
        // ORDERING: Relaxed. The caller has the claim, which keeps the owner out; both are in the
        // same word.
        self.0.fetch_or(Self::FENCES, Ordering::Relaxed);
    }
}
