//! Futures on the workers.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use coact::prelude::*;
use coact::runtime::{Fault, spawn_future};
use coact_tests::{Faults, Log, fail, runtime};

#[test]
fn a_future_gives_its_output() {
    let runtime = runtime(2, &Faults::new());
    let (cowns, sum) = runtime.run(|| {
        let cowns: Vec<Cown<u64>> = (1..=10).map(Cown::new).collect();
        let far = cowns.clone();
        let sum = spawn_future(async move {
            let mut sum = 0;
            for cown in &far {
                sum += call(cown, |n| *n).await.unwrap();
            }
            sum
        });
        (cowns, sum)
    });
    assert_eq!(sum.wait(), Ok(55));
    drop(cowns);
}

/// Yields to others this number of times.
async fn yield_often(times: u32) {
    for _ in 0..times {
        let mut first = true;
        poll_fn(|context| {
            if std::mem::take(&mut first) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(())
        })
        .await;
    }
}

#[test]
fn futures_take_turns() {
    let runtime = runtime(1, &Faults::new());
    let log = Log::new();
    runtime.run(|| {
        // Spawned from inside, so that both are there before the first turn.
        let (one, two) = (log.clone(), log.clone());
        when((), move |()| {
            for (name, log) in [("one", one), ("two", two)] {
                drop(spawn_future(async move {
                    for _ in 0..1000 {
                        log.push(name);
                        yield_often(1).await;
                    }
                }));
            }
        });
    });
    let log = log.take();
    let first_of = |name| log.iter().position(|entry| *entry == name).unwrap();
    assert!(first_of("one").max(first_of("two")) < 999, "one ended before the other began");
}

/// A waker that is kept, and used from another thread, at any time, any number of times.
#[test]
fn wakers_may_be_used_from_any_thread() {
    #[derive(Clone, Default)]
    struct Event(Arc<Mutex<(bool, Option<Waker>)>>);
    impl Future for Event {
        type Output = ();
        fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            let mut state = self.0.lock().unwrap();
            state.1 = Some(context.waker().clone());
            if state.0 { Poll::Ready(()) } else { Poll::Pending }
        }
    }
    let runtime = runtime(2, &Faults::new());
    for _ in 0..100 {
        let event = Event::default();
        let done = {
            let _entered = runtime.enter();
            spawn_future(event.clone())
        };
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut state = event.0.lock().unwrap();
                    state.0 = true;
                    let waker = state.1.clone();
                    drop(state);
                    waker.iter().for_each(Waker::wake_by_ref);
                });
            }
        });
        assert_eq!(done.wait(), Ok(()));
        // Too late, and no harm.
        let waker = event.0.lock().unwrap().1.take();
        waker.into_iter().for_each(Waker::wake);
    }
}

#[test]
fn a_panic_of_a_future_is_caught_and_told() {
    let faults = Faults::new();
    let runtime = runtime(1, &faults);
    let future: Promise<()> = runtime.run(|| {
        spawn_future(async {
            yield_often(3).await;
            fail("in a future")
        })
    });
    assert_eq!(future.wait(), Err(Broken::Panicked("in a future".into())));
    assert!(
        matches!(&faults.take()[..], [Fault::Panicked { message, .. }] if &**message == "in a future")
    );
    assert_eq!(runtime.run(|| spawn_future(async { 1 })).wait(), Ok(1));
}

#[test]
fn a_destructor_of_a_future_that_panics() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            fail("a future's local");
        }
    }
    let faults = Faults::new();
    let runtime = runtime(1, &faults);
    // Kept by the closure, and so dropped with the future, not by its last poll.
    let bomb = Bomb;
    let future = runtime.run(|| {
        spawn_future(poll_fn(move |_| {
            let _ = &bomb;
            Poll::Ready(1)
        }))
    });
    assert_eq!(future.wait(), Ok(1));
    assert!(matches!(&faults.take()[..], [Fault::InCleanup { .. }]));
}

#[test]
fn a_future_whose_promise_is_dropped_runs_to_its_end() {
    let runtime = runtime(1, &Faults::new());
    let log = Log::new();
    runtime.run(|| {
        let log = log.clone();
        drop(spawn_future(async move {
            yield_often(5).await;
            log.push("done");
        }));
    });
    assert_eq!(log.take(), ["done"]);
}

#[test]
fn futures_may_spawn_futures() {
    fn tree(depth: u32) -> Pin<Box<dyn Future<Output = u32> + Send>> {
        Box::pin(async move {
            if depth == 0 {
                return 1;
            }
            let (left, right) = (spawn_future(tree(depth - 1)), spawn_future(tree(depth - 1)));
            left.await.unwrap() + right.await.unwrap()
        })
    }
    let runtime = runtime(4, &Faults::new());
    assert_eq!(runtime.run(|| spawn_future(tree(9))).wait(), Ok(512));
}

/// A future that is ready to run when the deadline has passed.
#[test]
fn a_busy_future_is_abandoned_at_a_shutdown() {
    let runtime = runtime(1, &Faults::new());
    let token = Arc::new(());
    let future = {
        let (_entered, kept) = (runtime.enter(), token.clone());
        spawn_future(async move {
            loop {
                yield_often(1).await;
                let _ = &kept;
            }
        })
    };
    let report = runtime.shutdown(Duration::from_millis(5));
    assert_eq!((report.abandoned, report.stuck_workers), (1, 0));
    assert_eq!(future.wait(), Err::<(), _>(Broken::Cancelled));
    assert_eq!(Arc::strong_count(&token), 1);
}

/// A future that waits for something that does not come.
#[test]
fn a_waiting_future_is_abandoned_at_a_shutdown() {
    let runtime = runtime(1, &Faults::new());
    let (token, (resolver, never)) = (Arc::new(()), Promise::<()>::channel());
    let future = {
        let (_entered, kept) = (runtime.enter(), token.clone());
        spawn_future(async move {
            let _ = never.await;
            drop(kept);
        })
    };
    let report = runtime.shutdown(Duration::from_millis(5));
    assert_eq!((report.abandoned, report.stuck_workers), (1, 0));
    let Ok(result) = future.wait_timeout(Duration::from_secs(5)) else {
        panic!("nobody was told that the future is abandoned")
    };
    assert_eq!(result, Err(Broken::Cancelled));
    assert_eq!(Arc::strong_count(&token), 1);
    drop(resolver);
}
