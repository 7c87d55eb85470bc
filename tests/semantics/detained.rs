//! Detained behaviours: they keep their cowns until their guard is dropped.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use coact::behaviour::{Refusal, detain, try_detain};
use coact::cown::{Held, read_all};
use coact::prelude::*;
use coact::{Broken, sim, try_call, when_here};
use coact_tests::{Dice, Faults, Log, everywhere, everywhere_with_faults, runtime};

const LONG: Duration = Duration::from_secs(60);

#[test]
fn k1_it_ends_when_its_guard_is_dropped_and_others_wait() {
    everywhere(|| {
        let log = Log::new();
        let (a, b) = (Cown::new(log.clone()), Cown::new(0));
        let (give, guard) = Promise::channel();
        when(&a, |log| log.push("before"));
        detain((&a, &b), move |(log, n), detained| {
            *n = 1;
            log.push("detained");
            give.resolve(detained);
        });
        let seen = call(&b, |n| *n);
        when(&a, |log| log.push("after"));
        let guard = guard.wait().unwrap();
        log.push("guard");
        drop(guard);
        assert_eq!(seen.wait(), Ok(1));
        call(&a, |_| ()).wait().unwrap();
        assert_eq!(log.take(), ["before", "detained", "guard", "after"]);
    });
}

#[test]
fn k1_a_guard_may_be_dropped_before_its_closure_returns() {
    everywhere(|| {
        let log = Cown::new(Vec::new());
        for n in 0..50 {
            detain(&log, move |log, guard| {
                drop(guard);
                log.push(n);
            });
            when(&log, move |log| log.push(-n));
        }
        let all: Vec<i32> = (0..50).flat_map(|n| [n, -n]).collect();
        assert_eq!(call(&log, |log| log.clone()).wait(), Ok(all));
    });
}

#[test]
fn k1_actors_handle_neither_messages_nor_signals_meanwhile() {
    #[derive(Actor)]
    struct Counter(u32);

    #[handlers]
    impl Counter {
        #[message]
        fn add(&mut self) -> u32 {
            self.0 += 1;
            self.0
        }
    }

    everywhere(|| {
        let counter = spawn(Counter(0));
        let (give, guard) = Promise::channel();
        detain(&counter, move |counter, detained| {
            counter.0 = 10;
            give.resolve(detained);
        });
        let (answer, told) = (counter.ask(Add), counter.ended());
        let guard = guard.wait().unwrap();
        counter.stop().unwrap();
        // Neither of the two is before the end of this.
        let (answer, told) = (answer.then((), |(), n| n), told.then((), |(), reason| reason));
        assert!(told.try_wait().is_err(), "it is detained");
        drop(guard);
        // Whether the signal or the message comes first is not promised.
        assert!(matches!(answer.wait().unwrap(), Ok(11) | Err(_)));
        counter.ended().wait().unwrap();
    });
}

#[test]
fn k1_readers_share_and_what_writes_waits() {
    everywhere(|| {
        let data = Cown::new(7);
        let (give, guard) = Promise::channel();
        detain(data.read(), move |n, detained| give.resolve((*n, detained)));
        let (seen, guard) = guard.wait().unwrap();
        let read = call(data.read(), |n| *n);
        let written = call(&data, |n| std::mem::replace(n, 8));
        assert_eq!((seen, read.wait()), (7, Ok(7)));
        let written = written.try_wait().expect_err("a reader has it");
        drop(guard);
        assert_eq!(written.wait(), Ok(7));
    });
}

#[test]
fn k2_a_step_sees_what_the_one_before_it_left_and_nothing_comes_between() {
    everywhere(|| {
        let log = Cown::new(vec![0]);
        let (own, elsewhere) = (log.clone(), Cown::new(()));
        detain(&log, move |log, guard| {
            log.push(1);
            when(&own, |log| log.push(9));
            guard.resume(move |log, guard| {
                assert_eq!(*log, [0, 1]);
                log.push(2);
                when(&elsewhere, move |()| guard.resume(|log, _guard| log.push(3)));
            });
        });
        // Behind all of its steps, but before or behind what the first has spawned.
        call(&log, |log| log.clone()).wait().unwrap();
        let mut all = call(&log, |log| log.clone()).wait().unwrap();
        while all.len() < 5 {
            all = call(&log, |log| log.clone()).wait().unwrap();
        }
        assert_eq!(all, [0, 1, 2, 3, 9]);
    });
}

