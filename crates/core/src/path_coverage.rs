//! Counts which fast paths were taken. A fast path that no test takes would be untested, so the
//! property tests, which run on real workers, check these counts and require every path to have
//! been taken. What the deterministic mode runs does not count.
//!
//! Counts only with the feature `sim`; without it this compiles to nothing.

/// Declares the paths, and the list of all.
macro_rules! paths {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A fast path beside a general one that always works.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[non_exhaustive]
        pub enum FastPath {
            $($(#[$doc])* $name,)*
        }

        impl FastPath {
            /// All paths.
            pub const ALL: &[FastPath] = &[$(FastPath::$name,)*];
        }
    };
}

paths! {
    /// A worker spawned a behaviour on one free cown.
    SingleFree,
    /// A behaviour on one cown was linked behind a request whose step over several queues had
    /// ended.
    SingleAfterStep,
    /// A behaviour on one cown was linked in the queue of a cown that does not keep up.
    SingleInOverload,
    /// A thread appended to a crowded cown, and passed a turnstile before.
    Turnstile,
    /// A behaviour on one cown passed it on to the next such behaviour.
    SinglePassedOn,
    /// A behaviour on two free cowns took both.
    PairFree,
    /// A behaviour on two cowns was queued.
    PairQueued,
    /// A behaviour on two cowns released both without further checks.
    PairReleased,
    /// It made two others ready, and its worker took both.
    PairHandedOn,
    /// A behaviour on free cowns, three or more of them or some for reading, took all.
    ManyFree,
    /// A behaviour on one cown ran inline, on a thread that is not a worker of its runtime.
    HereOne,
    /// The same on two cowns.
    HereTwo,
    /// A behaviour on one cown ran inline, inside a behaviour of the same runtime.
    HereOneOnWorker,
    /// The same on two cowns.
    HereTwoOnWorker,
    /// A thread found cowns taken, and acquired them on a later attempt.
    HereAfterAll,
    /// A caller ran a behaviour inline, and then those that had come meanwhile.
    ServedHere,
    /// A worker put a value into the behaviour that waited for it.
    Continued,
    /// A behaviour in a group was put into the ring that its holder owns.
    Ring,
    /// The only handle of a cown was dropped while nothing was queued on it.
    SoleHandle,
    /// The only handle of a cown was dropped while something was queued on it.
    SoleHandleOfBusy,
    /// A behaviour on one cown, the last request of a cown without handles, dropped the state.
    EndedAtOnce,
    /// A cown was made with its first request, before which its state is called.
    FirstRequest,
    /// A state ended of which no handle of any kind was left.
    EndedUnseen,
    /// A worker took the task to run next without looking at the others.
    Next,
    /// A worker moved the task to run next to another slot, which was free.
    PutAside,
    /// A worker took the newest of the tasks moved there.
    Fresh,
    /// The task after a behaviour that had sent to an overloaded cown yielded.
    GaveWay,
    /// An actor was told to stop by a bit, and not by a signal in its list.
    StopBit,
}

impl FastPath {
    /// Returns how often this path was taken in this process, on real workers.
    #[cfg(feature = "sim")]
    pub fn count(self) -> u64 {
        counted::COUNTS[self as usize].load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Counts that the calling thread takes this path.
    #[inline(always)]
    pub fn take(self) {
        #[cfg(feature = "sim")]
        if !counted::IS_SIMULATED.get() {
            counted::COUNTS[self as usize].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

/// Says whether the calling thread simulates from here on.
#[cfg(feature = "sim")]
pub(crate) fn set_simulated(is_simulated: bool) {
    counted::IS_SIMULATED.set(is_simulated);
}

#[cfg(feature = "sim")]
mod counted {
    use std::cell::Cell;
    use std::sync::atomic::AtomicU64;

    use super::FastPath;

    pub(super) static COUNTS: [AtomicU64; FastPath::ALL.len()] =
        [const { AtomicU64::new(0) }; FastPath::ALL.len()];

    thread_local! {
        pub(super) static IS_SIMULATED: Cell<bool> = const { Cell::new(false) };
    }
}
