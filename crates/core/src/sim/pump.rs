//! Pumps in a simulation: the strategy decides which of their tasks comes next, one at a time, while
//! somebody pumps.

use std::time::Duration;

use super::engine::{self, count_ready, now, point};
use crate::sched::quiet;
use crate::sched::shared::Shared;

/// As [`Worker::pump_pending`](crate::sched::worker::Worker::pump_pending), a task at a time.
pub(crate) fn pump_pending(shared: &'static Shared) -> usize {
    point();
    let ready = count_ready(shared.id);
    pumping(shared, || engine::pump(shared.id, ready, None, &|| false));
    ready
}

/// As [`Worker::pump_until`](crate::sched::worker::Worker::pump_until).
pub(crate) fn pump_until(
    shared: &'static Shared,
    time: Option<Duration>,
    mut stop: impl FnMut() -> bool,
) -> bool {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let until = now().and_then(|now| now.checked_add(nanos(time?)));
    pumping(shared, || {
        loop {
            let woken = shared.pump_wakes();
            if stop() {
                return true;
            }
            let left = until.map(|until| until.saturating_sub(now().unwrap_or(until)));
            if left == Some(0) {
                return false;
            }
            let is_woken = || shared.pump_wakes() != woken;
            engine::pump(shared.id, 1, left.map(Duration::from_nanos), &is_woken);
        }
    })
}

/// As [`Worker::pump_until_idle`](crate::sched::worker::Worker::pump_until_idle).
pub(crate) fn pump_until_idle(
    shared: &'static Shared,
    time: Option<Duration>,
    all: &[&'static Shared],
) -> bool {
    pumping(shared, || engine::pump(shared.id, usize::MAX, time, &|| quiet::are_idle(all)))
}

fn pumping<R>(shared: &'static Shared, work: impl FnOnce() -> R) -> R {
    struct Leave(&'static Shared);
    impl Drop for Leave {
        fn drop(&mut self) {
            self.0.set_pumping(false);
            if count_ready(self.0.id) > 0 {
                self.0.tell_pump_once();
            }
        }
    }
    shared.set_pumping(true);
    let _leave = Leave(shared);
    work()
}
