//! Settings, and what is wrong with some.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use coact::prelude::*;
use coact::runtime::{BuildError, may_block};
use coact_tests::{Log, Meeting, PATIENCE, fail};

/// The names of the threads on which this number of behaviours run at the same time.
fn names(runtime: &Runtime, count: usize) -> BTreeSet<String> {
    let names = Log::new();
    let all = Meeting::of(count);
    runtime.run(|| {
        for _ in 0..count {
            let (names, all) = (names.clone(), all.clone());
            when((), move |()| {
                assert!(all.wait());
                names.push(thread::current().name().unwrap().to_owned());
            });
        }
    });
    names.take().into_iter().collect()
}

#[test]
fn impossible_settings_are_typed_errors() {
    assert!(matches!(Runtime::builder().workers(0).build(), Err(BuildError::Workers(0))));
    assert!(matches!(Runtime::builder().workers(5000).build(), Err(BuildError::Workers(5000))));
    assert!(matches!(Runtime::builder().throughput(0).build(), Err(BuildError::Throughput)));
    let result = Runtime::builder().name("a\0b").build();
    assert!(matches!(result, Err(BuildError::Name(name)) if name == "a\0b"));
    let message = Runtime::builder().workers(0).build().unwrap_err().to_string();
    assert_eq!(message, "a runtime has 1 to 4096 workers, not 0");
}

/// The system refuses a stack of that size. What was started is stopped again.
#[test]
fn a_thread_that_the_system_refuses_is_a_typed_error() {
    let start = Instant::now();
    let result = Runtime::builder().workers(2).stack_size(1 << 60).build();
    let Err(BuildError::Thread(error)) = result else { panic!("no such stack exists") };
    // There is no wait for workers that never were.
    assert!(start.elapsed() < Duration::from_millis(900), "{:?}", start.elapsed());
    assert!(BuildError::Thread(error).to_string().starts_with("could not start a worker thread"));
}

#[test]
fn workers_have_names_and_are_as_many_as_asked_for() {
    let runtime = Runtime::builder().workers(3).name("bank").build().unwrap();
    assert_eq!(runtime.workers(), 3);
    let expected = ["bank-0", "bank-1", "bank-2"].map(String::from);
    assert_eq!(names(&runtime, 3), BTreeSet::from(expected));
}

#[test]
fn hooks_run_on_each_worker() {
    let (started, stopped) = (Log::new(), Log::new());
    let (on_start, on_stop) = (started.clone(), stopped.clone());
    let here = || thread::current().name().unwrap_or_default().to_owned();
    let runtime = Runtime::builder()
        .workers(2)
        .name("hooks")
        .on_start(move || on_start.push(here()))
        .on_stop(move || on_stop.push(here()))
        .build()
        .unwrap();
    runtime.run(|| when((), |()| ()));
    assert!(stopped.is_empty());
    assert!(runtime.shutdown(Duration::ZERO).is_complete());
    for hook in [started, stopped] {
        let mut names = hook.take();
        names.sort();
        assert_eq!(names, ["hooks-0", "hooks-1"]);
    }
}

#[test]
fn hooks_that_panic_are_survived() {
    let builder = Runtime::builder().workers(1).on_start(|| fail("at the start"));
    let runtime = builder.on_stop(|| fail("at the end")).build().unwrap();
    assert_eq!(runtime.run(|| call((), |()| 1)).wait(), Ok(1));
    assert!(runtime.shutdown(Duration::ZERO).is_complete());
}

/// A worker that waits before it works could wait for itself.
#[test]
fn hooks_of_workers_are_refused_what_would_block() {
    let builder = Runtime::builder().workers(1);
    let (at_start, seen) = (Log::new(), Log::new());
    let (log, around) = (at_start.clone(), seen.clone());
    let runtime = builder
        .on_start(move || {
            log.push(may_block());
            call(&Cown::new(1), |n| *n).wait().unwrap();
        })
        .around_threads(move |run| {
            around.push(may_block());
            run();
            around.push(may_block());
        })
        .build()
        .unwrap();
    assert_eq!(runtime.run(|| call((), |()| may_block())).wait(), Ok(false));
    assert!(runtime.shutdown(PATIENCE).is_complete());
    assert_eq!((at_start.take(), seen.take()), (vec![false], vec![false, false]));
}

