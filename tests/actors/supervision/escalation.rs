//! Too many restarts, and trees.

use std::time::Duration;

use coact::actor::Stopped;
use coact::prelude::*;
use coact::sim::{self, Sim};
use coact::supervise::{Restart, Supervisor, Tree, permanent, transient};
use coact::time::sleep;
use coact_tests::{Log, check, check_with_faults, finally};

use super::{Bomb, Leave, Ping, Worker, boom};

#[test]
fn a_supervisor_gives_up_after_too_many_restarts() {
    check_with_faults(|_| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_one().intensity(2, Duration::from_secs(3600));
        let good = tree.child(permanent(Worker::make("good", &log)));
        let bad = tree.child(permanent(Worker::make("bad", &log)));
        let supervisor = tree.spawn();
        for _ in 0..3 {
            bad.send(Bomb).unwrap();
        }
        let unread = bad.ask(Ping);
        let reason = ExitReason::TooManyRestarts(boom().into());
        assert_eq!(supervisor.ended().wait(), Ok(reason));
        assert_eq!(bad.exit_reason(), Some(boom()));
        assert_eq!(unread.wait(), Err(AskError::Stopped(boom())));
        assert_eq!(good.ended().wait(), Ok(ExitReason::Shutdown));
        assert_eq!(supervisor.stop(), Err(Stopped));
    });
}

#[test]
fn old_restarts_are_forgotten() {
    Sim::new().allow_faults(true).check(|| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_one().intensity(1, Duration::from_secs(5));
        let worker = tree.child(permanent(Worker::make("a", &log)));
        let supervisor = tree.spawn();
        for _ in 0..20 {
            worker.send(Bomb).unwrap();
            assert_eq!(worker.ask(Ping).wait(), Ok(1));
            sleep(Duration::from_secs(6)).wait().unwrap();
        }
        worker.send(Bomb).unwrap();
        worker.send(Bomb).unwrap();
        let reason = ExitReason::TooManyRestarts(boom().into());
        assert_eq!(supervisor.ended().wait(), Ok(reason));
    });
}

/// A tree of two levels: what fails below is restarted above.
fn two_levels(above: Tree, log: &Log<String>) -> (Supervisor, Supervisor, [Addr<Worker>; 3]) {
    let mut above = above;
    let mut below = Supervisor::one_for_one().intensity(0, Duration::from_secs(5)).name("below");
    let first = above.child(permanent(Worker::make("first", log)));
    let a = below.child(permanent(Worker::make("a", log)));
    let b = below.child(permanent(Worker::make("b", log)));
    let below = above.child(below);
    (above.spawn(), below, [first, a, b])
}

#[test]
fn the_supervisor_above_restarts_the_one_below_and_addresses_stay() {
    check_with_faults(|_| {
        let log = Log::new();
        let (above, below, [first, a, b]) = two_levels(Supervisor::one_for_one(), &log);
        first.ask(Ping).wait().unwrap();
        a.send(Bomb).unwrap();
        assert_eq!(a.ask(Ping).wait(), Ok(1), "the message has waited for the whole tree");
        assert_eq!(b.ask(Ping).wait(), Ok(1));
        assert_eq!(first.ask(Ping).wait(), Ok(2), "it has nothing to do with that");
        let counts = above.counts().wait().unwrap();
        assert_eq!((counts.children, counts.supervisors, counts.restarts), (2, 1, 1));
        assert!(!below.has_ended());
        above.stop().unwrap();
        above.ended().wait().unwrap();
        assert_eq!(below.exit_reason(), Some(ExitReason::Shutdown));
        assert!(a.has_ended() && b.has_ended() && first.has_ended());
        let log = log.clone();
        finally(move || {
            let log = log.take();
            let at = |entry: &str| log.iter().position(|e| e == entry).expect(entry);
            assert!(at("b down: it was told to stop") < at("a again: it panicked: boom"));
            assert!(at("a again: it panicked: boom") < at("b again: it was told to stop"));
        });
    });
}

#[test]
fn failures_go_up_level_by_level() {
    check_with_faults(|_| {
        let log = Log::new();
        let above = Supervisor::one_for_one().intensity(1, Duration::from_secs(3600));
        let (above, _, [_, a, _]) = two_levels(above, &log);
        a.send(Bomb).unwrap();
        a.send(Bomb).unwrap();
        let below = ExitReason::TooManyRestarts(boom().into());
        assert_eq!(above.ended().wait(), Ok(ExitReason::TooManyRestarts(below.into())));
        assert!(a.ended().wait().is_ok());
    });
}