#[test]
fn k2_every_kind_of_set_is_given_again() {
    everywhere(|| {
        let cowns: Vec<Cown<u32>> = (0..3).map(Cown::new).collect();
        let (one, own) = (Cown::new(1), Cown::new(String::from("own")));
        let weak = own.downgrade();
        let (resolver, result) = Promise::channel();
        let none: &'static [Cown<u8>] = &[];
        let set = (&one, own, [&cowns[0], &cowns[1]], read_all(&cowns[2..]), none);
        detain(set, move |(one, own, [first, second], read, none), guard| {
            *one += 1;
            *first += 10;
            *second += 10;
            assert_eq!((read.len(), none.len()), (1, 0));
            add(own, "!");
            guard.resume(move |(one, own, [first, second], read, _), guard| {
                let text = add(own, "?");
                let sum = *one + *first + *second + read[0];
                guard.resume(move |_, _guard| resolver.resolve((sum, text)));
            });
        });
        assert_eq!(result.wait(), Ok((2 + 10 + 11 + 2, "own!?".to_owned())));
        call(&one, |_| ()).wait().unwrap();
        // No handle is left of the one that was given by value.
        assert!(weak.upgrade().is_none_or(|own| own.into_inner().is_ok()));
    });
}

fn add(mut own: Held<'_, String>, more: &str) -> String {
    own.push_str(more);
    own.clone()
}

#[test]
fn k3_a_panic_poisons_at_once_and_the_guard_releases() {
    everywhere_with_faults(|faults| {
        let (cown, log) = (Cown::new(0), Log::new());
        let (give, guard) = Promise::channel();
        detain(&cown, move |_, detained| {
            give.resolve(detained);
            panic!("as it was told");
        });
        let said = log.clone();
        let skipped = call(&cown, |n| *n).then((), move |(), skipped| {
            said.push("skipped");
            skipped
        });
        let guard = guard.wait().unwrap();
        log.push("guard");
        guard.resume(|_, _| unreachable!("the step before has panicked"));
        assert_eq!(skipped.wait(), Ok(Err(Broken::Poisoned { position: 0 })));
        assert_eq!(log.take(), ["guard", "skipped"]);
        assert_eq!(faults.take().len(), 2);
    });
}

#[test]
fn k3_no_step_follows_a_panic() {
    everywhere_with_faults(|faults| {
        let (cown, dropped) = (Cown::new(0), Log::new());
        let told = Told(dropped.clone());
        detain(&cown, move |_, guard| {
            guard.resume(move |_, _| {
                drop(told);
                unreachable!("the step before has panicked")
            });
            panic!("as it was told");
        });
        assert!(call(&cown, |n| *n).wait().is_err());
        assert_eq!(dropped.take(), ["dropped"]);
        assert_eq!(faults.take().len(), 2);
    });
}

/// Says when it is dropped.
struct Told(Log<&'static str>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.push("dropped");
    }
}

#[test]
fn k3_on_a_poisoned_cown_it_is_skipped() {
    everywhere_with_faults(|faults| {
        let (sick, well) = (Cown::new(0), Cown::new(0));
        when(&sick, |_| panic!("as it was told"));
        detain((&well, &sick), |_, _guard| unreachable!("one of them is poisoned"));
        assert_eq!(call(&well, |n| *n).wait(), Ok(0));
        assert_eq!(faults.take().len(), 2);
    });
}

