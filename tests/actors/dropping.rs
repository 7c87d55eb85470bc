//! What dropping does, by type: names and results leave alone what they stand for, guards end it.

use std::time::Duration;

use coact::Context;
use coact::actor::OnDownId;
use coact::credits::Credits;
use coact::prelude::*;
use coact::pubsub::Topic;
use coact::runtime::RuntimeHandle;
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
