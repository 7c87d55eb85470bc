//! Where an inline behaviour runs: on which thread, in which runtime, how deep.

use crate::current;

use crate::behaviour::spawn_checks::{self, count_members};
use crate::cown::set::CownSet;
use crate::current::AsWorker;
use crate::runtime_ids::RuntimeId;
use crate::sched::refuse_outside_simulation::is_outside_its_simulation;
use crate::sched::{context, external_threads, runtime_shared};
use crate::simulated;

/// The most bodies that can be nested on one stack.
pub const MAX_NESTED_HERE: u32 = 32;

/// Where a behaviour runs inline.
#[derive(Clone, Copy)]
pub(super) struct HerePlace {
    pub(super) home: RuntimeId,
    /// The current thread is not a worker of that runtime, but possibly of another.
    is_external: bool,
}

impl HerePlace {
    /// Returns `None` if the current thread must not run behaviours there.
    #[inline(always)]
    pub(super) fn at(home: RuntimeId) -> Option<Self> {
        let is_external = !context::is_worker_of(home);
        // A worker of another runtime is refused like a plain thread.
        let home = if is_external { open_to_external_threads(home)? } else { home };
        Some(Self { home, is_external })
    }

    /// Runs `work` there, with the current thread visible as being at work.
    #[inline(always)]
    pub(super) fn at_work<R>(self, work: impl FnOnce() -> R) -> R {
        // One call of `work` for both cases, so that it can be inlined.
        // SAFETY: the guard is dropped at the end of this call.
        let _presence = self.is_external.then(|| unsafe { enter(self.home) });
        work()
    }
}

/// Runs `work` while the current thread, which is not a worker of the runtime, is visible to it as
/// being at work.
#[inline(always)]
pub(super) fn at_work_from_outside<R>(home: RuntimeId, work: impl FnOnce() -> R) -> R {
    // SAFETY: the guard is dropped at the end of this call.
    let _presence = unsafe { enter(home) };
    work()
}

/// Makes the current thread visible to a runtime as being at work, until the guard is dropped.
///
/// # Safety
/// The caller drops the guard before it returns.
#[inline(always)]
unsafe fn enter(home: RuntimeId) -> impl Sized {
    simulated::point();
    // SAFETY: the caller drops the guard, of which this is a part, before it returns.
    let presence = unsafe { external_threads::enter(home) };
    // A worker of another runtime does not act as a worker meanwhile. (The first part of a tuple is
    // dropped first.)
    (AsWorker::none(), presence)
}

/// Returns whether one more body can be nested on this stack.
#[inline(always)]
pub(super) fn may_nest() -> bool {
    current::nested_bodies() < MAX_NESTED_HERE
}

/// Returns where a behaviour on any set runs, if the current thread may run it inline.
#[inline(never)]
pub(super) fn place_elsewhere<S: CownSet>(set: &S) -> Option<HerePlace> {
    // A set that is refused is refused by `when`.
    if count_members(set).is_err() {
        return None;
    }
    HerePlace::at(spawn_checks::place_of(set).ok()?)
}

/// Returns the runtime if a thread that is not one of its workers may run its behaviours now. (So
/// the caller need not keep the id.)
#[inline(never)]
pub(super) fn open_to_external_threads(home: RuntimeId) -> Option<RuntimeId> {
    // What is out of reach is refused by `when`.
    let is_open = !spawn_checks::is_closed_at(home) && !is_outside_its_simulation(|| home);
    (is_open && can_run_here(home)).then_some(home)
}

/// Returns whether the current thread may run behaviours of the runtime.
fn can_run_here(home: RuntimeId) -> bool {
    // A model has no runtime.
    if cfg!(loom) {
        return true;
    }
    let shared = runtime_shared::get(home);
    !shared.is_pumped() || shared.is_pump_thread()
}

/// Runs a body of a runtime on the caller's stack.
#[inline]
pub(super) fn on_this_stack<R>(home: RuntimeId, body: impl FnOnce() -> R) -> R {
    let _nested = current::NestedBody::enter();
    let before = current::enter(home);
    let result = body();
    current::enter(before);
    result
}
