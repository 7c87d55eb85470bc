//! Behaviours that end with a commit, as far as they can run inline: they decide at once, and
//! commit later.

use std::sync::Arc;

use coact_sync::shim::atomic::{AtomicU64, Ordering};

use super::where_to_run::{may_nest, on_this_stack, place_elsewhere};
use crate::behaviour::commit::spawn_committed;
use crate::behaviour::detain::RunHere;
use crate::behaviour::refuse::panic_refused;
use crate::body::Completion;
use crate::cown::set::CownSet;
use crate::current::{self, refuse_in_decision};
use crate::runtime_ids::RuntimeId;
use crate::sched::schedule;
use crate::simulated;
use crate::task::{RunContext, RunMode, TaskPtr, run_task};

/// Returns whether the closure was called here.
#[track_caller]
pub(super) fn decide_here<S, F, C>(set: S, closure: F, completion: C) -> bool
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send + 'static,
    C: Completion,
    C::Value: Send,
{
    refuse_in_decision();
    simulated::spawns();
    let decider = Arc::new(AtomicU64::new(0));
    let may_run = may_nest() && place_elsewhere(&set).is_some();
    let here = may_run.then(|| (run as RunHere, Arc::clone(&decider)));
    if let Err(refused) = spawn_committed(set, closure, completion, here) {
        panic_refused(refused);
    }
    // ORDERING: Relaxed. See `CommitStages::decide`.
    decider.load(Ordering::Relaxed) == current::number()
}

/// Takes the first step of a behaviour.
///
/// # Safety
/// The task is ready, and this thread has it.
unsafe fn run(task: TaskPtr, home: RuntimeId) {
    let context = RunContext::new(home, RunMode::Run);
    // SAFETY: the conditions are those of this function.
    let next = on_this_stack(home, || unsafe { run_task(task, &context) });
    if let Some(next) = next {
        schedule(next, home);
    }
}
