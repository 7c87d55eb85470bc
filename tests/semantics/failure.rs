//! A panic in a behaviour is caught. What it held exclusively is poisoned; what it read is
//! untouched. It never stops a worker, loses another behaviour, or leaves a cown acquired.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use coact::behaviour::serve_here;
use coact::cown::{MemberError, checked_all};
use coact::prelude::*;
use coact::promise::Resolver;
use coact::runtime::{Fault, blocking, spawn_future};
use coact::{call_here, when_or_else};
use coact_tests::{Faults, Log, everywhere_with_faults, fail, finally, runtime};

/// Panics when it is dropped.
struct Bomb(&'static str);

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            fail(self.0);
        }
    }
}

fn panicked(message: &str) -> Broken {
    Broken::Panicked(message.into())
}

/// The messages that were reported, with a letter for the kind.
fn told(faults: &Faults) -> Vec<String> {
    let line = |fault| match fault {
        Fault::Panicked { message, .. } => format!("p {message}"),
        Fault::Skipped { position, .. } => format!("s {position}"),
        Fault::InCleanup { message, .. } => format!("c {message}"),
        other => panic!("unknown: {other:?}"),
    };
    faults.take().into_iter().map(line).collect()
}

#[test]
fn f1_a_panic_is_caught_and_told() {
    everywhere_with_faults(|faults| {
        let result: Promise<()> = call(&Cown::new(()), |_| fail("half way"));
        assert_eq!(result.wait(), Err(panicked("half way")));
        assert_eq!(told(faults), ["p half way"]);
        // Something else than a string.
        let result: Promise<()> = call(&Cown::new(()), |_| resume_unwind(Box::new(1)));
        assert_eq!(result.wait(), Err(panicked("(no message)")));
        assert_eq!(told(faults), ["p (no message)"]);
    });
}

#[test]
fn f2_exclusive_cowns_are_poisoned_and_read_ones_are_not() {
    everywhere_with_faults(|_| {
        let (a, b, c) = (Cown::new(1), Cown::new(2), Cown::new(3));
        let result = call((&a, b.read(), c.checked()), |(a, ..)| {
            *a = 10;
            fail("half way")
        });
        assert_eq!(result.wait(), Err::<(), _>(panicked("half way")));
        assert_eq!([a, b, c].map(|cown| cown.is_poisoned()), [true, false, true]);
    });
}

#[test]
fn f3_behaviours_on_a_poisoned_cown_are_skipped_and_reported() {
    everywhere_with_faults(|faults| {
        let (sound, poisoned) = (Cown::new(0), Cown::new(0));
        when(&poisoned, |_| fail("half way"));
        let skipped = [
            call(&poisoned, |n| *n),
            call(poisoned.read(), |n| *n),
            call((&sound, poisoned.read()), |(sound, n)| {
                *sound = 1;
                *n
            }),
            call(&[sound.clone(), poisoned.clone()], |all| all.len()),
        ];
        let positions = skipped.map(|promise| match promise.wait() {
            Err(Broken::Poisoned { position }) => position,
            other => panic!("not skipped: {other:?}"),
        });
        assert_eq!(positions, [0, 0, 1, 1]);
        // The two readers may have been skipped in either order.
        let mut told = told(faults);
        told.sort();
        assert_eq!(told, ["p half way", "s 0", "s 0", "s 1", "s 1"]);
        // They did nothing, and poisoned nothing else.
        assert_eq!(call(&sound, |n| *n).wait(), Ok(0));
    });
}

#[test]
fn f3_a_skipped_behaviour_drops_what_it_captured() {
    everywhere_with_faults(|_| {
        let (cown, captured) = (Cown::new(()), Arc::new(()));
        when(&cown, |_| fail("half way"));
        let kept = captured.clone();
        let skipped = call(&cown, move |_| drop(kept));
        skipped.wait().unwrap_err();
        assert_eq!(Arc::strong_count(&captured), 1);
    });
}

#[test]
fn f4_a_checked_member_sees_the_poison_and_can_clear_it() {
    everywhere_with_faults(|_| {
        let cown = Cown::new(1);
        assert_eq!(call(cown.checked(), |state| state.map(|n| *n).unwrap()).wait(), Ok(1));
        when(&cown, |n| {
            *n = 2;
            fail("half way")
        });

        let seen = call(cown.checked(), |state| {
            let poisoned = state.unwrap_err();
            assert!(poisoned.to_string().contains("poisoned"));
            *poisoned.get_ref()
        });
        assert_eq!(seen.wait(), Ok(2));
        // It looked, and left the mark.
        assert!(cown.is_poisoned());

        let cleared = call(cown.checked(), |state| {
            let mut poisoned = state.unwrap_err();
            *poisoned.get_mut() += 5;
            *poisoned.clear() *= 2;
        });
        cleared.wait().unwrap();
        assert_eq!(call(&cown, |n| *n).wait(), Ok(14));
        assert!(!cown.is_poisoned());
    });
}

