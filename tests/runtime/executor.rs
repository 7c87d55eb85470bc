//! Workers without threads of their own: an executor polls them, or does not.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use coact::prelude::*;
use coact::runtime::{Builder, WorkerFuture, spawn_future};
use coact::system::System;
use coact_tests::{Executor, Faults, Log, Meeting, PATIENCE, fail, hosted_runtime, panic_of};

fn on_tokio(workers: usize, handle: &tokio::runtime::Handle) -> Runtime {
    let (spawner, around) = (handle.clone(), handle.clone());
    let builder = Runtime::builder().workers(workers).name("hosted");
    let builder = builder.around_threads(move |run| {
        let _entered = around.enter();
        run();
    });
    builder.on_executor(move |worker| drop(spawner.spawn(worker))).build().unwrap()
}

fn multi_thread(threads: usize) -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(threads).thread_name("tokio").enable_all().build().unwrap()
}

fn current_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// A runtime whose workers only the test polls.
fn in_hand(builder: Builder) -> (Runtime, mpsc::Receiver<WorkerFuture>) {
    let (spawned, workers) = mpsc::channel();
    let builder = builder.on_executor(move |worker| spawned.send(worker).unwrap());
    (builder.build().unwrap(), workers)
}

/// A cown of the runtime, which need not be idle.
fn make<T: Send + 'static>(runtime: &Runtime, state: T) -> Cown<T> {
    let _entered = runtime.enter();
    Cown::new(state)
}

fn thread_name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

