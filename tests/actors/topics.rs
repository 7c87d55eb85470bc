//! Publish and subscribe.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coact::Context;
use coact::prelude::*;
use coact::pubsub::{MessageDropped, Subscription, Topic, TopicTree, events, topic};
use coact::registry::registry;
use coact::sim;
use coact_tests::{Log, check, check_with_faults, fail, finally};

use crate::world::{Diary, Note};

/// A number and its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Said(usize, u32);

impl Message for Said {
    type Reply = ();
}

struct Listener(Log<Said>);

impl Actor for Listener {}

impl Handler<Said> for Listener {
    fn handle(&mut self, said: Said, _: &mut Context<Self>) {
        self.0.push(said);
    }
}

fn listener() -> (Addr<Listener>, Log<Said>) {
    let log = Log::new();
    (spawn(Listener(log.clone())), log)
}

#[test]
fn each_subscriber_gets_each_message_until_it_leaves() {
    check(|| {
        let topic = Topic::new();
        assert_eq!(topic.publish(Said(0, 0)), 0);
        let [(a, log_a), (b, log_b)] = [listener(), listener()];
        let stays = topic.subscribe(a);
        let leaves = topic.subscribe(b);
        assert_eq!(topic.publish(Said(0, 1)), 2);
        leaves.cancel();
        assert_eq!(topic.publish(Said(0, 2)), 1);
        assert_eq!(topic.subscribers(), 1);
        stays.keep();
        assert_eq!(topic.publish(Said(0, 3)), 1);
        finally(move || {
            assert_eq!(log_a.take(), [Said(0, 1), Said(0, 2), Said(0, 3)]);
            assert_eq!(log_b.take(), [Said(0, 1)]);
        });
    });
}

#[test]
fn a_subscription_outlives_its_topic_without_harm() {
    check(|| {
        let topic = Topic::new();
        let subscription = topic.subscribe_fn(|_: u8| {});
        drop(topic);
        drop(subscription);
    });
}

#[test]
fn each_publisher_is_heard_in_its_order() {
    const PUBLISHERS: usize = 3;
    const MESSAGES: u32 = 50;
    check(|| {
        let topic = Topic::new();
        let listeners = [listener(), listener()];
        for (listener, _) in &listeners {
            topic.subscribe(listener.clone()).keep();
        }
        let publishers: Vec<_> = (0..PUBLISHERS).map(Cown::new).collect();
        for n in 0..MESSAGES {
            for publisher in &publishers {
                let topic = topic.clone();
                when(publisher, move |me| {
                    topic.publish(Said(*me, n));
                });
            }
        }
        finally(move || {
            for (_, log) in &listeners {
                let heard = log.take();
                for me in 0..PUBLISHERS {
                    let of_me = heard.iter().filter(|said| said.0 == me).map(|said| said.1);
                    assert!(of_me.eq(0..MESSAGES), "{heard:?}");
                }
            }
        });
    });
}

#[test]
fn order_holds_under_every_schedule() {
    sim::check(|| {
        let topic = Topic::new();
        let (listener, log) = listener();
        let subscription = topic.subscribe(listener.clone());
        let threads = [0, 1].map(|me| {
            let topic = topic.clone();
            sim::thread(move || {
                for n in 0..3 {
                    topic.publish(Said(me, n));
                }
            })
        });
        for thread in threads {
            thread.wait().unwrap();
        }
        call(&listener, |_| ()).wait().unwrap();
        let heard = log.take();
        for me in 0..2 {
            assert!(heard.iter().filter(|said| said.0 == me).map(|said| said.1).eq(0..3));
        }
        drop(subscription);
    });
}

#[test]
fn a_publication_and_a_message_stand_in_one_order() {
    check(|| {
        let topic = Topic::new();
        let (listener, log) = listener();
        let subscription = topic.subscribe(listener.clone());
        topic.publish(Said(0, 1));
        let seen = call(&listener, |listener| listener.0.len());
        topic.publish(Said(0, 2));
        assert_eq!(seen.wait(), Ok(1));
        finally(move || {
            assert_eq!(log.len(), 2);
            drop(subscription);
        });
    });
}

#[test]
fn subscribers_that_have_ended_are_forgotten() {
    check(|| {
        let topic = Topic::new();
        let (listener, _) = listener();
        let subscription = topic.subscribe(listener.clone());
        listener.stop().unwrap();
        listener.ended().wait().unwrap();
        assert_eq!(topic.publish(Said(0, 1)), 0);
        assert_eq!(topic.subscribers(), 0);
        drop(subscription);
    });
}

/// Counts its clones.
struct Counted(Arc<AtomicUsize>);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&self.0))
    }
}

#[test]
fn nothing_is_cloned_needlessly() {
    check(|| {
        let clones = Arc::new(AtomicUsize::new(0));
        let topic = Topic::new();
        topic.publish(Counted(Arc::clone(&clones)));
        let one = topic.subscribe_fn(drop);
        topic.publish(Counted(Arc::clone(&clones)));
        assert_eq!(clones.load(Ordering::Relaxed), 0);
        let two = topic.subscribe_fn(drop);
        topic.publish(Counted(Arc::clone(&clones)));
        assert_eq!(clones.load(Ordering::Relaxed), 1);
        drop((one, two));
        topic.publish_with(|| panic!("nobody listens"));
    });
}

