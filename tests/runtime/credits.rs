//! Admission of work from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use coact::credits::Credits;
use coact::prelude::*;
use coact::runtime::spawn_future;
use coact_tests::{Faults, fail, panic_of, runtime};

#[test]
fn credits_bound_the_work_in_flight() {
    const LIMIT: usize = 8;
    let runtime = runtime(2, &Faults::new());
    let (credits, most) = (Credits::new(LIMIT), Arc::new(AtomicUsize::new(0)));
    let in_flight = Arc::new(AtomicUsize::new(0));
    let done = runtime.run(|| {
        let done = Cown::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                let (done, credits, in_flight, most) = (&done, &credits, &in_flight, &most);
                scope.spawn(move || {
                    for _ in 0..500 {
                        let permit = credits.acquire_blocking(1);
                        let now = in_flight.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now, Ordering::SeqCst);
                        let in_flight = Arc::clone(in_flight);
                        when(done, move |done| {
                            *done += 1;
                            in_flight.fetch_sub(1, Ordering::SeqCst);
                            drop(permit);
                        });
                    }
                });
            }
        });
        done
    });
    assert_eq!(done.into_inner().unwrap(), 1500);
    assert!((1..=LIMIT).contains(&most.load(Ordering::SeqCst)));
    assert_eq!(credits.available(), LIMIT);
}

#[test]
fn t6_a_permit_comes_back_whatever_becomes_of_the_behaviour() {
    let runtime = runtime(1, &Faults::new());
    let credits = Credits::new(4);
    let cown = runtime.run(|| {
        let cown = Cown::new(());
        for _ in 0..3 {
            let permit = credits.try_acquire(1).unwrap();
            // The first one panics, the others are skipped.
            when(&cown, move |_| {
                let _permit = permit;
                fail("with a permit");
            });
        }
        cown
    });
    assert_eq!(credits.available(), 4);
    assert!(runtime.shutdown(std::time::Duration::ZERO).is_complete());
    let permit = credits.try_acquire(4).unwrap();
    // Not spawned at all.
    when(&cown, move |_| drop(permit));
    assert_eq!(credits.available(), 4);
}

#[test]
fn credits_can_be_awaited() {
    let runtime = runtime(1, &Faults::new());
    let credits = Credits::new(1);
    let (sum, permits) = runtime.run(|| {
        let sum = Cown::new(0);
        let permits: Vec<_> = (0..20)
            .map(|n| {
                let (credits, sum) = (credits.clone(), sum.clone());
                spawn_future(async move {
                    let permit = credits.acquire(1).await;
                    when(&sum, move |sum| {
                        *sum += n;
                        drop(permit);
                    });
                })
            })
            .collect();
        (sum, permits)
    });
    assert!(permits.into_iter().all(|permit| permit.wait() == Ok(())));
    assert_eq!(sum.into_inner().unwrap(), 190);
}

#[test]
fn t6_credits_are_given_in_the_order_of_asking() {
    let credits = Credits::new(2);
    let all = credits.try_acquire(2).unwrap();
    let (large, small) = (credits.acquire(2), credits.acquire(1));
    // None overtakes, even if there would be enough for it.
    drop(all);
    assert!(credits.try_acquire(1).is_none());
    let large = large.wait();
    let Err(small) = small.try_wait() else { panic!("the small one overtook the large one") };
    drop(large);
    assert_eq!(small.wait().amount(), 1);
    assert_eq!(credits.available(), 2);
}

#[test]
fn who_gives_up_waiting_gives_up_the_place() {
    let credits = Credits::new(2);
    let one = credits.try_acquire(1).unwrap();
    let (gives_up, next) = (credits.acquire(2), credits.acquire(1));
    let Err(next) = next.try_wait() else { panic!("it stands behind the other") };
    drop(gives_up);
    // Seen when the next credits come back, at the latest.
    drop(one);
    assert_eq!(next.wait().amount(), 1);
    assert_eq!(credits.available(), 2);
}

/// A place that is given up must not hold up those behind it, even if nothing comes back.
#[test]
fn who_gives_up_waiting_lets_the_next_one_in() {
    let credits = Credits::new(2);
    let _kept = credits.try_acquire(1).unwrap();
    let (gives_up, next) = (credits.acquire(2), credits.acquire(1));
    drop(gives_up);
    // There is one free credit, and none before the one that wants it.
    assert_eq!(next.try_wait().expect("it is served").amount(), 1);
}

#[test]
fn a_permit_that_came_too_late_goes_back() {
    let credits = Credits::new(1);
    let only = credits.try_acquire(1).unwrap();
    let waiting = credits.acquire(1);
    drop(only);
    // It is there, but not taken.
    drop(waiting);
    assert_eq!(credits.available(), 1);
}

#[test]
fn permits_can_be_split() {
    let credits = Credits::new(5);
    let mut many = credits.try_acquire(5).unwrap();
    let two = many.split(2).unwrap();
    assert_eq!((many.amount(), two.amount()), (3, 2));
    assert!(many.split(4).is_none());
    drop(many);
    assert_eq!(credits.available(), 3);
    drop(two);
    assert_eq!((credits.available(), credits.limit()), (5, 5));
}

#[test]
fn what_can_never_be_had_is_refused() {
    assert!(panic_of(|| Credits::new(0)).contains("limit of 0"));
    let credits = Credits::new(2);
    assert!(credits.try_acquire(3).is_none());
    assert_eq!(panic_of(|| credits.acquire(3)), "3 credits exceed the limit of 2");
    assert_eq!(panic_of(|| credits.acquire_blocking(3)), "3 credits exceed the limit of 2");
}

/// In a behaviour there may be a free credit, but no waiting for one.
#[test]
fn a_free_credit_may_be_taken_in_a_behaviour() {
    let runtime = runtime(1, &Faults::new());
    let credits = Credits::new(1);
    let inside = credits.clone();
    let taken = runtime.run(|| {
        call((), move |()| {
            let permit = inside.acquire_blocking(1);
            (permit.amount(), inside.try_acquire(1).is_none())
        })
    });
    assert_eq!(taken.wait(), Ok((1, true)));
    assert_eq!(credits.available(), 1);
}