#[test]
fn k4_a_runtime_is_not_idle_while_cowns_are_detained() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let (give, guards) = mpsc::channel();
    let cown = {
        let _entered = runtime.enter();
        let cown = Cown::new(0);
        detain(&cown, move |_, guard| give.send(guard).unwrap());
        cown
    };
    let guard = guards.recv().unwrap();
    let homes = [runtime.handle()];
    assert!(!Runtime::wait_idle_all_timeout(&homes, Duration::from_millis(30)));
    drop(guard);
    runtime.wait_idle();
    assert!(cown.into_inner().is_ok());
    assert!(runtime.shutdown(LONG).is_complete());
}

#[test]
fn k4_a_deadline_releases_what_is_detained() {
    for workers in [1, 3] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        let (give, guards) = mpsc::channel();
        let entered = runtime.enter();
        let cowns: Vec<_> = (0..20).map(Cown::new).collect();
        for cown in &cowns {
            let give = give.clone();
            detain(cown, move |_, guard| give.send(guard).unwrap());
        }
        let waits: Vec<_> = cowns.iter().map(|cown| call(cown, |n| *n)).collect();
        let guards: Vec<_> = guards.iter().take(cowns.len()).collect();
        drop(entered);
        let report = runtime.shutdown(Duration::from_millis(20));
        assert!(!report.is_complete());
        for waits in waits {
            assert_eq!(waits.wait(), Err(Broken::Cancelled));
        }
        // They were not done (and what waited behind them was counted, too).
        assert_eq!(report.abandoned, 2 * cowns.len());
        // Neither of the two has an effect. A closure is dropped, and its panic is not one of the
        // caller.
        for (n, guard) in guards.into_iter().enumerate() {
            if n % 2 == 0 {
                let bomb = Bomb;
                guard.resume(move |_, _| {
                    drop(bomb);
                    unreachable!("the runtime is gone")
                });
            }
        }
        for cown in cowns {
            assert!(cown.into_inner().is_ok(), "nothing is left that holds it");
        }
    }
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("as it was told");
    }
}

/// The runtime is dropped while guards are used, whose closures panic when they are dropped.
#[test]
fn k4_what_is_dropped_with_a_runtime_takes_no_thread_along() {
    for round in 0..40 {
        let faults = Faults::new();
        let runtime = runtime(1 + round % 3, &faults);
        let (give, guards) = mpsc::channel();
        let cowns: Vec<_> = {
            let _entered = runtime.enter();
            (0..20).map(Cown::new).collect()
        };
        for cown in &cowns {
            let give = give.clone();
            detain(cown, move |_, guard| drop(give.send(guard)));
        }
        drop(give);
        let waits: Vec<_> = cowns.iter().map(|cown| call(cown, |n| *n)).collect();
        let user = thread::spawn(move || {
            for guard in guards {
                let bomb = Bomb;
                guard.resume(move |_, guard| {
                    let bombs = (bomb, guard);
                    std::mem::forget(bombs.0);
                });
            }
        });
        drop(runtime);
        user.join().expect("no panic is the caller's");
        waits.into_iter().for_each(|waits| drop(waits.wait()));
        for cown in cowns {
            assert!(cown.into_inner().is_ok());
        }
    }
}

/// Its own handles are gone when others get the cowns.
#[test]
fn l2_the_last_handle_behind_a_detained_behaviour_is_the_last() {
    let runtimes = [(); 2].map(|()| Runtime::builder().workers(1).build().unwrap());
    for _ in 0..500 {
        let [first, second] = runtimes.each_ref().map(|runtime| {
            let _entered = runtime.enter();
            Cown::new(0)
        });
        detain((&first, &second), |_, guard| drop(guard));
        call(&second, |n| *n).wait().unwrap();
        assert_eq!(second.into_inner().ok(), Some(0));
    }
    for runtime in runtimes {
        assert!(runtime.shutdown(LONG).is_complete());
    }
}