#[test]
fn whoever_kills_a_supervisor_takes_its_children_along() {
    check(|| {
        let log = Log::new();
        let (above, below, workers) = two_levels(Supervisor::one_for_one(), &log);
        workers[2].ask(Ping).wait().unwrap();
        above.kill().unwrap();
        assert_eq!(above.ended().wait(), Ok(ExitReason::Killed));
        for worker in workers {
            assert_eq!(worker.ended().wait(), Ok(ExitReason::Shutdown));
        }
        assert!(below.ended().wait().is_ok());
    });
}

#[test]
fn a_supervisor_that_was_killed_comes_back_with_its_children() {
    check_with_faults(|_| {
        let log = Log::new();
        let (above, below, [_, a, b]) = two_levels(Supervisor::one_for_one(), &log);
        a.ask(Ping).wait().unwrap();
        b.ask(Ping).wait().unwrap();
        below.kill().unwrap();
        while above.counts().wait().unwrap().restarts == 0 {}
        assert_eq!(a.ask(Ping).wait(), Ok(1));
        assert_eq!(b.ask(Ping).wait(), Ok(1));
        finally(move || drop(above));
    });
}

#[test]
fn a_supervisor_that_is_stopped_takes_down_the_tree_below() {
    check(|| {
        let log = Log::new();
        let (above, below, [_, a, b]) = two_levels(Supervisor::one_for_all(), &log);
        b.ask(Ping).wait().unwrap();
        // Its supervisor restarts it, since it is permanent; and all others with it.
        below.stop().unwrap();
        while above.counts().wait().unwrap().restarts < 2 {}
        assert_eq!(a.ask(Ping).wait(), Ok(1));
        assert_eq!(b.ask(Ping).wait(), Ok(1));
        finally(move || drop(above));
    });
}

#[test]
fn children_of_a_transient_supervisor_end_with_it() {
    check(|| {
        let log = Log::new();
        let mut above = Supervisor::one_for_one();
        let mut below = Supervisor::one_for_one().restart(Restart::Transient);
        let a = below.child(permanent(Worker::make("a", &log)));
        let below = above.child(below);
        let above = above.spawn();
        a.ask(Ping).wait().unwrap();
        below.stop().unwrap();
        assert_eq!(a.ended().wait(), Ok(ExitReason::Shutdown));
        assert!(!above.has_ended());
        finally(move || drop(above));
    });
}

#[test]
fn backoff_grows_and_messages_wait() {
    Sim::new().allow_faults(true).check(|| {
        let log = Log::new();
        let second = Duration::from_secs(1);
        let backoff = coact::supervise::Backoff::exponential(second, 5 * second);
        let mut tree = Supervisor::one_for_one().intensity(100, second).backoff(backoff);
        let worker = tree.child(permanent(Worker::make("a", &log)));
        let other = tree.child(permanent(Worker::make("b", &log)));
        let supervisor = tree.spawn();
        for delay in [1, 2, 4, 5, 5] {
            let before = sim::elapsed();
            worker.send(Bomb).unwrap();
            assert_eq!(worker.ask(Ping).wait(), Ok(1));
            assert_eq!(sim::elapsed() - before, delay * second);
        }
        assert_eq!(other.ask(Ping).wait(), Ok(1));
        // Once it has been up for long enough, it begins anew.
        sleep(6 * second).wait().unwrap();
        let before = sim::elapsed();
        worker.send(Bomb).unwrap();
        worker.ask(Ping).wait().unwrap();
        assert_eq!(sim::elapsed() - before, second);
        drop(supervisor);
    });
}

#[test]
fn a_stop_does_not_wait_for_the_backoff() {
    Sim::new().allow_faults(true).check(|| {
        let log = Log::new();
        let hour = coact::supervise::Backoff::constant(Duration::from_secs(3600));
        let mut tree = Supervisor::one_for_one().backoff(hour);
        let worker = tree.child(transient(Worker::make("a", &log)));
        let supervisor = tree.spawn();
        worker.send(Bomb).unwrap();
        let unread = worker.ask(Ping);
        sleep(Duration::from_secs(1)).wait().unwrap();
        supervisor.stop().unwrap();
        assert_eq!(unread.wait(), Err(AskError::Stopped(ExitReason::Shutdown)));
        supervisor.ended().wait().unwrap();
        assert!(sim::elapsed() < Duration::from_secs(2));
        assert!(worker.send(Leave(ExitReason::Normal)).is_err());
    });
}
