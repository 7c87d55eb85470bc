//! Pumps in a simulation: the strategy decides which of their tasks comes next, one at a time, while
//! somebody pumps.

use std::fmt::{self, Display};
use std::time::Duration;

use super::engine::{self, count_ready, now, point};
use super::waits;
use crate::sched::quiet;
use crate::sched::shared::Shared;

/// As [`Worker::pump_pending`](crate::sched::worker::Worker::pump_pending), a task at a time.
#[track_caller]
pub(crate) fn pump_pending(shared: &'static Shared) -> usize {
    point();
    let ready = count_ready(shared.id);
    let _pumping = Pumping::new(shared);
    engine::pump(shared.id, &of(shared, "the end of what is ready on"), ready, None, &|| false);
    ready
}

/// As [`Worker::pump_until`](crate::sched::worker::Worker::pump_until).
#[track_caller]
pub(crate) fn pump_until(
    shared: &'static Shared,
    time: Option<Duration>,
    mut stop: impl FnMut() -> bool,
) -> bool {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let until = now().and_then(|now| now.checked_add(nanos(time?)));
    let _pumping = Pumping::new(shared);
    loop {
        let woken = shared.pump_wakes();
        let (stops, polled) = waits::polls(&mut stop);
        if stops {
            return true;
        }
        let left = until.map(|until| until.saturating_sub(now().unwrap_or(until)));
        if left == Some(0) {
            return false;
        }
        let is_woken = || shared.pump_wakes() != woken;
        let (what, left) = (work_for(shared, polled), left.map(Duration::from_nanos));
        engine::pump(shared.id, &what, 1, left, &is_woken);
    }
}

/// As [`Worker::pump_until_idle`](crate::sched::worker::Worker::pump_until_idle).
#[track_caller]
pub(crate) fn pump_until_idle(
    shared: &'static Shared,
    time: Option<Duration>,
    all: &[&'static Shared],
) -> bool {
    let _pumping = Pumping::new(shared);
    let what = of(shared, "the end of all work of");
    engine::pump(shared.id, &what, usize::MAX, time, &|| quiet::are_idle(all))
}

fn of(shared: &'static Shared, what: &'static str) -> impl Display {
    fmt::from_fn(move |f| write!(f, "{what} the pump `{}`", shared.config.name))
}

/// What a pump waits for that has polled a future.
fn work_for(shared: &'static Shared, polled: Option<usize>) -> impl Display {
    fmt::from_fn(move |f| {
        write!(f, "work for the pump `{}`", shared.config.name)?;
        match polled {
            Some(cell) => write!(f, ", where a future awaits {}", waits::awaited(cell, None)),
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
