//! `when_here` runs at once on the calling thread if every cown is free and nothing stands before
//! it, and is scheduled like any other behaviour if not.

use std::cell::Cell;
use std::thread;

use coact::behaviour::Answer;
use coact::call_here;
use coact::prelude::*;
use coact::runtime::{Fault, RuntimeHandle, spawn_future};
use coact_tests::{Faults, Log, Meeting, everywhere, everywhere_with_faults, fail, runtime};

#[test]
fn free_cowns_are_used_at_once_on_the_calling_thread() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    let (a, b) = (Cown::new(None), Cown::new(0));
    assert!(when_here((&a, &b), |(a, b)| {
        *a = Some(thread::current().id());
        *b += 1;
    }));
    assert!(when_here((&b, a.read()), |(b, _)| *b += 1));
    assert!(when_here(b.checked(), |b| *b.unwrap() += 1));
    assert_eq!(a.into_inner().unwrap(), Some(thread::current().id()));
    assert_eq!(b.into_inner().unwrap(), 3);
}

#[test]
fn o4_a_cown_that_is_held_is_waited_for_in_its_queue() {
    everywhere(|| {
        let log = Cown::new(Vec::new());
        let again = log.clone();
        let at_once = call(&log, move |log| {
            let at_once = when_here(&again, |log| log.push("inner"));
            log.push("outer");
            at_once
        });
        assert_eq!(at_once.wait(), Ok(false));
        assert_eq!(call(&log, |log| log.clone()).wait(), Ok(vec!["outer", "inner"]));
    });
}

/// One cown of the set is free, one is not: nothing is kept of the free one meanwhile.
#[test]
fn all_cowns_or_none() {
    everywhere(|| {
        let (held, free) = (Cown::new(0), Cown::new(0));
        let (far_held, far_free) = (held.clone(), free.clone());
        let seen = call(&held, move |held| {
            *held = 1;
            let set =
                if far_held < far_free { (&far_held, &far_free) } else { (&far_free, &far_held) };
            let swapped = when_here(set, |(a, b)| (*a, *b) = (*b + 10, *a + 10));
            // The free one stands behind that now, but is not held: others are served in order.
            swapped
        });
        assert_eq!(seen.wait(), Ok(false));
        assert_eq!(call((&held, &free), |(held, free)| (*held, *free)).wait(), Ok((10, 11)));
    });
}

/// It does not overtake what stands in a queue.
#[test]
fn o4_order_is_kept() {
    everywhere(|| {
        let log = Cown::new(Vec::new());
        for n in (0..100).step_by(2) {
            when(&log, move |log| log.push(n));
            when_here(&log, move |log| log.push(n + 1));
        }
        assert_eq!(call(&log, |log| log.clone()).wait().unwrap(), (0..100).collect::<Vec<_>>());
    });
}

#[test]
fn o4_a_reader_joins_readers_and_a_writer_does_not() {
    everywhere(|| {
        let cown = Cown::new(1);
        let again = cown.clone();
        let at_once = call(cown.read(), move |_| {
            let read = when_here(again.read(), |_| ());
            let written = when_here(&again, |n| *n += 1);
            // A writer waits now, and is not overtaken.
            let read_again = when_here(again.read(), |n| assert_eq!(*n, 2));
            (read, written, read_again)
        });
        assert_eq!(at_once.wait(), Ok((true, false, false)));
    });
}

#[test]
fn a_held_reader_is_seen_by_other_threads() {
    let runtime = runtime(1, &Faults::new());
    let met = runtime.run(|| {
        let (cown, both) = (Cown::new(0), Meeting::of(2));
        let (other, (tell, told)) = (both.clone(), Promise::channel());
        let reader = call(cown.read(), move |_| other.wait());
        assert!(when_here(cown.read(), move |_| tell.resolve(both.wait())));
        [reader, told]
    });
    assert_eq!(met.map(Promise::wait), [Ok(true), Ok(true)]);
}

#[test]
fn what_comes_meanwhile_runs_afterwards() {
    everywhere(|| {
        let log = Cown::new(Vec::new());
        let again = log.clone();
        when_here(&log, move |log| {
            when(&again, |log| log.push("spawned"));
            log.push("here");
        });
        assert_eq!(call(&log, |log| log.clone()).wait(), Ok(vec!["here", "spawned"]));
    });
}

