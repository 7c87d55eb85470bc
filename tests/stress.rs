//! Long mixed work, seeded, with invariants; what the sanitizers run.
//!
//! `COACT_STRESS_SECONDS=60 COACT_STRESS_SEED=7 cargo test --release -p coact-tests --test stress`

use std::thread;
use std::time::{Duration, Instant};

use coact::Context;
use coact::prelude::*;
use coact::runtime::Fault;
use coact_tests::{Bank, Dice, Faults, runtime};

fn setting(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok().map(|value| value.parse());
    value.unwrap_or(Ok(default)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// How long each of the tests below takes.
fn duration() -> Duration {
    Duration::from_millis(setting("COACT_STRESS_SECONDS", 2) * 1000 / 4)
}

/// Only the panics that the work is made of.
fn assert_expected(faults: &Faults) {
    for fault in faults.take() {
        assert!(
            matches!(&fault, Fault::Panicked { message, .. } if &**message == "on purpose"),
            "{fault}"
        );
    }
}

/// Rounds of work from three threads, until the time is over.
fn mixed_work(workers: usize, accounts: usize) {
    let seed = setting("COACT_STRESS_SEED", 1);
    println!("COACT_STRESS_SEED={seed}");
    let faults = Faults::new();
    let runtime = runtime(workers, &faults);
    let (until, mut round) = (Instant::now() + duration(), 0);
    while Instant::now() < until {
        round += 1;
        let bank = runtime.run(|| {
            let bank = Bank::new(accounts);
            thread::scope(|scope| {
                let threads = [0, 1, 2].map(|thread| {
                    let (bank, runtime) = (&bank, &runtime);
                    scope.spawn(move || {
                        let _entered = runtime.enter();
                        let mut dice = Dice::new(seed + round * 3 + thread);
                        (0..300).for_each(|_| bank.work(&mut dice));
                    })
                });
                threads.into_iter().for_each(|thread| thread.join().unwrap());
            });
            bank
        });
        bank.close();
        assert_expected(&faults);
    }
}

#[test]
fn few_accounts_two_workers() {
    mixed_work(2, 3);
}

#[test]
fn many_accounts_more_workers_than_cores() {
    mixed_work(8, 50);
}

/// Runtimes that come and go, with work in them.
#[test]
fn runtimes_come_and_go() {
    let (until, mut seed) = (Instant::now() + duration(), setting("COACT_STRESS_SEED", 1));
    while Instant::now() < until {
        seed += 1;
        let faults = Faults::new();
        let one = runtime(2, &faults);
        let bank = {
            let _entered = one.enter();
            Bank::new(5)
        };
        let _entered = one.enter();
        let mut dice = Dice::new(seed);
        (0..200).for_each(|_| bank.work(&mut dice));
        drop(_entered);
        match dice.below(3) {
            0 => drop(one),
            1 => _ = one.shutdown(Duration::from_micros(200)),
            _ => {
                one.wait_idle();
                bank.close();
            }
        }
    }
}

/// Handles, weak handles and `into_inner` against behaviours that end.
#[test]
fn handles_come_and_go() {
    let runtime = runtime(2, &Faults::new());
    let _entered = runtime.enter();
    let until = Instant::now() + duration();
    while Instant::now() < until {
        let cown = Cown::new(Box::new(0));
        let weak = cown.downgrade();
        thread::scope(|scope| {
            let spawns = scope.spawn(|| {
                while let Some(cown) = weak.upgrade() {
                    when(&cown, |n| **n += 1);
                    thread::yield_now();
                }
            });
            scope.spawn(move || {
                let mut last = cown;
                for _ in 0..20 {
                    when(last.read(), |n| assert!(**n >= 0));
                    thread::yield_now();
                }
                loop {
                    match last.into_inner() {
                        Ok(state) => break drop(state),
                        Err(handle) => last = handle,
                    }
                }
            });
            // The end of a scope is one of the things that a sanitizer does not see.
            spawns.join().unwrap();
        });
    }
}

/// Adds up what it is told; asks others while it holds itself.
#[derive(Default)]
struct Summer(u64);

impl Actor for Summer {}

struct Add(u64);

impl Message for Add {
    type Reply = u64;
}

impl Handler<Add> for Summer {
    fn handle(&mut self, add: Add, _: &mut Context<Self>) -> u64 {
        self.0 += add.0;
        self.0
    }
}

/// Is passed on, held, this number of times.
struct Pass(Addr<Summer>, u64);

impl Message for Pass {
    type Reply = Result<u64, AskError>;
}

impl Receive<Pass> for Summer {
    fn receive(
        &mut self,
        pass: Pass,
        reply: Reply<Result<u64, AskError>>,
        context: &mut Context<Self>,
    ) {
        let Pass(next, left) = pass;
        context.hold(reply, move |summer, context| {
            let this = context.address();
            Box::pin(async move {
                if left == 0 {
                    return Ok(summer.0);
                }
                next.ask(Pass(this, left - 1)).await?
            })
        });
    }
}

/// Messages, behaviours, signals, and asks in a circle; as much was added as was told, and every
/// ask ends.
#[test]
fn actors_more_workers_than_cores() {
    let faults = Faults::new();
    let runtime = runtime(8, &faults);
    let (until, mut seed) = (Instant::now() + duration(), setting("COACT_STRESS_SEED", 1));
    while Instant::now() < until {
        let (actors, asks) = runtime.run(|| {
            let actors: Vec<_> = (0..4).map(|_| spawn(Summer::default())).collect();
            let asks = Cown::new(0);
            thread::scope(|scope| {
                let threads = [1, 2, 3].map(|thread| {
                    let (actors, asks, runtime) = (&actors, &asks, &runtime);
                    scope.spawn(move || {
                        let _entered = runtime.enter();
                        let mut dice = Dice::new(seed * 3 + thread);
                        (0..200).for_each(|_| disturb(actors, asks, &mut dice));
                    })
                });
                threads.into_iter().for_each(|thread| thread.join().unwrap());
            });
            seed += 1;
            (actors, asks)
        });
        assert!(faults.is_empty(), "{:?}", faults.take());
        let sum: u64 = call(&actors, |all| all.iter().map(|summer| summer.0).sum()).wait().unwrap();
        assert_eq!(sum, 3 * 200, "messages were lost or doubled");
        assert_eq!(asks.into_inner().ok(), Some(0), "asks go on");
    }
}

/// Adds one in some way or other, and gives the actors something else to do.
fn disturb(actors: &[Addr<Summer>], asks: &Cown<i64>, dice: &mut Dice) {
    let (first, second) = (&actors[dice.below(4)], &actors[dice.below(4)]);
    match dice.below(4) {
        0 if first != second => when((first, second), |(first, _)| first.0 += 1),
        1 => drop(first.ask(Add(1))),
        _ => first.send(Add(1)).expect("it lives"),
    }
    match dice.below(8) {
        0 => {
            first.suspend().expect("it lives");
            first.resume().expect("it lives");
        }
        1 | 2 => {
            when(asks, |asks| *asks += 1);
            let passed = first.ask(Pass(second.clone(), dice.below(4) as u64));
            drop(passed.then(asks, |asks, answer| {
                assert!(matches!(answer, Ok(Ok(_) | Err(AskError::Cycle(_)))), "{answer:?}");
                *asks -= 1;
            }));
        }
        _ => {}
    }
}
