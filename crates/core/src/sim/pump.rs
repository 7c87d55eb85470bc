//! Pumps in a simulation: the strategy decides which of their tasks comes next, one at a time, while
//! somebody pumps.

use std::fmt::{self, Display};
use std::time::Duration;

use super::engine::{self, count_ready, now, point};
use super::waits;
use crate::sched::shared::Shared;
use crate::simulated::{Condition, Site};

/// As [`Worker::pump_pending`](crate::sched::worker::Worker::pump_pending), a task at a time.
pub(super) fn pump_pending(shared: &'static Shared, at: Site) -> usize {
    point();
    let ready = count_ready(shared.id);
    let _pumping = Pumping::new(shared);
    let what = of(shared, "the end of what is ready on");
    engine::pump(shared.id, &what, at, ready, None, &|| false);
    ready
}

/// As [`Worker::pump_until`](crate::sched::worker::Worker::pump_until).
pub(super) fn pump_until(
    shared: &'static Shared,
    at: Site,
    time: Option<Duration>,
    stop: &mut dyn FnMut() -> bool,
) -> bool {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let until = time.and_then(|time| now().checked_add(nanos(time)));
    let _pumping = Pumping::new(shared);
    loop {
        let woken = shared.pump_wakes();
        let (stops, polled) = waits::polls(&mut *stop);
        if stops {
            return true;
        }
        let left = until.map(|until| until.saturating_sub(now()));
        if left == Some(0) {
            return false;
        }
        let is_woken = || shared.pump_wakes() != woken;
        let (what, left) = (work_for(shared, polled), left.map(Duration::from_nanos));
        engine::pump(shared.id, &what, at, 1, left, &is_woken);
    }
}

/// As [`Worker::pump_until_idle`](crate::sched::worker::Worker::pump_until_idle).
pub(super) fn pump_until_idle(
    shared: &'static Shared,
    at: Site,
    time: Option<Duration>,
    are_idle: &Condition<'_>,
) -> bool {
    let _pumping = Pumping::new(shared);
    let what = of(shared, "the end of all work of");
    engine::pump(shared.id, &what, at, usize::MAX, time, are_idle)
}

fn of(shared: &'static Shared, what: &'static str) -> impl Display {
    fmt::from_fn(move |f| write!(f, "{what} the pump `{}`", shared.config.name))
}

/// What a pump waits for that has polled a future.
fn work_for(shared: &'static Shared, polled: Option<usize>) -> impl Display {
    fmt::from_fn(move |f| {
        write!(f, "work for the pump `{}`", shared.config.name)?;
        match polled {
            Some(cell) => write!(f, ", where a future awaits {}", engine::promise(cell)),
            None => Ok(()),
        }
    })
}

/// The time for which a pump is pumped.
struct Pumping(&'static Shared);

impl Pumping {
    fn new(shared: &'static Shared) -> Self {
        shared.set_pumping(true);
        Self(shared)
    }
}

impl Drop for Pumping {
    fn drop(&mut self) {
        self.0.set_pumping(false);
        if count_ready(self.0.id) > 0 {
            self.0.tell_pump_once();
        }
    }
}
