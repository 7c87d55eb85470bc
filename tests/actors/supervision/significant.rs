//! Supervisors that end with their significant children.

use std::time::Duration;

use coact::prelude::*;
use coact::sim::Sim;
use coact::supervise::{
    AutoShutdown, Restart, StartError, Supervisor, Tree, permanent, temporary, transient,
};
use coact_tests::{Log, everywhere, everywhere_with_faults, fail, finally, panic_of};

use super::{Bomb, Leave, Ping, Worker, boom};

fn any() -> Tree {
    Supervisor::one_for_one().auto_shutdown(AutoShutdown::AnySignificant)
}

fn all() -> Tree {
    Supervisor::one_for_one().auto_shutdown(AutoShutdown::AllSignificant)
}

/// Its siblings are stopped last first, as by a stop.
#[test]
fn m14_a_supervisor_ends_with_any_of_its_significant_children() {
    everywhere(|| {
        let log = Log::new();
        let mut tree = any();
        let first = tree.child(permanent(Worker::make("first", &log)));
        let key = tree.child(transient(Worker::make("key", &log)).significant());
        let other = tree.child(temporary(Worker::make("other", &log)).significant());
        let last = tree.child(permanent(Worker::make("last", &log)));
        let supervisor = tree.spawn();
        last.ask(Ping).wait().unwrap();
        key.send(Leave(ExitReason::Normal)).unwrap();
        assert_eq!(supervisor.ended().wait(), Ok(ExitReason::Shutdown));
        assert_eq!(key.ended().wait(), Ok(ExitReason::Normal));
        for sibling in [first, other, last] {
            assert_eq!(sibling.ended().wait(), Ok(ExitReason::Shutdown));
        }
        let log = log.clone();
        finally(move || {
            let stop = "down: it was told to stop";
            let ends = ["last", "other", "first"].map(|name| format!("{name} {stop}"));
            assert_eq!(log.take()[5..], ends);
        });
    });
}

#[test]
fn m14_a_failure_that_restarts_a_significant_child_ends_nothing() {
    everywhere_with_faults(|_| {
        let log = Log::new();
        let mut tree = any();
        let key = tree.child(transient(Worker::make("key", &log)).significant());
        let supervisor = tree.spawn();
        key.send(Bomb).unwrap();
        assert_eq!(key.ask(Ping).wait(), Ok(1));
        assert!(!supervisor.has_ended());
        key.stop().unwrap();
        assert_eq!(supervisor.ended().wait(), Ok(ExitReason::Shutdown));
    });
}

#[test]
fn m14_a_temporary_child_ends_its_supervisor_also_by_a_failure() {
    everywhere_with_faults(|_| {
        let log = Log::new();
        let mut tree = any();
        let key = tree.child(temporary(Worker::make("key", &log)).significant());
        let supervisor = tree.spawn();
        key.send(Bomb).unwrap();
        assert_eq!(supervisor.ended().wait(), Ok(ExitReason::Shutdown));
        assert_eq!(key.exit_reason(), Some(boom()));
    });
}

#[test]
fn m14_a_supervisor_ends_with_the_last_of_its_significant_children() {
    everywhere(|| {
        let log = Log::new();
        let mut tree = all();
        let [a, b, c] = ["a", "b", "c"]
            .map(|name| tree.child(transient(Worker::make(name, &log)).significant()));
        let rest = tree.child(permanent(Worker::make("rest", &log)));
        let supervisor = tree.spawn();
        supervisor.ready().wait().unwrap();
        b.stop().unwrap();
        b.ended().wait().unwrap();
        // One that was terminated counts as ended, and its end ends nothing.
        supervisor.terminate_child(c.id()).wait().unwrap();
        assert_eq!(rest.ask(Ping).wait(), Ok(1));
        assert_eq!(supervisor.counts().wait().unwrap().children, 3);
        a.stop().unwrap();
        assert_eq!(supervisor.ended().wait(), Ok(ExitReason::Shutdown));
        assert!(c.ended().wait().is_ok() && rest.ended().wait().is_ok());
    });
}

#[test]
fn m14_an_end_that_was_asked_for_ends_no_supervisor() {
    everywhere_with_faults(|_| {
        let log = Log::new();
        let mut tree = any();
        let [a, b] =
            ["a", "b"].map(|name| tree.child(temporary(Worker::make(name, &log)).significant()));
        let rest = tree.child(permanent(Worker::make("rest", &log)));
        let supervisor = tree.spawn();
        supervisor.terminate_child(a.id()).wait().unwrap();
        supervisor.delete_child(b.id()).wait().unwrap();
        // One that has never been up neither.
        let broken = temporary(|| -> Worker { fail("no way") }).significant();
        assert!(matches!(supervisor.start_child(broken).wait(), Err(StartError::Failed(_))));
        assert_eq!(rest.ask(Ping).wait(), Ok(1));
        assert_eq!(supervisor.children().wait().unwrap().len(), 1);
        assert!(!supervisor.has_ended());
        finally(move || drop(supervisor));
    });
}

