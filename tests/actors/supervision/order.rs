//! Strategies: who goes down and comes up, in which order.

use std::time::Duration;

use coact::Context;
use coact::prelude::*;
use coact::sim::Sim;
use coact::supervise::{Shutdown, Supervisor, Tree, permanent};
use coact::time::sleep;
use coact_tests::{Log, check, check_with_faults, finally};

use super::{Bomb, Ping, Worker};

const UP: [&str; 3] = ["a up", "b up", "c up"];
const DOWN: &str = "down: it was told to stop";
const AGAIN: &str = "again: it was told to stop";

/// Three children `a`, `b` and `c`, of which `b` fails; what is written down.
fn after_a_failure(tree: Tree) {
    let log = Log::new();
    let (mut tree, mut workers) = (tree, Vec::new());
    for name in ["a", "b", "c"] {
        workers.push(tree.child(permanent(Worker::make(name, &log)).name(name)));
    }
    let supervisor = tree.spawn();
    workers[2].ask(Ping).wait().unwrap();
    workers[1].send(Bomb).unwrap();
    assert_eq!(workers[1].ask(Ping).wait(), Ok(1), "the message has waited");
    workers[2].ask(Ping).wait().unwrap();
    supervisor.stop().unwrap();
    assert_eq!(supervisor.ended().wait(), Ok(ExitReason::Shutdown));
    assert!(workers.iter().all(Addr::has_ended));
    LOGS.with_borrow_mut(|logs| logs.push(log));
}

thread_local! {
    static LOGS: std::cell::RefCell<Vec<Log<String>>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Checks what is written down between the starts and the end.
#[track_caller]
fn assert_between(expected: &[String]) {
    for log in LOGS.take() {
        let log = log.take();
        let end = ["c", "b", "a"].map(|name| format!("{name} {DOWN}"));
        assert_eq!(log[..3], UP, "{log:?}");
        assert_eq!(log[log.len() - 3..], end, "{log:?}");
        assert_eq!(&log[3..log.len() - 3], expected);
    }
}

const FALLEN: [&str; 2] = ["b down: it panicked: boom", "b again: it panicked: boom"];

#[test]
fn one_for_one_restarts_the_one() {
    check_with_faults(|_| after_a_failure(Supervisor::one_for_one()));
    assert_between(&FALLEN.map(String::from));
}

#[test]
fn one_for_all_restarts_all_and_stops_the_last_first() {
    check_with_faults(|_| after_a_failure(Supervisor::one_for_all()));
    let [fallen, again] = FALLEN.map(String::from);
    let others = ["c", "a"].map(|name| format!("{name} {DOWN}"));
    let [a, c] = ["a", "c"].map(|name| format!("{name} {AGAIN}"));
    let [c_down, a_down] = others;
    assert_between(&[fallen, c_down, a_down, a, again, c]);
}

#[test]
fn rest_for_one_restarts_those_behind() {
    check_with_faults(|_| after_a_failure(Supervisor::rest_for_one()));
    let [fallen, again] = FALLEN.map(String::from);
    assert_between(&[fallen, format!("c {DOWN}"), again, format!("c {AGAIN}")]);
}

#[test]
fn each_child_starts_when_the_one_before_is_up() {
    /// Awaits something before it is up.
    struct Slow(Log<String>);
    impl Actor for Slow {
        fn started(&mut self, context: &mut Context<Self>) {
            context.hold(Reply::unwanted(), |slow, _| {
                Box::pin(async move {
                    sleep(Duration::from_millis(2)).await.unwrap();
                    slow.0.push("slow up".into());
                })
            });
        }
    }
    check(|| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_one();
        let made = log.clone();
        tree.child(permanent(move || Slow(made.clone())));
        let worker = tree.child(permanent(Worker::make("a", &log)));
        let supervisor = tree.spawn();
        worker.ask(Ping).wait().unwrap();
        assert_eq!(log.take(), ["slow up", "a up"]);
        finally(move || drop(supervisor));
    });
}

