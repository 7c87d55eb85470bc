//! Pumps: behaviours on a thread that the program has already, and only there.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread::{self, ThreadId};
use std::time::Duration;

use coact::behaviour::{Refusal, WhenError};
use coact::credits::Credits;
use coact::prelude::*;
use coact::runtime::{MoveError, Pump, blocking, spawn_future};
use coact::try_call;
use coact_tests::{Faults, Log, Meeting, PATIENCE, fail, panic_of, runtime};

fn pump() -> Pump {
    Runtime::builder().name("pump").build_pumped().unwrap()
}

fn make<T: Send + 'static>(pump: &Pump, state: T) -> Cown<T> {
    let _entered = pump.enter();
    Cown::new(state)
}

/// A state that no other thread may touch, not even to drop it.
struct Here {
    thread: ThreadId,
    touched: usize,
    dropped: Log<ThreadId>,
}

impl Here {
    fn new(dropped: &Log<ThreadId>) -> Self {
        Self { thread: thread::current().id(), touched: 0, dropped: dropped.clone() }
    }

    fn touch(&mut self) {
        assert_eq!(thread::current().id(), self.thread);
        self.touched += 1;
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        self.dropped.push(thread::current().id());
    }
}

#[test]
fn h4_behaviours_run_when_the_pump_says_so() {
    let pump = pump();
    let cown = make(&pump, 0);
    when(&cown, |n| *n += 1);
    when(&cown, |n| *n += 1);
    let other = make(&pump, ());
    when(&other, |()| ());
    let seen = call(&cown, |n| *n).try_wait().unwrap_err();
    assert_eq!(pump.run_pending(), 4);
    assert_eq!(seen.try_wait().unwrap(), Ok(2));
    assert_eq!(pump.run_pending(), 0);
}

/// A behaviour that spawns itself again and again does not keep the caller.
#[test]
fn what_becomes_ready_meanwhile_is_left_for_the_next_call() {
    fn again(count: Arc<AtomicUsize>) {
        when((), move |()| {
            count.fetch_add(1, Ordering::Relaxed);
            again(count);
        });
    }
    let (pump, count) = (pump(), Arc::new(AtomicUsize::new(0)));
    {
        let _entered = pump.enter();
        again(Arc::clone(&count));
    }
    for round in 1..=10 {
        assert_eq!(pump.run_pending(), 1);
        assert_eq!(count.load(Ordering::Relaxed), round);
    }
}

#[test]
fn h1_the_state_is_touched_by_one_thread_only() {
    let (workers, pump, dropped) = (runtime(2, &Faults::new()), pump(), Log::new());
    let cown = make(&pump, Here::new(&dropped));
    let plain = workers.run(|| Cown::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..250 {
                    when(&cown, Here::touch);
                    // Whatever its place in the set.
                    when((&plain, &cown), |(n, here)| {
                        *n += 1;
                        here.touch();
                    });
                    when((&cown, &plain), |(here, n)| {
                        here.touch();
                        *n += 1;
                    });
                    when_here(&cown, Here::touch);
                    when(&plain, |n| *n += 1);
                }
            });
        }
        pump.run_future(pump.runtime().sleep(Duration::from_millis(1))).unwrap();
    });
    pump.run_until_idle(&[workers.handle()]);
    assert_eq!(plain.into_inner().unwrap(), 3000);
    let touched = call(&cown, |here| here.touched);
    assert_eq!(pump.run_future(touched), Ok(4000));
    thread::spawn(move || drop(cown)).join().unwrap();
    assert!(dropped.is_empty(), "dropped elsewhere");
    assert_eq!(pump.run_pending(), 1);
    assert_eq!(dropped.take(), [thread::current().id()]);
}

#[test]
fn h1_readers_of_a_pinned_cown_run_on_its_thread() {
    let (workers, pump, here) = (runtime(2, &Faults::new()), pump(), thread::current().id());
    let (pinned, plain) = (make(&pump, 1), workers.run(|| Cown::new(2)));
    let sum = call((plain.read(), pinned.read()), move |(a, b)| {
        assert_eq!(thread::current().id(), here);
        a + b
    });
    assert_eq!(pump.run_future(sum), Ok(3));
}

