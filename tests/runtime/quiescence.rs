//! Idleness of several runtimes that send work to each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use coact::prelude::*;
use coact_tests::{Faults, PATIENCE, panic_of, runtime};

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
fn no_moment_between_two_of_them_is_taken_for_the_end() {
    let blocking = Runtime::builder().on_blocking_threads(2).build().unwrap();
    let runtimes = [runtime(1, &Faults::new()), runtime(2, &Faults::new()), blocking];
    let court = Arc::new(runtimes.each_ref().map(|runtime| runtime.run(|| Cown::new(()))));
    let (homes, ended) = (runtimes.each_ref().map(Runtime::home), Arc::new(AtomicUsize::new(0)));
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
    let (homes, ended) = (workers.each_ref().map(Runtime::home), Arc::new(AtomicUsize::new(0)));
    for round in 1..=300 {
        serve(20 + round % 10, &court, &ended);
        pump.run_until_all_idle(&homes);
        assert_eq!(ended.load(Ordering::Relaxed), round);
    }
}

/// Two pumps that wait for each other, and a third thread that waits for both: whoever looks must not
/// disturb the others' looks for good.
#[test]
fn all_who_wait_are_told() {
    let (send, pumps) = mpsc::channel();
    let threads = [(); 2].map(|()| {
        let (send, (tell, rounds)) = (send.clone(), mpsc::channel::<Home>());
        let thread = thread::spawn(move || {
            let pump = Runtime::builder().build_pumped().unwrap();
            send.send((pump.home(), pump.run(|| Cown::new(0)))).unwrap();
            for other in rounds {
                pump.run_until_all_idle(&[other]);
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
        let seen = ask(&b, |n| *n);
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
    let homes = [one.home(), two.home()];
    let busy = two.home().hold_open();
    assert!(!Runtime::wait_idle_all_timeout(&homes, Duration::from_millis(2)));
    drop(busy);
    assert!(Runtime::wait_idle_all_timeout(&homes, PATIENCE));
}

#[test]
fn a_runtime_that_is_gone_is_idle() {
    let [one, two] = [runtime(1, &Faults::new()), runtime(1, &Faults::new())];
    let homes = [one.home(), two.home()];
    drop(two);
    Runtime::wait_idle_all(&homes);
    Runtime::wait_idle_all(&[]);
}

#[test]
fn behaviours_cannot_wait_for_it() {
    let runtime = runtime(1, &Faults::new());
    let home = runtime.home();
    let message = runtime.run(|| ask((), move |()| panic_of(|| Runtime::wait_idle_all(&[home]))));
    assert!(message.wait().unwrap().contains("idle"));
}
