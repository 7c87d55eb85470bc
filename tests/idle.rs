//! An idle runtime uses no processor time. Alone in its process, so that nothing else is measured.

use std::thread;
use std::time::Duration;

use coact::prelude::*;
use coact::runtime::{blocking, spawn_future};
use coact_tests::{Executor, Faults, hosted_runtime, process_time};

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "idleness is what is measured, and it needs time to pass"
)]
fn p5_an_idle_runtime_uses_no_processor_time() {
    let runtime = Runtime::builder().workers(4).build().unwrap();
    // Everything has been in use: all workers, the timers' thread, the blocking pool.
    let cown = runtime.run(|| {
        let cown = Cown::new(0);
        (0..1000).for_each(|_| when(&Cown::new(()), |_| ()));
        after(Duration::from_millis(1), &cown, |n| *n += 1);
        drop(blocking(|| ()));
        cown
    });
    // So have workers without threads of their own, and the thread that stands in for those.
    let executor = Executor::new(2);
    let hosted = hosted_runtime(2, &executor, &Faults::new());
    hosted.run(|| (0..1000).for_each(|_| when(&Cown::new(()), |_| ())));
    // A timer that is far away, and a future that waits, are no reason to look around either.
    let _entered = runtime.enter();
    let timer = after(Duration::from_secs(3600), &cown, |_| ());
    let (resolver, promise) = Promise::<()>::channel();
    let waiting = spawn_future(promise);
    // Workers watch over each other for some milliseconds before they sleep for good.
    thread::sleep(Duration::from_millis(100));
    let before = process_time();
    thread::sleep(Duration::from_millis(300));
    let used = process_time() - before;
    assert!(used < Duration::from_millis(5), "{used:?} in 300 ms of idleness");
    assert!(timer.cancel());
    resolver.resolve(());
    assert_eq!(waiting.wait(), Ok(Ok(())));
    assert_eq!(cown.into_inner().unwrap(), 1);
}
