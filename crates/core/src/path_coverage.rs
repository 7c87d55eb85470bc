//! Counts which fast paths were taken. A fast path that no test takes would be untested, so the
//! property tests, which run on real workers, check these counts and require every path to have
//! been taken.
//!
//! Counts only with the feature `sim`; without it this compiles to nothing.

/// A fast path beside a general one that always works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Path {
    /// A worker spawned a behaviour on one free cown.
    SingleFree,
    /// A behaviour on one cown passed it on to the next such behaviour.
    SinglePassedOn,
    /// A behaviour on two free cowns took both.
    PairFree,
    /// A behaviour on two cowns was queued.
    PairQueued,
    /// A behaviour on one cown ran inline.
    HereOne,
    /// A behaviour on two cowns ran inline.
    HereTwo,
    /// One of these ran inside a behaviour of the same runtime, on its worker.
    HereOnWorker,
    /// A thread found cowns taken, and acquired them on a later attempt.
    HereAfterAll,
    /// A worker put a value into the behaviour that waited for it.
    Continued,
    /// The only handle of a cown was dropped while nothing was queued on it.
    SoleHandle,
    /// A behaviour on one cown, the last request of a cown without handles, dropped the state.
    EndedAtOnce,
    /// A worker took the task to run next without looking at the others.
    Next,
    /// A worker moved the task to run next to another slot, which was free.
    PutAside,
    /// A worker took the newest of the tasks moved there.
    Fresh,
    /// The task after a behaviour that had sent to an overloaded cown yielded.
    GaveWay,
}

impl Path {
    /// All paths.
    pub const ALL: [Path; 15] = [
        Path::SingleFree,
        Path::SinglePassedOn,
        Path::PairFree,
        Path::PairQueued,
        Path::HereOne,
        Path::HereTwo,
        Path::HereOnWorker,
        Path::HereAfterAll,
        Path::Continued,
        Path::SoleHandle,
        Path::EndedAtOnce,
        Path::Next,
        Path::PutAside,
        Path::Fresh,
        Path::GaveWay,
    ];

    /// Returns how often this path was taken in this process.
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