/// Bodies nest on the stack up to a bound; deeper ones are spawned.
#[test]
fn nesting_is_bounded() {
    thread_local!(static DEPTH: Cell<u32> = const { Cell::new(0) });

    fn nest(left: u32, depths: &Log<u32>) {
        if left == 0 {
            return;
        }
        let depths = depths.clone();
        // On a cown of its own, so that nothing but the bound stands against it.
        when_here(&Cown::new(()), move |_| {
            DEPTH.set(DEPTH.get() + 1);
            depths.push(DEPTH.get());
            nest(left - 1, &depths);
            DEPTH.set(DEPTH.get() - 1);
        });
    }

    everywhere(|| {
        let depths = Log::new();
        nest(1000, &depths);
        coact_tests::finally(move || {
            let depths = depths.take();
            assert_eq!(depths.len(), 1000);
            let deepest = depths.into_iter().max().unwrap();
            // A body that a worker runs counts for one more.
            assert!(
                (coact::behaviour::MAX_NESTED_HERE..=coact::behaviour::MAX_NESTED_HERE + 1)
                    .contains(&deepest),
                "{deepest} deep"
            );
        });
    });
}

#[test]
fn f1_panics_are_caught_and_poison() {
    everywhere_with_faults(|faults| {
        let (held, read) = (Cown::new(0), Cown::new(0));
        when_here((&held, read.read()), |_| fail("here"));
        assert!(held.is_poisoned() && !read.is_poisoned());
        assert!(
            matches!(&faults.take()[..], [Fault::Panicked { message, .. }] if &**message == "here")
        );
        // Skipped, at once.
        when_here(&held, |n| *n += 1);
        assert!(matches!(faults.take()[..], [Fault::Skipped { position: 0, .. }]));
        when_here(held.checked(), |state| *state.unwrap_err().clear() += 10);
        assert_eq!(held.into_inner().unwrap(), 10);
    });
}

#[test]
fn nothing_is_held_after_a_panic() {
    everywhere_with_faults(|_| {
        let (a, b) = (Cown::new(0), Cown::new(0));
        when_here((&a, &b), |_| fail("here"));
        a.clear_poison();
        b.clear_poison();
        assert_eq!(call((&a, &b), |_| true).wait(), Ok(true));
        assert!(a.into_inner().is_ok() && b.into_inner().is_ok());
    });
}

/// Of one cown and of two, on a worker and on a thread that is none.
#[test]
fn what_comes_meanwhile_runs_after_a_panic() {
    fn panic_here(cowns: &[Cown<Vec<u32>>; 2], is_pair: bool) {
        let [a, b] = cowns;
        let again = a.clone();
        let fail_first = move || {
            when(again.checked(), |log| match log {
                Ok(_) => fail("the poison is not there yet"),
                Err(mut poisoned) => poisoned.get_mut().push(1),
            });
            fail("here")
        };
        let ran = if is_pair {
            when_here((a, b), move |_| fail_first())
        } else {
            when_here(a, move |_| fail_first())
        };
        assert!(ran);
    }

    for is_pair in [false, true] {
        for on_worker in [false, true] {
            everywhere_with_faults(move |faults| {
                let cowns = [Cown::new(Vec::new()), Cown::new(Vec::new())];
                if on_worker {
                    let cowns = cowns.clone();
                    assert_eq!(
                        call(&Cown::new(()), move |()| panic_here(&cowns, is_pair)).wait(),
                        Ok(())
                    );
                } else {
                    panic_here(&cowns, is_pair);
                }
                let [a, b] = cowns;
                let log = call(a.checked(), |log| log.unwrap_err().get_mut().clone());
                assert_eq!(log.wait(), Ok(vec![1]));
                assert_eq!((a.is_poisoned(), b.is_poisoned()), (true, is_pair));
                assert_eq!(faults.take().len(), 1);
            });
        }
    }
}

