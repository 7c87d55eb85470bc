//! Refuses threads outside of a simulation that use what is inside.

use super::phase::RuntimePhase;
use super::runtime_shared;
use crate::config;
use crate::runtime_ids::RuntimeId;
use crate::simulated;

/// Returns true if the cown's runtime is simulated and this thread is outside any simulation: then
/// it must not spawn there.
#[inline(always)]
pub(crate) fn is_outside_its_simulation(home: impl FnOnce() -> RuntimeId) -> bool {
    simulated::may_be_elsewhere() && is_simulated(home())
}

/// Returns whether the runtime is simulated and accepts behaviours. After a failed run the test may
/// still own cowns: refusing those would hide the run's report, and refusing during a panic would
/// hide that panic.
#[cold]
#[inline(never)]
fn is_simulated(home: RuntimeId) -> bool {
    // A model has no runtime.
    config::of(home).is_some_and(|config| config.simulated)
        && runtime_shared::get(home).phase() == RuntimePhase::Running
        && !std::thread::panicking()
}

/// Panics because this thread is outside of the simulation of a cown.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn panic_outside_simulation() -> ! {
    panic!(
        "a behaviour on a simulated cown was spawned outside of its simulation: start the threads of a \
         simulated program with `sim::thread`, not `std::thread`"
    )
}
