//! Many of everything: what is done for each of them does not grow with their number.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use coact::Context;
use coact::actor::WeakAddr;
use coact::durable::store::{Commit, NoteId, NoteKey, NoteKind};
use coact::durable::{Decide, Durable, EntityId, EventSourced, Journal, MemoryStore, stored};
use coact::prelude::*;
use coact::pubsub::{Subscription, Topic};
use coact::registry::wait_for;
use coact::routing::{RouteError, Router, Routing};
use coact_tests::{Faults, process_time};

/// One size, and one that is eight times as large.
const SIZES: [usize; 2] = [2_000, 16_000];

/// How much longer the larger one may take: eight times, and as much again four times. What looks
/// at all for each takes 64 times as long.
const AT_MOST: f64 = 32.0;

/// Does something to two numbers of things, and compares how much time of the processors both sizes
/// take: what others do on the machine counts little there. Of several times the shortest is taken.
fn grows_with_their_number(work: impl Fn(usize)) {
    let _alone = alone();
    let time = |size: usize| {
        let start = process_time();
        work(size);
        process_time() - start
    };
    let [few, many] = SIZES.map(|size| (0..3).map(|_| time(size)).min().unwrap());
    let few = few.max(Duration::from_micros(1));
    let ratio = many.as_secs_f64() / few.as_secs_f64();
    assert!(ratio < AT_MOST, "{ratio:.1} times as long: {few:?}, then {many:?}");
}

/// One test after the other, since the time is that of the process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn runtime() -> Runtime {
    coact_tests::runtime(2, &Faults::new())
}

/// Counts what it gets.
struct Ear(u64);

impl Actor for Ear {}

#[derive(Clone, Debug, PartialEq)]
struct Said;

impl Message for Said {
    type Reply = ();
}

impl Handler<Said> for Ear {
    fn handle(&mut self, _: Said, _: &mut Context<Self>) {
        self.0 += 1;
    }
}

/// Links it with others, and undoes that.
struct Tie(Vec<Addr<Ear>>);

impl Message for Tie {
    type Reply = ();
}

impl Handler<Tie> for Ear {
    fn handle(&mut self, Tie(others): Tie, context: &mut Context<Self>) {
        others.iter().for_each(|other| context.link(other));
        others.iter().rev().for_each(|other| context.unlink(other));
    }
}

fn ears(count: usize) -> Vec<Addr<Ear>> {
    (0..count).map(|_| spawn(Ear(0))).collect()
}

#[test]
fn subscriptions_come_and_go() {
    grows_with_their_number(|count| {
        let topic = Topic::new();
        let all: Vec<Subscription> = (0..count).map(|_| topic.subscribe_fn(|Said| ())).collect();
        assert_eq!(topic.publish(Said), count);
        drop(all);
        assert_eq!(topic.subscribers(), 0);
        let all: Vec<Subscription> = (0..count).map(|_| topic.subscribe_fn(|Said| ())).collect();
        all.into_iter().rev().for_each(drop);
        assert_eq!(topic.publish(Said), 0);
    });
}

#[test]
fn a_hundred_thousand_subscribe_and_all_get_the_message() {
    let _alone = alone();
    let topic = Topic::new();
    let all: Vec<Subscription> = (0..100_000).map(|_| topic.subscribe_fn(|Said| ())).collect();
    assert_eq!((topic.subscribers(), topic.publish(Said)), (100_000, 100_000));
    drop(all);
}

#[test]
fn subscribers_that_end_leave_though_nobody_publishes() {
    grows_with_their_number(|count| {
        let runtime = runtime();
        let topic = Topic::new();
        let weak: Vec<WeakAddr<Ear>> = runtime.run(|| {
            let ears = ears(count);
            for ear in &ears {
                topic.subscribe(ear.clone()).keep();
            }
            assert_eq!(topic.publish(Said), count);
            ears.iter().for_each(|ear| ear.stop().unwrap());
            ears.iter().map(Addr::downgrade).collect()
        });
        assert_eq!(topic.subscribers(), 0);
        assert!(weak.iter().all(|ear| ear.upgrade().is_none()), "the topic keeps nobody");
    });
}

