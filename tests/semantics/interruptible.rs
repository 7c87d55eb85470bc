//! Cowns that are interruptible: the ends of their lives.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use coact::Broken;
use coact::group::Group;
use coact::internals::{Gate, Interruptible};
use coact::prelude::*;
use coact::runtime::{Fault, RuntimeHandle, ShutdownReport};
use coact::sim::{Config, Sim};
use coact_tests::{Faults, PATIENCE, fail, runtime};

/// Counts how often its state is called, and its end.
#[derive(Default)]
struct Counts {
    calls: AtomicUsize,
    failed: AtomicUsize,
    dropped: AtomicUsize,
}

struct State(Arc<Counts>);

impl Interruptible for State {
    type SharedState = ();

    fn on_interrupt(&mut self, (): &()) -> Gate {
        self.0.calls.fetch_add(1, Ordering::Relaxed);
        Gate::Open
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

/// A behaviour panics when the last handle of its cown is gone: the state is told, interruptible
/// before the next behaviour, and dropped.
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
    let calls = call(&cown, move |_| seen.calls.load(Ordering::Relaxed));
    has_begun.recv_timeout(PATIENCE).unwrap();
    drop(cown);
    go.send(()).unwrap();
    runtime.wait_idle();
    assert_eq!(calls.wait(), Ok(1));
    assert_eq!(counts.failed.load(Ordering::Relaxed), 1);
    assert_eq!(counts.dropped.load(Ordering::Relaxed), 1);
}

#[test]
fn a_panic_without_a_handle_reaches_the_state() {
    panic_without_a_handle(|state| Cown::interruptible(RuntimeHandle::current(), (), |_| state));
}

#[test]
fn a_panic_without_a_handle_reaches_a_member_of_a_group() {
    panic_without_a_handle(|state| Group::new().interruptible((), |_| state));
}

/// What is done behind all that stands in a cown's queue comes there, and fails nothing.
fn deferred_calls_come_in_their_order(make: impl FnOnce(State) -> Cown<State>) {
    let counts = Arc::new(Counts::default());
    let faults = Faults::new();
    let runtime = runtime(1, &faults);
    let _entered = runtime.enter();
    let cown = make(State(Arc::clone(&counts)));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let seen = Arc::clone(&seen);
        move || seen.lock().unwrap().push(what)
    };
    // In a group these go to the one that holds it, and not through the queue.
    let (inside, behind) = (note("an deferred_call from inside"), note("behind it"));
    let own = cown.clone();
    when(&cown, move |_| {
        own.defer(Box::new(inside));
        when(&own, move |_| behind());
    });
    runtime.wait_idle();
    let (first, deferred_call, last) = (note("first"), note("an deferred_call"), note("last"));
    when(&cown, move |_| first());
    cown.defer(Box::new(move || {
        deferred_call();
        panic!("on purpose");
    }));
    when(&cown, move |_| last());
    runtime.wait_idle();
    assert_eq!(
        *seen.lock().unwrap(),
        ["an deferred_call from inside", "behind it", "first", "an deferred_call", "last"]
    );
    assert_eq!(counts.failed.load(Ordering::Relaxed), 0);
    assert!(!cown.is_poisoned());
}

#[test]
fn errands_keep_their_place() {
    deferred_calls_come_in_their_order(|state| {
        Cown::interruptible(RuntimeHandle::current(), (), |_| state)
    });
}

#[test]
fn errands_keep_their_place_in_a_group() {
    deferred_calls_come_in_their_order(|state| Group::new().interruptible((), |_| state));
}

/// State whose gate is shut whenever it is asked.
struct Recluse(Arc<Counts>);

impl Interruptible for Recluse {
    type SharedState = ();

    fn on_interrupt(&mut self, (): &()) -> Gate {
        self.0.calls.fetch_add(1, Ordering::Relaxed);
        Gate::Shut
    }

    fn cancel(&mut self, (): &()) {}

    fn failed(&mut self, (): &(), _: &Broken) {}
}

impl Drop for Recluse {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Alone, and as the member of a group.
fn recluses() -> [(Arc<Counts>, Cown<Recluse>); 2] {
    let counts = [(); 2].map(|()| Arc::new(Counts::default()));
    let [alone, member] = counts.each_ref().map(|counts| Recluse(Arc::clone(counts)));
    let cowns = [
        Cown::interruptible(RuntimeHandle::current(), (), |_| alone),
        Group::new().interruptible((), |_| member),
    ];
    let mut counts = counts.into_iter();
    cowns.map(|cown| (counts.next().unwrap(), cown))
}

/// No gatekeeper is left: what waits runs, and the state is dropped.
#[test]
fn l1_a_shut_gate_opens_when_the_last_handle_goes() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    for (counts, cown) in recluses() {
        cown.interrupt();
        while counts.calls.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        let waits = call(&cown, |_| 7);
        runtime.wait_idle();
        assert!(!format!("{waits:?}").contains("true"), "the gate is shut: {waits:?}");
        drop(cown);
        assert_eq!(waits.wait_timeout(PATIENCE).ok(), Some(Ok(7)));
        runtime.wait_idle();
        assert_eq!(counts.dropped.load(Ordering::Relaxed), 1);
    }
}