#[test]
fn poison_can_be_cleared_from_outside() {
    everywhere_with_faults(|_| {
        let cown = Cown::new(1);
        call(&cown, |_| -> () { fail("half way") }).wait().unwrap_err();
        assert!(cown.is_poisoned() && cown.clone().is_poisoned());
        cown.clear_poison();
        assert_eq!(call(&cown, |n| *n).wait(), Ok(1));
    });
}

/// What was queued before the panic is skipped, as is what comes later; after the mark is cleared
/// all goes on.
#[test]
fn f3_the_mark_takes_its_place_in_the_order() {
    everywhere_with_faults(|faults| {
        let cown = Cown::new(Vec::new());
        when(&cown, |log| log.push("before"));
        when(&cown, |_| fail("half way"));
        when(&cown, |log| log.push("skipped"));
        when(cown.checked(), |log| log.unwrap_err().clear().push("cleared"));
        when(&cown, |log| log.push("after"));
        let log = call(&cown, |log| log.clone());
        assert_eq!(log.wait().unwrap(), ["before", "cleared", "after"]);
        assert_eq!(told(faults), ["p half way", "s 0"]);
    });
}

#[test]
fn a_panic_after_clearing_poisons_again() {
    everywhere_with_faults(|_| {
        let cown = Cown::new(());
        when(&cown, |_| fail("half way"));
        let again: Promise<()> = call(cown.checked(), |state| {
            state.unwrap_err().clear();
            fail("again")
        });
        assert_eq!(again.wait(), Err(panicked("again")));
        assert!(cown.is_poisoned());
    });
}

/// Every third behaviour panics: all others run, each in its place, on each number of workers.
#[test]
fn f1_nothing_is_lost_and_no_worker_dies() {
    everywhere_with_faults(|faults| {
        let (cowns, done) = ([(); 3].map(|()| Cown::new(0)), Cown::new(0));
        for n in 0..300 {
            let (cown, done) = (&cowns[n % 3], done.clone());
            match n % 4 {
                0 => when((cown.checked(), cowns[(n + 1) % 3].read()), |_| fail("on purpose")),
                _ => when(cown.checked(), move |_| when(&done, |done| *done += 1)),
            }
            // So that the reads above are not skipped.
            cowns.iter().for_each(|cown| {
                when(cown.checked(), |state| drop(state.map_err(|p| *p.clear() += 1)))
            });
        }
        let seen = faults.clone();
        coact_tests::finally(move || {
            assert_eq!(done.into_inner().unwrap(), 225);
            assert_eq!(told(&seen), vec!["p on purpose"; 75]);
            for cown in cowns {
                assert_eq!(cown.into_inner().unwrap(), 25);
            }
        });
    });
}

#[test]
fn what_a_behaviour_spawned_before_its_panic_runs() {
    everywhere_with_faults(|_| {
        let (cown, log) = (Cown::new(()), Cown::new(Vec::new()));
        let far = log.clone();
        call(&cown, move |_| -> () {
            when(&far, |log| log.push("spawned"));
            fail("half way")
        })
        .wait()
        .unwrap_err();
        assert_eq!(call(&log, |log| log.clone()).wait(), Ok(vec!["spawned"]));
    });
}

#[test]
fn f6_a_destructor_of_the_state_that_panics() {
    everywhere_with_faults(|faults| {
        drop(Cown::new(Bomb("the state")));
        assert_eq!(told(faults), ["c the state"]);
        let cown = Cown::new(Bomb("behind a behaviour"));
        when(&cown, |_| ());
        drop(cown);
        let seen = faults.clone();
        coact_tests::finally(move || assert_eq!(told(&seen), ["c behind a behaviour"]));
    });
}