/// Frames that would not fit into a stack of the usual size.
#[test]
fn stacks_are_as_large_as_asked_for() {
    fn deep(depth: usize) -> usize {
        let frame = std::hint::black_box([depth; 1024]);
        if depth == 0 { 0 } else { deep(depth - 1) + frame[7] - depth + 1 }
    }
    let runtime = Runtime::builder().workers(1).stack_size(64 << 20).build().unwrap();
    assert_eq!(runtime.run(|| call((), |()| deep(2000))).wait(), Ok(2000));
}

#[test]
fn pinned_workers_run() {
    let runtime = Runtime::builder().workers(3).pin(true).build().unwrap();
    assert_eq!(names(&runtime, 3).len(), 3);
}

/// How many behaviours in a row a worker runs on one cown.
#[test]
fn throughput_says_when_others_get_their_turn() {
    let runtime = Runtime::builder().workers(1).throughput(3).build().unwrap();
    let log = Log::new();
    runtime.run(|| {
        let (busy, other, log) = (Cown::new(()), Cown::new(()), log.clone());
        when((), move |()| {
            let (b, o) = (log.clone(), log.clone());
            let again = busy.clone();
            when(&busy, move |_| {
                for _ in 0..12 {
                    let b = b.clone();
                    when(&again, move |_| b.push("busy"));
                }
                when(&other, move |_| o.push("other"));
            });
        });
    });
    let log = log.take();
    let place = log.iter().position(|name| *name == "other").unwrap();
    assert!(place <= 3, "the other cown waited for {place} behaviours: {log:?}");
}

#[test]
fn each_worker_counts_once() {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let builder =
        Runtime::builder().workers(8).on_start(move || _ = seen.fetch_add(1, Ordering::Relaxed));
    drop(builder.build().unwrap());
    assert_eq!(count.load(Ordering::Relaxed), 8);
}

/// What is put around a thread's life.
mod around {
    use std::sync::Mutex;

    use coact::prelude::*;
    use coact::runtime::{Builder, Fault, blocking};
    use coact_tests::{Faults, Log, fail};

    fn with(
        faults: &Faults,
        wrapper: impl Fn(&mut dyn FnMut()) + Send + Sync + 'static,
    ) -> Builder {
        let faults = faults.clone();
        let hook = move |fault: &Fault| faults.push(fault.clone());
        Runtime::builder().workers(1).panic_hook(hook).around_threads(wrapper)
    }

    #[test]
    fn the_life_of_a_thread_is_inside() {
        let (log, faults) = (Log::new(), Faults::new());
        let push = |what: &'static str| {
            let log = log.clone();
            move || log.push(what)
        };
        let (before, after) = (push("before"), push("after"));
        let builder = with(&faults, move |run| {
            before();
            run();
            after();
        });
        let runtime = builder.on_start(push("start")).on_stop(push("stop")).build().unwrap();
        let far = log.clone();
        runtime.run(|| when((), move |()| far.push("behaviour")));
        drop(runtime);
        assert_eq!(log.take(), ["before", "start", "behaviour", "stop", "after"]);
        assert!(faults.is_empty());
    }

    #[test]
    fn threads_live_without_it_if_it_fails() {
        for way in 0..4 {
            let faults = Faults::new();
            let builder = with(&faults, move |run| match way {
                0 => {}
                1 => fail("before"),
                2 => {
                    run();
                    run();
                }
                _ => {
                    run();
                    fail("after")
                }
            });
            let runtime = builder.build().unwrap();
            let cown = runtime.run(|| {
                let cown = Cown::new(0);
                when(&cown, |n| *n += 1);
                assert_eq!(blocking(|| 1).wait(), Ok(1));
                cown
            });
            assert_eq!(cown.into_inner(), Ok(1));
            let report = runtime.shutdown(std::time::Duration::from_secs(60));
            assert!(report.is_complete(), "{report}");
            let failed = |fault| matches!(fault, Fault::InCleanup { .. });
            let faults = faults.take();
            assert!(faults.len() == [0, 2, 0, 2][way] && faults.into_iter().all(failed), "{way}");
        }
    }

    #[test]
    fn siblings_have_it_too() {
        static SEEN: Mutex<Vec<Option<String>>> = Mutex::new(Vec::new());
        let builder = with(&Faults::new(), |run| {
            run();
            SEEN.lock().unwrap().push(std::thread::current().name().map(str::to_owned));
        });
        let group_root = builder.name("group_root").build().unwrap();
        let sibling =
            Runtime::builder().workers(1).name("sibling").grouped_with(group_root.handle());
        drop((sibling.build().unwrap(), group_root));
        let mut seen = SEEN.lock().unwrap().clone();
        seen.sort();
        assert_eq!(seen, [Some("group_root-0".to_owned()), Some("sibling-0".to_owned())]);
    }
}
