//! The simulation of the current thread.

#[cfg(feature = "sim")]
use std::sync::atomic::{AtomicBool, Ordering};

use super::interface::Simulation;
#[cfg(feature = "sim")]
use crate::path_coverage;

#[cfg(feature = "sim")]
thread_local! {
    static SIMULATION: std::cell::Cell<Option<&'static dyn Simulation>> =
        const { std::cell::Cell::new(None) };
}

/// Whether any thread has simulated something.
#[cfg(feature = "sim")]
static HAS_SIMULATED: AtomicBool = AtomicBool::new(false);

/// Installs a simulation for what this thread does from here on, or removes it.
#[cfg(feature = "sim")]
pub(crate) fn set(simulation: Option<&'static dyn Simulation>) {
    SIMULATION.set(simulation);
    // ORDERING: Relaxed, as nothing is read because of it: a thread that has something of a
    // simulation got it from there, by a way that orders this store, too.
    HAS_SIMULATED.store(true, Ordering::Relaxed);
    path_coverage::set_simulated(simulation.is_some());
}

/// Asks the simulation, if there is one.
#[cfg(feature = "sim")]
#[inline(always)]
pub(super) fn with<R>(ask: impl FnOnce(&'static dyn Simulation) -> R) -> Option<R> {
    SIMULATION.get().map(ask)
}

/// The same without the feature: there is never a simulation.
#[cfg(not(feature = "sim"))]
#[inline(always)]
pub(super) fn with<R>(_: impl FnOnce(&'static dyn Simulation) -> R) -> Option<R> {
    None
}

/// Returns whether this thread simulates nothing, and others do or have done so.
#[cfg(feature = "sim")]
#[inline(always)]
pub(crate) fn may_be_elsewhere() -> bool {
    // ORDERING: Relaxed, see `set`.
    SIMULATION.get().is_none() && HAS_SIMULATED.load(Ordering::Relaxed)
}

/// Without the feature there is no simulation.
#[cfg(not(feature = "sim"))]
#[inline(always)]
pub(crate) fn may_be_elsewhere() -> bool {
    false
}

/// For operations that only a simulated runtime has.
#[track_caller]
pub(super) fn expect<R>(ask: impl FnOnce(&'static dyn Simulation) -> R) -> R {
    with(ask).expect("only simulated programs can do this: call it inside `sim::check`")
}