/// The last handle goes while a behaviour runs, after which the gate is shut.
#[test]
fn a_gate_is_not_shut_when_no_handle_is_left() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    for (counts, cown) in recluses() {
        let ((begun, has_begun), (go, may_go)) = (mpsc::channel(), mpsc::channel::<()>());
        when(&cown, move |_| {
            begun.send(()).unwrap();
            may_go.recv_timeout(PATIENCE).unwrap();
        });
        has_begun.recv_timeout(PATIENCE).unwrap();
        let waits = call(&cown, |_| 7);
        cown.interrupt();
        drop(cown);
        go.send(()).unwrap();
        assert_eq!(waits.wait_timeout(PATIENCE).ok(), Some(Ok(7)));
        runtime.wait_idle();
        assert!(counts.calls.load(Ordering::Relaxed) > 0);
        assert_eq!(counts.dropped.load(Ordering::Relaxed), 1);
    }
}

/// A cown that is closed lets what was spawned on it go, although its state would have it wait.
#[test]
fn a_closed_cown_has_no_gate() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    for (counts, cown) in recluses() {
        cown.interrupt();
        while counts.calls.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        let (waits, regardless) = (call(&cown, |_| 7), call(cown.unchecked(), |_| 8));
        cown.downgrade().close();
        assert_eq!(waits.wait_timeout(PATIENCE).ok(), Some(Err(Broken::Closed { position: 0 })));
        assert_eq!(regardless.wait_timeout(PATIENCE).ok(), Some(Ok(8)));
    }
}

/// When the last handle goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Goes {
    BeforeTheShutdown,
    Meanwhile,
    Afterwards,
}

/// A behaviour waits at a shut gate of one of the recluses; the last handle goes, and the runtime
/// is shut down. Returns what is reported, and what is said to who waits.
fn shut_down_at_a_shut_gate(which: usize, goes: Goes) -> (ShutdownReport, Result<u8, Broken>) {
    let runtime = runtime(1, &Faults::new());
    let (counts, cown) = {
        let _entered = runtime.enter();
        recluses().into_iter().nth(which).unwrap()
    };
    cown.interrupt();
    while counts.calls.load(Ordering::Relaxed) == 0 {
        std::thread::yield_now();
    }
    let waits = call(&cown, |_| 7);
    runtime.wait_idle();
    let mut last = Some(cown);
    if goes == Goes::BeforeTheShutdown {
        last = None;
    }
    let report = std::thread::scope(|threads| {
        if goes == Goes::Meanwhile {
            let last = last.take();
            threads.spawn(move || drop(last));
        }
        runtime.shutdown(PATIENCE)
    });
    drop(last);
    let said = waits.wait_timeout(PATIENCE).expect("nobody says what has become of it");
    assert_eq!(counts.dropped.load(Ordering::Relaxed), 1);
    (report, said)
}

/// All was done if what waited has run; and if it has not, the report and the promise say so.
#[test]
fn a_shutdown_reports_what_waited_at_a_shut_gate() {
    for which in [0, 1] {
        let (report, said) = shut_down_at_a_shut_gate(which, Goes::BeforeTheShutdown);
        assert_eq!((report.is_complete(), said), (true, Ok(7)), "{report}");
        let (report, said) = shut_down_at_a_shut_gate(which, Goes::Afterwards);
        assert_eq!((report.is_complete(), said), (false, Err(Broken::Cancelled)), "{report}");
        for _ in 0..50 {
            let (report, said) = shut_down_at_a_shut_gate(which, Goes::Meanwhile);
            let expected = if report.is_complete() { Ok(7) } else { Err(Broken::Cancelled) };
            assert_eq!(said, expected, "{report}");
        }
    }
}

/// On many schedules: handles go and an interrupt comes while behaviours wait.
#[test]
fn nothing_is_left_at_a_gate_on_any_schedule() {
    let config = Config::new().runs(300);
    Sim::new().config(config).check(|| {
        for (counts, cown) in recluses() {
            let (one, other) = (cown.clone(), cown.clone());
            let interrupts = coact::sim::thread(move || one.interrupt());
            let drops = coact::sim::thread(move || drop(other));
            let waits = call(&cown, |_| 7);
            drop(cown);
            assert_eq!(waits.wait(), Ok(7));
            assert_eq!((interrupts.wait(), drops.wait()), (Ok(()), Ok(())));
            Runtime::wait_idle_all(&[RuntimeHandle::current()]);
            assert_eq!(counts.dropped.load(Ordering::Relaxed), 1);
        }
    });
}

/// What is lent to a member of a group goes another way, and is reported under its own name there.
#[test]
fn f5_a_lent_behaviour_keeps_its_name_in_a_group() {
    let faults = Faults::new();
    let runtime = runtime(1, &faults);
    let state = || State(Arc::new(Counts::default()));
    let (alone, member) = runtime.run(|| {
        let member = Group::new().interruptible((), |_| state());
        (Cown::interruptible(RuntimeHandle::current(), (), |_| state()), member)
    });
    for cown in [alone, member] {
        assert!(cown.serve_by_ref(1, || "the name", &mut |_| fail("lent")));
        let told = faults.take();
        assert!(matches!(&told[..], [Fault::Panicked { behaviour: "the name", .. }]), "{told:?}");
    }
}
