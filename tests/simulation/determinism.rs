//! `check_determinism`: a program that depends on something else than the schedule is found.

use std::cell::Cell;
use std::collections::HashMap;
use std::time::Duration;

use coact::runtime::spawn_future;
use coact::sim::{self, Bounds, Config, Method, Sim};
use coact::time::{after, sleep};
use coact::{
    Actor, Context, Cown, Handler, Message, Promise, Runtime, call, scope, spawn, when, when_here,
};
use coact_tests::panic_of;

/// The report on a program whose runs differ.
#[track_caller]
fn difference(sim: Sim, program: impl Fn() + 'static) -> String {
    let failure = sim.compare_runs(program).expect_err("its runs differ");
    failure.cause().to_owned()
}

fn few() -> Sim {
    Sim::new().config(Config::new().runs(20))
}

thread_local! {
    static RUNS: Cell<u64> = const { Cell::new(0) };
}

/// Counts the runs of a test: state that outlives a run.
fn run_number() -> u64 {
    RUNS.replace(RUNS.get() + 1)
}

/// What programs usually use.
fn much() {
    let files = Runtime::builder().name("files").on_blocking_threads(2).build().unwrap();
    let cowns: Vec<Cown<u64>> = (0..4).map(Cown::new).collect();
    let thread = sim::thread({
        let cowns = cowns.clone();
        move || {
            for cown in &cowns {
                when(cown, |n| *n += 1);
            }
            sim::choose(3)
        }
    });
    after(Duration::from_millis(5), &cowns[1], |n| *n += 2);
    let held = files.run(|| Cown::new(1));
    when((&held, &cowns[0]), |(held, n)| *n += *held);
    let future = spawn_future({
        let cown = cowns[2].clone();
        async move {
            sleep(Duration::from_millis(3)).await.unwrap();
            call(&cown, |n| *n).await.unwrap()
        }
    });
    scope(|scope| scope.when(&cowns[3], |n| *n += 1));
    sim::trace(format_args!("{:?} {:?}", thread.wait(), future.wait()));
    files.wait_idle();
}

/// What the timers of one run leave behind decides nothing in the next one.
#[test]
fn p10_timers_of_an_earlier_run_make_no_difference() {
    let cancels = || {
        let cown = Cown::new(());
        let timer = after(Duration::from_secs(30), &cown, |()| ());
        when(&cown, move |()| assert!(timer.cancel()));
        sleep(Duration::from_secs(60)).wait().unwrap();
    };
    std::thread::spawn(move || few().check_determinism(cancels)).join().unwrap();
}

/// Runtimes of a run have the ids, and so the order, that they had in the one before.
#[test]
fn p10_several_runtimes_of_a_run_are_ordered_as_in_the_one_before() {
    few().check_determinism(|| {
        let runtimes: Vec<_> =
            (0..3).map(|_| Runtime::builder().workers(2).build().unwrap()).collect();
        let cowns: Vec<_> = runtimes.iter().map(|it| it.run(|| Cown::new(0))).collect();
        when(cowns.as_slice(), |all| all.into_iter().for_each(|n| *n += 1));
        cowns.iter().for_each(|cown| when(cown, |n| *n += 1));
        runtimes.iter().for_each(Runtime::wait_idle);
    });
}

/// The end of a runtime treats its actors in the order of their creation, wherever the actors of
/// earlier runs have left room for them.
#[test]
fn p10_a_runtime_that_ends_before_its_actors_does_the_same_in_each_run() {
    few().check_determinism(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let busy: Vec<_> = runtime.run(|| (0..5).map(|_| spawn(Busy(0))).collect());
        busy.iter().for_each(|actor| actor.send(Turn).unwrap());
        // Some of them have turns left, and are sending themselves the next.
        drop(runtime);
    });
}

/// How often a thread tries to run a behaviour inline does not depend on its luck in earlier runs.
#[test]
fn p10_inline_behaviours_are_tried_as_often_as_in_the_run_before() {
    let sim = Sim::new().config(Config::new().runs(200));
    sim.check_determinism(|| {
        let (one, other) = (Cown::new(0), Cown::new(0));
        for is_pair in [true, false, false] {
            let (one, other) = (one.clone(), other.clone());
            drop(sim::thread(move || {
                for _ in 0..4 {
                    if is_pair {
                        when_here((&one, &other), |(one, other)| {
                            *one += 1;
                            *other += 1;
                        });
                    } else {
                        when_here(&other, |n| *n += 1);
                    }
                }
            }));
        }
    });
}

/// Sends itself two more messages.
#[derive(Actor)]
struct Busy(u32);

#[derive(Message)]
struct Turn;

impl Handler<Turn> for Busy {
    fn handle(&mut self, _: Turn, context: &mut Context<Self>) {
        self.0 += 1;
        if self.0 < 3 {
            // Refused once the runtime has ended.
            let _ = context.address().send(Turn);
        }
    }
}

#[test]
fn p10_a_program_that_depends_on_the_schedule_only_passes() {
    few().check_determinism(much);
    for method in [Method::Pct { depth: 3 }, Method::Fifo, Method::Dfs(Bounds::new())] {
        let config = Config::new().method(method).runs(20);
        Sim::new().config(config).compare_runs(much).unwrap();
    }
    // And it is the exploration that `check` makes.
    few().check(much);
}