#[test]
fn k4_a_runtime_that_is_dropped_releases_what_is_detained() {
    for round in 0..50 {
        let runtime = Runtime::builder().workers(1 + round % 3).build().unwrap();
        let (give, guards) = mpsc::channel();
        let cown = {
            let _entered = runtime.enter();
            let cown = Cown::new(0);
            detain(&cown, move |_, guard| drop(give.send(guard)));
            cown
        };
        let waits = call(&cown, |n| *n);
        let dropped = thread::spawn(move || drop(runtime));
        // It may be cut off before it begins, or before it is resumed.
        if let Ok(guard) = guards.recv() {
            guard.resume(|_, _guard| {});
        }
        dropped.join().unwrap();
        let _ = waits.wait();
        assert!(cown.into_inner().is_ok());
    }
}

#[test]
fn k4_a_pump_detains_as_well() {
    let (give, guards) = mpsc::channel();
    let pump = Runtime::builder().build_pumped().unwrap();
    let cown = pump.run(|| Cown::new(1));
    detain(&cown, move |n, guard| {
        *n += 1;
        give.send(guard).unwrap();
    });
    pump.run_pending();
    let seen = call(&cown, |n| *n);
    let home = thread::current().id();
    guards.recv().unwrap().resume(move |n, _guard| {
        assert_eq!(thread::current().id(), home);
        *n += 1;
    });
    pump.run_until_idle(&[]);
    assert_eq!(seen.wait(), Ok(3));
}

#[test]
fn k5_detained_behaviours_take_no_thread() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let (cowns, guards) = runtime.run(|| {
        let cowns: Vec<_> = (0..70_000).map(Cown::new).collect();
        (cowns, Cown::new(Vec::new()))
    });
    let entered = runtime.enter();
    for cown in &cowns {
        let guards = guards.clone();
        detain(cown, move |_, guard| when(&guards, |guards| guards.push(guard)));
    }
    let seen = call(&cowns[cowns.len() - 1], |n| *n);
    // The one worker is free.
    while call(&guards, |guards| guards.len()).wait() != Ok(cowns.len()) {}
    let seen = seen.try_wait().expect_err("its cown is detained");
    drop(call(&guards, std::mem::take).wait());
    assert_eq!(seen.wait(), Ok(69_999));
    drop(entered);
    assert!(runtime.shutdown(LONG).is_complete());
}

#[test]
fn a_set_that_cannot_be_used_is_refused() {
    everywhere(|| {
        let cown = Cown::new(0);
        let error = try_detain((&cown, &cown), |_, _guard| {}).unwrap_err();
        assert!(matches!(error.refusal, Refusal::Overlap(_)));
        let all = [cown.clone(), cown.clone()];
        let error = try_detain(&all, |_, _guard| {}).unwrap_err();
        assert!(matches!(error.refusal, Refusal::Overlap(_)));
        // A set without cowns is free at once.
        let (resolver, done) = Promise::channel();
        detain((), move |(), guard| guard.resume(move |(), _guard| resolver.resolve(1)));
        assert_eq!(done.wait(), Ok(1));
    });
}

#[test]
fn g1_members_of_a_group_are_detained_like_others() {
    everywhere(|| {
        let (group, log) = (Group::new(), Log::new());
        let (a, b, alone) = (group.cown(0), group.cown(0), Cown::new(0));
        for set in [0, 1, 2] {
            let (give, guard) = Promise::channel();
            let (said, far) = (log.clone(), b.clone());
            let step = move |guard: Box<dyn Send>| {
                said.push("detained");
                let said = said.clone();
                when(&far, move |_| said.push("member"));
                give.resolve(guard);
            };
            when(&a, |n| *n += 1);
            match set {
                0 => detain(&a, move |_, guard| step(Box::new(guard))),
                1 => detain((&a, &b), move |_, guard| step(Box::new(guard))),
                _ => detain((&a, &alone), move |_, guard| step(Box::new(guard))),
            }
            let said = log.clone();
            when(&b, move |_| said.push("member"));
            let guard = guard.wait().unwrap();
            log.push("guard");
            drop(guard);
            call(&b, |_| ()).wait().unwrap();
            while log.len() < 4 {
                call(&b, |_| ()).wait().unwrap();
            }
            assert_eq!(log.take(), ["detained", "guard", "member", "member"]);
        }
    });
}

