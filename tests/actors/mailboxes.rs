//! Bounded mailboxes: what becomes of messages for which there is no room.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use coact::Context;
use coact::actor::{Receive, Reply, actor};
use coact::mailbox::{Lane, Mailbox};
use coact::prelude::*;
use coact::runtime::{Fault, blocking, spawn_future};
use coact::sim::{self, Config, Method, Sim};
use coact::time::sleep;
use coact_tests::{Log, check, check_with_faults, fail, finally, panic_of};

use crate::world::{Bomb, Diary, Do, Note};

/// A diary that is suspended, so that what is sent to it piles up.
fn suspended(mailbox: Mailbox) -> (Addr<Diary>, Log<String>) {
    let (diary, log) = Diary::new();
    let again = log.clone();
    let restarted = move || Diary { log: again.clone() };
    let diary = actor(diary).restartable(restarted).mailbox(mailbox).spawn();
    diary.suspend().unwrap();
    (diary, log)
}

#[test]
fn m3_a_full_mailbox_gives_messages_back() {
    for mailbox in [Mailbox::bounded(2).fail(), Mailbox::bounded(2).wait()] {
        check(move || {
            let (diary, log) = suspended(mailbox.clone());
            diary.send(Note("one")).unwrap();
            let two = diary.ask(Note("two"));
            let back = diary.send(Note("three")).unwrap_err();
            assert!(matches!(back, SendError::Full(Note("three"))));
            assert_eq!(diary.ask(Note("four")).wait(), Err(AskError::Full));
            let mailbox = diary.mailbox();
            assert_eq!((mailbox.len(), mailbox.capacity()), (2, Some(2)));
            assert_eq!((mailbox.refused(), mailbox.dropped()), (2, 0));
            diary.resume().unwrap();
            assert_eq!(two.wait(), Ok(3));
            assert_eq!(diary.ask(Note("five")).wait(), Ok(4));
            assert!(diary.mailbox().is_empty());
            finally(move || {
                assert_eq!(log.take(), ["started", "one", "two", "five"]);
                drop(diary);
            });
        });
    }
}

#[test]
fn m3_the_newest_is_dropped() {
    check(|| {
        let (diary, log) = suspended(Mailbox::bounded(1).drop_newest());
        diary.send(Note("one")).unwrap();
        diary.send(Note("two")).unwrap();
        assert_eq!(diary.ask(Note("three")).wait(), Err(AskError::Full));
        assert_eq!((diary.mailbox().len(), diary.mailbox().dropped()), (1, 2));
        diary.resume().unwrap();
        finally(move || {
            assert_eq!(log.take(), ["started", "one"]);
            drop(diary);
        });
    });
}

#[test]
fn m3_the_oldest_is_dropped() {
    check(|| {
        let (diary, log) = suspended(Mailbox::bounded(2).drop_oldest());
        let one = diary.ask(Note("one"));
        diary.send(Note("two")).unwrap();
        diary.send(Note("three")).unwrap();
        assert_eq!(one.wait(), Err(AskError::Full));
        diary.send(Note("four")).unwrap();
        assert_eq!((diary.mailbox().len(), diary.mailbox().dropped()), (2, 2));
        diary.resume().unwrap();
        finally(move || {
            assert_eq!(log.take(), ["started", "three", "four"]);
            drop(diary);
        });
    });
}

/// A message that takes the room of an older one does not overtake a behaviour with that.
#[test]
fn dropping_keeps_the_order_with_behaviours() {
    check(|| {
        let (diary, log) = suspended(Mailbox::bounded(2).drop_oldest());
        let other = Cown::new(());
        for note in ["one", "two"] {
            diary.send(Note(note)).unwrap();
        }
        when((&other, &diary), |((), diary)| diary.log.push("behaviour".into()));
        diary.send(Note("three")).unwrap();
        Batch::new().when(&diary, |diary| diary.log.push("batch".into())).spawn();
        diary.send(Note("four")).unwrap();
        when(&diary, |diary| diary.log.push("end".into()));
        diary.resume().unwrap();
        finally(move || {
            assert_eq!(log.take(), ["started", "behaviour", "three", "batch", "four", "end"]);
            drop(diary);
        });
    });
}

