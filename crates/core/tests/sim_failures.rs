//! Runs that fail, in every way: each is reported with its schedule, whatever destructors run
//! meanwhile.
#![cfg(feature = "sim")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use coact_core::runtime::may_block;
use coact_core::sim::{self, Config, Failure, Method, Sim};
use coact_core::time::{after, sleep};
use coact_core::{Broken, Cown, Promise, Runtime, call, when};

/// Values whose destructors send, spawn and wait.
struct Guards {
    _sends: Sends,
    _waits: Waits,
    _spawns: Spawns,
    /// A state whose destructor sends.
    _owns: Cown<Sends>,
}

struct Sends(Cown<u32>);

impl Drop for Sends {
    fn drop(&mut self) {
        when(&self.0, |n| *n += 1);
    }
}

struct Waits(Cown<u32>);

impl Drop for Waits {
    fn drop(&mut self) {
        if may_block() {
            assert!(call(&self.0, |n| *n).wait().is_ok());
        }
    }
}

struct Spawns(Cown<u32>);

impl Drop for Spawns {
    fn drop(&mut self) {
        let cown = self.0.clone();
        drop(sim::thread(move || when(&cown, |n| *n += 1)));
    }
}

impl Guards {
    fn new() -> Self {
        let cown = Cown::new(0);
        Self {
            _sends: Sends(cown.clone()),
            _waits: Waits(cown.clone()),
            _spawns: Spawns(cown.clone()),
            _owns: Cown::new(Sends(cown)),
        }
    }
}

/// A promise that is never completed.
fn never() -> Promise<()> {
    let (resolver, promise) = Promise::channel();
    std::mem::forget(resolver);
    promise
}

/// Threads and behaviours that have guards on their stacks and never end, and some that may.
fn surround() {
    for ends in [true, false] {
        drop(sim::thread(move || {
            let _guards = Guards::new();
            if !ends {
                let _ = never().wait();
            }
        }));
        let cown = Cown::new(Guards::new());
        when(&cown, |_| ());
        when(cown, |held| drop(held.into_cown()));
    }
}

/// Checks that a program fails for this reason on each schedule, and in the same way when it is run
/// again; and that other programs run afterwards.
#[track_caller]
fn assert_fails(because: &str, sim: impl Fn() -> Sim, program: impl Fn() + Clone + 'static) {
    let run = |method| -> Failure {
        let config = Config::new().method(method).runs(20);
        sim().config(config).run(program.clone()).expect_err("it is to fail")
    };
    for method in [Method::Random, Method::Pct { depth: 3 }, Method::Fifo] {
        let failure = run(method);
        assert!(failure.cause().contains(because), "{failure}");
        let again = run(Method::Replay(failure.schedule().clone()));
        assert_eq!(failure.cause(), again.cause());
    }
    sim::check(|| {
        let cown = Cown::new(1);
        assert_eq!(call(&cown, |n| *n).wait(), Ok(1));
        // As deep a chain of destructors as ever.
        drop((0..100).fold(None, |next: Option<Cown<Box<dyn Send>>>, _| {
            Some(Cown::new(Box::new(next) as Box<dyn Send>))
        }));
    });
}

#[test]
fn waiting_for_a_runtime_outside_of_the_simulation_is_refused() {
    let failure = Sim::new().run(|| Runtime::global().wait_idle()).unwrap_err();
    let cause = failure.cause();
    assert!(cause.contains("`coact-global` is not part of this simulation"), "{cause}");
}

#[test]
fn the_main_program_panics() {
    assert_fails("in the main program", Sim::new, || {
        surround();
        let _guards = Guards::new();
        panic!("in the main program");
    });
}

#[test]
fn a_thread_panics() {
    assert_fails("in a thread", Sim::new, || {
        surround();
        let thread = sim::thread(|| {
            let _guards = Guards::new();
            panic!("in a thread");
        });
        let _ = thread.wait();
        let _ = never().wait();
    });
}

/// The first failure is reported, not its consequences.
#[test]
fn a_thread_panics_and_its_promise_is_waited_for() {
    assert_fails("in a thread", Sim::new, || {
        let _guards = Guards::new();
        sim::thread(|| panic!("in a thread")).wait().expect("this comes of it");
    });
}

#[test]
fn a_thread_panics_with_something_that_panics_when_it_is_dropped() {
    struct Bomb(#[allow(dead_code)] Guards);
    impl Drop for Bomb {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panic!("the payload");
            }
        }
    }
    assert_fails("(no message)", Sim::new, || {
        surround();
        drop(sim::thread(|| std::panic::resume_unwind(Box::new(Bomb(Guards::new())))));
    });
}

#[test]
fn a_behaviour_panics() {
    assert_fails("in a behaviour", Sim::new, || {
        surround();
        let guards = Guards::new();
        when(&Cown::new(Guards::new()), move |_| {
            let _guards = guards;
            panic!("in a behaviour");
        });
    });
}

#[test]
fn a_capture_panics_when_it_is_dropped() {
    struct Bomb(#[allow(dead_code)] Guards);
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in a destructor");
        }
    }
    assert_fails("in a destructor", Sim::new, || {
        surround();
        let (cown, bomb) = (Cown::new(0), Bomb(Guards::new()));
        when(&cown, |_| ());
        when(&cown, move |_| drop(bomb));
    });
    // And the state.
    assert_fails("in a destructor", Sim::new, || {
        surround();
        drop(Cown::new(Bomb(Guards::new())));
    });
}

