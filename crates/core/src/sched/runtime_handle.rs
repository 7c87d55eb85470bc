//! Which runtime something belongs to, as a value.

use std::fmt;
use std::time::Duration;

use std::sync::atomic::Ordering;

use super::context;
use super::phase::Phase;
use super::shared;
use crate::current::{self, default_runtime};
use crate::fault::Fault;
use crate::ids::{Birthplace, RuntimeId};
use crate::panic;
use crate::task::{Mode, RunContext};

/// The runtime that cowns, timers and futures belong to: a name for it that can be copied, kept
/// and compared, and that outlives its [`Runtime`](crate::Runtime).
#[doc(alias = "dispatcher")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RuntimeHandle(pub(crate) RuntimeId);

impl RuntimeHandle {
    /// Whether the runtime has been shut down, or its deadline for that has passed: it runs nothing any more.
    pub(crate) fn has_stopped(self) -> bool {
        // The runtime of a model does not exist.
        !cfg!(loom) && shared::get(self.0).phase() != Phase::Running
    }

    /// That of the caller: see [`Cown::new`](crate::Cown::new).
    #[inline]
    pub fn current() -> Self {
        Self(current_id())
    }

    /// The name that the runtime was [given](crate::runtime::Builder::name).
    pub fn name(self) -> &'static str {
        &shared::get(self.0).config.name
    }

    /// The time since the runtime was made, by the clock that its timers follow: in the deterministic
    /// mode it is virtual.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::runtime::RuntimeHandle;
    ///
    /// let home = RuntimeHandle::current();
    /// assert!(home.elapsed() <= home.elapsed());
    /// ```
    pub fn elapsed(self) -> Duration {
        shared::get(self.0).elapsed()
    }

    /// The one `T` that belongs to this runtime and [the others of its group](crate::runtime::Builder::grouped_with): made
    /// by `T::default()` when it is first asked for, and never dropped. For the layers above, which
    /// keep here what they have to keep for each runtime.
    ///
    /// A simulation begins with none.
    ///
    /// Costs a lock and a search: keep the reference, but not from one simulation to the next (see
    /// [`is_stable`](Self::is_stable)).
    pub fn extension<T: Default + Send + Sync + 'static>(self) -> &'static T {
        shared::get(self.0).config.extensions.get()
    }
}

impl RuntimeHandle {
    /// Whether homes keep their meaning: a simulation gives those of an earlier one to runtimes of its own,
    /// so nothing is kept by them beyond its end. Always, without the feature `sim`.
    #[doc(hidden)]
    #[inline]
    pub fn is_stable(self) -> bool {
        !crate::simulated::is_active()
    }

    /// The first of this runtime and [the others of its group](crate::runtime::Builder::grouped_with): that which was not
    /// made as a sibling of another one. It is the same for all of them.
    pub fn group_root(self) -> Self {
        Self(shared::get(self.0).config.extensions.root().unwrap_or(self.0))
    }
}

impl fmt::Debug for RuntimeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RuntimeHandle({:?})", self.name())
    }
}

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
pub(crate) fn current_place() -> Birthplace {
    match context::worker() {
        Some(worker) => worker.birthplace(),
        None => {
            let id = current_id_outside();
            // The runtime of a model does not exist.
            Birthplace::new(id, !cfg!(loom) && shared::get(id).is_pumped())
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

/// A runtime for what anybody may do.
pub(crate) fn any_id() -> RuntimeId {
    match (context::worker(), current::entered()) {
        (Some(worker), _) => worker.id(),
        (None, RuntimeId::NONE) => any_id_of_unentered(),
        (None, entered) if shared::get(entered).phase() == Phase::Running => entered,
        // What it has entered is gone.
        (None, _) => any_id_of_unentered(),
    }
}

/// Counts a body that is dropped since its runtime's deadline has passed.
pub(crate) fn count_abandoned(home: RuntimeId) {
    shared::get(home).abandoned.fetch_add(1, Ordering::Relaxed);
}

/// The runtime that a thread uses which has entered none.
#[inline]
fn id_of_unentered() -> RuntimeId {
    default_runtime::used().unwrap_or_else(look_up)
}

/// The same, or one that expects to be entered: for what anybody may do.
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

/// How the state is to be called: looked up after its interrupts were taken, since a shutdown whose deadline passes says so
/// first, and interrupts then, once.
pub(crate) fn mode_now(context: &RunContext) -> Mode {
    // What is cancelled stays so; and the runtime of a model does not exist.
    if cfg!(loom) || context.mode() == Mode::Cancel {
        return context.mode();
    }
    shared::get(context.home).run_context().mode()
}
