//! Runtimes side by side, quiescence, and shutdown.

use std::cell::RefCell;
use std::mem;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::task::Wake;
use std::thread;
use std::time::{Duration, Instant};

use coact::behaviour::Refusal;
use coact::prelude::*;
use coact::runtime::{RuntimeHandle, blocking, spawn_future};
use coact::time::sleep;
use coact::try_call;
use coact_tests::{Faults, Journal, Log, Meeting, PATIENCE, panic_of, runtime};

/// The four lines of the README: no runtime is made, the global one runs it.
#[test]
fn the_global_runtime_needs_nothing() {
    let cown = Cown::new(20);
    when(&cown, |n| *n += 1);
    assert_eq!(call(&cown, |n| *n * 2).wait(), Ok(42));
    assert!(Runtime::global().workers() >= 1);
}

fn where_it_runs(cown: &Cown<()>) -> String {
    call(cown, |_| thread::current().name().unwrap().to_owned()).wait().unwrap()
}

#[test]
fn runtimes_live_side_by_side() {
    let [one, two] =
        ["one", "two"].map(|name| Runtime::builder().workers(1).name(name).build().unwrap());
    let (a, b) = (one.run(|| Cown::new(())), two.run(|| Cown::new(())));
    assert_eq!((where_it_runs(&a), where_it_runs(&b)), ("one-0".into(), "two-0".into()));
    // Entering decides for new cowns, not for those that exist; guards nest.
    let outer = one.enter();
    {
        let _inner = two.enter();
        assert_eq!(where_it_runs(&Cown::new(())), "two-0");
        assert_eq!(where_it_runs(&a), "one-0");
    }
    assert_eq!(where_it_runs(&Cown::new(())), "one-0");
    drop(outer);
    // What a behaviour makes belongs to its runtime.
    let nested = call(&b, |_| Cown::new(())).wait().unwrap();
    assert_eq!(where_it_runs(&nested), "two-0");
}

/// On the runtime of the first member; ordered with everything else on all of the cowns.
#[test]
fn t1_sets_may_mix_runtimes() {
    let [one, two] =
        ["one", "two"].map(|name| Runtime::builder().workers(2).name(name).build().unwrap());
    let (a, b) = (one.run(|| Cown::new(0)), two.run(|| Cown::new(0)));
    let on = |set: (&Cown<i32>, &Cown<i32>)| {
        call(set, |_| thread::current().name().unwrap()[..3].to_owned()).wait().unwrap()
    };
    assert_eq!((on((&a, &b)), on((&b, &a))), ("one".into(), "two".into()));
    thread::scope(|scope| {
        for set in [(&a, &b), (&b, &a)] {
            scope.spawn(move || {
                for _ in 0..500 {
                    when(set, |(x, y)| {
                        assert_eq!(*x, *y);
                        *x += 1;
                        *y += 1;
                    });
                }
            });
        }
    });
    assert_eq!(call((a.read(), b.read()), |(a, b)| (*a, *b)).wait(), Ok((1000, 1000)));
}

#[test]
fn t2_run_returns_when_no_work_is_left() {
    let runtime = runtime(2, &Faults::new());
    for round in 0..50 {
        let log = Log::new();
        runtime.run(|| {
            fn chain(log: Log<u32>, left: u32) {
                when(&Cown::new(()), move |_| {
                    log.push(left);
                    if left > 0 {
                        chain(log, left - 1);
                    }
                });
            }
            chain(log.clone(), round);
            chain(log.clone(), round);
        });
        assert_eq!(log.len(), 2 * (round as usize + 1));
    }
}

#[test]
fn t2_run_waits_for_futures_jobs_and_timers() {
    let runtime = runtime(1, &Faults::new());
    let log = Log::new();
    runtime.run(|| {
        let (l, (resolver, promise)) = (log.clone(), Promise::channel());
        drop(spawn_future(async move {
            promise.await.unwrap();
            l.push("future");
        }));
        let l = log.clone();
        // The job lets the future go on; the timer is last.
        after(Duration::from_millis(5), &Cown::new(()), move |_| {
            drop(blocking(move || {
                l.push("job");
                resolver.resolve(());
            }));
        });
    });
    assert_eq!(log.take(), ["job", "future"]);
}

