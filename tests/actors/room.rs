//! Waiting for room: at one mailbox, at the first of several, beside the actor and holding it; and
//! circles.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{self, Wake};
use std::time::Duration;

use coact::Context;
use coact::actor::{ActorId, AskCycle, Spawn};
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::pubsub::{PublishReport, Topic};
use coact::routing::{Pool, RouteError, Router, Routing};
use coact::runtime::RuntimeHandle;
use coact::sim::{self, Sim};
use coact::time::sleep;
use coact_tests::{Log, PATIENCE, check, check_with_faults, finally, panic_of};

/// Writes down what it gets.
struct Sink {
    log: Log<u32>,
}

impl Actor for Sink {}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Item(u32);

impl Message for Item {
    type Reply = ActorId;
}

impl Handler<Item> for Sink {
    fn handle(&mut self, item: Item, context: &mut Context<Self>) -> ActorId {
        self.log.push(item.0);
        context.id()
    }
}

fn sink(capacity: usize) -> (Addr<Sink>, Log<u32>) {
    let log = Log::new();
    (bounded(actor(Sink { log: log.clone() }), capacity).spawn(), log)
}

fn bounded<A: Actor>(actor: Spawn<A>, capacity: usize) -> Spawn<A> {
    actor.mailbox(Mailbox::bounded(capacity).wait())
}

/// A suspended one whose only place is taken.
fn full() -> (Addr<Sink>, Log<u32>) {
    let (sink, log) = sink(1);
    sink.suspend().unwrap();
    sink.send(Item(0)).unwrap();
    (sink, log)
}

#[test]
fn recipients_wait_as_addresses_do() {
    check(|| {
        let (full, log) = full();
        let recipient = full.to_recipient::<Item>();
        let to = recipient.clone();
        let sent = coact::runtime::spawn_future(async move {
            for n in 1..=20 {
                to.send_async(Item(n)).await.unwrap();
            }
            to.ask_async(Item(21)).await
        });
        assert_eq!(recipient.send(Item(99)), Err(SendError::Full(Item(99))));
        full.resume().unwrap();
        assert_eq!(sent.wait(), Ok(Ok(full.id())));
        finally(move || assert_eq!(log.take(), (0..=21).collect::<Vec<_>>()));
    });
}

#[test]
fn whoever_waits_at_a_recipient_has_the_message_back_at_its_end() {
    check(|| {
        let (full, _) = full();
        let to = full.to_recipient::<Item>();
        let asked = coact::runtime::spawn_future(to.ask_async(Item(1)));
        let sent = coact::runtime::spawn_future(to.send_async(Item(2)));
        full.stop().unwrap();
        assert_eq!(asked.wait(), Ok(Err(AskError::Stopped(ExitReason::Shutdown))));
        assert_eq!(sent.wait(), Ok(Err(SendError::Stopped(Item(2)))));
    });
}

#[test]
fn plain_threads_wait_at_recipients_routers_and_pools() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let log = Log::new();
    let _entered = runtime.enter();
    let seen = log.clone();
    let make = move || Sink { log: seen.clone() };
    let pool = Pool::builder(make).size(2).each(|sink| bounded(sink, 1)).spawn();
    let router = Router::new(Routing::RoundRobin);
    pool.members().into_iter().for_each(|member| assert!(router.add(member)));
    let recipient: Recipient<Item> = router.to_recipient();
    for n in 0..50 {
        pool.send_blocking(Item(n)).unwrap();
        router.send_blocking(Item(n)).unwrap();
        recipient.send_blocking(Item(n)).unwrap();
    }
    runtime.wait_idle();
    let mut all = log.take();
    all.sort_unstable();
    assert_eq!(all, (0..150).map(|n| n / 3).collect::<Vec<_>>());
    let (full, _) = full();
    let message = panic_of(|| {
        let to = full.to_recipient::<Item>();
        let inside = call((), move |()| panic_of(|| to.send_blocking(Item(1))));
        panic!("{}", inside.wait().unwrap());
    });
    assert!(message.starts_with("`send_blocking` would wait for room inside"), "{message}");
}

