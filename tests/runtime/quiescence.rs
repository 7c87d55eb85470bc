//! Idleness of several runtimes that send work to each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use coact::behaviour::Refusal;
use coact::prelude::*;
use coact::runtime::{RuntimeHandle, blocking};
use coact::{call_here, try_call};
use coact_tests::{Faults, PATIENCE, panic_of, runtime, side_by_side};

type Court = [Cown<()>; 3];

/// Passes a ball on from cown to cown, in one way or another, and counts it at the end.
fn serve(ball: usize, court: &Arc<Court>, ended: &Arc<AtomicUsize>) {
    let (to, next, ended) = (&court[ball % 3], Arc::clone(court), Arc::clone(ended));
    when(to, move |()| match ball {
        0 => {
            ended.fetch_add(1, Ordering::Relaxed);
        }
        // Where no queue shows it: the job sends it on, and leaves nothing behind.
        _ if ball.is_multiple_of(7) => drop(blocking(move || serve(ball - 1, &next, &ended))),
        _ => serve(ball - 1, &next, &ended),
    });
}

#[test]
fn h8_no_moment_between_two_of_them_is_taken_for_the_end() {
    let blocking = Runtime::builder().on_blocking_threads(2).build().unwrap();
    let runtimes = [runtime(1, &Faults::new()), runtime(2, &Faults::new()), blocking];
    let court = Arc::new(runtimes.each_ref().map(|runtime| runtime.run(|| Cown::new(()))));
    let (homes, ended) = (runtimes.each_ref().map(Runtime::handle), Arc::new(AtomicUsize::new(0)));
    for round in 1..=300 {
        serve(20 + round % 10, &court, &ended);
        Runtime::wait_idle_all(&homes);
        assert_eq!(ended.load(Ordering::Relaxed), round);
    }
}

#[test]
fn a_pump_can_be_among_them() {
    let pump = Runtime::builder().build_pumped().unwrap();
    let workers = [runtime(1, &Faults::new()), runtime(1, &Faults::new())];
    let [a, b] = workers.each_ref().map(|runtime| runtime.run(|| Cown::new(())));
    let court = Arc::new([pump.run(|| Cown::new(())), a, b]);
    let (homes, ended) = (workers.each_ref().map(Runtime::handle), Arc::new(AtomicUsize::new(0)));
    for round in 1..=300 {
        serve(20 + round % 10, &court, &ended);
        pump.run_until_idle(&homes);
        assert_eq!(ended.load(Ordering::Relaxed), round);
    }
}

/// Two pumps that wait for each other, and a third thread that waits for both: a look must not
/// disturb the others' looks for good.
#[test]
fn all_who_wait_are_told() {
    let (send, pumps) = mpsc::channel();
    let threads = [(); 2].map(|()| {
        let (send, (tell, rounds)) = (send.clone(), mpsc::channel::<RuntimeHandle>());
        let thread = thread::spawn(move || {
            let pump = Runtime::builder().build_pumped().unwrap();
            send.send((pump.runtime(), pump.run(|| Cown::new(0)))).unwrap();
            for other in rounds {
                pump.run_until_idle(&[other]);
            }
        });
        (thread, tell)
    });
    let [(one, a), (two, b)] = [(); 2].map(|()| pumps.recv_timeout(PATIENCE).unwrap());
    for round in 1..=300 {
        let far = b.clone();
        when(&a, move |_| when(&far, |n| *n += 1));
        for (_, tell) in &threads {
            // Each waits for both, whichever is its own.
            tell.send(one).unwrap();
            tell.send(two).unwrap();
        }
        Runtime::wait_idle_all(&[one, two]);
        let seen = call(&b, |n| *n);
        for (_, tell) in &threads {
            tell.send(one).unwrap();
            tell.send(two).unwrap();
        }
        assert_eq!(seen.wait(), Ok(round));
    }
    for (thread, tell) in threads {
        drop(tell);
        thread.join().unwrap();
    }
}

#[test]
fn a_wait_can_be_given_up() {
    let [one, two] = [runtime(1, &Faults::new()), runtime(1, &Faults::new())];
    let homes = [one.handle(), two.handle()];
    let busy = two.handle().hold_open();
    assert!(!Runtime::wait_idle_all_timeout(&homes, Duration::from_millis(2)));
    drop(busy);
    assert!(Runtime::wait_idle_all_timeout(&homes, PATIENCE));
}

#[test]
fn a_runtime_that_is_gone_is_idle() {
    let [one, two] = [runtime(1, &Faults::new()), runtime(1, &Faults::new())];
    let homes = [one.handle(), two.handle()];
    drop(two);
    Runtime::wait_idle_all(&homes);
    Runtime::wait_idle_all(&[]);
}

#[test]
fn behaviours_cannot_wait_for_it() {
    let runtime = runtime(1, &Faults::new());
    let home = runtime.handle();
    let message = runtime.run(|| call((), move |()| panic_of(|| Runtime::wait_idle_all(&[home]))));
    assert!(message.wait().unwrap().contains("idle"));
}

/// An external thread that is seen by the first look for idleness and gone by the next does not
/// leave the waiter asleep, though its end is not reported.
#[test]
fn an_external_thread_that_comes_and_goes_is_waited_for_and_no_longer() {
    let runtime = runtime(1, &Faults::new());
    let cown = runtime.run(|| Cown::new(0_u64));
    let (far, (stop, stopped)) = (cown.clone(), mpsc::channel::<()>());
    let external = thread::spawn(move || {
        while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
            // About as long as a look for external threads.
            when_here(&far, |n| (0..100).for_each(|_| *n = std::hint::black_box(*n + 1)));
            (0..100).for_each(|_| std::hint::spin_loop());
        }
    });
    for _ in 0..20_000 {
        assert!(Runtime::wait_idle_all_timeout(&[runtime.handle()], PATIENCE));
        runtime.wait_idle();
    }
    drop(stop);
    external.join().unwrap();
}

