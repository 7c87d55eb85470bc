//! Several `when`s can be spawned as one atomic step, so that nothing comes between them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use coact::prelude::*;
use coact::runtime::Fault;
use coact_tests::{
    Faults, Log, Meeting, everywhere, everywhere_with_faults, fail, panic_of, runtime,
};

#[test]
fn o3_a_batch_runs_in_its_order() {
    everywhere(|| {
        let (log, other) = (Cown::new(Vec::new()), Cown::new(()));
        Batch::new()
            .when(&log, |log| log.push(1))
            .when((&other, &log), |(_, log)| log.push(2))
            .when(&other, |_| ())
            .when(log.checked(), |log| log.unwrap().push(3))
            .spawn();
        assert_eq!(call(&log, |log| log.clone()).wait(), Ok(vec![1, 2, 3]));
    });
}

#[test]
fn o3_what_a_closure_adds_is_one_batch() {
    everywhere(|| {
        let (log, other) = (Cown::new(Vec::new()), Cown::new(()));
        let (first, second) = (log.clone(), log.clone());
        batch(|batch| {
            when(&log, |log| log.push("outside"));
            batch
                .when(&first, |log| log.push("one"))
                .when((&other, &second), |(_, log)| log.push("two"))
        });
        let written = call(&log, |log| log.clone()).wait();
        assert_eq!(written, Ok(vec!["outside", "one", "two"]));
    });
}

#[test]
fn a_closure_that_panics_spawns_nothing() {
    everywhere(|| {
        let cown = Cown::new(0);
        let refused = panic_of(|| {
            batch(|batch| -> Batch {
                let _filled = batch.when(&cown, |n| *n = 1);
                panic!("no batch");
            });
        });
        assert_eq!(refused, "no batch");
        assert_eq!(call(&cown, |n| *n).wait(), Ok(0));
    });
}

#[test]
fn nothing_runs_before_the_batch_is_spawned() {
    everywhere(|| {
        let log = Cown::new(Vec::new());
        let together = Batch::new().when(&log, |log| log.push("batch"));
        assert_eq!((together.len(), together.is_empty()), (1, false));
        assert_eq!(call(&log, |log| log.len()).wait(), Ok(0));
        together.spawn();
        assert_eq!(call(&log, |log| log.clone()).wait(), Ok(vec!["batch"]));
    });
}

#[test]
fn a_batch_that_is_dropped_spawns_nothing() {
    everywhere(|| {
        let (cown, captured) = (Cown::new(0), std::sync::Arc::new(()));
        let kept = captured.clone();
        drop(Batch::new().when(&cown, move |n| {
            *n = 1;
            drop(kept);
        }));
        assert_eq!(std::sync::Arc::strong_count(&captured), 1);
        assert_eq!(cown.into_inner().unwrap(), 0);
    });
}

#[test]
fn an_empty_batch_is_nothing() {
    everywhere(|| {
        assert!(Batch::new().is_empty());
        Batch::new().spawn();
        Batch::new().when((), |()| ()).spawn();
    });
}

/// The handles may go before the batch is spawned.
#[test]
fn a_batch_keeps_its_cowns_alive() {
    everywhere(|| {
        let (cown, log) = (Cown::new(Noisy(Log::new())), Log::new());
        let far = log.clone();
        let together = Batch::new().when(&cown, move |state| state.0 = far);
        drop(cown);
        assert!(log.is_empty());
        together.spawn();
        coact_tests::finally(move || assert_eq!(log.take(), ["dropped"]));
    });

    struct Noisy(Log<&'static str>);
    impl Drop for Noisy {
        fn drop(&mut self) {
            self.0.push("dropped");
        }
    }
}

/// A thread spawns on the same cowns all the time; nothing of it ends up inside of a batch.
#[test]
fn o3_nothing_comes_between_the_behaviours_of_a_batch() {
    const BATCHES: usize = 500;
    let runtime = runtime(2, &Faults::new());
    let (log_a, log_b) = runtime.run(|| {
        let (a, b) = (Cown::new(Vec::new()), Cown::new(Vec::new()));
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            for spoiler in 0..2 {
                let (a, b, done) = (&a, &b, &done);
                scope.spawn(move || {
                    while !done.load(Ordering::Relaxed) {
                        match spoiler {
                            0 => when(a, |a| a.push("spoiler")),
                            _ => when((a, b), |(a, b)| (a.push("spoiler"), b.push("spoiler")).1),
                        }
                        thread::yield_now();
                    }
                });
            }
            for _ in 0..BATCHES {
                Batch::new()
                    .when(&a, |a| a.push("first"))
                    .when((&b, &a), |(b, a)| (a.push("second"), b.push("first")).1)
                    .when(&b, |b| b.push("second"))
                    .when(&a, |a| a.push("third"))
                    .spawn();
            }
            done.store(true, Ordering::Relaxed);
        });
        (a, b)
    });
    let whole = |log: Vec<&str>, steps: &[&str]| {
        let spoilers = log.iter().filter(|entry| **entry == "spoiler").count();
        let at = |start: usize| log[start..].iter().take(steps.len()).eq(steps.iter());
        let batches = (0..log.len()).filter(|&start| at(start)).count();
        assert_eq!(batches, BATCHES, "some batch is torn: {log:?}");
        assert_eq!(log.len(), spoilers + BATCHES * steps.len());
    };
    whole(log_a.into_inner().unwrap(), &["first", "second", "third"]);
    whole(log_b.into_inner().unwrap(), &["first", "second"]);
}

