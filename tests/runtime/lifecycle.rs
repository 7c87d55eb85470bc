//! Runtimes side by side, quiescence, and shutdown.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use coact::prelude::*;
use coact_tests::{Faults, Journal, Log, Meeting, PATIENCE, panic_of, runtime};

/// The four lines of the README: no runtime is made, the global one runs it.
#[test]
fn the_global_runtime_needs_nothing() {
    let cown = Cown::new(20);
    when(&cown, |n| *n += 1);
    assert_eq!(ask(&cown, |n| *n * 2).wait(), Ok(42));
    assert!(Runtime::global().workers() >= 1);
}

fn where_it_runs(cown: &Cown<()>) -> String {
    ask(cown, |_| thread::current().name().unwrap().to_owned()).wait().unwrap()
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
    let nested = ask(&b, |_| Cown::new(())).wait().unwrap();
    assert_eq!(where_it_runs(&nested), "two-0");
}

/// On the runtime of the first member; ordered with everything else on all of the cowns.
#[test]
fn sets_may_mix_runtimes() {
    let [one, two] =
        ["one", "two"].map(|name| Runtime::builder().workers(2).name(name).build().unwrap());
    let (a, b) = (one.run(|| Cown::new(0)), two.run(|| Cown::new(0)));
    let on = |set: (&Cown<i32>, &Cown<i32>)| {
        ask(set, |_| thread::current().name().unwrap()[..3].to_owned()).wait().unwrap()
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
    assert_eq!(ask((a.read(), b.read()), |(a, b)| (*a, *b)).wait(), Ok((1000, 1000)));
}

#[test]
fn run_returns_when_no_work_is_left() {
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
fn run_waits_for_futures_jobs_and_timers() {
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
    assert_eq!(ask(&cown, |n| *n).wait(), Ok(1));
}

#[test]
fn a_shutdown_in_time_is_complete() {
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
fn a_shutdown_past_its_deadline_abandons_and_frees() {
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
fn queued_behaviours_are_cancelled() {
    let runtime = runtime(1, &Faults::new());
    let (release, gate) = mpsc::channel::<()>();
    let cown = runtime.run(|| Cown::new(0));
    let (started, has_started) = Promise::channel();
    when(&cown, move |_| {
        started.resolve(());
        let _ = gate.recv_timeout(PATIENCE);
    });
    has_started.wait().unwrap();
    let queued: Vec<_> = (0..10_000).map(|_| ask(&cown, |n| *n += 1)).collect();
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

/// A behaviour that does not end: the report says that its worker is stuck.
#[test]
fn a_worker_in_a_behaviour_without_end_is_reported() {
    let runtime = runtime(1, &Faults::new());
    let (release, gate) = mpsc::channel::<()>();
    let cown = runtime.run(|| Cown::new(()));
    let (started, has_started) = Promise::channel();
    let ended = ask(&cown, move |_| {
        started.resolve(());
        gate.recv_timeout(PATIENCE).is_err()
    });
    has_started.wait().unwrap();
    let queued = ask(&cown, |_| ());
    let report = runtime.shutdown(Duration::ZERO);
    assert_eq!(report.stuck_workers, 1);
    assert!(report.to_string().contains("1 workers still in a behaviour"));
    drop(release);
    assert_eq!(ended.wait(), Ok(true));
    assert_eq!(queued.wait(), Err(Broken::Cancelled));
}

#[test]
fn after_a_shutdown_nothing_is_spawned_and_everything_is_told_so() {
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
    batch().when(&cown, capture()).spawn();
    assert_eq!(ask(&cown, |_| ()).wait(), Err(Broken::Cancelled));
    let error = try_when(&cown, capture()).unwrap_err();
    assert_eq!(error.refusal, Refusal::Closed);
    assert_eq!(error.to_string(), "the runtime that the cowns belong to is shut down");
    drop(error);
    assert_eq!(try_ask(&cown, |_| ()).unwrap_err().refusal, Refusal::Closed);
    let (_, error) = batch().try_when(&cown, capture()).unwrap_err();
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
        let met = both.attend();
        let _ = has_stopped.recv_timeout(PATIENCE);
        let future = spawn_future(async { 1 });
        let blocked = blocking(|| 2);
        let slept = sleep(Duration::from_secs(86_400));
        tell.resolve((met, future, blocked, slept));
    }));
    assert!(waiting.attend());
    drop(entered);
    let report = runtime.shutdown(Duration::ZERO);
    drop(go_on);
    let (met, future, blocked, slept) = told.wait().unwrap();
    assert!(met);
    assert_eq!(future.wait(), Err(Broken::Cancelled));
    assert_eq!(blocked.wait(), Err(Broken::Cancelled));
    slept.wait().unwrap_err();
    let _ = (report, cown);
}

#[test]
fn dropping_a_runtime_stops_it() {
    let runtime = runtime(2, &Faults::new());
    let cown = runtime.run(|| Cown::new(()));
    drop(runtime);
    assert_eq!(try_when(&cown, |_| ()).unwrap_err().refusal, Refusal::Closed);
}

/// A behaviour may own the last handle of its own runtime: it must not wait for itself.
#[test]
fn a_behaviour_may_drop_its_runtime() {
    let owned = Arc::new(std::sync::Mutex::new(None));
    let runtime = runtime(1, &Faults::new());
    let cown = runtime.run(|| Cown::new(()));
    *owned.lock().unwrap() = Some(runtime);
    let dropped = ask(&cown, move |_| drop(owned.lock().unwrap().take()));
    assert_eq!(dropped.wait(), Ok(()));
    assert_eq!(try_when(&cown, |_| ()).unwrap_err().refusal, Refusal::Closed);
    assert_eq!(ask(&cown, |_| ()).wait(), Err(Broken::Cancelled));
}