#[test]
fn behaviours_and_signals_do_not_count() {
    check(|| {
        let (diary, log) = suspended(Mailbox::bounded(1).fail());
        for _ in 0..3 {
            when(&diary, |diary| diary.log.push("behaviour".into()));
            diary.suspend().unwrap();
        }
        diary.send(Note("one")).unwrap();
        assert_eq!(diary.mailbox().len(), 1);
        diary.resume().unwrap();
        finally(move || {
            assert_eq!(log.take(), ["started", "behaviour", "behaviour", "behaviour", "one"]);
            drop(diary);
        });
    });
}

#[test]
fn recipients_and_timers_count() {
    check(|| {
        let (diary, _) = suspended(Mailbox::bounded(1).fail());
        let recipient: Recipient<Note> = diary.to_recipient();
        recipient.send(Note("one")).unwrap();
        assert!(recipient.send(Note("two")).is_err());
        assert_eq!(recipient.ask(Note("three")).wait(), Err(AskError::Full));
        assert!(diary.downgrade().send(Note("four")).is_err());
        assert_eq!(diary.mailbox().refused(), 3);
        diary.resume().unwrap();
        let work = |_: &mut Diary, context: &mut Context<Diary>| {
            // Its own message takes no room while it is handled.
            context.send_later(Duration::ZERO, Note("timer"));
        };
        while diary.send(Do(work)).is_err() {
            sleep(Duration::from_micros(10)).wait().unwrap();
        }
    });
}

#[test]
fn a_mailbox_without_settings_has_nothing_to_tell() {
    check(|| {
        let (diary, _) = Diary::spawn();
        diary.send_in(3, Note("one")).unwrap();
        diary.send_blocking(Note("two")).unwrap();
        assert_eq!(diary.ask_in(3, Note("three")).wait(), Ok(4));
        let mailbox = diary.mailbox();
        assert_eq!((mailbox.len(), mailbox.capacity(), mailbox.dropped()), (0, None, 0));
        assert_eq!(mailbox.lanes().count(), 0);
    });
}

#[test]
fn a_mailbox_needs_room_and_lanes() {
    assert!(panic_of(|| Mailbox::bounded(0)).contains("without room"));
    assert!(panic_of(|| Lane::bounded(0)).contains("without room"));
    assert!(panic_of(|| Mailbox::lanes(0)).contains("without lanes"));
    assert!(panic_of(|| Mailbox::lanes(usize::MAX)).contains("at most 1048576 lanes"));
    assert!(panic_of(|| Mailbox::lanes(2).lane(2, Lane::unbounded())).contains("2 lanes only"));
    assert!(panic_of(|| Mailbox::lanes(2).assign::<Note>(2)).contains("2 lanes only"));
    assert!(panic_of(|| Mailbox::lanes(2).turn_every(1)).contains("would starve"));
}

#[test]
fn producers_outside_wait_for_room() {
    check(|| {
        let (diary, log) = Diary::new();
        let diary = actor(diary).mailbox(Mailbox::bounded(3)).spawn();
        let to = diary.clone();
        let producer = spawn_future(async move {
            for _ in 0..50 {
                to.send_async(Note("async")).await.unwrap();
            }
            to.ask_async(Note("asked")).await.unwrap()
        });
        for _ in 0..50 {
            diary.send_blocking(Note("blocking")).unwrap();
            assert!(diary.mailbox().len() <= 3);
        }
        producer.wait().unwrap();
        finally(move || {
            assert_eq!(log.take().len(), 102);
            assert_eq!(diary.mailbox().refused(), 0);
        });
    });
}