/// On cowns that no behaviour shares, the batch still is one step: who sees its end on one cown
/// comes after it on the other.
#[test]
fn o3_a_batch_over_cowns_that_nothing_links() {
    let runtime = runtime(2, &Faults::new());
    let looks = runtime.run(|| {
        let (a, b, looks) = (Cown::new(0), Cown::new(0), Cown::new(Vec::new()));
        thread::scope(|scope| {
            scope.spawn(|| {
                for n in 1..500 {
                    Batch::new().when(&a, move |a| *a = n).when(&b, move |b| *b = n).spawn();
                }
            });
            for _ in 0..500 {
                let set = (a.read(), b.read(), &looks);
                when(set, |(a, b, looks)| looks.push((*a, *b)));
            }
        });
        looks
    });
    for (a, b) in looks.into_inner().unwrap() {
        assert_eq!(a, b, "somebody came between the two behaviours of a batch");
    }
}

/// `when(a.read()) + when(b) + when(a.read())`: the two readers stand next to each other in the
/// order of `a`, and run at the same time.
#[test]
fn readers_of_a_batch_run_at_the_same_time() {
    let runtime = runtime(2, &Faults::new());
    let met = Log::new();
    runtime.run(|| {
        let (a, b, both) = (Cown::new(0), Cown::new(0), Meeting::of(2));
        let attend = || {
            let (both, met) = (both.clone(), met.clone());
            move || met.push(both.wait())
        };
        let (first, second) = (attend(), attend());
        Batch::new()
            .when(a.read(), move |_| first())
            .when(&b, |_| ())
            .when(a.read(), move |_| second())
            .spawn();
    });
    assert_eq!(met.take(), [true, true]);
}

#[test]
fn o3_readers_and_writers_of_a_batch_keep_their_order() {
    everywhere(|| {
        let (a, log) = (Cown::new(0), Log::new());
        let look = || {
            let log = log.clone();
            move |n: &i32| log.push(*n)
        };
        let looks = [look(), look(), look(), look()];
        let [first, second, third, fourth] = looks;
        Batch::new()
            .when(a.read(), move |n| first(n))
            .when(&a, |n| *n += 1)
            .when(a.read(), move |n| second(n))
            .when(a.read(), move |n| third(n))
            .when(&a, |n| *n += 1)
            .when(a.read(), move |n| fourth(n))
            .spawn();
        call(&a, |_| ()).wait().unwrap();
        assert_eq!(log.take(), [0, 1, 1, 2]);
    });
}

#[test]
fn a_panic_in_a_batch_takes_nothing_else_with_it() {
    everywhere_with_faults(|faults| {
        let (a, b) = (Cown::new(0), Cown::new(0));
        Batch::new()
            .when(&b, |b| *b += 1)
            .when(&a, |_| fail("in a batch"))
            .when((&a, &b), |(_, b)| *b += 10)
            .when(&b, |b| *b += 100)
            .spawn();
        assert_eq!(call(&b, |b| *b).wait(), Ok(101));
        let faults = faults.take();
        assert!(
            matches!(&faults[..], [Fault::Panicked { .. }, Fault::Skipped { position: 0, .. }]),
            "{faults:?}"
        );
    });
}

#[test]
fn a_batch_may_be_spawned_by_a_behaviour_and_sent_to_it() {
    everywhere(|| {
        let log = Cown::new(Vec::new());
        let together = Batch::new().when(&log, |log| log.push(1)).when(&log, |log| log.push(2));
        call((), move |()| together.spawn()).wait().unwrap();
        assert_eq!(call(&log, |log| log.clone()).wait(), Ok(vec![1, 2]));
    });
}

/// The runtime is told, and the batch keeps what it has.
#[test]
fn f6_a_closure_that_a_batch_refuses_and_whose_destructor_panics() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            fail("refused");
        }
    }
    let message = |fault| match fault {
        Fault::InCleanup { message, .. } => message.to_string(),
        other => panic!("another fault: {other}"),
    };
    let (faults, others) = (Faults::new(), Faults::new());
    let (ended, alive) = (runtime(1, &faults), runtime(1, &others));
    let (gone, cown) = (ended.run(|| Cown::new(0)), alive.run(|| Cown::new(0)));
    drop(ended);
    let bomb = Bomb;
    let first = Batch::new().when(&cown, |n| *n += 1).when(&gone, move |_| drop(bomb));
    first.when(&cown, |n| *n += 1).spawn();
    assert_eq!(faults.take().into_iter().map(message).collect::<Vec<_>>(), ["refused"]);
    assert_eq!(call(&cown, |n| *n).wait(), Ok(2));
    // A set that cannot be used: the closure is dropped before the panic that says so.
    let _entered = alive.enter();
    let bomb = Bomb;
    let refused = panic_of(|| {
        drop(Batch::new().when(&cown, |_| ()).when((&cown, &cown), move |_| drop(bomb)))
    });
    assert!(refused.contains("are the same cown"), "{refused}");
    assert_eq!(others.take().into_iter().map(message).collect::<Vec<_>>(), ["refused"]);
}
