//! A panic's payload is a value of the user's, and its destructor may panic again, with a payload
//! of the same kind. Whatever it does, the thread that caught it goes on.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;

use coact::cown::AsCown;
use coact::credits::Credits;
use coact::internals::SealedHandle;
use coact::prelude::*;
use coact::runtime::{blocking, spawn_future};
use coact::time::{Timer, sleep};
use coact_tests::{Faults, PATIENCE, panic_of};

/// Panics with another one when it is dropped, so often.
struct Bomb {
    left: u32,
    dropped: Arc<AtomicU32>,
}

impl Bomb {
    /// Without end, as far as anybody can see.
    fn endless() -> Self {
        Self::of(u32::MAX)
    }

    fn of(left: u32) -> Self {
        Self { left, dropped: Arc::default() }
    }

    fn throw(self) -> ! {
        resume_unwind(Box::new(self))
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
        // One that is dropped while its thread unwinds would end the process, as any destructor
        // does that panics then.
        if self.left > 0 && !thread::panicking() {
            Self { left: self.left - 1, dropped: Arc::clone(&self.dropped) }.throw();
        }
    }
}

fn runtime() -> Runtime {
    coact_tests::runtime(1, &Faults::new())
}

/// The only worker, and the thread for blocking jobs and that of the timers, are there still.
#[track_caller]
fn assert_alive(runtime: &Runtime) {
    let _entered = runtime.enter();
    let cown = Cown::new(1);
    assert_eq!(call(&cown, |n| *n).wait(), Ok(1));
    assert_eq!(blocking(|| 2).wait(), Ok(2));
    assert_eq!(sleep(Duration::ZERO).wait(), Ok(()));
    drop(cown);
}

#[test]
fn of_a_behaviour() {
    let runtime = runtime();
    let cown = runtime.run(|| Cown::new(()));
    for left in [0, 1, 2, 3, 100, u32::MAX] {
        let result: Promise<()> = call(cown.checked(), move |_| Bomb::of(left).throw());
        assert!(matches!(result.wait(), Err(Broken::Panicked(_))));
        assert_alive(&runtime);
    }
    // Several in one set, in a batch, and on the spot.
    let other = runtime.run(|| Cown::new(()));
    when((cown.checked(), other.checked()), |_| Bomb::endless().throw());
    Batch::new().when(cown.checked(), |_| Bomb::endless().throw()).spawn();
    runtime.wait_idle();
    assert!(when_here(cown.checked(), |_| Bomb::endless().throw()));
    assert_alive(&runtime);
    assert!(runtime.shutdown(PATIENCE).is_complete());
}

#[test]
fn all_that_there_are_are_dropped() {
    let runtime = runtime();
    let bomb = Bomb::of(5);
    let dropped = Arc::clone(&bomb.dropped);
    when(&runtime.run(|| Cown::new(())), move |()| bomb.throw());
    runtime.wait_idle();
    assert_eq!(dropped.load(Ordering::Relaxed), 6);
}

#[test]
fn of_jobs_futures_and_timers() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let job = blocking(|| -> () { Bomb::endless().throw() });
    assert!(matches!(job.wait(), Err(Broken::Panicked(_))));
    let future = spawn_future(async { Bomb::endless().throw() });
    assert!(matches!(future.wait(), Err::<(), _>(Broken::Panicked(_))));
    let (cown, bomb) = (Cown::new(()), Bomb::endless());
    let told = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&told);
    let timer = every(Duration::from_millis(1), cown.checked(), move |_| {
        let _captured = &bomb;
        count.fetch_add(1, Ordering::Relaxed);
        Bomb::endless().throw()
    });
    while told.load(Ordering::Relaxed) < 3 {
        thread::yield_now();
    }
    // Cancelled between two ticks, or in one: the closure goes with its captures.
    assert!(timer.cancel());
    assert_alive(&runtime);
}

/// Drops on the timers' thread what a periodic timer owns, which comes back to the timers.
#[test]
fn of_a_timer_that_ends_while_it_fires() {
    struct Late(Bomb);
    impl Drop for Late {
        fn drop(&mut self) {
            // Under a lock of the timers this would not return.
            drop(sleep(Duration::from_secs(86_400)));
        }
    }
    let runtime = runtime();
    let _entered = runtime.enter();
    let (cown, late) = (Cown::new(()), Arc::new(Late(Bomb::endless())));
    let weak = Arc::downgrade(&late);
    let slot = Arc::new(std::sync::Mutex::new(None::<Timer>));
    let own = Arc::clone(&slot);
    // The set is foreign code that the timers' thread calls: it cancels its own timer.
    let set = Cancels(cown.clone(), own);
    let timer = every(Duration::from_millis(5), &set, move |()| {
        let _captured = &late.0;
    });
    *slot.lock().unwrap() = Some(timer);
    while weak.strong_count() > 0 {
        thread::yield_now();
    }
    assert_alive(&runtime);
    drop(cown);
}

/// A handle that cancels a timer when it is cloned.
struct Cancels(Cown<()>, Arc<std::sync::Mutex<Option<Timer>>>);

