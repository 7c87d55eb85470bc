//! `Supervisor::ready`: when all of a tree are up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use coact::Context;
use coact::prelude::*;
use coact::sim::{self, Sim};
use coact::supervise::{Backoff, ReadyError, Restart, Supervisor, permanent, temporary, transient};
use coact::time::sleep;
use coact_tests::{Log, everywhere, everywhere_with_faults, fail, finally};

use super::{Bomb, Ping, Worker, boom};

const SECOND: Duration = Duration::from_secs(1);

/// Takes its time to start.
struct Slow {
    time: Duration,
    up: Arc<AtomicU32>,
}

impl Actor for Slow {
    fn started(&mut self, context: &mut Context<Self>) {
        context.hold(Reply::unwanted(), |slow, _| {
            Box::pin(async move {
                sleep(slow.time).await.unwrap();
                slow.up.fetch_add(1, Ordering::Relaxed);
            })
        });
    }
}

fn slow(seconds: u32, up: &Arc<AtomicU32>) -> impl FnMut() -> Slow + Send + use<> {
    let (time, up) = (seconds * SECOND, Arc::clone(up));
    move || Slow { time, up: Arc::clone(&up) }
}

/// How the children of a level start is no matter.
#[test]
fn m14_a_tree_is_ready_when_all_below_are_up() {
    for tree in [Supervisor::one_for_one, Supervisor::dynamic] {
        Sim::new().check(move || {
            let up = Arc::new(AtomicU32::new(0));
            let mut tree = tree();
            tree.child(permanent(slow(1, &up)));
            let mut below = tree_below(&up);
            let mut deep = Supervisor::one_for_all();
            deep.child(temporary(slow(9, &up)));
            below.child(deep);
            let below = tree.child(below);
            tree.child(transient(slow(2, &up)));
            tree.child(Supervisor::dynamic());
            let early = below.ready();
            let supervisor = tree.spawn();
            assert_eq!(supervisor.ready().wait(), Ok(()));
            assert_eq!(up.load(Ordering::Relaxed), 6);
            assert_eq!(early.wait(), Ok(()), "it was asked before the tree was spawned");
            assert_eq!(supervisor.ready().wait(), Ok(()));
            drop(supervisor);
        });
    }
}

fn tree_below(up: &Arc<AtomicU32>) -> coact::supervise::Tree {
    let mut below = Supervisor::rest_for_one();
    for seconds in [3, 1, 5] {
        below.child(permanent(slow(seconds, up)));
    }
    below
}

#[test]
fn m14_what_is_ready_without_children_and_on_real_workers() {
    everywhere(|| {
        let empty = Supervisor::one_for_one().spawn();
        assert_eq!(empty.ready().wait(), Ok(()));
        let log = Log::new();
        let mut below = Supervisor::one_for_one();
        below.child(permanent(Worker::make("a", &log)));
        below.child(permanent(Worker::make("b", &log)));
        let mut tree = Supervisor::one_for_one();
        tree.child(below);
        let supervisor = tree.spawn();
        let both = [supervisor.ready(), supervisor.ready()];
        for ready in both {
            assert_eq!(ready.wait(), Ok(()));
        }
        assert_eq!(log.take(), ["a up", "b up"]);
        finally(move || drop((supervisor, empty)));
    });
}

/// It is waited for, with its backoff.
#[test]
fn m14_a_child_that_fails_meanwhile_is_waited_for() {
    Sim::new().allow_faults(true).check(|| {
        let tries = Arc::new(AtomicU32::new(0));
        let made = Arc::clone(&tries);
        let log = Log::new();
        let child = permanent(move || {
            if made.fetch_add(1, Ordering::Relaxed) < 2 {
                fail("not yet");
            }
            Worker { name: "a", log: log.clone(), handled: 0 }
        });
        let mut below = Supervisor::one_for_one();
        below.child(child.backoff(Backoff::constant(SECOND)));
        let mut tree = Supervisor::one_for_one();
        tree.child(below);
        let supervisor = tree.spawn();
        assert_eq!(supervisor.ready().wait(), Ok(()));
        assert_eq!((tries.load(Ordering::Relaxed), sim::elapsed()), (3, 2 * SECOND));
        drop(supervisor);
    });
}

/// One that was up and goes down while another starts has to come up again.
#[test]
fn m14_all_are_up_at_one_moment() {
    Sim::new().allow_faults(true).check(|| {
        let (log, up) = (Log::new(), Arc::new(AtomicU32::new(0)));
        let mut tree = Supervisor::one_for_one().backoff(Backoff::constant(9 * SECOND));
        let first = tree.child(permanent(Worker::make("first", &log)));
        let mut below = Supervisor::one_for_one();
        below.child(permanent(slow(4, &up)));
        tree.child(below);
        let supervisor = tree.spawn();
        let ready = supervisor.ready();
        sleep(SECOND).wait().unwrap();
        first.send(Bomb).unwrap();
        assert_eq!(ready.wait(), Ok(()));
        assert_eq!((first.ask(Ping).wait(), sim::elapsed()), (Ok(1), 10 * SECOND));
        drop(supervisor);
    });
}

