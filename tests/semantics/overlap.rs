//! The same cown twice in one set is an error that is found before anything is enqueued.

use std::time::Duration;

use coact::behaviour::{Batch, Overlap, Refusal, WhenError};
use coact::prelude::*;
use coact::try_call;
use coact_tests::{Faults, everywhere, panic_of, runtime};

fn overlap_of<F>(result: Result<(), WhenError<F>>) -> (usize, usize) {
    match result.unwrap_err().refusal {
        Refusal::Overlap(Overlap { first, second }) => (first, second),
        other => panic!("not an overlap: {other:?}"),
    }
}

#[test]
fn s1_the_positions_are_named() {
    everywhere(|| {
        let (a, b, c) = (Cown::new(0), Cown::new(0), Cown::new(0));
        let same = a.clone();
        assert_eq!(overlap_of(try_when((&a, &same), |_| ())), (0, 1));
        assert_eq!(overlap_of(try_when((&b, &a, &c, &same), |_| ())), (1, 3));
        assert_eq!(overlap_of(try_when([&c, &b, &c], |_| ())), (0, 2));
        assert_eq!(overlap_of(try_when(&vec![a.clone(), b.clone(), b.clone()], |_| ())), (1, 2));
        assert_eq!(overlap_of(try_when((&a, (&b, &c), &b), |_| ())), (1, 3));
        assert_eq!(overlap_of(try_when((&c, &[a.clone(), b.clone()], &a), |_| ())), (1, 3));
        assert_eq!(overlap_of(try_when((a.read(), &b, a.checked()), |_| ())), (0, 2));
    });
}

/// Two readers of one cown do not exclude each other, but a set that names it twice is a mistake.
#[test]
fn s1_reading_twice_is_an_overlap_too() {
    everywhere(|| {
        let a = Cown::new(0);
        assert_eq!(overlap_of(try_when((a.read(), a.read()), |_| ())), (0, 1));
        assert_eq!(overlap_of(try_when(read_all(&[a.clone(), a.clone()]), |_| ())), (0, 1));
    });
}

#[test]
fn s1_try_when_gives_the_closure_back() {
    everywhere(|| {
        let a = Cown::new(1);
        let captured = String::from("captured");
        let add = move |(a, b): (&mut i32, &mut i32)| *a += *b + captured.len() as i32;
        let error = try_when((&a, &a), add).unwrap_err();
        assert!(error.to_string().contains("members 0 and 1 of the set are the same cown"));
        // It is the same closure: it can be spawned on another set.
        when((&a, &Cown::new(10)), error.closure);
        assert_eq!(call(&a, |a| *a).wait(), Ok(19));
        assert!(try_call((&a, &a), |_| 1).is_err());
        assert_eq!(try_call(&a, |a| *a).unwrap().wait(), Ok(19));
    });
}

#[test]
fn s1_the_others_panic_in_the_caller() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    let (a, b) = (Cown::new(0), Cown::new(0));
    let day = Duration::from_secs(86_400);
    let messages = [
        panic_of(|| when((&a, &b, &a), |_| ())),
        panic_of(|| call((&a, &b, &a), |_| ())),
        panic_of(|| when_here((&a, &b, &a), |_| ())),
        panic_of(|| after(day, (&a, &b, &a), |_| ())),
        panic_of(|| every(day, (&a, &b, &a), |_| ())),
        panic_of(|| Promise::ready(()).then((&a, &b, &a), |_, _| ())),
        panic_of(|| Batch::new().when(&b, |_| ()).when((&a, &b, &a), |_| ()).spawn()),
        panic_of(|| scope(|s| s.when((&a, &b, &a), |_| ()))),
    ];
    for message in messages {
        assert_eq!(message, "members 0 and 2 of the set are the same cown: name each cown once");
    }
}

