//! Where tasks go in a runtime without workers: to the simulation, or to its blocking threads.

use super::blocking::BlockingPool;
use crate::config::{ThreadKind, WorkerConfig};
use crate::sched::refuse_outside_simulation;
use crate::sched::runtime_shared::{RuntimeShared, TaskForwarder};
use crate::simulated;
use crate::task::TaskPtr;

/// Returns the function that takes the tasks of a runtime without workers.
pub(super) fn elsewhere(config: &WorkerConfig) -> Option<TaskForwarder> {
    if config.simulated {
        return Some(give_to_simulation);
    }
    (config.host == ThreadKind::Blocking).then_some(BlockingPool::submit_task as TaskForwarder)
}

/// Passes a task to the simulation.
fn give_to_simulation(shared: &'static RuntimeShared, task: TaskPtr) {
    if simulated::ready(task, shared.id) {
        return shared.tell_pump_once();
    }
    // Without its body, so that its cowns are released and its promise completes.
    // SAFETY: the task is ready, and owned by this function.
    unsafe { shared.cancel(task) };
    if refuse_outside_simulation::is_outside_its_simulation(|| shared.id) {
        refuse_outside_simulation::panic_outside_simulation();
    }
    shared.tell_pump_once();
}