impl Clone for Cancels {
    fn clone(&self) -> Self {
        if let Some(timer) = self.1.lock().unwrap().take() {
            timer.cancel();
        }
        Self(self.0.clone(), Arc::clone(&self.1))
    }
}

impl SealedHandle for Cancels {}

impl AsCown for Cancels {
    type State = ();
    type View = ();
    fn as_cown(&self) -> &Cown<()> {
        &self.0
    }
    fn view(state: &()) -> &() {
        state
    }
    fn view_mut(state: &mut ()) -> &mut () {
        state
    }
}

#[test]
fn of_destructors() {
    let runtime = runtime();
    let _entered = runtime.enter();
    // A state, a capture of a behaviour that is skipped, a result that is not wanted.
    drop(Cown::new(Bomb::endless()));
    let poisoned = Cown::new(());
    when(&poisoned, |_| Bomb::endless().throw());
    let bomb = Bomb::endless();
    when(&poisoned, move |_| drop(bomb));
    drop(call(&Cown::new(()), |_| Bomb::endless()));
    runtime.wait_idle();
    assert_alive(&runtime);
}

#[test]
fn of_hooks() {
    let builder = Runtime::builder().workers(1).panic_hook(|_| Bomb::endless().throw());
    let builder = builder.on_start(|| Bomb::endless().throw());
    let runtime = builder.on_stop(|| Bomb::endless().throw()).build().unwrap();
    when(&runtime.run(|| Cown::new(())), |_| Bomb::endless().throw());
    runtime.wait_idle();
    assert_alive(&runtime);
    let pump = Runtime::builder().on_ready(|| Bomb::endless().throw()).build_pumped().unwrap();
    let cown = pump.run(|| Cown::new(()));
    when(&cown, |()| ());
    pump.run_until_idle(&[]);
}

struct Throws;

impl Wake for Throws {
    fn wake(self: Arc<Self>) {
        Bomb::endless().throw()
    }
}

/// A waker is called where the value is given, which is not to blame for it.
#[test]
fn of_wakers() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let cown = Cown::new(1);
    let waker: Waker = Arc::new(Throws).into();
    let mut waits = std::task::Context::from_waker(&waker);
    let (resolver, mut promise) = Promise::channel();
    assert!(std::pin::Pin::new(&mut promise).poll(&mut waits).is_pending());
    when(&cown, move |n| {
        resolver.resolve(5);
        *n += 1;
    });
    assert_eq!(call(&cown, |n| *n).wait(), Ok(2));
    assert_eq!(promise.wait(), Ok(5));
    // Nor is it when the resolver is dropped, if only since its owner panics.
    let (resolver, mut promise) = Promise::<()>::channel();
    assert!(std::pin::Pin::new(&mut promise).poll(&mut waits).is_pending());
    when(&cown, move |_| {
        let _resolver = resolver;
        Bomb::endless().throw()
    });
    assert_eq!(promise.wait(), Err(Broken::Dropped));
    // Of those who wait for credits, one with such a waker takes nothing from the others.
    let credits = Credits::new(1);
    let taken = credits.acquire(1).wait();
    let (mut first, second) = (credits.acquire(1), credits.acquire(1));
    assert!(std::pin::Pin::new(&mut first).poll(&mut waits).is_pending());
    drop(taken);
    drop(first);
    assert_eq!(second.wait().amount(), 1);
    let _kept = runtime.handle().on_cancel(waker);
    assert_alive(&runtime);
    drop(_entered);
    drop(runtime);
}

/// The first payload goes to the caller; the others end here.
#[test]
fn of_a_scope() {
    let runtime = runtime();
    let cowns = runtime.run(|| [(); 3].map(Cown::new));
    let message = panic_of(|| {
        scope(|scope| {
            scope.when(&cowns[0], |()| coact_tests::fail("first"));
            while !cowns[0].is_poisoned() {
                thread::yield_now();
            }
            scope.when(&cowns[1], |()| Bomb::endless().throw());
            scope.when(&cowns[2], |()| Bomb::endless().throw());
            let result = Bomb::endless();
            // What `main` returns is dropped as well.
            result
        });
    });
    assert_eq!(message, "first");
    let message = panic_of(|| {
        scope(|scope| -> () {
            scope.when(cowns[0].checked(), |_| coact_tests::fail("again"));
            Bomb::endless().throw()
        });
    });
    assert_eq!(message, "again");
    assert_alive(&runtime);
}

/// Giving a value that is not wanted any more is no fault, whatever its destructor does.
#[test]
fn values_that_nobody_wants_and_that_panic() {
    struct Value;
    impl Drop for Value {
        fn drop(&mut self) {
            coact_tests::fail("nobody wanted it");
        }
    }
    let runtime = runtime();
    runtime.run(|| {
        let (resolver, promise) = Promise::channel();
        drop(promise);
        resolver.resolve(Value);
        let cown = Cown::new(());
        let (resolver, promise) = Promise::channel();
        drop(promise);
        when(&cown, move |()| resolver.resolve(Value));
        assert_eq!(call(&cown, |()| 7).wait(), Ok(7));
    });
    assert_alive(&runtime);
}
