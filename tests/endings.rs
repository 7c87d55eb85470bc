//! The ends of runtimes, wherever they are dropped: their threads end, and their memory comes back.
//! Alone in its process: threads and memory are counted.

use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use coact::prelude::*;
use coact::runtime::{blocking, spawn_future};
use coact::system::{Host, System};
use coact::time::sleep;
use coact_tests::{PATIENCE, fail};

/// One at a time: they count.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// How many threads of that name there are. (The system keeps 15 letters.)
fn threads_of(name: &str) -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok);
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|comm| comm.starts_with(name)).collect()
}

#[track_caller]
fn assert_no_threads_of(name: &str) {
    let until = Instant::now() + PATIENCE;
    let mut left = threads_of(name);
    while !left.is_empty() && Instant::now() < until {
        thread::yield_now();
        // Not once more after this: one that was made just now gets its name when it first has a
        // processor.
        left = threads_of(name);
    }
    assert!(left.is_empty(), "threads of {name} are left: {left:?}");
}

fn build(name: &str) -> Runtime {
    Runtime::builder().workers(3).name(name).panic_hook(|_| ()).build().unwrap()
}

/// Where the last handle may be found.
type Owned = Arc<Mutex<Option<Runtime>>>;

fn own(runtime: Runtime) -> Owned {
    Arc::new(Mutex::new(Some(runtime)))
}

fn take(owned: &Owned) {
    let taken = owned.lock().unwrap().take();
    drop(taken);
}

const ROUNDS: usize = 20;

/// Queues work of every kind, of which nothing must keep the runtime.
fn burden(runtime: &Runtime) -> Vec<Promise<()>> {
    let _entered = runtime.enter();
    let cown = Cown::new(());
    let day = Duration::from_secs(86_400);
    let far = cown.clone();
    vec![
        call(&cown, move |()| when(&far, |()| ())),
        sleep(day).then(&cown, |(), _| ()),
        spawn_future(std::future::pending()),
        blocking(|| ()),
    ]
}

#[track_caller]
fn assert_ended(work: Vec<Promise<()>>) {
    for (position, promise) in work.into_iter().enumerate() {
        assert!(promise.wait_timeout(PATIENCE).is_ok(), "{position} has no end");
    }
}

#[test]
fn t8_in_a_behaviour_of_its_own() {
    let _alone = alone();
    for _ in 0..ROUNDS {
        let runtime = build("own-worker");
        let (cown, work) = (runtime.run(|| Cown::new(())), burden(&runtime));
        let owned = own(runtime);
        assert_eq!(call(&cown, move |()| take(&owned)).wait(), Ok(()));
        assert_ended(work);
    }
    assert_no_threads_of("own-worker");
}

#[test]
fn in_a_behaviour_of_another_one() {
    let _alone = alone();
    let other = build("other");
    let cown = other.run(|| Cown::new(()));
    for _ in 0..ROUNDS {
        let runtime = build("far-worker");
        let work = burden(&runtime);
        assert_eq!(call(&cown, move |()| drop(runtime)).wait(), Ok(()));
        assert_ended(work);
    }
    assert_no_threads_of("far-worker");
}