#[test]
fn o4_nothing_runs_at_once_on_a_detained_cown() {
    everywhere(|| {
        let cown = Cown::new(Vec::new());
        let (give, guard) = Promise::channel();
        detain(&cown, move |log, detained| {
            log.push(1);
            give.resolve(detained);
        });
        let guard = guard.wait().unwrap();
        when_here(&cown, |log| log.push(3));
        guard.resume(|log, _guard| log.push(2));
        assert_eq!(call(&cown, |log| log.clone()).wait(), Ok(vec![1, 2, 3]));
    });
}

/// Each cown is held by one at a time, from the first step to the last, and in the order of
/// spawning.
#[test]
fn o1_detained_and_other_behaviours_share_one_order() {
    #[derive(Default)]
    struct Seen {
        /// The detained behaviour that has it.
        by: Option<u32>,
        last: u32,
    }

    fn check(all: &mut coact::cown::Members<'_, Seen>, number: u32) {
        for seen in all.iter_mut() {
            assert_eq!(seen.by, None, "{number} runs while another one keeps it");
            assert!(seen.last < number, "{number} is late");
            seen.last = number;
        }
    }

    for seed in 0..60 {
        let faults = Faults::new();
        let runtime = runtime(1 + seed as usize % 4, &faults);
        let mut dice = Dice::new(seed);
        let (give, guards) = mpsc::channel();
        let ended = Arc::new(AtomicU32::new(0));
        let entered = runtime.enter();
        let group = Group::new();
        let cowns: Vec<_> = (0..6)
            .map(|n| if n < 2 { group.cown(Seen::default()) } else { Cown::new(Seen::default()) })
            .collect();
        let server = thread::spawn(move || {
            // The place of a store, which answers in an order of its own.
            let mut kept: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
            while let Ok(next) = guards.recv() {
                kept.push(next);
                if kept.len() > 4 {
                    let first = kept.len() % 3;
                    kept.swap_remove(first)();
                }
                while let Ok(next) = guards.try_recv() {
                    kept.push(next);
                }
                kept.drain(..).rev().for_each(|go_on| go_on());
            }
        });
        for number in 1..400 {
            let set: Vec<_> = cowns.iter().filter(|_| dice.below(3) == 0).cloned().collect();
            let (give, ended) = (give.clone(), Arc::clone(&ended));
            match dice.below(4) {
                0 => when(&set, move |mut all| {
                    check(&mut all, number);
                    ended.fetch_add(1, SeqCst);
                }),
                1 => detain(&set, move |mut all, guard| {
                    check(&mut all, number);
                    drop(guard);
                    ended.fetch_add(1, SeqCst);
                }),
                how => detain(&set, move |mut all, guard| {
                    check(&mut all, number);
                    all.iter_mut().for_each(|seen| seen.by = Some(number));
                    let next = move || {
                        guard.resume(move |mut all, guard| {
                            for seen in all.iter_mut() {
                                assert_eq!((seen.by.take(), seen.last), (Some(number), number));
                            }
                            ended.fetch_add(1, SeqCst);
                            drop(guard);
                        });
                    };
                    if how == 2 {
                        next();
                    } else {
                        give.send(Box::new(next)).unwrap();
                    }
                }),
            }
        }
        drop(give);
        drop(entered);
        runtime.wait_idle();
        server.join().unwrap();
        assert_eq!(ended.load(SeqCst), 399);
        assert!(runtime.shutdown(LONG).is_complete());
        assert!(faults.is_empty());
    }
}

#[test]
fn a_report_of_a_simulation_names_what_is_detained() {
    let failed = sim::Sim::new().config(sim::Config::new().runs(1)).run(|| {
        let cown = Cown::new(0);
        detain(&cown, |_, guard| std::mem::forget(guard));
        let _ = call(&cown, |n| *n).wait();
    });
    let report = failed.expect_err("it never ends").to_string();
    assert!(report.contains("is detained: its guard was not dropped"), "{report}");
    assert!(report.contains("which is detained"), "{report}");
    assert!(try_call(&Cown::new(1), |n| *n).is_ok());
}
