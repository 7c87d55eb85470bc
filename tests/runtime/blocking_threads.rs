//! Runtimes whose behaviours may block.

use std::collections::HashSet;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use coact::credits::Credits;
use coact::prelude::*;
use coact_tests::{Log, Meeting, PATIENCE};

fn runtime(threads: usize) -> Runtime {
    Runtime::builder().name("files").on_blocking_threads(threads).build().unwrap()
}

#[test]
fn h6_behaviours_on_different_cowns_block_side_by_side() {
    let runtime = runtime(20);
    let all = Meeting::of(20);
    let met = runtime.run(|| {
        let meet = |_| {
            let all = all.clone();
            call(&Cown::new(()), move |_| all.wait())
        };
        (0..20).map(meet).collect::<Vec<_>>()
    });
    assert!(met.into_iter().all(|met| met.wait() == Ok(true)));
}

#[test]
fn h6_waiting_is_allowed() {
    let (runtime, workers) = (runtime(2), Runtime::builder().workers(1).build().unwrap());
    let there = workers.run(|| Cown::new(20));
    let credits = Credits::new(1);
    let permit = credits.acquire_blocking(1);
    let here = runtime.run(|| Cown::new(0));
    let sum = call(&here, {
        let credits = credits.clone();
        move |n| {
            *n = call(&there, |n| *n + 1).wait().unwrap();
            drop(credits.acquire_blocking(1));
            *n * 2
        }
    });
    drop(permit);
    assert_eq!(sum.wait(), Ok(42));
}

#[test]
fn h6_the_order_of_a_cown_is_kept_and_the_bound_too() {
    let (runtime, threads) = (runtime(3), Log::new());
    let cowns = runtime.run(|| (0..8).map(|_| Cown::new(Vec::new())).collect::<Vec<_>>());
    runtime.run(|| {
        for n in 0..500 {
            for cown in &cowns {
                let threads = threads.clone();
                when(cown, move |seen| {
                    threads.push(thread::current().id());
                    seen.push(n);
                });
            }
        }
    });
    for cown in cowns {
        assert_eq!(cown.into_inner().unwrap(), (0..500).collect::<Vec<_>>());
    }
    assert!(threads.take().into_iter().collect::<HashSet<_>>().len() <= 3);
}

#[test]
fn sets_over_hosts_run_where_their_first_member_is_at_home() {
    let (runtime, workers) = (runtime(2), Runtime::builder().name("w").build().unwrap());
    let (here, there) = (runtime.run(|| Cown::new(())), workers.run(|| Cown::new(())));
    let name = |_: &mut ()| thread::current().name().unwrap().to_owned();
    let on_both = call((&here, &there), move |(here, _)| name(here)).wait().unwrap();
    assert!(on_both.starts_with("files-blocking-"), "{on_both}");
    assert!(call((&there, &here), move |(there, _)| name(there)).wait().unwrap().starts_with("w-"));
}

#[test]
fn idle_threads_end() {
    let (send, ended) = mpsc::channel();
    let runtime = Runtime::builder()
        .on_blocking_threads(4)
        .blocking_keep_alive(Duration::from_millis(1))
        .on_stop(move || {
            let _ = send.send(());
        })
        .build()
        .unwrap();
    for _ in 0..3 {
        let cown = runtime.run(|| {
            let cown = Cown::new(0);
            when(&cown, |n| *n += 1);
            cown
        });
        ended.recv_timeout(PATIENCE).expect("the thread has nothing to do, and does not end");
        assert_eq!(cown.into_inner(), Ok(1));
    }
}

#[test]
fn a_shutdown_waits_then_cancels_and_tells_who_is_stuck() {
    let runtime = runtime(1);
    let cown = runtime.run(|| Cown::new(0));
    let ((release, gate), (started, has_started)) = (mpsc::channel::<()>(), Promise::channel());
    let stuck = call(&cown, move |_| {
        started.resolve(());
        gate.recv_timeout(PATIENCE).is_err()
    });
    has_started.wait().unwrap();
    let behind = [call(&cown, |n| *n), call(&cown, |n| *n)];
    let report = runtime.shutdown(Duration::ZERO);
    assert_eq!(report.stuck_workers, 1);
    drop(release);
    assert_eq!(stuck.wait(), Ok(true));
    assert_eq!(behind.map(Promise::wait), [Err(Broken::Cancelled), Err(Broken::Cancelled)]);
    assert!(try_when(&cown, |_| ()).is_err());
    assert_eq!(call(&cown, |n| *n).wait(), Err(Broken::Cancelled));
}

#[test]
fn what_is_queued_is_dropped_by_a_shutdown() {
    let runtime = runtime(1);
    let (a, b) = runtime.run(|| (Cown::new(0), Cown::new(0)));
    let ((release, gate), (started, has_started)) = (mpsc::channel::<()>(), Promise::channel());
    when(&a, move |_| {
        started.resolve(());
        let _ = gate.recv_timeout(PATIENCE);
    });
    has_started.wait().unwrap();
    let waiting: Vec<_> = (0..100).map(|_| call((&a, &b), |_| ())).collect();
    let stopper = thread::spawn(move || runtime.shutdown(Duration::from_millis(1)));
    while !b.runtime().is_cancelled() {
        thread::yield_now();
    }
    drop(release);
    let report = stopper.join().unwrap();
    assert_eq!((report.abandoned, report.stuck_workers), (100, 0));
    assert!(waiting.into_iter().all(|promise| promise.wait() == Err(Broken::Cancelled)));
}

/// Two members of a group that send each other one message for ever.
fn play(from: Cown<u64>, to: Cown<u64>) {
    let next = to.clone();
    when(&from, {
        let from = from.clone();
        move |n| {
            *n += 1;
            play(next, from);
        }
    });
}

#[test]
fn a_group_that_never_ends_leaves_its_thread_to_others() {
    let runtime = runtime(1);
    let _entered = runtime.enter();
    let (group, other) = (Group::new(), Cown::new(1));
    let players = [group.cown(0), group.cown(0)];
    play(players[0].clone(), players[1].clone());
    let turn = call(&other, |n| *n).wait_timeout(PATIENCE);
    drop(_entered);
    let report = runtime.shutdown(Duration::from_millis(10));
    assert!(matches!(turn, Ok(Ok(1))), "others had no turn");
    assert_eq!(report.stuck_workers, 0);
}

/// Its end needs no thread, since it has none.
#[test]
fn an_unused_runtime_has_ended_after_its_shutdown() {
    let runtime = runtime(2);
    let handle = runtime.handle();
    let _busy = handle.hold_open();
    let report = runtime.shutdown(Duration::from_millis(1));
    assert_eq!(report.stuck_workers, 0);
    assert!(Runtime::wait_idle_all_timeout(&[handle], PATIENCE), "it counts as alive");
}