#[test]
fn a_router_waits_for_the_first_that_has_room() {
    check(|| {
        let ((a, _), (b, log)) = (full(), full());
        let router = Router::new(Routing::RoundRobin);
        router.add(a.clone());
        router.add(b.clone());
        let waiting = coact::runtime::spawn_future(router.ask_async(Item(1)));
        let behind = coact::runtime::spawn_future(router.to_recipient().send_async(Item(2)));
        b.resume().unwrap();
        assert_eq!(waiting.wait(), Ok(Ok(b.id())));
        assert_eq!(behind.wait(), Ok(Ok(())));
        // What has waited at the other one has left no trace there.
        a.resume().unwrap();
        assert_eq!(coact::runtime::spawn_future(a.ask_async(Item(3))).wait(), Ok(Ok(a.id())));
        finally(move || assert_eq!(log.take()[0], 0));
    });
}

#[test]
fn who_waits_at_a_router_sees_routees_come_and_go() {
    sim::check(|| {
        let ((a, _), (b, _)) = (full(), sink(1));
        let router = Router::new(Routing::RoundRobin);
        router.add(a.clone());
        let waiting = coact::runtime::spawn_future(router.ask_async(Item(1)));
        let (other, new) = (router.clone(), b.clone());
        let adds = sim::thread(move || assert!(other.add(new)));
        assert_eq!(waiting.wait(), Ok(Ok(b.id())));
        adds.wait().unwrap();
        b.stop().unwrap();
        b.ended().wait().unwrap();
        let (lost, other) =
            (coact::runtime::spawn_future(router.send_async(Item(2))), router.clone());
        let removes = sim::thread(move || assert!(other.remove(a.id())));
        assert_eq!(lost.wait(), Ok(Err(RouteError::NoRoutee(Item(2)))));
        removes.wait().unwrap();
    });
}

#[test]
fn a_key_waits_for_its_routee() {
    check(|| {
        let sinks: Vec<_> = (0..4).map(|_| full()).collect();
        let router = Router::consistent_hash(|item: &Item| item.0 % 10);
        for (sink, _) in &sinks {
            router.add(sink.clone());
        }
        let waiting: Vec<_> =
            (0..40).map(|n| (n, coact::runtime::spawn_future(router.ask_async(Item(n))))).collect();
        sinks.iter().for_each(|(sink, _)| sink.resume().unwrap());
        let mut owners = [None; 10];
        for (n, waiting) in waiting {
            let by = waiting.wait().unwrap().unwrap();
            assert_eq!(*owners[n as usize % 10].get_or_insert(by), by);
        }
    });
}

#[test]
fn who_waits_at_a_pool_sees_it_grow() {
    check(|| {
        let make = || Sink { log: Log::new() };
        let pool = Pool::builder(make).size(1).each(|sink| bounded(sink, 1)).spawn();
        pool.members()[0].suspend().unwrap();
        pool.send(Item(0)).unwrap();
        let waiting = coact::runtime::spawn_future(pool.ask_async(Item(1)));
        pool.resize(2);
        assert_eq!(waiting.wait(), Ok(Ok(pool.members()[1].id())));
        let waiting = coact::runtime::spawn_future(pool.send_async(Item(2)));
        assert_eq!(waiting.wait(), Ok(Ok(())));
        pool.members()[0].resume().unwrap();
    });
}

/// Without a policy to wait there is nothing to wait for.
#[test]
fn who_may_not_wait_is_refused() {
    check(|| {
        let refuses = actor(Sink { log: Log::new() }).mailbox(Mailbox::bounded(1).fail()).spawn();
        refuses.suspend().unwrap();
        refuses.send(Item(0)).unwrap();
        let router = Router::new(Routing::RoundRobin);
        let nobody = coact::runtime::spawn_future(router.send_async(Item(1)));
        assert_eq!(nobody.wait(), Ok(Err(RouteError::NoRoutee(Item(1)))));
        router.add(refuses.clone());
        let sent = coact::runtime::spawn_future(router.send_async(Item(1)));
        assert_eq!(sent.wait(), Ok(Err(RouteError::Full(Item(1)))));
        let asked = coact::runtime::spawn_future(refuses.to_recipient::<Item>().ask_async(Item(2)));
        assert_eq!(asked.wait(), Ok(Err(AskError::Full)));
        refuses.resume().unwrap();
    });
}