#[test]
fn who_gives_up_waiting_sends_nothing() {
    check(|| {
        let (diary, log) = suspended(Mailbox::bounded(1));
        diary.send(Note("one")).unwrap();
        let mut given_up = Box::pin(diary.send_async(Note("given up")));
        let waker = std::task::Waker::noop();
        let mut context = std::task::Context::from_waker(waker);
        assert!(given_up.as_mut().poll(&mut context).is_pending());
        let waits = spawn_future(diary.send_async(Note("two")));
        drop(given_up);
        diary.resume().unwrap();
        waits.wait().unwrap().unwrap();
        finally(move || {
            assert_eq!(log.take(), ["started", "one", "two"]);
            drop(diary);
        });
    });
}

#[test]
fn who_holds_something_does_not_wait() {
    check(|| {
        let (full, _) = suspended(Mailbox::bounded(1));
        full.send(Note("one")).unwrap();
        let (diary, log) = Diary::spawn();
        let to = full.clone();
        let work = move |diary: &mut Diary, _: &mut Context<Diary>| {
            diary.log.push(panic_of(|| to.send_blocking(Note("two"))));
            assert!(matches!(to.send(Note("two")), Err(SendError::Full(_))));
        };
        diary.ask(Do(work)).wait().unwrap();
        full.resume().unwrap();
        finally(move || {
            let log = log.take();
            assert!(log[1].starts_with("`send_blocking` would block"), "{log:?}");
            drop((full, diary));
        });
    });
}

/// Lets several senders wait for an actor, and then does something to it.
fn while_senders_wait(end: fn(&Addr<Diary>)) -> Log<String> {
    let (diary, log) = suspended(Mailbox::bounded(1));
    let unread = diary.ask(Note("unread"));
    let waiting: Vec<_> = (0..3)
        .map(|n| {
            let to = diary.clone();
            if n == 0 {
                return blocking(move || to.send_blocking(Note("waits")));
            }
            spawn_future(to.send_async(Note("waits")))
        })
        .collect();
    end(&diary);
    for sender in waiting {
        assert!(matches!(sender.wait(), Ok(Err(SendError::Stopped(_)))));
    }
    assert!(matches!(unread.wait(), Err(AskError::Stopped(_))));
    diary.ended().wait().unwrap();
    assert!(diary.dead_letters() >= 1);
    assert!(matches!(diary.send_blocking(Note("late")), Err(SendError::Stopped(_))));
    log
}

#[test]
fn an_end_wakes_who_waits() {
    check(|| drop(while_senders_wait(|diary| diary.stop().unwrap())));
    check(|| drop(while_senders_wait(|diary| diary.kill().unwrap())));
}

#[test]
fn a_panic_wakes_who_waits() {
    check_with_faults(|_| {
        let (diary, _) = suspended(Mailbox::bounded(1));
        diary.send(Bomb).unwrap();
        let waiting = [(); 3].map(|()| spawn_future(diary.send_async(Note("waits"))));
        diary.resume().unwrap();
        diary.ended().wait().unwrap();
        // Room was made for one before the handler panicked, or not yet.
        for sender in waiting {
            let result = sender.wait().unwrap();
            assert!(matches!(result, Ok(()) | Err(SendError::Stopped(_))), "{result:?}");
        }
        assert!(matches!(diary.send(Note("late")), Err(SendError::Stopped(_))));
    });
}

#[test]
fn a_shutdown_wakes_who_waits() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let other = Runtime::builder().workers(1).build().unwrap();
    let full = runtime.run(|| actor(Diary::new().0).mailbox(Mailbox::bounded(1)).spawn());
    full.suspend().unwrap();
    full.send(Note("one")).unwrap();
    let waits = {
        let _entered = other.enter();
        spawn_future(full.send_async(Note("two")))
    };
    assert_eq!(runtime.shutdown(Duration::from_millis(20)).stuck_workers, 0);
    // It is sent, and dropped by the runtime, or given back.
    drop(waits.wait().unwrap());
    drop(full);
}