/// A captured value is dropped at the end of the body, so its panic is one of the body.
#[test]
fn a_destructor_of_a_captured_value_that_panics() {
    everywhere_with_faults(|faults| {
        let (cown, bomb) = (Cown::new(()), Bomb("captured"));
        let result = call(&cown, move |_| drop(bomb));
        assert_eq!(result.wait(), Err(panicked("captured")));
        assert!(cown.is_poisoned());
        assert_eq!(told(faults), ["p captured"]);
        // The behaviour is skipped: no body fails.
        let bomb = Bomb("skipped");
        let result = call(&cown, move |_| drop(bomb));
        assert_eq!(result.wait(), Err(Broken::Poisoned { position: 0 }));
        assert_eq!(told(faults), ["s 0", "c skipped"]);
        cown.clear_poison();
        assert_eq!(call(&cown, |_| true).wait(), Ok(true));
    });
}

#[test]
fn a_destructor_of_a_payload_that_panics() {
    everywhere_with_faults(|faults| {
        let cown = Cown::new(());
        let result: Promise<()> = call(&cown, |_| resume_unwind(Box::new(Bomb("the payload"))));
        assert_eq!(result.wait(), Err(panicked("(no message)")));
        assert_eq!(told(faults), ["c the payload", "p (no message)"]);
        assert_eq!(call(cown.checked(), |state| state.is_err()).wait(), Ok(true));
    });
}

/// The same once more: a payload that throws a payload.
#[test]
fn a_destructor_that_throws_a_payload_whose_destructor_panics() {
    struct Nested;
    impl Drop for Nested {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                resume_unwind(Box::new(Bomb("the payload of the payload")));
            }
        }
    }
    everywhere_with_faults(|faults| {
        let result: Promise<()> = call(&Cown::new(()), |_| resume_unwind(Box::new(Nested)));
        assert_eq!(result.wait(), Err(panicked("(no message)")));
        assert_eq!(told(faults), ["c (no message)", "p (no message)"]);
    });
}

#[test]
fn f6_a_destructor_of_a_result_that_panics() {
    everywhere_with_faults(|faults| {
        let cown = Cown::new(());
        let again = cown.clone();
        // The result is not wanted, and that is known before it is there: the cown is held.
        let spawned = call(&cown, move |_| drop(call(&again, |_| Bomb("a result"))));
        spawned.wait().unwrap();
        assert_eq!(call(&cown, |_| true).wait(), Ok(true));
        let seen = faults.clone();
        coact_tests::finally(move || assert_eq!(told(&seen), ["c a result"]));
    });
}

/// It is dropped before the panic that tells of the refusal, or two would meet and end the process.
#[test]
fn f6_a_destructor_of_a_refused_closure_that_panics() {
    everywhere_with_faults(|faults| {
        let cown = Cown::new(());
        let twice = || (&cown, &cown);
        let ways: [&dyn Fn(Bomb); 6] = [
            &|bomb| when(twice(), move |_| drop(bomb)),
            &|bomb| when_or_else(twice(), |_| (), move |_| drop(bomb)),
            &|bomb| _ = when_here(twice(), move |_| drop(bomb)),
            &|bomb| _ = serve_here(twice(), 1, move |_| drop(bomb)),
            &|bomb| drop(call(twice(), move |_| drop(bomb))),
            &|bomb| drop(call_here(twice(), move |_| drop(bomb))),
        ];
        for way in ways {
            let refused = catch_unwind(AssertUnwindSafe(|| way(Bomb("refused")))).unwrap_err();
            let message = refused.downcast_ref::<String>().expect("it says why");
            assert!(message.contains("are the same cown"), "{message}");
            assert_eq!(told(faults), ["c refused"]);
        }
    });
}

#[test]
fn f6_a_hook_that_panics_is_survived() {
    let runtime = Runtime::builder().workers(1).panic_hook(|_| fail("the hook")).build().unwrap();
    let _entered = runtime.enter();
    let cown = Cown::new(0);
    when(&cown, |_| fail("half way"));
    when(&cown, |_| ());
    assert_eq!(call(cown.checked(), |state| state.is_err()).wait(), Ok(true));
}

#[test]
fn f6_a_waker_that_panics_is_survived() {
    use std::future::Future;
    use std::pin::Pin;
    use std::task::{Context, Wake, Waker};
    struct Bad;
    impl Wake for Bad {
        fn wake(self: Arc<Self>) {
            fail("the waker")
        }
    }
    let faults = Faults::new();
    let runtime = runtime(1, &faults);
    runtime.run(|| {
        let (cown, log) = (Cown::new(()), Log::new());
        let far = log.clone();
        let hold = cown.clone();
        // The promise is polled while its behaviour waits for the cown.
        let polled = call(&cown, move |_| {
            let mut promise = call(&hold, |_| ());
            let waker = Waker::from(Arc::new(Bad));
            assert!(Pin::new(&mut promise).poll(&mut Context::from_waker(&waker)).is_pending());
            far.push(promise);
        });
        polled.wait().unwrap();
        assert_eq!(call(&cown, |_| true).wait(), Ok(true));
        assert!(log.take().into_iter().all(|promise| promise.wait().is_ok()));
    });
    assert_eq!(told(&faults), ["c the waker"]);
}