/// New cowns belong to the runtime of the cowns that are held, as on its workers.
#[test]
fn the_body_is_inside_of_the_cowns_runtime() {
    let faults = Faults::new();
    let runtime = runtime(1, &faults);
    let cown = runtime.run(|| Cown::new(()));
    when_here(&cown, |_| drop(call(&Cown::new(()), |_| fail("told to this runtime's hook"))));
    runtime.wait_idle();
    assert_eq!(faults.len(), 1);
}

/// Threads that run bodies themselves, workers, and threads that spawn, on the same cowns.
#[test]
fn all_ways_exclude_each_other() {
    const EACH: u64 = 2_000;
    let faults = Faults::new();
    let runtime = runtime(2, &faults);
    let (a, b) = runtime.run(|| {
        let (a, b) = (Cown::new(0), Cown::new(0));
        let step = |(a, b): (&mut u64, &mut u64)| {
            assert_eq!(*a, *b);
            *a += 1;
            *b += 1;
        };
        thread::scope(|scope| {
            scope.spawn(|| (0..EACH).for_each(|_| _ = when_here((&a, &b), step)));
            scope.spawn(|| (0..EACH).for_each(|_| _ = when_here((&b, &a), step)));
            scope.spawn(|| (0..EACH).for_each(|_| when((&a, &b), step)));
            scope.spawn(|| {
                (0..EACH)
                    .for_each(|_| _ = when_here((a.read(), b.read()), |(a, b)| assert_eq!(a, b)));
            });
        });
        (a, b)
    });
    assert!(faults.is_empty(), "{:?}", faults.take());
    assert_eq!((a.into_inner().unwrap(), b.into_inner().unwrap()), (3 * EACH, 3 * EACH));
}

/// What others queue meanwhile is the caller's up to the bound, and then the workers'.
#[test]
fn serving_goes_on_up_to_a_bound_and_in_order() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    let cown = Cown::new(Vec::new());
    for bound in [0, 1, 4, 10] {
        let far = cown.clone();
        let served = coact::behaviour::serve_here(&cown, bound, move |log| {
            log.push((0, thread::current().id()));
            for n in 1..=5 {
                when(&far, move |log| log.push((n, thread::current().id())));
            }
        });
        assert!(served);
        runtime.wait_idle();
        let log = call(&cown, std::mem::take).wait().unwrap();
        let me = thread::current().id();
        let here = log.iter().filter(|(_, thread)| *thread == me).count();
        assert_eq!(here, 1 + bound.min(5) as usize);
        // Those first.
        assert!(log[..here].iter().all(|(_, thread)| *thread == me));
        assert!(log.into_iter().map(|(n, _)| n).eq(0..=5));
    }
}

#[test]
fn serving_waits_its_turn_and_is_refused_like_the_rest() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    let (cown, gate) = (Cown::new(0), Meeting::of(2));
    let at_gate = gate.clone();
    when(&cown, move |_| assert!(at_gate.wait()));
    assert!(!coact::behaviour::serve_here(&cown, 5, |n| *n += 1));
    assert!(gate.wait());
    runtime.wait_idle();
    assert!(coact::behaviour::serve_here(&cown, 5, |_| fail("in the middle")));
    assert!(cown.is_poisoned());
    assert!(
        coact_tests::panic_of(|| coact::behaviour::serve_here((&cown, &cown), 5, |_| ()))
            .contains("the same cown")
    );
}

#[test]
fn o4_an_answer_is_there_at_once_if_all_cowns_are_free() {
    everywhere(|| {
        let (a, b) = (Cown::new(1), Cown::new(2));
        let thread = thread::current().id();
        let sum =
            call_here((&a, b.read()), move |(a, b)| (*a + *b, thread::current().id() == thread));
        assert!(sum.is_ready());
        assert_eq!(sum.wait(), Ok((3, true)));
        assert_eq!(call_here(&a, |a| *a).try_wait().unwrap(), Ok(1));
        assert_eq!(call_here(&a, |a| *a).into_promise().wait(), Ok(1));
        assert_eq!(futures::executor::block_on(call_here(&a, |a| *a)), Ok(1));
        assert_eq!(call_here(&a, |a| *a).then(&b, |b, a| *b + a.unwrap()).wait(), Ok(3));
        // In a behaviour one may wait for what is there.
        let far = b.clone();
        assert_eq!(call(&a, move |a| *a + call_here(&far, |b| *b).wait().unwrap()).wait(), Ok(3));
    });
}

