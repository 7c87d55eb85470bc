//! Contexts, futures of handlers, streams: after the tests of actix.

use coact::Context;
use coact::prelude::*;
use coact::system::{Host, dispatcher};
use coact::time::sleep;
use coact_tests::{Journal, Log, fail};
use futures::stream;

use crate::run::{Do, Doer, Question, Say, check, everywhere, ms, pass, tell};

/// A message for later that is cancelled never comes, nor does one to an actor that has ended.
#[test]
fn what_is_cancelled_does_not_come() {
    everywhere(
        || {
            let (doer, log) = Doer::spawn();
            // Where the worker is not let run for a millisecond, they have fired before they are
            // cancelled.
            let fired = Log::new();
            let too_late = fired.clone();
            tell(&doer, move |_, context| {
                let timers = [1, 1].map(|n| context.send_later(ms(n), Say("cancelled")));
                timers.iter().filter(|timer| !timer.cancel()).for_each(|_| too_late.push(()));
                let _ = context.send_later(ms(2), Say("in time"));
            });
            let (brief, other) = Doer::spawn();
            tell(&brief, |_, context| {
                let _ = context.send_later(ms(2), Say("too late"));
                context.stop();
            });
            pass(ms(10));
            drop(doer);
            (log, other, fired)
        },
        |(log, other, fired)| {
            let (cancelled, told): (Vec<_>, Vec<_>) =
                log.take().into_iter().partition(|said| *said == "cancelled");
            assert_eq!(cancelled.len(), fired.len());
            assert_eq!(told, ["started", "in time", "stopped: it was done"]);
            assert_eq!(other.take(), ["started", "stopped: it was done"]);
        },
    );
}

/// While a future holds the actor its messages wait; while one runs beside it they do not.
#[test]
fn messages_wait_for_a_future_that_holds() {
    fn ask(doer: &Addr<Doer>, holds: bool, journal: &Journal) -> Ask<u64> {
        let journal = journal.clone();
        doer.ask(Question(move |reply: Reply<u64>, context: &mut Context<Doer>| {
            let work = async move {
                journal.note("begins");
                let _ = sleep(ms(5)).await;
                journal.note("ends");
                1
            };
            if holds {
                context.hold(reply, |_, _| Box::pin(work));
            } else {
                context.detach(reply, work);
            }
        }))
    }
    check(|| {
        let (doer, _) = Doer::spawn();
        let journal = Journal::new();
        let first = ask(&doer, true, &journal);
        let far = journal.clone();
        doer.ask(Do(move |_: &mut Doer, _: &mut Context<Doer>| far.note("message")))
            .wait()
            .unwrap();
        assert_eq!(first.wait(), Ok(1));
        journal.assert_chain(&["begins", "ends", "message"]);
        let journal = Journal::new();
        let second = ask(&doer, false, &journal);
        let far = journal.clone();
        doer.ask(Do(move |_: &mut Doer, _: &mut Context<Doer>| far.note("message")))
            .wait()
            .unwrap();
        assert_eq!(second.wait(), Ok(1));
        assert!(journal.has("message") && journal.has("ends"));
    });
}

/// What holds the actor is not interrupted by another that would: they come one after the other.
#[test]
fn futures_that_hold_do_not_mix() {
    everywhere(
        || {
            let (doer, log) = Doer::spawn();
            for name in ["a", "b", "c"] {
                drop(doer.ask(Question(move |reply: Reply<u64>, context: &mut Context<Doer>| {
                    context.hold(reply, move |doer, _| {
                        Box::pin(async move {
                            for _ in 0..3 {
                                doer.log.push(name.into());
                                let _ = sleep(ms(1)).await;
                            }
                            0
                        })
                    });
                })));
            }
            log
        },
        |log| {
            let words: String = log.take()[1..10].concat();
            assert_eq!(words, "aaabbbccc");
        },
    );
}

/// A message of the actor to itself comes behind those that others have sent before.
#[test]
fn a_message_to_oneself_stands_in_the_order() {
    everywhere(
        || {
            let (doer, log) = Doer::spawn();
            doer.suspend().unwrap();
            tell(&doer, |_, context| context.address().send(Say("own")).unwrap());
            doer.send(Say("other")).unwrap();
            doer.resume().unwrap();
            log
        },
        |log| assert_eq!(log.take()[..3], ["started", "other", "own"]),
    );
}

/// A stream is read as messages are, and its end is told; an actor that is held reads no further.
#[test]
fn a_stream_is_read_item_by_item() {
    everywhere(
        || {
            let (doer, log) = Doer::spawn();
            tell(&doer, |_, context| {
                let _ = context
                    .attach(stream::iter(["a", "b", "c"]))
                    .on_end(|doer: &mut Doer, _, context: &mut Context<Doer>| {
                        doer.log.push("end".into());
                        context.stop();
                    })
                    .each(Say);
            });
            assert_eq!(doer.ended().wait(), Ok(ExitReason::Normal));
            log
        },
        |log| assert_eq!(log.take(), ["started", "a", "b", "c", "end", "stopped: it was done"]),
    );
}

/// An actor leaves a stream that would go on for ever.
#[test]
fn a_stream_can_be_left() {
    everywhere(
        || {
            let (doer, log) = Doer::spawn();
            tell(&doer, |_, context| {
                let feed = context.attach(ticks()).items();
                let own = context.weak();
                let _ = context.send_later(
                    ms(2),
                    Do(move |_: &mut Doer, context: &mut Context<Doer>| {
                        assert!(own.upgrade().is_some() && feed.detach());
                        context.stop();
                    }),
                );
            });
            assert_eq!(doer.ended().wait(), Ok(ExitReason::Normal));
            log
        },
        |log| assert_eq!(log.take(), ["started", "stopped: it was done"]),
    );
}

