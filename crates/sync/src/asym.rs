//! An asymmetric fence: nothing on the frequent side, a system call on the rare one.
//!
//! # What it is for
//!
//! Dekker's pattern: two threads each store to their own location and then load the other's, and
//! at least one of them must see the other's store.
//!
//! ```text
//! frequent side                 rare side
//! mine.store(1, Relaxed);       theirs.store(1, Relaxed);
//! asym::light();                asym::heavy();
//! theirs.load(Relaxed);         mine.load(Relaxed);
//! ```
//!
//! With release and acquire alone, both loads may miss both stores, since a processor may let a
//! load pass an older store to another address. The textbook answer, a `SeqCst` fence on both
//! sides, costs the frequent side about as much as an atomic read-modify-write. Here the rare side
//! pays for both.
//!
//! # What is guaranteed
//!
//! **Any [`light`] and any [`heavy`] order the accesses around them as two
//! `fence(SeqCst)` at their places would, towards each other.** Two `light`s give each other
//! *nothing* (not even release and acquire); two `heavy`s are two `SeqCst` fences.
//!
//! # Why that holds
//!
//! `membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)` (see membarrier(2)) returns only after every
//! running thread of this process has executed a full memory barrier between the call's entry and
//! its return; a thread that is not running executes one when it is scheduled. So, for every other
//! thread F, there is a point p of F's instruction stream at which a full barrier took effect
//! during the call. `light` is a compiler fence: F's instructions stay in program order around it.
//!
//! * If p lies before F's `light`, so before F's load behind it: that load follows p, p
//!   follows the entry of the call, and the call follows the rare side's store, so F's load sees it
//!   (or something newer).
//! * If p lies after F's `light`, so after F's store in front of it: that store is
//!   globally visible at p, p precedes the return of the call, and the rare side's load follows
//!   the return, so it sees F's store (or something newer).
//!
//! One of the two always applies, which is what two `SeqCst` fences give: whichever is first in
//! their total order is seen by the other side. The language's memory model does not know
//! membarrier; the argument is about the machine, and the compiler fence is what ties the two
//! together. Prior art: folly's `AsymmetricThreadFence`, liburcu's `urcu-memb`.
//!
//! # One decision per process
//!
//! The danger is a `light` that relies on a system call which the matching `heavy` does not make.
//! `light` is a compiler fence only if it reads *asymmetric*, and every `heavy` first takes part in
//! the same decision ([`init`]). So once any thread can have read *asymmetric*, every `heavy` makes
//! the call. While the mode is undecided (or a thread's view of it is stale), `light` is a real
//! fence, which is merely stronger than it needs to be.
//!
//! # When the call starts to fail
//!
//! A sandbox may refuse the call later, for example through a seccomp filter that the program
//! installs after it has started. The mode then becomes *symmetric* for good, by way of *settling*:
//!
//! ```text
//! undecided ──▶ asymmetric ──(call refused)──▶ settling ──(grace)──▶ symmetric
//!     └───────────────────────────────────────────────────────────────▶ symmetric
//! ```
//!
//! From *settling* on, each new `light` is a real fence. What remains are the `light`s that have
//! read *asymmetric* and are between their store and their load. A `heavy` that finds the call
//! refused, or the mode settling, first changes the mode and then sleeps for 10 ms. By the end of
//! that grace period, each remaining `light` has either been descheduled since the change, which is
//! a full barrier, or has run on; in that case its store has left the store buffer and its load has
//! completed, which takes a processor microseconds. In the first case the argument above applies
//! with that barrier as p; in the second, the rare side's load, which follows the grace period,
//! sees the store. The bound on the store buffer is a property of real machines, not of the
//! architecture manuals; the module relies on it for this one change only. (Morrison and Afek,
//! *Temporally Bounding TSO for Fence-Free Asymmetric Synchronization*, ASPLOS 2015, build on the
//! same bound.) A `heavy` that is called meanwhile sleeps as well; after that both sides are
//! fences.
//!
//! Some frequent sides do not read the mode but a word of their own, in which the rare side says
//! what to look out for, including whether fences are needed (the gate of a worker's queue is one).
//! The first rare side that finds the mode no longer *asymmetric* writes that into the word and
//! then waits out the grace period as well ([`wait_out`]).
//!
//! # Where the fences are symmetric
//!
//! Both sides are `SeqCst` fences where membarrier is missing: kernels before 4.14, sandboxes whose
//! filter refuses the call, systems other than Linux, Miri, and models, in which loom explores the
//! fences.
//!
//! # fork
//!
//! The registration belongs to the address space, and Linux copies it into a forked child (`exec`
//! drops it together with this module's state). If a kernel does not copy it, the call fails in the
//! child and `heavy` registers again; if that fails too, see "When the call starts to fail".
//!
//! # Figures
//!
//! On the machine of this project, `light` takes at most 0.5 ns, and `heavy` 0.1 µs with one
//! running thread and 2 µs with the other core busy. A `SeqCst` fence costs about as much as an
//! atomic addition.

/// Decides the mode unless that has been done, and returns whether it is asymmetric.
///
/// Call it when the runtime starts: a [`light`] before it is a real fence.
#[inline]
pub fn init() -> bool {
    backend::init()
}

/// Returns whether [`light`] is free and [`heavy`] a system call. `false` until the first call of
/// [`init`] or [`heavy`].
#[inline]
pub fn is_asymmetric() -> bool {
    backend::is_asymmetric()
}

/// The frequent side's fence: acts as a `SeqCst` fence towards every [`heavy`].
#[inline(always)]
pub fn light() {
    backend::light();
}

