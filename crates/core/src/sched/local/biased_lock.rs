//! The biased lock of a worker's queue: the owner enters with two stores and a load, a thief with a system call.
//! The scheduler's README, "The local queue", has the argument.

use coact_sync::asym;
use coact_sync::shim::atomic::{AtomicBool, AtomicU8, Ordering, fence};
use coact_sync::shim::hint::spin_loop;
use coact_sync::shim::process::compiler_fence;
use coact_sync::shim::thread;

/// How often a thief looks whether the owner has come out.
const PATIENCE: u32 = if cfg!(loom) { 2 } else { 100 };

pub(super) struct BiasedLock {
    /// The owner is inside.
    busy: AtomicBool,
    /// What keeps the owner from entering the short way.
    hindrance: Hindrance,
}

impl BiasedLock {
    pub(super) fn new() -> Self {
        Self { busy: AtomicBool::new(false), hindrance: Hindrance::new() }
    }

    /// Enters as the owner, unless a thief is inside or about to be.
    #[inline(always)]
    pub(super) fn try_enter(&self) -> bool {
        // ORDERING: Relaxed; the barrier orders it before the load below, and pairs with the heavy one in `try_break_in`:
        // either the owner sees the claim, or the thief sees `busy`. With no hindrance the thief's system call serves as
        // the processor's barrier on this side, too, so only the compiler is restrained.
        self.busy.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        self.hindrance.is_none() || self.try_enter_with_care()
    }

    /// The same, without what is called where something hinders the owner: a function that has no call but in its tail
    /// saves no registers. The caller has another way.
    #[inline(always)]
    pub(super) fn try_enter_at_once(&self) -> bool {
        // ORDERING: Relaxed, as in `try_enter`.
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
        // ORDERING: SeqCst pairs with the fence in the heavy barrier of `try_break_in`, as above.
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
        // ORDERING: Release pairs with the acquire in `owner_is_outside`: a thief that finds the owner outside sees what
        // the owner did when it was inside the last time.
        self.busy.store(false, Ordering::Release);
    }

    #[cold]
    fn wait_for_thief(&self) {
        // A thief is inside for as long as a heavy barrier takes, and a few moves. It may be
        // preempted, so the wait must not hold the processor; but it is too short to nap.
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
            // The owner may have entered without a fence, relying on a call that is refused now.
            self.hindrance.require_fences();
            asym::wait_out();
        }
        if self.owner_is_outside() {
            work();
        }
        self.hindrance.end_claim();
    }

    /// Waits a moment for the owner to come out. It is inside for a few instructions at a time,
    /// unless it is preempted there: then we rather go elsewhere.
    fn owner_is_outside(&self) -> bool {
        for _ in 0..PATIENCE {
            // ORDERING: Acquire pairs with the release in `leave`.
            if !self.busy.load(Ordering::Acquire) {
                return true;
            }
            spin_loop();
        }
        false
    }
}

/// A thief's claim of the queue.
struct Claim {
    /// The owner already puts a fence when it enters.
    owner_puts_fences: bool,
}

/// Why the owner cannot enter the short way: bits of one byte, so that one load tells that there is no reason.
struct Hindrance(AtomicU8);

impl Hindrance {
    /// A thief is inside, or about to be.
    const THIEF: u8 = 1;
    /// The owner must put a fence, since thieves cannot make its processor put one. Never cleared.
    const FENCES: u8 = 1 << 1;

    fn new() -> Self {
        Self(AtomicU8::new(if asym::is_asymmetric() { 0 } else { Self::FENCES }))
    }

    #[inline(always)]
    fn is_none(&self) -> bool {
        // ORDERING: Acquire pairs with the release in `end_claim`.
        self.0.load(Ordering::Acquire) == 0
    }

    fn is_thief(&self) -> bool {
        // ORDERING: Acquire, as above.
        self.0.load(Ordering::Acquire) & Self::THIEF != 0
    }

    /// Claims the queue for a thief, unless another one has.
    fn claim(&self) -> Option<Claim> {
        // ORDERING: Acquire pairs with the release of the thief before.
        let before = self.0.fetch_or(Self::THIEF, Ordering::Acquire);
        let is_free = before & Self::THIEF == 0;
        is_free.then_some(Claim { owner_puts_fences: before & Self::FENCES != 0 })
    }

    fn end_claim(&self) {
        // ORDERING: Release pairs with the acquires of the owner and of the next thief.
        self.0.fetch_and(!Self::THIEF, Ordering::Release);
    }

    /// Makes the owner put a fence from here on.
    fn require_fences(&self) {
        // ORDERING: Relaxed. The caller has the claim, which keeps the owner out; both are in the same word.
        self.0.fetch_or(Self::FENCES, Ordering::Relaxed);
    }
}
