//! Entering a runtime by its home: on other threads, for good, and in tasks of tokio.

use std::thread;
use std::time::Duration;

use coact::prelude::*;
use coact::runtime::RuntimeHandle;
use coact_tests::{Faults, panic_of, runtime};

fn here() -> RuntimeHandle {
    Cown::new(0).runtime()
}

#[test]
fn t7_a_home_is_entered_for_a_while() {
    let [one, two] = [1, 1].map(|workers| runtime(workers, &Faults::new()));
    let (one, two) = (one.handle(), two.handle());
    thread::spawn(move || {
        let outer = one.enter();
        assert_eq!(here(), one);
        {
            let _inner = two.enter();
            assert_eq!((here(), RuntimeHandle::current()), (two, two));
        }
        assert_eq!(here(), one);
        drop(outer);
    })
    .join()
    .unwrap();
}

#[test]
fn the_youngest_guard_counts_whatever_the_order_in_which_they_end() {
    let runtimes = [1, 1, 1].map(|workers| runtime(workers, &Faults::new()));
    let homes = runtimes.each_ref().map(Runtime::handle);
    thread::spawn(move || {
        homes[0].enter_thread();
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut guards = homes.map(|home| Some(home.enter()));
            for at in order {
                guards[at] = None;
                let youngest = guards.iter().rposition(Option::is_some).unwrap_or(0);
                assert_eq!(here(), homes[youngest], "{order:?}, at {at}");
            }
        }
        // One that is leaked counts for ever, but not for more than that.
        let outer = homes[1].enter();
        std::mem::forget(homes[2].enter());
        drop(outer);
        assert_eq!(here(), homes[2]);
        drop(homes[1].enter());
        assert_eq!(here(), homes[2]);
    })
    .join()
    .unwrap();
}

#[test]
fn t7_a_home_is_entered_for_good() {
    let (one, two) = (runtime(1, &Faults::new()), runtime(1, &Faults::new()));
    let (first, second) = (one.handle(), two.handle());
    let log = thread::spawn(move || {
        first.enter_thread();
        let before = here();
        second.enter_thread();
        [before, here()]
    });
    assert_eq!(log.join().unwrap(), [first, second]);
}

#[test]
fn tasks_of_tokio_are_within_a_runtime() {
    let runtime = runtime(2, &Faults::new());
    let home = runtime.handle();
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// Looks where it is dropped.
    struct Look(std::sync::mpsc::Sender<RuntimeHandle>);
    impl Drop for Look {
        fn drop(&mut self) {
            let _ = self.0.send(here());
        }
    }
    let (tell, told) = std::sync::mpsc::channel();
    let task = tokio.spawn(home.within(async move {
        let cown = Cown::new(0);
        for _ in 0..10 {
            assert_eq!(here(), home);
            tokio::task::yield_now().await;
        }
        after(Duration::from_millis(1), &cown, |n| *n += 1);
        coact::time::sleep(Duration::from_millis(2)).await.unwrap();
        (cown.runtime(), RuntimeHandle::current())
    }));
    assert_eq!(tokio.block_on(task).unwrap(), (home, home));
    // One that is dropped in the middle.
    let look = Look(tell);
    let task = tokio.spawn(home.within(async move {
        let _look = look;
        std::future::pending::<()>().await;
    }));
    task.abort();
    assert!(tokio.block_on(task).is_err());
    assert_eq!(told.recv(), Ok(home));
    runtime.wait_idle();
}

#[test]
fn threads_of_tokio_are_within_a_runtime() {
    let runtime = runtime(2, &Faults::new());
    let home = runtime.handle();
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .on_thread_start(move || home.enter_thread())
        .build()
        .unwrap();
    let seen = tokio.block_on(async {
        let tasks = (0..20).map(|_| {
            tokio::spawn(async {
                let before = here();
                tokio::time::sleep(Duration::from_millis(1)).await;
                let blocking = tokio::task::spawn_blocking(here).await.unwrap();
                [before, here(), blocking]
            })
        });
        let mut seen = Vec::new();
        for task in tasks.collect::<Vec<_>>() {
            seen.extend(task.await.unwrap());
        }
        seen
    });
    assert!(seen.into_iter().all(|at| at == home));
}

#[test]
fn a_pump_is_entered_by_its_own_thread() {
    let pump = Runtime::builder().build_pumped().unwrap();
    let home = pump.runtime();
    assert_eq!(
        {
            let _entered = home.enter();
            here()
        },
        home
    );
    let message = thread::spawn(move || panic_of(|| home.enter())).join().unwrap();
    assert!(message.starts_with("only its own thread can enter a pump"), "{message}");
}

#[test]
fn t5_timers_belong_to_the_runtime_of_their_cowns_or_to_one_that_is_chosen() {
    let [clock, bank] = [1, 1].map(|workers| runtime(workers, &Faults::new()));
    let account = bank.run(|| Cown::new(0));
    // Set from outside: the bank is not idle before it has fired.
    after(Duration::from_millis(5), &account, |balance| *balance += 1);
    bank.wait_idle();
    assert_eq!(call(&account, |balance| *balance).wait(), Ok(1));
    // Stopping a runtime cancels its timers, and no others.
    let never = Duration::from_secs(3600);
    let chosen = clock.handle().after(never, &account, |balance| *balance = 0);
    let again = clock.handle().every(never, &account, |balance| *balance = 0);
    let late = clock.handle().sleep(never).into_promise();
    bank.wait_idle();
    assert!(again.cancel());
    let report = clock.shutdown(Duration::ZERO);
    assert_eq!(report.abandoned, 2);
    assert!(!chosen.cancel());
    assert_eq!(late.wait(), Err(Broken::Cancelled));
    let own = after(never, &account, |balance| *balance = 0);
    assert!(own.cancel());
}
