//! Whatever owns the next one of its kind, a hundred thousand times over, is dropped on a small
//! stack.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use coact::Broken;
use coact::WeakCown;
use coact::behaviour::Batch;
use coact::internals::{Gate, Interruptible};
use coact::prelude::*;
use coact::promise::Resolver;
use coact::runtime::{OnCancel, RuntimeHandle};
use coact::time::{Sleep, Timer, sleep};
use coact_tests::{Faults, Log, PATIENCE, runtime};

const DEEP: usize = 100_000;

/// A state that owns the next one, and, if it is the innermost, does something when it is dropped.
struct Link {
    _next: Option<Cown<Link>>,
    last: Option<Wait>,
}

/// Waits for something, and tells whether that has come.
struct Wait {
    wait: fn() -> bool,
    tell: Sender<bool>,
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(Wait { wait, tell }) = &self.last {
            tell.send(wait()).unwrap();
        }
    }
}

/// What is put aside deep inside of other destructors may be what the innermost waits for.
#[test]
fn who_waits_deep_inside_of_destructors_is_told() {
    let waits: [fn() -> bool; 3] = [
        || {
            let (resolver, promise) = Promise::<()>::channel();
            drop(resolver);
            promise.wait() == Err(Broken::Dropped)
        },
        || {
            let (resolver, promise) = Promise::<()>::channel();
            drop(resolver);
            promise.wait_timeout(coact_tests::PATIENCE).ok() == Some(Err(Broken::Dropped))
        },
        || {
            struct Tells(Option<coact::promise::Resolver<u32>>);
            impl Drop for Tells {
                fn drop(&mut self) {
                    self.0.take().unwrap().resolve(7);
                }
            }
            let (resolver, promise) = Promise::channel();
            drop(Cown::new(Tells(Some(resolver))));
            promise.wait() == Ok(7)
        },
    ];
    for (wait, above) in waits.into_iter().flat_map(|wait| [1, 31, 32, 33, 70].map(|n| (wait, n))) {
        let (tell, told) = mpsc::channel();
        let mut chain = Cown::new(Link { _next: None, last: Some(Wait { wait, tell }) });
        for _ in 0..above {
            chain = Cown::new(Link { _next: Some(chain), last: None });
        }
        thread::spawn(move || drop(chain));
        assert_eq!(told.recv_timeout(coact_tests::PATIENCE), Ok(true), "{above} above it");
    }
}

/// Calls something on a thread with little stack, inside of a runtime whose workers have as little.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    const STACK: usize = 256 << 10;
    let thread = thread::Builder::new().stack_size(STACK).spawn(move || {
        let runtime = Runtime::builder().workers(2).stack_size(STACK).build().unwrap();
        runtime.run(work);
    });
    thread.unwrap().join().unwrap();
}

/// One more piece of state, that counts when it is dropped.
struct Counted(Log<()>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.push(());
    }
}

/// Drops a chain of this length, each link of which `make` makes of the one before.
fn drop_a_chain<T: Send + 'static>(make: impl Fn(Counted, Option<T>) -> T + Send + 'static) {
    on_a_small_stack(move || {
        let log = Log::new();
        let mut last = None;
        for _ in 0..DEEP {
            last = Some(make(Counted(log.clone()), last));
        }
        drop(last);
        finally_all(&log);
    });
}

/// They are all gone, or will be when those that wait for the others have run.
fn finally_all(log: &Log<()>) {
    let start = std::time::Instant::now();
    while log.len() < DEEP {
        assert!(start.elapsed() < coact_tests::PATIENCE, "{} of {DEEP} were dropped", log.len());
        thread::yield_now();
    }
}

/// State that is interruptible, with shared state that may own what it likes.
struct Plain;

impl Interruptible for Plain {
    type SharedState = Box<dyn Any + Send + Sync>;
    fn on_interrupt(&mut self, _: &Self::SharedState) -> Gate {
        Gate::Open
    }
    fn cancel(&mut self, _: &Self::SharedState) {}
    fn failed(&mut self, _: &Self::SharedState, _: &Broken) {}
}

fn interruptible(shared: impl Any + Send + Sync) -> Cown<Plain> {
    let shared: <Plain as Interruptible>::SharedState = Box::new(shared);
    Cown::interruptible(RuntimeHandle::current(), shared, |_| Plain)
}