#[test]
fn a_shutdown_drops_what_lies_in_lanes() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let (diary, log) = {
        let _entered = runtime.enter();
        suspended(Mailbox::lanes(2))
    };
    let unread = [diary.ask_in(0, Note("one")), diary.ask_in(1, Note("two"))];
    assert_eq!(runtime.shutdown(Duration::from_millis(20)).stuck_workers, 0);
    for ask in unread {
        assert!(ask.wait().is_err());
    }
    assert!(diary.mailbox().is_empty());
    assert!(diary.ask_in(0, Note("late")).wait().is_err());
    drop(diary);
    assert!(log.take().iter().all(|entry| entry != "one" && entry != "two"));
}

#[test]
fn a_restart_keeps_what_waits() {
    check(|| {
        for mailbox in [Mailbox::bounded(2), Mailbox::bounded(2).drop_oldest()] {
            let (diary, log) = suspended(mailbox);
            diary.send(Note("one")).unwrap();
            diary.restart().unwrap();
            diary.send(Note("two")).unwrap();
            assert_eq!(diary.mailbox().len(), 2);
            diary.resume().unwrap();
            let reason = "it was told to stop";
            finally(move || {
                let (stopped, restarted) =
                    (format!("stopped: {reason}"), format!("restarted: {reason}"));
                let expected = ["started", &stopped, "dropped", &restarted, "one", "two"];
                assert_eq!(log.take(), expected);
                drop(diary);
            });
        }
    });
}

/// Panics when it is dropped.
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        fail("dropped");
    }
}

impl Message for Grenade {
    type Reply = ();
}

impl Handler<Grenade> for Diary {
    fn handle(&mut self, grenade: Grenade, _: &mut Context<Self>) {
        std::mem::forget(grenade);
    }
}

/// A sender is not hurt by the end of another message.
#[test]
fn destructors_of_what_is_dropped_do_no_harm() {
    check_with_faults(|faults| {
        for mailbox in [Mailbox::bounded(1).drop_newest(), Mailbox::bounded(1).drop_oldest()] {
            let (diary, _) = suspended(mailbox);
            diary.send(Grenade).unwrap();
            diary.send(Grenade).unwrap();
            assert_eq!(diary.mailbox().dropped(), 1);
            diary.resume().unwrap();
            call(&diary, |_| ()).wait().unwrap();
            assert!(!diary.has_ended());
        }
        assert_eq!(faults.len(), 2);
    });
}

/// A flood that is not handled needs no more room than the mailbox has.
#[test]
fn a_flood_is_cut() {
    check(|| {
        let (diary, log) = suspended(Mailbox::bounded(3).drop_oldest());
        let alive = Arc::new(());
        for _ in 0..2000 {
            let alive = Arc::clone(&alive);
            let work = move |_: &mut Diary, _: &mut Context<Diary>| drop(alive);
            diary.send(Do(work)).unwrap();
        }
        assert_eq!(Arc::strong_count(&alive), 4);
        assert_eq!((diary.mailbox().len(), diary.mailbox().dropped()), (3, 1997));
        diary.resume().unwrap();
        finally(move || {
            assert_eq!(log.take(), ["started"]);
            assert_eq!(Arc::strong_count(&alive), 1);
            drop(diary);
        });
    });
}

