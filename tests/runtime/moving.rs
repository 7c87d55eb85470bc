//! Cowns that move from one runtime to another.

use std::sync::mpsc;
use std::thread;

use coact::prelude::*;
use coact::runtime::{MoveError, RuntimeHandle};
use coact_tests::{Faults, PATIENCE, runtime};

#[test]
fn h7_behaviours_after_the_move_run_in_the_new_home() {
    let [one, two] =
        ["one", "two"].map(|name| Runtime::builder().workers(1).name(name).build().unwrap());
    let cown = one.run(|| Cown::new(()));
    let name = |cown| call(cown, |_: &mut ()| thread::current().name().unwrap().to_owned()).wait();
    assert_eq!(name(&cown), Ok("one-0".into()));
    cown.move_to(two.handle()).unwrap();
    assert_eq!(name(&cown), Ok("two-0".into()));
    assert_eq!(cown.runtime(), two.handle());
}

/// Its state is not touched. In a group the others come along.
#[test]
fn a_poisoned_cown_moves_as_any_other() {
    let faults = Faults::new();
    let [one, two] = [(); 2].map(|()| runtime(1, &faults));
    for in_group in [false, true] {
        let group = Group::new_in(one.handle());
        let [cown, other] = [(); 2].map(|()| match in_group {
            true => group.cown(1),
            false => one.run(|| Cown::new(1)),
        });
        when(&cown, |_| panic!("planned"));
        cown.move_to(two.handle()).unwrap();
        // Until all that belongs to the move has been done.
        Runtime::wait_idle_all(&[one.handle(), two.handle()]);
        let moved = call(cown.checked(), |state| {
            state.unwrap_err().clear();
            RuntimeHandle::current()
        });
        assert_eq!(moved.wait(), Ok(two.handle()));
        assert_eq!(cown.runtime(), two.handle());
        assert_eq!(
            call(&other, |_| RuntimeHandle::current()).wait().unwrap() == two.handle(),
            in_group
        );
    }
    // What a move does itself is not skipped, and so not reported.
    let faults = faults.take();
    assert_eq!(faults.len(), 2, "one for each panic: {faults:?}");
}

/// A move is no work of the program: nothing is lost with it.
#[test]
fn t3_moves_that_a_shutdown_drops_are_not_abandoned_work() {
    for in_group in [false, true] {
        let [one, two] = [(); 2].map(|()| runtime(1, &Faults::new()));
        let cown = match in_group {
            true => Group::new_in(one.handle()).cown(0),
            false => one.run(|| Cown::new(0)),
        };
        let (release, gate) = mpsc::channel::<()>();
        let (started, has_started) = Promise::channel();
        when(&cown, move |n| {
            started.resolve(());
            let _ = gate.recv_timeout(PATIENCE);
            *n = 1;
        });
        has_started.wait().unwrap();
        (0..5).for_each(|_| cown.move_to(two.handle()).unwrap());
        let dropped = call(&cown, |_| ());
        one.cancel();
        drop(release);
        let report = one.shutdown(PATIENCE);
        assert_eq!((report.abandoned, report.stuck_workers), (1, 0), "{report}");
        assert_eq!(dropped.wait(), Err(Broken::Cancelled));
        assert_eq!(cown.into_inner().unwrap(), 1);
    }
}

/// Whatever the hosts, and however often it moves meanwhile.
#[test]
fn h7_the_order_is_kept() {
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
                cown.move_to(hosts[round % hosts.len()].handle()).unwrap();
                thread::yield_now();
            }
        });
    });
    Runtime::wait_idle_all(&hosts.each_ref().map(Runtime::handle));
    assert_eq!(cown.into_inner().unwrap(), (0..count).collect::<Vec<_>>());
}

/// Nothing would run there, or could run here.
#[test]
fn a_runtime_that_has_been_shut_down_takes_no_cowns_and_gives_none() {
    let (ended, living) = (runtime(1, &Faults::new()), runtime(1, &Faults::new()));
    let [stays, left] = [&living, &ended].map(|runtime| runtime.run(|| Cown::new(7)));
    let home = ended.handle();
    assert!(ended.shutdown(PATIENCE).is_complete());
    assert_eq!(stays.move_to(home), Err(MoveError::ToEnded));
    assert_eq!(left.move_to(living.handle()), Err(MoveError::Ended));
    assert_eq!(call(&stays, |n| *n).wait(), Ok(7));
}

/// Whatever the shape of the behaviour: when it is spawned the cown may still wait to be moved.
#[test]
fn h7_all_that_is_spawned_after_the_move_runs_in_the_new_home() {
    let [one, two] = [(); 2].map(|()| runtime(1, &Faults::new()));
    let home = || RuntimeHandle::current();
    for in_group in [false, true] {
        let group = Group::new_in(one.handle());
        let [cown, other] = [(); 2].map(|()| match in_group {
            true => group.cown(()),
            false => one.run(|| Cown::new(())),
        });
        let (go, may_go) = mpsc::channel::<()>();
        when(&cown, move |()| may_go.recv_timeout(PATIENCE).unwrap());
        let before = [
            call(&cown, move |()| home()),
            call(cown.read(), move |()| home()),
            call((&cown, &other), move |_| home()),
        ];
        cown.move_to(two.handle()).unwrap();
        let after = [
            call(cown.read(), move |()| home()),
            call(&[&cown][..], move |_| home()),
            call((&cown, &other), move |_| home()),
            call((cown.read(), other.read()), move |_| home()),
            call(&cown, move |()| home()),
        ];
        let (resolver, batched) = Promise::channel();
        Batch::new().when((&cown, &other), move |_| resolver.resolve(home())).spawn();
        // A set runs where the first of its cowns is.
        let elsewhere = call((&other, &cown), move |_| home());
        go.send(()).unwrap();
        for before in before {
            assert_eq!(before.wait(), Ok(one.handle()));
        }
        for after in after.into_iter().chain([batched]) {
            assert_eq!(after.wait(), Ok(two.handle()));
        }
        assert_eq!(elsewhere.wait() == Ok(two.handle()), in_group);
    }
}

/// What members send each other waits in memory of the group's, and goes along.
#[test]
fn g8_what_a_group_sends_itself_after_a_move_runs_in_the_new_home() {
    let [one, two] = [(); 2].map(|()| runtime(1, &Faults::new()));
    let group = Group::new_in(one.handle());
    let (a, b) = (group.cown(()), group.cown(Vec::new()));
    let (far, near, home) = (b.clone(), a.clone(), two.handle());
    when(&a, move |()| {
        let note = |far: &Cown<_>| {
            when(far, |homes: &mut Vec<RuntimeHandle>| homes.push(RuntimeHandle::current()))
        };
        note(&far);
        near.move_to(home).unwrap();
        (0..3).for_each(|_| note(&far));
    });
    Runtime::wait_idle_all(&[one.handle(), two.handle()]);
    let homes = call(&b, |homes| homes.clone());
    let mut expected = vec![two.handle(); 4];
    expected[0] = one.handle();
    assert_eq!(homes.wait(), Ok(expected));
}