#[test]
fn f5_faults_are_described() {
    everywhere_with_faults(|faults| {
        let cown = Cown::new(());
        when(&cown, |_| fail("half way"));
        let skipped = call(&cown, |_| ());
        assert!(skipped.wait().unwrap_err().to_string().contains("Cown::checked"));
        let lines: Vec<String> = faults.take().iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                format!(
                    "the behaviour `{HERE}::f5_faults_are_described::{NESTED}` panicked: half way"
                ),
                format!(
                    "the behaviour `{HERE}::f5_faults_are_described::{NESTED}` was skipped: member 0 of \
                     its set is poisoned"
                ),
            ]
        );
    });
}

const HERE: &str = module_path!();
/// A closure in the closure of a test.
const NESTED: &str = "{{closure}}::{{closure}}";

fn behaviour_of(fault: Option<&Fault>) -> &'static str {
    match fault {
        Some(
            Fault::Panicked { behaviour, .. }
            | Fault::Skipped { behaviour, .. }
            | Fault::Closed { behaviour, .. },
        ) => behaviour,
        other => panic!("names no behaviour: {other:?}"),
    }
}

/// So a reader of the report finds the code.
#[test]
fn f5_a_fault_names_the_function_that_spawned_the_behaviour() {
    fn spawner(cown: &Cown<u8>) -> Promise<()> {
        call(cown, |_| fail("here"))
    }
    everywhere_with_faults(|faults| {
        let cown = Cown::new(0);
        let _ = spawner(&cown).wait();
        let in_spawner = |fault: Option<&Fault>| behaviour_of(fault).contains("::spawner::");
        assert!(in_spawner(faults.take().first()));
        let _ = spawner(&cown).wait();
        assert!(in_spawner(faults.take().first()));
        // Through the wrappers of other ways to spawn.
        let _ = Promise::ready(()).then(&Cown::new(0), |_, _| -> () { fail("then") }).wait();
        assert!(behaviour_of(faults.take().first()).contains(HERE));
        let _ = blocking(|| -> () { fail("job") }).wait();
        assert!(behaviour_of(faults.take().first()).contains(HERE));
        let _ = spawn_future(async { fail("future") }).wait();
        assert!(behaviour_of(faults.take().first()).contains(HERE));
        let caught = std::panic::catch_unwind(|| {
            scope(|s| s.when(&Cown::new(0), |_| fail("scope")));
        });
        assert!(caught.is_err() && behaviour_of(faults.take().first()).contains(HERE));
    });
}

#[test]
fn f8_a_spawner_is_told_why_a_behaviour_did_not_run_to_its_end() {
    everywhere_with_faults(|_| {
        let (told, cown, other) = (Log::new(), Cown::new(0), Cown::new(0));
        let tell = |log: &Log<Broken>| {
            let log = log.clone();
            move |why| log.push(why)
        };
        when_or_else((&cown, &other), |(n, _)| *n += 1, tell(&told));
        when_or_else(&cown, |_| fail("half way"), tell(&told));
        when_or_else((&other, &cown), |(n, _)| *n += 1, tell(&told));
        assert_eq!(call(&other, |n| *n).wait(), Ok(0));
        finally(move || {
            assert_eq!(told.take(), [panicked("half way"), Broken::Poisoned { position: 1 }]);
        });
    });
}

/// Each behaviour of a chain spawns the next one: the last is not waited for.
#[test]
fn a_chain_that_ends_is_told() {
    fn step(chain: &[Cown<u32>], end: Resolver<Result<(), (usize, Broken)>>) {
        let [next, rest @ ..] = chain else { return end.resolve(Ok(())) };
        let (rest, left) = (rest.to_vec(), rest.len());
        let end = Cown::new(Some(end));
        let far = end.clone();
        when_or_else(
            (next, &end),
            move |(_, end)| step(&rest, end.take().unwrap()),
            move |why| when(&far, move |end| end.take().unwrap().resolve(Err((left, why)))),
        );
    }
    everywhere_with_faults(|_| {
        let chain: Vec<_> = (0..10).map(Cown::new).collect();
        when(&chain[6], |_| fail("half way"));
        let (resolver, end) = Promise::channel();
        step(&chain, resolver);
        assert_eq!(end.wait(), Ok(Err((3, Broken::Poisoned { position: 0 }))));
        chain[6].clear_poison();
        let (resolver, end) = Promise::channel();
        step(&chain, resolver);
        assert_eq!(end.wait(), Ok(Ok(())));
    });
}