/// Two actors that update each other, behaviours over both, and producers that wait for room in
/// both: whatever the schedule, all of it comes to an end.
#[test]
fn waiting_for_room_cannot_deadlock() {
    for method in [Method::Random, Method::Pct { depth: 3 }] {
        let config = Config::new().method(method).runs(150);
        Sim::new().workers(2).config(config).check(|| {
            let [a, b] =
                [(); 2].map(|()| actor(Diary::new().0).mailbox(Mailbox::bounded(1)).spawn());
            let done = Arc::new(AtomicBool::new(false));
            let producers = [(&a, &b), (&b, &a), (&a, &b)].map(|(to, from)| {
                let (to, from) = (to.clone(), from.clone());
                sim::thread(move || {
                    for _ in 0..3 {
                        let (here, there) = (to.clone(), from.clone());
                        let work = move |_: &mut Diary, _: &mut Context<Diary>| {
                            drop(there.send(Note("across")));
                            when((&here, &there), |(one, two)| {
                                one.log.push("one".into());
                                two.log.push("two".into());
                            });
                        };
                        to.send_blocking(Do(work)).unwrap();
                    }
                })
            });
            let (first, second) = (a.clone(), b.clone());
            let future = spawn_future(async move {
                for _ in 0..3 {
                    first.send_async(Note("future")).await.unwrap();
                    second.send_async(Note("future")).await.unwrap();
                }
            });
            producers.into_iter().for_each(|producer| producer.wait().unwrap());
            future.wait().unwrap();
            when((&a, &b), {
                let done = Arc::clone(&done);
                move |_| done.store(true, Ordering::Relaxed)
            });
            call((&a, &b), |_| ()).wait().unwrap();
            assert!(done.load(Ordering::Relaxed));
        });
    }
}

/// Behaviours that name a bounded actor are refused before they are queued anywhere.
mod behaviours {
    use coact::behaviour::Refusal;
    use coact::mailbox::Mailbox;
    use coact::prelude::*;
    use coact::try_call;
    use coact_tests::{check, check_with_faults, finally, panic_of};

    struct Purse(i64);

    impl Actor for Purse {}

    fn bounded(limit: usize) -> Addr<Purse> {
        actor(Purse(0)).mailbox(Mailbox::unbounded().behaviours(limit)).spawn()
    }

    const FULL: Refusal = Refusal::Full { position: 1 };

    #[test]
    fn s5_one_more_is_refused_before_it_is_queued() {
        check(|| {
            let (free, full) = (spawn(Purse(0)), bounded(4));
            full.suspend().unwrap();
            for _ in 0..4 {
                try_when((&free, &full), |(free, full)| {
                    (free.0, full.0) = (free.0 + 1, full.0 + 1)
                })
                .unwrap();
            }
            let refused = try_when((&free, &full), |_| panic!("it is refused")).unwrap_err();
            assert_eq!(refused.refusal, FULL);
            assert_eq!(try_call([&free, &full], |_| ()).unwrap_err().refusal, FULL);
            assert_eq!(Batch::new().try_when((&free, &full), |_| ()).unwrap_err().refusal, FULL);
            let read = try_when((full.read(), &free), |_| ()).unwrap_err();
            assert_eq!(read.refusal, Refusal::Full { position: 0 });
            let view = full.mailbox().behaviours().unwrap();
            assert_eq!((view.len(), view.capacity(), view.refused()), (4, 4, 4));
            full.resume().unwrap();
            // Each gives its room back when it begins.
            call(&free, |_| ()).wait().unwrap();
            let both = try_call((&free, &full), |(free, full)| (free.0, full.0)).unwrap();
            assert_eq!(both.wait(), Ok((4, 4)));
            finally(move || assert!(full.mailbox().behaviours().unwrap().is_empty()));
        });
    }

    #[test]
    fn s5_when_panics_and_what_comes_later_is_dropped() {
        check_with_faults(|_| {
            let full = bounded(1);
            full.suspend().unwrap();
            when(&full, |_| ());
            let message = panic_of(|| when(&full, |_| ()));
            assert!(
                message.starts_with("member 0 of the set takes no more behaviours"),
                "{message}"
            );
            let (resolver, promise) = Promise::channel();
            let later = promise.then(&full, |_, _: Result<(), Broken>| ());
            resolver.resolve(());
            assert_eq!(later.wait(), Err(Broken::Full { position: 0 }));
            full.resume().unwrap();
        });
    }