#[test]
fn h2_two_pumps_do_not_mix() {
    let (one, two) = (pump(), pump());
    let (a, b) = (make(&one, 0), make(&two, 0));
    let plain = Cown::new(0);
    let error = try_when((&plain, &a, &b), |_| ()).unwrap_err();
    let Refusal::PinnedApart(apart) = error.refusal else { panic!("{error}") };
    assert_eq!((apart.first, apart.second), (1, 2));
    assert!(try_call((&b, &a), |_| ()).is_err());
    assert!(Batch::new().try_when((&a, &b), |_| ()).is_err());
    let message = "members 0 and 1 of the set belong to different pumps: no thread may access both";
    assert_eq!(panic_of(|| when((&a, &b), |_| ())), message);
    assert_eq!(panic_of(|| when_here((&a, &b), |_| ())), message);
    assert_eq!(panic_of(|| after(Duration::ZERO, (&a, &b), |_| ())), message);
    // Nothing was queued.
    assert_eq!((one.run_pending(), two.run_pending()), (0, 0));
    assert_eq!((a.into_inner(), b.into_inner(), plain.into_inner()), (Ok(0), Ok(0), Ok(0)));
}

#[test]
fn h3_here_is_at_once_on_the_pumps_thread_only() {
    let (pump, dropped) = (pump(), Log::new());
    let cown = make(&pump, Here::new(&dropped));
    assert!(when_here(&cown, Here::touch));
    let far = cown.clone();
    assert!(!thread::spawn(move || when_here(&far, Here::touch)).join().unwrap());
    pump.run_until_idle(&[]);
    assert_eq!(cown.into_inner().map(|here| here.touched).unwrap_or_default(), 2);
}

#[test]
fn h7_pinned_cowns_are_not_moved() {
    let (workers, pump) = (runtime(1, &Faults::new()), pump());
    let (pinned, plain) = (make(&pump, 0), workers.run(|| Cown::new(0)));
    assert_eq!(pinned.move_to(workers.handle()), Err(MoveError::Pinned));
    assert_eq!(plain.move_to(pump.runtime()), Err(MoveError::ToPump));
    assert!(pump.runtime().is_pumped() && !workers.handle().is_pumped());
    let (pinned, plain) =
        thread::spawn(|| (pinned.into_inner(), plain.into_inner())).join().unwrap();
    assert_eq!(plain, Ok(0));
    assert_eq!(pinned.unwrap_err().into_inner(), Ok(0));
}

/// Each question finds it asleep, or about to sleep.
#[test]
fn it_sleeps_until_work_comes() {
    let pump = pump();
    let (cown, done) = (make(&pump, 0), Arc::new(AtomicUsize::new(0)));
    thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..2000 {
                assert_eq!(call(&cown, |n| std::mem::replace(n, *n + 1)).wait(), Ok(n));
            }
            let done = Arc::clone(&done);
            when(&cown, move |_| done.store(1, Ordering::Relaxed));
        });
        pump.run_future(poll_fn(|_| match done.load(Ordering::Relaxed) {
            0 => Poll::Pending,
            _ => Poll::Ready(()),
        }));
    });
    assert_eq!(cown.into_inner(), Ok(2000));
}

#[test]
fn a_waker_wakes_it_to_look() {
    let (pump, asked, done) = (pump(), Meeting::of(2), Arc::new(AtomicUsize::new(0)));
    let mut other = None;
    pump.run_future(poll_fn(|context| {
        if other.is_none() {
            let (waker, looked, done) = (context.waker().clone(), asked.clone(), Arc::clone(&done));
            other = Some(thread::spawn(move || {
                // The condition was looked at, and did not hold.
                assert!(looked.wait());
                done.store(1, Ordering::Relaxed);
                waker.wake();
            }));
            asked.arrive();
            return Poll::Pending;
        }
        match done.load(Ordering::Relaxed) {
            0 => Poll::Pending,
            _ => Poll::Ready(()),
        }
    }));
    other.unwrap().join().unwrap();
}

