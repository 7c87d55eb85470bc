//! Actors with typed messages: after the tests of kameo.

use coact::Context;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::pubsub::TopicTree;
use coact::runtime::spawn_future;
use coact::supervise::{Supervisor, permanent};
use coact::time::sleep;
use coact_tests::{Log, fail};

use crate::run::{Do, Doer, Question, Say, check, everywhere, ms, tell};

/// Questions from many sides are all answered, each with its own answer.
#[test]
fn many_ask_at_once() {
    check(|| {
        let (doer, _) = Doer::spawn();
        let clients: Vec<_> = (0..8_u64)
            .map(|n| {
                let doer = doer.clone();
                spawn_future(async move {
                    let mut sum = 0;
                    for m in 0..4 {
                        let ask = Question(move |reply: Reply<u64>, _: &mut Context<Doer>| {
                            reply.send(10 * n + m)
                        });
                        sum += doer.ask(ask).await.unwrap();
                    }
                    sum
                })
            })
            .collect();
        for (n, client) in clients.into_iter().enumerate() {
            assert_eq!(client.wait(), Ok(40 * n as u64 + 6));
        }
    });
}

/// An actor that awaits its own answer is told that it would wait for ever.
#[test]
fn an_actor_that_awaits_itself_is_told() {
    check(|| {
        let (doer, log) = Doer::spawn();
        let ask = doer.ask(Question(|reply: Reply<u64>, context: &mut Context<Doer>| {
            context.hold(reply, |doer, context| {
                let this = context.address();
                Box::pin(async move {
                    let answer = this.ask(Say("never")).await;
                    doer.log.push(format!("{}", matches!(answer, Err(AskError::Cycle(_)))));
                    5
                })
            });
        }));
        assert_eq!(ask.wait(), Ok(5));
        // The message that has failed is not handled any more.
        doer.ask(Say("then")).wait().unwrap();
        assert_eq!(log.take(), ["started", "true", "then"]);
    });
}

/// An actor that fails takes those that it is linked with along, with the reason, but no others.
#[test]
fn a_failure_spreads_along_links() {
    check(|| {
        let [(a, _), (b, _), (c, _), (alone, _)] = [(); 4].map(|()| Doer::spawn());
        for (from, to) in [(&a, &b), (&b, &c)] {
            let to = to.clone();
            from.ask(Do(move |_: &mut Doer, context: &mut Context<Doer>| context.link(&to)))
                .wait()
                .unwrap();
        }
        tell(&a, |_, _| fail("a bug"));
        let bug = ExitReason::Panicked("a bug".into());
        let by_a = ExitReason::Linked(a.id(), bug.clone().into());
        assert_eq!(a.ended().wait(), Ok(bug));
        assert_eq!(b.ended().wait(), Ok(by_a.clone()));
        assert_eq!(c.ended().wait(), Ok(ExitReason::Linked(b.id(), by_a.into())));
        assert!(alone.ask(Say("here")).wait().is_ok());
    });
}

/// An end that was meant does not spread; one who traps is told of it.
#[test]
fn an_end_that_was_meant_is_told_and_does_not_spread() {
    everywhere(
        || {
            let [(a, _), (b, _), (trap, log)] = [(); 3].map(|()| Doer::spawn());
            let (far_b, far_trap) = (b.clone(), trap.clone());
            let traps = Do(|_: &mut Doer, context: &mut Context<Doer>| context.trap_exits());
            trap.ask(traps).wait().unwrap();
            let links = Do(move |_: &mut Doer, context: &mut Context<Doer>| {
                context.link(&far_b);
                context.link(&far_trap);
            });
            a.ask(links).wait().unwrap();
            a.stop().unwrap();
            assert_eq!(a.ended().wait(), Ok(ExitReason::Shutdown));
            assert!(b.ask(Say("here")).wait().is_ok());
            (trap, b, log)
        },
        |(_trap, b, log)| {
            assert!(!b.has_ended());
            assert_eq!(log.take(), ["started", "exited: it was told to stop"]);
        },
    );
}

/// A graceful end comes after what was sent before, and nothing after it.
#[test]
fn a_graceful_end_comes_after_the_messages_before() {
    check(|| {
        let (doer, log) = Doer::spawn();
        let before: Vec<_> = (0..5).map(|_| doer.ask(Say("before"))).collect();
        doer.drain().unwrap();
        let after = doer.ask(Say("after"));
        assert_eq!(doer.ended().wait(), Ok(ExitReason::Shutdown));
        assert!(before.into_iter().all(|ask| ask.wait().is_ok()));
        assert_eq!(after.wait(), Err(AskError::Stopped(ExitReason::Shutdown)));
        let words = log.take();
        assert_eq!((words.len(), &words[6][..]), (7, "stopped: it was told to stop"));
    });
}