#[test]
fn f8_a_spawner_is_told_of_a_shutdown() {
    let runtime = runtime(1, &Faults::new());
    let (cown, told) = (runtime.run(|| Cown::new(0)), Log::new());
    runtime.shutdown(std::time::Duration::ZERO);
    let far = told.clone();
    when_or_else(&cown, |n| *n += 1, move |why| far.push(why));
    assert_eq!(told.take(), [Broken::Cancelled]);
}

#[test]
fn f4_a_poisoned_cown_can_be_read() {
    everywhere_with_faults(|_| {
        let cown = Cown::new(1);
        assert_eq!(call(cown.read().checked(), |n| *n.unwrap()).wait(), Ok(1));
        when(&cown, |n| {
            *n = 2;
            fail("half way")
        });
        let seen = call((cown.read().checked(), ()), |(n, ())| *n.unwrap_err().get_ref());
        assert_eq!(seen.wait(), Ok(2));
        assert!(when_here(cown.read().checked(), |n| assert!(n.is_err())));
        let then = Promise::ready(()).then(cown.read().checked(), |n, _| n.is_err());
        assert_eq!(then.wait(), Ok(true));
        assert!(cown.is_poisoned());
    });
}

#[test]
fn f4_those_of_many_that_are_sound_can_be_read() {
    everywhere_with_faults(|_| {
        let all: Vec<Cown<u64>> = (0..1000).map(Cown::new).collect();
        for at in [0, 7, 999] {
            when(&all[at], |n| {
                *n += 5000;
                fail("half way")
            });
        }
        assert_eq!(call(read_all(&all), |_| ()).wait(), Err(Broken::Poisoned { position: 0 }));
        let report = call(read_all(&all).checked(), |all| {
            assert_eq!((all.len(), all.is_empty()), (1000, false));
            assert!(all.get(1000).is_none());
            let poisoned: Vec<_> = all
                .iter()
                .enumerate()
                .filter_map(|(at, account)| match account {
                    Err(MemberError::Poisoned(state)) => Some((at, *state.get_ref())),
                    _ => None,
                })
                .collect();
            (all.clone().iter().flatten().sum::<u64>(), poisoned)
        });
        let sum = 499_500 - 7 - 999;
        assert_eq!(report.wait(), Ok((sum, vec![(0, 5000), (7, 5007), (999, 5999)])));
        // By references, and in a mix.
        let some: Vec<&Cown<u64>> = all.iter().take(3).collect();
        let sum = call((read_all(&some).checked(), &all[8]), |(some, eight)| {
            some.iter().flatten().sum::<u64>() + *eight
        });
        assert_eq!(sum.wait(), Ok(11));
    });
}

#[test]
fn f4_those_of_many_that_are_not_sound_can_be_put_right() {
    everywhere_with_faults(|_| {
        let all: Vec<Cown<u64>> = (0..10).map(Cown::new).collect();
        when((&all[2], &all[5]), |_| fail("half way"));
        let cured = call(checked_all(&all), |mut all| {
            assert_eq!((all.len(), all.is_empty()), (10, false));
            assert!(all.get(5).unwrap().is_err() && all.get(10).is_none());
            assert_eq!(all.iter().filter(Result::is_err).count(), 2);
            *all.get_mut(0).unwrap().unwrap() = 100;
            let mut cured = 0;
            for account in all.iter_mut() {
                if let Err(MemberError::Poisoned(mut state)) = account {
                    *state.get_mut() = 7;
                    *state.clear() += 1;
                    cured += 1;
                }
            }
            // Of those that are not cleared none is.
            cured
        });
        assert_eq!(cured.wait(), Ok(2));
        let seen = call(&all, |all| all.iter().copied().collect::<Vec<_>>());
        assert_eq!(seen.wait().unwrap(), [100, 1, 8, 3, 4, 8, 6, 7, 8, 9]);
        // A panic poisons them all, and does not hide them.
        when(checked_all(&all), |_| fail("again"));
        assert_eq!(call(checked_all(&all), |all| all.iter().flatten().count()).wait(), Ok(0));
    });
}
