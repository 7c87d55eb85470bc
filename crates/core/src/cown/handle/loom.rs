//! Models of the counts: which thread drops the state, and which frees the block. loom reports a
//! block that is not freed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::thread;

use super::Cown;
use crate::behaviour::when::when;
use crate::sched::loom::{Log, check, run_ready, take_ready};

/// A state that counts its drops, and must not be shared at that time.
struct CountedState {
    log: Log,
    drops: Arc<AtomicUsize>,
}

impl Drop for CountedState {
    fn drop(&mut self) {
        self.log.push(0);
        self.drops.fetch_add(1, Ordering::Relaxed);
    }
}

fn state() -> (Cown<CountedState>, Arc<AtomicUsize>) {
    let drops = Arc::default();
    (Cown::new(CountedState { log: Log::default(), drops: Arc::clone(&drops) }), drops)
}

fn push(cown: &Cown<CountedState>, who: u8) {
    when(cown, move |state| state.log.push(who));
}

fn assert_dropped_once(drops: &AtomicUsize) {
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

/// Two last handles are dropped at the same time, one of them behind a behaviour that was spawned
/// with it.
///
/// Fails with a `Relaxed` subtraction in `HandleCounts::remove`, and with a `Relaxed` load after
/// it.
#[test]
fn last_drop_against_spawn() {
    check(|| {
        let (cown, drops) = state();
        let other = thread::spawn({
            let cown = cown.clone();
            move || {
                push(&cown, 1);
                drop(cown);
                run_ready();
            }
        });
        drop(cown);
        run_ready();
        other.join().unwrap();
        assert_dropped_once(&drops);
    });
}

/// The last handle is dropped while the last behaviour ends: the second of the two drops the state,
/// and the first does not access the block afterwards.
///
/// Fails if `append_single` accesses the cown after it has linked its request.
#[test]
fn last_drop_against_the_last_behaviour() {
    check(|| {
        let (cown, drops) = state();
        push(&cown, 1);
        let task = take_ready().expect("the cown was free");
        let other = thread::spawn(move || {
            task.run();
            run_ready();
        });
        drop(cown);
        run_ready();
        other.join().unwrap();
        assert_dropped_once(&drops);
    });
}

/// As above, behind a second behaviour that is linked to the first while that one leaves the queue.
///
/// Fails with a `Relaxed` exchange in `Tail::end_with`, and with `Relaxed` looks at the tail where
/// it is left.
#[test]
fn last_drop_behind_a_behaviour_that_is_linked() {
    check(|| {
        let (cown, drops) = state();
        push(&cown, 1);
        let task = take_ready().expect("the cown was free");
        let other = thread::spawn(move || {
            task.run();
            run_ready();
        });
        push(&cown, 2);
        drop(cown);
        run_ready();
        other.join().unwrap();
        assert_dropped_once(&drops);
    });
}

/// As above with a reader, which is counted and not queued while it runs.
#[test]
fn last_drop_against_the_last_reader() {
    check(|| {
        let (cown, drops) = state();
        when(cown.read(), |state| _ = state.log.read());
        let task = take_ready().expect("the cown was free");
        let other = thread::spawn(move || {
            task.run();
            run_ready();
        });
        drop(cown);
        run_ready();
        other.join().unwrap();
        assert_dropped_once(&drops);
    });
}

/// As above with a reader that is granted by the behaviour in front of it: it moves from the queue
/// to the count while the dropping thread checks both.
///
/// Fails if `is_idle` reads `readers` before `tail`.
#[test]
fn last_drop_against_a_reader_that_is_granted() {
    check(|| {
        let (cown, drops) = state();
        push(&cown, 1);
        when(cown.read(), |state| _ = state.log.read());
        let task = take_ready().expect("the cown was free");
        let other = thread::spawn(move || {
            task.run();
            run_ready();
        });
        drop(cown);
        run_ready();
        other.join().unwrap();
        assert_dropped_once(&drops);
    });
}

/// A weak handle is upgraded, used and dropped while the last strong one is dropped.
#[test]
fn last_drop_against_upgrade() {
    check(|| {
        let (cown, drops) = state();
        let weak = cown.downgrade();
        let other = thread::spawn(move || {
            if let Some(cown) = weak.upgrade() {
                push(&cown, 1);
            }
            run_ready();
        });
        drop(cown);
        run_ready();
        other.join().unwrap();
        assert_dropped_once(&drops);
    });
}

/// The last weak handle and the last strong one are dropped at the same time: the block is freed
/// once, after both.
#[test]
fn last_drop_against_the_last_weak_drop() {
    check(|| {
        let (cown, drops) = state();
        let weak = cown.downgrade();
        let other = thread::spawn(move || drop(weak.clone()));
        drop(cown);
        other.join().unwrap();
        assert_dropped_once(&drops);
    });
}

/// The state is taken out while a weak handle is upgraded: one of the two succeeds.
#[test]
fn into_inner_against_upgrade() {
    check(|| {
        let (cown, drops) = state();
        let weak = cown.downgrade();
        let other = thread::spawn(move || {
            if let Some(cown) = weak.upgrade() {
                push(&cown, 1);
            }
            run_ready();
        });
        match cown.into_inner() {
            Ok(mut state) => state.log.push(2),
            Err(cown) => push(&cown, 2),
        }
        run_ready();
        other.join().unwrap();
        assert_dropped_once(&drops);
    });
}

/// The state is taken out while the last behaviour ends: everything that it wrote is visible.
///
/// Fails with a `Relaxed` load of `tail` in `is_idle`.
#[test]
fn into_inner_against_the_last_behaviour() {
    check(|| {
        let (cown, drops) = state();
        push(&cown, 1);
        let task = take_ready().expect("the cown was free");
        let other = thread::spawn(move || {
            task.run();
            run_ready();
        });
        match cown.into_inner() {
            Ok(state) => assert_eq!(state.log.read(), [1]),
            Err(cown) => drop(cown),
        }
        run_ready();
        other.join().unwrap();
        assert_dropped_once(&drops);
    });
}
