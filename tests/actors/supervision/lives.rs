//! Children's lives: which end is an end, and which a restart.

use coact::Context;
use coact::prelude::*;
use coact::supervise::{Supervisor, permanent, temporary, transient};
use coact_tests::{Log, check, check_with_faults, finally};

use super::{Bomb, Leave, Ping, Worker, boom};
use crate::world::{Diary, Do};

/// One child under one supervisor.
fn family(
    child: impl FnOnce(&Log<String>) -> coact::supervise::Child<Worker>,
) -> (Supervisor, Addr<Worker>) {
    let log = Log::new();
    let mut tree = Supervisor::one_for_one();
    let worker = tree.child(child(&log));
    (tree.spawn(), worker)
}

fn restarts(supervisor: &Supervisor) -> u64 {
    supervisor.counts().wait().unwrap().restarts
}

#[test]
fn a_permanent_child_comes_back_from_every_end() {
    check_with_faults(|_| {
        let (supervisor, worker) = family(|log| permanent(Worker::make("a", log)));
        worker.ask(Ping).wait().unwrap();
        worker.kill().unwrap();
        // A message may come before the kill is processed.
        assert!(worker.ask(Ping).wait().is_ok());
        worker.send(Leave(ExitReason::Normal)).unwrap();
        assert_eq!(worker.ask(Ping).wait(), Ok(1));
        worker.send(Bomb).unwrap();
        assert_eq!(worker.ask(Ping).wait(), Ok(1));
        assert_eq!(restarts(&supervisor), 3);
        finally(move || drop(supervisor));
    });
}

#[test]
fn a_transient_child_comes_back_from_failures_only() {
    check_with_faults(|_| {
        let (supervisor, worker) = family(|log| transient(Worker::make("a", log)));
        worker.send(Bomb).unwrap();
        assert_eq!(worker.ask(Ping).wait(), Ok(1));
        worker.send(Leave(ExitReason::Failed("tired".into()))).unwrap();
        assert_eq!(worker.ask(Ping).wait(), Ok(1));
        worker.send(Leave(ExitReason::Normal)).unwrap();
        assert_eq!(worker.ended().wait(), Ok(ExitReason::Normal));
        assert_eq!(supervisor.counts().wait().unwrap().children, 0);
        finally(move || drop(supervisor));
    });
}

#[test]
fn a_temporary_child_never_comes_back() {
    check_with_faults(|_| {
        let (supervisor, worker) = family(|log| temporary(Worker::make("a", log)));
        worker.send(Bomb).unwrap();
        let unread = worker.ask(Ping);
        assert_eq!(worker.ended().wait(), Ok(boom()));
        assert_eq!(unread.wait(), Err(AskError::Stopped(boom())));
        assert_eq!(supervisor.counts().wait().unwrap().children, 0);
        finally(move || drop(supervisor));
    });
}

#[test]
fn monitors_and_links_tell_of_the_last_end_only() {
    check_with_faults(|_| {
        let (supervisor, worker) = family(|log| permanent(Worker::make("a", log)));
        let ended = worker.ended();
        worker.send(Bomb).unwrap();
        worker.ask(Ping).wait().unwrap();
        let ended = ended.try_wait().expect_err("it was only restarted");
        supervisor.stop().unwrap();
        assert_eq!(ended.wait(), Ok(ExitReason::Shutdown));
    });
}

/// What was linked by the state that was the last one is told of the end.
#[test]
fn a_link_that_a_child_has_made_tells_of_its_end() {
    check_with_faults(|_| {
        let (other, _) = Diary::spawn();
        let far = other.clone();
        let mut tree = Supervisor::one_for_one();
        let child = tree.child(temporary(|| Diary::new().0));
        let supervisor = tree.spawn();
        child
            .send(Do(move |_: &mut Diary, context: &mut Context<Diary>| context.link(&far)))
            .unwrap();
        child.send(crate::world::Bomb).unwrap();
        let linked = ExitReason::Linked(child.id(), boom().into());
        assert_eq!(other.ended().wait(), Ok(linked));
        finally(move || drop(supervisor));
    });
}

#[test]
fn a_child_that_is_nobodys_is_kept_alive_by_its_supervisor() {
    check(|| {
        let (supervisor, worker) = family(|log| permanent(Worker::make("a", log)));
        let weak = worker.downgrade();
        worker.ask(Ping).wait().unwrap();
        drop(worker);
        let worker = weak.upgrade().expect("its supervisor has it");
        assert_eq!(worker.ask(Ping).wait(), Ok(2));
        finally(move || drop(supervisor));
    });
}

#[test]
fn a_restart_by_hand_is_nobodys_failure() {
    check(|| {
        let (supervisor, worker) = family(|log| permanent(Worker::make("a", log)));
        for _ in 0..10 {
            worker.ask(Ping).wait().unwrap();
            worker.restart().unwrap();
        }
        assert!(worker.ask(Ping).wait().is_ok());
        assert_eq!(restarts(&supervisor), 0);
        finally(move || drop(supervisor));
    });
}
