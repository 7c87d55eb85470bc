//! Cowns that move from one runtime to another.

use std::thread;

use coact::MoveError;
use coact::prelude::*;
use coact_tests::{Faults, PATIENCE, runtime};

#[test]
fn behaviours_after_the_move_run_in_the_new_home() {
    let [one, two] =
        ["one", "two"].map(|name| Runtime::builder().workers(1).name(name).build().unwrap());
    let cown = one.run(|| Cown::new(()));
    let name = |cown| ask(cown, |_: &mut ()| thread::current().name().unwrap().to_owned()).wait();
    assert_eq!(name(&cown), Ok("one-0".into()));
    cown.move_to(two.home()).unwrap();
    assert_eq!(name(&cown), Ok("two-0".into()));
    assert_eq!(cown.home(), two.home());
}

/// Whatever the hosts, and however often it moves meanwhile.
#[test]
fn the_order_is_kept() {
    let blocking = Runtime::builder().on_blocking_threads(3).build().unwrap();
    let hosts = [runtime(1, &Faults::new()), runtime(2, &Faults::new()), blocking];
    let cown = hosts[0].run(|| Cown::new(Vec::new()));
    let (count, batch) = (20_000, 50);
    thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..count {
                when(&cown, move |seen| seen.push(n));
                if n % batch == 0 {
                    thread::yield_now();
                }
            }
        });
        scope.spawn(|| {
            for round in 0..count / batch {
                cown.move_to(hosts[round % hosts.len()].home()).unwrap();
                thread::yield_now();
            }
        });
    });
    Runtime::wait_idle_all(&hosts.each_ref().map(Runtime::home));
    assert_eq!(cown.into_inner().unwrap(), (0..count).collect::<Vec<_>>());
}

/// Nothing would run there, or could run here.
#[test]
fn a_runtime_that_has_been_shut_down_takes_no_cowns_and_gives_none() {
    let (ended, living) = (runtime(1, &Faults::new()), runtime(1, &Faults::new()));
    let [stays, left] = [&living, &ended].map(|runtime| runtime.run(|| Cown::new(7)));
    let home = ended.home();
    assert!(ended.shutdown(PATIENCE).is_complete());
    assert_eq!(stays.move_to(home), Err(MoveError::ToEnded));
    assert_eq!(left.move_to(living.home()), Err(MoveError::Ended));
    assert_eq!(ask(&stays, |n| *n).wait(), Ok(7));
}
