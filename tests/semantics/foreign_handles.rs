//! Handles of other crates ([`AsCown`]) are safe to write: whatever they answer, and whatever they do
//! instead, no state is reached by two behaviours, nor after its end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coact::cown::AsCown;
use coact::prelude::*;
use coact_tests::{Faults, Log, everywhere, finally, runtime};

/// Names one cown for so many times, and another one from then on.
#[derive(Clone)]
struct Turncoat {
    first: Cown<u64>,
    second: Cown<u64>,
    left: Arc<AtomicUsize>,
}

impl Turncoat {
    fn new(first: &Cown<u64>, second: &Cown<u64>, times: usize) -> Self {
        let left = Arc::new(AtomicUsize::new(times));
        Self { first: first.clone(), second: second.clone(), left }
    }
}

impl AsCown for Turncoat {
    type State = u64;
    type View = u64;

    fn as_cown(&self) -> &Cown<u64> {
        let down = |left: usize| left.checked_sub(1);
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, down) {
            Ok(_) => &self.first,
            Err(_) => &self.second,
        }
    }

    fn view(state: &u64) -> &u64 {
        state
    }

    fn view_mut(state: &mut u64) -> &mut u64 {
        state
    }
}

#[test]
fn a_handle_that_turns_to_a_member_of_a_group_does_not_bring_its_queue_into_disorder() {
    everywhere(|| {
        for times in 0..6 {
            let group = Group::new();
            let (plain, member) = (Cown::new(0), group.cown(0));
            let turncoat = Turncoat::new(&plain, &member, times);
            for _ in 0..10 {
                turncoat.left.store(times, Ordering::Relaxed);
                when(&turncoat, |n| *n += 1);
                when(&member, |n| *n += 1);
            }
            drop(turncoat);
            let sum = ask((&plain, &member), |(a, b)| *a + *b);
            assert_eq!(sum.wait(), Ok(20), "after {times} answers");
            assert!(group.contains(&member), "after {times} answers");
        }
    });
}

/// Whether the two are the same place: nothing but unsound code can say so.
fn is_same(a: &mut u64, b: &mut u64) -> bool {
    std::ptr::eq(a, b)
}

#[test]
fn a_member_of_a_group_is_not_held_twice_by_a_behaviour() {
    everywhere(|| {
        for times in 0..12 {
            let group = Group::new();
            let (a, b) = (group.cown(0), group.cown(0));
            let (log, late) = (Log::new(), Log::new());
            for (first, second) in [(&a, &b), (&b, &a)] {
                let turncoat = Turncoat::new(first, second, times);
                let spawned = catch_unwind(AssertUnwindSafe(|| {
                    let log = log.clone();
                    drop(try_when((&a, &turncoat), move |(a, b)| log.push(is_same(a, b))));
                }));
                drop(spawned);
                turncoat.left.store(times, Ordering::Relaxed);
                let spawned = catch_unwind(AssertUnwindSafe(|| {
                    let late = late.clone();
                    let many = batch().try_when((&a, &turncoat), move |(a, b)| {
                        late.push(is_same(a, b));
                    });
                    if let Ok(batch) = many {
                        batch.spawn();
                    }
                }));
                drop(spawned);
            }
            assert_eq!(ask((&a, &b), |_| ()).wait(), Ok(()));
            assert!(!log.take().contains(&true), "after {times} answers");
            assert!(!late.take().contains(&true), "in a batch, after {times} answers");
        }
    });
}

/// A handle whose clones name cowns of their own.
struct Loner(Cown<Vec<u64>>);

impl Clone for Loner {
    fn clone(&self) -> Self {
        Self(Cown::new(vec![7; 4]))
    }
}

impl AsCown for Loner {
    type State = Vec<u64>;
    type View = Vec<u64>;

    fn as_cown(&self) -> &Cown<Vec<u64>> {
        &self.0
    }

    fn view(state: &Vec<u64>) -> &Vec<u64> {
        state
    }

    fn view_mut(state: &mut Vec<u64>) -> &mut Vec<u64> {
        state
    }
}

#[test]
fn a_batch_keeps_the_cowns_that_it_names() {
    everywhere(|| {
        let seen = Log::new();
        let loner = Loner(Cown::new(vec![1; 4]));
        let far = seen.clone();
        let batch = batch().when(&loner, move |state| far.push(state.clone()));
        drop(loner);
        batch.spawn();
        finally(move || {
            let seen = seen.take();
            assert_eq!(seen.len(), 1);
            assert!(seen == [vec![1; 4]] || seen == [vec![7; 4]], "{seen:?}");
        });
    });
}

/// A handle that panics when it is told that its behaviour is queued.
#[derive(Clone)]
struct Panicky(Cown<u64>);

impl AsCown for Panicky {
    type State = u64;
    type View = u64;

    fn as_cown(&self) -> &Cown<u64> {
        &self.0
    }

    fn view(state: &u64) -> &u64 {
        state
    }

    fn view_mut(state: &mut u64) -> &mut u64 {
        state
    }

    fn announced(&self) {
        panic!("it was told");
    }
}

#[test]
fn a_handle_that_was_given_is_not_dropped_when_another_one_panics() {
    let runtime = runtime(1, &Faults::new());
    let (state, weak) = (Arc::new(()), AtomicUsize::new(0));
    runtime.run(|| {
        let given = Cown::new(Arc::clone(&state));
        let far = given.clone();
        let panicky = Panicky(Cown::new(0));
        let spawned = catch_unwind(AssertUnwindSafe(|| {
            when((given, &panicky), |(given, _)| drop(given.into_cown()));
        }));
        assert!(spawned.is_err());
        assert_eq!(ask(&far, |_| ()).wait(), Ok(()));
        weak.store(far.strong_count(), Ordering::Relaxed);
    });
    assert_eq!(weak.into_inner(), 1, "handles");
    assert_eq!(Arc::strong_count(&state), 1);
}
