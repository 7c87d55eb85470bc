//! The model of a mark: its thread continues while the watchdog looks.

use std::ptr::NonNull;

use coact_sync::shim::atomic::AtomicPtr;
use loom::sync::Arc;
use loom::thread;

use super::{CurrentTask, RunningTask};
use crate::sched::loom::check;
use crate::task::{RunContext, TaskPtr, TaskVTable};

unsafe fn run(_: TaskPtr, _: &RunContext) -> Option<TaskPtr> {
    unreachable!("nothing runs in this model")
}

unsafe fn link(_: TaskPtr) -> NonNull<AtomicPtr<()>> {
    unreachable!("nothing is queued in this model")
}

static FIRST: TaskVTable = TaskVTable::new(run, link, || "first");
static SECOND: TaskVTable = TaskVTable::new(run, link, || "second");

/// The task seen belongs to the turn with which it is seen.
///
/// Fails with a `Relaxed` store of either word in `begin`, and without the second load.
///
/// The marked thread is the main one: loom detects the race of a load with a store by the load, and
/// the marked thread loads the word itself before it stores it.
#[test]
fn a_turn_is_seen_with_its_own_task() {
    check(|| {
        let mark = Arc::new(CurrentTask::new());
        let seen = Arc::clone(&mark);
        let looks = thread::spawn(move || {
            if let Some(RunningTask { turn, name }) = seen.look() {
                assert_eq!(name(), if turn == 1 { "first" } else { "second" }, "in turn {turn}");
            }
        });
        mark.begin(&FIRST);
        mark.end();
        mark.begin(&SECOND);
        mark.end();
        looks.join().unwrap();
        assert!(mark.look().is_none());
    });
}
