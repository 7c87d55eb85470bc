//! An idle runtime gives back the memory that a burst has needed. Alone in its process: the pool
//! counts the slabs of all runtimes.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use coact::prelude::*;
use coact_sync::pool;
use coact_tests::PATIENCE;

/// So many behaviours wait at once.
const BURST: usize = 500_000;

/// What the pool may keep: a depot below a quarter of a mebibyte is left alone, and there are some
/// of them.
const KEPT: usize = 2 << 20;

/// A burst that has been worked off by `run`, and after which `rest` lets time pass: what is kept
/// in the end.
fn kept_after_a_burst(run: impl FnOnce(), rest: impl Fn(Duration)) -> usize {
    let cown = Cown::new(0_usize);
    (0..BURST).for_each(|_| when(&cown, |n| *n += 1));
    let full = pool::stats().reserved_bytes;
    assert!(full >= BURST * 16, "{full} bytes for {BURST} behaviours that wait");
    run();
    assert_eq!(cown.into_inner().unwrap(), BURST);
    let until = Instant::now() + PATIENCE;
    while pool::stats().reserved_bytes > KEPT && Instant::now() < until {
        rest(Duration::from_millis(20));
    }
    pool::stats().reserved_bytes
}

#[test]
fn an_idle_runtime_gives_back_what_a_burst_has_needed() {
    for workers in [1, 3] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        let _entered = runtime.enter();
        // Nothing runs while the burst is spawned.
        let all = (0..workers).map(|_| {
            let (go, wait) = mpsc::channel::<()>();
            when(&Cown::new(()), move |_| wait.recv().unwrap());
            go
        });
        let all: Vec<_> = all.collect();
        let run = || {
            all.iter().for_each(|go| go.send(()).unwrap());
            runtime.wait_idle();
        };
        let kept = kept_after_a_burst(run, thread::park_timeout);
        assert!(kept <= KEPT, "{kept} bytes are kept with {workers} workers");
    }
    // What a pump has needed is given back while it waits.
    let pump = Runtime::builder().build_pumped().unwrap();
    let _entered = pump.enter();
    let wait = |_| pump.run_future(pump.runtime().sleep(Duration::from_secs(2))).unwrap();
    let kept = kept_after_a_burst(|| pump.run_until_idle(&[]), wait);
    assert!(kept <= KEPT, "{kept} bytes are kept with a pump");
}