#[test]
fn run_gives_what_its_closure_returns_and_passes_its_panic_on() {
    let runtime = runtime(1, &Faults::new());
    assert_eq!(runtime.run(|| 5), 5);
    let journal = Journal::new();
    let inside = journal.clone();
    let message = panic_of(|| {
        runtime.run(|| -> () {
            when((), move |()| inside.note("spawned"));
            coact_tests::fail("main")
        })
    });
    assert_eq!(message, "main");
    assert!(journal.has("spawned"));
}

#[test]
fn work_may_be_spawned_from_any_thread() {
    let runtime = runtime(2, &Faults::new());
    let sum = runtime.run(|| Cown::new(0));
    thread::scope(|scope| {
        for n in 1..=8 {
            let sum = &sum;
            scope.spawn(move || when(sum, move |sum| *sum += n));
        }
    });
    runtime.wait_idle();
    assert_eq!(sum.into_inner().unwrap(), 36);
}

#[test]
fn a_thread_may_spawn_from_its_destructors() {
    struct Late(Cown<u32>);
    impl Drop for Late {
        fn drop(&mut self) {
            when(&self.0, |n| *n += 1);
        }
    }
    thread_local!(static LATE: std::cell::RefCell<Option<Late>> = const { std::cell::RefCell::new(None) });
    let runtime = runtime(1, &Faults::new());
    let cown = runtime.run(|| Cown::new(0));
    let far = cown.clone();
    thread::spawn(move || LATE.set(Some(Late(far)))).join().unwrap();
    assert_eq!(call(&cown, |n| *n).wait(), Ok(1));
}

#[test]
fn t3_a_shutdown_in_time_is_complete() {
    let runtime = runtime(2, &Faults::new());
    let cown = runtime.run(|| Cown::new(0));
    (0..1000).for_each(|_| when(&cown, |n| *n += 1));
    let report = runtime.shutdown(PATIENCE);
    assert!(report.is_complete());
    assert_eq!(report.to_string(), "all work was done");
    assert_eq!(cown.into_inner().unwrap(), 1000);
}

/// Work that has no end: the deadline ends it, and everything is freed.
#[test]
fn t3_a_shutdown_past_its_deadline_abandons_and_frees() {
    fn for_ever(cown: &Cown<u64>, token: Arc<()>) {
        let again = cown.clone();
        when(cown, move |n| {
            *n += u64::from(Arc::strong_count(&token) > 0);
            for_ever(&again, token);
        });
    }
    let runtime = runtime(2, &Faults::new());
    let (token, (resolver, never)) = (Arc::new(()), Promise::<()>::channel());
    let (cown, other) = runtime.run(|| (Cown::new(0), Cown::new(token.clone())));
    let _entered = runtime.enter();
    for_ever(&cown, token.clone());
    let (later, often) = (token.clone(), token.clone());
    after(Duration::from_secs(86_400), &other, move |_| drop(later));
    every(Duration::from_secs(86_400), &other, move |_| drop(often.clone()));
    let kept = token.clone();
    let chained = never.then(&other, move |_, _| drop(kept));
    drop(_entered);
    let report = runtime.shutdown(Duration::from_millis(5));
    assert!(!report.is_complete());
    assert!(report.abandoned >= 3, "{report}");
    assert_eq!(report.stuck_workers, 0);
    drop((cown, other, resolver));
    assert_eq!(chained.wait(), Err(Broken::Cancelled));
    assert_eq!(Arc::strong_count(&token), 1, "something was not freed");
}