/// Does something with itself.
struct Peer {
    name: &'static str,
    log: Log<String>,
}

impl Actor for Peer {}

impl Handler<Item> for Peer {
    fn handle(&mut self, item: Item, context: &mut Context<Self>) -> ActorId {
        self.log.push(format!("{} {}", self.name, item.0));
        context.id()
    }
}

struct Do(Work);

type Work = Box<dyn FnOnce(&mut Peer, &mut Context<Peer>) + Send>;

impl Message for Do {
    type Reply = ();
}

impl Handler<Do> for Peer {
    fn handle(&mut self, work: Do, context: &mut Context<Self>) {
        (work.0)(self, context);
    }
}

fn peer(name: &'static str, log: &Log<String>) -> Addr<Peer> {
    bounded(actor(Peer { name, log: log.clone() }), 1).spawn()
}

fn tell(peer: &Addr<Peer>, work: impl FnOnce(&mut Peer, &mut Context<Peer>) + Send + 'static) {
    let sent = coact::runtime::spawn_future(peer.send_async(Do(Box::new(work))));
    sent.wait().unwrap().unwrap();
}

const HOUR: Duration = Duration::from_secs(3600);

/// Beside the actor: in the order of the calls, and the actor goes on.
#[test]
fn what_waits_beside_an_actor_keeps_its_order() {
    check(|| {
        let (full, items) = full();
        let log = Log::new();
        let peer = peer("a", &log);
        let to = full.clone();
        tell(&peer, move |_, context| {
            for n in 1..=10 {
                context.send_when_room(&to, Item(n), move |peer, sent, _| {
                    assert_eq!(sent, Ok(()));
                    peer.log.push(format!("sent {n}"));
                });
            }
            context.ask_when_room(&to, Item(11), |peer, answer, context| {
                assert!(answer.is_ok());
                peer.log.push("answered".into());
                context.stop();
            });
        });
        // Nothing holds it.
        coact::runtime::spawn_future(peer.send_async(Item(5))).wait().unwrap().unwrap();
        full.resume().unwrap();
        peer.ended().wait().unwrap();
        finally(move || {
            assert_eq!(items.take(), (0..=11).collect::<Vec<_>>());
            let log = log.take();
            assert_eq!(log.iter().filter(|entry| entry.starts_with("sent")).count(), 10);
            assert!(log.contains(&"a 5".to_owned()) && log.contains(&"answered".to_owned()));
        });
    });
}

#[test]
fn what_waits_beside_an_actor_is_sent_though_it_has_ended() {
    check(|| {
        let (full, items) = full();
        let log = Log::new();
        let peer = peer("a", &log);
        let to = full.clone();
        tell(&peer, move |_, context| {
            for n in 1..=3 {
                context.send_when_room(&to, Item(n), |_, _, _| ());
            }
            context.stop();
        });
        peer.ended().wait().unwrap();
        full.resume().unwrap();
        finally(move || assert_eq!(items.take(), [0, 1, 2, 3]));
    });
}

/// Holding the actor: it is not before its message is sent, or the time is over.
#[test]
fn an_actor_slows_down_with_those_that_it_sends_to() {
    Sim::new().check(|| {
        let (full, items) = full();
        let log = Log::new();
        let peer = peer("a", &log);
        let to = full.clone();
        tell(&peer, move |_, context| {
            context.send_await(&to, Item(1), HOUR, |peer, sent, _| {
                assert_eq!(sent, Err(SendError::Full(Item(1))));
                peer.log.push(format!("gave up after {:?}", RuntimeHandle::current().elapsed()));
            });
            context.send_await(&to, Item(2), HOUR, |peer, sent, _| {
                assert_eq!(sent, Ok(()));
                peer.log.push("sent".into());
            });
            let asked = to.clone();
            context.ask_await(&asked, Item(3), HOUR, |peer, answer, _| {
                assert!(answer.is_ok());
                peer.log.push("answered".into());
            });
        });
        sleep(HOUR + HOUR / 2).wait().unwrap();
        full.resume().unwrap();
        coact::runtime::spawn_future(peer.ask_async(Item(9))).wait().unwrap().unwrap();
        assert_eq!(log.take(), ["gave up after 3600s", "sent", "answered", "a 9"]);
        assert_eq!(items.take(), [0, 2, 3]);
    });
}

