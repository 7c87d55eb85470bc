//! Children whose runtime ends before their supervisor.

use std::time::Duration;

use coact::Runtime;
use coact::prelude::*;
use coact::supervise::{Child, ChildError, Shutdown, StartError, Supervisor, Tree, permanent};
use coact_tests::{Log, PATIENCE, check_with_faults, finally, runtime};

use super::{Bomb, Ping, Worker};

/// A child that would be waited for for ever.
fn child(name: &'static str, log: &Log<String>, on: &Runtime) -> Child<Worker> {
    permanent(Worker::make(name, log))
        .on(on.handle())
        .shutdown(Shutdown::stop().within(Duration::MAX))
}

/// Ends a runtime in one of the ways there are.
fn end(runtime: Runtime, is_dropped: bool) {
    if is_dropped {
        drop(runtime);
    } else {
        assert!(runtime.shutdown(PATIENCE).is_complete());
    }
}

/// A supervisor with a child on the other runtime and one on its own, both of which are up.
fn pair(mut tree: Tree, log: &Log<String>, other: &Runtime) -> (Supervisor, [Addr<Worker>; 2]) {
    let gone = tree.child(child("gone", log, other));
    let stays = tree.child(permanent(Worker::make("stays", log)));
    let supervisor = tree.spawn();
    assert_eq!((gone.ask(Ping).wait(), stays.ask(Ping).wait()), (Ok(1), Ok(1)));
    (supervisor, [gone, stays])
}

#[test]
fn such_a_child_is_removed_and_not_waited_for() {
    check_with_faults(|faults| {
        let (log, other) = (Log::new(), runtime(1, faults));
        let (supervisor, [gone, stays]) = pair(Supervisor::one_for_one(), &log, &other);
        end(other, false);
        assert_eq!(gone.exit_reason(), Some(ExitReason::Shutdown));
        let left = supervisor.children().wait().unwrap();
        assert_eq!(left.iter().map(|child| child.id).collect::<Vec<_>>(), [stays.id()]);
        assert_eq!(supervisor.restart_child(gone.id()).wait(), Err(ChildError::Unknown));
        assert_eq!(stays.ask(Ping).wait(), Ok(2), "its siblings go on");
        supervisor.stop().unwrap();
        assert_eq!(supervisor.ended().wait(), Ok(ExitReason::Shutdown));
    });
}

/// The sibling is restarted after the child, in the order of a supervisor that restarts all.
#[test]
fn a_restart_of_all_does_not_wait_for_it() {
    for is_dropped in [false, true] {
        check_with_faults(move |faults| {
            let (log, other) = (Log::new(), runtime(1, faults));
            let (supervisor, [_gone, stays]) = pair(Supervisor::one_for_all(), &log, &other);
            end(other, is_dropped);
            stays.send(Bomb).unwrap();
            assert_eq!(stays.ask(Ping).wait(), Ok(1));
            assert_eq!(supervisor.counts().wait().unwrap().children, 1);
            finally(move || drop(supervisor));
        });
    }
}

#[test]
fn one_that_is_being_stopped_or_is_terminated_is_removed_as_well() {
    check_with_faults(|faults| {
        let (log, other) = (Log::new(), runtime(1, faults));
        let mut tree = Supervisor::one_for_one();
        let [down, stopping] =
            ["down", "stopping"].map(|name| tree.child(child(name, &log, &other)));
        let supervisor = tree.spawn();
        supervisor.terminate_child(down.id()).wait().unwrap();
        // It has no message that the stop would overtake: that would count as abandoned.
        assert_eq!(stopping.ask(Ping).wait(), Ok(1));
        // The one or the other ends it.
        let terminated = supervisor.terminate_child(stopping.id());
        end(other, false);
        terminated.wait().unwrap();
        assert_eq!(supervisor.restart_child(down.id()).wait(), Err(ChildError::Unknown));
        assert_eq!(supervisor.counts().wait().unwrap().children, 0);
        finally(move || drop(supervisor));
    });
}

#[test]
fn one_that_is_added_after_the_end_of_its_runtime_does_not_start() {
    check_with_faults(|faults| {
        let (log, other) = (Log::new(), runtime(1, faults));
        let late = child("late", &log, &other);
        let mut declared = Supervisor::one_for_one();
        let declared_late = declared.child(child("declared", &log, &other));
        end(other, false);
        let supervisor = Supervisor::one_for_one().spawn();
        let refused = supervisor.start_child(late).wait().unwrap_err();
        assert_eq!(refused, StartError::Failed(ExitReason::Shutdown));
        let declared = declared.spawn();
        assert!(declared_late.has_ended());
        // It does not wait for the child that it could not start.
        declared.stop().unwrap();
        assert_eq!(declared.ended().wait(), Ok(ExitReason::Shutdown));
        finally(move || drop(supervisor));
    });
}
