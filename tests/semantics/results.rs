//! A behaviour may return a value: the caller gets a promise, which is a future, can be waited for
//! outside of behaviours, and can be chained onto another set of cowns.

use std::sync::Arc;
use std::time::Duration;

use coact::prelude::*;
use coact::promise::Resolver;
use coact::runtime::spawn_future;
use coact_tests::{Faults, Log, PATIENCE, everywhere, everywhere_with_faults, fail, runtime};

#[test]
fn r1_ask_gives_what_the_behaviour_returns() {
    everywhere(|| {
        let (a, b) = (Cown::new(2), Cown::new(String::from("x")));
        assert_eq!(call((&a, b.read()), |(a, b)| b.repeat(*a)).wait(), Ok("xx".into()));
    });
}

#[test]
fn a_value_may_be_anything_that_is_send() {
    everywhere(|| {
        let unit = call((), |()| ());
        let large = call((), |()| [7_u64; 100]);
        let boxed: Promise<Box<dyn FnOnce() -> u8 + Send>> = call((), |()| Box::new(|| 3_u8) as _);
        let promise = call((), |()| Promise::ready(4));
        assert_eq!(unit.wait(), Ok(()));
        assert_eq!(large.wait(), Ok([7; 100]));
        assert_eq!((boxed.wait().unwrap())(), 3);
        assert_eq!(promise.wait().unwrap().wait(), Ok(4));
    });
}

/// The promise is kept once the behaviour has let its cowns go.
#[test]
fn r2_a_promise_is_kept_after_the_release() {
    everywhere(|| {
        let cown = Cown::new(1);
        call(&cown, |n| *n += 1).wait().unwrap();
        assert_eq!(cown.into_inner().unwrap(), 2);
    });
}

#[test]
fn wait_timeout_gives_the_value_or_the_promise() {
    let (resolver, promise) = Promise::channel();
    let Err(promise) = promise.wait_timeout(Duration::from_millis(1)) else {
        panic!("no value yet")
    };
    let Err(promise) = promise.wait_timeout(Duration::ZERO) else { panic!("no value yet") };
    let thread = std::thread::spawn(move || promise.wait_timeout(PATIENCE));
    resolver.resolve(5);
    assert!(matches!(thread.join().unwrap(), Ok(Ok(5))));
}

#[test]
fn a_wait_without_end_is_a_long_timeout() {
    let (resolver, promise) = Promise::channel();
    let thread = std::thread::spawn(move || promise.wait_timeout(Duration::MAX));
    resolver.resolve(5);
    assert!(matches!(thread.join().unwrap(), Ok(Ok(5))));
}

#[test]
fn r4_a_promise_is_awaited_in_a_future_of_the_runtime() {
    everywhere(|| {
        let (a, b) = (Cown::new(1), Cown::new(2));
        let sum = spawn_future(async move {
            let a = call(&a, |a| *a).await?;
            let b = call(&b, move |b| *b + a).await?;
            Ok::<_, Broken>(a + b)
        });
        assert_eq!(sum.wait(), Ok(Ok(4)));
    });
}

#[test]
fn r4_a_promise_is_awaited_on_tokio() {
    let runtime = runtime(2, &Faults::new());
    let cowns: Vec<Cown<u64>> = runtime.run(|| (0..50).map(Cown::new).collect());
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let sum = tokio.block_on(async move {
        let tasks: Vec<_> = cowns
            .into_iter()
            .map(|cown| tokio::spawn(async move { call(&cown, |n| *n).await.unwrap() }))
            .collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.unwrap();
        }
        sum
    });
    assert_eq!(sum, 49 * 50 / 2);
}

#[test]
fn r4_a_promise_is_awaited_on_another_executor() {
    let runtime = runtime(1, &Faults::new());
    let cown = runtime.run(|| Cown::new(3));
    let both = futures::executor::block_on(async {
        let (a, b) = futures::join!(call(&cown, |n| *n), call(&cown, |n| *n * 2));
        (a.unwrap(), b.unwrap())
    });
    assert_eq!(both, (3, 6));
}

/// Only the waker of the last poll is woken.
#[test]
fn a_promise_may_be_polled_by_one_task_and_then_by_another() {
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Wake, Waker};

    #[derive(Default)]
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    let (first, second) = (Arc::new(Count::default()), Arc::new(Count::default()));
    let (resolver, mut promise) = Promise::channel();
    let mut poll = |count: &Arc<Count>| {
        let waker = Waker::from(Arc::clone(count));
        Pin::new(&mut promise).poll(&mut Context::from_waker(&waker))
    };
    assert!(poll(&first).is_pending());
    assert!(poll(&second).is_pending());
    resolver.resolve(1);
    assert_eq!((first.0.load(Ordering::Relaxed), second.0.load(Ordering::Relaxed)), (0, 1));
    assert_eq!(poll(&first), Poll::Ready(Ok(1)));
    // Nothing is kept of the wakers.
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 1));
}

#[test]
fn r4_then_runs_on_other_cowns_with_the_value() {
    everywhere(|| {
        let (source, sink) = (Cown::new(20), Cown::new(1));
        let product = call(&source, |n| *n + 1).then(&sink, |sink, n| {
            *sink *= n.unwrap();
            *sink * 2
        });
        assert_eq!(product.wait(), Ok(42));
        assert_eq!(call(&sink, |sink| *sink).wait(), Ok(21));
    });
}

