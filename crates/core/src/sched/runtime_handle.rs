//! The type [`RuntimeHandle`]: a runtime as a value.

use std::fmt;
use std::time::Duration;

use std::sync::atomic::Ordering;

use super::context;
use super::phase::RuntimePhase;
use super::runtime_shared;
use crate::current::{self, BlockingMark, default_runtime};
use crate::fault::Fault;
use crate::panic;
use crate::runtime_ids::{Birthplace, RuntimeId};
use crate::task::{RunContext, RunMode};

/// A handle of the runtime that cowns, timers and futures belong to: it can be copied, stored and
/// compared, and outlives its [`Runtime`](crate::Runtime).
#[doc(alias = "Handle")]
#[doc(alias = "dispatcher")]
#[doc(alias = "scheduler")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RuntimeHandle(pub(crate) RuntimeId);

impl RuntimeHandle {
    /// Returns whether the runtime has been shut down, or its deadline for that has passed: it runs
    /// nothing any more.
    pub(crate) fn has_stopped(self) -> bool {
        // A model has no runtime.
        !cfg!(loom) && runtime_shared::get(self.0).phase() != RuntimePhase::Running
    }

    /// Returns the caller's current runtime; see [`Cown::new`](crate::Cown::new).
    #[inline]
    pub fn current() -> Self {
        Self(current_id())
    }

    /// Returns the [name](crate::runtime::Builder::name) of the runtime.
    pub fn name(self) -> &'static str {
        &runtime_shared::get(self.0).config.name
    }

    /// Returns the time since the creation of the runtime, by the clock of its timers: virtual in
    /// the deterministic mode.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::runtime::RuntimeHandle;
    ///
    /// let home = RuntimeHandle::current();
    /// assert!(home.elapsed() <= home.elapsed());
    /// ```
    pub fn elapsed(self) -> Duration {
        runtime_shared::get(self.0).elapsed()
    }

    /// Returns the one `T` of this runtime and [the others of its
    /// group](crate::runtime::Builder::grouped_with): created by `T::default()` on first use, and
    /// never dropped. For per-runtime state of the layers above.
    ///
    /// A simulation starts without any.
    ///
    /// Costs a lock and a search: store the reference, but not from one simulation to the next,
    /// which reuses the handles.
    pub fn extension<T: Default + Send + Sync + 'static>(self) -> &'static T {
        runtime_shared::get(self.0).config.group_values.get_or_default()
    }
}

/// Runs `work` on a thread that does blocking work of a runtime: it may block, but must not wait
/// for the runtime's end.
pub fn serve<R>(home: RuntimeHandle, work: impl FnOnce() -> R) -> R {
    let _serving = BlockingMark::new(home.0);
    work()
}

impl RuntimeHandle {
    /// Returns the root of the [group](crate::runtime::Builder::grouped_with): the runtime that was
    /// not created with `grouped_with`. It is the same for all runtimes of the group.
    pub fn group_root(self) -> Self {
        Self(runtime_shared::get(self.0).config.group_values.root().unwrap_or(self.0))
    }
}

impl fmt::Debug for RuntimeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RuntimeHandle({:?})", self.name())
    }
}

/// Returns the runtime that new cowns belong to.
#[inline]
pub(crate) fn current_id() -> RuntimeId {
    match context::worker() {
        Some(worker) => worker.id(),
        None => current_id_outside(),
    }
}

/// The same, and whether its cowns are pinned to a pump's thread.
#[inline]
pub(crate) fn current_place() -> Birthplace {
    match context::worker() {
        Some(worker) => worker.birthplace(),
        None => {
            let id = current_id_outside();
            // A model has no runtime.
            Birthplace::new(id, !cfg!(loom) && runtime_shared::get(id).is_pumped())
        }
    }
}

#[inline]
fn current_id_outside() -> RuntimeId {
    match current::entered() {
        RuntimeId::NONE => id_of_unentered(),
        entered => entered,
    }
}

/// Returns a runtime for operations that need any runtime.
pub(crate) fn any_id() -> RuntimeId {
    match (context::worker(), current::entered()) {
        (Some(worker), _) => worker.id(),
        (None, RuntimeId::NONE) => any_id_of_unentered(),
        (None, entered) if runtime_shared::get(entered).phase() == RuntimePhase::Running => entered,
        // The runtime that it has entered is gone.
        (None, _) => any_id_of_unentered(),
    }
}

/// Counts a body that is dropped because its runtime's deadline has passed.
pub(crate) fn count_abandoned(home: RuntimeId) {
    runtime_shared::get(home).abandoned.fetch_add(1, Ordering::Relaxed);
}

/// Returns the runtime of a thread that has entered none.
#[inline]
fn id_of_unentered() -> RuntimeId {
    default_runtime::used().unwrap_or_else(look_up)
}

/// The same, or a runtime that expects to be entered: for operations that need any runtime.
fn any_id_of_unentered() -> RuntimeId {
    default_runtime::running_or_expecting().unwrap_or_else(id_of_unentered)
}

#[cold]
fn look_up() -> RuntimeId {
    if let Some(id) = default_runtime::default() {
        return id;
    }
    let global = super::start::global().id;
    for home in default_runtime::use_global(global) {
        let thread = std::thread::current().name().unwrap_or("unnamed").to_owned();
        panic::report(&Fault::NotEntered { thread, runtime: RuntimeHandle(home).name() }, home);
    }
    global
}

/// Returns how to call a state: looked up after its interrupts were taken, since a shutdown past
/// its deadline first says so, and then interrupts once.
pub(crate) fn mode_now(context: &RunContext) -> RunMode {
    // What is cancelled stays so; and a model has no runtime.
    if cfg!(loom) || context.mode() == RunMode::Cancel {
        return context.mode();
    }
    runtime_shared::get(context.home).run_context().mode()
}

/// Returns whether handles of runtimes keep their meaning: a simulation reuses those of an earlier
/// one for runtimes of its own, so nothing may be stored by them beyond its end. Always `true`
/// without the feature `sim`.
#[inline]
pub fn are_handles_stable() -> bool {
    !crate::simulated::is_active()
}