/// Tasks that each ask one of some cowns again and again; returns the sum over the cowns.
async fn ask_around(runtime: &Runtime, tasks: usize, asks: usize) -> usize {
    let cowns: Vec<Cown<usize>> = runtime.run(|| (0..8).map(|_| Cown::new(0)).collect());
    let tasks: Vec<_> = (0..tasks)
        .map(|task| {
            let cowns = cowns.clone();
            tokio::spawn(async move {
                for n in 0..asks {
                    let (a, b) = (&cowns[(task + n) % 8], &cowns[(task * n + 1) % 8]);
                    if a == b {
                        call(a, |a| *a += 1).await.unwrap();
                    } else {
                        call((a, b), |(a, _)| *a += 1).await.unwrap();
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let mut sum = 0;
    for cown in &cowns {
        sum += call(cown, |n| *n).await.unwrap();
    }
    sum
}

#[test]
fn tasks_ask_cowns_on_their_own_threads() {
    for threads in [1, 2, 4] {
        let tokio = multi_thread(threads);
        let runtime = on_tokio(threads, tokio.handle());
        let sum = tokio.block_on(ask_around(&runtime, 16, 200));
        assert_eq!(sum, 16 * 200);
        assert!(runtime.shutdown(PATIENCE).is_complete());
    }
}

#[test]
fn one_thread_does_everything() {
    let tokio = current_thread();
    let runtime = on_tokio(2, tokio.handle());
    let here = thread::current().id();
    let elsewhere = tokio.block_on(async {
        let _entered = runtime.enter();
        let cown = Cown::new(0);
        let mut elsewhere = 0;
        for _ in 0..1_000 {
            elsewhere +=
                call(&cown, move |_| usize::from(thread::current().id() != here)).await.unwrap();
        }
        elsewhere
    });
    // The fallback thread comes only if this one was kept from its work for a millisecond.
    assert!(elsewhere < 900, "{elsewhere} of 1,000");
}

#[test]
fn h9_an_executor_that_is_blocked_is_not_waited_for() {
    let tokio = current_thread();
    let runtime = on_tokio(1, tokio.handle());
    tokio.block_on(async {
        let cown = runtime.run(|| Cown::new(0));
        for _ in 0..100 {
            // It blocks the one thread that could run the behaviour.
            call(&cown, |n| *n += 1).wait().unwrap();
        }
        assert_eq!(call(&cown, |n| *n).await, Ok(100));
        runtime.wait_idle();
        assert!(runtime.shutdown(PATIENCE).is_complete());
    });
}

#[test]
fn a_task_that_blocks_its_thread_does_not_keep_the_worker_that_it_has_woken() {
    let tokio = multi_thread(2);
    let runtime = on_tokio(2, tokio.handle());
    let cown = runtime.run(|| Cown::new(0));
    tokio.block_on(async {
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let cown = cown.clone();
                // tokio has the woken worker run next on this very thread, and lets no other take
                // it.
                tokio::spawn(async move {
                    (0..50).map(|_| call(&cown, |n| *n += 1).wait()).all(|r| r.is_ok())
                })
            })
            .collect();
        for task in tasks {
            assert!(task.await.unwrap());
        }
    });
    assert_eq!(call(&cown, |n| *n).wait(), Ok(100));
}

#[test]
fn h9_the_executor_may_go_first() {
    let tokio = multi_thread(2);
    let runtime = on_tokio(2, tokio.handle());
    let cown = runtime.run(|| Cown::new(0));
    drop(tokio);
    let names: Log<String> = Log::new();
    for _ in 0..1_000 {
        let names = names.clone();
        when(&cown, move |n| {
            *n += 1;
            names.push(thread_name());
        });
    }
    assert_eq!(call(&cown, |n| *n).wait(), Ok(1_000));
    assert!(names.take().iter().all(|name| name.starts_with("hosted-fallback-")));
    assert!(runtime.shutdown(PATIENCE).is_complete());
}

#[test]
fn h9_the_executor_may_go_in_the_middle_of_the_work() {
    let faults = Faults::new();
    for delay in 0..20 {
        let executor = Executor::new(2);
        let runtime = hosted_runtime(2, &executor, &faults);
        let cowns: Vec<Cown<u32>> = runtime.run(|| (0..10).map(|_| Cown::new(0)).collect());
        for n in 0..2_000 {
            when((&cowns[n % 10], &cowns[(n + 1) % 10]), |(a, b)| {
                *a += 1;
                *b += 1;
            });
            if n == delay * 100 {
                when(&cowns[0], |_| thread::yield_now());
            }
        }
        drop(executor);
        runtime.wait_idle();
        let sum: u32 = cowns.into_iter().map(|cown| cown.into_inner().unwrap()).sum();
        assert_eq!(sum, 4_000);
    }
    assert!(faults.is_empty(), "{:?}", faults.take());
}

/// What a spawner does with a worker.
type Way = fn(WorkerFuture, &Mutex<Vec<WorkerFuture>>);

#[test]
fn h9_futures_that_are_dropped_forgotten_or_kept_do_no_harm() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let ways: [Way; 3] = [
        |worker, _| drop(worker),
        |worker, _| std::mem::forget(worker),
        |worker, kept| kept.lock().unwrap().push(worker),
    ];
    for way in ways {
        let keep = Arc::clone(&kept);
        let builder = Runtime::builder().workers(3).on_executor(move |worker| way(worker, &keep));
        let runtime = builder.build().unwrap();
        let cowns: Vec<Cown<u32>> = runtime.run(|| (0..100).map(|_| Cown::new(0)).collect());
        cowns.iter().for_each(|cown| when(cown, |n| *n += 1));
        runtime.wait_idle();
        assert!(cowns.into_iter().all(|cown| cown.into_inner().unwrap() == 1));
        assert!(runtime.shutdown(PATIENCE).is_complete());
    }
    // The runtime has ended: what is polled now is over.
    for mut worker in kept.lock().unwrap().drain(..) {
        let polled = Pin::new(&mut worker).poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(polled, Poll::Ready(()));
    }
}

/// Polls its future when it is woken, wherever that is.
struct Inline {
    worker: Mutex<Option<WorkerFuture>>,
    polls: AtomicUsize,
}

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        self.polls.fetch_add(1, Ordering::Relaxed);
        // Where it is polled already, that is left out.
        if let Ok(mut worker) = self.worker.try_lock()
            && let Some(worker) = &mut *worker
        {
            let waker = Arc::clone(&self).into();
            let _ = Pin::new(worker).poll(&mut Context::from_waker(&waker));
        }
    }
}

#[test]
fn an_executor_that_polls_where_it_is_woken_runs_nothing_there() {
    let inline: Arc<Mutex<Vec<Arc<Inline>>>> = Arc::default();
    let spawned = Arc::clone(&inline);
    let builder = Runtime::builder().workers(2).on_executor(move |worker| {
        let polls = AtomicUsize::new(0);
        let task = Arc::new(Inline { worker: Mutex::new(Some(worker)), polls });
        spawned.lock().unwrap().push(Arc::clone(&task));
        task.wake();
    });
    let runtime = builder.build().unwrap();
    let here = thread::current().id();
    let (a, b) = runtime.run(|| (Cown::new(0), Cown::new(0)));
    for _ in 0..20 {
        when((&a, &b), move |(a, b)| {
            assert_ne!(thread::current().id(), here);
            *a += 1;
            *b += 1;
        });
    }
    assert_eq!(call((&a, &b), |(a, b)| (*a, *b)).wait(), Ok((20, 20)));
    assert!(inline.lock().unwrap().iter().any(|task| task.polls.load(Ordering::Relaxed) > 0));
    assert!(runtime.shutdown(PATIENCE).is_complete());
    // The tasks own themselves.
    inline.lock().unwrap().drain(..).for_each(|task| *task.worker.lock().unwrap() = None);
}

#[test]
fn h9_what_waits_behind_a_long_behaviour_is_run_by_another_worker() {
    let executor = Executor::new(2);
    let faults = Faults::new();
    let runtime = hosted_runtime(2, &executor, &faults);
    let (long, others) = runtime.run(|| (Cown::new(()), [(); 3].map(|()| Cown::new(()))));
    let meeting = Meeting::of(4);
    let here = meeting.clone();
    when(&long, move |()| {
        // They are ready at once, in the queue of the worker that this keeps.
        for other in &others {
            let meeting = here.clone();
            when(other, move |()| meeting.arrive());
        }
        assert!(here.wait(), "nobody else runs them");
    });
    runtime.wait_idle();
    assert!(faults.is_empty(), "{:?}", faults.take());
}

#[test]
fn behaviours_and_futures_find_the_context_of_the_executor() {
    let tokio = multi_thread(2);
    let runtime = on_tokio(2, tokio.handle());
    let (done, all) = mpsc::channel();
    let cown = runtime.run(|| Cown::new(0));
    when(&cown, {
        let done = done.clone();
        move |n| {
            *n += 1;
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(1)).await;
                done.send("spawned").unwrap();
            });
        }
    });
    let _entered = runtime.enter();
    drop(spawn_future(async move {
        tokio::time::sleep(Duration::from_millis(1)).await;
        done.send("slept").unwrap();
    }));
    let mut told = [(); 2].map(|()| all.recv_timeout(PATIENCE).unwrap());
    told.sort_unstable();
    assert_eq!(told, ["slept", "spawned"]);
}

