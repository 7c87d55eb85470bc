//! Children that do not stop, or are kept from it.

use std::time::Duration;

use coact::Context;
use coact::prelude::*;
use coact::sim::{self, Sim};
use coact::supervise::{Shutdown, Supervisor, permanent};
use coact::time::sleep;
use coact_tests::{Log, check_with_faults, finally};

use super::{Bomb, Ping, Worker};

/// Is told to wait until the other end is dropped or used; on a real worker, or a simulated one.
struct Busy(Duration);

impl Message for Busy {
    type Reply = ();
}

impl Receive<Busy> for Worker {
    fn receive(&mut self, busy: Busy, reply: Reply<()>, context: &mut Context<Self>) {
        context.hold(reply, move |worker, _| {
            Box::pin(async move {
                worker.note("busy");
                sleep(busy.0).await.unwrap();
                worker.note("done");
            })
        });
    }
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_drain_lets_messages_be_handled_before_the_end() {
    check_with_faults(|_| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_one();
        let drained = permanent(Worker::make("a", &log)).shutdown(Shutdown::drain());
        let (a, b) = (tree.child(drained), tree.child(permanent(Worker::make("b", &log))));
        let supervisor = tree.spawn();
        a.ask(Ping).wait().unwrap();
        b.ask(Ping).wait().unwrap();
        a.send(Busy(Duration::from_millis(1))).unwrap();
        let read = a.ask(Ping);
        b.send(Busy(Duration::from_secs(3600))).unwrap();
        supervisor.stop().unwrap();
        assert_eq!(read.wait(), Ok(2));
        assert_eq!(supervisor.ended().wait(), Ok(ExitReason::Shutdown));
        let log = log.clone();
        finally(move || {
            let log = log.take();
            assert!(log.contains(&"a done".into()), "{log:?}");
            assert!(!log.contains(&"b done".into()), "{log:?}");
        });
    });
}

#[test]
fn a_drain_that_takes_too_long_is_cut_off() {
    Sim::new().check(|| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_one();
        let shutdown = Shutdown::drain().within(3 * SECOND);
        let worker = tree.child(permanent(Worker::make("a", &log)).shutdown(shutdown));
        let supervisor = tree.spawn();
        worker.send(Busy(3600 * SECOND)).unwrap();
        let unread = worker.ask(Ping);
        sleep(SECOND).wait().unwrap();
        supervisor.stop().unwrap();
        assert!(unread.wait().is_err());
        supervisor.ended().wait().unwrap();
        assert_eq!(sim::elapsed(), 4 * SECOND);
        assert_eq!(log.take(), ["a up", "a busy"], "`stopped` was not called");
    });
}

#[test]
fn a_child_can_be_killed_instead() {
    Sim::new().check(|| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_one();
        let worker = permanent(Worker::make("a", &log)).shutdown(Shutdown::kill());
        let worker = tree.child(worker);
        let supervisor = tree.spawn();
        worker.ask(Ping).wait().unwrap();
        supervisor.stop().unwrap();
        supervisor.ended().wait().unwrap();
        assert!(worker.has_ended());
        assert_eq!(log.take(), ["a up"]);
    });
}

/// One behaviour has `b`, and waits for `a`, whose supervisor wants `b` down first. The supervisor
/// waits for `b` up to its deadline, and then goes on.
#[test]
fn behaviours_over_siblings_cannot_keep_a_supervisor_for_ever() {
    Sim::new().allow_faults(true).check(|| {
        let log = Log::new();
        let mut tree = Supervisor::one_for_all();
        let a = tree.child(permanent(Worker::make("a", &log)));
        let b = tree.child(permanent(Worker::make("b", &log)));
        let supervisor = tree.spawn();
        b.ask(Ping).wait().unwrap();
        let (x, y) = (a.clone(), b.clone());
        a.send(Bomb).unwrap();
        let both = call((&y, &x), |(b, a)| {
            b.note("both");
            a.handled
        });
        assert_eq!(both.wait(), Ok(0));
        assert!(sim::elapsed() <= 5 * SECOND);
        // In the end both are new.
        sleep(SECOND).wait().unwrap();
        assert_eq!(a.ask(Ping).wait(), Ok(1));
        assert_eq!(b.ask(Ping).wait(), Ok(1));
        let counts = supervisor.counts().wait().unwrap();
        assert_eq!((counts.running, counts.restarts), (2, 2));
        drop(supervisor);
    });
}

#[test]
fn a_shutdown_of_the_runtime_drops_a_tree_with_children_that_wait() {
    let runtime = Runtime::builder().workers(2).panic_hook(|_| {}).build().unwrap();
    let log = Log::new();
    let (supervisor, worker) = {
        let _entered = runtime.enter();
        let backoff = coact::supervise::Backoff::constant(Duration::from_secs(3600));
        let mut tree = Supervisor::one_for_one().backoff(backoff);
        let worker = tree.child(permanent(Worker::make("a", &log)));
        (tree.spawn(), worker)
    };
    worker.send(Bomb).unwrap();
    let unread = worker.ask(Ping);
    let report = runtime.shutdown(Duration::from_millis(50));
    assert_eq!(report.stuck_workers, 0);
    assert!(unread.wait().is_err());
    drop((supervisor, worker));
}