/// Two that are held for room at each other could wait for ever: one is told who waits for whom.
#[test]
fn two_full_mailboxes_that_wait_for_each_other_are_found() {
    sim::check(|| {
        let log = Log::new();
        let (a, b) = (peer("a", &log), peer("b", &log));
        for (at, to) in [(&a, &b), (&b, &a)] {
            let other = to.clone();
            tell(at, move |_, context| {
                let this = context.address();
                context.hold(Reply::unwanted(), move |peer, _| {
                    Box::pin(async move {
                        // It is not handled before this has ended.
                        this.send_async(Item(1)).await.ok();
                        let sent = other.send_async(Item(2)).await;
                        peer.log.push(match sent {
                            Ok(()) => "sent".into(),
                            Err(SendError::Cycle(Item(2), circle)) => described(&circle),
                            Err(other) => panic!("{other}"),
                        });
                    })
                });
            });
        }
        for peer in [&a, &b] {
            coact::runtime::spawn_future(peer.ask_async(Item(9))).wait().unwrap().unwrap();
        }
        let log = log.take();
        let circles: Vec<_> = log.iter().filter(|entry| entry.starts_with("circle")).collect();
        // Unless one was through before the other began.
        assert!(circles.len() <= 1, "{log:?}");
        assert!(circles.iter().all(|circle| circle.contains("2 for room")), "{log:?}");
    });
}

fn described(circle: &AskCycle) -> String {
    let for_room = circle.asks.iter().filter(|ask| ask.for_room).count();
    for (at, ask) in circle.asks.iter().enumerate() {
        assert_eq!(ask.of, circle.asks[(at + 1) % circle.asks.len()].by, "{circle}");
    }
    assert!(circle.to_string().contains("waits for room at"), "{circle}");
    format!("circle of {}, {for_room} for room", circle.asks.len())
}

/// An ask and a message that needs room close a circle as two asks do.
#[test]
fn a_circle_of_an_ask_and_of_room_is_found() {
    Sim::new().check(|| {
        let log = Log::new();
        let (a, b) = (peer("a", &log), peer("b", &log));
        let (to_b, to_a) = (b.clone(), a.clone());
        tell(&a, move |_, context| {
            context.ask_await(&to_b, Item(1), HOUR, |peer, answer, _| {
                peer.log.push(format!("answered: {}", answer.is_ok()));
            });
        });
        tell(&b, move |_, context| {
            let this = context.address();
            context.hold(Reply::unwanted(), move |peer, _| {
                Box::pin(async move {
                    // The first takes up the room at `a`.
                    to_a.send(Item(3)).ok();
                    to_a.send(Item(4)).ok();
                    drop(this);
                    match to_a.send_async(Item(2)).await {
                        Ok(()) => peer.log.push("sent".into()),
                        Err(SendError::Cycle(_, circle)) => peer.log.push(described(&circle)),
                        Err(other) => panic!("{other}"),
                    }
                })
            });
        });
        // Each goes on, one way or another, and before any timeout.
        for peer in [&a, &b] {
            coact::runtime::spawn_future(peer.ask_async(Item(9))).wait().unwrap().unwrap();
        }
        assert!(RuntimeHandle::current().elapsed() < HOUR);
        let log = log.take();
        assert!(log.iter().any(|entry| entry.starts_with("answered")), "{log:?}");
    });
}

/// A mailbox that is full since its actor is slow is no circle.
#[test]
fn one_that_is_slow_is_no_circle() {
    Sim::new().check(|| {
        let log = Log::new();
        let (a, b) = (peer("a", &log), peer("b", &log));
        tell(&b, |_, context| {
            context
                .hold(Reply::unwanted(), |_, _| Box::pin(async { sleep(HOUR / 2).await.unwrap() }));
        });
        coact::runtime::spawn_future(b.send_async(Item(0))).wait().unwrap().unwrap();
        let to = b.clone();
        tell(&a, move |_, context| {
            context.send_await(&to, Item(1), HOUR, |_, sent, _| assert_eq!(sent, Ok(())));
        });
        coact::runtime::spawn_future(a.ask_async(Item(2))).wait().unwrap().unwrap();
        b.drain().unwrap();
        b.ended().wait().unwrap();
        let mut log = log.take();
        log.sort_unstable();
        assert_eq!(log, ["a 2", "b 0", "b 1"]);
    });
}