/// What stands behind a behaviour that is cancelled is cancelled as well, and told so.
#[test]
fn t3_queued_behaviours_are_cancelled() {
    let runtime = runtime(1, &Faults::new());
    let (release, gate) = mpsc::channel::<()>();
    let cown = runtime.run(|| Cown::new(0));
    let (started, has_started) = Promise::channel();
    when(&cown, move |_| {
        started.resolve(());
        let _ = gate.recv_timeout(PATIENCE);
    });
    has_started.wait().unwrap();
    let queued: Vec<_> = (0..10_000).map(|_| call(&cown, |n| *n += 1)).collect();
    let (told, canceller) = (Log::new(), Arc::new(std::sync::Mutex::new(Some(release))));
    // Lets the first one go as soon as the deadline has passed: this is dropped then.
    let (log, last) = (told.clone(), Arc::clone(&canceller));
    let watch = thread::spawn(move || {
        // The deadline is zero: whatever runs now runs past it.
        while try_when(&Cown::new(()), |_| ()).is_err() {}
        log.push("waited");
        drop(last.lock().unwrap().take());
    });
    watch.join().unwrap();
    let report = runtime.shutdown(Duration::ZERO);
    let cancelled =
        queued.into_iter().map(Promise::wait).filter(|result| *result == Err(Broken::Cancelled));
    let cancelled = cancelled.count();
    assert_eq!(report.abandoned, cancelled);
    assert_eq!(cown.into_inner().unwrap() as usize, 10_000 - cancelled);
}

/// What waits behind a behaviour of another runtime is waited for by those who wait for both.
#[test]
fn t2_t3_what_waits_behind_another_runtime_is_its_work_until_then() {
    for together in [true, false] {
        let [one, two] = [(); 2].map(|()| runtime(1, &Faults::new()));
        let (first, held) = (one.run(|| Cown::new(0)), two.run(|| Cown::new(0)));
        let (release, gate) = mpsc::channel::<()>();
        when(&held, move |_| _ = gate.recv_timeout(PATIENCE));
        let behind = call((&first, &held), |_| ());
        // It does not wait; nor does the shutdown, with all the time there is.
        one.wait_idle();
        let behind = behind.try_wait().expect_err("it waits for the cown");
        if together {
            drop(release);
            Runtime::wait_idle_all(&[one.handle(), two.handle()]);
            assert_eq!(behind.wait(), Ok(()));
            assert!(one.shutdown(PATIENCE).is_complete());
        } else {
            assert!(one.shutdown(PATIENCE).is_complete());
            drop(release);
            assert_eq!(behind.wait(), Err(Broken::Cancelled));
        }
    }
}

/// Who lets go of a cown drops what a runtime that has ended had waiting for it.
#[test]
fn t3_a_thread_that_drops_the_behaviours_of_another_runtime_is_not_stuck() {
    /// Takes a while to drop, but many together take longer than a standstill may.
    struct Slow;
    impl Drop for Slow {
        #[allow(clippy::disallowed_methods, reason = "a destructor that is slow")]
        fn drop(&mut self) {
            thread::sleep(Duration::from_millis(20));
        }
    }
    for on_worker in [true, false] {
        let [ended, alive] = [(); 2].map(|()| runtime(1, &Faults::new()));
        let (first, held) = (ended.run(|| Cown::new(0)), alive.run(|| Cown::new(0)));
        let (release, gate) = mpsc::channel::<()>();
        let (started, has_started) = Promise::channel();
        let hold = move |_: &mut i32| {
            started.resolve(());
            let _ = gate.recv_timeout(PATIENCE);
        };
        let holder = held.clone();
        let holder = thread::spawn(move || match on_worker {
            true => when(&holder, hold),
            false => assert!(when_here(&holder, hold), "the cown is free"),
        });
        has_started.wait().unwrap();
        let behind: Vec<_> = (0..15)
            .map(|_| (Slow, &first, &held))
            .map(|(slow, first, held)| call((first, held), move |_| drop(slow)))
            .collect();
        ended.shutdown(Duration::ZERO);
        drop(release);
        let report = alive.shutdown(Duration::ZERO);
        assert_eq!(report.stuck_workers, 0, "{report}");
        holder.join().unwrap();
        for dropped in behind {
            assert_eq!(dropped.wait(), Err(Broken::Cancelled));
        }
    }
}

/// A behaviour that does not end: the report says that its worker is stuck.
#[test]
fn t3_a_worker_in_a_behaviour_without_end_is_reported() {
    let runtime = runtime(1, &Faults::new());
    let (release, gate) = mpsc::channel::<()>();
    let cown = runtime.run(|| Cown::new(()));
    let (started, has_started) = Promise::channel();
    let ended = call(&cown, move |_| {
        started.resolve(());
        gate.recv_timeout(PATIENCE).is_err()
    });
    has_started.wait().unwrap();
    let queued = call(&cown, |_| ());
    let report = runtime.shutdown(Duration::ZERO);
    assert_eq!(report.stuck_workers, 1);
    assert!(report.to_string().contains("1 worker still in a behaviour"), "{report}");
    drop(release);
    assert_eq!(ended.wait(), Ok(true));
    assert_eq!(queued.wait(), Err(Broken::Cancelled));
}