/// A task that panics when it is woken.
struct Jumpy;

impl Wake for Jumpy {
    fn wake(self: Arc<Self>) {
        let _guards = Guards::new();
        panic!("in a waker");
    }
}

fn wake_jumpily(promise: Promise<()>) {
    let mut promise = promise;
    let waker = Waker::from(Arc::new(Jumpy));
    let polled = Pin::new(&mut promise).poll(&mut Context::from_waker(&waker));
    if polled == Poll::Pending {
        std::mem::forget(promise);
    } else {
        panic!("in a waker, had it come in time");
    }
}

#[test]
fn a_waker_panics() {
    // Of a behaviour's promise.
    assert_fails("in a waker", Sim::new, || {
        surround();
        let cown = Cown::new(());
        let (resolver, promise) = Promise::channel();
        wake_jumpily(promise);
        when(&cown, move |_| resolver.resolve(()));
    });
    // Of a thread's.
    assert_fails("in a waker", Sim::new, || {
        surround();
        wake_jumpily(sim::thread(|| ()));
    });
    // Of a timer, which fires outside of all threads.
    assert_fails("in a waker", Sim::new, || {
        surround();
        let (resolver, promise) = Promise::channel();
        wake_jumpily(promise);
        after(std::time::Duration::from_secs(1), (), move |()| resolver.resolve(()));
    });
}

#[test]
fn nobody_can_go_on() {
    assert_fails("deadlock", Sim::new, || {
        surround();
        let _guards = Guards::new();
        let _ = never().wait();
    });
}

/// Its message is unknown until the panic is caught, which never happens.
#[test]
fn a_destructor_waits_for_ever_during_a_panic() {
    struct Stuck;
    impl Drop for Stuck {
        fn drop(&mut self) {
            let _ = never().wait();
        }
    }
    assert_fails("deadlock", Sim::new, || {
        surround();
        drop(sim::thread(|| {
            let _stuck = Stuck;
            panic!("stuck");
        }));
    });
}

#[test]
fn there_are_too_many_steps() {
    fn forever(cown: Cown<Guards>) {
        when(cown, |held| {
            let _guards = Guards::new();
            forever(held.into_cown());
        });
    }
    assert_fails(
        "no end after",
        || Sim::new().max_steps(2_000),
        || {
            surround();
            forever(Cown::new(Guards::new()));
        },
    );
}

/// What a failed run leaves to the test is dropped before the failure is reported.
#[test]
fn handles_that_outlive_a_failed_run_do_not_hide_the_report() {
    struct Asks(Cown<u32>);
    impl Drop for Asks {
        fn drop(&mut self) {
            assert_eq!(call(&self.0, |n| *n).wait(), Err(Broken::Cancelled));
        }
    }
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let kept = RefCell::new(Vec::new());
        sim::check(move || {
            let cown = Cown::new(0);
            kept.borrow_mut().push((Sends(cown.clone()), Asks(cown)));
            panic!("in the main program");
        });
    }));
    let report = *caught.unwrap_err().downcast::<String>().expect("a report");
    assert!(report.contains("in the main program"), "{report}");
    assert!(report.contains("COACT_SIM_SCHEDULE"), "{report}");
}

/// The simulated thread is then panicking, but the others are not.
#[test]
fn a_thread_of_std_is_told_what_to_use_instead() {
    Sim::new().config(Config::new().runs(1)).check(|| {
        let cown = Cown::new(0);
        let thread = std::thread::spawn(move || when(&cown, |n| *n += 1));
        let payload = thread.join().unwrap_err();
        let message = payload.downcast_ref::<&str>().expect("a text");
        assert!(message.contains("`sim::thread`"), "{message}");
    });
}

#[test]
fn others_are_left_between_two_steps_while_one_waits_in_a_panic() {
    struct Waits(Option<Promise<()>>);
    impl Drop for Waits {
        fn drop(&mut self) {
            let _ = self.0.take().map(Promise::wait);
        }
    }
    let sums = Rc::new(RefCell::new(BTreeSet::new()));
    let seen = Rc::clone(&sums);
    let config = Config::new().method(Method::Random).runs(20);
    let failed = Sim::new().config(config).run(move || {
        let (resolver, promise) = Promise::channel();
        let thread = sim::thread(move || {
            let waits = Waits(Some(promise));
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let _waits = waits;
                panic!("on purpose");
            }));
        });
        // So it is waiting by now.
        sleep(Duration::from_secs(1)).wait().unwrap();
        let sum = Arc::new(Mutex::new(0));
        let adders = [(); 2].map(|()| {
            let sum = Arc::clone(&sum);
            sim::thread(move || {
                let before = *sum.lock().unwrap();
                when(&Cown::new(()), |()| ());
                *sum.lock().unwrap() = before + 1;
            })
        });
        adders.into_iter().for_each(|adder| adder.wait().unwrap());
        seen.borrow_mut().insert(*sum.lock().unwrap());
        resolver.resolve(());
        thread.wait().unwrap();
    });
    assert!(failed.is_ok(), "{failed:?}");
    assert_eq!(*sums.borrow(), [1, 2].into());
}