/// The hook's events are all that a loop needs to run everything.
#[test]
fn h4_a_loop_is_told_of_work() {
    let (send, events) = mpsc::channel();
    let hook = move || {
        let _ = send.send(());
    };
    let pump = Runtime::builder().on_ready(hook).build_pumped().unwrap();
    let (far, rounds) = (make(&pump, ()), 300);
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let spawner = thread::spawn(move || {
        for n in 0..rounds {
            let count = Arc::clone(&counter);
            // What it spawns is left behind by the run.
            when(&far, move |()| {
                when(&Cown::new(()), move |()| {
                    count.fetch_add(1, Ordering::Relaxed);
                });
            });
            if n % 3 == 0 {
                thread::yield_now();
            }
        }
    });
    while count.load(Ordering::Relaxed) < rounds {
        events.recv_timeout(PATIENCE).expect("work that is not announced");
        pump.run_pending();
    }
    spawner.join().unwrap();
}

#[test]
fn h4_the_hook_is_called_once_until_the_pump_runs() {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls);
    let hook = move || {
        count.fetch_add(1, Ordering::Relaxed);
    };
    let pump = Runtime::builder().on_ready(hook).build_pumped().unwrap();
    let cown = make(&pump, 0);
    for round in 1..=5 {
        for _ in 0..10 {
            when(&cown, |n| *n += 1);
        }
        assert_eq!(calls.load(Ordering::Relaxed), round);
        pump.run_until_idle(&[]);
    }
    // What comes while it runs needs no hook.
    pump.run(|| when(&cown, |_| ()));
    assert_eq!(calls.load(Ordering::Relaxed), 6);
}

#[test]
fn idle_means_futures_jobs_and_timers_too() {
    let (pump, log, here) = (pump(), Log::new(), thread::current().id());
    let cown = pump.run(|| {
        let cown = Cown::new(());
        let (on_timer, on_job, on_future) = (log.clone(), log.clone(), log.clone());
        after(Duration::from_millis(5), &cown, move |()| on_timer.push(thread::current().id()));
        drop(blocking(|| ()).then(&cown, move |(), _| on_job.push(thread::current().id())));
        drop(spawn_future(async move { on_future.push(thread::current().id()) }));
        cown
    });
    assert_eq!(log.take(), [here; 3]);
    assert_eq!(cown.into_inner(), Ok(()));
}

#[test]
fn others_can_wait_until_it_is_idle() {
    let pump = pump();
    let (cown, home) = (make(&pump, 0), pump.runtime());
    when(&cown, |n| *n = 1);
    assert!(!Runtime::wait_idle_all_timeout(&[home], Duration::from_millis(1)));
    let (far, (resolver, told)) = (cown.clone(), Promise::channel());
    let waiter = thread::spawn(move || {
        Runtime::wait_idle_all(&[home]);
        resolver.resolve(far);
    });
    drop(pump.run_future(told).unwrap());
    waiter.join().unwrap();
    assert_eq!(cown.into_inner(), Ok(1));
}

#[test]
fn it_does_not_run_inside_of_itself() {
    thread_local!(static PUMP: Pump = pump());
    let message = PUMP.with(|pump| {
        let inside =
            call(&make(pump, ()), |()| panic_of(|| PUMP.with(|pump| pump.run_until_idle(&[]))));
        pump.run_future(inside).unwrap()
    });
    assert!(message.starts_with("running a `Pump`"), "{message}");
}

#[test]
fn panics_are_caught_and_those_of_futures_passed_on() {
    let faults = Faults::new();
    let hook = faults.clone();
    let pump = Runtime::builder()
        .panic_hook(move |fault| hook.push(fault.clone()))
        .build_pumped()
        .unwrap();
    let cown = make(&pump, 0);
    when(&cown, |_| fail("in a behaviour"));
    pump.run_until_idle(&[]);
    assert!(cown.is_poisoned());
    assert_eq!(faults.take().len(), 1);
    assert_eq!(panic_of(|| pump.run_future(async { fail("in a future") })), "in a future");
    // It still works, and its idleness is still known.
    cown.clear_poison();
    assert_eq!(pump.run_future(call(&cown, |n| *n)), Ok(0));
    pump.run_until_idle(&[]);
}

#[test]
fn h5_dropping_it_drops_what_is_queued_and_forgets_what_lives_on() {
    let (pump, dropped) = (pump(), Log::new());
    let [queued, late, own] = [(); 3].map(|()| make(&pump, Here::new(&dropped)));
    let promise = call(&queued, Here::touch);
    thread::spawn(move || drop(queued)).join().unwrap();
    let report = pump.shutdown(Duration::ZERO);
    // The deadline was over before the first look.
    assert_eq!((report.abandoned, promise.wait()), (1, Err(Broken::Cancelled)));
    assert_eq!(dropped.take(), [thread::current().id()]);
    assert!(matches!(
        try_when(&late, Here::touch),
        Err(WhenError { refusal: Refusal::Closed, .. })
    ));
    // It does not get stuck, either.
    assert_eq!(call(&late, Here::touch).wait(), Err(Broken::Cancelled));
    thread::spawn(move || drop(late)).join().unwrap();
    assert!(dropped.is_empty(), "no thread was left that could drop it");
    drop(own);
    assert_eq!(dropped.take(), [thread::current().id()]);
}

