//! What dropping does, by type: names and results leave alone what they stand for, guards end it.

use std::time::Duration;

use coact::Context;
use coact::actor::{AskError, OnDownId, actor};
use coact::credits::Credits;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::pubsub::Topic;
use coact::routing::{Router, Routing};
use coact::runtime::{Fault, RuntimeHandle, spawn_future};
use coact::time::{Timer, sleep};
use coact_tests::{Faults, check, fail, finally, runtime};
use futures::stream;

use crate::world::{Diary, Do, Note};

#[test]
fn what_a_name_or_a_result_stands_for_goes_on_without_it() {
    check(|| {
        let [(diary, log), (watched, _)] = [Diary::spawn(), Diary::spawn()];
        drop(diary.ask(Note("asked")));
        diary
            .ask(Do(|_: &mut Diary, context: &mut Context<Diary>| {
                drop(context.attach(stream::iter([Note("read")])).items());
            }))
            .wait()
            .unwrap();
        let _: Timer = diary.send_later(Duration::from_millis(1), Note("sent later"));
        let _: Timer =
            after(Duration::from_millis(1), &diary, |diary| diary.log.push("after".into()));
        drop(call(&diary, |diary| diary.log.push("asked of the state".into())));
        let far = log.clone();
        let _: OnDownId = watched.on_down(move |_| far.push("down".into()));
        watched.kill().unwrap();
        watched.ended().wait().unwrap();
        finally(move || {
            let mut all = log.take();
            all.sort_unstable();
            let expected =
                ["after", "asked", "asked of the state", "down", "read", "sent later", "started"];
            assert_eq!(all, expected);
            drop(diary);
        });
    });
}

/// Panics when it is dropped unhandled.
struct Fragile;

impl Message for Fragile {
    type Reply = ();
}

impl Drop for Fragile {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            fail("the message")
        }
    }
}

impl Handler<Fragile> for Diary {
    fn handle(&mut self, message: Fragile, _: &mut Context<Self>) {
        std::mem::forget(message);
    }
}

/// A refused ask fails with the reason: the destructor of its message is none of the asker's.
#[test]
fn f6_a_refused_ask_whose_message_panics_when_it_is_dropped() {
    let faults = Faults::new();
    runtime(1, &faults).run(|| {
        let (ended, _) = Diary::spawn();
        ended.kill().unwrap();
        ended.ended().wait().unwrap();
        let full = actor(Diary::new().0).mailbox(Mailbox::bounded(1)).spawn();
        full.suspend().unwrap();
        full.send(Note("fills it")).unwrap();
        let router = Router::new(Routing::RoundRobin);
        router.add(&full);
        let asks = [
            full.ask(Fragile),
            full.ask_in(0, Fragile),
            Recipient::from(&full).ask(Fragile),
            router.ask(Fragile),
        ];
        for ask in asks {
            assert_eq!(ask.wait(), Err(AskError::Full));
        }
        assert!(matches!(ended.ask(Fragile).wait(), Err(AskError::Stopped(_))));
        let answer = spawn_future(async move { ended.ask_async(Fragile).await }).wait().unwrap();
        assert!(matches!(answer, Err(AskError::Stopped(_))));
        full.resume().unwrap();
    });
    assert_eq!(faults.take().len(), 6, "each is reported");
}

/// What a mailbox has no room for, and what comes too late, is dropped outside of all bodies.
#[test]
fn f6_a_message_that_panics_when_a_mailbox_drops_it_is_cleanup() {
    let faults = Faults::new();
    runtime(1, &faults).run(|| {
        for mailbox in [Mailbox::bounded(1).drop_oldest(), Mailbox::bounded(1).drop_newest()] {
            let full = actor(Diary::new().0).mailbox(mailbox).spawn();
            full.suspend().unwrap();
            full.send(Fragile).unwrap();
            full.send(Fragile).unwrap();
            full.kill().unwrap();
            full.ended().wait().unwrap();
        }
    });
    let faults = faults.take();
    assert_eq!(faults.len(), 4, "{faults:?}");
    for fault in faults {
        assert!(matches!(&fault, Fault::InCleanup { .. }), "{fault:?}");
    }
}

#[test]
fn a_guard_ends_what_it_guards() {
    let (outer, inner) = (runtime(1, &Faults::new()), runtime(1, &Faults::new()));
    outer.run(|| {
        let topic = Topic::new();
        drop(topic.subscribe_fn(|late: &str| fail(late)));
        assert_eq!((topic.publish("late"), topic.subscribers()), (0, 0));

        let entered = inner.enter();
        assert_eq!(RuntimeHandle::current(), inner.handle());
        drop(entered);
        assert_eq!(RuntimeHandle::current(), outer.handle());
    });

    let credits = Credits::new(1);
    let permit = credits.try_acquire(1).unwrap();
    let (given_up, next) = (credits.acquire(1), credits.acquire(1));
    drop((given_up, permit));
    let permit = futures::executor::block_on(next);
    assert!(credits.try_acquire(1).is_none());
    drop(permit);
    assert!(credits.try_acquire(1).is_some());

    // Nothing is left to wait for.
    drop(inner.handle().hold_open());
    inner.run(|| drop(sleep(Duration::from_secs(3600))));
}
