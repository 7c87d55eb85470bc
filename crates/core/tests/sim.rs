//! Deterministic mode, tested on programs whose schedules are known.
#![cfg(feature = "sim")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use coact_core::cown::read_all;
use coact_core::runtime::{blocking, spawn_future};
use coact_core::sim::{self, Bounds, Config, Method, Seed, Sim};
use coact_core::time::{after, every, sleep};
use coact_core::{Cown, Group, Promise, Runtime, call, scope, when};

fn exhaustive() -> Sim {
    Sim::new().config(Config::new().method(Method::Dfs(Bounds::new())).runs(100_000))
}

/// All possible results of a program.
fn results<R: Ord + 'static>(sim: Sim, program: impl Fn() -> R + 'static) -> BTreeSet<R> {
    let seen = Rc::new(RefCell::new(BTreeSet::new()));
    let results = Rc::clone(&seen);
    sim.check(move || {
        results.borrow_mut().insert(program());
    });
    Rc::try_unwrap(seen).ok().expect("the program is gone").into_inner()
}

#[test]
fn both_orders_of_unrelated_behaviours_are_found_and_no_others() {
    let orders = results(exhaustive(), || {
        let (a, b, log) = (Cown::new(()), Cown::new(()), Cown::new(String::new()));
        for (cown, name) in [(&a, 'a'), (&b, 'b')] {
            let log = log.clone();
            when(cown, move |()| when(&log, move |log| log.push(name)));
        }
        call((&a, &b), |_| ()).wait().unwrap();
        call(&log, |log| log.clone()).wait().unwrap()
    });
    assert_eq!(orders, ["ab", "ba"].map(String::from).into());
}

#[test]
fn behaviours_on_one_cown_have_one_order() {
    let orders = results(exhaustive(), || {
        let log = Cown::new(String::new());
        for name in ['a', 'b', 'c'] {
            when(&log, move |log| log.push(name));
        }
        call(&log, |log| log.clone()).wait().unwrap()
    });
    assert_eq!(orders, [String::from("abc")].into());
}

#[test]
fn a_rare_order_is_found_and_replayed() {
    let program = || {
        let (a, b) = (Cown::new(0), Cown::new(0));
        let far = b.clone();
        when(&a, move |_| when(&far, |b| *b = 1));
        when(&b, |b| assert_eq!(*b, 0, "overtaken"));
    };
    let failure = exhaustive().run(program).unwrap_err();
    assert!(failure.cause().contains("overtaken"), "{failure}");
    let replay = Config::new().method(Method::Replay(failure.schedule().clone()));
    let again = Sim::new().config(replay).run(program).unwrap_err();
    assert_eq!(again.schedule(), failure.schedule());
}

/// A program that fails in some run of 32.
fn failing(program: impl Fn(&[Cown<u32>])) {
    let cowns: Vec<Cown<u32>> = (0..4).map(Cown::new).collect();
    let count = || cowns.iter().for_each(|cown| when(cown, |count| *count += 1));
    count();
    program(&cowns);
    count();
    assert!((0..5).any(|_| sim::choose(2) == 0), "rare");
}

/// Memory is used again from one run to the next, so cowns have other addresses in each, and in a
/// replay.
#[test]
fn a_run_does_not_depend_on_where_its_cowns_lie() {
    let programs: [fn(); 6] = [
        || failing(|cowns| when(read_all(cowns), |_| ())),
        || failing(|cowns| call(read_all(cowns), |_| ()).wait().unwrap()),
        || failing(|cowns| when((cowns[2].read(), cowns[0].read()), |_| ())),
        || failing(|cowns| call((cowns[3].read(), &cowns[1]), |_| ()).wait().unwrap()),
        || failing(|cowns| when((&cowns[3], &cowns[2], &cowns[1]), |_| ())),
        || {
            failing(|cowns| {
                let (a, b) = (Group::new(), Group::new());
                let members = [b.cown(0), a.cown(0), b.cown(0), a.cown(0)];
                when((&members[..], cowns[0].read()), |_| ());
                members.iter().rev().for_each(|member| when(member, |count| *count += 1));
            });
        },
    ];
    for (number, program) in programs.into_iter().enumerate() {
        for seed in 0..20 {
            let config = Config::new().runs(1_000).seed(Seed::new(seed));
            let failure = Sim::new().config(config).run(program).expect_err("one in 32");
            let replay = Config::new().method(Method::Replay(failure.schedule().clone()));
            let again = Sim::new().config(replay).run(program).expect_err("it fails again");
            assert_eq!(again.schedule(), failure.schedule(), "program {number}, seed {seed}");
            assert!(!again.to_string().contains("diverged"), "program {number}: {again}");
        }
    }
}