#[test]
fn actors_live_there() {
    struct Counter(u32);
    impl Actor for Counter {}
    struct Add;
    impl Message for Add {
        type Reply = u32;
    }
    impl Handler<Add> for Counter {
        fn handle(&mut self, _: Add, _: &mut coact::Context<Self>) -> u32 {
            self.0 += 1;
            self.0
        }
    }
    let tokio = multi_thread(2);
    let handle = tokio.handle().clone();
    let system = System::builder()
        .main(move |main| main.workers(2).on_executor(move |worker| drop(handle.spawn(worker))));
    let system = system.build().unwrap();
    let last = tokio.block_on(async {
        let counter = system.run(|| spawn(Counter(0)));
        let mut last = 0;
        for _ in 0..500 {
            last = counter.ask(Add).await.unwrap();
        }
        counter.stop().unwrap();
        last
    });
    assert_eq!(last, 500);
    assert!(system.shutdown(PATIENCE).is_complete());
}

#[test]
fn runtimes_host_each_other() {
    let faults = Faults::new();
    let host = Runtime::builder().workers(2).name("host").build().unwrap();
    let home = host.handle();
    let builder = Runtime::builder().workers(2).on_executor(move |worker| {
        let _entered = home.enter();
        drop(spawn_future(worker));
    });
    let hosted = builder.build().unwrap();
    // The host is not idle before the runtime that it hosts has ended.
    let near = make(&host, 0);
    let far = hosted.run(|| Cown::new(0));
    for n in 0..1_000 {
        let (near, far) = (near.clone(), far.clone());
        if n % 2 == 0 {
            when((&near, &far), |(a, b)| (*a, *b) = (*a + 1, *b + 1));
        } else {
            when((&far, &near), |(a, b)| (*a, *b) = (*a + 1, *b + 1));
        }
    }
    hosted.wait_idle();
    assert_eq!(call((&near, &far), |(a, b)| (*a, *b)).wait(), Ok((1_000, 1_000)));
    assert!(hosted.shutdown(PATIENCE).is_complete());
    assert!(host.shutdown(PATIENCE).is_complete());
    assert!(faults.is_empty());
}