/// One of several is enough, so waiting at a router closes no circle.
#[test]
fn waiting_for_one_of_several_closes_no_circle() {
    Sim::new().check(|| {
        let log = Log::new();
        let (a, b) = (peer("a", &log), peer("b", &log));
        let router = Router::new(Routing::RoundRobin);
        router.add(a.clone());
        router.add(b.clone());
        let inner = b.clone();
        tell(&a, move |_, context| {
            let this = context.address();
            context.hold(Reply::unwanted(), move |peer, _| {
                Box::pin(async move {
                    this.send(Item(1)).unwrap();
                    while inner.send(Item(2)).is_ok() {}
                    // Its own mailbox stays full, the other one does not.
                    router.send_async(Item(3)).await.unwrap();
                    peer.log.push("sent".into());
                })
            });
        });
        a.drain().unwrap();
        a.ended().wait().unwrap();
        assert!(log.take().contains(&"sent".to_owned()));
    });
}

#[test]
fn topics_wait_for_room_or_tell_who_has_missed_it() {
    check_with_faults(|_| {
        let ((slow, log), (quick, _)) = (full(), sink(100));
        let topic = Topic::new();
        topic.subscribe(slow.clone()).keep();
        topic.subscribe(quick.clone()).keep();
        let seen = Log::new();
        let closure = seen.clone();
        topic.subscribe_fn(move |item: Item| closure.push(item.0)).keep();
        let PublishReport { taken, missed, .. } = topic.publish_reporting(Item(1));
        assert_eq!((taken, missed), (2, vec![slow.id()]));
        let patient = topic.clone();
        let published = coact::runtime::spawn_future(async move {
            let mut all = Vec::new();
            for n in 2..=9 {
                all.push(patient.publish_async(Item(n)).await.taken);
            }
            all
        });
        slow.resume().unwrap();
        assert_eq!(published.wait().unwrap(), [3; 8]);
        slow.stop().unwrap();
        slow.ended().wait().unwrap();
        let last = coact::runtime::spawn_future(topic.publish_async(Item(10))).wait().unwrap();
        assert_eq!((last.taken, last.missed), (2, vec![]));
        assert_eq!(topic.subscribers(), 2);
        finally(move || {
            assert_eq!(log.take(), [0, 2, 3, 4, 5, 6, 7, 8, 9]);
            assert_eq!(seen.take(), (1..=10).collect::<Vec<_>>());
        });
    });
}

#[test]
fn a_plain_thread_publishes_with_patience() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let _entered = runtime.enter();
    let (sink, log) = sink(1);
    let topic = Topic::new();
    topic.subscribe(sink.clone()).keep();
    for n in 0..100 {
        assert_eq!(topic.publish_blocking(Item(n)).taken, 1);
    }
    sink.drain().unwrap();
    assert!(sink.ended().wait_timeout(PATIENCE).is_ok());
    assert_eq!(log.take(), (0..100).collect::<Vec<_>>());
}

/// Counts the tasks that can still be woken.
struct Task(Arc<AtomicUsize>);

impl Task {
    fn new(count: &Arc<AtomicUsize>) -> Arc<Self> {
        count.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self(Arc::clone(count)))
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn who_has_given_up_waiting_at_a_router_is_forgotten() {
    let (full, _) = sink(1);
    full.suspend().unwrap();
    full.send(Item(0)).unwrap();
    let router = Router::new(Routing::RoundRobin);
    router.add(full.to_recipient());
    let tasks = Arc::default();
    for _ in 0..1_000 {
        let waker = Task::new(&tasks).into();
        let mut context = task::Context::from_waker(&waker);
        let mut send = pin!(router.send_async(Item(1)));
        // Polled twice: it has one place all the same.
        assert!(send.as_mut().poll(&mut context).is_pending());
        assert!(send.as_mut().poll(&mut context).is_pending());
    }
    // That of a wait for room itself may be there until the next one comes.
    let left = tasks.load(Ordering::Relaxed);
    assert!(left <= 1, "{left} tasks are kept");
    full.kill().unwrap();
}
