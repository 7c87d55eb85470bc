//! Runtimes: making, entering, waiting for and stopping them.

pub(crate) mod blocking;
pub(crate) mod builder;
mod busy;
mod executor;
pub(crate) mod future;
mod guard;
mod handle;
pub(crate) mod home;
pub(crate) mod host;
mod outside;
pub(crate) mod pump;
mod shutdown;
mod within;

use crate::current;
use std::sync::atomic::Ordering;

pub use blocking::blocking;
#[cfg(all(test, loom))]
pub(crate) use builder::config_in_model;
#[cfg(feature = "sim")]
pub(crate) use builder::new_simulated;
pub use builder::{BuildError, Builder};
pub use busy::{Busy, OnCancel};
pub use executor::WorkerFuture;
pub use future::spawn_future;
pub use guard::EnterGuard;
pub use handle::Runtime;
use handle::call_hook;
pub use home::{Home, MoveError};
pub use pump::{Pump, PumpHandle};
pub use shutdown::{ShutdownReport, Stuck};
pub use within::Within;

use crate::ids::RuntimeId;
use crate::sched::context;
use crate::sched::shared::{self, Phase};

/// The runtime that new cowns belong to.
#[inline]
pub(crate) fn current_id() -> RuntimeId {
    match context::worker() {
        Some(worker) => worker.id(),
        None => current_id_outside(),
    }
}

/// The same, and whether its cowns are pinned to a pump's thread.
#[inline]
pub(crate) fn current_place() -> (RuntimeId, bool) {
    match context::worker() {
        Some(worker) => (worker.id(), worker.is_pump()),
        None => {
            let id = current_id_outside();
            // The runtime of a model does not exist.
            (id, !cfg!(loom) && shared::get(id).is_pumped())
        }
    }
}

#[inline]
fn current_id_outside() -> RuntimeId {
    match current::entered() {
        RuntimeId::NONE => outside::id(),
        entered => entered,
    }
}

/// A runtime for what anybody may do.
fn any_id() -> RuntimeId {
    match (context::worker(), current::entered()) {
        (Some(worker), _) => worker.id(),
        (None, RuntimeId::NONE) => outside::any_id(),
        (None, entered) if shared::get(entered).phase() == Phase::Running => entered,
        // What it has entered is gone.
        (None, _) => outside::any_id(),
    }
}

/// Counts a body that is dropped since its runtime's deadline has passed.
pub(crate) fn count_abandoned(home: RuntimeId) {
    shared::get(home).abandoned.fetch_add(1, Ordering::Relaxed);
}