#[test]
fn a_shared_payload_is_not_copied() {
    check(|| {
        let payload: Arc<[u8]> = vec![7; 4096].into();
        let topic = Topic::new();
        let seen = Log::new();
        let subscriptions: Vec<_> = (0..100)
            .map(|_| {
                let seen = seen.clone();
                topic.subscribe_fn(move |bytes: Arc<[u8]>| seen.push(bytes.as_ptr() as usize))
            })
            .collect();
        assert_eq!(topic.publish(Arc::clone(&payload)), 100);
        assert!(seen.take().iter().all(|at| *at == payload.as_ptr() as usize));
        drop(subscriptions);
    });
}

/// Cannot be cloned.
struct Fragile;

impl Clone for Fragile {
    fn clone(&self) -> Self {
        fail("fragile");
    }
}

#[test]
fn panics_of_subscribers_and_clones_hurt_nobody_else() {
    check_with_faults(|faults| {
        let (topic, heard) = (Topic::new(), Log::new());
        let bad = topic.subscribe_fn(|_: u8| fail("bad"));
        let log = heard.clone();
        let good = topic.subscribe_fn(move |n| log.push(n));
        assert_eq!(topic.publish(1), 1);
        assert_eq!(topic.publish(2), 1);
        assert_eq!(heard.take(), [1, 2]);
        assert_eq!(faults.take().len(), 2);
        drop((bad, good));

        let topic = Topic::new();
        let subscriptions = [topic.subscribe_fn(|_: Fragile| {}), topic.subscribe_fn(drop)];
        assert_eq!(topic.publish(Fragile), 1, "the last one gets the message itself");
        assert_eq!(faults.take().len(), 1);
        drop(subscriptions);
    });
}

#[test]
fn subscribers_may_subscribe_and_leave_while_they_are_told() {
    check(|| {
        let topic = Topic::<u8>::new();
        let (own, again) = (Arc::new(parking()), topic.clone());
        let kept = Arc::clone(&own);
        let subscription = topic.subscribe_fn(move |_| {
            drop(kept.lock().take());
            again.subscribe_fn(|_| {}).keep();
        });
        *own.lock() = Some(subscription);
        assert_eq!(topic.publish(1), 1);
        assert_eq!(topic.subscribers(), 1);
    });
}

fn parking() -> coact_sync::shim::process::Mutex<Option<Subscription>> {
    coact_sync::shim::process::Mutex::new(None)
}

#[test]
fn a_topic_has_a_name_and_a_type() {
    check(|| {
        let heard = Log::new();
        let log = heard.clone();
        topic("said").unwrap().subscribe_fn(move |n: u32| log.push(n)).keep();
        assert_eq!(topic::<u32>("said").unwrap().publish(5), 1);
        let error = topic::<String>("said").unwrap_err();
        assert!(error.to_string().contains("u32"), "{error}");
        assert_eq!(registry().topics().len(), 1);
        assert!(registry().forget_topic("said") && !registry().forget_topic("said"));
        assert_eq!(topic::<String>("said").unwrap().publish(String::new()), 0);
        assert_eq!(heard.take(), [5]);
        registry().forget_topic("said");
    });
}

#[test]
fn a_tree_is_subscribed_to_by_pattern() {
    check(|| {
        let (house, heard) = (TopicTree::new(), Log::new());
        let subscriptions = ["house/kitchen/heat", "house/*/heat", "house/**"].map(|pattern| {
            let heard = heard.clone();
            house.subscribe_fn(pattern, move |n: u32| heard.push((pattern, n))).unwrap()
        });
        assert_eq!(house.publish("house/kitchen/heat", 1), 3);
        assert_eq!(house.publish("house/hall/heat", 2), 2);
        assert_eq!(house.publish("house/hall/light", 3), 1);
        assert_eq!(house.publish("garden", 4), 0);
        assert_eq!(heard.take().len(), 6);
        assert!(house.subscribe_fn("house//heat", |_| {}).is_err());
        drop(subscriptions);

        let tree = TopicTree::new();
        let (listener, log) = listener();
        let subscription = tree.subscribe("*/b", listener).unwrap();
        assert_eq!((tree.publish("a/b", Said(0, 1)), tree.publish("b/a", Said(0, 2))), (1, 0));
        finally(move || {
            assert_eq!(log.take(), [Said(0, 1)]);
            drop(subscription);
        });
    });
}

#[test]
fn events_of_ones_own_are_topics_by_type() {
    #[derive(Clone)]
    struct Opened(&'static str);
    check(|| {
        let heard = Log::new();
        let log = heard.clone();
        let subscription = events().subscribe_fn(move |opened: Opened| log.push(opened.0));
        assert_eq!(events().publish(Opened("gate")), 1);
        assert_eq!(events().publish(5_u8), 0);
        assert_eq!(heard.take(), ["gate"]);
        drop(subscription);
        assert_eq!(events().topic::<MessageDropped>().subscribers(), 0);
        let (diary, _) = Diary::spawn();
        diary.ask(Note("well")).wait().unwrap();
    });
}