/// A call of `when_here`, to be made somewhere.
type Here = Box<dyn FnOnce() -> bool + Send>;

/// Has a body run on the spot, on the cown of one runtime, by a thread that works in another one.
fn body_from_elsewhere(cown: &Cown<u32>, run: impl FnOnce(Here)) -> mpsc::Sender<()> {
    let (started, has_started) = Promise::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let near = cown.clone();
    run(Box::new(move || {
        when_here(&near, move |n| {
            started.resolve(());
            let _ = gate.recv_timeout(PATIENCE);
            *n += 1;
        })
    }));
    has_started.wait().unwrap();
    go_on
}

/// A body on the spot is work of its cown's runtime, on whatever thread it runs.
#[test]
fn t2_a_body_on_the_spot_is_waited_for_whoever_runs_it() {
    let [mine, other] = [runtime(1, &Faults::new()), runtime(1, &Faults::new())];
    let (cown, from) = (mine.run(|| Cown::new(0)), other.run(|| Cown::new(())));
    let pump = Runtime::builder().on_blocking_threads(1).build().unwrap();
    let ways: [&dyn Fn(Here); 3] = [
        &|here| when(&from, move |()| assert!(here())),
        // A thread that has entered the other runtime already.
        &|here| {
            let from = from.clone();
            thread::spawn(move || assert!(when_here(&from, move |()| assert!(here()))));
        },
        &|here| {
            let _entered = pump.enter();
            drop(blocking(move || assert!(here())));
        },
    ];
    for (way, run) in ways.into_iter().enumerate() {
        let go_on = body_from_elsewhere(&cown, run);
        let short = Duration::from_millis(5);
        assert!(!Runtime::wait_idle_all_timeout(&[mine.handle()], short), "way {way}");
        assert!(
            !Runtime::wait_idle_all_timeout(&[mine.handle(), pump.handle()], short),
            "way {way}"
        );
        drop(go_on);
        mine.wait_idle();
        Runtime::wait_idle_all(&[mine.handle(), other.handle(), pump.handle()]);
    }
    // What is stuck there is told of.
    let go_on = body_from_elsewhere(&cown, ways[0]);
    let report = mine.shutdown(Duration::from_millis(5));
    assert_eq!(report.stuck_workers, 1, "{report}");
    assert!(!report.is_complete());
    drop(go_on);
    other.wait_idle();
    assert_eq!(cown.into_inner(), Ok(4));
}

/// Its surroundings are those of a behaviour on the cown, on whatever thread it runs.
#[test]
fn a_body_on_the_spot_is_at_home() {
    let [mine, other] = [runtime(1, &Faults::new()), runtime(1, &Faults::new())];
    let (cown, from) = (mine.run(|| Cown::new(())), other.run(|| Cown::new(())));
    let place = move || {
        let here = call_here(&cown, |()| (RuntimeHandle::current(), Cown::new(()).runtime()));
        (here.wait().unwrap(), RuntimeHandle::current())
    };
    let outside = place();
    let inside = call(&from, move |()| place()).wait().unwrap();
    assert_eq!(
        (outside.0, inside.0),
        ((mine.handle(), mine.handle()), (mine.handle(), mine.handle()))
    );
    assert_eq!(inside.1, other.handle());
}

/// A move comes before or after a body on the spot, not while it is about to run.
#[test]
fn a_body_on_the_spot_runs_where_the_cown_is() {
    let homes = [runtime(1, &Faults::new()), runtime(1, &Faults::new())];
    let cown = homes[0].run(|| Cown::new(0_u32));
    side_by_side([0, 1].map(|mover| {
        let (cown, homes) = (&cown, &homes);
        move || {
            for turn in 0..5_000 {
                if mover == 0 {
                    cown.move_to(homes[turn % 2].handle()).unwrap();
                    continue;
                }
                let at = cown.downgrade();
                when_here(cown, move |n| {
                    *n += 1;
                    assert_eq!(at.upgrade().unwrap().runtime(), RuntimeHandle::current());
                });
            }
        }
    }));
    Runtime::wait_idle_all(&homes.each_ref().map(Runtime::handle));
    assert_eq!(cown.into_inner(), Ok(5_000));
}

/// On a runtime that is shut down nothing runs on the spot, nor is it spawned, wherever one asks.
#[test]
fn a_worker_of_another_runtime_is_refused_by_a_stopped_one() {
    let [mine, other] = [runtime(1, &Faults::new()), runtime(1, &Faults::new())];
    let (cown, from) = (mine.run(|| Cown::new(0)), other.run(|| Cown::new(())));
    let far = cown.clone();
    assert!(mine.shutdown(PATIENCE).is_complete());
    let refused = call(&from, move |()| {
        let here = when_here(&far, |n| *n += 1);
        let served = coact::behaviour::serve_here(&far, 3, |n| *n += 1);
        let tried = try_when(&far, |n| *n += 1).map_err(|error| error.refusal);
        let asked = try_call(&far, |n| *n += 1).map(drop).map_err(|error| error.refusal);
        (here, served, tried, asked)
    });
    let closed = Err(Refusal::Closed);
    assert_eq!(refused.wait(), Ok((false, false, closed, closed)));
    assert_eq!(cown.into_inner(), Ok(0));
}