#[test]
fn a_spawn_that_panics_is_a_build_that_panics() {
    let builder = Runtime::builder().workers(2).on_executor(|_| fail("no executor here"));
    assert_eq!(panic_of(|| builder.build()), "no executor here");
}

#[test]
fn panics_stay_in_their_behaviours() {
    let executor = Executor::new(1);
    let faults = Faults::new();
    let runtime = hosted_runtime(1, &executor, &faults);
    let cown = runtime.run(|| Cown::new(0));
    assert!(matches!(
        call(&cown, |_| -> () { fail("on purpose") }).wait(),
        Err(Broken::Panicked(_))
    ));
    let other = runtime.run(|| Cown::new(1));
    assert_eq!(call(&other, |n| *n).wait(), Ok(1));
    assert_eq!(faults.take().len(), 1);
}

#[test]
fn a_shutdown_drops_what_is_left_and_names_who_is_stuck() {
    let executor = Executor::new(2);
    let faults = Faults::new();
    let runtime = hosted_runtime(2, &executor, &faults);
    let cown = runtime.run(|| Cown::new(0));
    let stuck = stick_on(&cown);
    (0..10).for_each(|_| when(&cown, |n| *n += 1));
    let report = runtime.shutdown(Duration::from_millis(10));
    assert_eq!(report.stuck_workers, 1, "{report}");
    drop(stuck);
}

/// Starts a behaviour that goes on until the sender is dropped.
fn stick(runtime: &Runtime) -> mpsc::Sender<()> {
    stick_on(&make(runtime, ()))
}

fn stick_on<T: Send + 'static>(cown: &Cown<T>) -> mpsc::Sender<()> {
    let (release, held) = mpsc::channel();
    let began = Meeting::of(2);
    let there = began.clone();
    when(cown, move |_| {
        assert!(there.wait());
        let _ = held.recv();
    });
    assert!(began.wait());
    release
}

#[test]
fn long_behaviours_keep_no_others_where_the_executor_is_gone() {
    for watchdog in [false, true] {
        let builder = Runtime::builder().workers(3).on_executor(drop);
        let builder = if watchdog { builder.watchdog(Duration::from_millis(5)) } else { builder };
        let runtime = builder.build().unwrap();
        let stuck = [stick(&runtime), stick(&runtime)];
        let cown = make(&runtime, 1);
        assert_eq!(call(&cown, |n| *n).wait_timeout(PATIENCE).ok(), Some(Ok(1)));
        drop(stuck);
        assert!(runtime.shutdown(PATIENCE).is_complete());
    }
}

#[test]
fn who_is_stuck_on_a_thread_of_the_runtimes_own_is_named_alone() {
    let runtime = Runtime::builder().workers(4).on_executor(drop).build().unwrap();
    let stuck = stick(&runtime);
    let report = runtime.shutdown(Duration::from_millis(10));
    assert_eq!((report.stuck_workers, report.stuck.len()), (1, 1), "{report}");
    drop(stuck);
}

#[test]
fn a_runtime_that_has_ended_keeps_no_executor() {
    let (spawned, workers) = mpsc::channel();
    let runtime =
        Runtime::builder().workers(2).on_executor(move |worker| spawned.send(worker).unwrap());
    drop(runtime.build().unwrap());
    assert_eq!(workers.iter().count(), 2);
}

/// A waker that waits for a lock.
struct Locked(Mutex<()>);

impl Wake for Locked {
    fn wake(self: Arc<Self>) {
        drop(self.0.lock());
    }
}

#[test]
fn a_waker_that_blocks_does_not_keep_a_shutdown() {
    let (runtime, workers) = in_hand(Runtime::builder().workers(1));
    let mut worker = workers.recv().unwrap();
    let locked = Arc::new(Locked(Mutex::new(())));
    let waker = Arc::clone(&locked).into();
    assert_eq!(Pin::new(&mut worker).poll(&mut Context::from_waker(&waker)), Poll::Pending);
    let guard = locked.0.lock();
    assert!(runtime.shutdown(PATIENCE).is_complete());
    drop(guard);
}

/// Counts how often it is woken on the thread that looks after the workers, which it would keep.
struct CountsLookouts(AtomicUsize);