/// The panic is that of the spawning behaviour, and is caught there.
#[test]
fn inside_a_behaviour_the_spawner_panics() {
    let faults = Faults::new();
    let runtime = runtime(1, &faults);
    let result = runtime.run(|| {
        let a = Cown::new(0);
        call(&Cown::new(()), move |_| when((&a, &a), |_| ()))
    });
    let Err(Broken::Panicked(message)) = result.wait() else { panic!("no overlap was found") };
    assert!(message.contains("members 0 and 1"), "{message}");
    assert_eq!(faults.len(), 1);
}

#[test]
fn s1_nothing_is_enqueued() {
    everywhere(|| {
        let (a, b) = (Cown::new(0), Cown::new(0));
        let _ = try_when((&b, &a, &a), |(b, a, _)| (*a, *b) = (1, 1)).unwrap_err();
        let error = Batch::new().when(&b, |b| *b = 1).try_when((&a, &a), |_| ()).unwrap_err();
        assert!(matches!(error.refusal, Refusal::Overlap(_)));
        drop(error.batch);
        // They are free, and nothing has run on them.
        assert_eq!((a.into_inner().unwrap(), b.into_inner().unwrap()), (0, 0));
    });
}

#[test]
fn a_batch_lives_on_without_the_behaviour_that_overlaps() {
    everywhere(|| {
        let (a, b) = (Cown::new(0), Cown::new(0));
        let error = Batch::new().when(&b, |b| *b = 1).try_when((&a, &a), |_| ()).unwrap_err();
        error.batch.when(&a, |a| *a = 2).spawn();
        assert_eq!(call((&a, &b), |(a, b)| (*a, *b)).wait(), Ok((2, 1)));
    });
}

/// In a batch each behaviour has its own set: the same cown in two of them is no overlap.
#[test]
fn behaviours_of_a_batch_may_share_cowns() {
    everywhere(|| {
        let (a, b) = (Cown::new(1), Cown::new(1));
        Batch::new().when((&a, &b), |(a, b)| *a += *b).when((&b, &a), |(b, a)| *b += *a).spawn();
        assert_eq!(call((&a, &b), |(a, b)| (*a, *b)).wait(), Ok((2, 3)));
    });
}

/// Each closure is of a type of its own, and so is the error that gives it back; what is wrong is
/// not.
#[test]
fn errors_of_different_closures_come_together() {
    fn add(which: u32, a: &Cown<u32>) -> Result<Batch, coact::behaviour::BatchRefusal> {
        let all = Batch::new().when(a, |a| *a += 1);
        Ok(match which {
            0 => all.try_when((a, a), |(a, b)| *a += *b)?,
            1 => all.try_when([a, a], |[a, b]| *a += *b)?,
            _ => all.try_when(a, |a| *a += 1)?,
        })
    }
    fn spawn(which: u32, a: &Cown<u32>) -> Result<(), Refusal> {
        match which {
            0 => try_when((a, a), |(a, b)| *a += *b)?,
            1 => _ = try_call([a, a], |[a, _]| *a)?,
            2 => Batch::new().try_when((a, a), |_| ())?.spawn(),
            _ => add(0, a)?.spawn(),
        }
        Ok(())
    }
    fn boxed(a: &Cown<u32>) -> Result<(), Box<dyn std::error::Error>> {
        Batch::new().try_when((a, a), |_| ())?.spawn();
        Ok(())
    }
    everywhere(|| {
        let a = Cown::new(0);
        for which in 0..2 {
            let refused = add(which, &a).unwrap_err();
            assert!(matches!(refused.refusal, Refusal::Overlap(_)));
            refused.batch.spawn();
        }
        add(2, &a).unwrap().spawn();
        assert!((0..4).all(|which| matches!(spawn(which, &a), Err(Refusal::Overlap(_)))));
        assert!(boxed(&a).unwrap_err().to_string().contains("members 0 and 1"));
        assert_eq!(call(&a, |a| *a).wait(), Ok(4));
    });
}