#[test]
fn all_schedules_of_readers_are_found_wherever_their_cowns_lie() {
    let program = || {
        let cowns = [Cown::new(0), Cown::new(0)];
        when(&cowns[0], |count| *count += 1);
        when(read_all(&cowns), |_| ());
        when(&cowns[1], |count| *count += 1);
        call(&cowns, |cowns| cowns.iter().sum::<i32>()).wait().unwrap()
    };
    for _ in 0..3 {
        assert_eq!(results(exhaustive(), program), [2].into());
    }
}

#[test]
fn the_same_seed_takes_the_same_schedules() {
    let trace = |seed| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&log);
        let config = Config::new().method(Method::Random).seed(sim::Seed::new(seed)).runs(5);
        Sim::new().config(config).check(move || {
            let cowns: Vec<_> = (0..4).map(Cown::new).collect();
            for cown in &cowns {
                let seen = Arc::clone(&seen);
                when(cown, move |n| seen.lock().unwrap().push(*n));
            }
        });
        Arc::try_unwrap(log).unwrap().into_inner().unwrap()
    };
    assert_eq!(trace(7), trace(7));
    assert_ne!(trace(7), trace(8));
}

#[test]
fn waiting_for_nothing_is_a_deadlock() {
    let failure = Sim::new()
        .run(|| {
            let (resolver, promise) = coact_core::Promise::<()>::channel();
            std::mem::forget(resolver);
            let _ = promise.wait();
        })
        .unwrap_err();
    assert!(failure.cause().contains("deadlock"), "{failure}");
}

#[test]
fn waiting_in_a_behaviour_is_refused() {
    let failure = Sim::new()
        .run(|| {
            let (a, b) = (Cown::new(()), Cown::new(()));
            when(&a, move |()| drop(call(&b, |()| ()).wait()));
        })
        .unwrap_err();
    assert!(failure.cause().contains("Promise::then"), "{failure}");
}

#[test]
fn time_is_virtual() {
    sim::check(|| {
        let ticks = Cown::new(0);
        let timer = every(Duration::from_secs(3600), &ticks, |ticks| *ticks += 1);
        sleep(Duration::from_secs(24 * 3600 + 1)).wait().unwrap();
        assert!(timer.cancel());
        assert_eq!(call(&ticks, |ticks| *ticks).wait(), Ok(24));
        assert_eq!(sim::elapsed(), Duration::from_secs(24 * 3600 + 1));
    });
}

#[test]
fn a_timer_without_cowns_fires_in_the_simulation() {
    sim::check(|| {
        let cown = Cown::new(0);
        let far = cown.clone();
        after(Duration::from_secs(1), (), move |()| when(&far, |n| *n += 1));
        sleep(Duration::from_secs(2)).wait().unwrap();
        assert_eq!(call(&cown, |n| *n).wait(), Ok(1));
    });
}

#[test]
fn everything_that_waits_can_be_simulated() {
    sim::check(|| {
        let (a, b) = (Cown::new(1), Cown::new(2));
        let far = b.clone();
        let future = spawn_future(async move { call(&far, |b| *b).await });
        let job = blocking(|| 5).then(&a, |a, five| *a += five.unwrap());
        let thread = sim::thread({
            let a = a.clone();
            move || call(&a, |a| *a).wait().unwrap()
        });
        let mut inside = 0;
        scope(|s| s.when((&a, &b), |(a, b)| inside = *a * *b));
        assert!(inside == 2 || inside == 12);
        assert_eq!(future.wait(), Ok(Ok(2)));
        assert_eq!(job.wait(), Ok(()));
        assert!([1, 6].contains(&thread.wait().unwrap()));
        assert_eq!(call(&a, |a| *a).wait(), Ok(6));
    });
}

#[test]
fn the_atomic_step_of_a_transfer_is_never_seen_half_done() {
    sim::check(|| {
        let (a, b) = (Cown::new(10), Cown::new(0));
        let audits: Vec<_> = (0..3)
            .map(|_| {
                when((&a, &b), |(a, b)| {
                    *a -= 1;
                    *b += 1;
                });
                call((a.read(), b.read()), |(a, b)| a + b)
            })
            .collect();
        for audit in audits {
            assert_eq!(audit.wait(), Ok(10));
        }
    });
}

#[test]
fn a_panic_is_told_unless_it_is_allowed() {
    let program = || {
        let cown = Cown::new(());
        when(&cown, |()| panic!("on purpose"));
        assert!(call(&cown, |()| ()).wait().is_err());
    };
    let failure = Sim::new().run(program).unwrap_err();
    assert!(failure.cause().contains("on purpose"), "{failure}");
    Sim::new().allow_faults(true).check(program);
}

#[test]
fn runtimes_that_a_program_builds_are_simulated() {
    let orders = results(exhaustive(), || {
        let [one, two] = [(); 2].map(|()| Runtime::builder().workers(1).build().unwrap());
        let (a, b, log) = (one.run(|| Cown::new(())), two.run(|| Cown::new(())), Cown::new(vec![]));
        for (cown, name) in [(&a, 'a'), (&b, 'b')] {
            let log = log.clone();
            when(cown, move |()| when(&log, move |log| log.push(name)));
        }
        Runtime::wait_idle_all(&[one.handle(), two.handle(), log.runtime()]);
        assert!(one.shutdown(Duration::ZERO).is_complete());
        log.into_inner().unwrap().into_iter().collect::<String>()
    });
    assert_eq!(orders, ["ab", "ba"].map(String::from).into());
}