#[test]
fn p10_the_order_of_a_hash_map_is_found() {
    let report = difference(few(), || {
        let cowns: HashMap<u32, Cown<u32>> = (0..32).map(|key| (key, Cown::new(key))).collect();
        for cown in cowns.values() {
            when(cown, |n| *n += 1);
        }
    });
    assert!(
        report.starts_with("the program is not deterministic: two runs with the same choices part"),
        "{report}"
    );
    assert!(report.contains("    both runs:  "), "{report}");
    for run in ["first run:", "second run:"] {
        let line = report.lines().find(|line| line.contains(run)).expect("each run has a line");
        assert!(line.contains("of the run"), "the cowns have other ranks: {report}");
    }
    assert!(report.contains("a `HashMap` or `HashSet` whose order decides"), "{report}");
}

#[test]
fn p10_behaviours_that_depend_on_earlier_runs_are_found() {
    let report = difference(few(), || {
        let cown = Cown::new(0);
        if run_number().is_multiple_of(2) {
            when(&cown, |n| *n += 1);
        }
        when(&cown, |n| *n += 2);
    });
    // At other places of the program.
    let place = concat!(file!(), ":");
    let lines: Vec<_> = report.lines().filter(|line| line.contains("was spawned at")).collect();
    assert!(lines.len() == 2 && lines.iter().all(|line| line.contains(place)), "{report}");
}

#[test]
fn p10_a_run_that_ends_earlier_or_later_is_found() {
    let more = difference(few(), || {
        if run_number() % 2 == 1 {
            sim::choose(2);
        }
    });
    assert!(more.contains("the second run:  `sim::choose(2)` returned"), "{more}");
    assert!(more.contains("the first run:   nothing more: it ended"), "{more}");
    let less = difference(few(), || {
        if run_number().is_multiple_of(2) {
            sim::choose(2);
        }
    });
    assert!(less.contains("the first run:   `sim::choose(2)` returned"), "{less}");
    assert!(less.contains("the second run:  nothing more: it ended"), "{less}");
}

#[test]
fn p10_another_time_is_found() {
    let report = difference(few(), || {
        sleep(Duration::from_secs(1 + run_number())).wait().unwrap();
    });
    assert!(report.contains("the first run:   the time became 1s"), "{report}");
    assert!(report.contains("the second run:  the time became 2s"), "{report}");
}

#[test]
fn p10_values_are_compared_where_the_program_adds_them() {
    let silent = || {
        let number = run_number();
        let _ = call(&Cown::new(number), |n| *n).wait();
    };
    few().check_determinism(silent);
    let report = difference(few(), || {
        let number = run_number();
        let cown = Cown::new(number);
        sim::trace(call(&cown, |n| *n).wait().unwrap());
    });
    assert!(report.contains("the second run:  `sim::trace`: "), "{report}");
}

/// A failure that comes again is reported as that, and can be replayed.
#[test]
fn p10_a_failure_is_reported_if_it_comes_again() {
    fn flawed() {
        assert!(sim::choose(8) != 5, "five");
    }
    let config = || Config::new().runs(100);
    let failure = Sim::new().config(config()).compare_runs(flawed).unwrap_err();
    assert_eq!(failure.cause(), "five");
    let replay = Config::new().method(Method::Replay(failure.schedule().clone()));
    assert_eq!(Sim::new().config(replay).run(flawed).unwrap_err().cause(), "five");
    // One that does not come again, or in other words, is a difference.
    for text in ["", " again"] {
        let report = difference(few(), move || {
            let number = run_number();
            assert!(text.is_empty() && number % 2 == 1, "number {}", number % 2);
        });
        assert!(report.contains("do the same and end differently"), "{report}");
        assert!(report.contains("the first run failed: number 0"), "{report}");
    }
}

/// It leaves the system's thread in that panic, and so cannot be made again there.
#[test]
fn p10_a_failure_in_the_middle_of_a_panic_is_reported_as_that() {
    struct WaitInVain(Cown<()>);
    impl Drop for WaitInVain {
        fn drop(&mut self) {
            when(&self.0, |()| ());
            let (resolver, promise) = Promise::<()>::channel();
            std::mem::forget(resolver);
            let _ = promise.wait();
        }
    }
    let compare = || {
        let failure = few().compare_runs(|| {
            let waits = WaitInVain(Cown::new(()));
            drop(sim::thread(move || {
                let _waits = waits;
                panic!("in a thread");
            }));
        });
        failure.unwrap_err().cause().to_owned()
    };
    let cause = std::thread::spawn(compare).join().unwrap();
    assert!(cause.starts_with("deadlock: "), "{cause}");
}

#[test]
fn what_fails_to_be_repeated_panics_with_the_report() {
    let report = panic_of(|| sim::check_determinism(|| sim::trace(run_number())));
    assert!(report.starts_with("run 1 failed: the program is not deterministic"), "{report}");
    assert!(report.contains("COACT_SIM_SCHEDULE="), "{report}");
    let outside = panic_of(|| sim::trace(1));
    assert!(outside.contains("only simulated programs can do this"), "{outside}");
}