/// Its own thread would wait for itself: it is told what to do instead.
#[test]
fn its_thread_does_not_wait_until_it_is_idle() {
    let pump = pump();
    let message = panic_of(|| Runtime::wait_idle_all(&[pump.runtime()]));
    assert!(message.contains("`pump`") && message.contains("Pump::run_until_idle"), "{message}");
    let home = pump.runtime();
    drop(pump);
    Runtime::wait_idle_all(&[home]);
}

/// A hook may wait for a thread that waits for the rest of a batch to be queued: so it is called
/// when all is.
#[test]
fn the_hook_is_called_when_a_batch_is_queued_as_a_whole() {
    let (lock, (tell, told)) = (Arc::new(Mutex::new(())), mpsc::channel());
    let hooked = Arc::clone(&lock);
    let pump = Runtime::builder().on_ready(move || {
        let _ = tell.send(());
        drop(hooked.lock());
    });
    let pump = pump.build_pumped().unwrap();
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    // Requests are queued in the order of their cowns: that of the pump first.
    let (pinned, cowns): (Vec<_>, Vec<_>) =
        (0..16).map(|_| (make(&pump, ()), Cown::new(()))).unzip();
    let (pinned, cown) = (pinned.into_iter().min().unwrap(), cowns.into_iter().max().unwrap());
    assert!(pinned < cown);
    let ((busy, is_busy), (queued, is_queued)) = (mpsc::channel(), mpsc::channel());
    let held = cown.clone();
    thread::spawn(move || {
        let _locked = lock.lock();
        let ran_here = when_here(&held, move |()| {
            busy.send(()).unwrap();
            told.recv_timeout(PATIENCE).unwrap();
        });
        assert!(ran_here);
    });
    is_busy.recv_timeout(PATIENCE).unwrap();
    let far = (pinned.clone(), cown.clone());
    thread::spawn(move || {
        Batch::new().when(&far.0, |()| ()).when(&far.1, |()| ()).spawn();
        queued.send(()).unwrap();
    });
    assert!(
        is_queued.recv_timeout(PATIENCE).is_ok(),
        "the hook, the batch and the body wait in a circle"
    );
    pump.run_pending();
}

/// What its own thread waits for would never come: it is told what to do instead, as a worker is.
#[test]
fn its_thread_does_not_wait_for_its_work() {
    let (pump, worker) = (pump(), runtime(1, &Faults::new()));
    let (cown, far) = (make(&pump, 20), worker.run(|| Cown::new(1)));
    let message = panic_of(|| call(&cown, |n| *n + 1).wait());
    assert!(message.contains("the pump `pump`"), "{message}");
    assert!(message.contains("`Pump::run_future`"), "{message}");
    // So too behind that.
    assert!(panic_of(|| call((&far, &cown), |_| ()).wait()).contains("`Pump::run_future`"));
    let credits = Credits::new(1);
    let permit = credits.acquire(1).wait();
    when(&cown, move |_| drop(permit));
    assert!(panic_of(|| credits.acquire_blocking(1)).contains("`Pump::run_future`"));
    // The advice is good, and what is there already, or has an end, needs none.
    assert_eq!(pump.run_future(call(&cown, |n| *n + 1)), Ok(21));
    assert_eq!(credits.acquire_blocking(1).amount(), 1);
    let pending = call(&cown, |n| *n);
    let pending = pending.wait_timeout(Duration::from_millis(1)).unwrap_err();
    pump.run_until_idle(&[]);
    assert_eq!(pending.wait(), Ok(20));
    // A pump without work does not keep a thread from waiting for others.
    assert_eq!(call(&far, |n| *n).wait(), Ok(1));
    let message = panic_of(|| scope(|scope| scope.when(&cown, |_| ())));
    assert!(message.contains("run the pump"), "{message}");
}