#[test]
fn r4_then_can_be_chained_and_used_inside_of_behaviours() {
    everywhere(|| {
        let (a, b, log) = (Cown::new(1), Cown::new(10), Cown::new(Vec::new()));
        let (far_a, far_b, far_log) = (a.clone(), b.clone(), log.clone());
        let done = call((), move |()| {
            call(&far_a, |a| *a)
                .then(&far_b, |b, a| *b + a.unwrap())
                .then((&far_log, far_a.read()), |(log, a), sum| log.push((sum.unwrap(), *a)))
        });
        done.wait().unwrap().wait().unwrap();
        assert_eq!(call(&log, |log| log.clone()).wait(), Ok(vec![(11, 1)]));
    });
}

#[test]
fn then_is_told_of_the_error() {
    everywhere_with_faults(|_| {
        let sink = Cown::new(0);
        let failed: Promise<i32> = call((), |()| fail("no value"));
        let seen = failed.then(&sink, |_, value| value);
        assert_eq!(seen.wait(), Ok(Err(Broken::Panicked("no value".into()))));
    });
}

/// A chained behaviour takes its place when the value is there, not when it is chained.
#[test]
fn o5_then_takes_its_place_when_the_value_is_there() {
    everywhere(|| {
        let log = Cown::new(Vec::new());
        let (resolver, promise) = Promise::channel();
        let done = promise.then(&log, |log, value| log.push(value.unwrap()));
        when(&log, |log| log.push("meanwhile"));
        resolver.resolve("later");
        done.wait().unwrap();
        assert_eq!(call(&log, |log| log.clone()).wait(), Ok(vec!["meanwhile", "later"]));
    });
}

/// A chain as long as one likes does not fill the stack.
#[test]
fn a_long_chain_of_thens() {
    everywhere(|| {
        let count = Cown::new(0);
        let (resolver, promise) = Promise::channel();
        let mut last = promise;
        for _ in 0..20_000 {
            last = last.then(&count, |count, _| *count += 1).then((), |(), done| done.unwrap());
        }
        resolver.resolve(());
        last.wait().unwrap();
        assert_eq!(call(&count, |count| *count).wait(), Ok(20_000));
    });
}

#[test]
fn r1_a_dropped_resolver_breaks_the_promise() {
    let (resolver, promise) = Promise::<u8>::channel();
    drop(resolver);
    assert_eq!(promise.wait(), Err(Broken::Dropped));
    assert_eq!(Broken::Dropped.to_string(), "the resolver was dropped without a value");
}

#[test]
fn r1_a_resolver_that_a_behaviour_drops_breaks_the_promise() {
    everywhere_with_faults(|_| {
        let (cown, (resolver, promise)) = (Cown::new(()), Promise::<u8>::channel());
        when(&cown, move |_| {
            let _resolver = resolver;
            fail("before the value");
        });
        assert_eq!(promise.wait(), Err(Broken::Dropped));
        let (resolver, promise) = Promise::<u8>::channel();
        when(&cown, move |_| resolver.resolve(1));
        // Skipped: the cown is poisoned.
        assert_eq!(promise.wait(), Err(Broken::Dropped));
    });
}

#[test]
fn r1_a_resolver_can_fail() {
    let (resolver, promise) = Promise::<u8>::channel();
    resolver.fail(Broken::Cancelled);
    assert_eq!(promise.wait(), Err(Broken::Cancelled));
}

#[test]
fn r3_work_whose_promise_is_dropped_is_done_all_the_same() {
    everywhere(|| {
        let cown = Cown::new(0);
        drop(call(&cown, |n| *n += 1));
        drop(call(&cown, |n| *n += 1).then(&cown, |n, _| *n += 1));
        coact_tests::finally(move || assert_eq!(cown.into_inner().unwrap(), 3));
    });
}

#[test]
fn the_resolver_knows_when_nobody_waits() {
    let (resolver, promise) = Promise::<u8>::channel();
    assert!(!resolver.is_abandoned());
    drop(promise);
    assert!(resolver.is_abandoned());
    resolver.resolve(1);
}

/// Values that are not taken are dropped once.
#[test]
fn values_are_dropped_once() {
    everywhere(|| {
        let (dropped, cown) = (Log::new(), Cown::new(()));
        let value = |name| Note(name, dropped.clone());
        let (untaken, taken) = (value("untaken"), value("taken"));
        drop(call(&cown, move |_| untaken));
        let taken = call(&cown, move |_| taken).wait().unwrap();
        let (resolver, promise) = Promise::channel();
        drop(promise);
        resolver.resolve(value("late"));
        let never = value("never");
        drop(call(&cown, move |_| never).then(&cown, |_, value| drop(value)));
        call(&cown, |_| ()).wait().unwrap();
        drop(taken);
        coact_tests::finally(move || {
            let mut dropped = dropped.take();
            dropped.sort_unstable();
            assert_eq!(dropped, ["late", "never", "taken", "untaken"]);
        });
    });

    struct Note(&'static str, Log<&'static str>);
    impl Drop for Note {
        fn drop(&mut self) {
            self.1.push(self.0);
        }
    }
}

/// A resolver that calls is called once, whatever becomes of it, and frees what it has captured.
#[test]
fn a_resolver_without_a_promise_calls_with_what_it_is_given() {
    let told = Log::new();
    let captured = Arc::new(());
    let resolver = || {
        let (told, captured) = (told.clone(), Arc::clone(&captured));
        Resolver::calling(move |value: Result<String, Broken>| {
            drop(captured);
            told.push(value);
        })
    };
    assert!(!resolver().is_abandoned());
    assert_eq!(told.take(), [Err(Broken::Dropped)]);
    resolver().resolve("kept".into());
    resolver().fail(Broken::Cancelled);
    std::thread::scope(|scope| {
        let resolver = resolver();
        scope.spawn(move || resolver.resolve("from elsewhere".into()));
    });
    assert_eq!(
        told.take(),
        [Ok("kept".into()), Err(Broken::Cancelled), Ok("from elsewhere".into())]
    );
    assert_eq!(Arc::strong_count(&captured), 1);
}