/// A tick each millisecond, for ever.
fn ticks() -> impl stream::Stream<Item = Tick> + Send + Unpin {
    Box::pin(stream::unfold((), |()| async {
        let _ = sleep(ms(1)).await;
        Some((Tick, ()))
    }))
}

#[derive(Clone)]
struct Tick;

impl Message for Tick {
    type Reply = ();
}

impl Handler<Tick> for Doer {
    fn handle(&mut self, _: Tick, _: &mut Context<Self>) {}
}

/// An address that is dropped ends its actor, after what it was sent; a weak one does not keep it.
#[test]
fn an_actor_ends_with_its_last_address() {
    everywhere(
        || {
            let (doer, log) = Doer::spawn();
            let (weak, twin) = (doer.downgrade(), doer.clone());
            (0..3).for_each(|_| doer.send(Say("x")).unwrap());
            drop(doer);
            assert!(weak.upgrade().is_some());
            twin.ask(Say("y")).wait().unwrap();
            drop(twin);
            (weak, log)
        },
        |(weak, log)| {
            assert!(weak.send(Say("z")).is_err());
            let words = log.take();
            assert_eq!(words[words.len() - 1], "stopped: it was done");
            assert_eq!(words.len(), 6);
        },
    );
}

/// A recipient is an address for one kind of message; two of one actor are equal in what they name.
#[test]
fn a_recipient_reaches_its_actor() {
    check(|| {
        let [(doer, log), (other, _)] = [(); 2].map(|()| Doer::spawn());
        let [one, two] = [doer.to_recipient::<Say>(), doer.to_recipient::<Say>()];
        assert_eq!((one.id(), doer.id()), (two.id(), two.id()));
        assert_ne!(other.to_recipient::<Say>().id(), one.id());
        assert_eq!(one.ask(Say("a")).wait(), Ok(2));
        two.send(Say("b")).unwrap();
        // A recipient keeps its actor alive.
        drop((doer, one));
        assert_eq!(two.ask(Say("c")).wait(), Ok(4));
        assert_eq!(log.take(), ["started", "a", "b", "c"]);
    });
}

/// A restart by hand keeps address and messages, and the new state knows nothing of the old one.
#[test]
fn a_restart_keeps_the_messages() {
    #[derive(Default)]
    struct Sum(u64);
    impl Actor for Sum {}
    struct Add(u64);
    impl Message for Add {
        type Reply = u64;
    }
    impl Handler<Add> for Sum {
        fn handle(&mut self, add: Add, _: &mut Context<Self>) -> u64 {
            self.0 += add.0;
            self.0
        }
    }
    check(|| {
        let sum = actor(Sum(100)).restartable(Sum::default).spawn();
        assert_eq!(sum.ask(Add(1)).wait(), Ok(101));
        sum.suspend().unwrap();
        let waits = [sum.ask(Add(2)), sum.ask(Add(3))];
        sum.restart().unwrap();
        sum.resume().unwrap();
        assert_eq!(waits.map(Ask::wait), [Ok(2), Ok(5)]);
    });
}

/// Several actors that block share the threads that may be blocked, and none loses a message.
#[test]
fn actors_that_block_work_side_by_side() {
    check(|| {
        let doers: Vec<_> =
            (0..4).map(|_| actor(Doer { log: Log::new() }).on(Host::blocking()).spawn()).collect();
        let asks: Vec<_> =
            doers.iter().flat_map(|doer| (0..5).map(|_| doer.ask(Say("x")))).collect();
        let answers: Vec<_> = asks.into_iter().map(|ask| ask.wait().unwrap()).collect();
        assert_eq!(answers, [2, 3, 4, 5, 6].repeat(4));
    });
}

/// An actor on another pool of threads asks, and is asked.
#[test]
fn actors_of_two_dispatchers_talk() {
    everywhere(
        || {
            let side = dispatcher("side").unwrap();
            let (far, far_log) = Doer::new();
            let far = actor(far).on(side).spawn();
            let (near, log) = Doer::spawn();
            tell(&far, move |_, context| {
                context.ask(&near, Say("hello"), |doer, count, _| {
                    doer.log.push(format!("{count:?}"));
                });
            });
            (log, far_log)
        },
        |(log, far_log)| {
            assert_eq!(log.take(), ["started", "hello", "stopped: it was done"]);
            assert_eq!(far_log.take(), ["started", "Ok(2)", "stopped: it was done"]);
        },
    );
}

/// Futures, messages and closures of one handler end in the order that each promises.
#[test]
fn a_handler_may_do_everything_at_once() {
    everywhere(
        || {
            let (doer, log) = Doer::spawn();
            tell(&doer, |_, context| {
                context.address().send(Say("message")).unwrap();
                context.spawn(async { "beside" }, |doer, word, _| doer.log.push(word.into()));
                context.hold(Reply::unwanted(), |doer, _| {
                    Box::pin(async {
                        let _ = sleep(ms(1)).await;
                        doer.log.push("held".into());
                    })
                });
            });
            log
        },
        |log| {
            let words = log.take();
            assert_eq!(words[1], "held", "nothing comes before: {words:?}");
            assert!(words.contains(&"message".into()) && words.contains(&"beside".into()));
        },
    );
}

/// A panic in a closure that brings an answer back fails the actor that asked, and no other.
#[test]
fn an_answer_may_be_too_much() {
    check(|| {
        let [(asks, _), (answers, _)] = [(); 2].map(|()| Doer::spawn());
        let far = answers.clone();
        tell(&asks, move |_, context| context.ask(&far, Say("?"), |_, _, _| fail("too much")));
        assert_eq!(asks.ended().wait(), Ok(ExitReason::Panicked("too much".into())));
        assert!(answers.ask(Say("fine")).wait().is_ok());
    });
}