/// One actor with many subscriptions, each of which is cancelled by itself.
#[test]
fn one_actor_subscribes_many_times() {
    grows_with_their_number(|count| {
        let runtime = runtime();
        let topic = Topic::new();
        let heard = runtime.run(|| {
            let ear = spawn(Ear(0));
            let all: Vec<_> = (0..count).map(|_| topic.subscribe(ear.clone())).collect();
            topic.publish(Said);
            all.into_iter().rev().for_each(drop);
            assert_eq!(topic.publish(Said), 0);
            call(&ear, |ear| ear.0)
        });
        assert_eq!(heard.wait(), Ok(count as u64));
    });
}

#[test]
fn routees_come_and_go() {
    for strategy in [Routing::RoundRobin, Routing::Random { seed: 7 }] {
        grows_with_their_number(|count| {
            let runtime = runtime();
            let heard = runtime.run(|| {
                let router = Router::new(strategy);
                let ears = ears(count);
                for ear in &ears {
                    assert!(router.add(ear.clone()));
                    // What comes is there at once.
                    router.send(Said).unwrap();
                }
                assert_eq!(router.routees().len(), count);
                assert_eq!(router.broadcast(Said), Ok(count));
                for ear in &ears[1..] {
                    assert!(router.remove(ear.id()));
                    router.send(Said).unwrap();
                }
                assert_eq!(router.routees(), [ears[0].to_recipient()]);
                ears.iter().map(|ear| call(ear, |ear| ear.0)).collect::<Vec<_>>()
            });
            let heard: u64 = heard.into_iter().map(|heard| heard.wait().unwrap()).sum();
            assert_eq!(heard, 3 * count as u64 - 1);
        });
    }
}

#[test]
fn routees_that_end_leave_though_nothing_is_routed() {
    grows_with_their_number(|count| {
        let runtime = runtime();
        let router = Router::new(Routing::SmallestMailbox);
        let weak: Vec<WeakAddr<Ear>> = runtime.run(|| {
            let ears = ears(count);
            ears.iter().for_each(|ear| assert!(router.add(ear.clone())));
            ears.iter().for_each(|ear| ear.stop().unwrap());
            ears.iter().map(Addr::downgrade).collect()
        });
        assert!(weak.iter().all(|ear| ear.upgrade().is_none()), "the router keeps nobody");
        assert!(matches!(router.send(Said), Err(RouteError::NoRoutee(Said))));
    });
}

#[test]
fn a_hundred_thousand_routees() {
    let _alone = alone();
    let runtime = runtime();
    runtime.run(|| {
        let router = Router::new(Routing::RoundRobin);
        let ears = ears(100_000);
        ears.iter().for_each(|ear| assert!(router.add(ear.clone())));
        (0..100_000).for_each(|_| router.send(Said).unwrap());
        let each: Vec<_> = ears.iter().map(|ear| call(ear, |ear| ear.0)).collect();
        each.into_iter().for_each(|heard| assert_eq!(heard.wait(), Ok(1)));
    });
}

/// A router or a topic that is gone has left no monitor behind.
#[test]
fn monitors_go_with_the_list_that_has_set_them() {
    let _alone = alone();
    let runtime = runtime();
    let ear = runtime.run(|| spawn(Ear(0)));
    let (alive, gone) = (std::sync::Arc::new(()), std::sync::Arc::new(()));
    let (in_topic, in_router) = (alive.clone(), gone.clone());
    runtime.run(|| {
        let topic = Topic::new();
        let _kept = topic.subscribe_fn(move |Said| drop(in_topic.clone()));
        topic.subscribe(ear.clone()).keep();
        let router =
            Router::consistent_hash(move |_: &Said| std::sync::Arc::strong_count(&in_router));
        router.add(ear.clone());
        router.send(Said).unwrap();
    });
    assert_eq!([&alive, &gone].map(std::sync::Arc::strong_count), [1, 1]);
    assert_eq!(runtime.run(|| call(&ear, |ear| ear.0)).wait(), Ok(1));
    assert!(!ear.has_ended());
}

#[test]
fn one_actor_is_linked_with_many() {
    grows_with_their_number(|count| {
        let runtime = runtime();
        runtime.run(|| {
            let hub = spawn(Ear(0));
            hub.send(Tie(ears(count))).unwrap();
        });
    });
}