/// Also one that had failed before the call.
#[test]
fn m14_a_child_that_does_not_start_is_named() {
    everywhere_with_faults(|_| {
        let log = Log::new();
        let mut below = Supervisor::one_for_one();
        let broken = temporary(|| -> Worker { fail("no way") }).name("broken");
        let broken = below.child(broken).id();
        let mut tree = Supervisor::one_for_one();
        tree.child(permanent(Worker::make("a", &log)));
        tree.child(below);
        let supervisor = tree.spawn();
        for _ in 0..2 {
            let error = supervisor.ready().wait().unwrap_err();
            let ReadyError::Failed { child, name, reason, .. } = &error else { panic!("{error}") };
            assert_eq!((*child, name.as_deref()), (broken, Some("broken")));
            assert_eq!(*reason, ExitReason::Panicked("no way".into()));
            assert!(error.to_string().contains("the child `broken`"), "{error}");
        }
        finally(move || drop(supervisor));
    });
}

#[test]
fn m14_a_supervisor_that_ends_is_not_ready() {
    everywhere_with_faults(|_| {
        let mut tree = Supervisor::one_for_one().intensity(1, Duration::MAX);
        tree.child(permanent(|| -> Worker { fail("boom") }));
        let supervisor = tree.spawn();
        let reason = ExitReason::TooManyRestarts(boom().into());
        for _ in 0..2 {
            assert_eq!(supervisor.ready().wait(), Err(ReadyError::Ended(reason.clone())));
        }
        // One that is never spawned.
        let mut tree = Supervisor::one_for_one();
        let below = tree.child(Supervisor::one_for_one());
        let ready = below.ready();
        drop(tree);
        assert_eq!(ready.wait(), Err(ReadyError::Ended(ExitReason::Shutdown)));
    });
}

/// Its callers wait for the next state; if there is none, they are told.
#[test]
fn m14_a_supervisor_that_is_restarted_is_waited_for() {
    Sim::new().check(|| {
        for (restart, expected) in [
            (Restart::Permanent, Ok(())),
            (Restart::Temporary, Err(ReadyError::Ended(ExitReason::Killed))),
        ] {
            let up = Arc::new(AtomicU32::new(0));
            let mut below = Supervisor::one_for_one().restart(restart);
            below.child(permanent(slow(5, &up)));
            let mut tree = Supervisor::one_for_one();
            let below = tree.child(below);
            let supervisor = tree.spawn();
            let (all, ready) = (supervisor.ready(), below.ready());
            sleep(SECOND).wait().unwrap();
            below.kill().unwrap();
            assert_eq!(ready.wait(), expected);
            assert_eq!(all.wait(), Ok(()), "one that is gone is not waited for");
            drop(supervisor);
            tree_is_gone(&below);
        }
    });
}

fn tree_is_gone(supervisor: &Supervisor) {
    supervisor.ended().wait().unwrap();
}

#[test]
fn m14_children_that_were_terminated_are_not_waited_for() {
    Sim::new().check(|| {
        let (up, log) = (Arc::new(AtomicU32::new(0)), Log::new());
        let mut tree = Supervisor::dynamic();
        let endless = tree.child(permanent(slow(3600, &up)));
        tree.child(permanent(Worker::make("a", &log)));
        let supervisor = tree.spawn();
        let ready = supervisor.ready();
        sleep(SECOND).wait().unwrap();
        supervisor.terminate_child(endless.id()).wait().unwrap();
        assert_eq!(ready.wait(), Ok(()));
        assert_eq!(sim::elapsed(), SECOND);
        // It counts again once it is to be up.
        let again = supervisor.restart_child(endless.id());
        assert_eq!(supervisor.ready().wait(), Ok(()));
        assert_eq!((again.wait(), sim::elapsed()), (Ok(()), 3601 * SECOND));
        drop(supervisor);
    });
}

/// Callers that have given up leave nothing behind.
#[test]
fn callers_that_do_not_wait_are_forgotten() {
    Sim::new().check(|| {
        let up = Arc::new(AtomicU32::new(0));
        let mut tree = Supervisor::one_for_one();
        tree.child(permanent(slow(9, &up)));
        let supervisor = tree.spawn();
        for _ in 0..100 {
            drop(supervisor.ready());
        }
        assert_eq!(supervisor.ready().wait(), Ok(()));
        drop(supervisor);
    });
}
