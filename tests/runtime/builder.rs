//! Settings, and what is wrong with some.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use coact::prelude::*;
use coact_tests::{Log, Meeting, fail};

/// The names of the threads on which so many behaviours run at the same time.
fn names(runtime: &Runtime, count: usize) -> BTreeSet<String> {
    let names = Arc::new(Mutex::new(BTreeSet::new()));
    let all = Meeting::of(count);
    runtime.run(|| {
        for _ in 0..count {
            let (names, all) = (Arc::clone(&names), all.clone());
            when((), move |()| {
                assert!(all.attend());
                names.lock().unwrap().insert(thread::current().name().unwrap().to_owned());
            });
        }
    });
    Arc::into_inner(names).unwrap().into_inner().unwrap()
}

#[test]
fn impossible_settings_are_typed_errors() {
    assert!(matches!(Runtime::builder().workers(0).build(), Err(BuildError::Workers(0))));
    assert!(matches!(Runtime::builder().workers(5000).build(), Err(BuildError::Workers(5000))));
    assert!(matches!(Runtime::builder().throughput(0).build(), Err(BuildError::Throughput)));
    let message = Runtime::builder().workers(0).build().unwrap_err().to_string();
    assert_eq!(message, "a runtime has 1 to 4096 workers, not 0");
}

/// The system refuses a stack of that size. What was started is stopped again.
#[test]
fn a_thread_that_the_system_refuses_is_a_typed_error() {
    let result = Runtime::builder().workers(2).stack_size(1 << 60).build();
    let Err(BuildError::Thread(error)) = result else { panic!("no such stack exists") };
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
    assert_eq!(runtime.run(|| ask((), |()| 1)).wait(), Ok(1));
    assert!(runtime.shutdown(Duration::ZERO).is_complete());
}

/// Frames that would not fit into a stack of the usual size.
#[test]
fn stacks_are_as_large_as_asked_for() {
    fn deep(depth: usize) -> usize {
        let frame = std::hint::black_box([depth; 1024]);
        if depth == 0 { 0 } else { deep(depth - 1) + frame[7] - depth + 1 }
    }
    let runtime = Runtime::builder().workers(1).stack_size(64 << 20).build().unwrap();
    assert_eq!(runtime.run(|| ask((), |()| deep(2000))).wait(), Ok(2000));
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