#[test]
fn one_actor_is_monitored_many_times() {
    grows_with_their_number(|count| {
        let runtime = runtime();
        let told = runtime.run(|| {
            let server = spawn(Ear(0));
            let monitors: Vec<_> = (0..count).map(|_| server.on_down(|_| ())).collect();
            monitors.into_iter().rev().for_each(|monitor| server.cancel_on_down(monitor));
            server.stop().unwrap();
            server.ended()
        });
        assert_eq!(told.wait(), Ok(ExitReason::Shutdown));
    });
}

#[test]
fn one_actor_has_many_names() {
    grows_with_their_number(|count| {
        let runtime = runtime();
        runtime.run(|| {
            let ear = spawn(Ear(0));
            let names: Vec<_> = (0..count).map(|n| format!("name {n}")).collect();
            names.iter().for_each(|name| ear.register(name).unwrap());
            assert_eq!(ear.names().len(), count);
            names.iter().for_each(|name| assert!(ear.unregister(name)));
            assert!(ear.names().is_empty());
        });
    });
}

#[test]
fn those_who_wait_for_a_name_give_up() {
    grows_with_their_number(|count| {
        let runtime = runtime();
        runtime.run(|| {
            let waiting: Vec<_> = (0..count).map(|_| wait_for::<Ear>("nobody")).collect();
            waiting.into_iter().rev().for_each(drop);
        });
    });
}

/// Sets timers.
struct Clock;

#[stored(name = "never")]
struct Never;

impl EventSourced for Clock {
    const KIND: &'static str = "clock";
    type Event = Never;

    fn new(_: &EntityId) -> Self {
        Self
    }

    fn apply(&mut self, _: &Never) {}
}

#[stored(name = "ring")]
#[derive(Message)]
struct Ring;

impl Decide<Ring> for Clock {
    fn decide(_: &mut Durable<Self>, _: Ring) {}
}

/// Sets timers, twice each, looks at them, and cancels them.
fn use_timers(clock: &mut Durable<Clock>, count: usize) {
    let names: Vec<_> = (0..count).map(|n| format!("timer {n}")).collect();
    let due = clock.now() + Duration::from_secs(1_000_000);
    names.iter().chain(&names).for_each(|name| clock.set_timer(name, due, Ring));
    assert_eq!(clock.timers().len(), count);
    names.iter().rev().for_each(|name| clock.cancel_timer(name));
    assert!(clock.timers().is_empty());
}

#[test]
fn one_decision_uses_many_timers() {
    grows_with_their_number(|count| {
        use_timers(&mut Durable::standalone(Clock), count);
        let runtime = runtime();
        runtime.run(|| {
            let journal = Journal::builder(MemoryStore::new()).receives::<Clock, Ring>().build();
            let clock = journal.entity::<Clock>("clock");
            call(&clock, move |clock| use_timers(clock, count)).wait().unwrap();
        });
    });
}

#[test]
fn one_entity_has_many_timers() {
    grows_with_their_number(|count| {
        let runtime = runtime();
        runtime.run(|| {
            let journal = Journal::builder(MemoryStore::new()).receives::<Clock, Ring>().build();
            let clock = journal.entity::<Clock>("clock");
            let set = call(&clock, move |clock| {
                let due = clock.now() + Duration::from_secs(1_000_000);
                (0..count).for_each(|n| clock.set_timer(&n.to_string(), due, Ring));
            });
            set.wait().unwrap();
            let cancel = call(&clock, move |clock| {
                (0..count).for_each(|n| clock.cancel_timer(&n.to_string()));
            });
            cancel.wait().unwrap();
        });
    });
}

#[test]
fn one_commit_takes_many_notes() {
    let id = |n: usize| NoteId {
        entity: EntityId::new("clock", "clock"),
        kind: NoteKind::ClientAnswer,
        key: NoteKey::from(&*n.to_string()),
        rank: 0,
    };
    grows_with_their_number(|count| {
        let mut commit = Commit::new();
        (0..count).for_each(|n| commit.take_note(id(n)));
        assert_eq!(commit.taken().len(), count);
        // (Few are looked at in another way than many.)
        for (taken, n) in [(1, 0), (count, 3), (count, count - 1)] {
            let mut commit = Commit::new();
            (0..taken).for_each(|n| commit.take_note(id(n)));
            let message = coact_tests::panic_of(move || commit.take_note(id(n)));
            assert!(message.contains("taken twice"), "{message}");
        }
    });
}
