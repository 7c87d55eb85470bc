//! Work is shared: what waits behind a long behaviour is run by a worker that has nothing to do,
//! and nothing is lost however many workers there are.

use std::collections::HashSet;
use std::hint;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use coact::prelude::*;
use coact_tests::{Executor, Faults, Meeting, hosted_runtime, runtime};

/// Spawns this number of behaviours that each need all the others to run at the same time.
fn together(count: usize) -> Vec<Promise<bool>> {
    let all = Meeting::of(count);
    let attend = || {
        let all = all.clone();
        move |_: &mut ()| all.wait()
    };
    (0..count).map(|_| call(&Cown::new(()), attend())).collect()
}

fn assert_met(promises: Vec<Promise<bool>>) {
    assert!(promises.into_iter().all(|met| met.wait() == Ok(true)), "some worker did nothing");
}

/// Again and again, so that the workers are asleep, awake, or about to sleep.
#[test]
fn o6_as_many_behaviours_as_workers_run_at_the_same_time() {
    for workers in [2, 3, 4, 8] {
        let runtime = runtime(workers, &Faults::new());
        let _entered = runtime.enter();
        for round in 0..30 {
            assert_met(together(workers));
            if round % 3 == 0 {
                runtime.wait_idle();
            }
        }
    }
}

#[test]
fn behaviours_that_a_behaviour_spawns_are_shared() {
    for workers in [2, 4, 8] {
        let runtime = runtime(workers, &Faults::new());
        for _ in 0..30 {
            let promises = runtime.run(|| call((), move |()| together(workers)));
            assert_met(promises.wait().unwrap());
        }
    }
}

/// The last thing that a behaviour spawns, before it runs for long, is not kept for itself.
#[test]
fn p3_what_waits_behind_a_long_behaviour_is_picked_up() {
    for waiting in [1, 2, 5] {
        let runtime = runtime(2, &Faults::new());
        for _ in 0..30 {
            let met = runtime.run(|| {
                call((), move |()| {
                    // All of them pass the meeting, one by one, while this body is in it.
                    let all = Meeting::of(waiting + 1);
                    for _ in 1..waiting {
                        let all = all.clone();
                        when(&Cown::new(()), move |_| all.arrive());
                    }
                    let last = all.clone();
                    when(&Cown::new(()), move |_| last.arrive());
                    all.wait()
                })
            });
            assert_eq!(met.wait(), Ok(true));
        }
    }
}

/// Those that a long behaviour's end would have let go are not held up by what runs after it.
#[test]
fn what_becomes_ready_together_runs_together() {
    let runtime = runtime(2, &Faults::new());
    for _ in 0..30 {
        let met = runtime.run(|| {
            let (a, b, both) = (Cown::new(()), Cown::new(()), Meeting::of(2));
            let (on_a, on_b) = (both.clone(), both);
            let (far_a, far_b) = (a.clone(), b.clone());
            call((&a, &b), move |_| {
                [call(&far_a, move |_| on_a.wait()), call(&far_b, move |_| on_b.wait())]
            })
        });
        assert_eq!(met.wait().unwrap().map(Promise::wait), [Ok(true), Ok(true)]);
    }
}

/// Long behaviours of one runtime hold up nothing in another.
#[test]
fn runtimes_do_not_wait_for_each_other() {
    let [one, two] = [runtime(1, &Faults::new()), runtime(1, &Faults::new())];
    let both = Meeting::of(2);
    let attend = |both: &Meeting| {
        let both = both.clone();
        move |()| both.wait()
    };
    let met = [one.run_later(attend(&both)), two.run_later(attend(&both))];
    assert_eq!(met.map(Promise::wait), [Ok(true), Ok(true)]);
}

trait RunLater {
    fn run_later(&self, work: impl FnOnce(()) -> bool + Send + 'static) -> Promise<bool>;
}

impl RunLater for Runtime {
    fn run_later(&self, work: impl FnOnce(()) -> bool + Send + 'static) -> Promise<bool> {
        let _entered = self.enter();
        call((), work)
    }
}

/// Fan-out and fan-in over and over, with more workers than cores.
#[test]
fn p1_nothing_is_lost_with_more_workers_than_cores() {
    fn fib(n: u64) -> Promise<u64> {
        let result = Cown::new(0);
        if n < 2 {
            return call(&result, move |_| n);
        }
        let (resolver, promise) = Promise::channel();
        when(&result, move |_| {
            let (left, right) = (fib(n - 1), fib(n - 2));
            drop(left.then((), move |(), left| {
                drop(
                    right.then((), move |(), right| {
                        resolver.resolve(left.unwrap() + right.unwrap())
                    }),
                );
            }));
        });
        promise
    }
    let runtime = runtime(8, &Faults::new());
    assert_eq!(runtime.run(|| fib(16)).wait(), Ok(987));
}

/// Wake-ups: work that comes one by one while the workers fall asleep.
#[test]
fn p1_no_wake_up_is_lost() {
    let runtime = runtime(8, &Faults::new());
    let cowns = runtime.run(|| (0..4).map(|_| Cown::new(0_u64)).collect::<Vec<_>>());
    thread::scope(|scope| {
        for cown in &cowns {
            scope.spawn(move || {
                // Each waits for its answer, so that there is hardly ever any work.
                for n in 0..2000 {
                    assert_eq!(
                        call(cown, |count| {
                            *count += 1;
                            *count
                        })
                        .wait(),
                        Ok(n + 1)
                    );
                }
            });
        }
    });
}

/// A burst of behaviours that are too short for their worker to look stuck, and too few for it to
/// share by their number.
#[test]
fn p3_a_burst_of_behaviours_of_almost_a_millisecond_finds_the_idle_workers() {
    for workers in [2, 4] {
        assert_bursts_are_found(&runtime(workers, &Faults::new()));
    }
}

#[test]
fn such_a_burst_finds_the_workers_that_an_executor_hosts() {
    let executor = Executor::new(2);
    assert_bursts_are_found(&hosted_runtime(2, &executor, &Faults::new()));
}

fn assert_bursts_are_found(runtime: &Runtime) {
    let rounds = 40;
    let found = (0..rounds).filter(|_| runtime.run(burst) > 1).count();
    // The machine may have no second processor to give for some of them.
    assert!(found > rounds / 2, "found {found} of {rounds} bursts");
}

/// One behaviour makes eight ready; returns how many workers ran them.
fn burst() -> usize {
    let seen = Arc::new(Mutex::new(HashSet::new()));
    let long = {
        let seen = Arc::clone(&seen);
        move |_: &mut ()| {
            seen.lock().unwrap().insert(thread::current().id());
            let began = Instant::now();
            while began.elapsed() < Duration::from_micros(900) {
                hint::spin_loop();
            }
        }
    };
    let all = call((), move |()| [(); 8].map(|()| call(&Cown::new(()), long.clone())));
    all.wait().unwrap().into_iter().for_each(|each| each.wait().unwrap());
    seen.lock().unwrap().len()
}