/// More of them than a process has ids for.
#[test]
fn the_ids_of_simulated_runtimes_are_used_again() {
    let config = Config::new().method(Method::Random).runs(70_000);
    Sim::new().config(config).check(|| drop(Runtime::builder().workers(1).build().unwrap()));
}

#[test]
fn a_pump_runs_one_behaviour_at_a_time_and_only_when_it_is_pumped() {
    sim::check(|| {
        let pump = Runtime::builder().build_pumped().unwrap();
        let (a, b) = {
            let _entered = pump.enter();
            (Cown::new(0), Cown::new(0))
        };
        let running = Arc::new(Mutex::new(()));
        let spawn = |cown: &Cown<i32>| {
            let (running, plain) = (Arc::clone(&running), Cown::new(()));
            when(cown, move |n| {
                let _alone = running.try_lock().expect("two behaviours on one thread");
                // Here others may go on: but none of the pump's.
                when(&plain, |()| ());
                *n += 1;
            });
        };
        let far = a.clone();
        let thread = sim::thread(move || {
            assert!(!coact_core::when_here(&far, |n| *n += 10));
            drop(far);
        });
        spawn(&a);
        spawn(&b);
        sleep(Duration::from_secs(1)).wait().unwrap();
        assert_eq!(thread.wait(), Ok(()));
        // The pump has not run.
        assert_eq!(pump.run_pending(), 2);
        pump.run_until_idle(&[]);
        assert_eq!(pump.run_future(call((&a, &b), |(a, b)| (*a, *b))), Ok((11, 1)));
        let woken = Arc::new(Mutex::new(false));
        let mut other = None;
        pump.run_future(poll_fn(|context| {
            other.get_or_insert_with(|| {
                let (waker, flag) = (context.waker().clone(), Arc::clone(&woken));
                sim::thread(move || {
                    *flag.lock().unwrap() = true;
                    waker.wake();
                })
            });
            if *woken.lock().unwrap() { Poll::Ready(()) } else { Poll::Pending }
        }));
        let before = sim::elapsed();
        pump.run_future(pump.runtime().sleep(Duration::from_secs(60))).unwrap();
        assert_eq!(sim::elapsed() - before, Duration::from_secs(60));
    });
}

#[test]
fn a_pump_that_nobody_wakes_is_a_deadlock() {
    let failure = Sim::new()
        .run(|| Runtime::builder().build_pumped().unwrap().run_future(pending::<()>()))
        .unwrap_err();
    assert!(failure.cause().contains("deadlock"), "{failure}");
}

#[test]
fn behaviours_on_blocking_threads_may_wait() {
    sim::check(|| {
        let files = Runtime::builder().on_blocking_threads(2).build().unwrap();
        let (here, there) = (files.run(|| Cown::new(1)), Cown::new(2));
        let sum = call(&here, move |n| *n + call(&there, |n| *n).wait().unwrap());
        assert_eq!(sum.wait(), Ok(3));
        // Each needs a thread, and the third waits for one of the two.
        let (resolver, promise) = coact_core::Promise::channel();
        let waiting = files.run(|| {
            let first = call(&Cown::new(()), move |()| promise.wait());
            when(&Cown::new(()), move |()| resolver.resolve(5));
            first
        });
        assert_eq!(waiting.wait(), Ok(Ok(5)));
    });
}

/// A waker whose destructor panics.
struct PanicsWhenDropped;

impl Wake for PanicsWhenDropped {
    fn wake(self: Arc<Self>) {}
}

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("the destructor of a waker");
        }
    }
}

/// F6, where the consumer leaves while the producer has its waker.
#[test]
fn a_panic_of_a_wakers_destructor_does_not_reach_who_resolves() {
    let config = Config::new().runs(500);
    Sim::new().allow_faults(true).config(config).check(|| {
        let (resolver, mut promise) = Promise::channel();
        drop(sim::thread(move || {
            let waker = Waker::from(Arc::new(PanicsWhenDropped));
            let polled = Pin::new(&mut promise).poll(&mut Context::from_waker(&waker));
            // Who drops the last one is whose panic it is.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(waker)));
            // The other thread may run here.
            when(&Cown::new(()), |()| ());
            let _ = catch_unwind(AssertUnwindSafe(|| drop((polled, promise))));
        }));
        drop(sim::thread(move || {
            let resolved = catch_unwind(AssertUnwindSafe(|| resolver.resolve(5)));
            assert!(resolved.is_ok(), "the panic came to who resolves");
        }));
    });
}
