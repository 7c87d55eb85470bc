//! Children that come and go while the supervisor runs.

use coact::prelude::*;
use coact::supervise::{
    ChildError, ChildState, StartError, Supervisor, permanent, temporary, transient,
};
use coact_tests::{Log, check, check_with_faults, fail, finally};

use super::{Bomb, Leave, Ping, Worker, boom};

#[test]
fn children_are_added_at_run_time() {
    check_with_faults(|_| {
        let log = Log::new();
        let supervisor = Supervisor::dynamic().spawn();
        let children: Vec<_> = (0..20)
            .map(|_| supervisor.start_child(transient(Worker::make("a", &log))).wait().unwrap())
            .collect();
        children[3].send(Bomb).unwrap();
        assert_eq!(children[3].ask(Ping).wait(), Ok(1));
        children[4].send(Leave(ExitReason::Normal)).unwrap();
        children[4].ended().wait().unwrap();
        let counts = supervisor.counts().wait().unwrap();
        assert_eq!((counts.children, counts.running, counts.restarts), (19, 19, 1));
        drop(supervisor);
        for child in children {
            assert!(child.ended().wait().is_ok());
        }
    });
}

#[test]
fn a_tree_is_added_at_run_time() {
    check(|| {
        let log = Log::new();
        let supervisor = Supervisor::one_for_one().spawn();
        let mut below = Supervisor::one_for_all();
        let worker = below.child(permanent(Worker::make("a", &log)));
        let below = supervisor.start_child(below).wait().unwrap();
        assert_eq!(worker.ask(Ping).wait(), Ok(1));
        supervisor.delete_child(below.id()).wait().unwrap();
        assert!(worker.has_ended() && below.has_ended());
        finally(move || drop(supervisor));
    });
}

#[test]
fn a_child_that_does_not_start_is_not_added() {
    check_with_faults(|_| {
        let supervisor = Supervisor::dynamic().intensity(0, std::time::Duration::MAX).spawn();
        let broken = permanent(|| -> Worker { fail("no way") });
        let refused = supervisor.start_child(broken).wait().unwrap_err();
        assert_eq!(refused, StartError::Failed(ExitReason::Panicked("no way".into())));
        assert_eq!(supervisor.counts().wait().unwrap().children, 0);
        finally(move || drop(supervisor));
    });
}

#[test]
fn a_terminated_child_keeps_its_messages_until_it_is_restarted() {
    check_with_faults(|_| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_one();
        let worker = tree.child(permanent(Worker::make("a", &log)).name("the worker"));
        let supervisor = tree.spawn();
        let id = worker.id();
        worker.ask(Ping).wait().unwrap();
        assert_eq!(supervisor.restart_child(id).wait(), Err(ChildError::Running));
        supervisor.terminate_child(id).wait().unwrap();
        supervisor.terminate_child(id).wait().unwrap();
        let info = supervisor.children().wait().unwrap().pop().unwrap();
        assert_eq!((info.id, info.state), (id, ChildState::Stopped));
        assert_eq!(info.name.as_deref(), Some("the worker"));
        let asked = worker.ask(Ping);
        supervisor.restart_child(id).wait().unwrap();
        assert_eq!(asked.wait(), Ok(1));
        supervisor.delete_child(id).wait().unwrap();
        assert_eq!(worker.exit_reason(), Some(ExitReason::Shutdown));
        assert_eq!(supervisor.restart_child(id).wait(), Err(ChildError::Unknown));
        assert_eq!(supervisor.delete_child(id).wait(), Err(ChildError::Unknown));
        finally(move || drop(supervisor));
    });
}

#[test]
fn a_temporary_child_that_is_terminated_is_gone() {
    check(|| {
        let log = Log::new();
        let supervisor = Supervisor::dynamic().spawn();
        let worker = supervisor.start_child(temporary(Worker::make("a", &log))).wait().unwrap();
        supervisor.terminate_child(worker.id()).wait().unwrap();
        assert!(worker.has_ended());
        assert_eq!(supervisor.children().wait(), Ok(Vec::new()));
        finally(move || drop(supervisor));
    });
}

#[test]
fn a_restart_by_command_that_fails_leaves_the_child_down() {
    check_with_faults(|_| {
        let mut times = 0;
        let log = Log::new();
        let mut make = Worker::make("a", &log);
        let mut tree = Supervisor::one_for_one().intensity(0, std::time::Duration::MAX);
        let worker = tree.child(permanent(move || {
            times += 1;
            if times == 2 { fail("not now") } else { make() }
        }));
        let supervisor = tree.spawn();
        let id = worker.id();
        worker.ask(Ping).wait().unwrap();
        supervisor.terminate_child(id).wait().unwrap();
        let failed = ChildError::Failed(ExitReason::Panicked("not now".into()));
        assert_eq!(supervisor.restart_child(id).wait(), Err(failed));
        supervisor.restart_child(id).wait().unwrap();
        assert_eq!(worker.ask(Ping).wait(), Ok(1));
        finally(move || drop(supervisor));
    });
}

#[test]
fn a_supervisor_that_has_ended_takes_no_children() {
    check_with_faults(|_| {
        let log = Log::new();
        let supervisor = Supervisor::one_for_one().spawn();
        supervisor.stop().unwrap();
        supervisor.ended().wait().unwrap();
        let refused = supervisor.start_child(permanent(Worker::make("a", &log))).wait();
        assert_eq!(refused, Err(StartError::Ended));
        assert_eq!(supervisor.delete_child(supervisor.id()).wait(), Err(ChildError::Ended));
        assert_eq!(supervisor.children().wait(), Err(ChildError::Ended));
        assert!(supervisor.counts().wait().is_err());
        assert_eq!(log.take(), Vec::<String>::new());
    });
}

#[test]
fn a_child_that_is_added_while_the_supervisor_ends_is_never_left_alone() {
    check(|| {
        let log = Log::new();
        let supervisor = Supervisor::one_for_one().spawn();
        let asked = supervisor.start_child(permanent(Worker::make("a", &log)));
        supervisor.stop().unwrap();
        let late = supervisor.start_child(permanent(Worker::make("b", &log)));
        if let Ok(worker) = asked.wait() {
            worker.ended().wait().unwrap();
        }
        assert!(late.wait().is_err());
        let log = log.clone();
        finally(move || assert!(log.take().iter().all(|entry| !entry.starts_with('b'))));
    });
}

#[test]
fn what_was_added_does_not_outlive_a_restart_of_the_supervisor() {
    check_with_faults(|_| {
        let log = Log::new();
        let mut above = Supervisor::one_for_one();
        let mut below = Supervisor::one_for_one().intensity(0, std::time::Duration::MAX);
        let declared = below.child(permanent(Worker::make("a", &log)));
        let below = above.child(below);
        let above = above.spawn();
        let added = below.start_child(permanent(Worker::make("b", &log))).wait().unwrap();
        added.send(Bomb).unwrap();
        assert_eq!(added.ended().wait(), Ok(boom()));
        assert!(declared.ask(Ping).wait().is_ok());
        assert_eq!(below.counts().wait().unwrap().children, 1);
        finally(move || drop(above));
    });
}
