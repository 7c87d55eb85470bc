//! The lock of a worker's queue: its owner comes in with two stores and a look, a thief pays for both. The argument is that
//! of the scheduler's README, "The local queue".

use coact_sync::asym;
use coact_sync::shim::atomic::{AtomicBool, AtomicU8, Ordering, fence};
use coact_sync::shim::hint::spin_loop;
use coact_sync::shim::process::compiler_fence;
use coact_sync::shim::thread;

/// How often a thief looks whether the owner has come out.
const PATIENCE: u32 = if cfg!(loom) { 2 } else { 100 };

pub(super) struct Gate {
    /// The owner is inside.
    busy: AtomicBool,
    /// What the owner has to look out for.
    hindrance: Hindrance,
}

impl Gate {
    pub(super) fn new() -> Self {
        Self { busy: AtomicBool::new(false), hindrance: Hindrance::new() }
    }

    /// The owner comes in, unless a thief is inside, or about to be.
    #[inline(always)]
    pub(super) fn try_enter(&self) -> bool {
        // ORDERING: Relaxed; the barrier orders it before the look. It pairs with that of `claim`: either we see the
        // thief, or the thief sees us inside. Where nothing hinders, no barrier of ours is needed but for the compiler.
        self.busy.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        self.hindrance.is_none() || self.try_enter_with_care()
    }

    #[cold]
    #[inline(never)]
    fn try_enter_with_care(&self) -> bool {
        // ORDERING: SeqCst pairs with the fence of the heavy barrier in `claim`, as above.
        fence(Ordering::SeqCst);
        let is_in = !self.hindrance.is_thief();
        if !is_in {
            self.leave();
        }
        is_in
    }

    /// The owner comes in.
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

    /// Does something as a thief, unless another one, or the owner, is in the way.
    pub(super) fn try_break_in(&self, work: impl FnOnce()) {
        let Some(claim) = self.hindrance.claim() else { return };
        // Pairs with the barrier in `try_enter`: from here on the owner sees the claim.
        asym::heavy();
        if !claim.owner_puts_fences && !asym::is_asymmetric() {
            // The owner may have relied on a call that is refused by now.
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

/// A thief has claimed the queue.
struct Claim {
    owner_puts_fences: bool,
}

/// Why the owner must take care when it comes in, in one byte, so that one look tells that there is nothing.
struct Hindrance(AtomicU8);

impl Hindrance {
    /// A thief is inside, or about to be.
    const THIEF: u8 = 1;
    /// The owner needs a fence of its own, since thieves cannot have other processors do one for them. For good.
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

    /// A thief claims the queue, unless another one has.
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

    /// From here on the owner puts a fence.
    fn require_fences(&self) {
        // ORDERING: Relaxed. By the one who has the claim, which the owner looks for in the same word.
        self.0.fetch_or(Self::FENCES, Ordering::Relaxed);
    }
}
