//! Blocking jobs, on a pool of threads that grows and shrinks.

use std::collections::HashSet;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use coact::prelude::*;
use coact::runtime::{Fault, blocking};
use coact_tests::{Faults, Log, Meeting, PATIENCE, fail, runtime};

#[test]
fn a_job_gives_its_result() {
    let runtime = runtime(1, &Faults::new());
    let cown = runtime.run(|| {
        let cown = Cown::new(1);
        drop(blocking(|| 41).then(&cown, |n, job| *n += job.unwrap()));
        cown
    });
    assert_eq!(cown.into_inner().unwrap(), 42);
}

/// Beside one worker, as many as need be.
#[test]
fn the_pool_grows() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    let all = Meeting::of(20);
    let jobs: Vec<_> = (0..20)
        .map(|_| {
            let all = all.clone();
            blocking(move || all.wait())
        })
        .collect();
    assert!(jobs.into_iter().all(|met| met.wait() == Ok(true)));
}

#[test]
fn the_pool_has_a_bound() {
    let runtime = Runtime::builder().workers(1).max_blocking(2).build().unwrap();
    let threads = Log::new();
    runtime.run(|| {
        for _ in 0..50 {
            let threads = threads.clone();
            drop(blocking(move || threads.push(thread::current().id())));
        }
    });
    let threads = threads.take();
    assert_eq!(threads.len(), 50);
    assert!(threads.into_iter().collect::<HashSet<_>>().len() <= 2);
}

#[test]
fn idle_threads_are_used_again() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    let threads: HashSet<_> =
        (0..50).map(|_| blocking(|| thread::current().id()).wait().unwrap()).collect();
    // One at a time: a thread that is returning may be missed.
    assert!(threads.len() < 10, "{} threads for one job at a time", threads.len());
}

#[test]
fn jobs_may_wait_and_spawn() {
    let runtime = runtime(1, &Faults::new());
    let sum = runtime.run(|| {
        blocking(|| {
            // In the same runtime.
            let cown = Cown::new(5);
            when(&cown, |n| *n += 1);
            call(&cown, |n| *n).wait().unwrap()
        })
    });
    assert_eq!(sum.wait(), Ok(6));
}

#[test]
fn behaviours_may_start_jobs() {
    let runtime = runtime(1, &Faults::new());
    let job =
        runtime.run(|| call((), |()| blocking(|| thread::current().name().map(str::to_owned))));
    let name = job.wait().unwrap().wait().unwrap().unwrap();
    assert!(name.starts_with("test-blocking"), "{name}");
}

#[test]
fn a_panic_of_a_job_is_caught_and_told() {
    let faults = Faults::new();
    let runtime = runtime(1, &faults);
    let job: Promise<()> = runtime.run(|| blocking(|| fail("in a job")));
    assert_eq!(job.wait(), Err(Broken::Panicked("in a job".into())));
    assert!(
        matches!(&faults.take()[..], [Fault::Panicked { message, .. }] if &**message == "in a job")
    );
    assert_eq!(runtime.run(|| blocking(|| 1)).wait(), Ok(1));
}

#[test]
fn jobs_that_have_not_started_are_abandoned_at_a_shutdown() {
    let runtime = Runtime::builder().workers(1).max_blocking(1).build().unwrap();
    let entered = runtime.enter();
    let ((release, gate), (started, has_started)) = (mpsc::channel::<()>(), Promise::channel());
    let running = blocking(move || {
        started.resolve(());
        gate.recv_timeout(PATIENCE).is_err()
    });
    has_started.wait().unwrap();
    let waiting = [blocking(|| 1), blocking(|| 2)];
    drop(entered);
    let report = runtime.shutdown(Duration::ZERO);
    assert_eq!(report.abandoned, 2);
    assert_eq!(waiting.map(Promise::wait), [Err(Broken::Cancelled), Err(Broken::Cancelled)]);
    drop(release);
    assert_eq!(running.wait(), Ok(true));
}
