//! How a running program gives others their turn, and waits.

use std::fmt::Display;
use std::ptr;
use std::time::Duration;

use super::{expect_engine, is_active, is_panicking, now};
use crate::runtime_ids::RuntimeId;
use crate::sim::sim_fiber::{self, FiberWait, SuspendReason, leave};
use crate::simulated::{SpawnSite, WakeCondition};

/// A scheduling point: lets the strategy decide which fiber goes on. There is none while a timer
/// fires, since the clock decides its turn, nor in the middle of a panic, which other fibers would
/// mistake for their own.
pub(in crate::sim) fn point() {
    if is_active() && sim_fiber::is_in_fiber() && !is_panicking() {
        leave(SuspendReason::AtPoint);
    }
}

/// Waits until a simulated thread that was suspended between two steps of a protocol has progressed
/// so far that the condition holds.
///
/// Timers fire outside of all fibers; there, the engine itself lets other fibers run.
pub(in crate::sim) fn give_way(at: SpawnSite, condition: &WakeCondition<'_>) {
    if sim_fiber::is_in_fiber() {
        return block_until(&"a simulated thread that is between two steps", at, condition);
    }
    let engine = expect_engine();
    while !condition() {
        assert!(engine.step(), "a simulated thread stays suspended between two steps");
    }
}

/// Waits until the condition holds. A deadlock report says what the fiber waits for, and where.
pub(in crate::sim) fn block_until(
    what: &dyn Display,
    at: SpawnSite,
    condition: &WakeCondition<'_>,
) {
    while !condition() {
        // SAFETY: only the lifetimes are changed. The references are used only while this fiber is
        // suspended in this very call.
        let (condition, what): (
            *const (dyn Fn() -> bool + 'static),
            *const (dyn Display + 'static),
        ) = unsafe { std::mem::transmute((ptr::from_ref(condition), ptr::from_ref(what))) };
        leave(SuspendReason::Until(condition, FiberWait { what, at }));
    }
}

/// Waits until the condition holds, or this much virtual time has passed. Returns whether it holds.
pub(in crate::sim) fn block_for(
    what: &dyn Display,
    at: SpawnSite,
    time: Option<Duration>,
    condition: &WakeCondition<'_>,
) -> bool {
    if !sim_fiber::is_in_fiber() {
        // The program has ended, and is dropping what it has left behind.
        return condition();
    }
    let engine = expect_engine();
    let nanos = time.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    let until = nanos.and_then(|nanos| now().checked_add(nanos));
    engine.alarms.borrow_mut().extend(until);
    let is_over = || until.is_some_and(|until| now() >= until);
    block_until(what, at, &|| condition() || is_over());
    if let Some(until) = until {
        let mut alarms = engine.alarms.borrow_mut();
        let at = alarms.iter().position(|alarm| *alarm == until).expect("it was put there");
        alarms.swap_remove(at);
    }
    condition()
}

/// Lets a number of tasks of a pump begin, one after the other, until the condition holds between
/// two of them, or the time has passed. Returns whether it holds. The engine evaluates the
/// condition, which must have no side effects.
pub(in crate::sim) fn pump(
    home: RuntimeId,
    what: &dyn Display,
    at: SpawnSite,
    tasks: usize,
    time: Option<Duration>,
    condition: &WakeCondition<'_>,
) -> bool {
    let engine = expect_engine();
    engine.pumps.borrow_mut().insert(home.get(), tasks);
    let left = || engine.pumps.borrow().get(&home.get()).copied().unwrap_or(0);
    let done =
        block_for(what, at, time, &|| engine.bodies_of(home) == 0 && (left() == 0 || condition()));
    engine.pumps.borrow_mut().insert(home.get(), 0);
    // The time may have passed in the middle of a task.
    block_until(what, at, &|| engine.bodies_of(home) == 0);
    engine.pumps.borrow_mut().remove(&home.get());
    done
}
