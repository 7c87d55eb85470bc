//! Waiting only ever follows the order of spawning, which has no cycle. What could break that is
//! refused with a panic that names what to use instead.

use std::thread;
use std::time::Duration;

use coact::credits::Credits;
use coact::prelude::*;
use coact::runtime::spawn_future;
use coact_tests::{Faults, everywhere, fail, panic_of, runtime};

#[test]
fn p2_philosophers_who_take_forks_in_any_order_all_eat() {
    everywhere(|| {
        let forks: Vec<Cown<u32>> = (0..5).map(|_| Cown::new(0)).collect();
        for _ in 0..20 {
            for seat in 0..5 {
                let (left, right) = (&forks[seat], &forks[(seat + 1) % 5]);
                let both = if seat % 2 == 0 { (left, right) } else { (right, left) };
                when(both, |(one, other)| {
                    *one += 1;
                    *other += 1;
                });
            }
        }
        assert_eq!(
            call(&forks, |all| all.iter().copied().collect::<Vec<_>>()).wait().unwrap(),
            [40; 5]
        );
    });
}

/// Appends of the same cowns in opposite orders, from threads that meet in the middle of them.
#[test]
fn p2_threads_that_name_cowns_in_opposite_orders_do_not_block_each_other() {
    let runtime = runtime(2, &Faults::new());
    let (a, b, c) = runtime.run(|| {
        let (a, b, c) = (Cown::new(0), Cown::new(0), Cown::new(0));
        let add = |(a, b, c): (&mut u32, &mut u32, &mut u32)| {
            *a += 1;
            *b += 1;
            *c += 1;
        };
        thread::scope(|scope| {
            scope.spawn(|| (0..500).for_each(|_| when((&a, &b, &c), add)));
            scope.spawn(|| (0..500).for_each(|_| when((&c, &b, &a), add)));
            scope.spawn(|| (0..500).for_each(|_| when((&b, &c, &a), add)));
        });
        (a, b, c)
    });
    assert_eq!([a, b, c].map(|cown| cown.into_inner().unwrap()), [1500; 3]);
}

#[test]
fn p2_a_behaviour_may_spawn_on_whatever_it_holds() {
    everywhere(|| {
        fn step(a: &Cown<u32>, b: &Cown<u32>, left: u32) {
            let (next_a, next_b) = (a.clone(), b.clone());
            when((a, b), move |(a, b)| {
                *a += 1;
                *b += 1;
                if left > 0 {
                    step(&next_b, &next_a, left - 1);
                }
            });
        }
        let (a, b) = (Cown::new(0), Cown::new(0));
        step(&a, &b, 99);
        coact_tests::finally(move || {
            assert_eq!((a.into_inner().unwrap(), b.into_inner().unwrap()), (100, 100));
        });
    });
}

/// The message of a blocking call inside a behaviour.
fn refusal(blocking: impl FnOnce() + Send + 'static) -> String {
    let runtime = runtime(1, &Faults::new());
    let result = runtime.run(|| call(&Cown::new(()), move |_| blocking()));
    match result.wait() {
        Err(Broken::Panicked(message)) => message.to_string(),
        other => panic!("this had to be refused: {other:?}"),
    }
}

#[test]
fn p4_waiting_for_a_promise_in_a_behaviour_is_refused() {
    for message in [
        refusal(|| drop(Promise::<()>::channel().1.wait())),
        refusal(|| drop(Promise::<()>::channel().1.wait_timeout(Duration::ZERO))),
    ] {
        assert!(message.contains("Promise::wait"), "{message}");
        assert!(message.contains("Promise::then") && message.contains("spawn_future"), "{message}");
    }
}

#[test]
fn p4_waiting_in_a_future_is_refused() {
    let runtime = runtime(1, &Faults::new());
    let result = runtime.run(|| spawn_future(async { drop(Promise::<()>::channel().1.wait()) }));
    let Err(Broken::Panicked(message)) = result.wait() else { panic!("this had to be refused") };
    assert!(message.contains("Promise::then"), "{message}");
}

#[test]
fn p4_waiting_in_a_behaviour_that_runs_here_is_refused() {
    let runtime = runtime(1, &Faults::new());
    let message = runtime.run(|| {
        let (resolver, promise) = Promise::channel();
        when_here(&Cown::new(()), |_| {
            resolver.resolve(panic_of(|| Promise::<()>::channel().1.wait()));
        });
        promise
    });
    assert!(message.wait().unwrap().contains("Promise::then"));
}

#[test]
fn p4_other_blocking_calls_in_a_behaviour_are_refused() {
    let used_up = Credits::new(1);
    let kept = used_up.try_acquire(1);
    for (message, instead) in [
        (refusal(|| scope(|_| ())), "move it into a cown"),
        (refusal(|| Runtime::global().run(|| ())), "spawn the work"),
        (refusal(|| Runtime::global().wait_idle()), "spawn what follows"),
        (refusal(move || drop(used_up.acquire_blocking(1))), "try_acquire"),
    ] {
        assert!(message.contains("would block a worker"), "{message}");
        assert!(message.contains(instead), "{message}");
    }
    drop(kept);
}

#[test]
fn p4_a_value_that_is_there_may_be_taken_in_a_behaviour() {
    everywhere(|| {
        let taken = call(&Cown::new(()), |_| {
            let now = Promise::ready(1).wait().unwrap();
            let soon = Promise::ready(2).wait_timeout(Duration::ZERO).unwrap().unwrap();
            let maybe = Promise::ready(3).try_wait().unwrap().unwrap();
            let never = Promise::<u32>::channel().1.try_wait().is_err();
            (now, soon, maybe, never)
        });
        assert_eq!(taken.wait(), Ok((1, 2, 3, true)));
    });
}

#[test]
fn waiting_outside_is_allowed_once_the_behaviour_is_over() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    let cown = Cown::new(());
    when_here(&cown, |_| fail("on this very thread"));
    assert_eq!(call(cown.checked(), |state| state.is_err()).wait(), Ok(true));
}