/// The rare side's fence: acts as a `SeqCst` fence towards every [`light`], `heavy` and `SeqCst`
/// fence.
#[inline]
pub fn heavy() {
    backend::heavy();
}

/// Waits until every [`light`] that may have relied on a call which is now refused is over. For a
/// rare side whose frequent side reads a word of its own instead of the mode. See "When the call
/// starts to fail".
#[cold]
pub fn wait_out() {
    backend::wait_out();
}

/// Linux: membarrier, if the kernel permits it.
#[cfg(all(target_os = "linux", not(loom), not(miri)))]
mod backend {
    use std::thread;
    use std::time::Duration;

    use crate::CachePadded;
    use crate::shim::process::{AtomicU8, Ordering, compiler_fence, fence};

    const UNDECIDED: u8 = 0;
    const SYMMETRIC: u8 = 1;
    const ASYMMETRIC: u8 = 2;
    /// Was asymmetric until the call was refused; becomes symmetric after a grace period.
    const SETTLING: u8 = 3;

    /// Longer by orders of magnitude than any instruction in flight takes to complete.
    const GRACE: Duration = Duration::from_millis(10);

    /// The decision. Relaxed throughout: it publishes nothing. A thread that reads ASYMMETRIC needs
    /// no edge to the registration, which holds for the whole process from the return of that call,
    /// and the store was issued after that. A thread that still reads UNDECIDED uses the stronger
    /// fence, or takes part in the decision. For a thread that still reads ASYMMETRIC when the mode
    /// is SETTLING, see "When the call starts to fail".
    ///
    /// On a cache line of its own, which stays shared among the processors: it is read all the
    /// time.
    static MODE: CachePadded<AtomicU8> = CachePadded::new(AtomicU8::new(UNDECIDED));

    #[inline]
    pub(super) fn init() -> bool {
        mode() == ASYMMETRIC
    }

    /// Returns the mode, deciding it first if necessary.
    #[inline]
    fn mode() -> u8 {
        match MODE.load(Ordering::Relaxed) {
            UNDECIDED => decide(),
            mode => mode,
        }
    }

    /// Several threads may get here at once. Registering twice does no harm, and the first store
    /// decides for all of them.
    #[cold]
    fn decide() -> u8 {
        let mode = if membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) {
            ASYMMETRIC
        } else {
            SYMMETRIC
        };
        let earlier = MODE.compare_exchange(UNDECIDED, mode, Ordering::Relaxed, Ordering::Relaxed);
        earlier.map_or_else(|first| first, |_| mode)
    }

    #[inline]
    pub(super) fn is_asymmetric() -> bool {
        MODE.load(Ordering::Relaxed) == ASYMMETRIC
    }

    #[inline(always)]
    pub(super) fn light() {
        if is_asymmetric() {
            // ORDERING: SeqCst for the compiler alone; the processor's half is done by the
            // membarrier call in `heavy`.
            compiler_fence(Ordering::SeqCst);
        } else {
            // ORDERING: SeqCst, partner is the fence in `heavy` (or its stronger call): the store
            // in front of it and the load behind it must not change places.
            fence(Ordering::SeqCst);
        }
    }

    #[inline]
    pub(super) fn heavy() {
        // The call (or, in symmetric mode, the fence) separates the accesses around this for the
        // compiler as well: a system call is opaque to it.
        match mode() {
            ASYMMETRIC if barrier() => {}
            ASYMMETRIC | SETTLING => settle(),
            _ => {}
        }
        // ORDERING: SeqCst, partner is the fence in `light`, and any other SeqCst fence: membarrier
        // orders this thread against the program order of the others, the fence adds it to the
        // total order of fences.
        fence(Ordering::SeqCst);
    }

    /// Makes the call; returns `false` if it is refused.
    fn barrier() -> bool {
        membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
            // A forked child whose kernel did not copy the registration registers again.
            || membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
                && membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
    }

    /// Gives up the call; see the module's section "When the call starts to fail" for the argument.
    #[cold]
    #[inline(never)]
    fn settle() {
        let (from, to) = (ASYMMETRIC, SETTLING);
        // The mode never goes back: a failed exchange has found it settling or settled.
        let _ = MODE.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
        wait_out();
        MODE.store(SYMMETRIC, Ordering::Relaxed);
    }

    pub(super) fn wait_out() {
        // ORDERING: SeqCst: the change of the mode completes before the grace period begins.
        fence(Ordering::SeqCst);
        // Only the passing of time helps here, and this happens once per process or per queue.
        #[allow(clippy::disallowed_methods)]
        thread::sleep(GRACE);
    }

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: membarrier takes three integers and touches no memory of this process; an unknown
        // command or a missing call returns -1.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
}

/// Other systems and models: two real fences.
#[cfg(any(not(target_os = "linux"), loom, miri))]
mod backend {
    use crate::shim::atomic::{Ordering, fence};

    pub(super) fn init() -> bool {
        false
    }

    pub(super) fn is_asymmetric() -> bool {
        false
    }

    #[inline(always)]
    pub(super) fn light() {
        // ORDERING: SeqCst, partner is the fence in `heavy`.
        fence(Ordering::SeqCst);
    }

    #[inline]
    pub(super) fn heavy() {
        // ORDERING: SeqCst, partner is the fence in `light`.
        fence(Ordering::SeqCst);
    }

    /// Nothing to wait for: every `light` is a fence.
    pub(super) fn wait_out() {}
}

#[cfg(test)]
mod tests;
