//! Which of several ways to the same end were taken. A short way that no test takes would be one that nobody has
//! tested: so the property tests, which run on real workers, ask for these counts and want to have been on all of them.
//!
//! Counted with the feature `sim` only; without it this compiles to nothing.

/// A way that is taken where there is little to do, beside one that always leads there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Path {
    /// A worker has spawned a behaviour on one free cown.
    SingleFree,
    /// A behaviour on one cown has passed it on to the next such one.
    SinglePassedOn,
    /// A behaviour on two free cowns has taken both.
    PairFree,
    /// Or was queued.
    PairQueued,
    /// A behaviour on one cown has run on the spot.
    HereOne,
    /// A behaviour on two.
    HereTwo,
    /// A thread has found cowns taken, and has got them on a later attempt.
    HereAfterAll,
    /// The only handle of a cown was dropped, and nothing was queued on it.
    SoleHandle,
    /// A behaviour on one cown, the last request of a cown without handles, has dropped the state.
    EndedAtOnce,
    /// A worker has taken the task that was to run next, without a look at the others.
    Next,
    /// A worker has put the task that was to run next beside another one, where there was room.
    PutAside,
    /// A worker has taken the newest of those that were put aside.
    Fresh,
    /// What followed a behaviour that had sent to an overloaded cown has given way.
    GaveWay,
}

impl Path {
    /// All of them.
    pub const ALL: [Path; 13] = [
        Path::SingleFree,
        Path::SinglePassedOn,
        Path::PairFree,
        Path::PairQueued,
        Path::HereOne,
        Path::HereTwo,
        Path::HereAfterAll,
        Path::SoleHandle,
        Path::EndedAtOnce,
        Path::Next,
        Path::PutAside,
        Path::Fresh,
        Path::GaveWay,
    ];

    /// How often it was taken in this process.
    #[cfg(feature = "sim")]
    pub fn count(self) -> u64 {
        counted::COUNTS[self as usize].load(std::sync::atomic::Ordering::Relaxed)
    }

    #[inline(always)]
    pub(crate) fn take(self) {
        #[cfg(feature = "sim")]
        counted::COUNTS[self as usize].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

#[cfg(feature = "sim")]
mod counted {
    use std::sync::atomic::AtomicU64;

    use super::Path;

    pub(super) static COUNTS: [AtomicU64; Path::ALL.len()] =
        [const { AtomicU64::new(0) }; Path::ALL.len()];
}