impl Wake for CountsLookouts {
    fn wake(self: Arc<Self>) {
        if thread_name().contains("lookout") {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn wakers_do_not_keep_who_looks_after_the_workers() {
    let counts = Arc::new(CountsLookouts(AtomicUsize::new(0)));
    let waker = Waker::from(counts.clone());
    let (runtime, workers) = in_hand(Runtime::builder().workers(2).name("looked-after"));
    // Polled once, for their wakers to be known; and not any more.
    let mut workers: Vec<WorkerFuture> = workers.iter().take(2).collect();
    for worker in &mut workers {
        assert!(Pin::new(worker).poll(&mut Context::from_waker(&waker)).is_pending());
    }
    for _ in 0..20 {
        let (long, short) = (make(&runtime, ()), make(&runtime, 0));
        let (tell, told) = mpsc::channel();
        when(&long, move |()| {
            when(&short, move |_| tell.send(()).unwrap());
            told.recv_timeout(PATIENCE).expect("what waits behind a long behaviour runs");
        });
        call(&long, |()| ()).wait().expect("the behaviour before has not failed");
    }
    assert_eq!(counts.0.load(Ordering::Relaxed), 0);
}

#[test]
fn polls_without_need_are_no_progress() {
    let executor = Executor::new(1);
    let spawner = executor.spawner();
    let (runtime, workers) = in_hand(Runtime::builder().workers(2));
    let (mut idle, busy) = (workers.recv().unwrap(), workers.recv().unwrap());
    spawner.spawn(busy);
    let polls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&polls);
    let poller = thread::spawn(move || {
        while Pin::new(&mut idle).poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            counted.fetch_add(1, Ordering::Relaxed);
            thread::yield_now();
        }
    });
    let stuck = stick(&runtime);
    let began = Instant::now();
    let report = runtime.shutdown(Duration::from_millis(1));
    assert_eq!(report.stuck_workers, 1, "{report}");
    assert!(began.elapsed() < Duration::from_millis(900), "{:?}", began.elapsed());
    drop(stuck);
    // Either of them may have been in the behaviour.
    poller.join().unwrap();
    assert!(polls.load(Ordering::Relaxed) > 0);
}

#[test]
fn a_behaviour_knows_nothing_of_what_its_worker_is_polled_for() {
    let (runtime, workers) = in_hand(Runtime::builder().workers(1));
    let mut worker = workers.recv().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(Pin::new(&mut worker).poll(&mut context), Poll::Pending);
    let cown = make(&runtime, ());
    let answer = call(&cown, |()| {
        (coact::internals::principal().is_some(), coact::internals::scoped(|value| value.is_some()))
    });
    let me: coact::internals::Principal = Arc::new(());
    coact::internals::on_behalf_of(&me, || {
        coact::internals::with_scoped(&1, || {
            // At once, before the runtime's own threads come.
            let _ = Pin::new(&mut worker).poll(&mut context);
            assert!(coact::internals::principal().is_some());
        });
    });
    assert_eq!(answer.wait(), Ok((false, false)));
}

#[test]
fn many_runtimes_come_and_go_on_one_executor() {
    let executor = Executor::new(2);
    let faults = Faults::new();
    for n in 0..200 {
        let runtime = hosted_runtime(1 + n % 3, &executor, &faults);
        let cown = runtime.run(|| Cown::new(0));
        (0..20).for_each(|_| when(&cown, |n| *n += 1));
        if n % 2 == 0 {
            assert_eq!(call(&cown, |n| *n).wait(), Ok(20));
        }
        let began = Instant::now();
        drop(runtime);
        assert!(began.elapsed() < PATIENCE);
    }
    assert!(faults.is_empty(), "{:?}", faults.take());
}

#[test]
fn a_poll_is_short_although_behaviours_are_long() {
    let (runtime, workers) = in_hand(Runtime::builder().workers(1).throughput(1_000_000));
    let mut worker = workers.recv().unwrap();
    let (here, ran_here) = (thread::current().id(), Arc::new(AtomicUsize::new(0)));
    let cown = make(&runtime, ());
    for _ in 0..1_000 {
        let ran_here = Arc::clone(&ran_here);
        when(&cown, move |()| {
            let began = Instant::now();
            while began.elapsed() < Duration::from_micros(50) {}
            if thread::current().id() == here {
                ran_here.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    let _ = Pin::new(&mut worker).poll(&mut Context::from_waker(Waker::noop()));
    // They follow each other on one cown; in between the worker looks at the clock.
    assert!(ran_here.load(Ordering::Relaxed) <= 32, "{ran_here:?}");
    drop(worker);
    runtime.wait_idle();
}