/// A behaviour that goes on until the sender is dropped, once it has begun.
fn stuck_behaviour(runtime: &Runtime) -> mpsc::Sender<()> {
    let (release, gate) = mpsc::channel::<()>();
    let (started, has_started) = Promise::channel();
    let _entered = runtime.enter();
    when(&Cown::new(()), move |()| {
        started.resolve(());
        let _ = gate.recv_timeout(PATIENCE);
    });
    has_started.wait().unwrap();
    release
}

/// Long for what takes 100 ms, and short for what once took two or three seconds.
const SHORTLY: Duration = Duration::from_millis(1_500);

#[test]
fn t3_a_deadline_is_a_deadline() {
    let runtime = runtime(2, &Faults::new());
    let release = stuck_behaviour(&runtime);
    let start = Instant::now();
    let report = runtime.shutdown(Duration::from_millis(50));
    // Nothing is there to be dropped, which would have a second for that.
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!((report.stuck_workers, report.stuck_jobs), (1, 0));
    let [stuck] = &report.stuck[..] else { panic!("{report:?}") };
    assert!(stuck.thread == "test-0" || stuck.thread == "test-1", "{stuck}");
    let told =
        format!("1 worker still in a behaviour: `{}`; what is queued behind a stuck", stuck.thread);
    assert!(report.to_string().contains(&told), "{report}");
    drop(release);
}

#[test]
fn a_drop_does_not_wait_for_what_is_stuck() {
    let runtime = runtime(2, &Faults::new());
    let release = stuck_behaviour(&runtime);
    let start = Instant::now();
    drop(runtime);
    assert!(start.elapsed() < SHORTLY, "{:?}", start.elapsed());
    drop(release);
}

/// Does not come back from its destructor, nor when it is woken, before the test is over.
struct Stuck(Mutex<mpsc::Receiver<()>>);

impl Stuck {
    /// One, and what lets it go.
    fn new() -> (Self, mpsc::Sender<()>) {
        let (release, gate) = mpsc::channel();
        (Self(Mutex::new(gate)), release)
    }

    fn wait(&self) {
        let _ = self.0.lock().unwrap().recv_timeout(PATIENCE);
    }
}

impl Drop for Stuck {
    fn drop(&mut self) {
        self.wait();
    }
}

impl Wake for Stuck {
    fn wake(self: Arc<Self>) {
        self.wait();
    }
}

thread_local! {
    static LOCAL: RefCell<Option<Stuck>> = const { RefCell::new(None) };
}

/// Nor for destructors and wakers, whichever thread they would be on.
#[test]
fn a_shutdown_does_not_wait_for_destructors_that_are_stuck() {
    let put = |stuck| LOCAL.with_borrow_mut(|local| *local = Some(stuck));
    type Leave = fn(Stuck, fn(Stuck));
    let leave: [(&str, Leave); 7] = [
        ("a thread-local of a worker", |stuck, put| {
            call(Cown::new(()), move |_| put(stuck)).wait().unwrap();
        }),
        ("a thread-local of a blocking thread", |stuck, put| {
            blocking(move || put(stuck)).wait().unwrap();
        }),
        ("what a pending timer owns", |stuck, _| {
            after(PATIENCE, (), move |()| drop(stuck));
        }),
        ("what a queued job owns", |stuck, _| {
            let (begun, has_begun) = mpsc::channel();
            let first = blocking(move || {
                begun.send(()).unwrap();
                thread::park_timeout(Duration::from_millis(300));
            });
            has_begun.recv().unwrap();
            drop((first, blocking(move || drop(stuck))));
        }),
        ("who is woken when the runtime gives up", |stuck, _| {
            mem::forget(RuntimeHandle::current().on_cancel(Arc::new(stuck).into()));
            mem::forget(RuntimeHandle::current().hold_open());
        }),
        ("the same, in a runtime that is done", |stuck, _| {
            mem::forget(RuntimeHandle::current().on_cancel(Arc::new(stuck).into()));
        }),
        ("what a task owns that awaits a sleep", |stuck, _| {
            drop(spawn_future(async move {
                let _stuck = stuck;
                let _ = sleep(PATIENCE).await;
            }));
        }),
    ];
    // A pump has the timer, and the one who is woken.
    for (what, leave) in [leave[2], leave[4], leave[5]] {
        let pump = Runtime::builder().build_pumped().unwrap();
        let (stuck, release) = Stuck::new();
        {
            let _entered = pump.enter();
            leave(stuck, put);
        }
        let start = Instant::now();
        pump.shutdown(Duration::from_millis(50));
        assert!(start.elapsed() < SHORTLY, "{what}, on a pump: {:?}", start.elapsed());
        drop(release);
    }
    for (what, leave) in leave {
        for drops in [false, true] {
            let runtime = Runtime::builder().workers(1).max_blocking(1).build().unwrap();
            let (stuck, release) = Stuck::new();
            {
                let _entered = runtime.enter();
                leave(stuck, put);
            }
            let start = Instant::now();
            if drops {
                drop(runtime);
            } else {
                runtime.shutdown(Duration::from_millis(50));
            }
            assert!(start.elapsed() < SHORTLY, "{what}: {:?}", start.elapsed());
            drop(release);
        }
    }
}

