//! Cowns that are attended to: the ends of their lives.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use coact::prelude::*;
use coact::{Attended, Broken, Door, Home};
use coact_tests::{Faults, PATIENCE, runtime};

/// Counts how often its state is called, and its end.
#[derive(Default)]
struct Counts {
    attended: AtomicUsize,
    failed: AtomicUsize,
    dropped: AtomicUsize,
}

struct State(Arc<Counts>);

impl Attended for State {
    type Front = ();

    fn attend(&mut self, (): &()) -> Door {
        self.0.attended.fetch_add(1, Ordering::Relaxed);
        Door::Open
    }

    fn cancel(&mut self, (): &()) {}

    fn failed(&mut self, (): &(), _: &Broken) {
        self.0.failed.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// A behaviour panics when the last handle of its cown is gone: the state is told, attended to before
/// the next behaviour, and dropped.
fn panic_without_a_handle(make: impl FnOnce(State) -> Cown<State>) {
    let counts = Arc::new(Counts::default());
    let faults = Faults::new();
    let runtime = runtime(1, &faults);
    let _entered = runtime.enter();
    let cown = make(State(Arc::clone(&counts)));
    let (begun, has_begun) = mpsc::channel();
    let (go, may_go) = mpsc::channel::<()>();
    when(&cown, move |_| {
        begun.send(()).unwrap();
        may_go.recv_timeout(PATIENCE).unwrap();
        panic!("on purpose");
    });
    let seen = Arc::clone(&counts);
    let attended = ask(&cown, move |_| seen.attended.load(Ordering::Relaxed));
    has_begun.recv_timeout(PATIENCE).unwrap();
    drop(cown);
    go.send(()).unwrap();
    runtime.wait_idle();
    assert_eq!(attended.wait(), Ok(1));
    assert_eq!(counts.failed.load(Ordering::Relaxed), 1);
    assert_eq!(counts.dropped.load(Ordering::Relaxed), 1);
}

#[test]
fn a_panic_without_a_handle_reaches_the_state() {
    panic_without_a_handle(|state| Cown::attended(Home::current(), (), |_| state));
}

#[test]
fn a_panic_without_a_handle_reaches_a_member_of_a_group() {
    panic_without_a_handle(|state| Group::new().attended((), |_| state));
}