/// What shared state owns, which is to be shared.
struct Shareable<T>(#[allow(dead_code)] Mutex<T>);

#[test]
fn states_that_own_the_next() {
    struct Link(#[expect(dead_code)] Counted, #[expect(dead_code)] Option<Cown<Link>>);
    drop_a_chain(|counted, next| {
        let link = Link(counted, next);
        Cown::new(link)
    });
}

#[test]
fn fronts_that_own_the_next() {
    drop_a_chain(|counted, next| interruptible(Shareable(Mutex::new((counted, next)))));
}

#[test]
fn fronts_that_have_weak_handles_of_the_next() {
    drop_a_chain(|counted, next: Option<WeakCown<Plain>>| {
        interruptible(Shareable(Mutex::new((counted, next)))).downgrade()
    });
}

#[test]
fn values_of_promises_that_own_the_next() {
    struct Link(#[expect(dead_code)] Counted, #[expect(dead_code)] Option<Promise<Link>>);
    drop_a_chain(|counted, next| Promise::ready(Link(counted, next)));
}

#[test]
fn values_that_nobody_waits_for_any_more() {
    struct Link(#[expect(dead_code)] Counted, #[expect(dead_code)] Option<Unwanted>);
    /// Drops its value when it is dropped, since that is not waited for.
    struct Unwanted(Option<Box<(Resolver<Link>, Link)>>);
    impl Drop for Unwanted {
        fn drop(&mut self) {
            if let Some(both) = self.0.take() {
                let (resolver, value) = *both;
                resolver.resolve(value);
            }
        }
    }
    drop_a_chain(|counted, next| {
        let (resolver, promise) = Promise::channel();
        drop(promise);
        Unwanted(Some(Box::new((resolver, Link(counted, next)))))
    });
}

#[test]
fn resolvers_that_call_what_owns_the_next() {
    drop_a_chain(|counted, next: Option<Resolver<()>>| {
        Resolver::calling(move |_| drop((counted, next)))
    });
}

#[test]
fn behaviours_that_own_the_next() {
    drop_a_chain(|counted, next: Option<Cown<()>>| {
        let cown = Cown::new(());
        // Runs, and drops what it has; at an unknown time.
        when(&cown, move |()| drop((counted, next)));
        cown
    });
}

#[test]
fn members_of_a_group_that_own_the_next() {
    on_a_small_stack(|| {
        struct Link(#[expect(dead_code)] Counted, #[expect(dead_code)] Option<Cown<Link>>);
        let (log, group) = (Log::new(), Group::new());
        let mut last = None;
        for _ in 0..DEEP {
            last = Some(group.cown(Link(Counted(log.clone()), last)));
        }
        drop(last);
        finally_all(&log);
    });
}

/// Links of promises, from the end of a runtime on.
fn thens(count: usize, cowns: &[Cown<usize>]) -> (Resolver<()>, Promise<()>) {
    let (resolver, mut promise) = Promise::channel();
    for index in 0..count {
        promise = promise.then(&cowns[index % cowns.len()], |n, _| *n += 1);
    }
    (resolver, promise)
}

#[test]
fn promises_that_are_chained() {
    on_a_small_stack(|| {
        let cowns = [Cown::new(0), Cown::new(0)];
        let (resolver, end) = thens(DEEP, &cowns);
        resolver.resolve(());
        assert_eq!(end.wait(), Ok(()));
    });
}

#[test]
fn promises_that_are_chained_on_stopped_runtimes() {
    on_a_small_stack(|| {
        let runtimes = [(); 3].map(|()| runtime(1, &Faults::new()));
        let cowns = runtimes.each_ref().map(|runtime| runtime.run(|| Cown::new(0)));
        let (resolver, end) = thens(DEEP, &cowns);
        let (dropped, none) = thens(DEEP, &cowns[..2]);
        for runtime in runtimes {
            runtime.shutdown(Duration::ZERO);
        }
        resolver.resolve(());
        assert_eq!(end.wait(), Err(Broken::Cancelled));
        drop(dropped);
        assert_eq!(none.wait(), Err(Broken::Cancelled));
    });
}

#[test]
fn promises_that_are_chained_on_a_stopped_blocking_runtime() {
    on_a_small_stack(|| {
        let blocking = Runtime::builder().on_blocking_threads(2).build().unwrap();
        let plain = runtime(1, &Faults::new());
        let cowns = [blocking.run(|| Cown::new(0)), plain.run(|| Cown::new(0))];
        let (resolver, end) = thens(DEEP, &cowns);
        plain.shutdown(Duration::ZERO);
        blocking.shutdown(Duration::ZERO);
        resolver.resolve(());
        assert_eq!(end.wait(), Err(Broken::Cancelled));
    });
}

#[test]
fn batches_whose_behaviours_own_the_next() {
    let cowns = std::sync::OnceLock::new();
    drop_a_chain(move |counted, next: Option<Batch>| {
        let cown: &Cown<()> = cowns.get_or_init(|| Cown::new(()));
        Batch::new().when(cown, move |()| drop((counted, next)))
    });
}

/// What a task that waits is woken by, which owns the task, and with it whatever that waits for.
struct Owner<T>(#[expect(dead_code)] Counted, #[allow(dead_code)] Mutex<Option<T>>);

impl<T: Send> Wake for Owner<T> {
    fn wake(self: Arc<Self>) {}
}

fn owner<T: Send + 'static>(counted: Counted, next: Option<T>) -> Waker {
    Arc::new(Owner(counted, Mutex::new(next))).into()
}

/// Polls it once, and leaves the waker there.
fn wait_with<F: Future + Unpin>(mut future: F, waker: &Waker) -> F {
    assert!(Pin::new(&mut future).poll(&mut Context::from_waker(waker)).is_pending());
    future
}

#[test]
fn wakers_that_own_the_next() {
    struct Promised(#[expect(dead_code)] Promise<()>, #[expect(dead_code)] Resolver<()>);
    drop_a_chain(|counted, next: Option<Promised>| {
        let (resolver, promise) = Promise::channel();
        Promised(wait_with(promise, &owner(counted, next)), resolver)
    });
    struct Sleeping(#[expect(dead_code)] Sleep);
    drop_a_chain(|counted, next: Option<Sleeping>| {
        Sleeping(wait_with(sleep(PATIENCE), &owner(counted, next)))
    });
    struct Watching(#[expect(dead_code)] OnCancel);
    drop_a_chain(|counted, next: Option<Watching>| {
        Watching(RuntimeHandle::current().on_cancel(owner(counted, next)))
    });
}

/// The guard of a timer is what its owner makes of it.
#[test]
fn timers_that_own_the_guard_of_the_next() {
    struct Guard(Timer);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.cancel();
        }
    }
    drop_a_chain(|counted, next: Option<Guard>| {
        Guard(after(PATIENCE, (), move |()| drop((counted, next))))
    });
}
