//! The simulation of the current thread.

use super::interface::Simulation;
#[cfg(feature = "sim")]
use crate::path_coverage;

#[cfg(feature = "sim")]
thread_local! {
    static SIMULATION: std::cell::Cell<Option<&'static dyn Simulation>> =
        const { std::cell::Cell::new(None) };
}

/// Installs a simulation for what this thread does from here on, or removes it.
#[cfg(feature = "sim")]
pub(crate) fn set(simulation: Option<&'static dyn Simulation>) {
    SIMULATION.set(simulation);
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

/// For operations that only a simulated runtime has.
#[track_caller]
pub(super) fn expect<R>(ask: impl FnOnce(&'static dyn Simulation) -> R) -> R {
    with(ask).expect("only simulated programs can do this: call it inside `sim::check`")
}