/// Nor for what never comes back: a guard that holds the runtime open, an answer from elsewhere.
#[test]
fn nor_for_what_is_somewhere_else() {
    let runtime = runtime(1, &Faults::new());
    let _open = runtime.handle().hold_open();
    let start = Instant::now();
    let report = runtime.shutdown(Duration::from_millis(5));
    assert!(start.elapsed() < SHORTLY, "{:?}", start.elapsed());
    assert_eq!((report.stuck_workers, report.held_open), (0, 1));
    assert!(!report.is_complete());
    let told = "0 pieces of work abandoned, 0 workers still in a behaviour, held open by 1 guard";
    assert_eq!(report.to_string(), told);
}

/// What is stuck has its type's name, where it is known.
#[test]
fn t3_a_report_names_what_is_stuck() {
    let builder = Runtime::builder().workers(1).name("named");
    let runtime = builder.watchdog(Duration::from_secs(60)).build().unwrap();
    let (release, job) = (stuck_behaviour(&runtime), mpsc::channel::<()>());
    let (started, has_started) = Promise::channel();
    {
        let _entered = runtime.enter();
        drop(blocking(move || {
            started.resolve(());
            let _ = job.1.recv_timeout(PATIENCE);
        }));
    }
    has_started.wait().unwrap();
    let report = runtime.shutdown(Duration::ZERO);
    assert_eq!((report.stuck_workers, report.stuck_jobs), (1, 1));
    let stuck: Vec<_> = report.stuck.iter().map(|stuck| (&*stuck.thread, stuck.work)).collect();
    assert_eq!(stuck[0].0, "named-0");
    assert!(stuck[0].1.unwrap().contains("stuck_behaviour"), "{report}");
    assert_eq!(stuck[1].0, "named-blocking-1");
    assert!(stuck[1].1.unwrap().contains("a_report_names_what_is_stuck"), "{report}");
    assert!(!report.is_complete());
    drop((release, job.0));
}

/// What waits behind a behaviour that is stuck is dropped without it.
#[test]
fn t3_what_waits_behind_a_stuck_worker_is_dropped() {
    let runtime = runtime(1, &Faults::new());
    let cowns = runtime.run(|| [(); 3].map(Cown::new));
    let (release, gate) = mpsc::channel::<()>();
    let (started, has_started) = Promise::channel();
    let behind = cowns.clone();
    when(&Cown::new(()), |()| ());
    when(&cowns[0], move |()| {
        started.resolve(behind.map(|cown| call(&cown, |()| ())));
        let _ = gate.recv_timeout(PATIENCE);
    });
    let [same, next, fresh] = has_started.wait().unwrap();
    let from_outside = call(&cowns[1], |()| ());
    assert_eq!(runtime.shutdown(Duration::ZERO).stuck_workers, 1);
    for promise in [next, fresh, from_outside] {
        assert_eq!(promise.wait_timeout(PATIENCE).unwrap(), Err(Broken::Cancelled));
    }
    drop(release);
    assert_eq!(same.wait(), Err(Broken::Cancelled));
}