/// It is stopped because of its sibling, not by itself.
#[test]
fn m14_a_temporary_child_that_goes_with_its_siblings_ends_no_supervisor() {
    everywhere_with_faults(|_| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_all().auto_shutdown(AutoShutdown::AnySignificant);
        let failing = tree.child(permanent(Worker::make("failing", &log)));
        let key = tree.child(temporary(Worker::make("key", &log)).significant());
        let supervisor = tree.spawn();
        key.ask(Ping).wait().unwrap();
        failing.send(Bomb).unwrap();
        assert_eq!(failing.ask(Ping).wait(), Ok(1));
        assert!(key.ended().wait().is_ok());
        assert!(!supervisor.has_ended());
        finally(move || drop(supervisor));
    });
}

/// Level by level: the one below is transient and significant itself.
#[test]
fn m14_a_tree_ends_from_below() {
    everywhere(|| {
        let log = Log::new();
        let mut below = any().restart(Restart::Transient).significant();
        let key = below.child(transient(Worker::make("key", &log)).significant());
        let sibling = below.child(permanent(Worker::make("sibling", &log)));
        let mut above = all();
        let rest = above.child(permanent(Worker::make("rest", &log)));
        let below = above.child(below);
        let above = above.spawn();
        key.send(Leave(ExitReason::Normal)).unwrap();
        assert_eq!(above.ended().wait(), Ok(ExitReason::Shutdown));
        assert_eq!(below.exit_reason(), Some(ExitReason::Shutdown));
        assert_eq!(key.ended().wait(), Ok(ExitReason::Normal));
        for other in [sibling, rest] {
            assert_eq!(other.ended().wait(), Ok(ExitReason::Shutdown));
        }
    });
}

/// Those that were declared come back, with their addresses and what waits for them.
#[test]
fn m14_a_permanent_supervisor_is_started_again_with_the_child_that_ended_it() {
    everywhere_with_faults(|_| {
        let log = Log::new();
        let mut below = any();
        let key = below.child(transient(Worker::make("key", &log)).significant());
        let mut above = Supervisor::one_for_one();
        above.child(below);
        let above = above.spawn();
        assert_eq!(key.ask(Ping).wait(), Ok(1));
        key.send(Leave(ExitReason::Normal)).unwrap();
        assert_eq!(key.ask(Ping).wait(), Ok(1));
        assert_eq!(above.counts().wait().unwrap().restarts, 1);
        finally(move || drop(above));
    });
}

/// A child whose supervisor gives up ends for the reason for which it went down, on all levels.
#[test]
fn links_hear_why_a_child_has_failed_whose_supervisor_gives_up() {
    everywhere_with_faults(|_| {
        let log = Log::new();
        let mut below = Supervisor::one_for_one().intensity(0, Duration::MAX);
        let key = below.child(permanent(Worker::make("key", &log)));
        let mut above = Supervisor::one_for_one();
        above.child(below.restart(Restart::Temporary));
        let above = above.spawn();
        key.send(Bomb).unwrap();
        assert_eq!(key.ended().wait(), Ok(boom()));
        finally(move || drop(above));
    });
}

#[test]
fn a_child_is_significant_only_where_that_has_a_meaning() {
    let log = Log::new();
    let worker = Worker::make("a", &log);
    let permanent_one = panic_of(|| any().child(permanent(worker).significant()));
    assert!(permanent_one.contains("make it transient or temporary"), "{permanent_one}");
    let tree = || Supervisor::one_for_one();
    let without = panic_of(|| tree().child(transient(Worker::make("a", &log)).significant()));
    assert!(without.contains("set `Tree::auto_shutdown`"), "{without}");
    let undone = panic_of(|| {
        let mut tree = any();
        tree.child(transient(Worker::make("a", &log)).significant());
        tree.auto_shutdown(AutoShutdown::Never)
    });
    assert!(undone.contains("set `Tree::auto_shutdown`"), "{undone}");
    let nested = panic_of(|| any().child(tree().significant()));
    assert!(nested.contains("make it transient or temporary"), "{nested}");

    Sim::new().check(move || {
        let without = Supervisor::dynamic().spawn();
        let child = || transient(Worker::make("a", &Log::new())).significant();
        assert_eq!(without.start_child(child()).wait().err(), Some(StartError::NoAutoShutdown));
        let with = any().spawn();
        let child = permanent(Worker::make("a", &Log::new())).significant();
        assert_eq!(with.start_child(child).wait().err(), Some(StartError::PermanentSignificant));
        let added = transient(Worker::make("a", &Log::new())).significant();
        let added = with.start_child(added).wait().unwrap();
        assert!(with.children().wait().unwrap()[0].is_significant);
        added.stop().unwrap();
        assert_eq!(with.ended().wait(), Ok(ExitReason::Shutdown));
    });
}
