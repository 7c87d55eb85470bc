//! Refuses threads outside of a simulation that use what is inside.

use super::phase::RuntimePhase;
use super::runtime_shared;
use crate::config;
use crate::runtime_ids::RuntimeId;
use crate::simulated;

/// Returns whether this thread must not spawn on a cown with this home, which only a simulation
/// runs, and there is none on this thread.
#[inline(always)]
pub(crate) fn is_out_of_reach(home: impl FnOnce() -> RuntimeId) -> bool {
    simulated::may_be_elsewhere() && is_simulated(home())
}

/// Returns whether the runtime is simulated and accepts behaviours. Leftovers of a failed run in
/// the test's own hands must not hide its report, nor a panic that goes on the one before it.
#[cold]
#[inline(never)]
fn is_simulated(home: RuntimeId) -> bool {
    // A model has no runtime.
    config::of(home).is_some_and(|config| config.simulated)
        && runtime_shared::get(home).phase() == RuntimePhase::Running
        && !std::thread::panicking()
}

/// Panics because a cown was out of reach.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn refuse() -> ! {
    panic!(
        "a behaviour on a simulated cown was spawned outside of its simulation: start the threads of a \
         simulated program with `sim::thread`, not `std::thread`"
    )
}