/// A behaviour that comes to its end shortly after the deadline is waited for.
#[test]
fn a_body_that_has_begun_may_end() {
    let runtime = runtime(1, &Faults::new());
    let (started, has_started) = Promise::channel();
    let cown = runtime.run(|| Cown::new(()));
    let ended = call(&cown, move |()| {
        started.resolve(());
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(1) {
            thread::yield_now();
        }
        7
    });
    has_started.wait().unwrap();
    assert!(runtime.shutdown(Duration::ZERO).is_complete());
    assert_eq!(ended.try_wait().unwrap(), Ok(7));
}

#[test]
fn t4_after_a_shutdown_nothing_is_spawned_and_everything_is_told_so() {
    let runtime = runtime(1, &Faults::new());
    let token = Arc::new(());
    let cown = runtime.run(|| Cown::new(token.clone()));
    let another = runtime.run(|| Cown::new(1));
    let entered_late = {
        let spare = coact_tests::runtime(1, &Faults::new());
        assert!(runtime.shutdown(PATIENCE).is_complete());
        spare
    };
    let capture = || {
        let token = token.clone();
        move |_: &mut Arc<()>| drop(token)
    };
    when(&cown, capture());
    assert!(!when_here(&cown, capture()));
    Batch::new().when(&cown, capture()).spawn();
    assert_eq!(call(&cown, |_| ()).wait(), Err(Broken::Cancelled));
    let error = try_when(&cown, capture()).unwrap_err();
    assert_eq!(error.refusal, Refusal::Closed);
    assert_eq!(error.to_string(), "the runtime of the cowns is shut down");
    drop(error);
    assert_eq!(try_call(&cown, |_| ()).unwrap_err().refusal, Refusal::Closed);
    let error = Batch::new().try_when(&cown, capture()).unwrap_err();
    drop(error);
    let chained = Promise::ready(()).then(&cown, |_, _| ());
    assert_eq!(chained.wait(), Err(Broken::Cancelled));
    let message = panic_of(|| scope(|s| s.when(&cown, |_| ())));
    assert!(message.contains("shut down"), "{message}");
    assert_eq!(another.into_inner().unwrap(), 1);
    drop(cown);
    assert_eq!(Arc::strong_count(&token), 1);
    drop(entered_late);
}

/// The runtime is gone, but a thread still has it entered: through a guard of the global one this
/// cannot happen, through a cown's behaviours it can.
#[test]
fn timers_jobs_and_futures_of_a_stopped_runtime_are_cancelled() {
    let runtime = runtime(1, &Faults::new());
    let (cown, waiting) = runtime.run(|| (Cown::new(()), Meeting::of(2)));
    let (both, (tell, told)) = (waiting.clone(), Promise::channel());
    // A blocking job stays inside of its runtime, even if that is stopped meanwhile.
    let entered = runtime.enter();
    let (go_on, has_stopped) = mpsc::channel::<()>();
    drop(blocking(move || {
        let met = both.wait();
        let _ = has_stopped.recv_timeout(PATIENCE);
        let future = spawn_future(async { 1 });
        let blocked = blocking(|| 2);
        let slept = sleep(Duration::from_secs(86_400));
        tell.resolve((met, future, blocked, slept));
    }));
    assert!(waiting.wait());
    drop(entered);
    let report = runtime.shutdown(Duration::ZERO);
    drop(go_on);
    let (met, future, blocked, slept) = told.wait().unwrap();
    assert!(met);
    assert_eq!(future.wait(), Err(Broken::Cancelled));
    assert_eq!(blocked.wait(), Err(Broken::Cancelled));
    assert_eq!(slept.wait(), Err(Broken::Cancelled));
    let _ = (report, cown);
}

#[test]
fn t8_dropping_a_runtime_stops_it() {
    let runtime = runtime(2, &Faults::new());
    let cown = runtime.run(|| Cown::new(()));
    drop(runtime);
    assert_eq!(try_when(&cown, |_| ()).unwrap_err().refusal, Refusal::Closed);
}

