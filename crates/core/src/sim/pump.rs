//! Pumps in a simulation: while a pump is pumped, the strategy decides which of its tasks runs
//! next, one at a time.

use std::fmt::{self, Display};
use std::time::Duration;

use super::engine::{self, point, tasks_of};
use super::wait_graph;
use crate::sched::runtime_shared::RuntimeShared;
use crate::simulated::{SpawnSite, WakeCondition};

/// Like [`Worker::pump_pending`](crate::sched::worker::Worker::pump_pending), one task at a time.
pub(super) fn pump_pending(shared: &'static RuntimeShared, at: SpawnSite) -> usize {
    point();
    let ready = tasks_of(shared.id).ready;
    let _pumping = PumpingMark::new(shared);
    let what = of(shared, "the end of the ready tasks of");
    engine::pump(shared.id, &what, at, ready, None, &|| false);
    ready
}

/// See [`Worker::pump_until`](crate::sched::worker::Worker::pump_until).
pub(super) fn pump_until(
    shared: &'static RuntimeShared,
    at: SpawnSite,
    stop: &mut dyn FnMut() -> bool,
) {
    let _pumping = PumpingMark::new(shared);
    loop {
        let woken = shared.pump_wakes();
        let (stops, polled) = wait_graph::polls(&mut *stop);
        if stops {
            return;
        }
        let is_woken = || shared.pump_wakes() != woken;
        engine::pump(shared.id, &work_for(shared, polled), at, 1, None, &is_woken);
    }
}

/// See [`Worker::pump_until_idle`](crate::sched::worker::Worker::pump_until_idle).
pub(super) fn pump_until_idle(
    shared: &'static RuntimeShared,
    at: SpawnSite,
    time: Option<Duration>,
    are_idle: &WakeCondition<'_>,
) -> bool {
    let _pumping = PumpingMark::new(shared);
    let what = of(shared, "the end of all work of");
    engine::pump(shared.id, &what, at, usize::MAX, time, are_idle)
}

fn of(shared: &'static RuntimeShared, what: &'static str) -> impl Display {
    fmt::from_fn(move |f| write!(f, "{what} the pump `{}`", shared.config.name))
}

/// Describes what a pump that has polled a future waits for.
fn work_for(shared: &'static RuntimeShared, polled: Option<usize>) -> impl Display {
    fmt::from_fn(move |f| {
        write!(f, "work for the pump `{}`", shared.config.name)?;
        match polled {
            Some(cell) => write!(f, ", where a future awaits {}", engine::promise(cell)),
            None => Ok(()),
        }
    })
}

/// Marks a pump as being pumped, until dropped.
struct PumpingMark(&'static RuntimeShared);

impl PumpingMark {
    fn new(shared: &'static RuntimeShared) -> Self {
        shared.set_pumping(true);
        Self(shared)
    }
}

impl Drop for PumpingMark {
    fn drop(&mut self) {
        self.0.set_pumping(false);
        if tasks_of(self.0.id).ready > 0 {
            self.0.tell_pump_once();
        }
    }
}