    /// A batch takes its room when it is put together, and gives it back if it is not spawned.
    #[test]
    fn batches_count() {
        check(|| {
            let full = bounded(2);
            full.suspend().unwrap();
            let batch =
                Batch::new().when(&full, |full| full.0 += 1).when(&full, |full| full.0 += 1);
            assert_eq!(try_when(&full, |_| ()).unwrap_err().refusal, Refusal::Full { position: 0 });
            drop(batch);
            let again =
                coact::Batch::new().when(&full, |full| full.0 += 1).when(&full, |full| full.0 += 1);
            again.spawn();
            assert!(try_when(&full, |_| ()).is_err());
            full.resume().unwrap();
            full.drain().unwrap();
            assert_eq!(full.ended().wait(), Ok(ExitReason::Shutdown));
        });
    }

    /// What is dropped unrun gives its room back: skipped behaviours, and those of an actor that
    /// has ended.
    #[test]
    fn what_never_runs_leaves_no_trace() {
        check_with_faults(|_| {
            let (full, other) = (bounded(1), spawn(Purse(0)));
            other.kill().unwrap();
            other.ended().wait().unwrap();
            for _ in 0..3 {
                assert!(try_call((&other, &full), |_| ()).unwrap().wait().is_err());
                assert!(!full.has_ended());
            }
            assert!(full.mailbox().behaviours().unwrap().is_empty());
        });
    }

    /// The actor's own business is no behaviour of others: it is never refused.
    #[test]
    fn what_an_actor_is_brought_is_not_bounded() {
        check(|| {
            let full = bounded(1);
            full.suspend().unwrap();
            when(&full, |full| full.0 += 1);
            let told = full.ended();
            full.drain().unwrap();
            full.resume().unwrap();
            assert_eq!(told.wait(), Ok(ExitReason::Shutdown));
        });
    }

    /// A handler may be refused, too: it never waits.
    #[test]
    fn refusals_do_not_depend_on_where_they_come_from() {
        check(|| {
            let full = bounded(1);
            let inside = full.clone();
            let counts = call(&full, move |_| {
                // The one that runs does not count.
                [try_when(&inside, |_| ()).is_ok(), try_when(&inside, |_| ()).is_ok()]
            });
            assert_eq!(counts.wait(), Ok([true, false]));
        });
    }
}

/// Panics at once, or when it comes a second time.
struct Trap {
    first: bool,
}

impl Message for Trap {
    type Reply = ();
}

struct Trapper;

impl Actor for Trapper {}

impl Receive<Trap> for Trapper {
    fn receive(&mut self, trap: Trap, reply: Reply<()>, context: &mut Context<Self>) {
        if trap.first {
            context.stash(Trap { first: false }, reply).expect("there is room");
            return context.unstash_all();
        }
        fail("caught");
    }
}

/// Messages that lie in envelopes share the code of one behaviour, and have names of their own.
#[test]
fn f5_a_message_from_a_stash_or_a_lane_is_named() {
    check_with_faults(|faults| {
        let mailboxes = [
            (Mailbox::unbounded(), true),
            (Mailbox::lanes(2), false),
            (Mailbox::lanes(2), true),
            (Mailbox::bounded(2).drop_oldest(), false),
        ];
        let faults = faults.clone();
        for (mailbox, first) in mailboxes {
            let trapper = actor(Trapper).mailbox(mailbox).spawn();
            assert!(trapper.ask(Trap { first }).wait().is_err());
            trapper.ended().wait().unwrap();
            let told = faults.take();
            let [Fault::Panicked { behaviour, message, .. }] = &told[..] else {
                panic!("{told:?}");
            };
            assert_eq!(&**message, "caught");
            for part in ["mailboxes::Trapper", "mailboxes::Trap)"] {
                assert!(behaviour.contains(part), "{behaviour}");
            }
        }
    });
}