#[test]
fn o4_an_answer_is_a_promise_if_some_cown_is_busy() {
    everywhere(|| {
        let (log, free) = (Cown::new(Vec::new()), Cown::new(0));
        let (far, far_free) = (log.clone(), free.clone());
        let later = call(&log, move |log| {
            let later = call_here((&far, &far_free), |(log, _)| {
                log.push("inner");
                log.len()
            });
            assert!(!later.is_ready());
            log.push("outer");
            later
        });
        let later = later.wait().unwrap();
        let sum = later.then(&free, |free, len| *free + len.unwrap());
        assert_eq!(sum.wait(), Ok(2));
        let far = log.clone();
        let promise = call(&log, move |_| call_here(&far, |log| log.len()).try_wait().unwrap_err());
        assert_eq!(promise.wait().unwrap().wait(), Ok(2));
        let far = log.clone();
        let awaited = call(&log, move |_| call_here(&far, |log| log.len()));
        let awaited = awaited.wait().unwrap();
        assert_eq!(spawn_future(awaited).wait(), Ok(Ok(2)));
    });
}

#[test]
fn f8_an_answer_tells_what_went_wrong() {
    everywhere_with_faults(|faults| {
        let cown = Cown::new(0);
        let answer: Answer<()> = call_here(&cown, |_| fail("here"));
        assert_eq!(answer.wait(), Err(Broken::Panicked("here".into())));
        let skipped = call_here(&cown, |n| *n);
        assert!(skipped.is_ready());
        assert_eq!(skipped.wait(), Err(Broken::Poisoned { position: 0 }));
        assert_eq!(faults.take().len(), 2);
    });
}

/// Tells, when dropped, whether this cown is held then, and which runtime is the current one.
struct Spy {
    cown: Cown<u8>,
    seen: Log<(bool, RuntimeHandle)>,
}

impl Drop for Spy {
    fn drop(&mut self) {
        let is_held = !when_here(&self.cown, |_| ());
        self.seen.push((is_held, RuntimeHandle::current()));
    }
}

/// As where behaviours are spawned: the closure is dropped before the cowns are released, in their
/// runtime.
#[test]
fn f3_what_is_skipped_inline_is_dropped_in_its_place() {
    let (faults, seen) = (Faults::new(), Log::new());
    let (runtime, elsewhere) = (runtime(1, &faults), runtime(1, &Faults::new()));
    let cowns = runtime.run(|| [Cown::new(0), Cown::new(0), Cown::new(0)]);
    assert!(call(&cowns[0], |_| fail("poisons it")).wait().is_err());
    let _entered = elsewhere.enter();
    let spy = || Spy { cown: cowns[2].clone(), seen: seen.clone() };
    let [a, b, c] = &cowns;
    let (in_two, in_three) = (spy(), spy());
    assert!(when_here((a, c), move |_| drop(in_two)));
    // The spy has spawned a behaviour.
    runtime.wait_idle();
    assert!(when_here((a, b, c), move |_| drop(in_three)));
    runtime.wait_idle();
    assert!(call_here((a, b, c), |_| ()).is_ready());
    assert_eq!(seen.take(), [(true, runtime.handle()); 2]);
}

/// A closure that has to wait is dropped neither here nor twice.
#[test]
fn what_finds_its_cowns_taken_runs_later() {
    let (runtime, seen) = (runtime(1, &Faults::new()), Log::new());
    let cowns = runtime.run(|| [Cown::new(0), Cown::new(0), Cown::new(0)]);
    let (free, spare) = (cowns[2].clone(), Cown::new(0));
    let spy = Spy { cown: spare, seen: seen.clone() };
    let [a, b, c] = &cowns;
    let (x, y) = (a.clone(), b.clone());
    when_here(a, move |_| {
        assert!(!when_here((&x, &y, &free), move |_| drop(spy)));
    });
    runtime.wait_idle();
    assert_eq!(seen.len(), 1);
    assert!(when_here((a, b, c), |_| ()));
}