/// A behaviour may own the last handle of its own runtime: it must not wait for itself.
#[test]
fn t8_a_behaviour_may_drop_its_runtime() {
    let owned = Arc::new(std::sync::Mutex::new(None));
    let runtime = runtime(1, &Faults::new());
    let cown = runtime.run(|| Cown::new(()));
    *owned.lock().unwrap() = Some(runtime);
    let dropped = call(&cown, move |_| drop(owned.lock().unwrap().take()));
    assert_eq!(dropped.wait(), Ok(()));
    assert_eq!(try_when(&cown, |_| ()).unwrap_err().refusal, Refusal::Closed);
    assert_eq!(call(&cown, |_| ()).wait(), Err(Broken::Cancelled));
}

/// Waits for the end of all work, in each of the ways that there are.
fn waits(
    runtime: &Arc<std::sync::Mutex<Option<Runtime>>>,
    home: coact::runtime::RuntimeHandle,
) -> [String; 4] {
    let lock = runtime.lock().unwrap();
    let of_its = lock.as_ref().unwrap();
    let one = panic_of(|| of_its.wait_idle());
    let two = panic_of(|| of_its.run(|| ()));
    let three = panic_of(|| Runtime::wait_idle_all(&[home]));
    drop(lock);
    let four = panic_of(|| runtime.lock().unwrap().take().unwrap().shutdown(PATIENCE));
    [one, two, three, four]
}

/// A job that waits for the end of all work waits for its own.
#[test]
fn p4_a_blocking_job_does_not_wait_for_itself() {
    for builder in [Runtime::builder().workers(1), Runtime::builder().on_blocking_threads(2)] {
        let runtime = builder.name("mine").build().unwrap();
        let (home, cown) = (runtime.handle(), runtime.run(|| Cown::new(())));
        let owned = Arc::new(std::sync::Mutex::new(Some(runtime)));
        let (own, go_on) = (Arc::clone(&owned), Meeting::of(2));
        let begins = go_on.clone();
        let job = {
            let lock = owned.lock().unwrap();
            let _entered = lock.as_ref().unwrap().enter();
            blocking(move || {
                assert!(begins.wait());
                waits(&own, home)
            })
        };
        assert!(go_on.wait());
        for message in job.wait().unwrap() {
            assert!(message.contains("the runtime `mine`"), "{message}");
            assert!(message.contains("Promise::then"), "{message}");
        }
        drop(cown);
    }
}

/// What others do in a job is theirs: the job may wait for another runtime.
#[test]
fn a_blocking_job_may_wait_for_another_runtime() {
    let [mine, other] = [runtime(1, &Faults::new()), runtime(1, &Faults::new())];
    let _entered = mine.enter();
    let job = blocking(move || other.run(|| call(&Cown::new(1), |n| *n + 1)).wait());
    assert_eq!(job.wait(), Ok(Ok(2)));
}

#[test]
fn a_simulated_job_does_not_wait_for_itself() {
    coact::sim::check(|| {
        let runtime = Arc::new(Runtime::builder().workers(1).build().unwrap());
        let _entered = runtime.enter();
        let own = Arc::clone(&runtime);
        let job = blocking(move || panic_of(|| own.wait_idle()));
        assert!(job.wait().unwrap().contains("would wait"));
        runtime.wait_idle();
    });
}

/// Wakers run on the thread that serves the timers: what waits there keeps all others.
#[test]
fn p4_a_timer_does_not_wait() {
    struct Waits(Runtime, mpsc::Sender<String>);
    impl std::task::Wake for Waits {
        fn wake(self: Arc<Self>) {
            let _ = self.1.send(panic_of(|| self.0.wait_idle()));
            let _ = self.1.send(panic_of(|| Promise::<()>::channel().1.wait()));
        }
    }
    let runtime = runtime(1, &Faults::new());
    let mut slept = {
        let _entered = runtime.enter();
        Box::pin(sleep(Duration::from_millis(20)))
    };
    let (tell, told) = mpsc::channel();
    let waker = Arc::new(Waits(runtime, tell)).into();
    let polled = slept.as_mut().poll(&mut std::task::Context::from_waker(&waker));
    if polled.is_pending() {
        for _ in 0..2 {
            assert!(told.recv_timeout(PATIENCE).unwrap().contains("could wait forever"));
        }
    }
}
