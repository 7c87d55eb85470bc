//! The model of a mark: its thread continues while the watchdog looks.

use loom::sync::Arc;
use loom::thread;

use super::{CurrentTask, RunningTask};
use crate::sched::loom::check;

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
        mark.begin(|| "first");
        mark.end();
        mark.begin(|| "second");
        mark.end();
        looks.join().unwrap();
        assert!(mark.look().is_none());
    });
}