#[test]
fn messages_can_be_sent_before_the_tree_is_spawned() {
    check(|| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_one();
        let worker = tree.child(permanent(Worker::make("a", &log)));
        let asked = worker.ask(Ping);
        let supervisor = tree.spawn();
        assert_eq!(asked.wait(), Ok(1));
        finally(move || drop(supervisor));
    });
}

#[test]
fn a_tree_that_is_not_spawned_ends_its_children() {
    check(|| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_one();
        let worker = tree.child(permanent(Worker::make("a", &log)));
        let mut below = Supervisor::one_for_one();
        let deep = below.child(permanent(Worker::make("b", &log)));
        tree.child(below);
        let asked = [worker.ask(Ping), deep.ask(Ping)];
        drop(tree);
        for asked in asked {
            assert_eq!(asked.wait(), Err(AskError::Stopped(ExitReason::Shutdown)));
        }
        finally(move || assert_eq!(log.take(), Vec::<String>::new()));
    });
}

#[test]
fn the_last_handle_ends_the_tree_in_order() {
    check(|| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_one();
        let a = tree.child(permanent(Worker::make("a", &log)));
        let b = tree.child(permanent(Worker::make("b", &log)));
        let supervisor = tree.spawn();
        b.ask(Ping).wait().unwrap();
        drop(supervisor);
        a.ended().wait().unwrap();
        let log = log.clone();
        finally(move || {
            let end = ["b", "a"].map(|name| format!("{name} {DOWN}"));
            assert_eq!(log.take()[2..], end);
        });
    });
}

/// It has the one that is up, which cannot stop, and waits for the one that is down.
#[test]
fn siblings_that_a_behaviour_names_together_come_up_again() {
    for strategy in [Supervisor::one_for_all, Supervisor::rest_for_one] {
        Sim::new().allow_faults(true).check(move || {
            let log = Log::new();
            let mut tree = strategy();
            let shutdown = Shutdown::stop().within(Duration::from_millis(20));
            let children = ["a", "b", "c"]
                .map(|name| tree.child(permanent(Worker::make(name, &log)).shutdown(shutdown)));
            let supervisor = tree.spawn();
            let [a, b, c] = &children;
            coact::call((a, b, c), |_| ()).wait().unwrap();
            b.send(Bomb).unwrap();
            let all = coact::call((a, b, c), |(a, b, c)| a.handled + b.handled + c.handled);
            assert_eq!(all.wait(), Ok(0));
            for child in &children {
                assert!(child.ask(Ping).wait().is_ok());
            }
            supervisor.stop().unwrap();
            supervisor.ended().wait().unwrap();
        });
    }
}

/// Asks the second child, and is held until it answers.
struct Holder(Addr<Worker>);

impl Actor for Holder {}

impl Receive<Ping> for Holder {
    fn receive(&mut self, _: Ping, reply: Reply<usize>, context: &mut Context<Self>) {
        context.hold(reply, |holder, _| Box::pin(async { holder.0.ask(Ping).await.unwrap() }));
    }
}

/// The one who is held waits for a child, that for its supervisor, which waits for another child,
/// and that stands behind the one who is held.
#[test]
fn a_circle_by_way_of_a_supervisor_ends_with_the_deadline() {
    Sim::new().allow_faults(true).check(|| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_all();
        let shutdown = Shutdown::stop().within(Duration::from_millis(20));
        let [a, b] = ["a", "b"]
            .map(|name| tree.child(permanent(Worker::make(name, &log)).shutdown(shutdown)));
        let supervisor = tree.spawn();
        coact::call((&a, &b), |_| ()).wait().unwrap();
        let holder = spawn(Holder(b.clone()));
        b.send(Bomb).unwrap();
        let held = holder.ask(Ping);
        let both = coact::call((&a, &holder), |(a, _)| a.handled);
        assert_eq!(held.wait(), Ok(1));
        assert_eq!(both.wait(), Ok(0));
        assert_eq!(a.ask(Ping).wait(), Ok(1));
        supervisor.stop().unwrap();
        supervisor.ended().wait().unwrap();
    });
}