/// A start that fails ends the actor; what was sent to it fails for that reason.
#[test]
fn a_start_that_fails_is_an_end() {
    struct Still;
    impl Actor for Still {
        fn started(&mut self, _: &mut Context<Self>) {
            fail("born so")
        }
    }
    impl Handler<Say> for Still {
        fn handle(&mut self, _: Say, _: &mut Context<Self>) -> usize {
            unreachable!("it never begins")
        }
    }
    check(|| {
        let still = spawn(Still);
        let why = ExitReason::Panicked("born so".into());
        assert_eq!(still.ask(Say("x")).wait(), Err(AskError::Stopped(why.clone())));
        assert_eq!(still.ended().wait(), Ok(why));
        assert!(still.send(Say("x")).is_err());
    });
}

/// An answer may be given by a task, long after the handler; if the task forgets it, the ask ends.
#[test]
fn an_answer_may_come_from_a_task() {
    check(|| {
        let (doer, _) = Doer::spawn();
        let ask = |forgets: bool| {
            doer.ask(Question(move |reply: Reply<u64>, _: &mut Context<Doer>| {
                drop(spawn_future(async move {
                    let _ = sleep(ms(3)).await;
                    if forgets { drop(reply) } else { reply.send(9) }
                }));
            }))
        };
        let asks = [ask(false), ask(true)];
        doer.ask(Say("meanwhile")).wait().unwrap();
        assert_eq!(asks.map(Ask::wait), [Ok(9), Err(AskError::NoReply)]);
    });
}

/// What cannot be passed on comes back, and is given to another.
#[test]
fn what_cannot_be_passed_on_goes_to_somebody_else() {
    check(|| {
        let [(gone, _), (here, log), (desk, _)] = [(); 3].map(|()| Doer::spawn());
        gone.kill().unwrap();
        gone.ended().wait().unwrap();
        let far = here.clone();
        desk.ask(Do(move |_: &mut Doer, _: &mut Context<Doer>| {
            let back = gone.send(Say("hello")).unwrap_err().into_message();
            far.send(back).unwrap();
        }))
        .wait()
        .unwrap();
        here.ask(Say("end")).wait().unwrap();
        assert_eq!(log.take(), ["started", "hello", "end"]);
    });
}

/// A full mailbox refuses, or lets wait who can, in order.
#[test]
fn a_full_mailbox_holds_back() {
    everywhere(
        || {
            let (doer, log) = Doer::new();
            let doer = actor(doer).mailbox(Mailbox::bounded(2)).spawn();
            doer.suspend().unwrap();
            assert!(doer.send(Say("one")).is_ok() && doer.send(Say("two")).is_ok());
            assert!(matches!(doer.send(Say("no")), Err(SendError::Full(Say("no")))));
            assert_eq!(doer.ask(Say("no")).wait(), Err(AskError::Full));
            let waits = doer.send_async(Say("three"));
            let sent = spawn_future(waits);
            doer.resume().unwrap();
            sent.wait().unwrap().unwrap();
            assert_eq!((doer.mailbox().refused(), doer.mailbox().dropped()), (2, 0));
            log
        },
        |log| assert_eq!(log.take()[..4], ["started", "one", "two", "three"]),
    );
}

/// Who subscribes by a pattern gets what matches, as long as he lives.
#[test]
fn a_broker_tells_those_whose_pattern_matches() {
    check(|| {
        let tree = TopicTree::new();
        let [(all, log_all), (news, log_news)] = [(); 2].map(|()| Doer::spawn());
        let _all = tree.subscribe("**", all.to_recipient::<Heard>()).unwrap();
        let _news = tree.subscribe("news/*", news.to_recipient::<Heard>()).unwrap();
        assert_eq!(tree.publish("news/today", Heard("rain")), 2);
        assert_eq!(tree.publish("sports", Heard("goal")), 1);
        // A kill would overtake the news.
        news.ask(Say("heard")).wait().unwrap();
        news.kill().unwrap();
        news.ended().wait().unwrap();
        assert_eq!(tree.publish("news/later", Heard("sun")), 1);
        all.ask(Say("end")).wait().unwrap();
        assert_eq!(log_all.take(), ["started", "rain", "goal", "sun", "end"]);
        assert_eq!(log_news.take(), ["started", "rain", "heard"]);
    });
}

/// A word without an answer.
#[derive(Clone)]
struct Heard(&'static str);

impl Message for Heard {
    type Reply = ();
}

impl Handler<Heard> for Doer {
    fn handle(&mut self, heard: Heard, _: &mut Context<Self>) {
        self.log.push(heard.0.into());
    }
}

/// A child that fails is restarted with a new state; what waits is handled by that.
#[test]
fn a_supervised_actor_comes_back_with_its_mailbox() {
    check(|| {
        let log = Log::new();
        let far = log.clone();
        let mut tree = Supervisor::one_for_one();
        let doer = tree.child(permanent(move || Doer { log: far.clone() }));
        let supervisor = tree.spawn();
        doer.send(Do(|_: &mut Doer, _: &mut Context<Doer>| fail("once"))).unwrap();
        assert!(doer.ask(Say("after")).wait().is_ok());
        assert_eq!(log.take(), ["started", "stopped: it panicked: once", "restarted", "after"]);
        assert_eq!(supervisor.counts().wait().unwrap().restarts, 1);
    });
}