#[test]
fn t8_in_the_destructor_of_a_state_on_its_own_worker() {
    struct State(#[expect(dead_code)] Runtime);
    let _alone = alone();
    for _ in 0..ROUNDS {
        let runtime = build("own-state");
        let (empty, work) = (runtime.run(|| Cown::new(None)), burden(&runtime));
        when(&empty, move |state| *state = Some(State(runtime)));
        drop(empty);
        assert_ended(work);
    }
    assert_no_threads_of("own-state");
}

#[test]
fn in_a_body_on_the_spot() {
    let _alone = alone();
    for _ in 0..ROUNDS {
        let runtime = build("here");
        let (cown, work) = (runtime.run(|| Cown::new(())), burden(&runtime));
        let owned = own(runtime);
        while !when_here(&cown, {
            let owned = owned.clone();
            move |()| take(&owned)
        }) {}
        assert_ended(work);
    }
    assert_no_threads_of("here");
}

#[test]
fn t8_on_its_own_thread_for_blocking_jobs() {
    let _alone = alone();
    for _ in 0..ROUNDS {
        let runtime = build("own-job");
        let work = burden(&runtime);
        let owned = own(runtime);
        let job = {
            let lock = owned.lock().unwrap();
            let own = owned.clone();
            let _entered = lock.as_ref().unwrap().enter();
            blocking(move || take(&own))
        };
        assert_eq!(job.wait(), Ok(()));
        assert_ended(work);
    }
    assert_no_threads_of("own-job");
}

#[test]
fn in_a_behaviour_on_its_own_threads_that_may_block() {
    let _alone = alone();
    for _ in 0..ROUNDS {
        let builder = Runtime::builder().name("own-host").on_blocking_threads(2);
        let runtime = builder.build().unwrap();
        let (cown, work) = (runtime.run(|| Cown::new(())), burden(&runtime));
        let owned = own(runtime);
        let (behind, dropped) = (cown.clone(), call(&cown, move |()| take(&owned)));
        let after = call(&behind, |()| ());
        assert_eq!(dropped.wait(), Ok(()));
        assert!(after.wait_timeout(PATIENCE).is_ok());
        assert_ended(work);
    }
    assert_no_threads_of("own-host");
}

/// Wakers run on the thread that serves the timers.
#[test]
fn on_its_own_timer_thread() {
    struct Ends(Owned, mpsc::Sender<String>);
    impl std::task::Wake for Ends {
        fn wake(self: Arc<Self>) {
            take(&self.0);
            let _ = self.1.send(thread::current().name().unwrap_or_default().to_owned());
        }
    }
    let _alone = alone();
    for _ in 0..ROUNDS {
        let runtime = build("own-timer");
        let work = burden(&runtime);
        let entered = runtime.handle();
        let mut slept = {
            let _entered = runtime.enter();
            Box::pin(sleep(Duration::from_millis(1)))
        };
        let (tell, told) = mpsc::channel();
        let waker = Arc::new(Ends(own(runtime), tell)).into();
        let mut context = std::task::Context::from_waker(&waker);
        if slept.as_mut().poll(&mut context).is_pending() {
            assert_eq!(told.recv_timeout(PATIENCE).unwrap(), "own-timer-timer", "{entered:?}");
        }
        drop((slept, waker));
        assert_ended(work);
    }
    assert_no_threads_of("own-timer");
}

#[test]
fn t8_in_a_future_of_its_own() {
    let _alone = alone();
    for _ in 0..ROUNDS {
        let runtime = build("own-future");
        let work = burden(&runtime);
        let owned = own(runtime);
        let future = {
            let lock = owned.lock().unwrap();
            let own = owned.clone();
            let _entered = lock.as_ref().unwrap().enter();
            spawn_future(async move { take(&own) })
        };
        assert!(future.wait_timeout(PATIENCE).is_ok());
        assert_ended(work);
    }
    assert_no_threads_of("own-future");
}

#[test]
fn on_a_pump() {
    let _alone = alone();
    let pump = Runtime::builder().build_pumped().unwrap();
    for _ in 0..ROUNDS {
        let runtime = build("on-pump");
        let work = burden(&runtime);
        let cown = pump.run(|| Cown::new(()));
        when(&cown, move |()| drop(runtime));
        pump.run_until_idle(&[]);
        for promise in work {
            pump.run_future(async {});
            drop(promise);
        }
    }
    drop(pump);
    assert_no_threads_of("on-pump");
}

/// Two that own each other, by what is queued on them.
#[test]
fn of_two_that_own_each_other() {
    let _alone = alone();
    for _ in 0..ROUNDS {
        let [one, two] = ["circle-a", "circle-b"].map(build);
        let (a, b) = (one.run(|| Cown::new(())), two.run(|| Cown::new(())));
        let far = a.clone();
        when(&a, move |()| {
            let inner = two;
            when(&b, move |()| drop(one));
            when(&far, move |()| drop(inner));
        });
    }
    assert_no_threads_of("circle-");
}

/// Two drops in a row of which the first is in a behaviour that panics.
#[test]
fn in_a_behaviour_that_panics() {
    let _alone = alone();
    for _ in 0..ROUNDS {
        let runtime = build("unwinding");
        let (cown, work) = (runtime.run(|| Cown::new(())), burden(&runtime));
        when(&cown, move |()| {
            let _dropped_while_it_unwinds = runtime;
            fail("with a runtime")
        });
        assert_ended(work);
    }
    assert_no_threads_of("unwinding");
}

/// The watcher takes tasks from a worker that is deep in a behaviour, and the runtime stops in that
/// very moment: each of them comes to an end all the same.
#[test]
fn while_a_watcher_has_stolen_a_task() {
    let _alone = alone();
    for round in 0..400 {
        let runtime = Runtime::builder().workers(2).name("watcher").build().unwrap();
        let cowns = runtime.run(|| [(); 2].map(Cown::new));
        let (tell, told) = mpsc::channel();
        let (go_on, waits) = mpsc::channel::<()>();
        let [cown, other] = cowns;
        when(&cown, move |()| {
            // Goes to where it runs next, once this ends: so the watcher must find it.
            let behind = call(&other, |()| ());
            let _ = tell.send(behind);
            let _ = waits.recv_timeout(PATIENCE);
        });
        let behind = told.recv_timeout(PATIENCE).unwrap();
        // Between one and three looks of the watcher.
        let until = Instant::now() + Duration::from_micros(1_000 + 5 * round);
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        let ends = thread::spawn(move || runtime.shutdown(Duration::ZERO));
        assert!(behind.wait_timeout(PATIENCE).is_ok(), "round {round}");
        drop(go_on);
        ends.join().unwrap();
    }
    assert_no_threads_of("watcher");
}

/// Memory that the process has.
fn resident() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// What each of many lives leaves behind, in bytes.
fn left_behind(lives: usize, life: impl Fn()) -> usize {
    (0..lives / 4).for_each(|_| life());
    let before = resident();
    (0..lives).for_each(|_| life());
    resident().saturating_sub(before) / lives
}

#[test]
fn a_runtime_leaves_little_memory_behind() {
    let _alone = alone();
    let plain = left_behind(1_000, || {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        assert!(runtime.shutdown(PATIENCE).is_complete());
    });
    // Many: what the allocator keeps for as many threads as ever were at a time is shared among
    // them.
    let used = left_behind(3_000, || {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        runtime.run(|| {
            let cown = Cown::new(0);
            (0..100).for_each(|_| when(&cown, |n| *n += 1));
            after(Duration::from_micros(1), &cown, |n| *n += 1);
            drop(blocking(|| ()));
        });
    });
    let pumped = left_behind(1_000, || drop(Runtime::builder().build_pumped().unwrap()));
    assert!(plain.max(used).max(pumped) < 4_000, "plain {plain}, used {used}, pumped {pumped}");
}

struct Detached;
impl Actor for Detached {}

#[test]
fn a_system_leaves_little_memory_behind() {
    let _alone = alone();
    let bytes = left_behind(200, || {
        let system = System::builder().workers(1).build().unwrap();
        system.run(|| {
            let _address = actor(Detached).on(Host::detached()).spawn();
        });
    });
    assert!(bytes < 12_000, "{bytes}");
}
